import assert from "node:assert/strict";
import { test } from "node:test";
import { rowWords, scaleOf } from "./masks";
import type { Side } from "./types";

const side = (width: number, ms: number): Side => ({ name: "", title: "", held: "", time: "", ms, width, rows: [], hidden: 0 });

test("both layouts share one scale, so less looks like less", () => {
  const { cell, ms } = scaleOf([side(40, 40), side(80, 30)], 800, 200);
  assert.equal(cell, 10);
  assert.equal(ms, 5);
});

test("few positions don't fill the page", () => {
  assert.ok(scaleOf([side(4, 4), side(6, 3)], 2000, 200).cell < 40);
});

test("a row is said in words", () => {
  assert.equal(rowWords([[0, 2, "prompt", 0], [2, 1, "target", 0], [3, 1, "padding", -1]]), "2 prompt, 1 scored, 1 padding");
});
