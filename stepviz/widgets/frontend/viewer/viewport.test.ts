import assert from "node:assert/strict";
import { test } from "node:test";
import { around, fitted, limitsOf, panned, showing, towards, within, zoomed } from "./viewport";

const LIMITS = limitsOf(0, 1_000_000);
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

test("zooming keeps the time under the pointer where it is", () => {
  const range = { start: 200_000, finish: 600_000 };
  const time = 300_000;
  for (const factor of [1.5, 1 / 1.2, 40]) {
    const next = zoomed(range, time, factor, LIMITS);
    near((time - next.start) / (next.finish - next.start), 0.25);
    near(next.finish - next.start, 400_000 / factor);
  }
});

test("neither zooming nor moving leaves the limits, and zooming stops close by", () => {
  const whole = zoomed({ start: 100, finish: 200 }, 150, 1e-9, LIMITS);
  assert.deepEqual(whole, { start: LIMITS.start, finish: LIMITS.finish });
  const closest = zoomed(fitted(1_000_000), 500_000, 1e12, LIMITS);
  near(closest.finish - closest.start, 40);
  const right = panned({ start: 900_000, finish: 1_000_000 }, 1e9, LIMITS);
  near(right.finish, LIMITS.finish);
  near(right.finish - right.start, 100_000);
  const left = within({ start: -9e9, finish: -9e9 + 10_000 }, LIMITS);
  near(left.start, LIMITS.start);
});

test("showing a piece moves no more than it must", () => {
  const range = { start: 100_000, finish: 200_000 };
  assert.deepEqual(showing(range, 120_000, 150_000, LIMITS), range);
  const away = showing(range, 500_000, 530_000, LIMITS);
  near((away.start + away.finish) / 2, 515_000);
  near(away.finish - away.start, 100_000);
  const tiny = showing(range, 150_000, 150_001, LIMITS);
  assert.ok(tiny.finish - tiny.start < 100_000);
  assert.ok(tiny.start < 150_000 && tiny.finish > 150_001);
  const long = showing(range, 0, 900_000, LIMITS);
  assert.ok(long.start <= 0 && long.finish >= 900_000);
});

test("a piece and what is beside it", () => {
  assert.deepEqual(around(400_000, 410_000, LIMITS), { start: 390_000, finish: 420_000 });
});

test("gliding ends where it should, exactly", () => {
  let range = { start: 0, finish: 1_000_000 };
  const target = { start: 400_000, finish: 400_100 };
  let frames = 0;
  while (range !== target && frames < 200) {
    range = towards(range, target, 0.3, 1000);
    frames++;
  }
  assert.equal(range, target);
  assert.ok(frames < 80, String(frames));
});
