/** Scenarios, undo, reset, zoom, and the doors to the panels. */

import { attr, button, html, icon, show, text } from "./dom";
import { ms, number, parse } from "./format";
import type { Chart } from "./chart";
import { rove } from "./focus";
import type { Context } from "./state";

const ICONS = {
  undo: "M6.5 3.5L3 7l3.5 3.5M3 7h6a4 4 0 0 1 0 8H7",
  redo: "M9.5 3.5L13 7l-3.5 3.5M13 7H7a4 4 0 0 0 0 8h2",
  reset: "M3 3v4h4M3.4 7a5.2 5.2 0 1 1-.4 3.4",
  python: "M5.5 4L1.5 8l4 4M10.5 4l4 4-4 4",
  save: "M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.5h11",
  table: "M2 3h12v10H2zM2 6.4h12M2 9.7h12M6.4 3v10",
  panel: "M2 3h12v10H2zM10 3v10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 5V2.5h2.5M11.5 2.5H14V5M14 11v2.5h-2.5M4.5 13.5H2V11M5 8h6",
  filter: "M2 3h12l-4.6 5.4V13l-2.8-1.4V8.4z",
};

/** So many letters of scenarios' names stand beside the headline; more take a line of their own. */
const BESIDE_HEADLINE = 12;

export class Toolbar {
  readonly main: HTMLElement;
  readonly tools: HTMLElement;
  private readonly scenarios = html("span", { class: "sv-group sv-scenarios", role: "group", "aria-label": "scenarios" });
  private readonly baseline = html("select", { "data-role": "baseline", "aria-label": "baseline to compare with", title: "compare with" });
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;
  private readonly tableButton: HTMLButtonElement;
  private readonly panelButton: HTMLButtonElement;
  private readonly arrowNote: HTMLButtonElement;
  readonly scale: HTMLElement;
  private readonly scaleLabel = html("span");
  private readonly factor = html("input", {
    class: "sv-number", value: "0.9", "data-role": "factor", "aria-label": "factor", inputmode: "decimal",
  });
  private scenarioKey = "";
  private readonly settle: (() => void)[];

  constructor(private readonly context: Context, private readonly chart: Chart, toggles: {
    table(): void; inspector(): void;
  }) {
    const { session, signal, state } = context;
    const tool = (role: string, label: string, path: string, action: () => void): HTMLButtonElement =>
      button(label, icon(path), { "data-role": role, class: "sv-tool" }, action, signal);
    this.undo = tool("undo", "Undo", ICONS.undo, () => context.attempt(() => session.undo()));
    this.redo = tool("redo", "Redo", ICONS.redo, () => context.attempt(() => session.redo()));
    this.reset = tool("reset", "Reset", ICONS.reset, () => context.attempt(() => session.reset()));
    this.tableButton = tool("table-toggle", "Show as a table", ICONS.table, toggles.table);
    this.panelButton = tool("inspector-toggle", "Inspector", ICONS.panel, toggles.inspector);
    this.baseline.addEventListener("change", () => {
      context.attempt(() => session.setBaseline(this.baseline.value));
    }, { signal });
    this.main = html("div", { class: "sv-toolbar", role: "toolbar", "aria-label": "timeline" },
      this.scenarios, this.baseline,
      html("span", { class: "sv-group" }, this.undo, this.redo, this.reset));

    this.arrowNote = button("Arrows", "", { "data-role": "arrow-note", class: "sv-note-button" }, () => {
      state.allArrows = !state.allArrows;
      context.redraw("values");
    }, signal);
    const apply = (): void => {
      const factor = parse(this.factor.value);
      if (factor === null || factor < 0) {
        context.say("A factor is a number from 0 up, such as 0.9.", "refused");
        return;
      }
      context.attempt(() => session.apply({ op: "scale", phases: [...state.selection], factor }));
    };
    this.factor.addEventListener("keydown", (event) => {
      if (event.key === "Enter") apply();
    }, { signal });
    this.scale = html("span", { class: "sv-scale", "data-role": "scale", hidden: true }, this.scaleLabel, " × ", this.factor,
      button("Scale the chosen phases together", "scale", { "data-role": "scale-apply" }, apply, signal));
    this.tools = html("div", { class: "sv-tools", role: "toolbar", "aria-label": "view" },
      this.scale, this.arrowNote,
      button("Add a phase (N)", html("span", {}, "+", html("span", { class: "sv-word" }, " phase")), { "data-role": "add" }, () => context.panel("add"), signal),
      tool("filter", "Filter by rank, lane or kind", ICONS.filter, () => context.panel("filter")),
      html("span", { class: "sv-group" },
        tool("zoom-out", "Zoom out (−)", ICONS.minus, () => chart.zoomBy(1 / 1.5)),
        tool("fit", "Fit the whole step (0)", ICONS.fit, () => chart.fit()),
        tool("zoom-in", "Zoom in (+)", ICONS.plus, () => chart.zoomBy(1.5))),
      html("span", { class: "sv-group" },
        tool("python", "Copy the edits as Python", ICONS.python, () => context.panel("python")),
        tool("export", "Save as SVG or PNG", ICONS.save, () => context.panel("export")),
        this.tableButton, this.panelButton,
        button("Help: keys and gestures (?)", "?", { "data-role": "help", class: "sv-tool" }, () => context.panel("help"), signal)));
    this.settle = [this.main, this.tools].map((bar) => rove(bar, signal));
  }

  update(): void {
    const { session, state } = this.context;
    const able = (element: HTMLButtonElement, can: boolean, label: string): void => {
      if (element.disabled === can) element.disabled = !can;
      attr(element, "title", label);
      attr(element, "aria-label", label);
    };
    able(this.undo, session.canUndo, session.undoLabel === null ? "Nothing to undo" : `Undo: ${session.undoLabel}`);
    able(this.redo, session.canRedo, session.redoLabel === null ? "Nothing to redo" : `Redo: ${session.redoLabel}`);
    able(this.reset, true, `Reset to ${session.baselineName === "baseline" ? "the baseline" : session.baselineName} (can be undone)`);
    attr(this.tableButton, "aria-pressed", String(state.table));
    attr(this.panelButton, "aria-pressed", String(state.inspector));
    const filtered = state.hidden.ranks.size + state.hidden.lanes.size + state.hidden.kinds.size;
    attr(this.tools, "data-filtered", filtered > 0 ? filtered : null);
    this.listScenarios();
    this.updateSelection();
    for (const settle of this.settle) settle();
  }

  updateSelection(): void {
    const { state } = this.context;
    const chosen = state.selection.size;
    show(this.scale, chosen > 1);
    if (!state.inspector && this.scale.parentElement !== this.tools) this.tools.prepend(this.scale);
    if (chosen > 1) text(this.scaleLabel, `${chosen} phases`);
    const { shown, total } = this.chart.arrows;
    const thinned = shown < total;
    show(this.arrowNote, thinned || state.allArrows);
    text(this.arrowNote, thinned ? `${number(shown)} of ${number(total)} arrows · show all` : "all arrows · thin out");
    attr(this.arrowNote, "title", "Critical arrows and those of the chosen phase are always drawn");
  }

  private listScenarios(): void {
    const { session } = this.context;
    const { scenarioNames, activeScenario, baselineName } = session;
    const key = JSON.stringify([scenarioNames, activeScenario, baselineName,
      scenarioNames.map((name) => session.scenario(name).completion)]);
    if (key === this.scenarioKey) return;
    this.scenarioKey = key;
    const letters = scenarioNames.reduce((sum, name) => sum + Math.max(2, name.length), 0);
    attr(this.main, "data-long", letters > BESIDE_HEADLINE ? "" : null);
    const children: Node[] = scenarioNames.map((name) => {
      const completion = ms(session.scenario(name).completion);
      const element = html("button", {
        type: "button", class: "sv-scenario", "data-scenario": name, "aria-pressed": String(name === activeScenario),
        title: `${name}: ${completion}${name === baselineName ? ", the baseline" : ""}`,
      }, name);
      element.addEventListener("click", () => this.context.attempt(() => session.switchTo(name)));
      return element;
    });
    const keep = html("button", {
      type: "button", class: "sv-keep", "data-role": "keep",
      title: "Keep this timeline as the next scenario, to switch between them",
    }, "+ keep");
    keep.addEventListener("click", () => {
      this.context.attempt(() => {
        const name = session.keep();
        this.context.say(`Kept as ${name}.`);
      });
    });
    this.scenarios.replaceChildren(...children, keep);
    show(this.baseline, scenarioNames.length > 1);
    this.baseline.replaceChildren(...scenarioNames.map((name) =>
      html("option", { value: name, selected: name === baselineName }, `vs ${name}`)));
  }
}
