import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelLike, Wire } from "../viewer/wire";
import { Desk } from "./desk";
import type { Picture, Settings } from "./types";

interface Seen extends Picture { readonly n: number }

/** A model and a wire whose Python answers when told to. */
function setUp(opening: Settings) {
  const state: Record<string, unknown> = { value: opening, _shown: { value: opening, picture: picture(0), edition: 0 } };
  const listeners = new Map<string, (() => void)[]>();
  const commits: Settings[] = [];
  const questions: { knob: string; value: Settings; answer: (pictures: [Settings, Seen][], edition?: number) => Promise<void> }[] = [];
  const model = {
    get: (key: string) => state[key],
    set: (key: string, value: unknown) => { state[key] = value; },
    save_changes: () => { commits.push(state.value as Settings); },
    on: (event: string, listener: () => void) => { listeners.set(event, [...(listeners.get(event) ?? []), listener]); },
    off: () => {},
    send: () => {},
  } as unknown as ModelLike;
  const wire = {
    ask: (_: string, question: { knob: string; value: Settings }) => new Promise((resolve) => {
      questions.push({
        ...question,
        answer: async (pictures, edition = 0) => { resolve({ content: { pictures, edition }, buffers: [] }); await Promise.resolve(); await Promise.resolve(); },
      });
    }),
  } as unknown as Wire;
  const fromPython = (changes: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(changes)) {
      state[key] = value;
      for (const listener of listeners.get(`change:${key}`) ?? []) listener();
    }
  };
  const desk = new Desk<Seen>(model, wire, new AbortController().signal);
  return { desk, commits, questions, fromPython };
}

const picture = (n: number): Seen => ({ n, stops: {}, spoken: "" });

test("a setting without an answer is told to Python and stale until it comes", () => {
  const { desk, commits, fromPython } = setUp({ a: 1 });
  assert.equal(desk.stale, false);
  desk.turn("a", 2, false);
  assert.equal(desk.stale, true);
  assert.equal(desk.picture?.n, 0);
  assert.deepEqual(commits, [{ a: 2 }]);
  fromPython({ _shown: { value: { a: 2 }, picture: picture(2), edition: 0 } });
  assert.equal(desk.stale, false);
  assert.equal(desk.picture?.n, 2);
});

test("after a slider is picked up, a drag is answered at once and committed once", async () => {
  const { desk, commits, questions } = setUp({ a: 1, b: 5 });
  desk.pickUp("a");
  desk.pickUp("a");
  assert.equal(questions.length, 1);
  await questions[0]?.answer([1, 2, 3, 4].map((a) => [{ b: 5, a }, picture(a)]));
  for (const a of [2, 3, 4]) {
    desk.turn("a", a, false);
    assert.equal(desk.stale, false);
    assert.equal(desk.picture?.n, a);
  }
  assert.deepEqual(commits, []);
  desk.turn("a", 4, true);
  assert.deepEqual(commits, [{ a: 4, b: 5 }]);
});

test("an answer to older settings is kept but not shown", () => {
  const { desk, fromPython } = setUp({ a: 1 });
  desk.turn("a", 2, false);
  desk.turn("a", 3, false);
  fromPython({ _shown: { value: { a: 2 }, picture: picture(2), edition: 0 } });
  assert.equal(desk.stale, true);
  assert.equal(desk.value.a, 3);
  desk.turn("a", 2, false);
  assert.equal(desk.picture?.n, 2);
});

test("a refusal is shown, and gone with the next good setting", () => {
  const { desk, fromPython } = setUp({ a: 1 });
  desk.turn("a", -1, true);
  fromPython({ _shown: { value: { a: -1 }, problem: "a is -1", edition: 0 } });
  assert.equal(desk.problem, "a is -1");
  assert.equal(desk.stale, true);
  desk.turn("a", 1, true);
  assert.equal(desk.problem, null);
  assert.equal(desk.stale, false);
});

test("what Python sets is followed", () => {
  const { desk, commits, fromPython } = setUp({ a: 1 });
  fromPython({ value: { a: 9 }, _shown: { value: { a: 9 }, picture: picture(9), edition: 0 } });
  assert.equal(desk.value.a, 9);
  assert.equal(desk.picture?.n, 9);
  assert.deepEqual(commits, []);
});

test("another edition forgets every answer, and late tracks of the old one", async () => {
  const { desk, questions, fromPython } = setUp({ a: 1 });
  desk.pickUp("a");
  fromPython({ value: { a: 1 }, _shown: { value: { a: 1 }, picture: picture(100), edition: 1 } });
  assert.equal(desk.picture?.n, 100);
  await questions[0]?.answer([[{ a: 2 }, picture(2)]]);
  desk.turn("a", 2, false);
  assert.equal(desk.stale, true);
});
