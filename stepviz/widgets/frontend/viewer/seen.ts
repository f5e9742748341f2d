/** What is in sight, as a bounded list: for the table beside the drawing (no DOM). */

import { blockOf, type Hit } from "./hit";
import type { Layers } from "./layers";
import { rowsBetween } from "./rows";
import type { Look } from "./state";

export interface Seen {
  /** By lane from top to bottom, in each by time. */
  readonly hits: readonly Hit[];
  readonly lanes: number;
  /** How many shorter pieces were left out. */
  readonly left: number;
}

/** However many lanes there are, each may say so much. */
const LEAST = 3;

/** The longest pieces of each lane between two heights of the drawing, `most` in all or a few more. */
export function inSight(look: Look, layers: Layers, height: number, most: number): Seen {
  const [first, last] = rowsBetween(look.rows.rows, look.scroll, look.scroll + height);
  const rows = look.rows.rows.slice(first, last);
  const each = Math.max(LEAST, Math.floor(most / Math.max(1, rows.length)));
  let left = 0;
  const hits = rows.flatMap(({ lane }) => {
    const layer = layers.main(lane, look.range, look.pixel);
    if (layer === null) return [];
    const found: Hit[] = [];
    const [, high] = layer.span(lane);
    for (let k = layer.firstFrom(lane, look.range.start); k < high && layer.start(k) < look.range.finish; k++) {
      found.push(blockOf(layer, lane, k));
    }
    left += Math.max(0, found.length - each);
    return found.sort((a, b) => b.finish - b.start - (a.finish - a.start)).slice(0, each).sort((a, b) => a.start - b.start);
  });
  return { hits, lanes: rows.length, left };
}
