// The longest-path pass, in the browser. It does the same float operations on the same operands as
// Python's stepviz.core.graph, so that both give the same bits; maxima and minima are exact, so the
// order of visits does not matter. Classic precedence diagramming: phases are not split.

import { type LinkType, type Origin, type Phase, Refused, type TimelineDoc } from "./types";

export interface ScheduledDependency {
  /** Row of the source in `doc.phases`. */
  readonly source: number;
  /** Row of the target in `doc.phases`. */
  readonly target: number;
  readonly type: LinkType;
  readonly lag: number;
  readonly origin: Origin | "lane";
  /** Row in `doc.dependencies`; -1 for a lane's own. */
  readonly row: number;
  /** How long it may stretch, its target staying where it is, ms. */
  readonly slack: number;
  readonly critical: boolean;
}

export interface Solved {
  readonly doc: TimelineDoc;
  /** Name of a phase → its row. */
  readonly index: ReadonlyMap<string, number>;
  readonly start: Float64Array;
  readonly finish: Float64Array;
  readonly latestStart: Float64Array;
  readonly latestFinish: Float64Array;
  readonly totalFloat: Float64Array;
  readonly freeFloat: Float64Array;
  readonly critical: Uint8Array;
  /** Stored dependencies in their rows' order, then those of lanes by the row of their target. */
  readonly dependencies: readonly ScheduledDependency[];
  /** What holds each phase's start: an index into `dependencies`, -1 for none. */
  readonly binding: Int32Array;
  readonly completion: number;
}

/** Solve a document once. Throws Refused where it has no schedule. */
export function solve(doc: TimelineDoc): Solved {
  return new FastSolver(doc).solve();
}

/**
 * A solver that keeps names, order and adjacency, for drags: only numbers change between solves.
 * `durations`, `releases` and `lags` may be set by row; `update` takes them from a document that
 * fits. The document a solution carries is the last one given.
 */
export class FastSolver {
  readonly durations: Float64Array;
  readonly releases: Float64Array;
  /** One per row of `doc.dependencies`. */
  readonly lags: Float64Array;
  readonly index: ReadonlyMap<string, number>;
  readonly graph: Graph;
  #doc: TimelineDoc;
  #lag: Float64Array;

  constructor(doc: TimelineDoc) {
    const index = indexPhases(doc);
    const graph = buildGraph(doc, index);
    this.#doc = doc;
    this.index = index;
    this.graph = graph;
    this.durations = new Float64Array(doc.phases.length);
    this.releases = new Float64Array(doc.phases.length);
    this.#lag = new Float64Array(graph.source.length); // those of lanes stay 0
    this.lags = this.#lag.subarray(0, doc.dependencies.length);
    this.#read(doc);
  }

  /** Whether `doc` has the same phases, lanes and dependencies, so that only numbers may differ. */
  fits(doc: TimelineDoc): boolean {
    const old = this.#doc;
    if (doc.phases.length !== old.phases.length) return false;
    if (doc.dependencies.length !== old.dependencies.length) return false;
    if (doc.target !== null && !this.index.has(doc.target)) return false;
    return (
      doc.phases.every((phase, row) => {
        const was = old.phases[row]!;
        return (
          phase === was ||
          (phase.phase === was.phase && ownerOf(phase) === ownerOf(was))
        );
      }) &&
      doc.dependencies.every((link, row) => {
        const was = old.dependencies[row]!;
        return (
          link === was ||
          (link.source === was.source && link.target === was.target && link.type === was.type)
        );
      })
    );
  }

  /** Take the numbers of a document that fits, and solve it. */
  update(doc: TimelineDoc): Solved {
    this.#doc = doc;
    this.#read(doc);
    return this.solve();
  }

  solve(): Solved {
    const { graph, index } = this;
    const doc = this.#doc;
    const lag = this.#lag;
    const d = this.durations;
    const target = doc.target === null ? -1 : index.get(doc.target)!;
    const start = forward(graph, d, this.releases, lag);
    const n = d.length;
    const finish = new Float64Array(n);
    for (let i = 0; i < n; i++) finish[i] = start[i]! + d[i]!;
    let completion = target < 0 ? -Infinity : finish[target]!;
    if (target < 0) for (let i = 0; i < n; i++) if (finish[i]! > completion) completion = finish[i]!;
    const latestStart = backward(graph, d, lag, completion, target);
    const latestFinish = new Float64Array(n);
    for (let i = 0; i < n; i++) latestFinish[i] = latestStart[i]! + d[i]!;

    const tolerance = 1e-9 * Math.max(1, Math.abs(completion));
    const totalFloat = new Float64Array(n);
    const freeFloat = new Float64Array(n);
    const critical = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      totalFloat[i] = snap(latestStart[i]! - start[i]!, tolerance);
      critical[i] = totalFloat[i] === 0 ? 1 : 0;
      freeFloat[i] = target < 0 || target === i ? completion - finish[i]! : Infinity;
    }
    const dependencies: ScheduledDependency[] = [];
    const binding = new Int32Array(n).fill(-1);
    const stored = doc.dependencies.length;
    for (let e = 0; e < graph.source.length; e++) {
      const i = graph.source[e]!;
      const j = graph.target[e]!;
      const code = graph.code[e]!;
      const head = code % 2 === 0 ? finish[i]! : start[i]!;
      const at = code >= 2 ? finish[j]! : start[j]!;
      const slack = snap(at - lag[e]! - head, tolerance);
      if (slack < freeFloat[i]!) freeFloat[i] = slack;
      if (binding[j] === -1 && bound(head, lag[e]!, code, d[j]!) === start[j]) binding[j] = e;
      dependencies.push({
        source: i,
        target: j,
        type: CODES[code]!,
        lag: lag[e]!,
        origin: e < stored ? doc.dependencies[e]!.origin : "lane",
        row: e < stored ? e : -1,
        slack,
        critical: critical[i] === 1 && critical[j] === 1 && slack === 0,
      });
    }
    for (let i = 0; i < n; i++) freeFloat[i] = snap(freeFloat[i]!, tolerance);
    return {
      doc,
      index,
      start,
      finish,
      latestStart,
      latestFinish,
      totalFloat,
      freeFloat,
      critical,
      dependencies,
      binding,
      completion,
    };
  }

  #read(doc: TimelineDoc): void {
    // Adding 0 turns -0 into 0, as Python does.
    for (let i = 0; i < this.durations.length; i++) {
      this.durations[i] = doc.phases[i]!.duration + 0;
      this.releases[i] = doc.phases[i]!.release + 0;
    }
    for (let e = 0; e < this.lags.length; e++) this.lags[e] = doc.dependencies[e]!.lag + 0;
  }
}

/** The codes of the four types; even ones leave from the source's finish, 2 and 3 act on finishes. */
export const CODES: readonly LinkType[] = ["FS", "SS", "FF", "SF"];

/** Phases as rows, dependencies (stored, then of lanes) as edges, sorted for both sweeps. */
export interface Graph {
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly code: Uint8Array;
  /** A topological order of the rows. */
  readonly order: Int32Array;
  /** Edges into row j, in schedule order: `into[intoAt[j]]` … `into[intoAt[j + 1] - 1]`. */
  readonly into: Int32Array;
  readonly intoAt: Int32Array;
  readonly out: Int32Array;
  readonly outAt: Int32Array;
}

/** The start that one dependency alone would allow its target. */
export function bound(head: number, lag: number, code: number, targetDuration: number): number {
  return code >= 2 ? head + lag - targetDuration : head + lag;
}

/** Earliest starts; `without` leaves one phase, and all that hangs on it, out of the network. */
export function forward(
  graph: Graph,
  d: Float64Array,
  releases: Float64Array,
  lag: Float64Array,
  without = -1,
): Float64Array {
  const { source, code, into, intoAt, order } = graph;
  const start = new Float64Array(d.length);
  for (let k = 0; k < order.length; k++) {
    const j = order[k]!;
    if (j === without) continue;
    let at = 0;
    if (releases[j]! > at) at = releases[j]!;
    for (let x = intoAt[j]!; x < intoAt[j + 1]!; x++) {
      const e = into[x]!;
      const i = source[e]!;
      if (i === without) continue;
      const c = code[e]!;
      const head = c % 2 === 0 ? start[i]! + d[i]! : start[i]!;
      const candidate = bound(head, lag[e]!, c, d[j]!);
      if (candidate > at) at = candidate;
    }
    start[j] = at;
  }
  return start;
}

function backward(
  graph: Graph,
  d: Float64Array,
  lag: Float64Array,
  completion: number,
  target: number,
): Float64Array {
  const { target: targets, code, out, outAt, order } = graph;
  const late = new Float64Array(d.length);
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k]!;
    let at = target < 0 || target === i ? completion - d[i]! : Infinity;
    for (let x = outAt[i]!; x < outAt[i + 1]!; x++) {
      const e = out[x]!;
      const j = targets[e]!;
      const c = code[e]!;
      const limit = (c >= 2 ? late[j]! + d[j]! : late[j]!) - lag[e]!;
      const candidate = c % 2 === 0 ? limit - d[i]! : limit;
      if (candidate < at) at = candidate;
    }
    late[i] = at;
  }
  return late;
}

function snap(value: number, tolerance: number): number {
  return Math.abs(value) <= tolerance ? 0 : value;
}

function indexPhases(doc: TimelineDoc): Map<string, number> {
  if (doc.phases.length === 0) {
    throw new Refused("A timeline needs at least one phase.");
  }
  const index = new Map<string, number>();
  doc.phases.forEach((phase, row) => {
    if (index.has(phase.phase)) {
      throw new Refused(`There is already a phase called “${phase.phase}”: choose another name.`);
    }
    index.set(phase.phase, row);
  });
  if (doc.target !== null && !index.has(doc.target)) {
    throw new Refused(`The target “${doc.target}” is no phase of this timeline: choose another.`);
  }
  return index;
}

function buildGraph(doc: TimelineDoc, index: ReadonlyMap<string, number>): Graph {
  const sources: number[] = [];
  const targets: number[] = [];
  const codes: number[] = [];
  const linked = new Set<number>();
  const n = doc.phases.length;
  for (const link of doc.dependencies) {
    const i = index.get(link.source);
    const j = index.get(link.target);
    if (i === undefined || j === undefined) {
      const missing = i === undefined ? link.source : link.target;
      throw new Refused(`A dependency names “${missing}”, which is no phase of this timeline.`);
    }
    if (i === j) throw new Refused(`“${link.source}” can’t depend on itself.`);
    sources.push(i);
    targets.push(j);
    codes.push(CODES.indexOf(link.type));
    linked.add(Math.min(i, j) * n + Math.max(i, j));
  }
  const last = new Map<string, number>();
  doc.phases.forEach((phase, row) => {
    if (phase.lane === null) return;
    const owner = ownerOf(phase);
    const before = last.get(owner);
    last.set(owner, row);
    // A stored dependency between neighbours, in either direction, replaces the lane's own.
    if (before === undefined || linked.has(before * n + row)) return;
    sources.push(before);
    targets.push(row);
    codes.push(0);
  });
  const source = Int32Array.from(sources);
  const target = Int32Array.from(targets);
  const [into, intoAt] = sortEdges(target, n);
  const [out, outAt] = sortEdges(source, n);
  const order = topological(target, out, outAt, intoAt, n);
  if (order.length < n) throw new Refused(cycleSentence(doc, source, target, order));
  return { source, target, code: Uint8Array.from(codes), order, into, intoAt, out, outAt };
}

/** Whose lane a phase is on: one rank's, or one group's of ranks. */
function ownerOf(phase: Phase): string {
  const group = `group ${(phase.members ?? []).join("+")}`;
  return `${phase.rank ?? group} ${phase.lane ?? ""}`;
}

/** Edges by one of their ends, in schedule order within each, and where each end's begin. */
function sortEdges(end: Int32Array, n: number): [Int32Array, Int32Array] {
  const at = new Int32Array(n + 1);
  for (const row of end) at[row + 1]! += 1;
  for (let i = 0; i < n; i++) at[i + 1]! += at[i]!;
  const next = at.slice();
  const edges = new Int32Array(end.length);
  end.forEach((row, e) => {
    edges[next[row]!] = e;
    next[row]! += 1;
  });
  return [edges, at];
}

function topological(
  target: Int32Array,
  out: Int32Array,
  outAt: Int32Array,
  intoAt: Int32Array,
  n: number,
): Int32Array {
  const waiting = new Int32Array(n);
  const order = new Int32Array(n);
  let filled = 0;
  for (let i = 0; i < n; i++) {
    waiting[i] = intoAt[i + 1]! - intoAt[i]!;
    if (waiting[i] === 0) order[filled++] = i;
  }
  for (let done = 0; done < filled; done++) {
    const i = order[done]!;
    for (let x = outAt[i]!; x < outAt[i + 1]!; x++) {
      const j = target[out[x]!]!;
      waiting[j]! -= 1;
      if (waiting[j] === 0) order[filled++] = j;
    }
  }
  return order.subarray(0, filled);
}

function cycleSentence(
  doc: TimelineDoc,
  source: Int32Array,
  target: Int32Array,
  free: Int32Array,
): string {
  const stuck = new Uint8Array(doc.phases.length).fill(1);
  for (const row of free) stuck[row] = 0;
  // Each stuck phase has a stuck predecessor: walk backwards until one repeats.
  const into = new Map<number, number>();
  for (let e = source.length - 1; e >= 0; e--) {
    if (stuck[source[e]!] && stuck[target[e]!]) into.set(target[e]!, e);
  }
  let at: number = into.keys().next().value!;
  const seen = new Map<number, number>();
  const path: number[] = [];
  while (!seen.has(at)) {
    seen.set(at, path.length);
    path.push(into.get(at)!);
    at = source[into.get(at)!]!;
  }
  const edges = path.slice(seen.get(at)!).reverse();
  const names = edges.map((e) => `“${doc.phases[source[e]!]!.phase}”`);
  const shown = names.length <= 8 ? names : [...names.slice(0, 4), "…", ...names.slice(-3)];
  const sentence = `These phases would wait for each other in a circle: ${[...shown, names[0]!].join(" → ")}.`;
  const lane = edges.find((e) => e >= doc.dependencies.length);
  if (lane === undefined) return `${sentence} Take one of these dependencies out, or turn one round.`;
  const first = doc.phases[source[lane]!]!;
  const second = doc.phases[target[lane]!]!;
  return (
    `${sentence} The order of lane “${first.lane}” takes part (“${first.phase}” comes before ` +
    `“${second.phase}”): change their order or lane, or take a dependency out.`
  );
}
