// What can be done to a timeline: each edit is a value, and applying it gives a new document or a
// sentence that says why not. `applyEdit` returns the very document it was given where an edit
// changes nothing.

import { FastSolver } from "./solver";
import {
  type Dependency,
  KINDS,
  LINK_TYPES,
  ORIGINS,
  type Phase,
  Refused,
  type TimelineDoc,
} from "./types";
import { readDoc, readLag, readMembers, readName, readRank, readTime } from "./validate";

export { describe, formatMs } from "./describe";
export { toPython } from "./python";

export type Edit =
  | { readonly op: "duration"; readonly phase: string; readonly duration: number }
  | { readonly op: "release"; readonly phase: string; readonly release: number }
  | { readonly op: "add"; readonly phase: Phase; readonly after?: string }
  | { readonly op: "update"; readonly phase: string; readonly changes: Partial<Phase> }
  | { readonly op: "remove"; readonly phases: readonly string[] }
  | { readonly op: "scale"; readonly phases: readonly string[]; readonly factor: number }
  | { readonly op: "connect"; readonly dependency: Dependency }
  | { readonly op: "disconnect"; readonly row: number }
  | { readonly op: "relink"; readonly row: number; readonly changes: Partial<Dependency> }
  | { readonly op: "reorder"; readonly phase: string; readonly before: string | null }
  | { readonly op: "target"; readonly target: string | null }
  | { readonly op: "replace"; readonly doc: TimelineDoc }
  | { readonly op: "many"; readonly edits: readonly Edit[] };

type Ends = Pick<Dependency, "source" | "target" | "type">;

/** The document after an edit. Throws Refused, and then nothing has happened. */
export function applyEdit(doc: TimelineDoc, edit: Edit): TimelineDoc {
  switch (edit.op) {
    case "duration":
      return withPhase(doc, edit.phase, { duration: readTime(edit.duration, "duration", edit.phase) });
    case "release":
      return withPhase(doc, edit.phase, { release: readTime(edit.release, "release", edit.phase) });
    case "add":
      return addPhase(doc, edit.phase, edit.after);
    case "update":
      return updatePhase(doc, edit.phase, edit.changes);
    case "remove":
      return removePhases(doc, edit.phases);
    case "scale":
      return scalePhases(doc, edit.phases, edit.factor);
    case "connect":
      return connect(doc, edit.dependency);
    case "disconnect":
      dependencyAt(doc, edit.row);
      return { ...doc, dependencies: doc.dependencies.filter((_, row) => row !== edit.row) };
    case "relink":
      return relink(doc, edit.row, edit.changes);
    case "reorder":
      return reorder(doc, edit.phase, edit.before);
    case "target":
      if (edit.target !== null) rowOf(doc, edit.target);
      return edit.target === doc.target ? doc : { ...doc, target: edit.target };
    case "replace": {
      const next = readDoc(edit.doc);
      return sameDoc(next, doc) ? doc : next;
    }
    case "many":
      return edit.edits.reduce(applyEdit, doc);
  }
}

/** Whether two documents hold the same values. */
export function sameDoc(a: TimelineDoc, b: TimelineDoc): boolean {
  return (
    a === b ||
    (a.name === b.name &&
      a.target === b.target &&
      a.phases.length === b.phases.length &&
      a.dependencies.length === b.dependencies.length &&
      a.phases.every((phase, row) => samePhase(phase, b.phases[row]!)) &&
      a.dependencies.every((link, row) => sameLink(link, b.dependencies[row]!)))
  );
}

/**
 * The same edit for another document: rows of dependencies are found again by their ends and type.
 * Throws Refused where what it edits is no longer there.
 */
export function rebase(edit: Edit, from: TimelineDoc, onto: TimelineDoc): Edit {
  if (edit.op === "many") {
    const edits: Edit[] = [];
    let a = from;
    let b = onto;
    for (const one of edit.edits) {
      const moved = rebase(one, a, b);
      edits.push(moved);
      a = applyEdit(a, one);
      b = applyEdit(b, moved);
    }
    return { ...edit, edits };
  }
  if (edit.op !== "disconnect" && edit.op !== "relink") return edit;
  const was = dependencyAt(from, edit.row);
  const here = onto.dependencies[edit.row];
  if (here !== undefined && sameEnds(here, was)) return edit;
  const row = onto.dependencies.findIndex((link) => sameEnds(link, was));
  if (row < 0) {
    throw new Refused(
      `The dependency from “${was.source}” to “${was.target}” (${was.type}) is no longer there.`,
    );
  }
  return { ...edit, row };
}

export function rowOf(doc: TimelineDoc, name: string): number {
  const row = doc.phases.findIndex((phase) => phase.phase === name);
  if (row < 0) throw new Refused(`There is no phase called “${name}”.`);
  return row;
}

export function dependencyAt(doc: TimelineDoc, row: number): Dependency {
  const link = doc.dependencies[row];
  if (link === undefined) throw new Refused("That dependency is no longer there.");
  return link;
}

function withPhase(doc: TimelineDoc, name: string, changes: Partial<Phase>): TimelineDoc {
  const row = rowOf(doc, name);
  const phase = { ...doc.phases[row]!, ...changes };
  if (samePhase(phase, doc.phases[row]!)) return doc;
  const phases = doc.phases.slice();
  phases[row] = phase;
  return { ...doc, phases };
}

function addPhase(doc: TimelineDoc, phase: Phase, after: string | undefined): TimelineDoc {
  const name = readName(phase.phase);
  refuseTaken(doc, name);
  const checked = checkPhase({ ...phase, phase: name });
  const phases = doc.phases.slice();
  phases.splice(after === undefined ? phases.length : rowOf(doc, after) + 1, 0, checked);
  return solvable({ ...doc, phases });
}

function updatePhase(doc: TimelineDoc, name: string, changes: Partial<Phase>): TimelineDoc {
  const row = rowOf(doc, name);
  const was = doc.phases[row]!;
  const merged: Phase = { ...was, ...changes };
  // A rank and members exclude each other: the one that is given wins.
  if (changes.members !== undefined) Object.assign(merged, { rank: null });
  else if (typeof changes.rank === "number") delete (merged as { members?: unknown }).members;
  const phase = checkPhase(merged);
  if (samePhase(phase, was)) return doc;
  const phases = doc.phases.slice();
  phases[row] = phase;
  const renamed = phase.phase;
  if (renamed === name) return solvable({ ...doc, phases });
  refuseTaken(doc, renamed);
  const to = (end: string) => (end === name ? renamed : end);
  return solvable({
    ...doc,
    target: doc.target === null ? null : to(doc.target),
    phases,
    dependencies: doc.dependencies.map((link) =>
      link.source === name || link.target === name
        ? { ...link, source: to(link.source), target: to(link.target) }
        : link,
    ),
  });
}

function removePhases(doc: TimelineDoc, names: readonly string[]): TimelineDoc {
  const gone = new Set(names);
  for (const name of gone) rowOf(doc, name);
  if (gone.size === 0) return doc;
  if (gone.size === doc.phases.length) {
    throw new Refused("A timeline needs at least one phase: keep one of them.");
  }
  if (doc.target !== null && gone.has(doc.target)) {
    throw new Refused(
      `“${doc.target}” is the target, whose finish is the completion: choose another target first.`,
    );
  }
  return solvable({
    ...doc,
    phases: doc.phases.filter((phase) => !gone.has(phase.phase)),
    dependencies: doc.dependencies.filter((d) => !gone.has(d.source) && !gone.has(d.target)),
  });
}

function scalePhases(doc: TimelineDoc, names: readonly string[], factor: number): TimelineDoc {
  if (!Number.isFinite(factor) || factor < 0) {
    throw new Refused("A factor is a finite number of 0 or more.");
  }
  const scaled = new Set(names);
  for (const name of scaled) rowOf(doc, name);
  if (factor === 1 || scaled.size === 0) return doc;
  const phases = doc.phases.map((phase) =>
    scaled.has(phase.phase)
      ? { ...phase, duration: readTime(phase.duration * factor, "duration", phase.phase) }
      : phase,
  );
  return { ...doc, phases };
}

function connect(doc: TimelineDoc, dependency: Dependency): TimelineDoc {
  const link = checkLink(doc, dependency);
  refuseTwin(doc, link, -1);
  return solvable({ ...doc, dependencies: [...doc.dependencies, link] });
}

function relink(doc: TimelineDoc, row: number, changes: Partial<Dependency>): TimelineDoc {
  const was = dependencyAt(doc, row);
  const link = checkLink(doc, { ...was, ...changes });
  if (sameLink(link, was)) return doc;
  if (sameEnds(link, was) && link.origin === was.origin) {
    return { ...doc, dependencies: doc.dependencies.map((other, at) => (at === row ? link : other)) };
  }
  // Python has it disconnected and connected anew: it stands last, and so it does here.
  const dependencies = [...doc.dependencies.filter((_, at) => at !== row), link];
  if (sameEnds(link, was)) return { ...doc, dependencies };
  refuseTwin(doc, link, row);
  return solvable({ ...doc, dependencies });
}

function reorder(doc: TimelineDoc, name: string, before: string | null): TimelineDoc {
  const row = rowOf(doc, name);
  const moved = doc.phases[row]!;
  if (moved.lane === null) {
    throw new Refused(`“${name}” has no lane, so no order: give it a lane first.`);
  }
  const mates = (phase: Phase) => phase.rank === moved.rank && phase.lane === moved.lane;
  if (before === name) return doc;
  if (before !== null && !mates(doc.phases[rowOf(doc, before)]!)) {
    throw new Refused(`“${before}” is in another lane than “${name}”: order them by a dependency.`);
  }
  const rest = doc.phases.filter((_, k) => k !== row);
  const lastMate = rest.findLastIndex(mates);
  if (lastMate < 0) return doc;
  const at = before === null ? lastMate + 1 : rest.findIndex((phase) => phase.phase === before);
  // Nothing to do where its next neighbour in the lane stays the same.
  const next = doc.phases.slice(row + 1).find(mates)?.phase ?? null;
  if (next === before) return doc;
  const phases = [...rest.slice(0, at), moved, ...rest.slice(at)];
  return solvable({ ...doc, phases });
}

function checkPhase(phase: Phase): Phase {
  const name = readName(phase.phase);
  if (!KINDS.includes(phase.kind)) {
    throw new Refused(`“${phase.kind}” is no kind: choose one of ${KINDS.join(", ")}.`);
  }
  const members = phase.members === undefined ? undefined : readMembers(phase.members, name);
  if (phase.rank === null && members === undefined) {
    throw new Refused(`“${name}” needs a rank, or the ranks of its group.`);
  }
  return {
    phase: name,
    kind: phase.kind,
    rank: members === undefined ? readRank(phase.rank, name) : null,
    lane: phase.lane === "" ? null : phase.lane,
    duration: readTime(phase.duration, "duration", name),
    release: readTime(phase.release, "release", name),
    ...(members === undefined ? {} : { members }),
  };
}

function checkLink(doc: TimelineDoc, link: Dependency): Dependency {
  rowOf(doc, link.source);
  rowOf(doc, link.target);
  if (link.source === link.target) {
    throw new Refused(`“${link.source}” can’t depend on itself.`);
  }
  if (!LINK_TYPES.includes(link.type)) {
    throw new Refused(`“${link.type}” is no type of dependency: choose FS, SS, FF or SF.`);
  }
  if (!ORIGINS.includes(link.origin)) {
    throw new Refused(`“${link.origin}” is no origin: choose ${ORIGINS.join(", ")}.`);
  }
  return { ...link, lag: readLag(link.lag, link.source, link.target) };
}

function refuseTaken(doc: TimelineDoc, name: string): void {
  if (doc.phases.some((phase) => phase.phase === name)) {
    throw new Refused(`There is already a phase called “${name}”: choose another name.`);
  }
}

function refuseTwin(doc: TimelineDoc, link: Dependency, except: number): void {
  if (doc.dependencies.some((other, row) => row !== except && sameEnds(other, link))) {
    throw new Refused(
      `“${link.source}” → “${link.target}” (${link.type}) is there already: change its lag instead.`,
    );
  }
}

/** Refuse a document whose phases wait for each other. */
function solvable(doc: TimelineDoc): TimelineDoc {
  new FastSolver(doc);
  return doc;
}

function samePhase(a: Phase, b: Phase): boolean {
  return (
    a === b ||
    (a.phase === b.phase &&
      a.kind === b.kind &&
      a.rank === b.rank &&
      a.lane === b.lane &&
      a.duration === b.duration &&
      a.release === b.release &&
      String(a.members ?? "") === String(b.members ?? ""))
  );
}

export function sameEnds(a: Ends, b: Ends): boolean {
  return a.source === b.source && a.target === b.target && a.type === b.type;
}

function sameLink(a: Dependency, b: Dependency): boolean {
  return a === b || (sameEnds(a, b) && a.lag === b.lag && a.origin === b.origin);
}
