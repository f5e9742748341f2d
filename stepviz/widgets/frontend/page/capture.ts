/** Answers a capture panel in a page: which of the kept runs the editor shows. */

import type { TimelineDoc } from "../model/types";
import type { Kernel, PageModel } from "./model";
import { unpacked } from "./unpacked";

export default async function captureKernel([form, editor]: readonly PageModel[], given: unknown): Promise<Kernel> {
  const timelines = (await unpacked(given as string)) as TimelineDoc[];
  return {
    asked(model, content): void {
      const run = Number(content.run);
      const chosen = timelines[run];
      if (model !== form || content.ask !== "choose" || chosen === undefined) return;
      editor?.assignAll({ value: chosen });
      model.assignAll({ _table: { ...(model.get("_table") as object), chosen: run } });
    },
  };
}
