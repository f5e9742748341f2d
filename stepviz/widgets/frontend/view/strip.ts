/** "The step is …": the slowest rank's time, cut into pieces that add up, and the same as a sum. */

import { breakdown, type BreakdownRow, slowestRank } from "../model/measures";
import type { Solved } from "../model/solver";
import { attr, html, px, svg } from "./dom";
import { brief, negligible, number } from "./format";
import { fit, textWidth } from "./labels";
import type { TimeScale } from "./scale";

const HEIGHT = 24;
export const STRIP_HEIGHT = HEIGHT + 8;

const NAMES: Record<string, string> = {
  exchange: "exposed exchange", wait: "waiting for other ranks", idle: "nothing runs",
};

/** The plate keeps the hatch off the label. */
interface Piece { rect: SVGRectElement; plate: SVGRectElement; label: SVGTextElement }

export class Strip {
  readonly layer = svg("g", { class: "sv-strip", "aria-hidden": "true" });
  /** What is clipped to the plot when it is zoomed in. */
  readonly parts = svg("g");
  readonly sum = html("div", { class: "sv-sum", "data-role": "breakdown" });
  private readonly caption = svg("text", { class: "sv-lane-name", "text-anchor": "end", y: HEIGHT / 2, dy: ".35em" });
  private readonly total = svg("text", { class: "sv-strip-total", y: HEIGHT / 2, dy: ".35em" });
  private pieces: Piece[] = [];
  private sumKey = "";

  constructor(private readonly uid: string, private readonly pick: (kind: string) => void) {
    this.caption.textContent = "the step is";
    this.layer.append(this.caption, this.parts, this.total);
  }

  update(scale: TimeScale, solved: Solved, several: boolean, family: string): void {
    const rank = slowestRank(solved);
    const rows = breakdown(solved, rank).filter((row) => !negligible(row.ms, solved.completion));
    const segments = rows.flatMap((row) => row.segments
      .filter(([from, to]) => !negligible(to - from, solved.completion)).map((segment) => ({ row, segment })));
    while (this.pieces.length < segments.length) {
      const piece = { rect: svg("rect", { height: HEIGHT }), plate: svg("rect", { height: HEIGHT - 9, y: 4.5, rx: 2, class: "sv-plate" }), label: svg("text", {
        class: "sv-label", y: HEIGHT / 2, dy: ".35em", "text-anchor": "middle",
      }) };
      this.parts.append(piece.rect, piece.plate, piece.label);
      this.pieces.push(piece);
    }
    this.pieces.forEach((piece, k) => {
      const part = segments[k];
      attr(piece.rect, "display", part ? null : "none");
      attr(piece.label, "display", part ? null : "none");
      if (!part) attr(piece.plate, "display", "none");
      if (part) this.place(piece, part.row, part.segment, scale, `500 11.5px ${family}`);
    });
    attr(this.caption, "x", scale.left - 14);
    const total = `= ${number(solved.completion)} ms`;
    if (this.total.textContent !== total) this.total.textContent = total;
    const end = scale.x(solved.completion);
    attr(this.total, "x", px(end + 8));
    // Pushed against the edge by a drag it steps aside: the sum below says the same.
    const fits = end + textWidth(total, `700 13px ${family}`) <= scale.right + 18;
    attr(this.total, "display", end > scale.left && fits ? null : "none");
    this.write(rows, solved, several ? rank : null);
  }

  private place(
    piece: Piece, row: BreakdownRow,
    [from, to]: readonly [number, number], scale: TimeScale, font: string,
  ): void {
    const x = scale.x(from);
    const width = Math.max(0, scale.x(to) - x - (scale.x(to) - x > 3 ? 1 : 0));
    attr(piece.rect, "x", px(x));
    attr(piece.rect, "width", px(width));
    attr(piece.rect, "class", `sv-piece sv-k-${row.row}`);
    attr(piece.rect, "style", row.row === "exchange" ? `fill:url(#${this.uid}-hatch)` : null);
    attr(piece.label, "class", `sv-label sv-k-${row.row}`);
    // Label what is visible of it, in the middle of that.
    const left = Math.max(x, scale.left);
    const right = Math.min(x + width, scale.right);
    const amount = brief(to - from);
    const label = right > left
      ? fit([`${row.row} ${amount}`, amount], right - left - 8, font) : "";
    const half = textWidth(label, font) / 2 + 3;
    const written = label.endsWith("…") ? "" : label;
    if (piece.label.textContent !== written) piece.label.textContent = written;
    attr(piece.label, "x", px((left + right) / 2));
    const hatched = row.row === "exchange" && written !== "";
    attr(piece.plate, "display", hatched ? null : "none");
    if (!hatched) return;
    attr(piece.plate, "x", px((left + right) / 2 - half));
    attr(piece.plate, "width", px(2 * half));
  }

  /** The sum in words: it is also the legend, and picks a kind when clicked. */
  private write(rows: readonly BreakdownRow[], solved: Solved, rank: number | null): void {
    const key = rows.map((row) => `${row.row} ${number(row.ms)}`).join("+")
      + `=${number(solved.completion)}@${rank}`;
    if (key === this.sumKey) return;
    this.sumKey = key;
    const children: Node[] = [];
    if (rank !== null) children.push(html("span", { class: "sv-dim" }, `rank ${rank}: `));
    rows.forEach((row, k) => {
      if (k > 0) children.push(html("span", { class: "sv-plus" }, " + "));
      const term = html("button", {
        type: "button", class: `sv-term sv-k-${row.row}`, title: `choose every ${row.row} phase`,
      }, html("i", { class: "sv-swatch" }), html("b", {}, number(row.ms)), ` ${NAMES[row.row] ?? row.row}`);
      if (row.row === "idle" || row.row === "wait") term.disabled = true;
      else term.addEventListener("click", () => this.pick(row.row));
      children.push(term);
    });
    children.push(html("span", { class: "sv-total" }, html("span", { class: "sv-plus" }, rows.length > 0 ? " = " : ""),
      html("b", {}, `${number(solved.completion)} ms`)));
    this.sum.replaceChildren(...children);
  }
}
