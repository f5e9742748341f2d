import assert from "node:assert/strict";
import { test } from "node:test";
import { spokenOf } from "./spoken";
import type { Job } from "./types";

const job = (part: Partial<Job>): Job => ({ state: "running", share: 0, words: "", problem: "", lines: "", missing: "", ...part });

test("only quarters are said aloud", () => {
  const said = new Set(Array.from({ length: 101 }, (_, k) => spokenOf(job({ share: k / 100 }))));
  assert.deepEqual([...said], ["The capture has begun.", "The capture is 25 % done.", "The capture is 50 % done.", "The capture is 75 % done.", "The capture is 100 % done."]);
});

test("how it ended is said", () => {
  assert.equal(spokenOf(job({ state: "done", words: "captured: defaults" })), "captured: defaults");
  assert.equal(spokenOf(job({ state: "stopping", share: 0.4 })), "The capture is being stopped.");
  assert.equal(spokenOf(job({ state: "failed", problem: "rank 1 failed" })), "");
});
