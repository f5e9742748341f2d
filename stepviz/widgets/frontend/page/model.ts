/** The model a widget sees in a page that no kernel stands behind (no DOM). */

type Listener = (...given: never[]) => void;
export type State = Record<string, unknown>;

/** What answers in Python's place. */
export interface Kernel {
  /** The page set some traits. */
  told?(model: PageModel, changes: State): void;
  /** The page sent a message. */
  asked?(model: PageModel, content: Record<string, unknown>): void;
}

export class PageModel {
  /** The editor then waits for no answer, and says nothing of a kernel. */
  readonly kernel = false;
  private readonly listeners = new Map<string, Listener[]>();
  private pending: State = {};

  constructor(private readonly state: State, private readonly answers: () => Kernel | null) {}

  get(key: string): unknown {
    return this.state[key];
  }

  set(key: string, value: unknown): void {
    if (this.assign(key, value)) {
      this.pending[key] = value;
      this.fire("change");
    }
  }

  save_changes(): void {
    const changes = this.pending;
    if (Object.keys(changes).length === 0) return;
    this.pending = {};
    // Later, as an answer over a wire is: who saves has finished by then.
    queueMicrotask(() => this.answers()?.told?.(this, changes));
  }

  send(content: unknown): void {
    queueMicrotask(() => this.answers()?.asked?.(this, content as Record<string, unknown>));
  }

  on(events: string, listener: Listener): void {
    for (const event of events.split(" ")) {
      const held = this.listeners.get(event) ?? [];
      held.push(listener);
      this.listeners.set(event, held);
    }
  }

  off(events?: string | null, listener?: Listener): void {
    for (const event of events ? events.split(" ") : [...this.listeners.keys()]) {
      const left = listener === undefined ? [] : (this.listeners.get(event) ?? []).filter((one) => one !== listener);
      this.listeners.set(event, left);
    }
  }

  /** What Python's side would set. */
  assignAll(changes: State): void {
    // All of them first: who hears of one may look at another.
    const changed = Object.entries(changes).filter(([key, value]) => this.state[key] !== value);
    Object.assign(this.state, changes);
    for (const [key, value] of changed) this.fire(`change:${key}`, value);
    if (changed.length > 0) this.fire("change");
  }

  /** What Python's side would send. */
  answer(content: unknown, buffers: readonly DataView[] = []): void {
    this.fire("msg:custom", content, buffers);
  }

  private assign(key: string, value: unknown): boolean {
    if (this.state[key] === value) return false;
    this.state[key] = value;
    this.fire(`change:${key}`, value);
    return true;
  }

  private fire(event: string, ...given: unknown[]): void {
    for (const listener of [...(this.listeners.get(event) ?? [])]) {
      (listener as (...all: unknown[]) => void)(...(event.startsWith("msg:") ? given : [this, ...given]));
    }
  }
}
