// The undo stack, and how each state came about (so that it can be written as Python).

import { applyEdit, type Edit, sameDoc } from "./edits";
import type { TimelineDoc } from "./types";

interface Step {
  readonly edit: Edit;
  readonly doc: TimelineDoc;
}

/** A document and the edits that led to it. */
export interface State {
  readonly doc: TimelineDoc;
  readonly from: TimelineDoc;
  readonly steps: readonly Step[];
}

/** One thing that undo takes back. */
export interface Entry {
  readonly label: string;
  readonly before: State;
  readonly after: State;
}

/** Older entries are forgotten: a thousand bars hold some 10 kB each. */
const LONGEST = 500;

export function fresh(doc: TimelineDoc): State {
  return { doc, from: doc, steps: [] };
}

export function advance(state: State, edit: Edit, doc: TimelineDoc): State {
  return { doc, from: state.from, steps: [...state.steps, { edit, doc }] };
}

export class History {
  #past: Entry[] = [];
  #future: Entry[] = [];

  get undoable(): Entry | undefined {
    return this.#past.at(-1);
  }

  get redoable(): Entry | undefined {
    return this.#future.at(-1);
  }

  push(entry: Entry): void {
    this.#past.push(entry);
    if (this.#past.length > LONGEST) this.#past.shift();
    this.#future = [];
  }

  undo(): Entry | undefined {
    const entry = this.#past.pop();
    if (entry !== undefined) this.#future.push(entry);
    return entry;
  }

  redo(): Entry | undefined {
    const entry = this.#future.pop();
    if (entry !== undefined) this.#past.push(entry);
    return entry;
  }

  /** Forget an entry and all after it, as if they had never been. */
  dropFrom(entry: Entry): boolean {
    const at = this.#past.indexOf(entry);
    if (at < 0) return false;
    this.#past.length = at;
    this.#future = [];
    return true;
  }
}

/** The shortest list of edits known to lead from `origin` to the state. */
export function editsSince(origin: TimelineDoc, state: State): Edit[] {
  const made = edited(origin, state);
  const differing = difference(origin, state.doc);
  if (made === null) return differing ?? [{ op: "replace", doc: state.doc }];
  return differing !== null && differing.length < made.length ? differing : made;
}

/** The edits made since the state last was at `origin`; null if it never was. */
function edited(origin: TimelineDoc, state: State): Edit[] | null {
  const at = state.steps.findLastIndex((step) => sameDoc(step.doc, origin));
  if (at < 0 && !sameDoc(state.from, origin)) return null;
  return state.steps.slice(at + 1).map((step) => step.edit);
}

/** The numbers in which two documents of one shape differ; null where more than numbers do. */
function difference(a: TimelineDoc, b: TimelineDoc): Edit[] | null {
  if (a.phases.length !== b.phases.length) return null;
  if (a.dependencies.length !== b.dependencies.length) return null;
  const edits: Edit[] = [];
  b.phases.forEach(({ phase, duration, release }, row) => {
    if (phase !== a.phases[row]!.phase) return;
    if (duration !== a.phases[row]!.duration) edits.push({ op: "duration", phase, duration });
    if (release !== a.phases[row]!.release) edits.push({ op: "release", phase, release });
  });
  b.dependencies.forEach(({ lag }, row) => {
    if (lag !== a.dependencies[row]!.lag) edits.push({ op: "relink", row, changes: { lag } });
  });
  if (a.target !== b.target) edits.push({ op: "target", target: b.target });
  try {
    return sameDoc(applyEdit(a, { op: "many", edits }), b) ? edits : null;
  } catch {
    return null; // such as a target that only the other has
  }
}
