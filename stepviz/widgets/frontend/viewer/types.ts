// What Python says of a step once and for all; intervals come later, as they are looked at.
// Times are ns from the step's start; lanes are numbers that Python gave them.

/** By this number a page asks for the critical path, as for a lane. */
export const PATH = -1;
/** Where a piece of the path runs in no lane. */
export const NOWHERE = -1;
/** Where it is known in which track: this less the track's first lane. */
const BESIDE = -2;

/** The lane a piece of the path runs in, or the first one of the track beside whose work it lies. */
export const besideLane = (at: number): number => (at <= BESIDE ? BESIDE - at : at);

export type Role = "device" | "host" | "exchange";

/** A stream or a thread: lanes `first` to `first + rows`; `flat` shows the innermost of them. */
export interface Track {
  readonly name: string;
  readonly title: string;
  readonly role: Role;
  readonly first: number;
  readonly rows: number;
  readonly flat: number;
}

export interface RankScene {
  readonly rank: number;
  /** Its window. */
  readonly start: number;
  readonly finish: number;
  /** The lane that sums it up. */
  readonly summary: number;
  readonly tracks: readonly Track[];
}

export interface Scene {
  readonly title: string;
  /** Where lanes begin: at most 0. */
  readonly begin: number;
  readonly span: number;
  readonly intervals: number;
  readonly kinds: readonly string[];
  /** Codes of the kinds that occur. */
  readonly present: readonly number[];
  readonly ranks: readonly RankScene[];
  /** How many pieces the path has, its ranks (who has most of it first), or why there is none. */
  readonly path: { readonly pieces: number; readonly ranks: readonly number[]; readonly why: string };
  /** Why times of different ranks can't be compared, or nothing. */
  readonly doubt: string;
}

type RawTrack = [string, string, Role, number, number, number];
type RawScene = Omit<Scene, "ranks"> & { ranks: (Omit<RankScene, "tracks"> & { tracks: RawTrack[] })[] };

/** Read what Python sent; null where there is nothing to show. */
export function readScene(raw: unknown): Scene | null {
  const given = raw as Partial<RawScene> | null;
  if (!given || !Array.isArray(given.ranks) || typeof given.span !== "number") return null;
  const whole = given as RawScene;
  return {
    ...whole,
    ranks: whole.ranks.map((rank) => ({
      ...rank,
      tracks: rank.tracks.map(([name, title, role, first, rows, flat]) =>
        ({ name, title, role, first, rows, flat })),
    })),
  };
}
