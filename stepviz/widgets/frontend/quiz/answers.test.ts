import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { judge, judgeNumber } from "./answers";
import type { Judgement, QuizDoc } from "./types";

interface Case extends Judgement { readonly quiz: string; readonly given: string }

const shared = JSON.parse(readFileSync("../../../tests/widgets/quiz_cases.json", "utf8")) as { quizzes: Record<string, QuizDoc>; cases: Case[] };
const close = (a: unknown, b: unknown): boolean => a === b || (typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 1e-12 * Math.abs(b));

for (const { quiz, given, outcome, value, words } of shared.cases) {
  test(`${quiz}: ${JSON.stringify(given)} is ${outcome}`, () => {
    const found = judge(shared.quizzes[quiz] as QuizDoc, given);
    assert.deepEqual([found.outcome, found.words], [outcome, words]);
    assert.ok(close(found.value, value), `${String(found.value)} is not ${String(value)}`);
  });
}

test("a number from Python is read one way only", () => {
  const quiz = { ...shared.quizzes.tokens as QuizDoc, answer: 1034 };
  assert.equal(judge(quiz, "1.034").outcome, "right");
  assert.equal(judgeNumber(quiz, 1.034).outcome, "wrong");
});
