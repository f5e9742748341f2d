/** Which rows stand where: ranks, their tracks, and in these a row for each lane. */

import type { RankScene, Scene, Track } from "./types";

export interface Row {
  readonly lane: number;
  readonly y: number;
  readonly height: number;
  /** Place in `scene.ranks`. */
  readonly place: number;
  /** Missing in a rank's own row. */
  readonly track: Track | null;
  /** The row that bears the name: the rank's own, or a track's first. */
  readonly head: boolean;
  /** Whether it stands for rows that are folded away. */
  readonly folded: boolean;
}

export interface Folds {
  /** Ranks by their place in the scene. */
  readonly ranks: ReadonlySet<number>;
  /** Tracks by `flat`, which no two share. */
  readonly tracks: ReadonlySet<number>;
}

export interface Rows {
  readonly rows: readonly Row[];
  readonly height: number;
  /** By lane its row; lanes that are folded away have the row that stands for them. */
  readonly of: ReadonlyMap<number, number>;
}

const RANK = 20;
const DEVICE = 18;
const HOST = 14;
const FOLDED = 16;
/** Rows that are pressed to fold and unfold, where fingers do it. */
const FINGER = 28;
const GAP = { track: 3, rank: 9 };
/** With taller lanes than this a view starts with some folded, px. */
const MUCH = 540;

export function layout(scene: Scene, folds: Folds, coarse = false): Rows {
  const rows: Row[] = [];
  const of = new Map<number, number>();
  let y = 4;
  const add = (lane: number, height: number, place: number, track: Track | null, head: boolean, folded: boolean): void => {
    of.set(lane, rows.length);
    rows.push({ lane, y, height, place, track, head, folded });
    y += height;
  };
  scene.ranks.forEach((rank, place) => {
    const closed = folds.ranks.has(place);
    add(rank.summary, coarse ? FINGER : RANK, place, null, true, closed);
    const own = rows.length - 1;
    for (const track of rank.tracks) {
      if (closed) {
        for (let k = 0; k < track.rows; k++) of.set(track.first + k, own);
        of.set(track.flat, own);
        continue;
      }
      y += GAP.track;
      const single = track.rows > 1 && folds.tracks.has(track.flat);
      const tall = track.role === "host" ? HOST : DEVICE;
      if (single) {
        add(track.flat, coarse ? FINGER : FOLDED, place, track, true, true);
        for (let k = 0; k < track.rows; k++) of.set(track.first + k, rows.length - 1);
      } else {
        for (let k = 0; k < track.rows; k++) add(track.first + k, track.rows === 1 ? Math.max(tall, FOLDED) : tall, place, track, k === 0, false);
        if (!of.has(track.flat)) of.set(track.flat, rows.length - track.rows);
      }
    }
    y += GAP.rank;
  });
  return { rows, height: y, of };
}

/**
 * What is folded at first. Few rows are all there; of many, threads are folded, and then ranks but
 * for those that have most of the critical path (or the first ones).
 */
export function firstFolds(scene: Scene): Folds {
  const none: ReadonlySet<number> = new Set();
  if (layout(scene, { ranks: none, tracks: none }).height <= MUCH) return { ranks: none, tracks: none };
  const tracks = new Set(scene.ranks.flatMap((rank) => foldable(rank).map((track) => track.flat)));
  const all = new Set(scene.ranks.keys());
  let folds: Folds = { ranks: all, tracks };
  const order = [...new Set([...scene.path.ranks, ...scene.ranks.map((rank) => rank.rank)])];
  for (const number of order) {
    const place = scene.ranks.findIndex((rank) => rank.rank === number);
    const next = toggled(folds, "ranks", place, false);
    if (folds.ranks.size < all.size && layout(scene, next).height > MUCH) break;
    folds = next;
  }
  return folds;
}

/** Tracks that have rows to fold. */
export function foldable(rank: RankScene): readonly Track[] {
  return rank.tracks.filter((track) => track.rows > 1);
}

/** The same, with one rank or track folded or unfolded. */
export function toggled(folds: Folds, what: "ranks" | "tracks", key: number, closed?: boolean): Folds {
  const next = new Set(folds[what]);
  if (closed ?? !next.has(key)) next.add(key);
  else next.delete(key);
  return { ...folds, [what]: next };
}

/** The first row that ends below `y`, by bisection. */
export function rowFrom(rows: readonly Row[], y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle] as Row;
    if (row.y + row.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows that are at least partly between two heights: [first, last). */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): [number, number] {
  const first = rowFrom(rows, top);
  let last = first;
  while (last < rows.length && (rows[last] as Row).y < bottom) last++;
  return [first, last];
}

/** The row at a height, null between rows. */
export function rowAt(rows: readonly Row[], y: number): Row | null {
  const row = rows[rowFrom(rows, y)];
  return row !== undefined && row.y <= y ? row : null;
}
