/** How an arrow runs: out of one bar's end, along the gap between rows, into another's. Pure. */

import { px } from "./dom";

export interface Anchor {
  x: number;
  /** Top and bottom of the bar. */
  top: number;
  bottom: number;
  row: number;
}

export interface Route {
  path: string;
  /** The arrowhead: a filled triangle. */
  head: string;
  /** Middle of the run along the gap, where a label sits, and the room there. */
  labelX: number;
  labelY: number;
  labelRoom: number;
}

const HEAD = 7;

/** @param track  height of the horizontal run: the y in the gap next to the target's row */
export function route(from: Anchor, to: Anchor, track: number, size = HEAD): Route {
  const { x: x1 } = from;
  const { x: x2 } = to;
  if (from.row === to.row) return sameRow(from, to, track, size);
  const down = to.row > from.row;
  const y1 = down ? from.bottom : from.top;
  const y2 = down ? to.top : to.bottom;
  const tip = down ? y2 - 1 : y2 + 1;
  const base = down ? tip - size : tip + size;
  const head = arrowhead(x2, tip, down ? 1 : -1, size);
  // A jog of a few pixels says nothing: such an arrow runs straight.
  if (Math.abs(x1 - x2) < 7) {
    return {
      path: `M${px(x2)} ${px(y1)}V${px(base)}`, head,
      labelX: x2, labelY: (y1 + y2) / 2, labelRoom: 0,
    };
  }
  const y = track;
  const right = x2 > x1 ? 1 : -1;
  const r1 = Math.max(0, Math.min(6, Math.abs(x2 - x1) / 2, Math.abs(y - y1)));
  const r2 = Math.max(0, Math.min(6, Math.abs(x2 - x1) / 2, Math.abs(base - y)));
  const v = down ? 1 : -1;
  const after = (base - y) * v >= 0 ? v : -v;
  const path = `M${px(x1)} ${px(y1)}V${px(y - v * r1)}Q${px(x1)} ${px(y)} ${px(x1 + right * r1)} ${px(y)}`
    + `H${px(x2 - right * r2)}Q${px(x2)} ${px(y)} ${px(x2)} ${px(y + after * r2)}V${px(base)}`;
  return { path, head, labelX: (x1 + x2) / 2, labelY: y, labelRoom: Math.abs(x2 - x1) - 16 };
}

/**
 * Bars of one row that touch, the second after the first: a small mark on the seam. With a gap
 * between them: straight along the foot of the row.
 */
export function alongRow(x1: number, x2: number, from: Anchor, size: number): Route {
  const y = px(from.top + (from.bottom - from.top) * 0.82);
  if (x2 - x1 < size + 5) {
    const half = Math.min(size * 0.6, (from.bottom - from.top) / 4);
    const x = (x1 + x2) / 2;
    return {
      path: `M${px(x - half)} ${y}H${px(x)}`,
      head: `M${px(x + half)} ${y}L${px(x - half)} ${px(y - half)}V${px(y + half)}Z`,
      labelX: x, labelY: from.bottom + 9, labelRoom: 0,
    };
  }
  const half = size * 0.55;
  return {
    path: `M${px(x1)} ${y}H${px(x2 - size)}`,
    head: `M${px(x2 - 1)} ${y}L${px(x2 - 1 - size)} ${px(y - half)}V${px(y + half)}Z`,
    labelX: (x1 + x2) / 2, labelY: y, labelRoom: x2 - x1 - 16,
  };
}

/** Other arrows within a row dip below it. */
function sameRow(from: Anchor, to: Anchor, track: number, size: number): Route {
  const { x: x1 } = from;
  const { x: x2 } = to;
  const dip = track;
  const tip = to.bottom + 1;
  const head = arrowhead(x2, tip, -1, size);
  const right = x2 >= x1 ? 1 : -1;
  const r = Math.max(0, Math.min(4, Math.abs(x2 - x1) / 2));
  const base = tip + size;
  const low = Math.max(dip, base + 2);
  const path = `M${px(x1)} ${px(from.bottom)}V${px(low - r)}Q${px(x1)} ${px(low)} ${px(x1 + right * r)} ${px(low)}`
    + `H${px(x2 - right * r)}Q${px(x2)} ${px(low)} ${px(x2)} ${px(low - r)}V${px(base)}`;
  return { path, head, labelX: (x1 + x2) / 2, labelY: low, labelRoom: Math.abs(x2 - x1) - 16 };
}

function arrowhead(x: number, tip: number, direction: number, size: number): string {
  const base = tip - direction * size;
  const half = size * 0.55;
  return `M${px(x)} ${px(tip)}L${px(x - half)} ${px(base)}H${px(x + half)}Z`;
}

/**
 * Give each horizontal run a track in its gap so that runs that overlap lie apart. Runs are taken
 * in the order given: the important ones first get the middle of the gap.
 */
export function assignTracks(
  runs: readonly { gap: number; from: number; to: number }[], tracks: number,
): number[] {
  const taken = new Map<number, [number, number][][]>();
  return runs.map((run) => {
    let lanes = taken.get(run.gap);
    if (!lanes) taken.set(run.gap, (lanes = Array.from({ length: tracks }, () => [])));
    const low = Math.min(run.from, run.to) - 6;
    const high = Math.max(run.from, run.to) + 6;
    let best = 0;
    let least = Infinity;
    for (let track = 0; track < lanes.length; track++) {
      let clashes = 0;
      for (const [a, b] of lanes[track] as [number, number][]) if (a < high && b > low) clashes++;
      if (clashes < least) {
        least = clashes;
        best = track;
        if (clashes === 0) break;
      }
    }
    (lanes[best] as [number, number][]).push([low, high]);
    return best;
  });
}
