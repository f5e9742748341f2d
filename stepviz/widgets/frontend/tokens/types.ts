/** What Python shows of a comparison (`stepviz/widgets/token_pictures.py`). */

import type { Picture } from "../knobs/types";

export type Change = "better" | "worse" | "unchanged";
export type What = "prompt" | "completion" | "target" | "padding";

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  readonly beforeText: string;
  readonly afterText: string;
  readonly change: Change;
  readonly counts: string;
}

/** start, length, what, sequence (−1 in padding) */
export type Run = readonly [number, number, What, number];

export interface Side {
  readonly name: string;
  readonly title: string;
  readonly held: string;
  readonly time: string;
  readonly ms: number;
  readonly width: number;
  readonly rows: readonly (readonly Run[])[];
  readonly hidden: number;
}

export interface Losses {
  readonly rows: readonly { name: string; value: number; text: string; quotient: string; used: string; right: boolean }[];
  readonly losses: readonly (readonly (readonly string[])[])[];
}

export interface TokenPicture extends Picture {
  readonly large: readonly (Row & { label: string; ratioText: string })[];
  readonly rows: readonly Row[];
  readonly sides: readonly [Side, Side];
  readonly facts: readonly { text: string; change: Change }[];
  readonly notes: readonly string[];
  readonly headline: string;
  readonly trap: string;
  readonly about: readonly string[];
  readonly losses: Losses;
}
