// Edits as Python: lines that make the same changes with stepviz's own methods on `timeline`.

import { applyEdit, dependencyAt, type Edit, rowOf, sameEnds } from "./edits";
import type { Dependency, Phase, TimelineDoc } from "./types";

/**
 * Runnable Python that takes `timeline`, equal to `before`, through the edits, to a timeline equal
 * to the page's.
 */
export function toPython(before: TimelineDoc, edits: readonly Edit[]): string {
  const lines: string[] = [];
  let doc = before;
  for (const edit of flatten(edits)) {
    const after = applyEdit(doc, edit);
    lines.push(...statements(doc, edit, after));
    doc = after;
  }
  if (lines.some((line) => line.includes("sv."))) lines.unshift("import stepviz as sv", "");
  return lines.map((line) => `${line}\n`).join("");
}

function flatten(edits: readonly Edit[]): Edit[] {
  return edits.flatMap((edit) => (edit.op === "many" ? flatten(edit.edits) : [edit]));
}

function statements(doc: TimelineDoc, edit: Edit, after: TimelineDoc): string[] {
  if (after === doc) return [];
  switch (edit.op) {
    case "duration":
      return [call("with_duration", text(edit.phase), float(edit.duration))];
    case "release":
      return [call("with_release", text(edit.phase), float(edit.release))];
    case "add": {
      const added = after.phases.find((phase) => phase.phase === edit.phase.phase)!;
      const place = edit.after === undefined ? [] : [`after=${text(edit.after)}`];
      return [call("with_phase", text(added.phase), ...columns(added, true), ...place)];
    }
    case "update": {
      const was = doc.phases[rowOf(doc, edit.phase)]!;
      const now = after.phases[rowOf(doc, edit.phase)]!;
      return [call("with_phase", text(edit.phase), ...changed(was, now))];
    }
    case "remove":
      return [call("without", one(edit.phases))];
    case "scale":
      return [scaled(doc, edit.phases, edit.factor)];
    case "connect":
      return [connected(after.dependencies.at(-1)!)];
    case "disconnect": {
      const link = dependencyAt(doc, edit.row);
      return single(doc, link) ? [disconnected(link)] : whole(after);
    }
    case "relink": {
      const was = dependencyAt(doc, edit.row);
      if (!single(doc, was)) return whole(after);
      const { changes } = edit;
      const now = { ...was, ...changes };
      if (was.origin === now.origin && sameEnds(was, now)) {
        const { source, target, lag, type } = dependencyAt(after, edit.row);
        return [call("with_lag", text(source), text(target), float(lag), `type=${text(type)}`)];
      }
      return [disconnected(was), connected(after.dependencies.at(-1)!)];
    }
    case "reorder": {
      const row = rowOf(after, edit.phase);
      if (row === 0) return toFront(doc, edit.phase);
      return [call("with_phase", text(edit.phase), `after=${text(after.phases[row - 1]!.phase)}`)];
    }
    case "target":
      return [call("with_target", edit.target === null ? "None" : text(edit.target))];
    case "replace":
      return whole(after);
    case "many":
      return []; // flattened before
  }
}

function call(method: string, ...args: string[]): string {
  return `timeline = timeline.${method}(${args.join(", ")})`;
}

function columns(phase: Phase, all: boolean): string[] {
  const given = [`kind=${text(phase.kind)}`];
  if (phase.members === undefined) given.push(`rank=${phase.rank}`);
  else given.push(`members=[${phase.members.join(", ")}]`);
  if (phase.lane !== null) given.push(`lane=${text(phase.lane)}`);
  given.push(`duration=${float(phase.duration)}`);
  if (all && phase.release !== 0) given.push(`release=${float(phase.release)}`);
  return given;
}

function changed(was: Phase, now: Phase): string[] {
  const given: string[] = [];
  if (now.phase !== was.phase) given.push(`rename=${text(now.phase)}`);
  if (now.kind !== was.kind) given.push(`kind=${text(now.kind)}`);
  if (now.members !== undefined) {
    if (String(now.members) !== String(was.members ?? "")) {
      given.push(`members=[${now.members.join(", ")}]`);
    }
  } else if (now.rank !== was.rank) {
    given.push(`rank=${now.rank}`);
  }
  if (now.lane !== was.lane) given.push(`lane=${now.lane === null ? "None" : text(now.lane)}`);
  if (now.duration !== was.duration) given.push(`duration=${float(now.duration)}`);
  if (now.release !== was.release) given.push(`release=${float(now.release)}`);
  return given;
}

function scaled(doc: TimelineDoc, names: readonly string[], factor: number): string {
  const chosen = new Set(names);
  const phases = doc.phases.filter((phase) => chosen.has(phase.phase));
  const kind = phases[0]!.kind;
  const whole =
    phases.length > 1 &&
    doc.phases.every((phase) => (phase.kind === kind) === chosen.has(phase.phase));
  const which = whole ? `kind=${text(kind)}` : one(phases.map((phase) => phase.phase));
  return call("scale", which, `factor=${float(factor)}`);
}

function connected(link: Dependency): string {
  const args = [text(link.source), text(link.target), text(link.type), float(link.lag)];
  if (link.origin !== "assumed") args.push(`origin=${text(link.origin)}`);
  return call("connect", ...args);
}

function disconnected(link: Dependency): string {
  return call("disconnect", text(link.source), text(link.target), text(link.type));
}

/** Whether a dependency is named by its ends and its type; files may hold several alike. */
function single(doc: TimelineDoc, link: Dependency): boolean {
  return doc.dependencies.filter((other) => sameEnds(other, link)).length === 1;
}

/** No phase comes before the first row, so `with_phase(…, after=…)` can't say it. */
function toFront(doc: TimelineDoc, name: string): string[] {
  return [
    "document = timeline.to_dict()",
    `document["phases"].insert(0, document["phases"].pop(${rowOf(doc, name)}))`,
    "timeline = sv.Timeline.from_dict(document)",
  ];
}

function whole(doc: TimelineDoc): string[] {
  return [`timeline = sv.Timeline.from_dict(${literal(doc)})`];
}

function one(names: readonly string[]): string {
  return names.length === 1 ? text(names[0]!) : `[${names.map(text).join(", ")}]`;
}

/** A string literal: what JSON escapes, Python reads the same way. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** A float literal with every digit that matters. */
function float(value: number): string {
  const digits = String(value);
  return /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
}

function literal(value: unknown, key = ""): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    return key === "rank" || key === "members" ? String(value) : float(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, key)).join(", ")}]`;
  const pairs = Object.entries(value as object).map(([k, v]) => `${text(k)}: ${literal(v, k)}`);
  return `{${pairs.join(", ")}}`;
}
