/** Answers a token comparison in a page. */

import { knobKernel } from "./knobs";
import type { Kernel, PageModel } from "./model";
import { type GivenTokens, TokenPictures } from "./tokens/picture";
import { unpacked } from "./unpacked";

export default async function tokensKernel([panel]: readonly PageModel[], given: unknown): Promise<Kernel> {
  return knobKernel(new TokenPictures((await unpacked(given as string)) as GivenTokens), panel as PageModel);
}
