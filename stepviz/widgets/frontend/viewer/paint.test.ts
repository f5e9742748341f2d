import assert from "node:assert/strict";
import { test } from "node:test";
import { layer } from "./fixtures";
import { type Brush, paintLane, SHADES } from "./paint";

const WIDTH = 100;
const inks = {
  plain: Uint32Array.from({ length: 3 * SHADES }, (_, k) => 100 + k),
  dimmed: Uint32Array.from({ length: 3 * SHADES }, (_, k) => 500 + k),
};
const FULL = SHADES - 1;

function painted(blocks: Parameters<typeof layer>[0], change: Partial<Brush> = {}, asked: Parameters<typeof layer>[1] = {}): Uint32Array {
  const brush: Brush = {
    pixels: new Uint32Array(2 * WIDTH), lines: 1, thin: Uint8Array.from([0, 0, 1]), width: WIDTH, range: { start: 0, finish: 1000 }, inks,
    hidden: new Uint8Array(3), searching: false, noted: 30, parted: 4, ...change,
  };
  paintLane(brush, 0, layer(blocks, asked), 0, null);
  return brush.pixels;
}

const at = (pixels: Uint32Array, ...places: number[]): number[] => places.map((k) => pixels[k] as number);

test("a block covers its pixels and leaves one to its neighbour", () => {
  const pixels = painted([{ lane: 0, start: 100, finish: 300 }, { lane: 0, start: 300, finish: 500, kind: 1 }]);
  assert.deepEqual(at(pixels, 9, 10, 28, 29, 30, 48, 49), [0, 100 + FULL, 100 + FULL, 0, 100 + SHADES + FULL, 100 + SHADES + FULL, 0]);
});

test("what is narrower than a pixel still shows", () => {
  const pixels = painted([{ lane: 0, start: 555, finish: 555 }]);
  assert.equal(pixels.filter((ink) => ink !== 0).length, 1);
});

test("a run that is mostly idle is paler than a single block", () => {
  const pixels = painted([{ lane: 0, start: 100, finish: 110, count: 9, share: 25 }]);
  assert.equal(pixels[10], 100);
});

test("what is no work is on a line of its own", () => {
  const pixels = painted([{ lane: 0, start: 100, finish: 300, kind: 2 }]);
  assert.deepEqual(at(pixels, 15, WIDTH + 15), [0, 100 + 2 * SHADES + FULL]);
});

test("hidden kinds are left out, and what is not found is dimmed", () => {
  const blocks = [{ lane: 0, start: 0, finish: 200 }, { lane: 0, start: 400, finish: 600, kind: 1, flags: 1 }];
  const hidden = Uint8Array.from([1, 0, 0]);
  assert.deepEqual(at(painted(blocks, { hidden }), 5, 45), [0, 100 + SHADES + FULL]);
  assert.deepEqual(at(painted(blocks, { searching: true }), 5, 45), [500 + FULL, 100 + SHADES + FULL]);
});

test("a match below a pixel is not covered by its neighbours", () => {
  const pixels = painted([{ lane: 0, start: 500, finish: 501, flags: 1 }, { lane: 0, start: 502, finish: 504 }], { searching: true });
  assert.equal(pixels[50], 100 + FULL);
});

test("blocks beyond both edges fill the line, and none writes outside it", () => {
  const pixels = painted([{ lane: 0, start: -5000, finish: 9000 }]);
  assert.ok(pixels.subarray(0, WIDTH - 1).every((ink) => ink === 100 + FULL));
  assert.ok(pixels.subarray(WIDTH).every((ink) => ink === 0));
});

test("wide blocks are noted for their words", () => {
  const places: number[] = [];
  const brush: Brush = {
    pixels: new Uint32Array(2 * WIDTH), lines: 1, thin: Uint8Array.from([0, 0, 1]), width: WIDTH, range: { start: 0, finish: 1000 }, inks,
    hidden: new Uint8Array(3), searching: false, noted: 30, parted: 4,
  };
  paintLane(brush, 0, layer([{ lane: 0, start: 0, finish: 100 }, { lane: 0, start: 200, finish: 600 }]), 0, places);
  assert.deepEqual(places, [20, 59, 1]);
});
