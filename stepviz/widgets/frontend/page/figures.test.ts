import assert from "node:assert/strict";
import { test } from "node:test";
import { daysText, fixed, general, numberText, percent, real, share, shown, Unmeant } from "./figures";

test("numbers are written as Python writes them", () => {
  const cases: [number, string][] = [
    [131072, "131,072"], [666.6667, "667"], [0.004, "0.004"], [4.2e21, "4.2e21"], [0, "0"], [-1234.5, "-1,234"],
    [702450000000000, "7.024e14"], [0.00001, "1e-5"], [999.5, "1,000"], [12.25, "12.2"], [Infinity, "inf"],
  ];
  for (const [value, text] of cases) assert.equal(numberText(value), text);
  assert.equal(daysText(12.6603), "12.66");
  assert.equal(daysText(1266.03), "1,266");
  assert.equal(percent(0.42609), "42.61 %");
});

test("what lies exactly between two goes to the even one", () => {
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(-3.5, 0), "-4");
  assert.equal(fixed(1e22, 2), "10000000000000000000000.00");
  assert.equal(general(1234565, 6), "1.23456e+06");
  assert.equal(general(0.0001, 6), "0.0001");
});

test("what is no number, no share, is said to be none", () => {
  const said = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      if (error instanceof Unmeant) return error.message;
    }
    return "";
  };
  assert.equal(said(() => real("many", "tokens", { above: 0 })), "tokens is 'many': give a number above 0");
  assert.equal(said(() => share(40, "mfu")), "mfu is 40, and a fraction is at most 1: 40 % is 0.4, so 40 % is 0.4");
  assert.equal(shown(1e-7), "1e-07");
});
