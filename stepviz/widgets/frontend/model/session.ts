// One session per widget, shared by all its views: the committed timeline, the gesture under way,
// one undo stack, scenarios, and what to tell the views.

import { applyEdit, type Edit, toPython } from "./edits";
import { editsSince, type Entry, fresh, type State } from "./history";
import { Ledger } from "./ledger";
import type { ModelLike } from "./protocol";
import { Scenarios } from "./scenarios";
import type { Solved } from "./solver";
import { Refused, type TimelineDoc } from "./types";
import { readDoc } from "./validate";
import { type Status, Wire } from "./wire";

export type { ModelLike } from "./protocol";
export { PATIENCE, type Status } from "./wire";

export type Topic = "preview" | "doc" | "selected" | "scenarios" | "status" | "height";

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

const sessions = new WeakMap<ModelLike, Session>();

export class Session {
  readonly #model: ModelLike;
  readonly #ledger: Ledger;
  readonly #wire: Wire;
  readonly #scenarios: Scenarios;
  readonly #closed = new AbortController();
  readonly #heard: [event: string, listener: () => void][] = [];
  readonly #listeners = new Set<(what: Topic) => void>();
  #preview: Solved | null = null;
  #gesture: Gesture | null = null;
  #writing = false;
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
    if (known !== undefined) return known;
    const session = new Session(model);
    sessions.set(model, session);
    return session;
  }

  private constructor(model: ModelLike) {
    const ledger = new Ledger(readDoc(model.get("value")));
    this.#model = model;
    this.#ledger = ledger;
    this.#status = { kernel: model.kernel === false ? "none" : "live", message: null, level: "info" };
    this.#scenarios = new Scenarios(model, ledger.doc);
    const session = this;
    this.#wire = new Wire({
      model,
      ledger,
      get dragging() {
        return session.dragging;
      },
      get status() {
        return session.#status;
      },
      setStatus: (change) => this.#setStatus(change),
      changed: () => this.#tell("doc"),
      write: (change) => this.#write(change),
    });
    this.#hear(["value", "_revision", "_answer"], () => this.#wire.receive());
    this.#hear(["scenarios", "baseline"], () => {
      this.#scenarios.read();
      this.#tell("scenarios");
    });
    this.#hear(["selected"], () => this.#tell("selected"));
    this.#hear(["height"], () => this.#tell("height"));
  }

  // The timeline

  get doc(): TimelineDoc {
    return this.#ledger.doc;
  }

  get solved(): Solved {
    return this.#ledger.solved;
  }

  /** What to draw: the preview while a gesture runs, else the committed timeline. */
  get shown(): Solved {
    return this.#preview ?? this.solved;
  }

  get dragging(): boolean {
    return this.#gesture !== null;
  }

  /**
   * Start a gesture; until it ends the timeline stays what it is, whatever comes from outside.
   * Throws Refused while another one runs.
   */
  begin(label: string): Gesture {
    this.#refuseWhileDragging();
    let last: Edit | null = null;
    const end = (edit: Edit | null): void => {
      if (this.#gesture !== gesture) return; // over already
      this.#gesture = null;
      this.#preview = null;
      this.#wire.finish(edit);
      this.#tell("preview");
    };
    const gesture: Gesture = {
      label,
      preview: (edit) => {
        if (this.#gesture !== gesture) throw new Refused("This gesture has ended.");
        const solved = this.#ledger.solve(applyEdit(this.doc, edit));
        last = edit;
        this.#preview = solved;
        this.#tell("preview");
        return solved;
      },
      commit: () => end(last),
      cancel: () => end(null),
    };
    this.#gesture = gesture;
    return gesture;
  }

  /** Make an edit at once. Throws Refused. */
  apply(edit: Edit, label?: string): void {
    this.#refuseWhileDragging();
    const entry = this.#ledger.edit(edit, label);
    if (entry !== null) this.#wire.send(entry, edit);
  }

  undo(): void {
    this.#refuseWhileDragging();
    const entry = this.#ledger.history.undo();
    if (entry !== undefined) this.#return(entry, entry.before);
  }

  redo(): void {
    this.#refuseWhileDragging();
    const entry = this.#ledger.history.redo();
    if (entry !== undefined) this.#return(entry, entry.after);
  }

  #return(entry: Entry, state: State): void {
    this.#ledger.show(state);
    this.#wire.send(entry, null);
  }

  get canUndo(): boolean {
    return this.#ledger.history.undoable !== undefined;
  }

  get canRedo(): boolean {
    return this.#ledger.history.redoable !== undefined;
  }

  get undoLabel(): string | null {
    return this.#ledger.history.undoable?.label ?? null;
  }

  get redoLabel(): string | null {
    return this.#ledger.history.redoable?.label ?? null;
  }

  #refuseWhileDragging(): void {
    if (this.#gesture === null) return;
    throw new Refused(`“${this.#gesture.label}” is not finished: let go there first, or leave it with Esc.`);
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
    const kept = this.#scenarios.keep(this.#ledger.state, name);
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

  #saveScenarios(): void {
    this.#write(() => {
      this.#scenarios.write();
      this.#model.save_changes();
    });
    this.#tell("scenarios");
  }

  switchTo(name: string): void {
    this.#refuseWhileDragging();
    const state = this.#scenarios.state(name);
    this.#scenarios.prefer(name);
    const entry = this.#ledger.record(state, `switch to ${name}`);
    if (entry !== null) this.#wire.send(entry, null);
    else this.#tell("scenarios");
  }

  /** Back to the baseline, as one more entry to undo. */
  reset(): void {
    this.#refuseWhileDragging();
    this.#scenarios.prefer(this.baselineName);
    const entry = this.#ledger.record(fresh(this.baseline.doc), `reset to ${this.baselineName}`);
    if (entry !== null) this.#wire.send(entry, null);
  }

  /** The edits since the baseline, as Python. */
  python(): string {
    const origin = this.baseline.doc;
    const name = this.baselineName.replace(/\s+/g, " ");
    const edits = editsSince(origin, this.#ledger.state);
    if (edits.length === 0) return `# nothing differs from ${name}\n`;
    return `# changes to ${name}\n${toPython(origin, edits)}`;
  }

  // The chosen phase, the height, messages

  get selected(): string | null {
    const name = this.#model.get("selected");
    return typeof name === "string" && this.solved.index.has(name) ? name : null;
  }

  set selected(name: string | null) {
    if (name === (this.#model.get("selected") ?? null)) return;
    // Not news for the other views: each has a choice of its own, which only Python changes.
    this.#write(() => {
      this.#model.set("selected", name);
      this.#model.save_changes();
    });
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

  #setStatus(change: Partial<Status>): void {
    const was = this.#status;
    const next = { ...was, ...change };
    const now: Status = next.message === null ? { ...next, level: "info" } : next;
    if (now.kernel === was.kernel && now.message === was.message && now.level === was.level) return;
    this.#status = now;
    this.#tell("status");
  }

  // Listening and being listened to

  subscribe(listener: (what: Topic) => void, signal: AbortSignal): void {
    if (signal.aborted || this.#closed.signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), {
      once: true,
      signal: this.#closed.signal,
    });
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

  #hear(keys: readonly string[], react: () => void): void {
    const listener = (): void => {
      if (!this.#writing) react();
    };
    for (const key of keys) {
      this.#model.on(`change:${key}`, listener);
      this.#heard.push([`change:${key}`, listener]);
    }
  }

  #write(change: () => void): void {
    const outer = this.#writing;
    this.#writing = true;
    try {
      change();
    } finally {
      this.#writing = outer;
    }
  }

  /** Let go of the model, of every listener and of the timer. */
  dispose(): void {
    this.#closed.abort();
    this.#wire.close();
    for (const [event, listener] of this.#heard.splice(0)) this.#model.off(event, listener);
    this.#listeners.clear();
    this.#gesture = null;
    this.#preview = null;
    sessions.delete(this.#model);
  }
}
