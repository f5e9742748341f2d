// One session per widget, shared by all its views: the committed timeline, the gesture under way,
// one undo stack, scenarios, and the conversation with Python. The page owns a gesture, Python owns
// the model: while a bar is dragged nothing from outside moves it, and each release is one commit.

import { applyEdit, describe, type Edit, rebase, sameDoc, toPython } from "./edits";
import { advance, editsSince, type Entry, fresh, History, type State } from "./history";
import {
  type Answer,
  type ModelLike,
  pageName,
  readAnswer,
  readRevision,
  type Revision,
  sameRevision,
  sameSchedule,
  solvedByPython,
} from "./protocol";
import { Scenarios } from "./scenarios";
import { FastSolver, type Solved } from "./solver";
import { Refused, type TimelineDoc } from "./types";
import { readDoc } from "./validate";

export type { ModelLike } from "./protocol";

export type Topic = "preview" | "doc" | "selected" | "scenarios" | "status" | "height";

export interface Status {
  readonly kernel: "live" | "waiting" | "silent" | "none";
  readonly message: string | null;
  readonly level: "info" | "refused" | "error";
}

export interface Gesture {
  readonly label: string;
  /**
   * Show the committed timeline with this edit, in place of the preview before it. Throws Refused,
   * and then the preview stays at the last good one.
   */
  preview(edit: Edit): Solved;
  /** Make the preview final: one undo entry, one save. Does nothing where nothing changed. */
  commit(): void;
  cancel(): void;
}

/** How long a kernel may take to answer before the page says so, ms. */
export const PATIENCE = 3000;
const SILENT = "The kernel is not answering: your edits stay here.";

/** A commit that Python has not answered yet. */
interface Sent {
  readonly revision: Revision;
  readonly entry: Entry;
  /** null: nothing to replay on another timeline (an undo, a reset). */
  readonly edit: Edit | null;
}

/** A timeline from outside that came while a bar was being dragged. */
interface Pending {
  readonly doc: TimelineDoc;
  readonly revision: Revision;
  readonly fromPage: boolean;
}

const sessions = new WeakMap<ModelLike, Session>();

export class Session {
  readonly #model: ModelLike;
  readonly #page = pageName();
  readonly #closed = new AbortController();
  readonly #listeners = new Set<(what: Topic) => void>();
  readonly #history = new History();
  readonly #scenarios: Scenarios;
  #solver: FastSolver;
  #state: State;
  #solved: Solved;
  #preview: Solved | null = null;
  #gesture: Gesture | null = null;
  #pending: Pending | null = null;
  #sent: Sent[] = [];
  #number = 0;
  /** The revision of the committed document. */
  #revision: Revision;
  #modelValue: unknown;
  #modelAnswer: unknown;
  #writing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #status: Status;

  /** Open the session of a widget model; everything is freed when `signal` aborts. */
  static open(model: ModelLike, signal: AbortSignal): Session {
    const session = Session.for(model);
    signal.addEventListener("abort", () => session.dispose(), {
      once: true,
      signal: session.#closed.signal,
    });
    if (signal.aborted) session.dispose();
    return session;
  }

  /** The session of this very model object, opened on first use. Throws Refused. */
  static for(model: ModelLike): Session {
    const known = sessions.get(model);
    if (known !== undefined && !known.#closed.signal.aborted) return known;
    const session = new Session(model);
    sessions.set(model, session);
    return session;
  }

  private constructor(model: ModelLike) {
    this.#model = model;
    this.#modelValue = model.get("value");
    this.#modelAnswer = model.get("_answer");
    this.#revision = readRevision(model.get("_revision"));
    this.#state = fresh(readDoc(this.#modelValue));
    this.#solver = new FastSolver(this.#state.doc);
    this.#solved = this.#solver.solve();
    this.#status = { kernel: model.kernel === false ? "none" : "live", message: null, level: "info" };
    this.#scenarios = new Scenarios(model, this.#state.doc);
    this.#hear(["value", "_revision", "_answer"], () => this.#receive());
    this.#hear(["selected"], () => this.#tell("selected"));
    this.#hear(["height"], () => this.#tell("height"));
    this.#hear(["scenarios", "baseline"], () => {
      if (this.#writing) return;
      this.#scenarios.read();
      this.#tell("scenarios");
    });
  }

  // The timeline

  get doc(): TimelineDoc {
    return this.#state.doc;
  }

  get solved(): Solved {
    return this.#solved;
  }

  /** What to draw: the preview while a gesture runs, else the committed timeline. */
  get shown(): Solved {
    return this.#preview ?? this.#solved;
  }

  get dragging(): boolean {
    return this.#gesture !== null;
  }

  /** Start a gesture. Throws Refused while another one runs. */
  begin(label: string): Gesture {
    this.#refuseWhileDragging();
    let last: { edit: Edit; doc: TimelineDoc; solved: Solved } | null = null;
    const end = (): boolean => {
      if (this.#gesture !== gesture) return false;
      this.#gesture = null;
      this.#preview = null;
      return true;
    };
    const gesture: Gesture = {
      label,
      preview: (edit) => {
        if (this.#gesture !== gesture) throw new Refused("This gesture has ended.");
        const doc = applyEdit(this.doc, edit);
        last = { edit, doc, solved: this.#solve(doc) };
        this.#preview = last.solved;
        this.#tell("preview");
        return last.solved;
      },
      commit: () => {
        if (end()) this.#finish(last?.edit ?? null);
      },
      cancel: () => {
        if (end()) this.#finish(null);
      },
    };
    this.#gesture = gesture;
    return gesture;
  }

  /** Make an edit at once. Throws Refused. */
  apply(edit: Edit, label?: string): void {
    this.#refuseWhileDragging();
    this.#edit(edit, label);
  }

  undo(): void {
    this.#refuseWhileDragging();
    const entry = this.#history.undo();
    if (entry !== undefined) this.#become(entry.before, entry, null);
  }

  redo(): void {
    this.#refuseWhileDragging();
    const entry = this.#history.redo();
    if (entry !== undefined) this.#become(entry.after, entry, null);
  }

  get canUndo(): boolean {
    return this.#history.undoable !== undefined;
  }

  get canRedo(): boolean {
    return this.#history.redoable !== undefined;
  }

  get undoLabel(): string | null {
    return this.#history.undoable?.label ?? null;
  }

  get redoLabel(): string | null {
    return this.#history.redoable?.label ?? null;
  }

  // Scenarios and the baseline

  get baseline(): Solved {
    return this.#scenarios.baseline;
  }

  get baselineName(): string {
    return this.#scenarios.baselineName;
  }

  get scenarioNames(): readonly string[] {
    return this.#scenarios.names;
  }

  /** The scenario that the committed timeline equals now; null once it was edited since. */
  get activeScenario(): string | null {
    return this.#scenarios.nameOf(this.doc);
  }

  scenario(name: string): Solved {
    return this.#scenarios.solved(name);
  }

  /** Keep the timeline as it is now under a name, by default the next free letter. */
  keep(name?: string): string {
    const kept = this.#scenarios.keep(this.#state, name);
    this.#saveScenarios();
    return kept;
  }

  forget(name: string): void {
    this.#scenarios.forget(name);
    this.#saveScenarios();
  }

  setBaseline(name: string): void {
    this.#scenarios.setBaseline(name);
    this.#saveScenarios();
  }

  switchTo(name: string): void {
    this.#refuseWhileDragging();
    const state = this.#scenarios.state(name);
    this.#scenarios.prefer(name);
    if (!this.#record(state, `switch to ${name}`)) this.#tell("scenarios");
  }

  /** Back to the baseline, as one more entry to undo. */
  reset(): void {
    this.#refuseWhileDragging();
    this.#scenarios.prefer(this.baselineName);
    this.#record(fresh(this.baseline.doc), `reset to ${this.baselineName}`);
  }

  /** The edits since the baseline, as Python. */
  python(): string {
    const origin = this.baseline.doc;
    const edits = editsSince(origin, this.#state);
    if (edits.length === 0) return `# nothing differs from ${oneLine(this.baselineName)}\n`;
    return `# changes to ${oneLine(this.baselineName)}\n${toPython(origin, edits)}`;
  }

  // The chosen phase, the height, messages

  get selected(): string | null {
    const name = this.#model.get("selected");
    return typeof name === "string" && this.#solved.index.has(name) ? name : null;
  }

  set selected(name: string | null) {
    if (name === (this.#model.get("selected") ?? null)) return;
    this.#model.set("selected", name);
    this.#model.save_changes();
  }

  /** Height asked for from Python, px; null leaves it to the view. */
  get height(): number | null {
    const height = this.#model.get("height");
    return typeof height === "number" ? height : null;
  }

  get status(): Status {
    return this.#status;
  }

  /** Put a sentence where every view shows it and screen readers say it; null clears it. */
  say(message: string | null, level: Status["level"] = "info"): void {
    this.#setStatus({ message, level });
  }

  subscribe(listener: (what: Topic) => void, signal: AbortSignal): void {
    if (signal.aborted || this.#closed.signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), {
      once: true,
      signal: this.#closed.signal,
    });
  }

  /** Let go of the model, of every listener and of the timer. */
  dispose(): void {
    this.#closed.abort();
    clearTimeout(this.#timer);
    this.#listeners.clear();
    this.#gesture = null;
    this.#preview = null;
    if (sessions.get(this.#model) === this) sessions.delete(this.#model);
  }

  // Committing

  #solve(doc: TimelineDoc): Solved {
    if (!this.#solver.fits(doc)) this.#solver = new FastSolver(doc);
    return this.#solver.update(doc);
  }

  #refuseWhileDragging(): void {
    if (this.#gesture === null) return;
    throw new Refused(`“${this.#gesture.label}” is not finished: let go there first.`);
  }

  /** After a gesture: take what came meanwhile, and put the gesture's edit on top of it. */
  #finish(edit: Edit | null): void {
    const before = this.doc;
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) this.#adopt(pending);
    if (edit !== null) {
      try {
        this.#edit(pending === null ? edit : rebase(edit, before, this.doc));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.say(
          pending === null
            ? error.message
            : `Another timeline came while you dragged, and the edit no longer fits: ${error.message}`,
          "refused",
        );
      }
    }
    this.#tell("preview");
  }

  #edit(edit: Edit, label?: string): boolean {
    const doc = applyEdit(this.doc, edit);
    if (doc === this.doc) return false;
    return this.#record(advance(this.#state, edit, doc), label ?? describe(edit, this.doc), edit);
  }

  #record(state: State, label: string, edit: Edit | null = null): boolean {
    if (sameDoc(state.doc, this.doc)) return false;
    const entry = { label, before: this.#state, after: state };
    this.#history.push(entry);
    this.#become(state, entry, edit);
    return true;
  }

  /** Make a state the committed one and send it. */
  #become(state: State, entry: Entry, edit: Edit | null): void {
    const renamed = edit?.op === "update" && edit.phase === this.selected ? edit.changes.phase : null;
    this.#show(state);
    this.#revision = { page: this.#page, number: ++this.#number };
    this.#write(() => {
      this.#model.set("value", state.doc);
      this.#modelValue = state.doc;
      this.#model.set("_revision", this.#revision);
      const selected = this.#model.get("selected");
      if (typeof selected === "string" && !this.#solved.index.has(selected)) {
        this.#model.set("selected", renamed ?? null);
      }
      this.#model.save_changes();
    });
    if (this.#status.kernel !== "none") {
      this.#sent.push({ revision: this.#revision, entry, edit });
      this.#timer ??= setTimeout(() => this.#fallSilent(), PATIENCE);
      if (this.#status.kernel === "live") this.#setStatus({ kernel: "waiting", message: null });
    } else {
      this.#setStatus({ message: null });
    }
    this.#tell("doc");
  }

  #show(state: State): void {
    this.#state = state;
    this.#solved = this.#solve(state.doc);
  }

  #saveScenarios(): void {
    this.#write(() => {
      this.#scenarios.write();
      this.#model.save_changes();
    });
    this.#tell("scenarios");
  }

  /** Change the model without hearing it as news from outside. */
  #write(change: () => void): void {
    const outer = this.#writing;
    this.#writing = true;
    try {
      change();
    } finally {
      this.#writing = outer;
    }
  }

  // Hearing from Python, and from other widgets of the page

  #receive(): void {
    if (this.#writing) return;
    const value = this.#model.get("value");
    const revision = readRevision(this.#model.get("_revision"));
    if (value !== this.#modelValue) {
      this.#modelValue = value;
      this.#receiveValue(value, revision);
    } else if (this.#pending === null && revision.page !== this.#page) {
      this.#revision = revision;
    }
    this.#receiveAnswer();
  }

  #receiveValue(value: unknown, revision: Revision): void {
    // Python, and other pages through it, send a revision along; a link inside the page does not.
    const known = this.#pending?.revision ?? this.#revision;
    const fromPage = sameRevision(revision, known);
    let doc: TimelineDoc;
    try {
      doc = readDoc(value);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.say(`A timeline that came from outside was refused: ${error.message}`, "error");
      queueMicrotask(() => this.#sendAgain(true));
      return;
    }
    const pending = { doc, revision, fromPage };
    if (this.#gesture !== null) this.#pending = pending;
    else this.#adopt(pending);
  }

  /** Take a timeline from outside, and replay on it what Python has not seen yet. */
  #adopt({ doc, revision, fromPage }: Pending): void {
    const answer = readAnswer(this.#model.get("_answer"));
    const rejected = !fromPage && answer?.rejected?.page === this.#page ? answer.rejected : null;
    const unseen = fromPage ? [] : this.#sent.filter((s) => s.revision.number > (rejected?.number ?? 0));
    const refused = rejected && this.#sent.find((s) => s.revision.number === rejected.number);
    const origin = unseen[0]?.entry.before.doc ?? this.doc;
    this.#sent = [];
    this.#revision = revision;
    if (refused && this.#history.dropFrom(refused.entry)) {
      this.#show(refused.entry.before);
    }
    if (!sameDoc(doc, this.doc)) {
      const state = advance(this.#state, { op: "replace", doc }, doc);
      const label = revision.page === "" ? "timeline from Python" : "timeline from another window";
      if (!refused) {
        this.#history.push({
          label: fromPage ? "timeline from a linked widget" : label,
          before: this.#state,
          after: state,
        });
      }
      this.#show(state);
    }
    if (unseen.length > 0) this.#replay(unseen, origin);
    else if (fromPage) queueMicrotask(() => this.#sendAgain(false));
    this.#tell("doc");
    this.#modelAnswer = null;
    this.#receiveAnswer();
  }

  #replay(unseen: readonly Sent[], origin: TimelineDoc): void {
    let from = origin;
    let made = 0;
    for (const { edit, entry } of unseen) {
      try {
        if (edit === null) throw new Refused(`“${entry.label}” came too late.`);
        if (this.#edit(rebase(edit, from, this.doc))) made += 1;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.say(`Python set another timeline meanwhile. ${error.message}`, "refused");
      }
      from = entry.after.doc;
    }
    // Python will still see what was on its way: send it what counts.
    if (made === 0) this.#sendAgain(true);
  }

  /** Send the committed document under a revision of this page's own. */
  #sendAgain(withValue: boolean): void {
    if (this.#closed.signal.aborted) return;
    this.#revision = { page: this.#page, number: ++this.#number };
    this.#write(() => {
      if (withValue) {
        this.#model.set("value", this.doc);
        this.#modelValue = this.doc;
      }
      this.#model.set("_revision", this.#revision);
      this.#model.save_changes();
    });
  }

  #receiveAnswer(): void {
    const raw = this.#model.get("_answer");
    if (raw === this.#modelAnswer) return;
    this.#modelAnswer = raw;
    const answer = readAnswer(raw);
    if (answer === null || this.#status.kernel === "none") return;
    const latest = sameRevision(answer.revision, this.#revision);
    const mine = answer.revision.page === this.#page || answer.rejected?.page === this.#page;
    if (!latest && !mine) return; // about a timeline this page does not show
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (answer.error !== null) {
      this.#sent = [];
      this.#setStatus({
        kernel: "live",
        message: `Python refused what the page sent and put it right: ${answer.error}`,
        level: "error",
      });
    }
    if (!latest) {
      // Stale: a newer commit is on its way, but the kernel lives.
      const { number } = answer.revision;
      this.#sent = this.#sent.filter((s) => s.revision.number > number);
      if (this.#sent.length > 0) this.#timer = setTimeout(() => this.#fallSilent(), PATIENCE);
      return;
    }
    this.#sent = [];
    if (answer.error === null) this.#compare(answer);
  }

  #compare(answer: Answer): void {
    const silent = this.#status.message === SILENT;
    this.#setStatus({ kernel: "live", ...(silent ? { message: null } : {}) });
    const python = solvedByPython(answer, this.#solved);
    if (python !== null && sameSchedule(python, this.#solved)) return;
    this.say(
      `Python’s schedule (${answer.completion} ms) differs from the page’s ` +
        `(${this.#solved.completion} ms)${python === null ? "." : ": Python’s is shown."}`,
      "error",
    );
    if (python === null) return;
    this.#solved = python;
    this.#tell("doc");
  }

  #fallSilent(): void {
    this.#timer = undefined;
    this.#setStatus({ kernel: "silent", message: SILENT, level: "info" });
  }

  // Telling the views

  #setStatus(change: Partial<Status>): void {
    const next = { ...this.#status, ...change };
    if (next.message === null) next.level = "info";
    const was = this.#status;
    if (
      next.kernel === was.kernel &&
      next.message === was.message &&
      next.level === was.level
    ) {
      return;
    }
    this.#status = next;
    this.#tell("status");
  }

  #tell(what: Topic): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(what);
      } catch (error) {
        console.error("stepviz: a view failed", error); // the other views go on
      }
    }
  }

  #hear(keys: readonly string[], listener: () => void): void {
    for (const key of keys) {
      const event = `change:${key}`;
      this.#model.on(event, listener);
      this.#closed.signal.addEventListener("abort", () => this.#model.off(event, listener));
    }
  }
}

function oneLine(name: string): string {
  return name.replace(/\s+/g, " ");
}
