/** The same timeline as a table: for screen readers, and for anyone who prefers rows. */

import type { Solved } from "../model/solver";
import { html } from "./dom";
import { number } from "./format";
import type { Context } from "./state";

const COLUMNS = ["phase", "kind", "rank", "lane", "start", "finish", "duration", "total float", "critical"];

export class Table {
  readonly element = html("div", { class: "sv-table", "data-role": "table", hidden: true });

  constructor(private readonly context: Context) {}

  update(solved: Solved): void {
    if (!this.context.state.table) return;
    const rows = solved.doc.phases.map((phase, row) => {
      const name = html("button", { type: "button", "data-table-phase": phase.phase }, phase.phase);
      name.addEventListener("click", () => this.context.select([phase.phase]));
      const cells = [
        phase.kind, phase.rank === null ? (phase.members ?? []).join(", ") : String(phase.rank), phase.lane ?? "",
        number(solved.start[row] as number), number(solved.finish[row] as number), number(phase.duration),
        number(solved.totalFloat[row] as number), solved.critical[row] === 1 ? "yes" : "",
      ];
      return html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell)));
    });
    this.element.replaceChildren(html("table", {},
      html("caption", {}, `Completion ${number(solved.completion)} ms`),
      html("thead", {}, html("tr", {}, ...COLUMNS.map((column) => html("th", { scope: "col" }, column)))),
      html("tbody", {}, ...rows)));
  }
}
