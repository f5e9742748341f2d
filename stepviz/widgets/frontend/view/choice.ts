/** What a view has chosen, from each timeline to the next. */

import { followLink, followPhase } from "../model/follow";
import type { TimelineDoc } from "../model/types";
import type { ViewState } from "./state";

/** Find again what is chosen, focused and hovered; what is gone is chosen no more. */
export function follow(state: ViewState, before: TimelineDoc, after: TimelineDoc): void {
  if (before === after) return;
  const next = (name: string | null): string | null =>
    name === null ? null : followPhase(name, before, after);
  const names = [...state.selection].map(next);
  state.selection.clear();
  for (const name of names) if (name !== null) state.selection.add(name);
  state.arrow = state.arrow === null ? null : followLink(state.arrow, before, after);
  state.focus = next(state.focus);
  state.hover = next(state.hover);
}
