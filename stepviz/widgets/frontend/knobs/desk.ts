/** The settings of one widget and Python's answers to them, shared by its views (no DOM).
 *
 * Python computes every number. When a slider is picked up it is asked for the answers at all stops
 * of it; from then on a drag shows Python's numbers at once. Other settings travel as a trait, of
 * which ipywidgets keeps one under way and merges the rest, and until the answer comes the picture is
 * stale.
 */

import type { ModelLike, Wire } from "../viewer/wire";
import { keyOf, type Picture, type Setting, type Settings } from "./types";

/** Past this Python is said to be silent, ms. */
export const PATIENCE = 3000;
/** So many answers are remembered. */
const MOST = 4000;

interface Shown<P> {
  readonly value: Settings;
  readonly picture?: P;
  readonly problem?: string;
  readonly edition: number;
}

export class Desk<P extends Picture> {
  value: Settings;
  picture: P | null = null;
  /** Why the settings have no meaning, as Python said. */
  problem: string | null = null;
  /** The picture is of other settings than these. */
  stale = true;
  silent = false;
  private edition = -1;
  private readonly answers = new Map<string, P>();
  private readonly listeners = new Set<() => void>();
  private readonly asked = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sent = "";

  constructor(private readonly model: ModelLike, private readonly wire: Wire, signal: AbortSignal) {
    this.value = model.get("value") as Settings;
    this.sent = keyOf(this.value);
    const answered = (): void => this.hear();
    const changed = (): void => this.follow();
    model.on("change:_shown", answered);
    model.on("change:value", changed);
    signal.addEventListener("abort", () => {
      model.off("change:_shown", answered);
      model.off("change:value", changed);
      clearTimeout(this.timer);
      this.listeners.clear();
    });
    this.hear();
  }

  subscribe(listener: () => void, signal: AbortSignal): void {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }

  /** Turn a knob; `done` when it is let go. What was answered already is only told to Python then. */
  turn(name: string, setting: Setting, done: boolean): void {
    this.settle({ ...this.value, [name]: setting }, done);
  }

  settle(value: Settings, done: boolean): void {
    this.value = value;
    const known = this.look();
    if (done || !known) this.tell();
    this.news();
  }

  /** A slider is picked up, or about to be: ask for every stop of it. */
  pickUp(name: string): void {
    const { [name]: _, ...rest } = this.value;
    const key = `${this.edition} ${name} ${keyOf(rest)}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    this.wire.ask("track", { knob: name, value: this.value }).then(({ content }) => {
      if (content.edition !== this.edition) return;
      for (const [value, picture] of content.pictures as [Settings, P][]) this.remember(value, picture);
      if (this.stale && this.look()) this.news();
    }, () => this.asked.delete(key));
  }

  private remember(value: Settings, picture: P): void {
    if (this.answers.size >= MOST) {
      this.answers.clear();
      this.asked.clear();
    }
    this.answers.set(keyOf(value), picture);
  }

  /** Show what is known of the settings. */
  private look(): boolean {
    const found = this.answers.get(keyOf(this.value));
    if (found === undefined) {
      this.stale = true;
      return false;
    }
    this.picture = found;
    this.problem = null;
    this.stale = false;
    this.rest();
    return true;
  }

  private tell(): void {
    const key = keyOf(this.value);
    if (key === this.sent) return;
    this.sent = key;
    this.model.set("value", this.value);
    this.model.save_changes();
    if (this.stale) this.wait();
  }

  private wait(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.silent = true;
      this.news();
    }, PATIENCE);
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.silent = false;
  }

  private hear(): void {
    const shown = this.model.get("_shown") as Shown<P> | undefined;
    if (shown?.value === undefined) return;
    if (shown.edition !== this.edition) {
      this.edition = shown.edition;
      this.answers.clear();
      this.asked.clear();
      this.value = this.model.get("value") as Settings;
      this.sent = keyOf(this.value);
    }
    if (shown.picture !== undefined) this.remember(shown.value, shown.picture);
    if (keyOf(shown.value) !== keyOf(this.value)) return; // an older answer: the next is on its way
    if (shown.problem !== undefined) {
      this.problem = shown.problem;
      this.rest();
    } else {
      this.look();
    }
    this.news();
  }

  /** The settings were changed from outside: in Python, or by a link. */
  private follow(): void {
    const value = this.model.get("value") as Settings;
    const key = keyOf(value);
    this.sent = key;
    if (key === keyOf(this.value)) return;
    this.value = value;
    if (!this.look()) this.wait();
    this.news();
  }

  private news(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
