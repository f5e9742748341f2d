/** Answers a trace viewer in a page. */

import type { Kernel, PageModel } from "./model";
import { unpacked } from "./unpacked";
import { type GivenStep, StepLanes } from "./viewer/step";

export default async function viewerKernel([viewer]: readonly PageModel[], given: unknown): Promise<Kernel> {
  const scene = viewer?.get("_scene") as { kinds: string[] };
  const step = new StepLanes((await unpacked(given as string)) as GivenStep, scene.kinds);
  return {
    asked(model, content): void {
      const [answer, buffers] = step.answer(content);
      model.answer(answer, buffers.map((buffer) => new DataView(buffer)));
    },
  };
}
