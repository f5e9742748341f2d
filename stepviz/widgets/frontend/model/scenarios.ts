// Timelines kept by name, and the one of them that the others are compared with.

import { sameDoc } from "./edits";
import { fresh, type State } from "./history";
import type { ModelLike } from "./protocol";
import { solve, type Solved } from "./solver";
import { Refused, type TimelineDoc } from "./types";
import { readDoc } from "./validate";

export class Scenarios {
  readonly #model: ModelLike;
  readonly #first: TimelineDoc;
  #docs = new Map<string, TimelineDoc>();
  /** How states kept on this page came about; scenarios from Python have no such story. */
  readonly #states = new Map<string, State>();
  #baseline: Solved;
  /** Which of several equal scenarios is meant. */
  #baselineHint: string | null = null;
  #hint: string | null = null;

  constructor(model: ModelLike, first: TimelineDoc) {
    this.#model = model;
    this.#first = first;
    this.#baseline = solve(first);
    this.read();
  }

  /** Read both traits again; what can't be read is left out. */
  read(): void {
    const docs = new Map<string, TimelineDoc>();
    for (const [name, value] of Object.entries((this.#model.get("scenarios") ?? {}) as object)) {
      const doc = readable(value);
      if (doc !== null) docs.set(name, doc);
    }
    const baseline = readable(this.#model.get("baseline")) ?? this.#first;
    if (!sameDoc(baseline, this.#baseline.doc)) this.#baseline = solve(baseline);
    this.#docs = docs;
  }

  write(): void {
    this.#model.set("scenarios", Object.fromEntries(this.#docs));
    this.#model.set("baseline", this.#baseline.doc);
  }

  get baseline(): Solved {
    return this.#baseline;
  }

  get baselineName(): string {
    return this.#find(this.#baseline.doc, this.#baselineHint) ?? "baseline";
  }

  get names(): readonly string[] {
    return [...this.#docs.keys()];
  }

  nameOf(doc: TimelineDoc): string | null {
    return this.#find(doc, this.#hint);
  }

  /** Where several scenarios are equal, the last one that was asked for. */
  prefer(name: string): void {
    this.#hint = name;
  }

  solved(name: string): Solved {
    return solve(this.#get(name));
  }

  state(name: string): State {
    const doc = this.#get(name);
    const state = this.#states.get(name);
    return state !== undefined && sameDoc(state.doc, doc) ? state : fresh(doc);
  }

  keep(state: State, name?: string): string {
    const known = name === undefined ? this.nameOf(state.doc) : null;
    if (known !== null) return known;
    const kept = name ?? this.#nextLetter();
    if (kept.trim() === "") throw new Refused("A scenario needs a name that is not empty.");
    this.#docs.set(kept, state.doc);
    this.#states.set(kept, state);
    this.#hint = kept;
    return kept;
  }

  forget(name: string): void {
    this.#get(name);
    if (name === this.baselineName) {
      throw new Refused(`“${name}” is the baseline: choose another baseline first.`);
    }
    this.#docs.delete(name);
    this.#states.delete(name);
  }

  setBaseline(name: string): void {
    this.#baseline = solve(this.#get(name));
    this.#baselineHint = name;
  }

  #get(name: string): TimelineDoc {
    const doc = this.#docs.get(name);
    if (doc === undefined) throw new Refused(`There is no scenario called “${name}”.`);
    return doc;
  }

  #find(doc: TimelineDoc, hint: string | null): string | null {
    const hinted = hint === null ? undefined : this.#docs.get(hint);
    if (hinted !== undefined && sameDoc(hinted, doc)) return hint;
    for (const [name, other] of this.#docs) if (sameDoc(other, doc)) return name;
    return null;
  }

  /** A … Z, then A2 … */
  #nextLetter(): string {
    for (let k = 0; ; k++) {
      const round = Math.floor(k / 26);
      const name = String.fromCharCode(65 + (k % 26)) + (round === 0 ? "" : String(round + 1));
      if (!this.#docs.has(name)) return name;
    }
  }
}

function readable(value: unknown): TimelineDoc | null {
  if (value === null || value === undefined) return null;
  try {
    return readDoc(value);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
