/** With nothing chosen: what could make the step finish sooner, and how to read the drawing. */

import { arrivals, exposed } from "../model/measures";
import { sensitivity } from "../model/sensitivity";
import type { Solved } from "../model/solver";
import type { Phase } from "../model/types";
import { html, text } from "./dom";
import { negligible, number } from "./format";
import type { Context } from "./state";

/** Each lever costs a few solves; beyond this many critical phases only the longest are asked. */
const ASKED = 24;
const LISTED = 6;

export class Overview {
  readonly element = html("div", { class: "sv-overview" });
  private readonly levers = html("ol", { class: "sv-levers", "data-role": "levers" });
  private readonly meaning = html("p", { class: "sv-dim", "data-role": "levers-meaning" });
  private readonly legend = html("div", { "data-role": "legend" });
  private of: Solved | null = null;
  private against: Solved | null = null;

  constructor(private readonly context: Context) {
    this.element.append(
      html("h3", {}, "What would help"),
      this.meaning,
      this.levers,
      this.legend,
      html("p", { class: "sv-dim" }, "Drag a bar’s end for its length, its body to hold it back. Choose a bar for its numbers."),
    );
  }

  update(committed: Solved, shown: Solved): void {
    const { baseline } = this.context.session;
    if (shown !== committed || this.of === committed && this.against === baseline) return;
    this.of = committed;
    this.against = baseline;
    this.explain(committed, baseline);
    const phases = committed.doc.phases
      .map((phase, row) => ({ phase, row }))
      .filter(({ phase, row }) => committed.critical[row] === 1 && phase.duration > 0)
      .sort((a, b) => b.phase.duration - a.phase.duration)
      .slice(0, committed.doc.phases.length > 2000 ? LISTED : ASKED)
      .map(({ phase }) => ({ phase, drag: sensitivity(committed.doc, phase.phase).drag }))
      .filter(({ drag }) => !negligible(drag, committed.completion))
      .sort((a, b) => b.drag - a.drag)
      .slice(0, LISTED);
    text(this.meaning, phases.length > 0 ? "The most that shortening one phase alone can save (its drag):"
      : negligible(committed.completion) ? "Nothing here has a length."
        : "No phase alone: shortening any one of them saves nothing.");
    const most = Math.max(...phases.map(({ drag }) => drag), 1e-9);
    this.levers.replaceChildren(...phases.map(({ phase, drag }) => this.lever(phase, drag, most)));
  }

  /** Only what is in the drawing. */
  private explain(solved: Solved, baseline: Solved): void {
    const { doc, completion, critical, totalFloat } = solved;
    const entries: [string, string, boolean][] = [
      ["sv-legend-critical", "on the critical path", completion > 0],
      ["sv-legend-exposed", "exposed exchange: no compute hides it",
        [...exposed(solved, "exchange").values()].some((time) => !negligible(time, completion))],
      ["sv-legend-float", "float: it may be this much later",
        doc.phases.some((phase, row) => critical[row] === 0 && phase.duration > 0 && (totalFloat[row] as number) > 0)],
      ["sv-legend-ghost", "where it was in the baseline", doc.phases.some((phase, row) => {
        const was = baseline.index.get(phase.phase);
        return was !== undefined && (["start", "finish"] as const).some((end) =>
          !negligible((solved[end][row] as number) - (baseline[end][was] as number), completion));
      })],
      ["sv-legend-wait", "waiting for the last rank", doc.phases.some((phase, row) => phase.rank === null
        && [...arrivals(solved, row).values()].some((at) => !negligible(at - (solved.start[row] as number), completion)))],
    ];
    const drawn = entries.filter(([, , is]) => is);
    this.legend.replaceChildren(...drawn.length > 0 ? [html("h4", {}, "how to read it")] : [],
      ...drawn.map(([name, meaning]) => legend(name, meaning)));
  }

  private lever(phase: Phase, drag: number, most: number): HTMLElement {
    const meter = html("i", { class: `sv-meter sv-k-${phase.kind}` });
    meter.style.width = `${Math.max(2, (drag / most) * 100)}%`;
    const open = html("button", { type: "button", title: phase.phase },
      html("span", { class: "sv-lever-name", dir: "auto" }, phase.phase),
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
