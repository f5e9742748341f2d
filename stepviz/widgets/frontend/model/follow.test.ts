import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdit, type Edit } from "./edits";
import { followLink, followPhase, linkName, linkRow } from "./follow";
import { lesson, link, timeline } from "./samples";
import type { TimelineDoc } from "./types";

/** Where the dependency of a row is after an edit. */
function after(row: number, edit: Edit, doc = lesson()): number | null {
  return followLink(row, doc, applyEdit(doc, edit));
}

test("a dependency is followed by its ends and type, not by its row", () => {
  const doc = lesson();
  const turned = { ...doc, dependencies: [...doc.dependencies].reverse() };
  assert.equal(followLink(0, doc, turned), 2);
  assert.equal(after(2, { op: "disconnect", row: 0 }), 1);
  assert.equal(after(0, { op: "disconnect", row: 0 }), null);
  assert.equal(after(1, { op: "remove", phases: ["optimizer"] }), null);
  assert.equal(after(0, { op: "relink", row: 0, changes: { lag: 5 } }), 0);
});

test("a dependency is followed when it is retyped, re-attached, or an end of it renamed", () => {
  assert.equal(after(0, { op: "relink", row: 0, changes: { type: "SS" } }), 2);
  assert.equal(after(1, { op: "relink", row: 0, changes: { type: "SS" } }), 0);
  assert.equal(after(0, { op: "relink", row: 0, changes: { source: "backward" } }), 2);
  assert.equal(after(2, { op: "update", phase: "exchange", changes: { phase: "x" } }), 2);
});

test("of dependencies alike the same one is meant", () => {
  const doc = timeline(lesson().phases, [
    link("forward", "exchange", { lag: 1 }), link("backward", "optimizer"), link("forward", "exchange", { lag: 2 }),
  ]);
  const name = linkName(doc, 2)!;
  assert.equal(name.nth, 1);
  assert.equal(linkRow(doc, name), 2);
  assert.equal(linkRow(lesson(), name), -1);
});

test("a phase is followed through a new name only", () => {
  const was = lesson();
  const named = (doc: TimelineDoc) => followPhase("exchange", was, doc);
  assert.equal(named(was), "exchange");
  assert.equal(named(applyEdit(was, { op: "update", phase: "exchange", changes: { phase: "x" } })), "x");
  assert.equal(named(applyEdit(was, { op: "remove", phases: ["exchange"] })), null);
  const many: Edit[] = ["exchange", "forward"].map((phase) => ({ op: "update", phase, changes: { phase: `${phase}!` } }));
  assert.equal(named(applyEdit(was, { op: "many", edits: many })), null);
});
