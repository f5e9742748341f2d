import assert from "node:assert/strict";
import { test } from "node:test";
import type { Knob } from "./types";
import { nearest, read, readList, settingText, written, writtenList } from "./written";

const knob = (part: Partial<Knob>): Knob => ({ name: "k", label: "k", kind: "slider", show: "number", unit: "", help: "", choices: [], group: "", track: true, ...part });

test("numbers are written as people type them, and read back", () => {
  for (const [value, text] of [[7e9, "7B"], [1.4e12, "1.4T"], [64, "64"], [3600, "3600"], [0.4, "0.4"], [1e11, "100B"], [131072, "131.072k"], [0, "0"]] as const) {
    assert.equal(written(value), text);
    assert.equal(read(text), value);
  }
  for (let k = 0; k < 200; k++) {
    const value = Number((Math.random() * 10 ** (k % 14)).toPrecision(6));
    assert.equal(read(written(value)), value);
  }
});

test("what people type is read, and what is no number is not", () => {
  for (const [text, value] of [["7b", 7e9], ["0.3B", 300000000], ["3,600", 3600], ["3 600", 3600], ["1e12", 1e12], ["40%", 0.4], ["−2", -2], ["2,5", 2.5], [" 300T ", 3e14]] as const) {
    assert.equal(read(text), value, text);
  }
  for (const text of ["", "abc", "7Q", "1..2", "-", "NaN", "Infinity"]) assert.equal(read(text), null, text);
});

test("a setting says its unit", () => {
  assert.equal(settingText(knob({ show: "percent" }), 2 / 3), "66.7 %");
  assert.equal(settingText(knob({ show: "count", unit: "per row" }), 3), "3 per row");
  assert.equal(settingText(knob({ kind: "switch" }), true), "on");
  assert.equal(settingText(knob({ choices: [[null, "as the cap"]] }), null), "as the cap");
});

test("the thumb stands at the nearest stop", () => {
  assert.equal(nearest([0, 0.25, 0.5], 0.3), 1);
  assert.equal(nearest([1, 2, 4, 8], 7), 3);
  assert.equal(nearest([], 7), 0);
});

test("one number or several are typed in one field", () => {
  for (const [text, value] of [["4", 4], ["1, 2,4", [1, 2, 4]], ["0.5 2", [0.5, 2]], ["", null], ["4, x", "4, x"], [" 25 ", 25]] as const) {
    assert.deepEqual(readList(text), value);
  }
  assert.equal(writtenList([1, 2.5, 4]), "1, 2.5, 4");
  assert.equal(writtenList(4), "4");
  assert.equal(writtenList(null), "");
});
