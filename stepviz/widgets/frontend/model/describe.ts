// Edits in words: for the undo menu, and for the live region that screen readers follow.

import { applyEdit, dependencyAt, type Edit, rowOf } from "./edits";
import { type Dependency, type Phase, Refused, type TimelineDoc } from "./types";

/** A number of ms, at most six significant digits. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return "∞";
  return String(Number(ms.toPrecision(6))).replace("-", "−");
}

/** "exchange 350 → 325 ms": what an edit does to the document it is made on. */
export function describe(edit: Edit, before: TimelineDoc): string {
  try {
    return said(edit, before);
  } catch (error) {
    if (error instanceof Refused) return edit.op; // it does not apply here: its name must do
    throw error;
  }
}

function said(edit: Edit, before: TimelineDoc): string {
  switch (edit.op) {
    case "duration":
      return change(edit.phase, phase(before, edit.phase).duration, edit.duration);
    case "release":
      return edit.release === 0
        ? `unpin ${edit.phase}`
        : `pin ${edit.phase} at ${formatMs(edit.release)} ms`;
    case "add":
      return `add ${edit.phase.phase}`;
    case "update":
      return updated(phase(before, edit.phase), edit.changes);
    case "remove":
      return `delete ${several(edit.phases)}`;
    case "scale":
      return `${several(edit.phases)} × ${formatMs(edit.factor)}`;
    case "connect":
      return `connect ${link(edit.dependency)}`;
    case "disconnect":
      return `disconnect ${link(dependencyAt(before, edit.row))}`;
    case "relink":
      return relinked(dependencyAt(before, edit.row), edit.changes);
    case "reorder":
      return edit.before === null
        ? `move ${edit.phase} to the end of its lane`
        : `move ${edit.phase} before ${edit.before}`;
    case "target":
      return edit.target === null ? "no target" : `target ${edit.target}`;
    case "replace":
      return edit.doc.name === "" ? "another timeline" : `timeline ${edit.doc.name}`;
    case "many":
      return many(edit.edits, before);
  }
}

function many(edits: readonly Edit[], before: TimelineDoc): string {
  const sentences: string[] = [];
  let doc = before;
  for (const edit of edits.slice(0, 2)) {
    sentences.push(said(edit, doc));
    doc = applyEdit(doc, edit);
  }
  if (edits.length > 2) sentences.push(`${edits.length - 2} more`);
  return sentences.join(", ") || "nothing";
}

function phase(doc: TimelineDoc, name: string): Phase {
  return doc.phases[rowOf(doc, name)]!;
}

function change(name: string, from: number, to: number): string {
  return `${name} ${formatMs(from)} → ${formatMs(to)} ms`;
}

function several(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;
}

function updated(was: Phase, changes: Partial<Phase>): string {
  const parts: string[] = [];
  const { duration, release } = changes;
  if (changes.phase !== undefined && changes.phase !== was.phase) {
    parts.push(`rename ${was.phase} to ${changes.phase}`);
  }
  if (duration !== undefined && duration !== was.duration) {
    parts.push(change(was.phase, was.duration, duration));
  }
  if (release !== undefined && release !== was.release) {
    parts.push(release === 0 ? `unpin ${was.phase}` : `pin ${was.phase} at ${formatMs(release)} ms`);
  }
  if (changes.kind !== undefined && changes.kind !== was.kind) {
    parts.push(`${was.phase} is ${changes.kind}`);
  }
  if (changes.lane !== undefined && changes.lane !== was.lane) {
    parts.push(changes.lane === null ? `${was.phase} without a lane` : `${was.phase} on lane ${changes.lane}`);
  }
  if (changes.members !== undefined) {
    parts.push(`${was.phase} on ranks ${changes.members.join(", ")}`);
  } else if (typeof changes.rank === "number" && changes.rank !== was.rank) {
    parts.push(`${was.phase} on rank ${changes.rank}`);
  }
  return parts.join(", ") || was.phase;
}

function relinked(was: Dependency, changes: Partial<Dependency>): string {
  const next = { ...was, ...changes };
  if (next.source === was.source && next.target === was.target) {
    if (next.type === was.type) {
      return `lag ${was.source} → ${was.target}: ${formatMs(was.lag)} → ${formatMs(next.lag)} ms`;
    }
    return `${was.source} → ${was.target}: ${ends(was)} → ${ends(next)}`;
  }
  return `${link(was)} becomes ${link(next)}`;
}

function link(d: Dependency): string {
  return `${d.source} → ${d.target} (${ends(d)})`;
}

function ends(d: Dependency): string {
  if (d.lag === 0) return d.type;
  return `${d.type} ${d.lag > 0 ? "+" : ""}${formatMs(d.lag)}`;
}
