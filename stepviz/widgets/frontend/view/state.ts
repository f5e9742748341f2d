/** What belongs to one view of an editor: selection, zoom, filters. Never shared, never saved. */

import type { Kind } from "../model/types";
import type { Solved } from "../model/solver";
import type { Session } from "../model/session";

export type End = "start" | "finish";

/** An arrow, stored (row ≥ 0) or of the lane rule, told by its place in the schedule's list. */
export interface ArrowId { row: number; index: number }

export class ViewState {
  /** Chosen phases, the last chosen one last. */
  readonly selection = new Set<string>();
  /** Row of the chosen stored dependency, in the committed timeline. */
  arrow: number | null = null;
  /** The bar with the keyboard's focus. */
  focus: string | null = null;
  hover: string | null = null;
  /** null fits the whole step into the plot. */
  zoom: { pxPerMs: number; origin: number } | null = null;
  readonly hidden = { ranks: new Set<number>(), lanes: new Set<string>(), kinds: new Set<Kind>() };
  /** null: thin out the arrows when there are many. */
  allArrows = false;
  table = false;
  inspector = true;
  /** The phase whose binding arrow is lit because it holds what is being dragged. */
  held: string | null = null;
  /** What the running gesture edits; it stays as it is drawn until the gesture ends. */
  dragging: string | null = null;

  get primary(): string | null {
    let last: string | null = null;
    for (const name of this.selection) last = name;
    return last;
  }
}

export type PanelName = "help" | "python" | "filter" | "add" | "export";
export type Redraw = "layout" | "values" | "selection";

/** What the parts of a view share. */
export interface Context {
  readonly session: Session;
  readonly state: ViewState;
  readonly root: HTMLElement;
  /** Prefix of this view's element ids: several views may be on one page. */
  readonly uid: string;
  readonly signal: AbortSignal;
  redraw(what: Redraw): void;
  select(names: readonly string[], mode?: "replace" | "toggle" | "add"): void;
  selectArrow(row: number | null): void;
  /** Run an edit; a refusal becomes a message instead of an exception. */
  attempt(action: () => void): boolean;
  /** A sentence for the message line, until the next one. */
  say(message: string | null, level?: "info" | "refused" | "why"): void;
  /** A sentence for screen readers only. */
  announce(message: string): void;
  panel(name: PanelName | null): void;
}

export function rowOf(solved: Solved, name: string | null): number {
  return name === null ? -1 : solved.index.get(name) ?? -1;
}
