import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { open, optimizer, shorter } from "./opened";
import { link, phase, StubModel, timeline } from "./samples";
import { Session, type Topic } from "./session";
import { Refused } from "./types";

test("a gesture previews, then commits once", () => {
  const { model, session, heard } = open();
  const gesture = session.begin("drag exchange");
  for (let ms = 349; ms >= 325; ms--) {
    gesture.preview({ op: "duration", phase: "exchange", duration: ms });
  }
  assert.equal(session.shown.completion, 725);
  assert.equal(session.solved.completion, 750);
  assert.equal(model.saves.length, 0);
  gesture.commit();
  assert.equal(session.solved.completion, 725);
  assert.equal(session.shown, session.solved);
  assert.equal(model.saves.length, 1);
  assert.deepEqual(Object.keys(model.saves[0]!), ["value", "_revision"]);
  assert.equal(session.undoLabel, "exchange 350 → 325 ms");
  assert.ok(heard.includes("preview") && heard.includes("doc"));
  gesture.commit(); // over: nothing happens
  assert.equal(model.saves.length, 1);
});

test("a gesture that changes nothing, or is cancelled, leaves no trace", () => {
  const { model, session } = open();
  let gesture = session.begin("drag");
  gesture.preview(shorter);
  gesture.preview({ ...shorter, duration: 350 });
  gesture.commit();
  gesture = session.begin("drag");
  gesture.preview(shorter);
  gesture.cancel();
  assert.equal(session.shown.completion, 750);
  assert.equal(model.saves.length, 0);
  assert.equal(session.canUndo, false);
});

test("a refused preview keeps the last good one", () => {
  const { session } = open();
  const gesture = session.begin("drag");
  gesture.preview(shorter);
  assert.throws(() => gesture.preview({ ...shorter, duration: -1 }), Refused);
  assert.equal(session.shown.completion, 725);
  gesture.commit();
  assert.equal(session.solved.completion, 725);
});

test("one gesture at a time", () => {
  const { session } = open();
  const gesture = session.begin("drag exchange");
  assert.throws(() => session.begin("drag other"), /“drag exchange” is not finished/);
  assert.throws(() => session.undo(), Refused);
  assert.throws(() => session.apply(shorter), Refused);
  gesture.cancel();
  session.apply(shorter);
});

test("undo and redo go through every entry", () => {
  const { session } = open();
  session.apply(shorter);
  session.apply(optimizer);
  assert.equal(session.solved.completion, 675);
  session.undo();
  assert.equal(session.solved.completion, 725);
  assert.equal(session.redoLabel, "optimizer 100 → 50 ms");
  session.undo();
  assert.equal(session.canUndo, false);
  session.redo();
  session.redo();
  assert.equal(session.solved.completion, 675);
  session.undo();
  session.apply(shorter);
  assert.equal(session.canRedo, true); // it changed nothing, so nothing is lost
  session.apply({ ...shorter, duration: 300 });
  assert.equal(session.canRedo, false);
});

test("reset goes back to the baseline and can be undone", () => {
  const { session } = open();
  session.apply(shorter);
  session.reset();
  assert.equal(session.solved.completion, 750);
  assert.equal(session.undoLabel, "reset to A");
  session.undo();
  assert.equal(session.solved.completion, 725);
});

test("scenarios are kept, switched to and compared with", () => {
  const { model, session } = open();
  assert.deepEqual(session.scenarioNames, ["A"]);
  assert.equal(session.activeScenario, "A");
  session.apply(shorter);
  assert.equal(session.activeScenario, null);
  assert.equal(session.keep(), "B");
  assert.equal(session.keep(), "B"); // nothing new to keep
  assert.equal(session.activeScenario, "B");
  assert.deepEqual(Object.keys(model.get("scenarios") as object), ["A", "B"]);
  session.switchTo("A");
  assert.equal(session.solved.completion, 750);
  session.setBaseline("B");
  assert.equal(session.baseline.completion, 725);
  assert.equal(session.baselineName, "B");
  assert.throws(() => session.forget("B"), /baseline/);
  assert.throws(() => session.switchTo("Z"), /no scenario called “Z”/);
  session.forget("A");
  assert.deepEqual(session.scenarioNames, ["B"]);
});

test("equal scenarios keep their names apart", () => {
  const { session } = open();
  session.keep("same");
  assert.equal(session.activeScenario, "same");
  session.switchTo("A");
  assert.equal(session.activeScenario, "A");
  session.switchTo("same");
  assert.equal(session.activeScenario, "same");
});

test("the edits since the baseline, as Python", () => {
  const { session } = open();
  assert.match(session.python(), /nothing differs from A/);
  session.apply(shorter);
  session.apply({ ...shorter, duration: 300 });
  session.apply(optimizer);
  session.undo();
  assert.equal(
    session.python(),
    '# changes to A\ntimeline = timeline.with_duration("exchange", 300.0)\n',
  );
  session.keep("B");
  session.switchTo("A");
  session.switchTo("B");
  assert.match(session.python(), /"exchange", 300.0/);
});

test("views of one model share a session; closing frees everything", () => {
  const { model, session, controller } = open();
  assert.equal(Session.for(model), session);
  const view = new AbortController();
  const heard: Topic[] = [];
  session.subscribe((what) => heard.push(what), view.signal);
  view.abort();
  session.apply(shorter);
  assert.deepEqual(heard, []);
  assert.ok(model.heard > 0);
  controller.abort();
  assert.equal(model.heard, 0);
  model.update({ value: timeline([phase("a", 5)]) });
  assert.equal(session.solved.completion, 725);
  const again = Session.for(model);
  assert.notEqual(again, session);
  again.dispose();
  assert.equal(model.heard, 0);
});

test("a view that fails does not stop the others", () => {
  const { session, controller, heard } = open();
  const error = mock.method(console, "error", () => {});
  session.subscribe(() => {
    throw new Error("broken view");
  }, controller.signal);
  session.subscribe((what) => heard.push(what), controller.signal);
  session.say("hello");
  assert.deepEqual(heard, ["status", "status"]);
  assert.equal(error.mock.callCount(), 1);
  error.mock.restore();
});

test("a value that is no timeline is refused with a sentence", () => {
  for (const value of [null, {}, { phases: [] }, { phases: [{ phase: "a", duration: -1 }] }]) {
    const model = new StubModel({ value });
    assert.throws(() => Session.for(model), Refused);
    assert.equal(model.heard, 0);
  }
});

test("dragging one of 1,000 bars takes under 2 ms a frame", () => {
  const phases = Array.from({ length: 1000 }, (_, k) =>
    phase(`p${k}`, 1 + (k % 7), { rank: k % 4, lane: `l${k % 3}` }),
  );
  const links = Array.from({ length: 950 }, (_, k) => link(`p${k}`, `p${k + 50}`));
  const { session } = open(timeline(phases, links));
  const gesture = session.begin("drag");
  const times: number[] = [];
  for (let k = 0; k < 300; k++) {
    const began = performance.now();
    gesture.preview({ op: "duration", phase: "p0", duration: k });
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  // The median: other tests run beside this one.
  assert.ok(times[150]! < 2, `half take more than ${times[150]} ms`);
  gesture.cancel();
});
