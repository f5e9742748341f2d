import type { Dependency, Phase, TimelineDoc } from "./types";

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

export function applyEdit(_doc: TimelineDoc, _edit: Edit): TimelineDoc {
  throw new Error("not yet");
}
export function describe(_edit: Edit, _before: TimelineDoc): string {
  throw new Error("not yet");
}
export function toPython(_before: TimelineDoc, _edits: readonly Edit[]): string {
  throw new Error("not yet");
}
