import type { Edit } from "./edits";
import type { Solved } from "./solver";
import type { TimelineDoc } from "./types";

/** What a view or a page offers: anywidget's model, or a stub of it. */
export interface ModelLike {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
  /** false on a page with no kernel behind it; missing otherwise. */
  readonly kernel?: boolean;
}

export type Topic = "preview" | "doc" | "selected" | "scenarios" | "status";

export interface Status {
  readonly kernel: "live" | "waiting" | "silent" | "none";
  readonly message: string | null;
  readonly level: "info" | "refused" | "error";
}

export interface Gesture {
  readonly label: string;
  /** Show the committed timeline with this edit; replaces the preview before it. Throws Refused. */
  preview(edit: Edit): Solved;
  /** Make the preview final: one undo entry, one save. Does nothing where nothing changed. */
  commit(): void;
  cancel(): void;
}

export declare class Session {
  /** Open the session of a widget model; everything is freed when `signal` aborts. */
  static open(model: ModelLike, signal: AbortSignal): Session;
  /** The session of this very model object, opened on first use. */
  static for(model: ModelLike): Session;
  readonly doc: TimelineDoc;
  readonly solved: Solved;
  readonly shown: Solved;
  readonly baseline: Solved;
  readonly baselineName: string;
  readonly dragging: boolean;
  begin(label: string): Gesture;
  apply(edit: Edit, label?: string): void;
  undo(): void;
  redo(): void;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly undoLabel: string | null;
  readonly redoLabel: string | null;
  reset(): void;
  keep(name?: string): string;
  forget(name: string): void;
  switchTo(name: string): void;
  scenario(name: string): Solved;
  readonly scenarioNames: readonly string[];
  readonly activeScenario: string | null;
  setBaseline(name: string): void;
  python(): string;
  selected: string | null;
  readonly height: number | null;
  readonly status: Status;
  say(message: string | null, level?: Status["level"]): void;
  subscribe(listener: (what: Topic) => void, signal: AbortSignal): void;
  dispose(): void;
}
