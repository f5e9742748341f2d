/** The anywidget module of the bucket explorer's panel. */

import { start } from "../knobs/start";
import type { SweepPicture } from "./types";
import { renderBuckets } from "./view";

export default start<SweepPicture>(renderBuckets);
