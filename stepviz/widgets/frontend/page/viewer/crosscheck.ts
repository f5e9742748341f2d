// Answers Python's questions about a step for its tests: reads { given, kinds, questions }, writes
// [content, buffers as base64]. Run by build.mjs --run.

import { readFileSync } from "node:fs";
import { unpacked } from "../unpacked";
import { type Content, type GivenStep, StepLanes } from "./step";

const { given, kinds, questions } = JSON.parse(readFileSync(0, "utf8")) as { given: string; kinds: string[]; questions: Content[] };
const step = new StepLanes((await unpacked(given)) as GivenStep, kinds);
const answers = questions.map((question) => {
  const [content, buffers] = step.answer(question);
  return [content, buffers.map((buffer) => Buffer.from(buffer).toString("base64"))];
});
process.stdout.write(JSON.stringify(answers));
