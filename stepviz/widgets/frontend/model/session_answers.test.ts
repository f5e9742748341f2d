import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { applyEdit } from "./edits";
import { answer, fromPython, open, optimizer, revision, shorter } from "./opened";
import { lesson, phase, timeline } from "./samples";
import { PATIENCE } from "./session";

test("Python's answer is compared to the last bit, and wins", () => {
  const { model, session } = open();
  session.apply(shorter);
  assert.equal(session.status.kernel, "waiting");
  model.update({ _answer: answer(session.doc, revision(model)) });
  assert.deepEqual(session.status, { kernel: "live", message: null, level: "info" });
  session.apply(optimizer);
  const off = { ...answer(session.doc, revision(model)), completion: 676 };
  model.update({ _answer: off });
  assert.equal(session.solved.completion, 676);
  assert.match(session.status.message!, /Python’s schedule \(676 ms\) differs/);
});

test("stale answers are dropped", () => {
  const { model, session } = open();
  session.apply(shorter);
  const first = revision(model);
  session.apply(optimizer);
  model.update({ _answer: { ...answer(lesson(), first), completion: 1 } });
  assert.equal(session.solved.completion, 675);
  assert.equal(session.status.kernel, "waiting");
  model.update({ _answer: answer(session.doc, revision(model)) });
  assert.equal(session.status.kernel, "live");
});

test("a kernel that does not answer is said to be silent, and may come back", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { model, session } = open();
    session.apply(shorter);
    mock.timers.tick(PATIENCE - 1);
    assert.equal(session.status.kernel, "waiting");
    mock.timers.tick(1);
    assert.equal(session.status.kernel, "silent");
    assert.match(session.status.message!, /your edits stay here/);
    session.apply(optimizer); // still possible
    assert.equal(session.solved.completion, 675);
    model.update({ _answer: answer(session.doc, revision(model)) });
    assert.deepEqual(session.status, { kernel: "live", message: null, level: "info" });
  } finally {
    mock.timers.reset();
  }
});

test("a page without a kernel waits for none", () => {
  const { session } = open(lesson(), {}, false);
  session.apply(shorter);
  assert.equal(session.status.kernel, "none");
  session.undo();
  assert.equal(session.solved.completion, 750);
});

test("a commit that Python had not seen when it set a timeline is made again on that", () => {
  const { model, session } = open();
  session.apply(shorter); // on its way
  const sent = revision(model);
  fromPython(model, applyEdit(lesson(), optimizer));
  assert.equal(session.solved.completion, 675);
  assert.notDeepEqual(revision(model), sent);
  assert.equal(model.get("value"), session.doc); // Python will end with the same
  model.update({ _answer: answer(applyEdit(lesson(), shorter), sent) });
  assert.equal(session.status.kernel, "waiting"); // that one is stale
  model.update({ _answer: answer(session.doc, revision(model)) });
  assert.equal(session.status.kernel, "live");
  session.undo();
  assert.equal(session.solved.completion, 700);
});

test("an undo that Python had not seen gives way to its timeline, aloud", () => {
  const { model, session } = open();
  session.apply(shorter);
  model.update({ _answer: answer(session.doc, revision(model)) });
  session.undo();
  const other = timeline([phase("a", 5)]);
  fromPython(model, other);
  assert.equal(session.solved.completion, 5);
  assert.equal(session.status.level, "refused");
  assert.equal(model.get("value"), session.doc); // and Python gets it once more
  assert.equal(revision(model).page !== "", true);
});

test("what Python refuses is taken back", () => {
  const { model, session } = open();
  session.apply(optimizer);
  model.update({ _answer: answer(session.doc, revision(model)) });
  const good = session.doc;
  session.apply(shorter);
  fromPython(model, { ...good }, { rejected: revision(model), error: "no such thing" });
  assert.equal(session.solved.completion, 700);
  assert.match(session.status.message!, /no such thing/);
  assert.equal(session.status.level, "error");
  assert.equal(session.undoLabel, "optimizer 100 → 50 ms");
});

test("an answer is compared only with the timeline it is about", async () => {
  const first = lesson();
  const { model, session } = open(first, { _answer: answer(lesson(), { page: "", number: 1 }) });
  model.set("value", applyEdit(first, shorter)); // a link brings no revision
  assert.equal(session.status.message, null);
  await Promise.resolve();
  const old = { page: "", number: 1 };
  model.update({ _answer: answer(applyEdit(first, shorter), old) }); // Python had not heard of it
  assert.equal(session.status.message, null);
  model.update({ _answer: answer(session.doc, revision(model), { completion: 5 }) });
  assert.match(session.status.message!, /differs/);
  model.update({ _answer: answer(session.doc, revision(model)) });
  assert.equal(session.status.message, null);
});

test("the echo of a commit is no news", async () => {
  const { model, session, heard } = open();
  session.apply(shorter);
  const sent = model.saves.length;
  heard.length = 0;
  model.state["value"] = structuredClone(session.doc); // as ipywidgets does, without an event
  model.update({ _answer: answer(session.doc, revision(model)) });
  await Promise.resolve();
  assert.ok(!heard.includes("doc"));
  assert.equal(model.saves.length, sent);
  assert.equal(session.status.kernel, "live");
});

test("what was refused is forgotten once something else goes well", () => {
  const { session } = open();
  session.say("no", "refused");
  session.apply(shorter);
  assert.equal(session.status.message, null);
  session.say("no", "refused");
  session.undo();
  assert.equal(session.status.message, null);
});
