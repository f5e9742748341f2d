/** The chosen bar, in numbers one can type; or the chosen arrow; or, with nothing chosen, the levers. */

import type { Edit } from "../model/edits";
import type { ScheduledDependency, Solved } from "../model/solver";
import { type Dependency, KINDS, LINK_TYPES, ORIGINS, type Phase } from "../model/types";
import { Curve } from "./curve";
import { attr, button, html, show, text } from "./dom";
import { nameOf, originNote, startsWhen } from "./explain";
import { field, numberField, parseRanks, select, textField } from "./fields";
import { active } from "./focus";
import { exact, ms, number } from "./format";
import { Overview } from "./overview";
import { Several } from "./several";
import { type Context, rowOf } from "./state";

type Row = { key: string; value: HTMLElement };

export class Inspector {
  readonly element = html("aside", { class: "sv-inspector", "data-role": "inspector", "aria-label": "inspector" });
  private readonly curve = new Curve();
  private readonly overview: Overview;
  private rows: Row[] = [];
  private shownFor = "";
  private editing = false;
  readonly several: Several;
  private hold: { what: HTMLElement; note: HTMLElement } | null = null;
  private duration: HTMLInputElement | null = null;
  private release: HTMLInputElement | null = null;

  constructor(private readonly context: Context) {
    this.overview = new Overview(context);
    this.several = new Several(context);
  }

  focus(): void {
    (this.duration ?? this.element.querySelector<HTMLElement>("input,select,button"))?.focus();
    this.duration?.select();
  }

  /** `structure`: the committed timeline or the choice changed, so fields are made anew. */
  update(solved: Solved, structure: boolean): void {
    const { state, session } = this.context;
    const phase = state.primary !== null ? solved.doc.phases[rowOf(solved, state.primary)] : undefined;
    const dependency = state.arrow !== null ? solved.doc.dependencies[state.arrow] : undefined;
    const several = phase !== undefined && state.selection.size > 1;
    const key = dependency ? `arrow ${state.arrow}` : several ? `phases ${[...state.selection].join("\n")}`
      : phase ? `phase ${phase.phase}` : "";
    // What is being typed into is not replaced under the typist's hands.
    if (structure || key !== this.shownFor) this.rebuild(key, solved, phase, dependency);
    if (several && !dependency) this.several.update(solved);
    else if (phase && !dependency) this.refresh(solved, phase);
    else this.overview.update(session.solved, solved);
  }

  private rebuild(key: string, solved: Solved, phase?: Phase, dependency?: Dependency): void {
    const at = active(this.context.root);
    const focused = this.element.contains(at) && at instanceof HTMLInputElement ? at : null;
    const role = key === this.shownFor ? focused?.dataset["role"] : undefined;
    // What is being typed outlives another timeline's arrival; what was just taken is written anew.
    const draft = focused && !this.editing && focused.value !== focused.defaultValue ? focused.value : null;
    if (focused && draft !== null) focused.value = focused.defaultValue; // nothing is committed by leaving
    this.shownFor = key;
    this.duration = this.release = null;
    this.hold = null;
    if (dependency) this.element.replaceChildren(...this.arrowParts(dependency, this.context.state.arrow as number));
    else if (phase && this.context.state.selection.size > 1) {
      this.element.replaceChildren(...this.several.parts(solved, [...this.context.state.selection]), this.deleteButton());
    } else if (phase) this.element.replaceChildren(...this.phaseParts(solved, phase));
    else this.element.replaceChildren(this.overview.element);
    const again = role === undefined ? null : this.element.querySelector<HTMLInputElement>(`input[data-role="${role}"]`);
    if (!again) return;
    again.focus();
    if (draft !== null) again.value = draft;
  }

  /** Make an edit; reading what was typed for it may be refused as well. */
  private edit(edit: Edit | (() => Edit)): boolean {
    const { context } = this;
    this.editing = true;
    try {
      return context.attempt(() => context.session.apply(typeof edit === "function" ? edit() : edit));
    } finally {
      this.editing = false;
    }
  }

  private deleteButton(): HTMLButtonElement {
    const { size } = this.context.state.selection;
    return size > 1
      ? button(`Delete these ${size} phases (Delete)`, `delete ${size}`, { "data-role": "delete", class: "sv-danger" },
        () => this.onDelete?.(), this.context.signal)
      : button("Delete this phase (Delete)", "delete", { "data-role": "delete", class: "sv-danger" },
        () => this.onDelete?.(), this.context.signal);
  }

  private phaseParts(solved: Solved, phase: Phase): Node[] {
    const { context } = this;
    const name = phase.phase;
    const title = html("input", {
      class: "sv-title", "data-role": "name", value: name, dir: "auto", "aria-label": "name of the phase", spellcheck: "false",
    });
    title.addEventListener("change", () => {
      const renamed = title.value.trim();
      if (renamed === name || !this.edit({ op: "update", phase: name, changes: { phase: renamed } })) {
        title.value = name;
      }
    });
    const kind = select("kind", KINDS, phase.kind, (chosen) =>
      this.edit({ op: "update", phase: name, changes: { kind: chosen } }));
    kind.classList.add("sv-kind", `sv-k-${phase.kind}`);
    this.duration = numberField("duration", phase.duration, (typed) =>
      this.edit(() => ({ op: "duration", phase: name, duration: typed() })), "duration in ms");
    this.release = numberField("release", phase.release, (typed) =>
      this.edit(() => ({ op: "release", phase: name, release: typed() })), "release in ms, 0 for none");
    const value = (role: string): HTMLElement => html("output", { "data-role": role });
    this.rows = ["start", "finish", "latest start", "total float", "drag", "free float"].map((label) =>
      ({ key: label, value: value(label.replace(" ", "-")) }));
    const place = textField("rank", phase.rank === null ? (phase.members ?? []).join(", ") : String(phase.rank), (typed) =>
      this.edit(() => ({ op: "update", phase: name, changes: parseRanks(typed) })));
    place.title = "one rank, or several of a collective: 0, 1";
    const lane = textField("lane", phase.lane ?? "", (typed) =>
      this.edit({ op: "update", phase: name, changes: { lane: typed || null } }));
    this.hold = { what: html("div", { "data-role": "starts-when" }), note: html("div", { class: "sv-dim" }) };
    return [
      html("div", { class: "sv-inspector-head" }, title, kind),
      field("duration", this.duration, "ms"),
      field("release", this.release, "ms"),
      html("dl", { class: "sv-facts" }, ...this.rows.flatMap((row) => [html("dt", {}, row.key), html("dd", {}, row.value)])),
      html("div", { class: "sv-fields-row" }, field("rank", place), field("lane", lane)),
      html("h4", {}, "starts when"), this.hold.what, this.hold.note,
      html("h4", {}, "what more would buy"), this.curve.element,
      html("h4", {}, "arrows"), this.arrowList(solved, rowOf(solved, name)),
      html("div", { class: "sv-actions" },
        button("Draw an arrow from this phase (A)", "+ arrow", { "data-role": "link" }, () => this.onLink?.(), context.signal),
        this.targetButton(name),
        this.deleteButton()),
    ];
  }

  /** Where the completion is measured: at one phase's finish, or at the last of all. */
  private targetButton(name: string): HTMLButtonElement {
    const { context } = this;
    const is = context.session.doc.target === name;
    return button(is ? "Target: the completion is this phase’s finish; click for the last finish of all"
      : "Target: measure the completion at this phase’s finish", "target", { "data-role": "target-toggle", "aria-pressed": String(is) },
    () => this.edit({ op: "target", target: is ? null : name }), context.signal);
  }

  onLink: (() => void) | null = null;
  onDelete: (() => void) | null = null;

  private refresh(solved: Solved, phase: Phase): void {
    const { session } = this.context;
    const row = rowOf(solved, phase.phase);
    for (const [input, current] of [[this.duration, phase.duration], [this.release, phase.release]] as const) {
      if (input && active(this.context.root) !== input) {
        const written = exact(current);
        if (input.value !== written) input.value = written;
      }
    }
    const values = [solved.start, solved.finish, solved.latestStart, solved.totalFloat, null, solved.freeFloat];
    this.rows.forEach((fact, k) => {
      const column = values[k];
      if (column) text(fact.value, number(column[row] as number));
    });
    const drag = this.rows[4]?.value;
    this.curve.update(session.solved, solved, phase.phase, phase.kind);
    if (drag) {
      text(drag, number(this.curve.drag));
      attr(drag, "data-stale", this.curve.stale ? "" : null);
    }
    const [what, note] = startsWhen(solved, row);
    if (this.hold) {
      text(this.hold.what, what);
      text(this.hold.note, note);
      show(this.hold.note, note !== "");
    }
  }

  private arrowList(solved: Solved, row: number): HTMLElement {
    const list = html("ul", { class: "sv-arrow-list" });
    const mine = solved.dependencies.filter((other) => other.source === row || other.target === row);
    for (const dependency of mine.slice(0, 24)) list.append(this.arrowRow(solved, dependency, row));
    if (mine.length > 24) list.append(html("li", { class: "sv-dim" }, `and ${mine.length - 24} more`));
    if (mine.length === 0) list.append(html("li", { class: "sv-dim" }, "none"));
    return list;
  }

  private arrowRow(solved: Solved, dependency: ScheduledDependency, row: number): HTMLElement {
    const { context } = this;
    const outgoing = dependency.source === row;
    const other = nameOf(solved, outgoing ? dependency.target : dependency.source);
    // Shortened in the middle: phases of one kind differ at the end.
    const cut = other.length - (/[^\p{L}\p{N}]*\S{1,5}$/u.exec(other.slice(-7))?.[0].length ?? 0);
    const label = html("span", { class: "sv-arrow-name", title: other, dir: "auto" }, outgoing ? "→\u00a0" : "←\u00a0",
      html("span", { class: "sv-arrow-front" }, other.slice(0, cut)), html("span", {}, other.slice(cut)));
    if (dependency.row < 0) {
      return html("li", {}, html("span", { class: "sv-type" }, "FS"), label, html("span", { class: "sv-dim" }, "lane order"));
    }
    const at = dependency.row;
    const type = select("type", LINK_TYPES, dependency.type, (chosen) =>
      this.edit({ op: "relink", row: at, changes: { type: chosen } }));
    const open = html("button", { type: "button", class: "sv-open", title: "choose this arrow" },
      label, html("small", {}, dependency.origin));
    open.addEventListener("click", () => context.selectArrow(at));
    return html("li", { "data-list-row": at, class: dependency.critical ? "sv-critical" : "" }, type, open,
      numberField(`lag-${at}`, dependency.lag, (typed) => this.edit(() => ({ op: "relink", row: at, changes: { lag: typed() } })), `lag to ${other} in ms`),
      button(`Delete the arrow ${outgoing ? "to" : "from"} ${other}`, "×", { class: "sv-x" },
        () => this.edit({ op: "disconnect", row: at }), context.signal));
  }

  private arrowParts(dependency: Dependency, row: number): Node[] {
    const { context } = this;
    const names = context.session.doc.phases.map((phase) => phase.phase);
    const change = (changes: Partial<Dependency>): boolean => this.edit({ op: "relink", row, changes });
    const solved = context.session.solved.dependencies.find((other) => other.row === row);
    const ends = {
      FS: ["starts", "has finished"], SS: ["starts", "has started"],
      FF: ["finishes", "has finished"], SF: ["finishes", "has started"],
    }[dependency.type];
    return [
      html("div", { class: "sv-inspector-head" }, html("h3", {}, "arrow"),
        html("span", { class: "sv-dim" }, originNote(dependency.origin))),
      html("p", { "data-role": "arrow-meaning" }, `${dependency.target} ${ends[0]} at the earliest ${
        dependency.lag === 0 ? "when" : `${ms(Math.abs(dependency.lag))} ${dependency.lag > 0 ? "after" : "before"}`} ${dependency.source} ${ends[1]}.`),
      field("from", select("source", names, dependency.source, (source) => change({ source }))),
      field("to", select("target", names, dependency.target, (target) => change({ target }))),
      field("type", select("arrow-type", LINK_TYPES, dependency.type, (type) => change({ type }))),
      field("lag", numberField("lag", dependency.lag,
        (typed) => this.edit(() => ({ op: "relink", row, changes: { lag: typed() } })), "lag in ms"), "ms"),
      field("origin", select("origin", ORIGINS, dependency.origin, (origin) => change({ origin }))),
      html("dl", { class: "sv-facts" }, html("dt", {}, "slack"), html("dd", {}, solved ? ms(solved.slack) : ""),
        html("dt", {}, "critical"), html("dd", {}, solved?.critical ? "yes" : "no")),
      html("div", { class: "sv-actions" }, button("Delete this arrow (Delete)", "delete", { class: "sv-danger", "data-role": "delete-arrow" },
        () => {
          if (this.edit({ op: "disconnect", row })) context.selectArrow(null);
        }, context.signal)),
      html("p", { class: "sv-dim" }, `Drag its label to change the lag, its ends to attach it elsewhere. ${number(names.length)} phases in all.`),
    ];
  }
}
