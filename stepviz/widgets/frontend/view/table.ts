/** The same timeline as tables, of its phases and of its arrows: for screen readers, and for anyone who prefers rows. */

import type { Solved } from "../model/solver";
import { html } from "./dom";
import { number } from "./format";
import type { Context } from "./state";

/** More arrows than this are listed phase by phase, in the inspector. */
const LISTED = 400;
const ARROWS = ["from", "to", "type", "lag", "slack", "critical", "known as"];
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
    this.element.replaceChildren(html("table", { "data-role": "phases" },
      html("caption", {}, `Completion ${number(solved.completion)} ms`),
      html("thead", {}, html("tr", {}, ...COLUMNS.map((column) => html("th", { scope: "col" }, column)))),
      html("tbody", {}, ...rows)), this.arrows(solved));
  }

  private arrows(solved: Solved): HTMLElement {
    const { phases } = solved.doc;
    const stored = solved.dependencies.filter(({ row }) => row >= 0);
    const name = (row: number): string => phases[row]?.phase ?? "";
    const lines = stored.slice(0, LISTED).map((arrow) => {
      const open = html("button", { type: "button", "data-table-arrow": arrow.row, title: "choose this arrow" }, name(arrow.source));
      open.addEventListener("click", () => this.context.selectArrow(arrow.row));
      const cells = [name(arrow.target), arrow.type, number(arrow.lag), number(arrow.slack), arrow.critical ? "yes" : "", arrow.origin];
      return html("tr", {}, html("th", { scope: "row" }, open), ...cells.map((cell) => html("td", {}, cell)));
    });
    const left = stored.length - lines.length;
    return html("table", { "data-role": "arrows" },
      html("caption", {}, `${number(stored.length)} arrows${left > 0 ? `, the first ${LISTED} of them` : ""}; the order within a lane is not among them`),
      html("thead", {}, html("tr", {}, ...ARROWS.map((column) => html("th", { scope: "col" }, column)))),
      html("tbody", {}, ...lines));
  }
}
