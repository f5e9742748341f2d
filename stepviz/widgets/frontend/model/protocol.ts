// What goes over the wire between the page and Python (stepviz/widgets/editor.py), besides the
// document itself. A revision says which document a message is about: the page's commits count up
// under the page's own name, Python's under "". An answer carries Python's schedule of one revision.

import type { Solved } from "./solver";

/** What a view or a page offers: anywidget's model, or a stub of it. */
export interface ModelLike {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
  /** false on a page with no kernel behind it; missing otherwise. */
  readonly kernel?: boolean;
}

export interface Revision {
  readonly page: string;
  readonly number: number;
}

export interface Answer {
  readonly revision: Revision;
  /** The page's revision that Python did not take; the value is then Python's last good one. */
  readonly rejected: Revision | null;
  readonly error: string | null;
  readonly completion: number;
  readonly start: readonly number[];
  readonly finish: readonly number[];
  /** null: infinite, the phase can't delay the target. So too in both floats. */
  readonly latest_start: readonly (number | null)[];
  readonly latest_finish: readonly (number | null)[];
  readonly total_float: readonly (number | null)[];
  readonly free_float: readonly (number | null)[];
  readonly critical: readonly boolean[];
  readonly binding: readonly number[];
}

export function readRevision(value: unknown): Revision {
  const given = (value ?? {}) as Partial<Revision>;
  return { page: String(given.page ?? ""), number: Number(given.number ?? 0) };
}

export function readAnswer(value: unknown): Answer | null {
  if (typeof value !== "object" || value === null || !("revision" in value)) return null;
  return value as Answer;
}

export function sameRevision(a: Revision, b: Revision): boolean {
  return a.page === b.page && a.number === b.number;
}

/** A name for this page that no other page open on the same widget has. */
export function pageName(): string {
  return Math.random().toString(36).slice(2, 10) || "page";
}

const finite = (value: number | null): number => (value === null ? Infinity : value);

/** Python's schedule in the page's terms; null where it has other phases than the page's. */
export function solvedByPython(answer: Answer, own: Solved): Solved | null {
  if (answer.start.length !== own.start.length) return null;
  return {
    ...own,
    start: Float64Array.from(answer.start),
    finish: Float64Array.from(answer.finish),
    latestStart: Float64Array.from(answer.latest_start, finite),
    latestFinish: Float64Array.from(answer.latest_finish, finite),
    totalFloat: Float64Array.from(answer.total_float, finite),
    freeFloat: Float64Array.from(answer.free_float, finite),
    critical: Uint8Array.from(answer.critical, Number),
    binding: Int32Array.from(answer.binding),
    completion: answer.completion,
  };
}

/** Whether two schedules are equal to the last bit. */
export function sameSchedule(a: Solved, b: Solved): boolean {
  return (
    a.completion === b.completion &&
    same(a.start, b.start) &&
    same(a.finish, b.finish) &&
    same(a.latestStart, b.latestStart) &&
    same(a.latestFinish, b.latestFinish) &&
    same(a.totalFloat, b.totalFloat) &&
    same(a.freeFloat, b.freeFloat) &&
    same(a.critical, b.critical) &&
    same(a.binding, b.binding)
  );
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}
