import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, exact, number, parse, percent, signed, speedup } from "./format";
import { fitEnd, niceStep, snap, snapStep, ticks, TimeScale } from "./scale";

test("a scale goes there and back", () => {
  const scale = new TimeScale(110, 810, 0.875, 40);
  assert.equal(scale.x(40), 110);
  assert.equal(scale.time(scale.x(333.25)), 333.25);
  assert.equal(scale.end, 840);
});

test("steps are 1, 2 or 5 times a power of ten, at least as wide as asked", () => {
  for (const [least, step] of [[0.9, 1], [1, 1], [1.1, 2], [2.5, 5], [60, 100], [0.03, 0.05]] as const) {
    assert.ok(Math.abs(niceStep(least) - step) < 1e-12, `${least} → ${niceStep(least)}`);
  }
});

test("ticks keep their distance, from a microsecond to hours", () => {
  for (const pxPerMs of [1e-6, 0.0123, 0.9, 7, 1234, 1e6]) {
    const scale = new TimeScale(100, 900, pxPerMs, 3 / pxPerMs);
    const { times, step } = ticks(scale);
    assert.ok(step * pxPerMs >= 76 - 1e-6 && step * pxPerMs < 76 * 2.6);
    assert.ok(times.length >= 3 && times.length <= 11);
    for (const time of times) assert.ok(scale.x(time) >= 99.9 && scale.x(time) <= 900.1);
  }
});

test("the fitted plot shows a little more than the step", () => {
  for (const latest of [0.04, 1, 750, 99_999]) {
    assert.ok(fitEnd(latest) >= 1.06 * latest * (1 - 1e-9));
    assert.ok(fitEnd(latest) <= 1.27 * latest);
  }
  assert.ok(fitEnd(0) > 0);
});

test("values snap to whole ms while a ms is coarse, and finer when it is wide", () => {
  assert.equal(snapStep(0.9), 1);
  assert.equal(snapStep(8), 1);
  assert.equal(snapStep(80), 0.1);
  assert.equal(snapStep(800), 0.01);
  assert.equal(snap(322.6, 4), 323);
  assert.equal(snap(325.7, 0.9), 325); // a pixel from a multiple of five
  assert.equal(snap(349.5, 0.9, [351.5]), 351.5); // near where it was in the baseline
  assert.equal(snap(0.1234, 1000), 0.123);
});

test("numbers are written with the decimals their size deserves", () => {
  assert.equal(number(1050), "1,050");
  assert.equal(number(746.4285714), "746.43");
  assert.equal(number(0.0123), "0.0123");
  assert.equal(number(-25), "−25");
  assert.equal(number(-0.0000001), "−0.0000001");
  assert.equal(number(1e-4), "0.0001");
  assert.equal(number(1.23456e-5), "0.0000123");
  assert.equal(number(-5e-14), "0"); // what rounding left
  assert.equal(number(1e6), "1,000,000");
  assert.equal(brief(0.0123456), "0.0123");
  assert.equal(number(Infinity), "∞");
  assert.equal(brief(12.345), "12.3");
  assert.equal(signed(80), "+80");
  assert.equal(signed(-1e-12), "±0");
  assert.equal(percent(-25, 750), "−3.3 %");
  assert.equal(percent(1, 1e6), "+0.0001 %");
  assert.equal(exact(1e-7), "0.0000001");
  assert.equal(exact(0.1 + 0.2), "0.3");
  assert.equal(exact(1234567), "1234567");
  assert.equal(speedup(750, 725), "1.034×");
});

test("typed numbers are read in any of the usual spellings", () => {
  for (const [typed, value] of [["325", 325], [" 0.04 ms", 0.04], ["1,050", 1050], ["12,5", 12.5],
    ["−3", -3], ["1e3", 1000]] as const) assert.equal(parse(typed), value, typed);
  for (const typed of ["", "ms", "three", "1.2.3", "NaN", "Infinity"]) assert.equal(parse(typed), null, typed);
});
