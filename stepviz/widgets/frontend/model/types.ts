// The timeline as plain JSON: the same document that Python's Timeline.to_dict() gives.
// Documents are values: nothing here or in the views changes one in place.

export const SCHEMA = "stepviz.timeline/1";

export const KINDS = [
  "input",
  "forward",
  "backward",
  "exchange",
  "optimizer",
  "recompute",
  "checkpoint",
  "host",
  "other",
] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds whose running hides an exchange: what "compute" means in exposed time. */
export const COMPUTE_KINDS: readonly Kind[] = ["forward", "backward", "recompute"];

export const LINK_TYPES = ["FS", "SS", "FF", "SF"] as const;
export type LinkType = (typeof LINK_TYPES)[number];

export const ORIGINS = ["assumed", "recorded", "inferred"] as const;
export type Origin = (typeof ORIGINS)[number];

/** A bar. Times are milliseconds. */
export interface Phase {
  readonly phase: string;
  readonly kind: Kind;
  /** null for a collective, whose ranks are its `members`. */
  readonly rank: number | null;
  /** What serves one phase at a time; null orders nothing. */
  readonly lane: string | null;
  readonly duration: number;
  /** Earliest start allowed from outside; 0 for none. */
  readonly release: number;
  readonly members?: readonly number[];
}

/** A link of the precedence diagramming method; `lag` in milliseconds. */
export interface Dependency {
  readonly source: string;
  readonly target: string;
  readonly type: LinkType;
  readonly lag: number;
  readonly origin: Origin;
}

export interface TimelineDoc {
  readonly schema: string;
  readonly name: string;
  /** The phase whose finish is the completion; null for the last finish of all. */
  readonly target: string | null;
  readonly phases: readonly Phase[];
  readonly dependencies: readonly Dependency[];
}

/** Why an edit or a timeline is not possible; the message is a sentence for the user. */
export class Refused extends Error {
  override readonly name = "Refused";
}
