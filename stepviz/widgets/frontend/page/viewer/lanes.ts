/** Lanes of a step in a page, and what a screen needs of them (as `stepviz/traces/lanes/blocks.py`; no DOM). */

export interface RawLane {
  readonly start: readonly number[];
  readonly length: readonly number[];
  readonly kind: readonly number[];
  readonly name: readonly number[];
  /** Where neighbours became one: how many, and their time, ns. */
  readonly count?: readonly number[];
  readonly busy?: readonly number[];
}

/** Sorted by start and by finish alike; times in ns from the step's start. */
export interface Lane {
  readonly start: Float64Array;
  readonly finish: Float64Array;
  readonly kind: Uint8Array;
  readonly name: Int32Array;
  readonly count: Uint32Array;
  readonly busy: Float64Array;
}

export function laneOf(raw: RawLane): Lane {
  const count = raw.start.length;
  const start = new Float64Array(count);
  const finish = new Float64Array(count);
  let at = 0;
  for (let k = 0; k < count; k++) {
    at += raw.start[k] as number;
    start[k] = at;
    finish[k] = at + (raw.length[k] as number);
  }
  return {
    start, finish, kind: Uint8Array.from(raw.kind), name: Int32Array.from(raw.name),
    count: raw.count === undefined ? new Uint32Array(count).fill(1) : Uint32Array.from(raw.count),
    busy: Float64Array.from(raw.busy ?? raw.length),
  };
}

/** The first place whose value is not below a bound; with `past`, above it. */
export function bisect(values: ArrayLike<number>, bound: number, past = false): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = values[middle] as number;
    if (value < bound || (past && value === bound)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What of a lane touches a time range: [low, high). */
export function within(lane: Lane, start: number, finish: number): [number, number] {
  const low = bisect(lane.finish, start);
  return [low, Math.max(low, bisect(lane.start, finish, true))];
}

export interface Block {
  start: number;
  finish: number;
  busy: number;
  count: number;
  kind: number;
  name: number;
  /** The place in its lane of the longest interval. */
  row: number;
  flags: number;
}

export interface Choice {
  readonly hidden: ReadonlySet<number>;
  /** By code of name, whether it is marked; null for none. */
  readonly found: Uint8Array | null;
}

/** Neighbours shorter than a pixel that begin in the same pixel become one block. */
export function merged(lane: Lane, start: number, finish: number, pixel: number, choice: Choice): Block[] {
  const blocks: Block[] = [];
  const [low, high] = within(lane, start, finish);
  let open: Block | null = null;
  let longest = 0;
  let wideBefore = true;
  let bucketBefore = 0;
  let times = new Map<number, number>();
  const close = (): void => {
    if (open === null || open.count < 2) return;
    let most = -1;
    for (const [kind, time] of times) {
      if (time > most || (time === most && kind < open.kind)) {
        most = time;
        open.kind = kind;
      }
    }
  };
  for (let k = low; k < high; k++) {
    const kind = lane.kind[k] as number;
    if (choice.hidden.has(kind)) continue;
    const begin = lane.start[k] as number;
    const end = lane.finish[k] as number;
    const length = end - begin;
    const busy = lane.busy[k] as number;
    const wide = length >= pixel;
    const bucket = Math.floor(begin / pixel);
    const name = lane.name[k] as number;
    const marked = choice.found !== null && choice.found[name] === 1 ? 1 : 0;
    if (open === null || wide || wideBefore || bucket !== bucketBefore) {
      close();
      open = { start: begin, finish: end, busy, count: lane.count[k] as number, kind, name, row: k, flags: marked };
      blocks.push(open);
      longest = length;
      times = new Map([[kind, Math.max(busy, 0.25)]]);
    } else {
      open.finish = Math.max(open.finish, end);
      open.busy += busy;
      open.count += lane.count[k] as number;
      open.flags |= marked;
      if (length > longest) {
        longest = length;
        open.name = name;
        open.row = k;
      }
      times.set(kind, (times.get(kind) ?? 0) + Math.max(busy, 0.25));
    }
    wideBefore = wide;
    bucketBefore = bucket;
  }
  close();
  return blocks;
}

const LARGEST = 2 ** 31 - 1;
const cut = (value: number): number => Math.min(LARGEST, Math.max(-LARGEST, value));

/** The columns as Python sends them: see `Blocks.packed`. */
export function packBlocks(lanes: readonly Block[][], origin: number, unit: number): ArrayBuffer {
  const all = lanes.flat();
  const size = all.length;
  const head = 4 * (lanes.length + 1);
  const bytes = new ArrayBuffer(head + 19 * size);
  const bounds = new Int32Array(bytes, 0, lanes.length + 1);
  lanes.forEach((lane, k) => { bounds[k + 1] = (bounds[k] as number) + lane.length; });
  const words = (k: number): Int32Array => new Int32Array(bytes, head + 4 * k * size, size);
  const [start, finish, name] = [words(0), words(1), words(2)];
  const count = new Uint32Array(bytes, head + 12 * size, size);
  const small = (k: number): Uint8Array => new Uint8Array(bytes, head + (16 + k) * size, size);
  const [kind, flags, share] = [small(0), small(1), small(2)];
  all.forEach((block, k) => {
    start[k] = cut(Math.floor((block.start - origin) / unit));
    finish[k] = cut(-Math.floor((origin - block.finish) / unit));
    name[k] = block.name;
    count[k] = block.count;
    kind[k] = block.kind;
    flags[k] = block.flags;
    share[k] = Math.ceil(255 * Math.min(block.busy / Math.max(block.finish - block.start, 1), 1));
  });
  return bytes;
}
