import assert from "node:assert/strict";
import { test } from "node:test";
import { linearAxis, logAxis, roundTicks } from "./axes";

test("round ticks lie between the bounds", () => {
  assert.deepEqual(roundTicks(1, 20), [1, 2, 5, 10, 20]);
  assert.deepEqual(roundTicks(0.3, 4), [0.5, 1, 2]);
  assert.deepEqual(roundTicks(1, 1e6), [1, 10, 100, 1000, 10000, 100000, 1000000]);
});

test("a logarithmic axis gives equal room to equal factors", () => {
  const { at } = logAxis(1, 100, 0, 200);
  assert.equal(at(1), 0);
  assert.ok(Math.abs(at(10) - 100) < 1e-9);
  assert.ok(Math.abs(at(100) - 200) < 1e-9);
});

test("a linear axis has a few round ticks", () => {
  const { at, ticks } = linearAxis(0, 0.8, 0, 80);
  assert.equal(at(0.4), 40);
  assert.deepEqual(ticks, [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(linearAxis(321, 334, 0, 1).ticks, [325, 330]);
});
