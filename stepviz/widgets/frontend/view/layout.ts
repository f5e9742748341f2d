/** Where rows and bars go: ranks, their lanes, and which bar lies on which row. Pure. */

import type { Kind, TimelineDoc } from "../model/types";
import type { Solved } from "../model/solver";

export interface Density {
  name: "roomy" | "medium" | "compact" | "dense";
  bar: number;
  gap: number;
}

/** One drawing of a phase: a collective has one per member rank. */
export interface Item {
  phase: number;
  rank: number;
  row: number;
  /** Drawn on a member's rank, edited as one with the others. */
  member: boolean;
}

export interface Row {
  rank: number;
  lane: string | null;
  /** Empty for the further sub-rows of a lane whose bars overlap. */
  label: string;
  /** Top of the bars. */
  y: number;
  /** Items by start. */
  items: number[];
}

export interface Heading { rank: number; y: number }

export interface Layout {
  density: Density;
  rows: Row[];
  headings: Heading[];
  items: Item[];
  /** Items of each phase. */
  of: Map<number, number[]>;
  height: number;
}

export interface Filter {
  ranks: ReadonlySet<number>;
  lanes: ReadonlySet<string>;
  kinds: ReadonlySet<Kind>;
}

export const NO_LANE = "no lane";

function densityFor(rows: number): Density {
  if (rows <= 5) return { name: "roomy", bar: 34, gap: 38 };
  if (rows <= 10) return { name: "medium", bar: 28, gap: 24 };
  if (rows <= 20) return { name: "compact", bar: 22, gap: 14 };
  return { name: "dense", bar: 16, gap: 8 };
}

export function ranksOf(doc: TimelineDoc): number[] {
  const ranks = new Set<number>();
  for (const phase of doc.phases) {
    if (phase.rank !== null) ranks.add(phase.rank);
    else for (const member of phase.members ?? []) ranks.add(member);
  }
  return [...ranks].sort((a, b) => a - b);
}

export function layOut(solved: Solved, filter: Filter): Layout {
  const { doc } = solved;
  const ranks = ranksOf(doc);
  // Lanes in the order of their first phase; the same order on every rank, so that ranks compare.
  const lanes = [...new Set(doc.phases.map((phase) => phase.lane ?? NO_LANE))];
  const laneOrder = new Map(lanes.map((lane, order) => [lane, order]));
  const groups = new Map<string, { rank: number; lane: string; phases: number[] }>();
  doc.phases.forEach((phase, index) => {
    const lane = phase.lane ?? NO_LANE;
    if (filter.kinds.has(phase.kind) || filter.lanes.has(lane)) return;
    for (const rank of phase.rank !== null ? [phase.rank] : phase.members ?? []) {
      if (filter.ranks.has(rank)) continue;
      const key = `${rank}\u0000${lane}`;
      let group = groups.get(key);
      if (!group) groups.set(key, (group = { rank, lane, phases: [] }));
      group.phases.push(index);
    }
  });
  const ordered = [...groups.values()].sort((a, b) =>
    a.rank - b.rank || (laneOrder.get(a.lane) ?? 0) - (laneOrder.get(b.lane) ?? 0));

  const packed = ordered.map((group) => ({ ...group, sub: pack(group.phases, solved) }));
  const count = packed.reduce((sum, group) => sum + group.sub.length, 0);
  const density = densityFor(count);
  const layout: Layout = {
    density, rows: [], headings: [], items: [], of: new Map(), height: 0,
  };
  // Room above the first and below the last row for the bubble with the dragged value.
  let y = ranks.length > 1 ? 10 : 30;
  let rank: number | null = null;
  for (const group of packed) {
    if (ranks.length > 1 && group.rank !== rank) {
      rank = group.rank;
      if (layout.rows.length > 0) y += density.gap / 3;
      layout.headings.push({ rank, y });
      // Under the title there is room for the pins of the first row.
      y += density.name === "dense" ? 20 : 30;
    }
    group.sub.forEach((phases, sub) => {
      const row: Row = {
        rank: group.rank, lane: group.lane === NO_LANE ? null : group.lane,
        label: sub === 0 ? group.lane : "", y, items: [],
      };
      for (const phase of phases) {
        const item = layout.items.length;
        layout.items.push({
          phase, rank: group.rank, row: layout.rows.length, member: doc.phases[phase]?.rank === null,
        });
        row.items.push(item);
        const of = layout.of.get(phase);
        if (of) of.push(item);
        else layout.of.set(phase, [item]);
      }
      layout.rows.push(row);
      y += density.bar + (sub < group.sub.length - 1 ? Math.min(density.gap, 6) : density.gap);
    });
  }
  layout.height = Math.max(y - density.gap + 34, 60);
  return layout;
}

/** The largest height within `most` that cuts no row in two. */
export function wholeRows(layout: Layout, most: number): number {
  const { rows, density, height } = layout;
  if (height <= most) return Math.ceil(height);
  let best = 0;
  for (const row of rows) {
    const below = Math.ceil(row.y + density.bar + Math.min(6, density.gap / 2));
    if (below <= most) best = below;
  }
  return best > 0 ? best : most;
}

/** Spread overlapping phases of one lane over sub-rows; each sub-row sorted by start. */
function pack(phases: number[], solved: Solved): number[][] {
  const start = (phase: number): number => solved.start[phase] as number;
  const finish = (phase: number): number => solved.finish[phase] as number;
  const sorted = [...phases].sort((a, b) => start(a) - start(b) || finish(a) - finish(b) || a - b);
  const rows: { phases: number[]; end: number }[] = [];
  const slack = 1e-9 * Math.max(1, solved.completion);
  for (const phase of sorted) {
    const row = rows.find((candidate) => candidate.end <= start(phase) + slack);
    if (row) {
      row.phases.push(phase);
      row.end = Math.max(row.end, finish(phase));
    } else {
      rows.push({ phases: [phase], end: finish(phase) });
    }
  }
  return rows.map((row) => row.phases);
}
