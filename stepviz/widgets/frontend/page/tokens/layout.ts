/** Batches position by position, packed and counted (as `stepviz/throughput` does; no DOM). */

import { Unmeant } from "../figures";

/** start, length, role, sequence, scored, first */
type RawRun = readonly [number, number, number, number, number, number];

export interface RawLayout { readonly lengths: readonly number[]; readonly runs: readonly RawRun[]; readonly labelled: boolean }

export const PROMPT = 0;
export const COMPLETION = 1;
export const PADDING = 2;

export interface Layout {
  readonly lengths: readonly number[];
  readonly role: Uint8Array;
  readonly sequence: Int32Array;
  readonly scored: Uint8Array;
  readonly first: Uint8Array;
  readonly labelled: boolean;
}

export function layoutOf({ lengths, runs, labelled }: RawLayout): Layout {
  const size = lengths.reduce((sum, length) => sum + length, 0);
  const layout = blank(lengths, size, labelled);
  for (const [start, length, role, sequence, scored, first] of runs) {
    layout.role.fill(role, start, start + length);
    layout.sequence.fill(sequence, start, start + length);
    layout.scored.fill(scored, start, start + length);
    layout.first.fill(first, start, start + length);
  }
  return layout;
}

function blank(lengths: readonly number[], size: number, labelled: boolean): Layout {
  return {
    lengths, labelled, role: new Uint8Array(size).fill(PADDING), sequence: new Int32Array(size).fill(-1),
    scored: new Uint8Array(size), first: new Uint8Array(size),
  };
}

/** Half to even, as numpy. */
export function rint(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

export interface Made {
  readonly sequences: number; readonly length: number; readonly padding: number; readonly spread: number; readonly prompt: number;
}

/** A batch made by sliders (as `packing_cases.slider_case`). */
export function madeBatch({ sequences, length, padding, spread, prompt }: Made): Layout {
  const mean = length * (1 - padding);
  const widest = Math.max(0, Math.min(mean - 1, length - mean)) * spread;
  const clip = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
  const step = sequences > 1 ? 2 / (sequences - 1) : 0;
  const layout = blank(new Array<number>(sequences).fill(length), sequences * length, true);
  for (let row = 0; row < sequences; row++) {
    const along = sequences === 1 ? 0 : row === sequences - 1 ? 1 : row * step - 1;
    const size = clip(rint(mean + widest * along), 1, length);
    const asked = clip(rint(size * prompt), 0, size);
    for (let k = 0; k < size; k++) {
      const at = row * length + k;
      // Nothing in its sequence predicts the first.
      const scored = k >= asked && k > 0;
      layout.role[at] = scored ? COMPLETION : PROMPT;
      layout.scored[at] = Number(scored);
      layout.first[at] = Number(k === 0);
      layout.sequence[at] = row;
    }
  }
  return layout;
}

/** The same sequences, so many in a row, the padding left out (as `repacking.repacked`). */
export function repacked(layout: Layout, most: number): Layout {
  const places: [row: number, column: number, from: number][] = [];
  const widths: number[] = [];
  for (let at = 0; at < layout.role.length; at++) {
    if (layout.role[at] === PADDING) continue;
    const row = Math.floor((layout.sequence[at] as number) / most);
    const column = widths[row] ?? 0;
    widths[row] = column + 1;
    places.push([row, column, at]);
  }
  if (places.length === 0) throw new Unmeant("every position of this batch is padding: there is no sequence to pack");
  const width = widths.reduce((widest, one) => Math.max(widest, one), 0);
  const packed = blank(new Array<number>(widths.length).fill(width), widths.length * width, layout.labelled);
  for (const [row, column, from] of places) {
    const at = row * width + column;
    const first = layout.first[from] === 1;
    const kept = layout.role[from] === COMPLETION && !first;
    packed.role[at] = kept ? COMPLETION : PROMPT;
    packed.scored[at] = Number(kept && column > 0);
    packed.first[at] = Number(first);
    packed.sequence[at] = layout.sequence[from] as number;
  }
  return packed;
}

export interface Counts {
  readonly allocated: number;
  readonly real: number;
  readonly executed: number;
  /** null: the batch has no labels. */
  readonly scored: number | null;
  readonly sequences: number;
  readonly squared: number;
  readonly prompt: number;
  readonly completion: number;
  readonly marked: number;
}

/** What one microbatch holds. */
export function counted(layout: Layout, skipsPadding: boolean): Counts {
  const lengths = new Map<number, number>();
  let [prompt, completion, marked] = [0, 0, 0];
  for (let at = 0; at < layout.role.length; at++) {
    marked += layout.scored[at] as number;
    if (layout.role[at] === PADDING) continue;
    if (layout.role[at] === PROMPT) prompt++;
    else completion++;
    const sequence = layout.sequence[at] as number;
    lengths.set(sequence, (lengths.get(sequence) ?? 0) + 1);
  }
  const real = prompt + completion;
  let squared = 0;
  for (const length of lengths.values()) squared += length * length;
  return {
    allocated: layout.role.length, real, executed: skipsPadding ? real : layout.role.length,
    scored: layout.labelled ? marked : null, sequences: lengths.size, squared, prompt, completion, marked,
  };
}

const MOST_ROWS = 24;
const WORDS = ["prompt", "completion", "padding"] as const;
export type Run = [start: number, length: number, what: string, sequence: number];

/** The masks of the first rows as runs of equal positions. */
export function roleRuns(layout: Layout): Run[][] {
  const found: Run[][] = [];
  let at = 0;
  for (const length of layout.lengths.slice(0, MOST_ROWS)) {
    const runs: Run[] = [];
    for (let k = 0; k < length; k++, at++) {
      const what = layout.scored[at] === 1 ? "target" : WORDS[layout.role[at] as number] as string;
      const sequence = layout.sequence[at] as number;
      const last = runs[runs.length - 1];
      if (last !== undefined && last[2] === what && last[3] === sequence && layout.first[at] !== 1) last[1] += 1;
      else runs.push([k, 1, what, sequence]);
    }
    found.push(runs);
  }
  return found;
}
