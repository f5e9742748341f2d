/** The anywidget module of the token comparison. */

import { start } from "../knobs/start";
import type { TokenPicture } from "./types";
import { renderTokens } from "./view";

export default start<TokenPicture>(renderTokens);
