// What a schedule means on each rank: exposed time, the parts of the step, the two wrong answers.
// Written to agree with stepviz.core (a test compares them); pure, so views may call it per frame.

import { intersect, type Segment, subtract, total, union } from "./intervals";
import type { Solved } from "./solver";
import { COMPUTE_KINDS, type Kind, type Phase, type TimelineDoc } from "./types";

export type { Segment } from "./intervals";

/** The parts of a step in order of precedence; "idle" is what none of them covers. */
export const BREAKDOWN_ROWS = [
  "forward",
  "backward",
  "recompute",
  "exchange",
  "wait",
  "optimizer",
  "input",
  "checkpoint",
  "host",
  "other",
  "idle",
] as const;
export type RowName = (typeof BREAKDOWN_ROWS)[number];

export interface BreakdownRow {
  readonly row: RowName;
  readonly ms: number;
  readonly segments: readonly Segment[];
}

/** The categories of the plain sum and the plain maximum. */
const CATEGORIES: readonly (readonly Kind[])[] = [
  ["input"],
  COMPUTE_KINDS,
  ["exchange"],
  ["optimizer"],
];

/** The ranks a phase runs on. */
export function ranksOf(phase: Phase): readonly number[] {
  return phase.rank === null ? (phase.members ?? []) : [phase.rank];
}

/** Every rank that owns a phase or is a member of one, ascending. */
export function ranks(doc: TimelineDoc): number[] {
  const found = new Set<number>();
  for (const phase of doc.phases) for (const rank of ranksOf(phase)) found.add(rank);
  return [...found].sort((a, b) => a - b);
}

/**
 * When each rank of a phase gets to it. A member of a collective arrives when that rank's own
 * phases allow, at the latest at the start; a member without such phases with the last of the
 * others, and everybody at the start where none has any.
 */
export function arrivals(solved: Solved, row: number): Map<number, number> {
  let known = arrivalsOf.get(solved);
  if (known === undefined) arrivalsOf.set(solved, (known = findArrivals(solved)));
  const phase = solved.doc.phases[row]!;
  return known.get(row) ?? new Map(ranksOf(phase).map((rank) => [rank, solved.start[row]!]));
}

/** Found once for a schedule: every measure asks, and a frame has little time. */
const arrivalsOf = new WeakMap<Solved, Map<number, Map<number, number>>>();

/** The arrivals at each collective, by row. */
function findArrivals(solved: Solved): Map<number, Map<number, number>> {
  const { doc, start, finish } = solved;
  const own = new Map<number, Map<number, number>>();
  doc.phases.forEach((phase, row) => {
    if (phase.rank === null) own.set(row, new Map());
  });
  if (own.size === 0) return own;
  for (const link of solved.dependencies) {
    const found = own.get(link.target);
    const { rank } = doc.phases[link.source]!;
    if (found === undefined || rank === null) continue;
    const head = link.type === "FS" || link.type === "FF" ? finish[link.source]! : start[link.source]!;
    const onFinish = link.type === "FF" || link.type === "SF";
    const allowed = head + link.lag - (onFinish ? doc.phases[link.target]!.duration : 0);
    found.set(rank, Math.max(found.get(rank) ?? 0, allowed));
  }
  for (const [row, found] of own) {
    const at = start[row]!;
    for (const [rank, allowed] of found) found.set(rank, Math.min(allowed, at));
    const last = found.size > 0 ? Math.max(...found.values()) : at;
    const members = ranksOf(doc.phases[row]!);
    own.set(row, new Map(members.map((rank) => [rank, found.get(rank) ?? last])));
  }
  return own;
}

/**
 * When phases of these kinds run on a rank until the completion; a collective runs from the rank's
 * arrival.
 */
export function intervals(solved: Solved, kinds: readonly Kind[], rank: number): Segment[] {
  const spans: Segment[] = [];
  solved.doc.phases.forEach((phase, row) => {
    if (!kinds.includes(phase.kind)) return;
    if (phase.rank === rank) {
      spans.push([solved.start[row]!, solved.finish[row]!]);
    } else if (phase.rank === null && phase.members?.includes(rank)) {
      spans.push([arrivals(solved, row).get(rank)!, solved.finish[row]!]);
    }
  });
  return intersect(union(spans), [[0, solved.completion]]);
}

/** When a kind runs on a rank and no compute of that rank does. */
export function exposedSegments(solved: Solved, kind: Kind, rank: number): Segment[] {
  return subtract(intervals(solved, [kind], rank), intervals(solved, COMPUTE_KINDS, rank));
}

/** Exposed time of a kind by rank, ms. */
export function exposed(solved: Solved, kind: Kind): Map<number, number> {
  return new Map(
    ranks(solved.doc).map((rank) => [rank, total(exposedSegments(solved, kind, rank))]),
  );
}

/** Time when both kinds run, by rank, ms. */
export function overlap(solved: Solved, a: Kind, b: Kind): Map<number, number> {
  return new Map(
    ranks(solved.doc).map((rank) => [
      rank,
      total(intersect(intervals(solved, [a], rank), intervals(solved, [b], rank))),
    ]),
  );
}

/** The step of a rank cut into parts that add up to the completion; rows without time are left out. */
export function breakdown(solved: Solved, rank: number): BreakdownRow[] {
  const spans = new Map<RowName, Segment[]>();
  const add = (row: RowName, segment: Segment) => {
    const list = spans.get(row);
    if (list === undefined) spans.set(row, [segment]);
    else list.push(segment);
  };
  solved.doc.phases.forEach((phase, row) => {
    const finish = solved.finish[row]!;
    if (phase.rank === rank) {
      add(phase.kind, [solved.start[row]!, finish]);
    } else if (phase.rank === null && phase.members?.includes(rank)) {
      const arrived = arrivals(solved, row);
      const last = Math.max(...arrived.values());
      if (phase.kind === "exchange") {
        add("wait", [arrived.get(rank)!, last]);
        add("exchange", [last, finish]);
      } else {
        add(phase.kind, [arrived.get(rank)!, finish]);
      }
    }
  });
  let free: Segment[] = union([[0, solved.completion]]);
  const rows: BreakdownRow[] = [];
  for (const row of BREAKDOWN_ROWS) {
    const segments = row === "idle" ? free : intersect(union(spans.get(row) ?? []), free);
    if (segments.length === 0) continue;
    free = subtract(free, segments);
    rows.push({ row, ms: total(segments), segments });
  }
  return rows;
}

/** What adding up the categories says: the largest over ranks, ms. One of the wrong answers. */
export function plainSum(solved: Solved): number {
  return Math.max(...categoryTimes(solved.doc).map((times) => times.reduce((a, b) => a + b, 0)));
}

/** What the longest category says: the largest over ranks, ms. The other wrong answer. */
export function plainMaximum(solved: Solved): number {
  return Math.max(...categoryTimes(solved.doc).map((times) => Math.max(...times)));
}

const timesOf = new WeakMap<TimelineDoc, number[][]>();

/** Summed durations of each category, by rank; found once for a document. */
function categoryTimes(doc: TimelineDoc): number[][] {
  const known = timesOf.get(doc);
  if (known !== undefined) return known;
  const byRank = new Map(ranks(doc).map((rank) => [rank, CATEGORIES.map(() => 0)]));
  for (const phase of doc.phases) {
    const category = CATEGORIES.findIndex((kinds) => kinds.includes(phase.kind));
    if (category < 0) continue;
    for (const rank of ranksOf(phase)) byRank.get(rank)![category]! += phase.duration;
  }
  const times = [...byRank.values()];
  timesOf.set(doc, times);
  return times;
}

/**
 * The slowest rank, of which headline and strip speak: the target's rank, else the one whose work
 * ends last. A synchronous step ends on several ranks at once: of those the one that the others
 * waited for, which has the most critical work of its own; the lowest of several.
 */
export function slowestRank(solved: Solved): number {
  const { doc, finish, critical, completion } = solved;
  const last = new Map<number, number>();
  const work = new Map<number, number>();
  doc.phases.forEach((phase, row) => {
    const counts = doc.target === null || doc.target === phase.phase;
    for (const rank of counts ? ranksOf(phase) : []) {
      last.set(rank, Math.max(last.get(rank) ?? 0, finish[row]!));
    }
    if (phase.rank !== null && critical[row] === 1) {
      work.set(phase.rank, (work.get(phase.rank) ?? 0) + phase.duration);
    }
  });
  const latest = Math.max(...last.values()) - 1e-9 * Math.max(1, completion);
  return [...last.keys()]
    .filter((rank) => last.get(rank)! >= latest)
    .sort((a, b) => a - b)
    .reduce((slow, rank) => ((work.get(rank) ?? 0) > (work.get(slow) ?? 0) ? rank : slow));
}
