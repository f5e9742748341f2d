// Sessions on stub models, and what Python answers them; for tests only.

import { afterEach } from "node:test";
import type { Answer, Revision } from "./protocol";
import { lesson, StubModel } from "./samples";
import { Session, type Topic } from "./session";
import { solve } from "./solver";
import type { TimelineDoc } from "./types";

const opened: AbortController[] = [];
afterEach(() => {
  for (const controller of opened.splice(0)) controller.abort();
});

export function open(doc: TimelineDoc = lesson(), state: Record<string, unknown> = {}, kernel?: boolean) {
  const model = new StubModel(
    {
      value: doc,
      selected: null,
      scenarios: { A: doc },
      baseline: doc,
      height: null,
      _revision: { page: "", number: 1 },
      _answer: {},
      ...state,
    },
    kernel,
  );
  const controller = new AbortController();
  opened.push(controller);
  const session = Session.open(model, controller.signal);
  const heard: Topic[] = [];
  session.subscribe((what) => heard.push(what), controller.signal);
  return { model, session, controller, heard };
}

/** What Python says of a document. */
export function answer(doc: TimelineDoc, revision: Revision, more: Partial<Answer> = {}): Answer {
  const s = solve(doc);
  const finite = (values: Float64Array) => Array.from(values, (x) => (x === Infinity ? null : x));
  return {
    revision,
    rejected: null,
    error: null,
    completion: s.completion,
    start: [...s.start],
    finish: [...s.finish],
    latest_start: finite(s.latestStart),
    latest_finish: finite(s.latestFinish),
    total_float: finite(s.totalFloat),
    free_float: finite(s.freeFloat),
    critical: Array.from(s.critical, Boolean),
    binding: [...s.binding],
    ...more,
  };
}

let serial = 1;
/** One message from Python: a timeline, its revision and its schedule. */
export function fromPython(model: StubModel, doc: TimelineDoc, more: Partial<Answer> = {}): void {
  const revision = { page: "", number: ++serial };
  model.update({ _answer: answer(doc, revision, more), value: doc, _revision: revision });
}

export const revision = (model: StubModel) => model.get("_revision") as Revision;
export const shorter = { op: "duration", phase: "exchange", duration: 325 } as const;
export const optimizer = { op: "duration", phase: "optimizer", duration: 50 } as const;
