import assert from "node:assert/strict";
import { test } from "node:test";
import { abbreviations } from "./labels";
import { type Anchor, assignTracks, route } from "./routes";

const anchor = (x: number, row: number): Anchor => ({ x, top: row * 70, bottom: row * 70 + 34, row });

/** The path's end, and whether it touches only the gap between its rows. */
function ends(path: string): { first: [number, number]; last: number } {
  const [, x, y] = /^M([-\d.]+) ([-\d.]+)/.exec(path) ?? [];
  const [, last] = /V([-\d.]+)$/.exec(path) ?? [];
  return { first: [Number(x), Number(y)], last: Number(last) };
}

test("an arrow leaves the edge that faces its target and ends at the target's edge", () => {
  const down = route(anchor(200, 0), anchor(300, 1), 52);
  assert.deepEqual(ends(down.path).first, [200, 34]);
  assert.ok(ends(down.path).last > 52 && ends(down.path).last < 70);
  assert.equal(down.labelX, 250);
  assert.equal(down.labelY, 52);
  const up = route(anchor(300, 2), anchor(200, 0), 52);
  assert.deepEqual(ends(up.path).first, [300, 140]);
  assert.ok(ends(up.path).last > 34 && ends(up.path).last < 52);
});

test("a jog of a few pixels is drawn straight", () => {
  assert.match(route(anchor(200, 0), anchor(203, 1), 52).path, /^M203 34V[\d.]+$/);
});

test("runs of one gap that overlap get tracks of their own", () => {
  const runs = [
    { gap: 0, from: 0, to: 100 }, { gap: 0, from: 50, to: 150 }, { gap: 0, from: 200, to: 260 },
    { gap: 1, from: 0, to: 100 },
  ];
  assert.deepEqual(assignTracks(runs, 4), [0, 1, 0, 0]);
});

test("names are shortened so that bars of one kind still differ", () => {
  assert.deepEqual(abbreviations("r1 backward 3", 1), ["backward 3", "b3"]);
  assert.deepEqual(abbreviations("all-reduce 12", 0), ["all-reduce 12", "ar12"]);
  assert.deepEqual(abbreviations("optimizer", 0), ["optim.", "optimizer"]);
  assert.deepEqual(abbreviations("input", 0), ["input", "input"]);
});
