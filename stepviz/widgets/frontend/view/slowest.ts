/** Whose rank the headline and the strip speak of. Pure. */

import { slowestRank } from "../model/measures";
import type { Solved } from "../model/solver";

/**
 * The slowest rank. A synchronous step ends on all ranks at once: then the one that the others
 * waited for, which has the most critical work of its own.
 */
export function leadingRank(solved: Solved): number {
  const { doc } = solved;
  const slowest = slowestRank(solved);
  const tolerance = 1e-9 * Math.max(1, solved.completion);
  const work = new Map<number, number>();
  const tied = new Set<number>();
  doc.phases.forEach((phase, row) => {
    if (phase.rank === null) return;
    const last = doc.target === null || doc.target === phase.phase;
    if (last && (solved.finish[row] as number) >= solved.completion - tolerance) tied.add(phase.rank);
    if (solved.critical[row] === 1) work.set(phase.rank, (work.get(phase.rank) ?? 0) + phase.duration);
  });
  let best = slowest;
  for (const rank of tied) if ((work.get(rank) ?? 0) > (work.get(best) ?? 0)) best = rank;
  return tied.has(slowest) || tied.size === 0 ? best : slowest;
}
