/** What Python shows of captures (`stepviz/widgets/capture_form.py`). */

import type { Picture } from "../knobs/types";

export interface CapturePicture extends Picture {
  /** The same in Python. */
  readonly code: string;
  readonly emulated: string;
}

export interface Job {
  readonly state: "idle" | "running" | "stopping" | "stopped" | "failed" | "done";
  readonly share: number;
  readonly words: string;
  readonly problem: string;
  /** What a rank wrote last. */
  readonly lines: string;
  /** Why nothing can be captured here. */
  readonly missing: string;
}

export interface Row {
  readonly label: string;
  readonly ranks: string;
  readonly caps: string;
  readonly step: string;
  readonly quartiles: string;
  readonly how: string;
  readonly exposed: string;
  readonly verdict: string;
  readonly reason: string;
  readonly emulated: boolean;
}

export interface Table {
  readonly rows: readonly Row[];
  readonly chosen: number;
  /** What became of a run that was renamed or removed. */
  readonly said: string;
  /** Counts what Python said, so that the same words twice are heard twice. */
  readonly turn: number;
  /** In a saved page runs are neither renamed nor removed. */
  readonly fixed?: boolean;
}
