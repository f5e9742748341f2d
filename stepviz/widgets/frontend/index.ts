/** The anywidget module of the timeline editor: a session per model, a view per display. */

import { freeWhenClosed } from "./model/closed";
import { type ModelLike, Session } from "./model/session";
import { renderEditor } from "./view/editor";

interface Life { model: ModelLike; signal: AbortSignal }

/** Called once per model; anywidget hands each view a proxy of its own, so the session is kept here. */
export default () => {
  let session: Session | undefined;
  return {
    initialize({ model, signal }: Life): void {
      freeWhenClosed(model);
      session = Session.open(model, signal);
    },
    render({ model, el, signal }: Life & { el: HTMLElement }): void {
      renderEditor(session ?? Session.for(model), el, signal);
    },
  };
};
