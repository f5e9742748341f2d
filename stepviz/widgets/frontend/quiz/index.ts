/** The anywidget module of the quiz. All it knows is in its traits, so it needs no kernel. */

import type { ModelLike } from "./types";
import { QuizView } from "./view";

export default {
  render({ model, el, signal }: { model: ModelLike; el: HTMLElement; signal: AbortSignal }): void {
    el.append(new QuizView(model, signal).root);
  },
};
