/** What lies under the pointer. */

import type { Layer, Layers } from "./layers";

export interface Hit {
  readonly lane: number;
  readonly start: number;
  readonly finish: number;
  readonly kind: number;
  readonly name: number;
  readonly count: number;
  /** Which part of its length is busy, 0 to 1. */
  readonly share: number;
}

export function blockOf(layer: Layer, lane: number, block: number): Hit {
  return {
    lane,
    start: layer.start(block),
    finish: layer.finish(block),
    kind: layer.kinds[block] as number,
    name: layer.names[block] as number,
    count: layer.counts[block] as number,
    share: (layer.shares[block] as number) / 255,
  };
}

/** The block of a lane at a time, or the nearest within `reach`; the narrower of two at one place. */
export function hit(layers: Layers, lane: number, time: number, reach: number): Hit | null {
  const layer = layers.at(lane, time);
  if (layer === null) return null;
  const [low, high] = layer.span(lane);
  let best: Hit | null = null;
  let least = reach;
  for (let k = Math.max(low, layer.firstFrom(lane, time - reach)); k < high; k++) {
    const found = blockOf(layer, lane, k);
    if (found.start > time + reach) break;
    const away = Math.max(found.start - time, time - found.finish, 0);
    if (away > least || (best !== null && away === least && found.finish - found.start >= best.finish - best.start)) continue;
    best = found;
    least = away;
  }
  return best;
}

/** The block before or after one in its lane, as far as is known here. */
export function neighbour(layers: Layers, lane: number, from: { start: number; finish: number }, by: 1 | -1): Hit | null {
  const layer = layers.at(lane, (from.start + from.finish) / 2);
  if (layer === null) return null;
  const [low, high] = layer.span(lane);
  let k = Math.max(low, layer.firstFrom(lane, from.start));
  while (k < high && (by > 0 ? layer.start(k) <= from.start : layer.start(k) < from.start)) k++;
  if (by < 0) k--;
  return k >= low && k < high ? blockOf(layer, lane, k) : null;
}
