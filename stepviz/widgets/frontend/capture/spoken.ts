/** What is said aloud of a capture: each quarter and its end, not each percent (no DOM). */

import type { Job } from "./types";

export function spokenOf(job: Job): string {
  if (job.state === "running") {
    const quarter = Math.floor(job.share * 4) * 25;
    return quarter === 0 ? "The capture has begun." : `The capture is ${quarter} % done.`;
  }
  if (job.state === "stopping") return "The capture is being stopped.";
  // What failed is an alert of its own.
  return job.state === "failed" ? "" : job.words;
}
