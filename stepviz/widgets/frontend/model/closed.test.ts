import assert from "node:assert/strict";
import { test } from "node:test";
import { freeWhenClosed } from "./closed";

type Listener = (...told: unknown[]) => void;

/** A comm that keeps whom it calls, as JupyterLab's does. */
class Comm {
  called: Listener[] = [];
  on_close(heard: Listener): void {
    this.called[0] = heard;
  }
  on_msg(heard: Listener): void {
    this.called[1] = heard;
  }
}

/** A model of ipywidgets: it hears its comm, and tells of its end while it still has that. */
class Model {
  readonly comm: Comm | undefined;
  readonly traits: Record<string, unknown>;
  listeners: [string, (closing: Model) => void][] = [];

  constructor(comm?: Comm, traits: Record<string, unknown> = {}) {
    this.comm = comm;
    this.traits = traits;
    comm?.on_close(() => this.close());
    comm?.on_msg(() => this.traits);
  }
  get(key: string): unknown {
    return this.traits[key];
  }
  on(event: string, listener: (closing: Model) => void): void {
    this.listeners.push([event, listener]);
  }
  off(event: string, listener: unknown): void {
    this.listeners = this.listeners.filter(([of, other]) => of !== event || other !== listener);
  }
  close(): void {
    for (const [event, listener] of [...this.listeners]) if (event === "destroy") listener(this);
  }
}

test("a closed model is no longer called by its comm, nor is its layout", () => {
  const [comm, own] = [new Comm(), new Comm()];
  const layout = new Model(own);
  const model = new Model(comm, { layout });
  const before = [...comm.called, ...own.called];
  freeWhenClosed(model);
  assert.deepEqual([...comm.called, ...own.called], before);
  model.close();
  assert.deepEqual(model.listeners, []);
  assert.ok(before.every((heard) => !comm.called.includes(heard)));
  assert.deepEqual(own.called, before.slice(2)); // a layout may be shared, and closes on its own
  layout.close();
  assert.ok(before.every((heard) => !own.called.includes(heard)));
  for (const heard of [...comm.called, ...own.called]) assert.equal(heard(), undefined);
});

test("a model without a comm, a layout that is none and an end without a model do no harm", () => {
  for (const layout of [undefined, null, "anywidget:1", { width: "100px" }]) {
    const model = new Model(undefined, { layout });
    freeWhenClosed(model);
    model.close();
  }
  const bare = { get: () => undefined, on: (_: string, listener: () => void) => listener() };
  freeWhenClosed(bare);
});
