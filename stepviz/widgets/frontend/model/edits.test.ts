import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdit, describe, type Edit, rebase, sameDoc, toPython } from "./edits";
import { lesson, link, phase, timeline } from "./samples";
import { solve } from "./solver";
import { Refused, type TimelineDoc } from "./types";

const refused = (edit: Edit, message: RegExp, doc: TimelineDoc = lesson()): void => {
  const before = JSON.stringify(doc);
  assert.throws(
    () => applyEdit(doc, edit),
    (error: Error) => error instanceof Refused && message.test(error.message),
  );
  assert.equal(JSON.stringify(doc), before);
};

test("edits leave the document before them alone, and give itself where nothing changes", () => {
  const doc = lesson();
  const before = JSON.stringify(doc);
  const next = applyEdit(doc, { op: "duration", phase: "exchange", duration: 325 });
  assert.equal(JSON.stringify(doc), before);
  assert.equal(solve(next).completion, 725);
  const nothing: Edit[] = [
    { op: "duration", phase: "exchange", duration: 350 },
    { op: "release", phase: "exchange", release: 0 },
    { op: "update", phase: "exchange", changes: { kind: "exchange" } },
    { op: "scale", phases: ["forward"], factor: 1 },
    { op: "scale", phases: [], factor: 0.5 },
    { op: "remove", phases: [] },
    { op: "relink", row: 0, changes: { lag: 100 } },
    { op: "reorder", phase: "forward", before: "backward" },
    { op: "reorder", phase: "optimizer", before: null },
    { op: "target", target: null },
    { op: "replace", doc: lesson() },
    { op: "many", edits: [] },
  ];
  for (const edit of nothing) assert.equal(applyEdit(doc, edit), doc, edit.op);
});

test("numbers that mean nothing are refused", () => {
  for (const bad of [-1, Number.NaN, Infinity]) {
    refused({ op: "duration", phase: "exchange", duration: bad }, /duration of “exchange”/);
    refused({ op: "release", phase: "exchange", release: bad }, /release of “exchange”/);
    refused({ op: "scale", phases: ["exchange"], factor: bad }, /factor/);
  }
  refused({ op: "relink", row: 0, changes: { lag: Number.NaN } }, /lag of “forward” → “exchange”/);
  refused({ op: "scale", phases: ["exchange"], factor: 1e308 }, /duration of “exchange”/);
});

test("unknown things are refused by name", () => {
  refused({ op: "duration", phase: "nix", duration: 1 }, /no phase called “nix”/);
  refused({ op: "remove", phases: ["nix"] }, /“nix”/);
  refused({ op: "disconnect", row: 9 }, /no longer there/);
  refused({ op: "connect", dependency: link("forward", "nix") }, /“nix”/);
  refused({ op: "target", target: "nix" }, /“nix”/);
  refused({ op: "add", phase: phase("a", 1), after: "nix" }, /“nix”/);
});

test("a circle is refused, its phases named, and the lane that takes part", () => {
  refused(
    { op: "connect", dependency: link("optimizer", "exchange") },
    /circle: “(optimizer” → “exchange|exchange” → “optimizer).*Take one of these dependencies out/,
  );
  refused(
    { op: "connect", dependency: link("optimizer", "forward") },
    /lane “compute” takes part \(“forward” comes before “backward”\)/,
  );
  refused({ op: "connect", dependency: link("forward", "forward") }, /can’t depend on itself/);
});

test("a dependency between neighbours of a lane replaces the lane's own", () => {
  const doc = applyEdit(lesson(), {
    op: "connect",
    dependency: link("forward", "backward", { type: "SS", lag: 50 }),
  });
  const solved = solve(doc);
  assert.equal(solved.start[solved.index.get("backward")!], 50);
  assert.equal(solved.dependencies.filter((d) => d.origin === "lane").length, 0);
});

test("a phase is added, renamed, moved to a group and back", () => {
  let doc = applyEdit(lesson(), { op: "add", phase: phase("checkpoint", 5), after: "optimizer" });
  assert.equal(doc.phases[3]!.phase, "checkpoint");
  refused({ op: "add", phase: phase("forward", 1) }, /already a phase called “forward”/, doc);
  refused({ op: "add", phase: phase("", 1) }, /name that is not empty/, doc);
  doc = applyEdit(doc, { op: "target", target: "optimizer" });
  doc = applyEdit(doc, { op: "update", phase: "optimizer", changes: { phase: "update" } });
  assert.equal(doc.target, "update");
  assert.deepEqual(doc.dependencies.map((d) => d.target), ["exchange", "update", "update"]);
  refused({ op: "update", phase: "update", changes: { phase: "forward" } }, /already/, doc);
  doc = applyEdit(doc, { op: "update", phase: "exchange", changes: { members: [1, 0, 1] } });
  assert.deepEqual([doc.phases[4]!.rank, doc.phases[4]!.members], [null, [0, 1]]);
  refused({ op: "update", phase: "exchange", changes: { members: [] } }, /at least one rank/, doc);
  doc = applyEdit(doc, { op: "update", phase: "exchange", changes: { rank: 2 } });
  assert.deepEqual([doc.phases[4]!.rank, doc.phases[4]!.members], [2, undefined]);
  doc = applyEdit(doc, { op: "update", phase: "exchange", changes: { lane: "" } });
  assert.equal(doc.phases[4]!.lane, null);
});

test("phases are deleted with their dependencies, but never the target or the last one", () => {
  const doc = applyEdit(lesson(), { op: "remove", phases: ["exchange"] });
  assert.deepEqual(doc.dependencies, [link("backward", "optimizer")]);
  refused({ op: "remove", phases: lesson().phases.map((p) => p.phase) }, /at least one phase/);
  const aimed = { ...lesson(), target: "optimizer" };
  refused({ op: "remove", phases: ["optimizer"] }, /is the target/, aimed);
});

test("several phases are scaled together", () => {
  const doc = applyEdit(lesson(), { op: "scale", phases: ["forward", "backward"], factor: 0.5 });
  assert.deepEqual(doc.phases.map((p) => p.duration), [100, 200, 100, 350]);
});

test("a dependency is re-attached, retyped, doubled never", () => {
  let doc = applyEdit(lesson(), { op: "relink", row: 0, changes: { source: "backward", type: "SS" } });
  // It stands last then, as in Python, where it is disconnected and connected anew.
  assert.deepEqual(doc.dependencies[2], link("backward", "exchange", { type: "SS", lag: 100 }));
  refused({ op: "relink", row: 0, changes: { source: "exchange" } }, /is there already/, doc);
  refused({ op: "connect", dependency: link("exchange", "optimizer") }, /is there already/, doc);
  doc = applyEdit(doc, { op: "disconnect", row: 2 });
  assert.equal(doc.dependencies.length, 2);
});

test("the order of a lane changes, and only within the lane", () => {
  const doc = timeline([
    phase("a", 1, { lane: "x" }),
    phase("other", 1, { lane: "y" }),
    phase("b", 1, { lane: "x" }),
    phase("c", 1, { lane: "x" }),
  ]);
  const order = (d: TimelineDoc) => d.phases.map((p) => p.phase).join(" ");
  assert.equal(order(applyEdit(doc, { op: "reorder", phase: "c", before: "a" })), "c a other b");
  assert.equal(order(applyEdit(doc, { op: "reorder", phase: "a", before: "c" })), "other b a c");
  assert.equal(order(applyEdit(doc, { op: "reorder", phase: "a", before: null })), "other b c a");
  refused({ op: "reorder", phase: "a", before: "other" }, /in another lane/, doc);
  const tied = applyEdit(doc, { op: "connect", dependency: link("b", "c") });
  refused({ op: "reorder", phase: "c", before: "a" }, /circle/, tied);
  refused({ op: "reorder", phase: "d", before: null }, /no lane/, timeline([phase("d", 1)]));
});

test("an edit finds its dependency again in another document", () => {
  const from = lesson();
  const onto = { ...from, dependencies: [link("forward", "backward"), ...from.dependencies] };
  assert.deepEqual(rebase({ op: "disconnect", row: 0 }, from, onto), { op: "disconnect", row: 1 });
  const gone = { ...from, dependencies: [] };
  assert.throws(() => rebase({ op: "disconnect", row: 0 }, from, gone), /no longer there/);
  const many: Edit = { op: "many", edits: [{ op: "disconnect", row: 0 }, { op: "disconnect", row: 0 }] };
  assert.deepEqual(applyEdit(onto, rebase(many, from, onto)).dependencies, [
    link("forward", "backward"),
    link("exchange", "optimizer"),
  ]);
});

test("edits are described in a few words", () => {
  const said = (edit: Edit) => describe(edit, lesson());
  assert.equal(said({ op: "duration", phase: "exchange", duration: 325.25 }), "exchange 350 → 325.25 ms");
  assert.equal(said({ op: "release", phase: "exchange", release: 80 }), "pin exchange at 80 ms");
  assert.equal(said({ op: "release", phase: "exchange", release: 0 }), "unpin exchange");
  assert.equal(said({ op: "scale", phases: ["a", "b", "c", "d"], factor: 0.9 }), "a, b and 2 more × 0.9");
  assert.equal(
    said({ op: "relink", row: 0, changes: { lag: -5 } }),
    "lag forward → exchange: 100 → −5 ms",
  );
  assert.equal(
    said({ op: "relink", row: 0, changes: { type: "SS" } }),
    "forward → exchange: FS +100 → SS +100",
  );
  assert.equal(said({ op: "disconnect", row: 1 }), "disconnect backward → optimizer (FS)");
  assert.equal(
    said({ op: "update", phase: "exchange", changes: { phase: "x", kind: "other", lane: null } }),
    "rename exchange to x, exchange is other, exchange without a lane",
  );
  assert.equal(said({ op: "duration", phase: "gone", duration: 1 }), "duration");
});

test("edits are written as Python", () => {
  const written = (...edits: Edit[]) => toPython(lesson(), edits).trimEnd();
  assert.equal(
    written({ op: "duration", phase: "exchange", duration: 325 }),
    'timeline = timeline.with_duration("exchange", 325.0)',
  );
  assert.equal(
    written({ op: "scale", phases: ["backward"], factor: 0.9 }),
    'timeline = timeline.scale("backward", factor=0.9)',
  );
  assert.equal(
    written({ op: "relink", row: 0, changes: { lag: 75 } }),
    'timeline = timeline.with_lag("forward", "exchange", 75.0, type="FS")',
  );
  assert.equal(
    written({ op: "duration", phase: "exchange", duration: 350 }),
    "",
  );
  const evil = 'a"b\\c\nd\u2028é\u0000';
  assert.equal(
    written({ op: "update", phase: "exchange", changes: { phase: evil } }),
    'timeline = timeline.with_phase("exchange", rename="a\\"b\\\\c\\nd\u2028é\\u0000")',
  );
});

test("documents are compared by value", () => {
  assert.ok(sameDoc(lesson(), lesson()));
  assert.ok(!sameDoc(lesson(), { ...lesson(), name: "other" }));
  const grouped = (members: number[]) => timeline([phase("a", 1, { rank: null, members })]);
  assert.ok(!sameDoc(grouped([0, 1]), grouped([0, 2])));
});
