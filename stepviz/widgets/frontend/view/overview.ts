/** With nothing chosen: what could make the step finish sooner, and how to read the drawing. */

import { sensitivity } from "../model/sensitivity";
import type { Solved } from "../model/solver";
import type { Phase } from "../model/types";
import { html } from "./dom";
import { number } from "./format";
import type { Context } from "./state";

/** Each lever costs a few solves; beyond this many critical phases only the longest are asked. */
const ASKED = 24;
const LISTED = 6;

export class Overview {
  readonly element = html("div", { class: "sv-overview" });
  private readonly levers = html("ol", { class: "sv-levers", "data-role": "levers" });
  private of: Solved | null = null;

  constructor(private readonly context: Context) {
    this.element.append(
      html("h3", {}, "What would help"),
      html("p", { class: "sv-dim" }, "The most that shortening one phase alone can save (its drag):"),
      this.levers,
      html("h4", {}, "how to read it"),
      legend("sv-legend-critical", "on the critical path"),
      legend("sv-legend-exposed", "exposed exchange: no compute hides it"),
      legend("sv-legend-float", "float: it may be this much later"),
      legend("sv-legend-ghost", "where it was in the baseline"),
      legend("sv-legend-wait", "waiting for the last rank"),
      html("p", { class: "sv-dim" }, "Drag a bar’s end for its length, its body to hold it back. Choose a bar for its numbers."),
    );
  }

  update(committed: Solved, shown: Solved): void {
    if (shown !== committed || this.of === committed) return;
    this.of = committed;
    const phases = committed.doc.phases
      .map((phase, row) => ({ phase, row }))
      .filter(({ phase, row }) => committed.critical[row] === 1 && phase.duration > 0)
      .sort((a, b) => b.phase.duration - a.phase.duration)
      .slice(0, committed.doc.phases.length > 2000 ? LISTED : ASKED)
      .map(({ phase }) => ({ phase, drag: sensitivity(committed.doc, phase.phase).drag }))
      .sort((a, b) => b.drag - a.drag)
      .slice(0, LISTED);
    const most = Math.max(...phases.map(({ drag }) => drag), 1e-9);
    this.levers.replaceChildren(...phases.map(({ phase, drag }) => this.lever(phase, drag, most)));
  }

  private lever(phase: Phase, drag: number, most: number): HTMLElement {
    const meter = html("i", { class: `sv-meter sv-k-${phase.kind}` });
    meter.style.width = `${Math.max(2, (drag / most) * 100)}%`;
    const open = html("button", { type: "button", title: phase.phase },
      html("span", { class: "sv-lever-name" }, phase.phase),
      html("b", {}, `−${number(drag)}`), html("span", { class: "sv-meter-track" }, meter));
    open.addEventListener("click", () => this.context.select([phase.phase]));
    return html("li", {}, open);
  }
}

function legend(name: string, meaning: string): HTMLElement {
  return html("div", { class: "sv-legend" },
    html("i", { class: name }),
    html("span", {}, meaning));
}
