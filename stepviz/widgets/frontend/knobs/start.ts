/** The anywidget module of a widget with knobs: one desk per model, a view per display. */

import { freeWhenClosed } from "../model/closed";
import { type ModelLike, Wire } from "../viewer/wire";
import { Desk } from "./desk";
import type { Knob, Picture } from "./types";

interface Life { model: ModelLike; signal: AbortSignal }
export interface Given<P extends Picture> { desk: Desk<P>; model: ModelLike; knobs: () => readonly Knob[] }

/** anywidget hands each view a proxy of the model, so the desk is made once and kept here. */
export function start<P extends Picture>(show: (given: Given<P>, el: HTMLElement, signal: AbortSignal) => void) {
  return () => {
    let desk: Desk<P> | undefined;
    const open = ({ model, signal }: Life): Desk<P> => new Desk<P>(model, new Wire(model, signal), signal);
    return {
      initialize(life: Life): void {
        freeWhenClosed(life.model);
        desk = open(life);
      },
      render(life: Life & { el: HTMLElement }): void {
        const { model, el, signal } = life;
        show({ desk: desk ?? open(life), model, knobs: () => model.get("_form") as Knob[] }, el, signal);
      },
    };
  };
}
