/** The runs side by side; one of them is in the editor. */

import { OWN_KEYS } from "../knobs/keys";
import { button, html, show, text } from "../view/dom";
import { active } from "../view/focus";
import type { Row, Table } from "./types";

let made = 0;

export interface Acts {
  choose(which: number): void;
  rename(which: number, label: string): void;
  remove(which: number): void;
}

export class RunTable {
  readonly root = html("div", { class: "cp-runs" });
  private readonly group = `cp-runs-${++made}`;
  private readonly scroll = html("div", { ...OWN_KEYS, class: "kn-scroll", role: "group", "aria-label": "runs", tabindex: 0 });
  private readonly label = html("input", { ...OWN_KEYS, type: "text", class: "cp-label", "aria-label": "label of the chosen run", "data-role": "label" });
  private readonly said = html("p", { class: "kn-status", role: "status", "data-role": "runs-said" });
  private readonly more: HTMLElement;
  private chosen = -1;
  private shown = "";

  constructor(private readonly acts: Acts, private readonly signal: AbortSignal) {
    const rename = (): void => {
      if (this.chosen >= 0 && this.label.value !== this.shown) acts.rename(this.chosen, this.label.value);
    };
    this.label.addEventListener("keydown", (event) => {
      if (event.key === "Enter") rename();
      if (event.key === "Escape") this.label.value = this.shown;
      if (event.key === "Enter" || event.key === "Escape") event.stopPropagation();
    }, { signal });
    this.more = html("div", { class: "cp-row" }, html("label", { class: "cp-choice" }, "The chosen run ", this.label),
      button("Give the chosen run this label", "Rename", { ...OWN_KEYS, "data-role": "rename" }, rename, signal),
      button("Take the chosen run off the table; its files stay", "Remove", { ...OWN_KEYS, "data-role": "remove" }, () => {
        if (this.chosen >= 0) acts.remove(this.chosen);
      }, signal));
    this.root.append(this.scroll, this.more, this.said);
  }

  draw(table: Table): void {
    const rows = table.rows ?? [];
    const label = rows[table.chosen]?.label ?? "";
    // A label that was refused stays as it was typed, to be mended.
    if (table.chosen !== this.chosen || label !== this.shown) this.label.value = label;
    this.chosen = table.chosen;
    this.shown = label;
    text(this.said, table.said ?? "");
    show(this.said, (table.said ?? "") !== "");
    show(this.root, rows.length > 0 || (table.said ?? "") !== "");
    show(this.more, table.chosen >= 0 && table.fixed !== true);
    show(this.scroll, rows.length > 0);
    const focused = this.scroll.contains(active(this.scroll));
    const number = (content: string, more = ""): HTMLElement => html("td", { class: "kn-number" }, content, more === "" ? null : html("span", { class: "sv-dim" }, ` ${more}`));
    this.scroll.replaceChildren(html("table", { "data-role": "runs" },
      html("caption", {}, "The chosen run is in the editor below; each is compared with the first."),
      html("thead", {}, html("tr", {}, ...["run", "ranks", "cap, MiB", "step, ms", "quartiles", "exposed, ms", "beside the first"].map((heading, k) =>
        html("th", { scope: "col", class: k > 0 && k < 6 ? "kn-number" : null }, heading)))),
      html("tbody", {}, ...rows.map((row, k) => html("tr", { "data-chosen": k === table.chosen },
        html("th", { scope: "row" }, this.radio(row, k, k === table.chosen)),
        number(row.ranks), number(row.caps), number(row.step, row.how), number(row.quartiles), number(row.exposed, row.emulated ? "emulated" : ""),
        html("td", {}, k === 0 ? html("span", { class: "sv-dim" }, row.verdict) : html("b", {}, row.verdict),
          row.reason === "" ? null : html("div", { class: "sv-dim" }, row.reason)))))));
    if (focused) this.scroll.querySelector<HTMLElement>("input:checked")?.focus();
  }

  private radio(row: Row, k: number, checked: boolean): HTMLElement {
    const input = html("input", { ...OWN_KEYS, type: "radio", name: this.group, checked, "data-run": k });
    input.addEventListener("change", () => this.acts.choose(k), { signal: this.signal });
    return html("label", { class: "cp-choice" }, input, row.label);
  }
}
