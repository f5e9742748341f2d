/** What Python shows of a plan (`stepviz/widgets/plan_pictures.py`). */

import type { Picture } from "../knobs/types";

export interface Figure {
  readonly name: string;
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly unit: string;
  readonly convention: string;
  readonly how: string;
}

export interface Case { readonly name: string; readonly mfu: number; readonly mfuText: string; readonly days: number; readonly text: string }
export interface Part { readonly name: string; readonly label: string; readonly days: number; readonly share: number; readonly text: string; readonly shareText: string }
export interface Line { readonly devices: number; readonly label: string; readonly days: readonly number[]; readonly texts: readonly string[]; readonly own: boolean }

export interface Sensitivity {
  readonly mfu: readonly number[];
  readonly mfuTexts: readonly string[];
  readonly lines: readonly Line[];
  readonly own: number;
  readonly range: readonly [number, number];
}

export interface PlanPicture extends Picture {
  readonly answer: { readonly name: string; readonly value: number; readonly text: string; readonly convention: string; readonly how: string };
  readonly headline: string;
  readonly large: readonly Figure[];
  readonly band: readonly [Case, Case, Case];
  readonly parts: readonly Part[];
  readonly goodput: string;
  readonly sensitivity: Sensitivity;
  readonly notes: readonly string[];
  readonly about: string;
  readonly solved: Readonly<Record<string, number>>;
}
