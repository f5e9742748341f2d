/** Questions to Python and their answers. Each question has an id; what nobody waits for is dropped. */

export interface ModelLike {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown, callbacks?: unknown, buffers?: ArrayBuffer[]): void;
  on(event: string, listener: (...given: never[]) => void): void;
  off(event: string, listener?: (...given: never[]) => void): void;
}

export interface Answer {
  readonly content: Readonly<Record<string, unknown>>;
  readonly buffers: readonly DataView[];
}

/** Past this Python is said to be silent, ms. */
export const PATIENCE = 3000;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly since: number;
}

export class Wire {
  /** A name of this page's own: Python remembers by it which names were told. */
  readonly page = Math.random().toString(36).slice(2, 10);
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<() => void>();
  private number = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private quiet = false;

  constructor(private readonly model: ModelLike, signal: AbortSignal) {
    const heard = (content: unknown, buffers?: DataView[]): void => this.hear(content, buffers ?? []);
    model.on("msg:custom", heard);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", heard);
      clearTimeout(this.timer);
      this.waiting.clear();
    });
  }

  /** Whether a question has been waiting too long. */
  get silent(): boolean {
    return this.quiet;
  }

  ask(what: string, question: Readonly<Record<string, unknown>>): Promise<Answer> {
    const id = `${this.page}:${++this.number}`;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, since: performance.now() });
      this.watch();
      this.model.send({ ask: what, id, page: this.page, ...question });
    });
  }

  onSilence(listener: () => void, signal: AbortSignal): void {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }

  private hear(given: unknown, buffers: readonly DataView[]): void {
    const content = given as Record<string, unknown> | null;
    const id = content?.id;
    if (content === null || typeof id !== "string") return;
    const waiting = this.waiting.get(id);
    if (waiting === undefined) return;
    this.waiting.delete(id);
    this.say(false);
    this.watch();
    if (typeof content.error === "string") waiting.reject(new Error(content.error));
    else waiting.resolve({ content, buffers });
  }

  /** Look again when the oldest question has waited too long. */
  private watch(): void {
    clearTimeout(this.timer);
    const oldest = this.waiting.values().next().value;
    if (oldest === undefined || this.quiet) return;
    this.timer = setTimeout(() => this.say(true), Math.max(0, oldest.since + PATIENCE - performance.now()));
  }

  private say(quiet: boolean): void {
    if (quiet === this.quiet) return;
    this.quiet = quiet;
    for (const listener of [...this.listeners]) listener();
  }
}
