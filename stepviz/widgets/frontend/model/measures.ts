import type { Solved } from "./solver";
import type { Kind, TimelineDoc } from "./types";

export type Segment = readonly [number, number];
export interface BreakdownRow {
  /** A kind, "wait" or "idle". */
  readonly row: string;
  readonly ms: number;
  readonly segments: readonly Segment[];
}

export function ranks(_doc: TimelineDoc): number[] {
  throw new Error("not yet");
}
export function intervals(_solved: Solved, _kinds: readonly Kind[], _rank: number): Segment[] {
  throw new Error("not yet");
}
export function exposed(_solved: Solved, _kind: Kind): Map<number, number> {
  throw new Error("not yet");
}
export function exposedSegments(_solved: Solved, _kind: Kind, _rank: number): Segment[] {
  throw new Error("not yet");
}
export function overlap(_solved: Solved, _a: Kind, _b: Kind): Map<number, number> {
  throw new Error("not yet");
}
export function breakdown(_solved: Solved, _rank: number): BreakdownRow[] {
  throw new Error("not yet");
}
export function plainSum(_solved: Solved): number {
  throw new Error("not yet");
}
export function plainMaximum(_solved: Solved): number {
  throw new Error("not yet");
}
export function slowestRank(_solved: Solved): number {
  throw new Error("not yet");
}
export function arrivals(_solved: Solved, _phase: number): Map<number, number> {
  throw new Error("not yet");
}
