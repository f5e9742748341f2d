/** The time axis above the rows, its lines through them, and the two completion lines. */

import type { Solved } from "../model/solver";
import { attr, px, svg } from "./dom";
import { decimals, number } from "./format";
import { textWidth } from "./labels";
import { type TimeScale, ticks } from "./scale";

export const AXIS_HEIGHT = 26;
export const FOOT_HEIGHT = 24;

export class Axis {
  /** In the sticky head. */
  readonly head = svg("g", { class: "sv-axis", "aria-hidden": "true" });
  /** Behind the rows. */
  readonly lines = svg("g", { class: "sv-grid", "aria-hidden": "true" });
  /** In front of the rows. */
  readonly marks = svg("g", { class: "sv-marks", "aria-hidden": "true" });
  /** Below the rows. */
  readonly foot = svg("g", { class: "sv-foot", "aria-hidden": "true" });
  private readonly now = svg("line", { class: "sv-completion" });
  private readonly was = svg("line", { class: "sv-baseline" });
  private readonly nowText = svg("text", { class: "sv-completion-text", y: 16, "text-anchor": "middle" });
  private readonly wasText = svg("text", { class: "sv-baseline-text", y: 16 });
  private readonly window = svg("rect", { class: "sv-window", y: 0, height: 3, rx: 1.5 });

  constructor() {
    this.marks.append(this.was, this.now);
    this.foot.append(this.wasText, this.nowText);
  }

  layout(scale: TimeScale, height: number, whole: number, family: string): void {
    const widest = textWidth(decimals(scale.end, 0), `11px ${family}`);
    const { times, step } = ticks(scale, Math.max(76, widest + 34));
    const head: SVGElement[] = [];
    const lines: SVGElement[] = [];
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    const font = `11px ${family}`;
    // As far right as something may stand: beyond it the drawing ends.
    const edge = scale.right + 18;
    let free = -Infinity;
    for (const time of times) {
      const x = px(scale.x(time));
      lines.push(svg("line", { x1: x, x2: x, y1: 0, y2: height }));
      const content = decimals(Math.round(time / step) * step, digits);
      const half = textWidth(content, font) / 2;
      const middle = Math.min(x, edge - half - 1);
      if (middle - half < free) continue;
      free = middle + half + 6;
      const label = svg("text", { x: px(middle), y: 17, "text-anchor": "middle" });
      label.textContent = content;
      head.push(label);
    }
    const unit = svg("text", { x: scale.left - 14, y: 17, "text-anchor": "end", class: "sv-unit" });
    unit.textContent = "ms";
    head.push(unit);
    // Where the visible part lies in the whole, when zoomed in.
    const share = (scale.end - scale.origin) / whole;
    if (share < 0.995) {
      const width = scale.right - scale.left;
      attr(this.window, "x", px(scale.left + Math.max(0, scale.origin / whole) * width));
      attr(this.window, "width", px(Math.max(8, Math.min(1, share) * width)));
      head.push(this.window);
    }
    this.head.replaceChildren(...head);
    this.lines.replaceChildren(...lines);
    for (const line of [this.now, this.was]) {
      attr(line, "y1", 0);
      attr(line, "y2", height);
    }
  }

  update(
    scale: TimeScale, solved: Solved, baseline: Solved, baselineName: string, font: string,
  ): void {
    const x = px(scale.x(solved.completion));
    const w = px(scale.x(baseline.completion));
    const visible = x >= scale.left - 1 && x <= scale.right + 1;
    const moved = Math.abs(solved.completion - baseline.completion)
      > 1e-9 * Math.max(1, solved.completion);
    const visibleWas = moved && w >= scale.left - 1 && w <= scale.right + 1;
    attr(this.now, "x1", x);
    attr(this.now, "x2", x);
    attr(this.now, "display", visible ? null : "none");
    attr(this.was, "x1", w);
    attr(this.was, "x2", w);
    attr(this.was, "display", visibleWas ? null : "none");
    const label = number(solved.completion);
    const wasLabel = `${baselineName === "baseline" ? "was" : baselineName} ${number(baseline.completion)}`;
    if (this.nowText.textContent !== label) this.nowText.textContent = label;
    const half = textWidth(label, `700 13px ${font}`) / 2;
    const middle = Math.min(x, scale.right + 18 - half);
    attr(this.nowText, "x", px(middle));
    attr(this.nowText, "display", visible ? null : "none");
    if (this.wasText.textContent !== wasLabel) this.wasText.textContent = wasLabel;
    attr(this.wasText, "display", visibleWas ? null : "none");
    // The two labels step aside for each other.
    const width = textWidth(wasLabel, `11px ${font}`);
    if (w >= x) {
      attr(this.wasText, "text-anchor", "start");
      attr(this.wasText, "x", px(Math.max(w - width / 2, middle + half + 8)));
    } else {
      attr(this.wasText, "text-anchor", "end");
      attr(this.wasText, "x", px(Math.min(w + width / 2, middle - half - 8)));
    }
  }
}
