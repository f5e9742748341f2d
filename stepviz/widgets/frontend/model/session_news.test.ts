import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdit } from "./edits";
import { answer, fromPython, open, optimizer, revision, shorter } from "./opened";
import { lesson, link, phase, timeline } from "./samples";

test("a timeline from Python is one entry to undo", () => {
  const { model, session } = open();
  session.apply(shorter);
  model.update({ _answer: answer(session.doc, revision(model)) });
  const other = timeline([phase("a", 5)]);
  session.selected = "exchange";
  fromPython(model, other);
  assert.equal(session.solved.completion, 5);
  assert.equal(session.selected, null);
  assert.equal(session.undoLabel, "timeline from Python");
  assert.equal(session.status.kernel, "live");
  session.undo();
  assert.equal(session.solved.completion, 725);
  assert.equal(model.get("value"), session.doc);
  session.undo();
  assert.equal(session.solved.completion, 750);
});

test("a timeline that comes during a drag waits, and the drag is put on top of it", () => {
  const { model, session } = open();
  const gesture = session.begin("drag exchange");
  gesture.preview(shorter);
  fromPython(model, applyEdit(lesson(), optimizer));
  assert.equal(session.shown.completion, 725); // nothing moves under the hand
  gesture.preview({ ...shorter, duration: 320 });
  gesture.commit();
  assert.equal(session.solved.completion, 670);
  assert.equal(session.undoLabel, "exchange 350 → 320 ms");
  session.undo();
  assert.equal(session.solved.completion, 700);
  session.undo();
  assert.equal(session.solved.completion, 750);
});

test("a drag that no longer fits is refused aloud", () => {
  const { model, session } = open();
  const gesture = session.begin("drag exchange");
  gesture.preview(shorter);
  fromPython(model, timeline([phase("a", 5)]));
  gesture.commit();
  assert.equal(session.solved.completion, 5);
  assert.equal(session.status.level, "refused");
  assert.match(session.status.message!, /no longer fits: There is no phase called “exchange”/);
});

test("a dragged arrow is found again by its ends", () => {
  const { model, session } = open();
  const gesture = session.begin("drag a lag");
  gesture.preview({ op: "relink", row: 0, changes: { lag: 75 } });
  const doc = lesson();
  fromPython(model, { ...doc, dependencies: [...doc.dependencies].reverse() });
  gesture.commit();
  assert.deepEqual(
    session.doc.dependencies.map((d) => d.lag),
    [0, 0, 75],
  );
});

test("a cancelled drag gives way to what came meanwhile", () => {
  const { model, session } = open();
  const gesture = session.begin("drag exchange");
  gesture.preview(shorter);
  fromPython(model, timeline([phase("a", 5)]));
  gesture.cancel();
  assert.equal(session.shown.completion, 5);
});

test("a linked widget of the page changes the value without Python", async () => {
  const { model, session } = open(lesson(), {}, false);
  const other = applyEdit(lesson(), optimizer);
  model.set("value", other);
  assert.equal(session.solved.completion, 700);
  assert.equal(session.undoLabel, "timeline from a linked widget");
  await Promise.resolve();
  session.undo();
  assert.equal(session.solved.completion, 750);
});

test("after a link, Python hears which revision the value is", async () => {
  const { model, session } = open();
  model.set("value", applyEdit(lesson(), optimizer));
  model.save_changes(); // as the link does
  await Promise.resolve();
  assert.deepEqual(Object.keys(model.saves.at(-1)!), ["_revision"]);
  model.update({ _answer: answer(session.doc, revision(model)) });
  assert.equal(session.status.kernel, "live");
});

test("a phase chosen by name is followed through a new name, and back", () => {
  const { model, session } = open(lesson(), { selected: "exchange" });
  session.apply({ op: "update", phase: "exchange", changes: { phase: "reduce" } });
  assert.equal(model.get("selected"), "reduce");
  session.undo();
  assert.equal(model.get("selected"), "exchange");
});

test("nonsense from a link is refused, and the last good value put back", async () => {
  const { model, session } = open();
  model.set("value", timeline([phase("a", 1), phase("b", 1)], [link("a", "b"), link("b", "a")]));
  assert.match(session.status.message!, /circle: “a” → “b” → “a”|circle: “b” → “a” → “b”/);
  await Promise.resolve();
  assert.deepEqual(model.get("value"), lesson());
  assert.equal(session.solved.completion, 750);
});

test("another window's edit is taken over", () => {
  const { model, session } = open();
  const theirs = { page: "other", number: 7 };
  model.update({ value: applyEdit(lesson(), optimizer), _revision: theirs });
  assert.equal(session.solved.completion, 700);
  assert.equal(session.undoLabel, "timeline from another window");
  model.update({ _answer: answer(session.doc, theirs) });
  assert.equal(session.status.kernel, "live");
});

test("scenarios, baseline, selection and height come from Python too", () => {
  const { model, session, heard } = open();
  const fast = applyEdit(lesson(), optimizer);
  model.update({ scenarios: { A: lesson(), fast }, baseline: fast });
  assert.deepEqual(session.scenarioNames, ["A", "fast"]);
  assert.equal(session.baselineName, "fast");
  model.update({ selected: "exchange" });
  assert.equal(session.selected, "exchange");
  model.update({ selected: "nothing" });
  assert.equal(session.selected, null);
  model.update({ height: 300 });
  assert.equal(session.height, 300);
  assert.deepEqual(new Set(heard), new Set(["scenarios", "selected", "height"]));
});

test("a renamed phase stays selected", () => {
  const { model, session } = open();
  session.selected = "exchange";
  session.apply({ op: "update", phase: "exchange", changes: { phase: "all-reduce" } });
  assert.equal(session.selected, "all-reduce");
  assert.equal(model.saves.length, 2);
  session.apply({ op: "remove", phases: ["all-reduce"] });
  assert.equal(model.get("selected"), null);
});
