/**
 * Blocks as pixels. A lane is one line of pixels that the canvas then stretches to the row's
 * height: its cost is that of its blocks, a few ns each, and drawing it is one call.
 */

import type { Layer } from "./layers";
import { FOUND } from "./layers";
import type { Range } from "./viewport";

export const SHADES = 8;

/** Colours as the canvas keeps them, by kind and by how busy a block is. */
export interface Inks {
  readonly plain: Uint32Array;
  /** Beside what was searched for. */
  readonly dimmed: Uint32Array;
}

/** Where blocks that are wide enough for words stand: from, to (pixels), block; three each. */
export type Places = number[];

export interface Brush {
  /** One line of pixels for each row, and after these one more for what is drawn thin. */
  readonly pixels: Uint32Array;
  readonly lines: number;
  readonly width: number;
  readonly range: Range;
  readonly inks: Inks;
  /** By code of kind, whether it is left out. */
  readonly hidden: Uint8Array;
  /** By code of kind, whether it is no work and drawn thin: also told without colours. */
  readonly thin: Uint8Array;
  readonly searching: boolean;
  /** Blocks at least this wide are noted in `places`, pixels. */
  readonly noted: number;
  /** Blocks at least this wide leave a pixel to the next one. */
  readonly parted: number;
}

export function paintLane(brush: Brush, line: number, layer: Layer, lane: number, places: Places | null): void {
  const { pixels, width, range, inks, hidden, thin, searching, noted, parted } = brush;
  const first = line * width;
  const second = (brush.lines + line) * width;
  const scale = width / (range.finish - range.start);
  // A finer layer replaces what a coarser one painted in its range.
  const left = clamp(Math.floor((layer.asked.start - range.start) * scale), width);
  const right = clamp(Math.ceil((layer.asked.finish - range.start) * scale), width);
  for (const offset of [first, second]) pixels.fill(0, offset + left, offset + right);
  const [, high] = layer.span(lane);
  const { starts, finishes, kinds, flags, shares, counts } = layer;
  const ratio = layer.unit * scale;
  const shift = (layer.from - range.start) * scale;
  const found: number[] = [];
  for (let k = layer.firstFrom(lane, range.start); k < high; k++) {
    const from = shift + ratio * (starts[k] as number);
    if (from >= width) break;
    const kind = kinds[k] as number;
    if (hidden[kind]) continue;
    let a = Math.round(from);
    let b = Math.round(shift + ratio * (finishes[k] as number));
    if (b <= a) b = a + 1;
    const wide = b - a;
    if (wide >= parted) b -= 1;
    a = clamp(a, width);
    b = clamp(b, width);
    const marked = searching && ((flags[k] as number) & FOUND) !== 0;
    if (marked) found.push(k);
    const shade = (counts[k] as number) === 1 ? SHADES - 1 : ((shares[k] as number) * (SHADES - 1)) >> 8;
    const offset = thin[kind] ? second : first;
    const ink = (searching && !marked ? inks.dimmed : inks.plain)[kind * SHADES + shade] as number;
    if (b - a === 1) pixels[offset + a] = ink;
    else pixels.fill(ink, offset + a, offset + b);
    if (places !== null && wide >= noted) places.push(a, b, k);
  }
  // Again on top: neighbours below a pixel must not cover what was found.
  for (const k of found) {
    const a = clamp(Math.round(shift + ratio * (starts[k] as number)), width);
    const b = clamp(Math.max(Math.round(shift + ratio * (finishes[k] as number)), a + 1), width);
    if (b - a < parted) pixels.fill(inks.plain[(kinds[k] as number) * SHADES + SHADES - 1] as number, first + a, first + b);
  }
}

function clamp(x: number, width: number): number {
  return x < 0 ? 0 : x > width ? width : x;
}
