/** The anywidget module of the capture panel. */

import { start } from "../knobs/start";
import type { CapturePicture } from "./types";
import { renderCapture } from "./view";

export default start<CapturePicture>(renderCapture);
