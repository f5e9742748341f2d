// Reads what comes from outside (a notebook, another widget, a saved page) into a document, with
// the rules of stepviz.core.tables. Python checks again; this keeps a page without Python sound.

import { FastSolver } from "./solver";
import {
  type Dependency,
  type Kind,
  KINDS,
  LINK_TYPES,
  type LinkType,
  type Origin,
  ORIGINS,
  type Phase,
  Refused,
  SCHEMA,
  type TimelineDoc,
} from "./types";

/** A checked document whose phases do not wait for each other. Throws Refused. */
export function readDoc(value: unknown): TimelineDoc {
  const data = readObject(value, "A timeline");
  if ((data["schema"] ?? SCHEMA) !== SCHEMA) {
    throw new Refused(`This timeline is ${String(data["schema"])}; this page reads ${SCHEMA}.`);
  }
  if (!Array.isArray(data["phases"])) throw new Refused("A timeline needs a list of phases.");
  const links = data["dependencies"] ?? [];
  if (!Array.isArray(links)) throw new Refused("A timeline’s dependencies are a list.");
  const target = data["target"] ?? null;
  const doc: TimelineDoc = {
    schema: SCHEMA,
    name: String(data["name"] ?? ""),
    target: target === null ? null : readName(target),
    phases: data["phases"].map(readPhase),
    dependencies: links.map(readDependency),
  };
  new FastSolver(doc); // refuses unknown and repeated names, and cycles
  return doc;
}

function readPhase(value: unknown): Phase {
  const data = readObject(value, "A phase");
  const name = readName(data["phase"]);
  const kind = data["kind"] ?? "other";
  if (!KINDS.includes(kind as Kind)) {
    throw new Refused(`The kind of “${name}” is “${String(kind)}”: choose one of ${KINDS.join(", ")}.`);
  }
  const lane = data["lane"] ?? null;
  if (lane !== null && (typeof lane !== "string" || lane === "")) {
    throw new Refused(`The lane of “${name}” must be a name, or missing.`);
  }
  const rank = data["rank"] ?? null;
  const members = data["members"] ?? null;
  if (rank !== null && members !== null) {
    throw new Refused(`“${name}” has both a rank and members: a collective has no rank of its own.`);
  }
  return {
    phase: name,
    kind: kind as Kind,
    rank: members === null ? readRank(rank ?? 0, name) : null,
    lane,
    duration: readTime(data["duration"], "duration", name),
    release: readTime(data["release"] ?? 0, "release", name),
    ...(members === null ? {} : { members: readMembers(members, name) }),
  };
}

function readDependency(value: unknown): Dependency {
  const data = readObject(value, "A dependency");
  const source = readName(data["source"]);
  const target = readName(data["target"]);
  const type = data["type"] ?? "FS";
  if (!LINK_TYPES.includes(type as LinkType)) {
    throw new Refused(`The type of “${source}” → “${target}” must be FS, SS, FF or SF.`);
  }
  const origin = data["origin"] ?? "assumed";
  if (!ORIGINS.includes(origin as Origin)) {
    throw new Refused(`The origin of “${source}” → “${target}” must be ${ORIGINS.join(", ")}.`);
  }
  return {
    source,
    target,
    type: type as LinkType,
    lag: readLag(data["lag"] ?? 0, source, target),
    origin: origin as Origin,
  };
}

function readObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refused(`${what} is an object of names and values.`);
  }
  return value as Record<string, unknown>;
}

export function readName(value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new Refused("A phase needs a name that is not empty.");
  }
  return value;
}

/** A duration or a release, ms. */
export function readTime(value: unknown, what: "duration" | "release", name: string): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw new Refused(
      `The ${what} of “${name}” can’t be ${String(value)}: give a finite number of ms, 0 or more.`,
    );
  }
  return value + 0; // -0 becomes 0
}

export function readLag(value: unknown, source: string, target: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new Refused(
      `The lag of “${source}” → “${target}” can’t be ${String(value)}: give a finite number of ms.`,
    );
  }
  return value + 0;
}

export function readRank(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw new Refused(`The rank of “${name}” can’t be ${String(value)}: ranks are whole, from 0.`);
  }
  return value;
}

/** The ranks of a group, ascending, each once. */
export function readMembers(value: unknown, name: string): number[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new Refused(`The group of “${name}” needs at least one rank.`);
  }
  const found = value.map((rank) => readRank(rank, name));
  return [...new Set(found)].sort((a, b) => a - b);
}
