// Finding things again after a change: rows say where something stands in one document only, so
// what a view has chosen is followed by name from each document to the next.

import { sameEnds } from "./edits";
import type { Dependency, LinkType, TimelineDoc } from "./types";

/** A dependency by its ends and type; `nth` tells several alike apart. */
export interface LinkName {
  readonly source: string;
  readonly target: string;
  readonly type: LinkType;
  readonly nth: number;
}

export function linkName(doc: TimelineDoc, row: number): LinkName | null {
  const link = doc.dependencies[row];
  if (link === undefined) return null;
  const { source, target, type } = link;
  const nth = doc.dependencies.slice(0, row).filter((other) => sameEnds(other, link)).length;
  return { source, target, type, nth };
}

/** The row of a dependency; -1 where there is none. */
export function linkRow(doc: TimelineDoc, name: LinkName): number {
  let left = name.nth;
  return doc.dependencies.findIndex((link) => sameEnds(link, name) && left-- === 0);
}

/** The one phase that two documents call differently: [before, after]. */
export function renamed(before: TimelineDoc, after: TimelineDoc): readonly [string, string] | null {
  if (before.phases.length !== after.phases.length) return null;
  let found: readonly [string, string] | null = null;
  for (const [row, { phase }] of before.phases.entries()) {
    const now = after.phases[row]!.phase;
    if (now === phase) continue;
    if (found !== null) return null;
    found = [phase, now];
  }
  // Two phases that changed places differ twice, so what is left here is a new name or another phase.
  return found;
}

/** What a phase is called in the next document; null where it is gone. */
export function followPhase(name: string, before: TimelineDoc, after: TimelineDoc): string | null {
  if (after.phases.some((phase) => phase.phase === name)) return name;
  const change = renamed(before, after);
  return change?.[0] === name ? change[1] : null;
}

/** Where a dependency stands in the next document, also retyped or re-attached; null where gone. */
export function followLink(row: number, before: TimelineDoc, after: TimelineDoc): number | null {
  if (before === after) return row;
  const change = renamed(before, after);
  const to = (end: string): string => (change?.[0] === end ? change[1] : end);
  const now = (link: Dependency): Dependency =>
    change === null ? link : { ...link, source: to(link.source), target: to(link.target) };
  const was = linkName({ ...before, dependencies: before.dependencies.map(now) }, row);
  if (was === null) return null;
  const same = linkRow(after, was);
  if (same >= 0) return same;
  const gone = before.dependencies.filter(
    (link) => !after.dependencies.some((other) => sameEnds(other, now(link))),
  );
  const made = after.dependencies.filter(
    (link) => !before.dependencies.some((other) => sameEnds(now(other), link)),
  );
  return gone.length === 1 && made.length === 1 ? after.dependencies.indexOf(made[0]!) : null;
}
