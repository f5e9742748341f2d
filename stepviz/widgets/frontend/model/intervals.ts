// Sets of intervals as sorted, disjoint lists of [start, end], ms.

export type Segment = readonly [number, number];

/** Merge intervals that overlap or touch; empty ones vanish. */
export function union(intervals: readonly Segment[]): Segment[] {
  const spans = intervals.filter(([a, b]) => b > a).sort((x, y) => x[0] - y[0]);
  const merged: [number, number][] = [];
  for (const [a, b] of spans) {
    const last = merged.at(-1);
    if (last !== undefined && a <= last[1]) last[1] = Math.max(last[1], b);
    else merged.push([a, b]);
  }
  return merged;
}

/** What both sets cover. */
export function intersect(a: readonly Segment[], b: readonly Segment[]): Segment[] {
  const both: Segment[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const low = Math.max(a[i]![0], b[j]![0]);
    const high = Math.min(a[i]![1], b[j]![1]);
    if (high > low) both.push([low, high]);
    if (a[i]![1] < b[j]![1]) i++;
    else j++;
  }
  return both;
}

/** What `a` covers and `b` does not. */
export function subtract(a: readonly Segment[], b: readonly Segment[]): Segment[] {
  const left: Segment[] = [];
  let j = 0;
  for (const [start, end] of a) {
    let from = start;
    while (j < b.length && b[j]![1] <= from) j++;
    for (let k = j; k < b.length && b[k]![0] < end; k++) {
      if (b[k]![0] > from) left.push([from, b[k]![0]]);
      from = Math.max(from, b[k]![1]);
    }
    if (end > from) left.push([from, end]);
  }
  return left;
}

export function total(a: readonly Segment[]): number {
  return a.reduce((sum, [start, end]) => sum + (end - start), 0);
}
