/** The inspector's part for several chosen phases: which they are, and scaling them together. */

import type { Solved } from "../model/solver";
import type { Phase } from "../model/types";
import { html, text } from "./dom";
import { ms } from "./format";
import { type Context, rowOf } from "./state";

const LISTED = 12;

export class Several {
  /** The toolbar's field and button, which stand here while the inspector is open. */
  scale: HTMLElement | null = null;
  private names: readonly string[] = [];
  private lengths: HTMLElement[] = [];
  private readonly sum = html("output", { "data-role": "together" });

  constructor(private readonly context: Context) {}

  parts(solved: Solved, names: readonly string[]): Node[] {
    this.names = names;
    this.lengths = names.slice(0, LISTED).map(() => html("small"));
    const rows = this.lengths.map((length, k) => {
      const name = names[k] as string;
      const open = html("button", { type: "button", class: "sv-open", title: "choose this one alone" },
        html("span", { class: "sv-arrow-name" }, name), length);
      open.addEventListener("click", () => this.context.select([name]));
      return html("li", {}, open);
    });
    if (names.length > LISTED) rows.push(html("li", { class: "sv-dim" }, `and ${names.length - LISTED} more`));
    this.update(solved);
    return [
      html("div", { class: "sv-inspector-head" }, html("h3", { "data-role": "several" }, `${names.length} phases`)),
      html("p", { class: "sv-dim" }, "together ", this.sum, "; the end of any one drags them all by its factor."),
      ...(this.scale ? [this.scale] : []),
      html("ul", { class: "sv-arrow-list" }, ...rows),
    ];
  }

  update(solved: Solved): void {
    const duration = (name: string): number =>
      (solved.doc.phases[rowOf(solved, name)] as Phase | undefined)?.duration ?? 0;
    this.lengths.forEach((length, k) => text(length, ms(duration(this.names[k] as string))));
    text(this.sum, ms(this.names.reduce((sum, name) => sum + duration(name), 0)));
  }
}
