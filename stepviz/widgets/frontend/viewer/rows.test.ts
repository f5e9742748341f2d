import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "./fixtures";
import { firstFolds, layout, rowAt, rowFrom, rowsBetween, toggled } from "./rows";

const OPEN = { ranks: new Set<number>(), tracks: new Set<number>() };

test("each lane has a row, one below the other", () => {
  const { rows, of, height } = layout(scene(2, 3), OPEN);
  assert.deepEqual(rows.map((row) => row.lane), [5, 0, 1, 2, 3, 11, 6, 7, 8, 9]);
  rows.reduce((end, row) => {
    assert.ok(row.y >= end);
    return row.y + row.height;
  }, 0);
  assert.ok(height >= (rows.at(-1)?.y ?? 0) + (rows.at(-1)?.height ?? 0));
  assert.equal(of.get(4), 2); // where the innermost are shown, were it folded
  assert.deepEqual(rows.filter((row) => row.head).map((row) => row.lane), [5, 0, 1, 11, 6, 7]);
});

test("folded lanes have the row that stands for them", () => {
  const two = scene(2, 3);
  const thread = layout(two, toggled(OPEN, "tracks", 4));
  assert.deepEqual(thread.rows.map((row) => row.lane), [5, 0, 4, 11, 6, 7, 8, 9]);
  assert.deepEqual([1, 2, 3].map((lane) => thread.of.get(lane)), [2, 2, 2]);
  const rank = layout(two, toggled(OPEN, "ranks", 0));
  assert.deepEqual(rank.rows.map((row) => row.lane), [5, 11, 6, 7, 8, 9]);
  assert.deepEqual([0, 1, 4].map((lane) => rank.of.get(lane)), [0, 0, 0]);
  assert.deepEqual(toggled(toggled(OPEN, "ranks", 0), "ranks", 0), OPEN);
});

test("few rows start open; of many, threads are folded, then ranks but for the path's", () => {
  assert.deepEqual(firstFolds(scene(2, 3)), { ranks: new Set(), tracks: new Set() });
  const threads = firstFolds(scene(4, 9));
  assert.equal(threads.tracks.size, 4);
  assert.equal(threads.ranks.size, 0);
  const ranks = firstFolds(scene(64, 9));
  assert.equal(ranks.ranks.size, 63);
  assert.ok(!ranks.ranks.has(63)); // it has most of the path
});

test("rows are found by height", () => {
  const { rows } = layout(scene(2, 3), OPEN);
  for (const [k, row] of rows.entries()) {
    assert.equal(rowAt(rows, row.y), row);
    assert.equal(rowAt(rows, row.y + row.height - 0.5), row);
    assert.equal(rowFrom(rows, row.y + row.height), k + 1);
  }
  assert.equal(rowAt(rows, 1), null);
  assert.equal(rowAt(rows, 1e9), null);
  const [first, last] = rowsBetween(rows, rows[2]?.y ?? 0, rows[4]?.y ?? 0);
  assert.deepEqual([first, last], [2, 4]);
});
