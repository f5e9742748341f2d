/** The pop-overs: help, the edits as Python, filters, a new phase, saving a picture. */

import { KINDS, type Kind, type Phase } from "../model/types";
import type { Chart } from "./chart";
import { button, html, show } from "./dom";
import { pictureSVG, savePNG, saveText } from "./export";
import { field, parseRanks, readNumber, select } from "./fields";
import { active } from "./focus";
import { NO_LANE, ranksOf } from "./layout";
import { type Context, type PanelName, rowOf } from "./state";

const KEYS: [string, string][] = [
  ["Tab, ↑ ↓", "to a bar, and on; Page ↑ ↓ by row"],
  ["← →", "hold it back 1 ms (Shift 10); R lets it go"],
  ["[ ]", "shorter, longer by 1 ms (Shift 10)"],
  ["Enter", "type exact numbers; Esc goes back"],
  ["A", "draw an arrow from it"],
  ["Space, Shift ↑ ↓", "choose several; Ctrl A all"],
  ["Alt ← →", "earlier, later in its lane"],
  ["N, Delete", "new phase; delete what is chosen"],
  ["Ctrl Z, Shift Ctrl Z", "undo, redo"],
  ["+ − 0", "zoom, fit"],
];
const GESTURES: [string, string][] = [
  ["a bar’s right end", "its length; several chosen bars scale together"],
  ["its left end", "its start, the end staying"],
  ["its body", "holds it back with a pin; drop it left to let it go"],
  ["the dots below its ends", "draw an arrow: the ends decide FS, SS, FF or SF"],
  ["an arrow’s label, its ends", "its lag; attach it elsewhere"],
  ["Alt while dragging", "no snapping to whole ms"],
  ["Alt + body", "another place in its lane"],
  ["the background", "choose several; Ctrl or Shift adds"],
  ["Ctrl + wheel, pinch", "zoom; drag the time axis to pan"],
];

export class Panels {
  readonly element = html("div", { class: "sv-panel", role: "dialog", hidden: true, "data-role": "panel" });
  private open: PanelName | null = null;
  private opener: Element | null = null;

  constructor(private readonly context: Context, private readonly chart: Chart) {}

  get isOpen(): boolean {
    return this.open !== null;
  }

  show(name: PanelName | null): void {
    const next = name === this.open ? null : name;
    const had = this.open !== null;
    if (next !== null && !had) this.opener = active(this.context.root);
    this.open = next;
    show(this.element, next !== null);
    if (next === null) {
      const within = had && this.element.contains(active(this.context.root));
      this.element.replaceChildren();
      if (!within) return;
      const opener = this.opener as HTMLElement | SVGElement | null;
      (opener?.isConnected ? opener : this.context.root).focus();
      return;
    }
    const [title, parts] = this.build(next);
    this.element.setAttribute("aria-label", title);
    this.element.dataset["panel"] = next;
    this.element.replaceChildren(html("div", { class: "sv-panel-head" }, html("h3", {}, title),
      button("Close (Esc)", "×", { class: "sv-x", "data-role": "close" }, () => this.show(null), this.context.signal)), ...parts);
    (this.element.querySelector<HTMLElement>("input,textarea,.sv-primary") ?? this.element.querySelector<HTMLElement>("button"))?.focus();
  }

  private build(name: PanelName): [string, Node[]] {
    switch (name) {
      case "help": return ["Keys and gestures", [list(KEYS, "kbd"), html("h4", {}, "drag"), list(GESTURES, "b")]];
      case "python": return ["The edits as Python", this.python()];
      case "filter": return ["Show", this.filter()];
      case "add": return ["A new phase", this.add()];
      case "export": return ["Save the picture", this.save()];
    }
  }

  private python(): Node[] {
    const { context } = this;
    const code = context.session.python();
    const area = html("textarea", { readonly: true, rows: Math.min(16, code.split("\n").length + 1), spellcheck: "false", "data-role": "code", "aria-label": "the edits as Python" });
    area.value = code;
    const copy = button("Copy", "copy", { class: "sv-primary", "data-role": "copy" }, () => {
      // The clipboard is missing on plain-http hubs: the text is chosen then, ready for Ctrl+C.
      const fallback = (): void => {
        area.focus();
        area.select();
        copy.textContent = "chosen: press Ctrl+C";
      };
      if (!navigator.clipboard) return fallback();
      navigator.clipboard.writeText(code).then(() => {
        copy.textContent = "copied";
      }, fallback);
    }, context.signal);
    return [area, html("div", { class: "sv-actions" }, copy)];
  }

  private filter(): Node[] {
    const { state, session } = this.context;
    const { phases } = session.doc;
    const group = <T extends string | number>(title: string, values: T[], hidden: Set<T>, label = (value: T): string => String(value)): Node =>
      html("fieldset", {}, html("legend", {}, title), ...values.map((value) => {
        const box = html("input", { type: "checkbox", checked: !hidden.has(value), "data-filter": `${title}:${value}` });
        box.addEventListener("change", () => {
          if (box.checked) hidden.delete(value);
          else hidden.add(value);
          this.context.redraw("layout");
          this.leaveHidden();
        });
        return html("label", { class: "sv-check" }, box, html("span", {}, label(value)));
      }));
    const lanes = [...new Set(phases.map((phase) => phase.lane ?? NO_LANE))];
    const kinds = KINDS.filter((kind) => phases.some((phase) => phase.kind === kind));
    const choose = select("choose-kind", ["…", ...kinds], "…", (kind) => {
      this.context.select(this.chart.visible(phases.filter((phase) => phase.kind === kind).map((phase) => phase.phase)));
      this.show(null);
      return true;
    });
    return [
      group("rank", ranksOf(session.doc), state.hidden.ranks, (rank) => `rank ${rank}`),
      group("lane", lanes, state.hidden.lanes), group<Kind>("kind", [...kinds], state.hidden.kinds),
      field("choose every", choose),
      html("p", { class: "sv-dim" }, "Filters hide bars in this view only; the step is computed with all of them."),
    ];
  }

  /** Several phases are scaled and deleted together: not ones that a filter hides. */
  private leaveHidden(): void {
    const { context } = this;
    const chosen = [...context.state.selection];
    const seen = this.chart.visible(chosen);
    if (chosen.length < 2 || seen.length === chosen.length) return;
    context.select(seen);
    const left = chosen.length - seen.length;
    context.say(`${left} hidden ${left === 1 ? "phase is" : "phases are"} no longer chosen.`);
  }

  private add(): Node[] {
    const { context } = this;
    const { session, state } = context;
    const near = session.doc.phases[rowOf(session.solved, state.primary)];
    const name = html("input", { "data-role": "new-name", value: fresh(session.doc.phases), spellcheck: "false" });
    let kind: Kind = near?.kind ?? "other";
    const kinds = select("new-kind", KINDS, kind, (chosen) => {
      kind = chosen;
      return true;
    });
    const number = (role: string, value: string): HTMLInputElement =>
      html("input", { class: "sv-number", "data-role": role, value, inputmode: "decimal" });
    const duration = number("new-duration", "50");
    const rank = number("new-rank", near?.members?.join(", ") ?? String(near?.rank ?? ranksOf(session.doc)[0] ?? 0));
    const lane = html("input", { "data-role": "new-lane", value: near?.lane ?? "", placeholder: "none" });
    const apply = (): void => {
      const added = name.value.trim();
      const made = context.attempt(() => {
        const phase: Phase = {
          phase: added, kind, rank: null, ...parseRanks(rank.value), lane: lane.value.trim() || null,
          duration: readNumber(duration.value), release: 0,
        };
        session.apply(near ? { op: "add", phase, after: near.phase } : { op: "add", phase });
      });
      if (!made) return;
      this.show(null);
      context.select([added]);
      (this.chart.bars.group(added) ?? context.root).focus();
    };
    const form = html("div", { class: "sv-form" }, field("name", name), field("kind", kinds), field("duration", duration, "ms"),
      field("rank, or 0, 1", rank), field("lane", lane),
      html("p", { class: "sv-dim" }, near ? `It comes after ${near.phase} in its lane’s order.` : "It comes last in its lane’s order."),
      html("div", { class: "sv-actions" }, button("Add", "add", { class: "sv-primary", "data-role": "add-apply" }, apply, context.signal)));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) apply();
    });
    return [form];
  }

  private save(): Node[] {
    const { context, chart } = this;
    const title = context.session.doc.name || "timeline";
    const file = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "timeline";
    return [html("div", { class: "sv-actions" },
      button("Save as SVG", "SVG", { class: "sv-primary", "data-role": "save-svg" }, () =>
        saveText(pictureSVG(context.root, chart), `${file}.svg`, "image/svg+xml"), context.signal),
      button("Save as PNG", "PNG", { "data-role": "save-png" }, () => {
        savePNG(pictureSVG(context.root, chart), `${file}.png`).catch(() =>
          context.say("This page does not allow pictures to be made; save the SVG instead.", "refused"));
      }, context.signal),
      button("Save the timeline as JSON", "JSON", { "data-role": "save-json" }, () =>
        saveText(JSON.stringify(context.session.doc, null, 1), `${file}.json`, "application/json"), context.signal))];
  }
}

function list(rows: [string, string][], tag: "kbd" | "b"): HTMLElement {
  return html("dl", { class: "sv-help" }, ...rows.flatMap(([key, meaning]) =>
    [html("dt", {}, html(tag, {}, key)), html("dd", {}, meaning)]));
}

function fresh(phases: readonly Phase[]): string {
  const taken = new Set(phases.map((phase) => phase.phase));
  for (let k = 1; ; k++) {
    const name = k === 1 ? "new phase" : `new phase ${k}`;
    if (!taken.has(name)) return name;
  }
}
