import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestPlace, stretches } from "./stretches";

test("neighbours make one stretch", () => {
  assert.deepEqual(stretches([false, true, true, false, true]), [[1, 2], [4, 4]]);
  assert.deepEqual(stretches([]), []);
  assert.deepEqual(stretches([true, true]), [[0, 1]]);
});

test("a pointer means the nearest cap", () => {
  assert.equal(nearestPlace([0, 10, 30], 19), 1);
  assert.equal(nearestPlace([0, 10, 30], 21), 2);
  assert.equal(nearestPlace([5], 100), 0);
});
