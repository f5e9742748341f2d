/**
 * What Python has sent: for some lanes the blocks of a time range, merged below a pixel. Several
 * such layers are kept, so that there is something to draw while the next is on its way.
 */

import type { Range } from "./viewport";
import { length } from "./viewport";

/** Bits of `flags`. */
export const FOUND = 1;

/** What a layer was asked for. */
export interface Wanted {
  readonly start: number;
  readonly finish: number;
  /** How long a pixel was, ns. */
  readonly pixel: number;
  readonly lanes: readonly number[];
  readonly hidden: readonly number[];
  readonly find: string;
}

export interface BlocksAnswer {
  readonly start: number;
  readonly finish: number;
  readonly unit: number;
  readonly lanes: readonly number[];
}

export class Layer {
  /** By lane, its place among the bounds. */
  private readonly place: ReadonlyMap<number, number>;

  constructor(
    readonly asked: Wanted,
    readonly from: number,
    readonly unit: number,
    lanes: readonly number[],
    private readonly bounds: Int32Array,
    readonly starts: Int32Array,
    readonly finishes: Int32Array,
    readonly names: Int32Array,
    readonly counts: Uint32Array,
    readonly kinds: Uint8Array,
    readonly flags: Uint8Array,
    readonly shares: Uint8Array,
    /** Of the path's blocks: the lane each runs in, and the rank it is drawn on. */
    readonly at: Int32Array,
    readonly shown: Int32Array,
  ) {
    this.place = new Map(lanes.map((lane, k) => [lane, k]));
  }

  has(lane: number): boolean {
    return this.place.has(lane);
  }

  /** The blocks of a lane: [low, high). */
  span(lane: number): [number, number] {
    const k = this.place.get(lane);
    return k === undefined ? [0, 0] : [this.bounds[k] as number, this.bounds[k + 1] as number];
  }

  start(block: number): number {
    return this.from + this.unit * (this.starts[block] as number);
  }

  finish(block: number): number {
    return this.from + this.unit * (this.finishes[block] as number);
  }

  /** The first block of a lane that ends at `time` or later; finishes are sorted as starts are. */
  firstFrom(lane: number, time: number): number {
    let [low, high] = this.span(lane);
    const bound = (time - this.from) / this.unit;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.finishes[middle] as number) < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  covers(range: Range): boolean {
    return this.asked.start <= range.start && this.asked.finish >= range.finish;
  }
}

/** Read Python's columns (see `Blocks.packed`). */
export function readLayer(asked: Wanted, answer: BlocksAnswer, buffers: readonly DataView[]): Layer {
  const bytes = copied(buffers[0]);
  const lanes = answer.lanes;
  const head = 4 * (lanes.length + 1);
  const size = (bytes.byteLength - head) / 19; // four columns of four bytes, three of one
  if (!Number.isInteger(size) || size < 0) throw new Error("a layer of blocks has the wrong length");
  const words = (k: number): Int32Array => new Int32Array(bytes, head + 4 * k * size, size);
  const small = (k: number): Uint8Array => new Uint8Array(bytes, head + (16 + k) * size, size);
  const path = new Int32Array(copied(buffers[1]));
  return new Layer(
    asked, answer.start, answer.unit, lanes, new Int32Array(bytes, 0, lanes.length + 1),
    words(0), words(1), words(2), new Uint32Array(bytes, head + 12 * size, size),
    small(0), small(1), small(2),
    path.subarray(0, path.length / 2), path.subarray(path.length / 2));
}

/** A buffer of its own: views of four bytes need an even address. */
function copied(view: DataView | undefined): ArrayBuffer {
  if (view === undefined) return new ArrayBuffer(0);
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
}

const sameChoice = (a: Wanted, b: Wanted): boolean => a.find === b.find && a.hidden.join() === b.hidden.join();

/** A layer this much coarser than the screen wants a finer one. */
const COARSE = 1.4;
/** A layer this much finer than the screen costs more to draw than a new one. */
const FINE = 6;
/** How near the edge of what is there, in screens, the next part is asked for. */
const SOON = 0.35;
const KEPT = 3;

export class Layers {
  private list: Layer[] = [];

  get all(): readonly Layer[] {
    return this.list;
  }

  add(layer: Layer, limits: Range): void {
    const rest = this.list.filter((one) => sameChoice(one.asked, layer.asked));
    const whole = rest.find((one) => one !== layer && one.covers(shrunk(limits)));
    const recent = rest.slice(0, KEPT - 1);
    this.list = [layer, ...recent];
    if (whole && !this.list.includes(whole)) this.list.push(whole);
  }

  /**
   * What to draw of a lane where a pixel is so long, coarse before fine: the one layer that has all
   * that can be seen, or else what there is.
   */
  of(lane: number, range: Range, pixel: number): Layer[] {
    // Newer ones come first in the list; of equals the newer is the better.
    const found = [...this.list].reverse()
      .filter((one) => one.has(lane) && one.asked.start < range.finish && one.asked.finish > range.start)
      .sort((a, b) => b.asked.pixel - a.asked.pixel);
    const enough = found.find((one) => one.covers(range) && one.asked.pixel <= COARSE * pixel);
    if (enough !== undefined) return [enough];
    const first = found.findLastIndex((one) => one.covers(range));
    return first > 0 ? found.slice(first) : found;
  }

  /** The one of these layers that says most about a whole range: for words and for the path. */
  main(lane: number, range: Range, pixel: number): Layer | null {
    const found = this.of(lane, range, pixel);
    return found.findLast((one) => one.covers(range)) ?? found.at(-1) ?? null;
  }

  /** The finest of what is known of a lane at a time. */
  at(lane: number, time: number): Layer | null {
    return this.of(lane, { start: time, finish: time + 1e-6 }, 0).at(-1) ?? null;
  }

  /** What to ask for, null where all that is seen is there, and what comes next as well. */
  missing(seen: Wanted, around: readonly number[], limits: Range): Wanted | null {
    const size = seen.finish - seen.start;
    const good = this.list.some((one) => sameChoice(one.asked, seen)
      && one.asked.pixel <= COARSE * seen.pixel && seen.pixel <= FINE * one.asked.pixel
      && one.asked.start <= Math.max(seen.start - SOON * size, limits.start)
      && one.asked.finish >= Math.min(seen.finish + SOON * size, limits.finish)
      && seen.lanes.every((lane) => one.has(lane)));
    if (good) return null;
    return {
      ...seen,
      start: Math.floor(Math.max(seen.start - size, limits.start)),
      finish: Math.ceil(Math.min(seen.finish + size, limits.finish)),
      pixel: Math.max(1, Math.floor(seen.pixel)),
      lanes: around,
    };
  }
}

/** A little less, so that rounding does not matter. */
function shrunk(range: Range): Range {
  const little = 0.01 * length(range);
  return { start: range.start + little, finish: range.finish - little };
}
