/** The critical path as a table: the same for those who cannot see the drawing. */

import { html, show, text } from "../view/dom";
import { decimals } from "../view/format";
import type { Scene } from "./types";
import type { Wire } from "./wire";
import { duration, moment } from "./words";

type TableRow = [rank: string, kind: string, name: string, start: number, length: number, origin: string, launched: string];

const HEADINGS = ["rank", "kind", "name", "start", "duration", "link known as", "launched"];

export class PathTable {
  readonly element = html("div", { class: "tv-table", "data-role": "table", hidden: true });
  private readonly body = html("tbody");
  private readonly more = html("button", { type: "button", class: "tv-small", "data-role": "more" }, "more rows");
  private readonly caption = html("caption");
  private rows = 0;

  constructor(
    private readonly scene: Scene,
    private readonly wire: Wire,
    private readonly go: (start: number, finish: number) => void,
    signal: AbortSignal,
  ) {
    this.more.addEventListener("click", () => void this.load(), { signal });
    const head = html("tr", {}, ...HEADINGS.map((word) => html("th", { scope: "col" }, word)));
    this.element.append(html("table", {}, this.caption, html("thead", {}, head), this.body), this.more);
    show(this.more, false);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(): void {
    show(this.element, !this.open);
    if (this.open && this.rows === 0) void this.load();
  }

  private async load(): Promise<void> {
    if (this.scene.path.pieces === 0) {
      text(this.caption, `No critical path: ${this.scene.path.why || "it has no pieces"}`);
      return;
    }
    text(this.caption, "The critical path, loading …");
    try {
      const { content } = await this.wire.ask("path", { from: this.rows });
      for (const row of content.rows as TableRow[]) this.body.append(this.row(row));
      this.rows += (content.rows as TableRow[]).length;
      const total = Number(content.total);
      text(this.caption, `The critical path in order of time: ${decimals(this.rows, 0)} of ${decimals(total, 0)} pieces, which sum to the step`);
      show(this.more, this.rows < total);
    } catch (error) {
      text(this.caption, `The critical path did not come: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private row([rank, kind, name, start, length, origin, launched]: TableRow): HTMLElement {
    const at = html("button", { type: "button", class: "tv-at", title: "show it" }, moment(start));
    at.addEventListener("click", () => this.go(start, start + length));
    const cells = [rank === "" ? "all its ranks" : rank, kind, name, at, duration(length), origin, launched];
    return html("tr", {}, ...cells.map((cell) => html("td", {}, cell)));
  }
}
