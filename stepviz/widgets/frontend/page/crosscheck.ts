// Draws pictures for Python's tests: reads { kernel, given, settings }, writes for each settings its
// picture with its stops, or the problem with them. Run by build.mjs --run.

import { readFileSync } from "node:fs";
import type { Settings } from "../knobs/types";
import { Unmeant } from "./figures";
import type { Pictures } from "./knobs";
import { SweepPictures } from "./buckets/picture";
import { PlanPictures } from "./planner/picture";
import { TokenPictures } from "./tokens/picture";
import { unpacked } from "./unpacked";

const makers: Readonly<Record<string, (given: never) => Pictures>> = {
  planner: (given) => new PlanPictures(given),
  tokens: (given) => new TokenPictures(given),
  buckets: (given) => new SweepPictures(given),
};

const { kernel, given, settings } = JSON.parse(readFileSync(0, "utf8")) as { kernel: string; given: never; settings: Settings[] };
const data = (typeof given === "string" ? await unpacked(given) : given) as never;
const pictures = (makers[kernel] as (given: never) => Pictures)(data);
const answers = settings.map((one) => {
  try {
    const value = pictures.completed(one);
    const drawn = { picture: { ...pictures.picture(value), stops: pictures.stops(value) } };
    return pictures instanceof SweepPictures ? { ...drawn, timeline: pictures.timeline(value) } : drawn;
  } catch (error) {
    if (error instanceof Unmeant) return { problem: error.message };
    throw error;
  }
});
process.stdout.write(JSON.stringify(answers));
