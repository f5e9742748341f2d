import assert from "node:assert/strict";
import { test } from "node:test";
import { command, type Commands, HELP } from "./keys";

const NAMED = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Enter", "Escape", "Tab", "Delete", "Backspace", " "];
const PRINTABLE = Array.from({ length: 95 }, (_, k) => String.fromCharCode(32 + k));
/** How help writes some keys; what is not here is written as it is. */
const WRITTEN: Readonly<Record<string, string>> = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", "-": "−", _: "−", "=": "+", PageUp: "Page", PageDown: "Page",
};

const pressed = (key: string, shiftKey = false) => ({ key, shiftKey, ctrlKey: false, metaKey: false, altKey: false });
const nothing = new Proxy({}, { get: () => () => undefined }) as Commands;

test("every key that does something is in the help", () => {
  const told = HELP.map(([keys]) => keys.split(/[\s,]+/)).flat();
  const known = [...NAMED, ...PRINTABLE].filter((key) => command(pressed(key), nothing) !== null);
  assert.ok(known.length > 20);
  const untold = known.map((key) => WRITTEN[key] ?? (key.length === 1 ? key.toUpperCase() : key)).filter((key) => !told.includes(key));
  assert.deepEqual(untold, []);
});

test("keys of the host stay the host's", () => {
  for (const key of [...NAMED, ...PRINTABLE]) {
    for (const held of ["ctrlKey", "metaKey", "altKey"] as const) assert.equal(command({ ...pressed(key), [held]: true }, nothing), null);
  }
  assert.equal(command(pressed("Tab"), nothing), null);
});
