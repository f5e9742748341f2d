// Applies edits for Python's tests: reads [{timeline, edits}] and answers, for each, the timeline
// after them and the Python that does the same, or why they were refused. Run by build.mjs --run.

import { readFileSync } from "node:fs";
import { applyEdit, describe, type Edit, toPython } from "./edits";
import { Refused, type TimelineDoc } from "./types";
import { readDoc } from "./validate";

interface Question {
  timeline: TimelineDoc;
  edits: Edit[];
}

function answer({ timeline, edits }: Question): Record<string, unknown> {
  try {
    const before = readDoc(timeline);
    const after = edits.reduce(applyEdit, before);
    const said = describe({ op: "many", edits }, before);
    return { timeline: after, python: toPython(before, edits), said };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    throw error;
  }
}

const questions = JSON.parse(readFileSync(0, "utf8")) as Question[];
process.stdout.write(JSON.stringify(questions.map(answer)));
