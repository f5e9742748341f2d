/** The anywidget module of the timeline editor: a session per model, a view per display. */

import { type ModelLike, Session } from "./model/session";
import { renderEditor } from "./view/editor";

interface Life { model: ModelLike; signal: AbortSignal }

export default {
  initialize({ model, signal }: Life): void {
    Session.open(model, signal);
  },
  render({ model, el, signal }: Life & { el: HTMLElement }): void {
    renderEditor(Session.for(model), el, signal);
  },
};
