/** What Python shows of a sweep (`stepviz/widgets/bucket_pictures.py`). */

import type { Picture } from "../knobs/types";

export interface Figure { readonly name: string; readonly label: string; readonly value: number; readonly text: string; readonly about: string }

type Column = "completion" | "queued" | "last_transfer";

export interface SweepPicture extends Picture {
  readonly caps: readonly number[];
  readonly capTexts: readonly string[];
  readonly completion: readonly number[];
  readonly queued: readonly number[];
  readonly last_transfer: readonly number[];
  readonly buckets: readonly number[];
  readonly near_best: readonly boolean[];
  readonly texts: Readonly<Record<Column | "exposed", readonly string[]>>;
  readonly chosen: number;
  readonly best: number;
  readonly headline: string;
  readonly large: readonly Figure[];
  readonly words: readonly string[];
  readonly notes: readonly string[];
}
