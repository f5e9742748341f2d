/** The anywidget module of the quiz. All it knows is in its traits, so it needs no kernel. */

import { freeWhenClosed } from "../model/closed";
import type { ModelLike } from "./types";
import { QuizView } from "./view";

export default {
  initialize({ model }: { model: ModelLike }): void {
    freeWhenClosed(model);
  },
  render({ model, el, signal }: { model: ModelLike; el: HTMLElement; signal: AbortSignal }): void {
    el.append(new QuizView(model, signal).root);
  },
};
