// Python's answers to settings (tests/widgets/page_cases.json): a page says the same.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Settings } from "../knobs/types";
import { Unmeant } from "./figures";
import { picturesOf } from "./makers";

interface Case { settings: Settings; answer: Record<string, unknown> }

const path = new URL("../../../tests/widgets/page_cases.json", `file://${process.cwd()}/`);
const files = JSON.parse(readFileSync(path, "utf8")) as { kernel: string; given: unknown; cases: Case[] }[];

/** Where two answers differ: texts as they are, numbers to 1e-9. */
function difference(page: unknown, python: unknown, where = ""): string {
  if (typeof page === "number" && typeof python === "number") {
    return Math.abs(page - python) <= 1e-9 * Math.max(1, Math.abs(python)) ? "" : `${where}: ${page}, not ${python}`;
  }
  if (typeof python !== "object" || python === null || typeof page !== "object" || page === null) {
    return page === python ? "" : `${where}: ${String(page)}, not ${String(python)}`;
  }
  const keys = new Set([...Object.keys(page), ...Object.keys(python)]);
  for (const key of keys) {
    const found = difference((page as Record<string, unknown>)[key], (python as Record<string, unknown>)[key], `${where}.${key}`);
    if (found !== "") return found;
  }
  return "";
}

files.forEach(({ kernel, given, cases }, file) => {
  test(`${kernel}, file ${file}: as Python answered`, async () => {
    const pictures = await picturesOf(kernel, given);
    for (const { settings, answer } of cases) {
      let said: Record<string, unknown>;
      try {
        const value = pictures.completed(settings);
        const picture: Record<string, unknown> = { ...pictures.picture(value), stops: pictures.stops(value) };
        said = Object.fromEntries(Object.keys(answer).map((name) => [name, picture[name]]));
      } catch (error) {
        if (!(error instanceof Unmeant)) throw error;
        said = { problem: error.message };
      }
      assert.equal(difference(said, answer), "", JSON.stringify(settings));
    }
  });
});
