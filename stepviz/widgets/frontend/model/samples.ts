// Timelines and a stub model for tests; never part of the bundle.

import type { ModelLike } from "./protocol";
import type { Dependency, Kind, Phase, TimelineDoc } from "./types";

export function phase(
  name: string,
  duration: number,
  more: Partial<Phase> & { kind?: Kind } = {},
): Phase {
  return { phase: name, kind: "other", rank: 0, lane: null, duration, release: 0, ...more };
}

export function link(source: string, target: string, more: Partial<Dependency> = {}): Dependency {
  return { source, target, type: "FS", lag: 0, origin: "assumed", ...more };
}

export function timeline(
  phases: readonly Phase[],
  dependencies: readonly Dependency[] = [],
  more: Partial<TimelineDoc> = {},
): TimelineDoc {
  return { schema: "stepviz.timeline/1", name: "", target: null, phases, dependencies, ...more };
}

/** The lesson's release model: 750 ms, exchange exposed for 50. */
export function lesson(): TimelineDoc {
  return timeline(
    [
      phase("forward", 200, { kind: "forward", lane: "compute" }),
      phase("backward", 400, { kind: "backward", lane: "compute" }),
      phase("optimizer", 100, { kind: "optimizer", lane: "compute" }),
      phase("exchange", 350, { kind: "exchange", lane: "link" }),
    ],
    [
      link("forward", "exchange", { lag: 100 }),
      link("backward", "optimizer"),
      link("exchange", "optimizer"),
    ],
    { name: "lesson" },
  );
}

/** A model as anywidget's: `update` sets several keys as one message from Python would. */
export class StubModel implements ModelLike {
  readonly state: Record<string, unknown>;
  readonly saves: Record<string, unknown>[] = [];
  readonly listeners = new Map<string, Set<() => void>>();
  readonly kernel?: boolean;
  #changed: Record<string, unknown> = {};

  constructor(state: Record<string, unknown>, kernel?: boolean) {
    this.state = state;
    if (kernel !== undefined) this.kernel = kernel;
  }

  get(key: string): unknown {
    return this.state[key];
  }

  set(key: string, value: unknown): void {
    this.#changed[key] = value;
    this.update({ [key]: value });
  }

  save_changes(): void {
    this.saves.push(this.#changed);
    this.#changed = {};
  }

  on(event: string, listener: () => void): void {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event)!.add(listener);
  }

  off(event: string, listener: () => void): void {
    this.listeners.get(event)?.delete(listener);
  }

  update(values: Record<string, unknown>): void {
    const changed = Object.keys(values).filter((key) => this.state[key] !== values[key]);
    Object.assign(this.state, values);
    for (const key of changed) {
      for (const listener of [...(this.listeners.get(`change:${key}`) ?? [])]) listener();
    }
  }

  /** How many listeners are left. */
  get heard(): number {
    return [...this.listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }
}
