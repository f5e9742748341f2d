/** The anywidget module of the trace viewer: one wire per model, a view per display. */

import { freeWhenClosed } from "../model/closed";
import { html } from "../view/dom";
import type { Names } from "./feed";
import { readScene } from "./types";
import { renderViewer, type Shared } from "./viewer";
import { type ModelLike, Wire } from "./wire";

interface Life { model: ModelLike; signal: AbortSignal }

/** Called once per model; anywidget hands each view a proxy of its own, so the wire is kept here. */
export default () => {
  let wire: Wire | undefined;
  const names: Names = new Map();
  return {
    initialize({ model, signal }: Life): void {
      freeWhenClosed(model);
      wire = new Wire(model, signal);
    },
    render({ model, el, signal }: Life & { el: HTMLElement }): void {
      const scene = readScene(model.get("_scene"));
      if (scene === null) {
        el.append(html("div", { class: "stepviz tv" }, "There is no step here; run the cell again."));
        return;
      }
      const shared: Shared = { model, scene, names, wire: wire ?? new Wire(model, signal) };
      renderViewer(shared, el, signal);
    },
  };
};
