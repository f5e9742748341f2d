/** Answers a run planner in a page. */

import { knobKernel } from "./knobs";
import type { Kernel, PageModel } from "./model";
import { PlanPictures } from "./planner/picture";
import type { GivenPlan } from "./planner/plan";

export default function plannerKernel([panel]: readonly PageModel[], given: unknown): Kernel {
  return knobKernel(new PlanPictures(given as GivenPlan), panel as PageModel);
}
