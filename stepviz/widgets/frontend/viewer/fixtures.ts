/** For tests only: small scenes, and layers as Python packs them. */

import { type Layer, readLayer, type Wanted } from "./layers";
import type { Scene, Track } from "./types";

export function track(name: string, role: Track["role"], first: number, rows = 1): Track {
  return { name, title: name, role, first, rows, flat: rows === 1 ? first : first + rows };
}

/** Ranks of one stream and one thread of `depth` rows each; lanes are counted through. */
export function scene(ranks = 2, depth = 3): Scene {
  let lane = 0;
  return {
    title: "step 1 of test", begin: 0, span: 1_000_000, intervals: 10, kinds: ["forward", "backward", "wait"],
    present: [0, 1, 2], doubt: "", path: { pieces: 3, ranks: [ranks - 1], why: "" },
    ranks: Array.from({ length: ranks }, (_, rank) => {
      const stream = track("stream 7", "device", lane);
      const thread = track("main thread", "host", lane + 1, depth);
      lane += 1 + depth + (depth > 1 ? 1 : 0);
      return { rank, start: 0, finish: 1_000_000, summary: lane++, tracks: [stream, thread] };
    }),
  };
}

export interface Block {
  lane: number; start: number; finish: number;
  kind?: number; name?: number; count?: number; flags?: number; share?: number; at?: number; shown?: number;
}

export const wanted = (change: Partial<Wanted> = {}): Wanted =>
  ({ start: 0, finish: 1000, pixel: 1, lanes: [0], hidden: [], find: "", ...change });

/** What `Blocks.packed` in Python gives, read back. */
export function layer(blocks: readonly Block[], change: Partial<Wanted> = {}, unit = 1): Layer {
  const asked = wanted(change);
  const bounds = [0];
  const rows: Block[] = [];
  for (const lane of asked.lanes) {
    rows.push(...blocks.filter((block) => block.lane === lane));
    bounds.push(rows.length);
  }
  const column = (of: (block: Block) => number): Int32Array => Int32Array.from(rows, of);
  const small = (of: (block: Block) => number): Uint8Array => Uint8Array.from(rows, of);
  const parts = [
    Int32Array.from(bounds), column((b) => (b.start - asked.start) / unit), column((b) => (b.finish - asked.start) / unit),
    column((b) => b.name ?? 0), column((b) => b.count ?? 1),
    small((b) => b.kind ?? 0), small((b) => b.flags ?? 0), small((b) => b.share ?? 255),
  ];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 1)); // at an odd address
  let place = 1;
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer), place);
    place += part.byteLength;
  }
  const path = rows.filter((row) => row.lane === -1);
  const places = Int32Array.from([...path.map((row) => row.at ?? -1), ...path.map((row) => row.shown ?? 0)]);
  return readLayer(asked, { start: asked.start, finish: asked.finish, unit, lanes: asked.lanes },
    [new DataView(bytes.buffer, 1), new DataView(places.buffer)]);
}
