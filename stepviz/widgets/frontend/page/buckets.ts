/** Answers a bucket explorer in a page: its panel, and the editor that shows the chosen step. */

import { SweepPictures } from "./buckets/picture";
import type { GivenBuckets } from "./buckets/step";
import { knobKernel } from "./knobs";
import type { Kernel, PageModel } from "./model";
import { unpacked } from "./unpacked";

export default async function bucketsKernel([panel, editor]: readonly PageModel[], given: unknown): Promise<Kernel> {
  const pictures = new SweepPictures((await unpacked(given as string)) as GivenBuckets);
  return knobKernel(pictures, panel as PageModel, (settings) => editor?.assignAll({ value: pictures.timeline(settings) }));
}
