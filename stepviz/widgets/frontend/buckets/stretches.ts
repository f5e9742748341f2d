/** Where a sweep is near its best, and which cap a pointer means (no DOM). */

/** Stretches of neighbours for which something holds, as first and last place. */
export function stretches(holds: readonly boolean[]): [number, number][] {
  const found: [number, number][] = [];
  holds.forEach((one, k) => {
    const last = found.at(-1);
    if (one && last !== undefined && last[1] === k - 1) last[1] = k;
    else if (one) found.push([k, k]);
  });
  return found;
}

/** The place of the position nearest to another. */
export function nearestPlace(positions: readonly number[], to: number): number {
  let best = 0;
  positions.forEach((position, k) => {
    if (Math.abs(position - to) < Math.abs((positions[best] as number) - to)) best = k;
  });
  return best;
}
