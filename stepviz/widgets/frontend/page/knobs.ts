/** Answers a widget with knobs in a page: what `stepviz/widgets/knobs.py` does in Python (no DOM). */

import type { Setting, Settings } from "../knobs/types";
import { Unmeant } from "./figures";
import type { Kernel, PageModel } from "./model";

export type Picture = Record<string, unknown>;

/** What computes a widget's pictures; what has no meaning is thrown as `Unmeant`. */
export interface Pictures {
  completed(settings: Settings): Settings;
  stops(settings: Settings): Readonly<Record<string, readonly Setting[]>>;
  picture(settings: Settings): Picture;
}

export function knobKernel(pictures: Pictures, panel: PageModel, settled?: (settings: Settings) => void): Kernel {
  const edition = (panel.get("_shown") as { edition: number }).edition;
  const drawn = (settings: Settings): Picture => ({ ...pictures.picture(settings), stops: pictures.stops(settings) });
  return {
    told(model, changes): void {
      if (model !== panel || !("value" in changes)) return;
      const wanted = changes.value as Settings;
      try {
        const value = pictures.completed(wanted);
        const picture = drawn(value);
        model.assignAll({ _shown: { value: wanted, picture, edition } });
        settled?.(value);
      } catch (error) {
        model.assignAll({ _shown: { value: wanted, problem: reason(error), edition } });
      }
    },
    asked(model, content): void {
      if (model !== panel || content.ask !== "track") return;
      const said = { id: content.id, edition };
      try {
        const settings = pictures.completed(content.value as Settings);
        const knob = String(content.knob);
        const found: [Settings, Picture][] = [];
        for (const stop of pictures.stops(settings)[knob] ?? []) {
          const there = { ...settings, [knob]: stop };
          try {
            found.push([there, drawn(there)]);
          } catch (error) {
            if (!(error instanceof Unmeant)) throw error; // asked for by itself it says why
          }
        }
        model.answer({ ...said, pictures: found });
      } catch (error) {
        model.answer({ ...said, error: reason(error) });
      }
    },
  };
}

function reason(error: unknown): string {
  if (!(error instanceof Unmeant)) console.error("stepviz: a page could not compute its numbers", error);
  return error instanceof Error ? error.message : String(error);
}
