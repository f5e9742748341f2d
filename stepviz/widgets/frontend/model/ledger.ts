// The committed timeline and its schedule, with the undo stack behind them.

import { applyEdit, describe, type Edit, sameDoc } from "./edits";
import { advance, type Entry, fresh, History, type State } from "./history";
import { FastSolver, type Solved } from "./solver";
import type { TimelineDoc } from "./types";

export class Ledger {
  readonly history = new History();
  #state: State;
  #solver: FastSolver;
  #solved: Solved;

  constructor(doc: TimelineDoc) {
    this.#state = fresh(doc);
    this.#solver = new FastSolver(doc);
    this.#solved = this.#solver.solve();
  }

  get state(): State {
    return this.#state;
  }

  get doc(): TimelineDoc {
    return this.#state.doc;
  }

  get solved(): Solved {
    return this.#solved;
  }

  /** Solve any document; quick where only numbers differ from the one before. */
  solve(doc: TimelineDoc): Solved {
    if (!this.#solver.fits(doc)) this.#solver = new FastSolver(doc);
    return this.#solver.update(doc);
  }

  show(state: State): void {
    this.#state = state;
    this.#solved = this.solve(state.doc);
  }

  /** Show Python's schedule of the committed document in place of the page's own. */
  correct(solved: Solved): void {
    this.#solved = solved;
  }

  /** Commit a state as one entry to undo; null where it is the same timeline. */
  record(state: State, label: string): Entry | null {
    if (sameDoc(state.doc, this.doc)) return null;
    const entry = { label, before: this.#state, after: state };
    this.history.push(entry);
    this.show(state);
    return entry;
  }

  /** Commit an edit; null where it changes nothing. Throws Refused. */
  edit(edit: Edit, label?: string): Entry | null {
    const doc = applyEdit(this.doc, edit);
    if (doc === this.doc) return null;
    return this.record(advance(this.#state, edit, doc), label ?? describe(edit, this.doc));
  }
}
