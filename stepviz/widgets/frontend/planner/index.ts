/** The anywidget module of the run planner. */

import { start } from "../knobs/start";
import type { PlanPicture } from "./types";
import { renderPlanner } from "./view";

export default start<PlanPicture>(renderPlanner);
