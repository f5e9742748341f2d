import assert from "node:assert/strict";
import { test } from "node:test";
import { layer, wanted } from "./fixtures";
import { blockOf, hit, neighbour } from "./hit";
import { Layers, readLayer } from "./layers";

const LIMITS = { start: -100, finish: 10_000 };
const row = [
  { lane: 0, start: 10, finish: 20 }, { lane: 0, start: 30, finish: 30 }, { lane: 0, start: 40, finish: 90 },
  { lane: 5, start: 0, finish: 900, kind: 2, count: 7, share: 51, name: 3 },
];

test("columns are read as Python packed them, from an odd address", () => {
  const one = layer(row, { lanes: [0, 5], start: 0 });
  assert.deepEqual(one.span(0), [0, 3]);
  assert.deepEqual(one.span(5), [3, 4]);
  assert.deepEqual(one.span(9), [0, 0]);
  assert.deepEqual(blockOf(one, 5, 3), { lane: 5, start: 0, finish: 900, kind: 2, name: 3, count: 7, share: 0.2 });
  const coarse = layer([{ lane: 0, start: 1008, finish: 1024 }], { start: 1000 }, 8);
  assert.deepEqual([coarse.start(0), coarse.finish(0)], [1008, 1024]);
  assert.throws(() => readLayer(wanted(), { start: 0, finish: 1, unit: 1, lanes: [0] }, [new DataView(new ArrayBuffer(11))]));
});

test("the first block that touches a time is found by bisection", () => {
  const one = layer(row, { lanes: [0, 5] });
  assert.deepEqual([0, 10, 20, 20.5, 30, 31, 89, 91].map((time) => one.firstFrom(0, time)), [0, 0, 0, 1, 1, 2, 2, 3]);
});

test("the pointer finds the block under it, or the nearest in reach", () => {
  const layers = new Layers();
  layers.add(layer(row, { lanes: [0, 5] }), LIMITS);
  const at = (time: number, reach = 2): number | undefined => hit(layers, 0, time, reach)?.start;
  assert.deepEqual([15, 21, 24, 29, 30, 38.5, 60].map((time) => at(time)), [10, 10, undefined, 30, 30, 40, 40]);
  assert.equal(hit(layers, 7, 15, 2), null);
  // A mark without length is found in front of the block it stands in.
  layers.add(layer([{ lane: 0, start: 0, finish: 100 }, { lane: 0, start: 100, finish: 100 }]), LIMITS);
  assert.equal(at(100, 0), 100);
});

test("pieces beside each other are gone through one by one, and end", () => {
  const layers = new Layers();
  layers.add(layer(row, { lanes: [0, 5] }), LIMITS);
  const next = (from: { start: number; finish: number }, by: 1 | -1): number | undefined => neighbour(layers, 0, from, by)?.start;
  assert.equal(next({ start: 10, finish: 20 }, 1), 30);
  assert.equal(next({ start: 30, finish: 30 }, 1), 40);
  assert.equal(next({ start: 40, finish: 90 }, 1), undefined);
  assert.equal(next({ start: 40, finish: 90 }, -1), 30);
  assert.equal(next({ start: 10, finish: 20 }, -1), undefined);
  layers.add(layer([{ lane: 0, start: 0, finish: 10 }, { lane: 0, start: 10, finish: 20 }]), LIMITS);
  assert.equal(next({ start: 10, finish: 20 }, -1), 0); // they touch
  assert.equal(next({ start: 0, finish: 10 }, 1), 10);
});

test("what is asked for is the screen, one more on each side, and the lanes around", () => {
  const layers = new Layers();
  const seen = wanted({ start: 4000, finish: 5000, pixel: 2.5, lanes: [1, 2] });
  assert.deepEqual(layers.missing(seen, [0, 1, 2, 3], LIMITS),
    { start: 3000, finish: 6000, pixel: 2, lanes: [0, 1, 2, 3], hidden: [], find: "" });
  const all = layers.missing({ ...seen, start: -100, finish: 10_000 }, [1], LIMITS);
  assert.deepEqual([all?.start, all?.finish], [-100, 10_000]);
});

test("nothing is asked while there is enough, and the next part before it is needed", () => {
  const layers = new Layers();
  layers.add(layer([], { start: 3000, finish: 6000, pixel: 2, lanes: [1, 2, 3] }), LIMITS);
  const seen = wanted({ start: 4000, finish: 5000, pixel: 2.5, lanes: [1, 2] });
  const asks = (change: Partial<typeof seen>): boolean => layers.missing({ ...seen, ...change }, [1], LIMITS) !== null;
  assert.equal(asks({}), false);
  assert.equal(asks({ start: 4600, finish: 5600 }), false);
  assert.equal(asks({ start: 4700, finish: 5700 }), true); // near the edge
  assert.equal(asks({ pixel: 1 }), true); // zoomed in
  assert.equal(asks({ pixel: 13 }), true); // zoomed out
  assert.equal(asks({ lanes: [1, 4] }), true); // scrolled
  assert.equal(asks({ hidden: [2] }), true);
  assert.equal(asks({ find: "gemm" }), true);
});

test("a layer that shows enough is drawn alone; else coarse ones lie below fine ones", () => {
  const layers = new Layers();
  const whole = layer([], { start: -100, finish: 10_000, pixel: 10 });
  const near = layer([], { start: 3000, finish: 6000, pixel: 1 });
  layers.add(whole, LIMITS);
  layers.add(near, LIMITS);
  assert.deepEqual(layers.of(0, { start: 0, finish: 9000 }, 10), [whole]);
  assert.deepEqual(layers.of(0, { start: 2000, finish: 4000 }, 2), [whole, near]);
  assert.deepEqual(layers.of(0, { start: 3500, finish: 5000 }, 2), [near]);
  assert.equal(layers.main(0, { start: 2000, finish: 4000 }, 2), whole);
  assert.equal(layers.main(0, { start: 8000, finish: 9000 }, 1), whole);
});

test("the whole is kept while one looks around, and what was hidden or sought is forgotten", () => {
  const layers = new Layers();
  const whole = layer([], { start: -100, finish: 10_000, pixel: 10 });
  layers.add(whole, LIMITS);
  for (let k = 0; k < 9; k++) layers.add(layer([], { start: 100 * k, finish: 100 * k + 300 }), LIMITS);
  assert.ok(layers.all.includes(whole));
  assert.ok(layers.all.length <= 4);
  layers.add(layer([], { find: "gemm" }), LIMITS);
  assert.equal(layers.all.length, 1);
});
