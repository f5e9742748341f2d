import assert from "node:assert/strict";
import { test } from "node:test";
import { layer, scene } from "./fixtures";
import { Layers } from "./layers";
import { inSight } from "./seen";
import { Look } from "./state";

function looking(start: number, finish: number, lanes: readonly number[], blocks: Parameters<typeof layer>[0]) {
  const look = new Look(scene(1, 1));
  Object.assign(look, { range: { start, finish }, target: { start, finish }, width: 100 });
  const layers = new Layers();
  layers.add(layer(blocks, { start: 0, finish: 1000, lanes }), look.limits);
  return { look, layers };
}

test("pieces in the range are listed lane by lane and in order of time", () => {
  const { look, layers } = looking(100, 500, [0, 1, 2], [
    { lane: 2, start: 0, finish: 50 }, { lane: 2, start: 90, finish: 120, name: 1 }, { lane: 2, start: 480, finish: 600, name: 2 },
    { lane: 0, start: 300, finish: 310, name: 3 }, { lane: 1, start: 700, finish: 800 },
  ]);
  const seen = inSight(look, layers, 1000, 100);
  assert.deepEqual(seen.hits.map((hit) => [hit.lane, hit.name]), [[2, 1], [2, 2], [0, 3]]); // the rank's own row is lane 2
  assert.equal(seen.lanes, 3);
  assert.equal(seen.left, 0);
});

test("of many pieces each lane gives its longest", () => {
  const blocks = Array.from({ length: 40 }, (_, k) => ({ lane: 0, start: 10 * k, finish: 10 * k + 1 + (k % 8), name: k }));
  const { look, layers } = looking(0, 1000, [0, 1, 2], blocks);
  const seen = inSight(look, layers, 1000, 15);
  assert.deepEqual(seen.hits.map((hit) => hit.name), [7, 15, 23, 31, 39]);
  assert.equal(seen.left, 35);
});

test("what is scrolled out of sight is not listed", () => {
  const { look, layers } = looking(0, 1000, [0, 1, 2], [{ lane: 2, start: 0, finish: 10 }, { lane: 1, start: 0, finish: 10 }]);
  const [own, stream] = look.rows.rows;
  look.scroll = stream?.y ?? 0;
  assert.ok(own !== undefined && look.scroll >= own.y + own.height);
  const seen = inSight(look, layers, 1000, 10);
  assert.deepEqual(seen.hits.map((hit) => hit.lane), [1]);
});
