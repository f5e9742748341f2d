/** For tests only: what computes the pictures of each kernel. */

import { SweepPictures } from "./buckets/picture";
import type { Pictures } from "./knobs";
import { PlanPictures } from "./planner/picture";
import { TokenPictures } from "./tokens/picture";
import { unpacked } from "./unpacked";

const makers: Readonly<Record<string, (given: never) => Pictures>> = {
  planner: (given) => new PlanPictures(given),
  tokens: (given) => new TokenPictures(given),
  buckets: (given) => new SweepPictures(given),
};

export async function picturesOf(kernel: string, given: unknown): Promise<Pictures> {
  const data = (typeof given === "string" ? await unpacked(given) : given) as never;
  return (makers[kernel] as (given: never) => Pictures)(data);
}
