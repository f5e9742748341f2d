import type { LinkType, Origin, TimelineDoc } from "./types";

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
  readonly dependencies: readonly ScheduledDependency[];
  /** What holds each phase's start: an index into `dependencies`, -1 for none. */
  readonly binding: Int32Array;
  readonly completion: number;
}

export function solve(doc: TimelineDoc): Solved {
  return new FastSolver(doc).solve();
}

export class FastSolver {
  readonly durations: Float64Array;
  readonly releases: Float64Array;
  /** One per row of `doc.dependencies`. */
  readonly lags: Float64Array;
  constructor(doc: TimelineDoc) {
    this.durations = Float64Array.from(doc.phases, (p) => p.duration);
    this.releases = Float64Array.from(doc.phases, (p) => p.release);
    this.lags = Float64Array.from(doc.dependencies, (d) => d.lag);
  }
  /** Whether `doc` differs from the solver's in numbers, names of the run and target only. */
  fits(_doc: TimelineDoc): boolean {
    return false;
  }
  /** Take the numbers of a document that fits, and solve it. */
  update(_doc: TimelineDoc): Solved {
    throw new Error("not yet");
  }
  solve(): Solved {
    throw new Error("not yet");
  }
}
