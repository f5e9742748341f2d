// Draws pictures for Python's tests: reads { kernel, given, settings }, writes for each settings its
// picture with its stops, or the problem with them. Run by build.mjs --run.

import { readFileSync } from "node:fs";
import type { Settings } from "../knobs/types";
import { SweepPictures } from "./buckets/picture";
import { Unmeant } from "./figures";
import { picturesOf } from "./makers";

const { kernel, given, settings } = JSON.parse(readFileSync(0, "utf8")) as { kernel: string; given: unknown; settings: Settings[] };
const pictures = await picturesOf(kernel, given);
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
