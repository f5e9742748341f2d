/** The runs side by side; one of them is in the editor. */

import { OWN_KEYS } from "../knobs/keys";
import { html, show } from "../view/dom";
import type { Row, Table } from "./types";

let made = 0;

export class RunTable {
  readonly root = html("div", { class: "kn-scroll cp-runs" });
  private readonly group = `cp-runs-${++made}`;

  constructor(private readonly choose: (which: number) => void, private readonly signal: AbortSignal) {}

  draw(table: Table): void {
    const rows = table.rows ?? [];
    show(this.root, rows.length > 0);
    const focused = this.root.contains(document.activeElement);
    const number = (content: string, more = ""): HTMLElement => html("td", { class: "kn-number" }, content, more === "" ? null : html("span", { class: "sv-dim" }, ` ${more}`));
    this.root.replaceChildren(html("table", { "data-role": "runs" },
      html("caption", {}, "The chosen run is in the editor below; each is compared with the first."),
      html("thead", {}, html("tr", {}, ...["run", "ranks", "cap, MiB", "step, ms", "quartiles", "exposed, ms", "beside the first"].map((heading, k) =>
        html("th", { scope: "col", class: k > 0 && k < 6 ? "kn-number" : null }, heading)))),
      html("tbody", {}, ...rows.map((row, k) => html("tr", { "data-chosen": k === table.chosen },
        html("th", { scope: "row" }, this.radio(row, k, k === table.chosen)),
        number(row.ranks), number(row.caps), number(row.step, row.how), number(row.quartiles), number(row.exposed, row.emulated ? "emulated" : ""),
        html("td", {}, k === 0 ? html("span", { class: "sv-dim" }, row.verdict) : html("b", {}, row.verdict),
          row.reason === "" ? null : html("div", { class: "sv-dim" }, row.reason)))))));
    if (focused) this.root.querySelector<HTMLElement>("input:checked")?.focus();
  }

  private radio(row: Row, k: number, checked: boolean): HTMLElement {
    const input = html("input", { ...OWN_KEYS, type: "radio", name: this.group, checked, "data-run": k });
    input.addEventListener("change", () => this.choose(k), { signal: this.signal });
    return html("label", { class: "cp-choice" }, input, row.label);
  }
}
