import type { TimelineDoc } from "./types";

export interface Sensitivity {
  readonly duration: readonly number[];
  readonly completion: readonly number[];
  readonly drag: number;
  readonly takeover: { readonly duration: number; readonly phase: string } | null;
}

export function sensitivity(_doc: TimelineDoc, _phase: string): Sensitivity {
  throw new Error("not yet");
}
