import assert from "node:assert/strict";
import { test } from "node:test";
import { command, type Commands } from "./keys";
import { layer, scene } from "./fixtures";
import { luminance, mixed, parsed } from "./palette";
import { pathRuns, stays } from "./path";
import { Look } from "./state";
import { PATH } from "./types";
import { duration, Fitter, moment, telling } from "./words";

test("times are written in the unit that fits, moments exactly", () => {
  assert.deepEqual([0, 450, 3200, 45_678, 123_456, 12_345_678, 219_787_999, 2_500_000_000].map(duration),
    ["0 ns", "450 ns", "3.2 µs", "45.68 µs", "123.5 µs", "12.346 ms", "219.79 ms", "2.5 s"]);
  assert.equal(moment(1_000_001), "1.000001 ms");
  assert.equal(moment(-400_000), "−0.4 ms");
});

test("of a kernel's name the telling part is kept", () => {
  assert.equal(telling("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1>>(int, float)"),
    "vectorized_elementwise_kernel");
  assert.equal(telling("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)"), "multi_tensor_apply_kernel");
  for (const name of ["aten::mm", "volta_sgemm_128x64_nn", "autograd::engine::evaluate_function: MmBackward0", "ddp_exchange#0", "<lambda>"]) {
    assert.equal(telling(name), name);
  }
});

test("names are cut where they don't fit", () => {
  const fitter = new Fitter(() => 10);
  assert.equal(fitter.fit("backward", 80), "backward");
  assert.equal(fitter.fit("backward", 55), "back…");
  assert.equal(fitter.fit("backward", 25), "");
  assert.equal(fitter.fit("void ns::fill<int>(float)", 60), "fill");
});

test("colours are read in the forms browsers give them", () => {
  assert.deepEqual(parsed("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.deepEqual(parsed("rgba(255, 255, 255, 0.87)"), [255, 255, 255]);
  assert.deepEqual(parsed("color(srgb 1 0.5 0)"), [255, 127.5, 0]);
  assert.deepEqual(mixed([200, 0, 0], [0, 0, 100], 0.5), [100, 0, 50]);
  assert.ok(luminance([255, 255, 255]) > 0.99 && luminance([0, 0, 0]) < 0.01);
});

test("the path's rail stays through gaps and short visits, and goes from rank to rank", () => {
  const look = new Look(scene(2, 3));
  look.width = 1000;
  look.range = look.target = { start: 0, finish: 1000 };
  const piece = (start: number, finish: number, at: number, shown: number) => ({ lane: PATH, start, finish, at, shown });
  const rail = (blocks: ReturnType<typeof piece>[]): [number, number, number][] =>
    stays(look, layer(blocks, { lanes: [PATH] })).map(({ from, to, rail: row }) => [from, to, row.lane]);
  // A gap (no lane) beside the stream belongs to the stream; depths of one thread share a rail.
  assert.deepEqual(rail([piece(0, 300, 0, 0), piece(300, 400, -1, 0), piece(400, 500, 0, 0)]), [[0, 500, 0]]);
  assert.deepEqual(rail([piece(0, 300, 1, 0), piece(300, 600, 3, 0)]), [[0, 600, 1]]);
  assert.deepEqual(rail([piece(0, 300, 0, 0), piece(300, 1000, 6, 1)]), [[0, 300, 0], [300, 1000, 6]]);
  assert.deepEqual(rail([piece(0, 300, 0, 0), piece(300, 303, 1, 0), piece(303, 900, 0, 0)]), [[0, 900, 0]]);
  // A gap between a thread's rows belongs to the thread.
  assert.deepEqual(rail([piece(0, 300, 0, 0), piece(300, 600, -2 - 1, 0)]), [[0, 300, 0], [300, 600, 1]]);
  // A late start runs nowhere: in the rank's own row.
  assert.deepEqual(rail([piece(0, 500, -1, 1), piece(500, 900, 6, 1)]), [[0, 500, 11], [500, 900, 6]]);
});

test("the path's row says what goes on for long", () => {
  const look = new Look(scene(2, 3));
  look.width = 1000;
  look.range = look.target = { start: 0, finish: 1000 };
  const piece = (start: number, finish: number, kind: number, shown = 0) => ({ lane: PATH, start, finish, kind, shown, at: -1 });
  const many = Array.from({ length: 100 }, (_, k) => piece(4 * k, 4 * k + 4, k % 10 === 9 ? 1 : 0));
  const runs = pathRuns(look, layer([...many, piece(400, 700, 1), piece(700, 900, 1, 1)], { lanes: [PATH] }));
  assert.deepEqual(runs.filter((run) => run.to - run.from > 50).map(({ from, to, kind, rank }) => [from, to, kind, rank]),
    [[0, 396, 0, 0], [396, 700, 1, 0], [700, 900, 1, 1]]);
});

test("keys are commands, but with Ctrl they are the notebook's", () => {
  const done: string[] = [];
  const to = new Proxy({}, { get: (_, name) => (...given: unknown[]) => done.push([String(name), ...given].join(" ")) }) as Commands;
  const press = (key: string, more: object = {}): boolean => {
    const run = command({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }, to);
    run?.();
    return run !== null;
  };
  for (const key of ["w", "s", "a", "d", "ArrowLeft", "ArrowUp", "0", "Home", "/", "Escape", "]", "n"]) assert.ok(press(key), key);
  assert.ok(press("ArrowRight", { shiftKey: true }) && press("N", { shiftKey: true }));
  assert.deepEqual(done.map((said) => said.split(" ")[0]), ["zoom", "zoom", "pan", "pan", "pan", "scroll", "fit", "fit", "search", "escape", "path", "match", "along", "match"]);
  assert.equal(done.at(-1), "match -1");
  assert.ok(!press("s", { ctrlKey: true }) && !press("a", { metaKey: true }) && !press("x") && !press("Tab"));
});
