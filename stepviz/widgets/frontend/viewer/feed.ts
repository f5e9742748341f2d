/** Asks for what is seen, one question at a time, and keeps the answers. */

import { type BlocksAnswer, type Layer, Layers, readLayer, type Wanted } from "./layers";
import type { Range } from "./viewport";
import type { Wire } from "./wire";

/** Names by code, as far as they were told; one for all views of a widget. */
export type Names = Map<number, string>;

/** After a question that failed the next one waits, ms. */
const PAUSE = 1000;

export interface Seen {
  readonly wanted: Wanted;
  /** The lanes on the screen and those around it. */
  readonly around: readonly number[];
}

export class Feed {
  readonly layers = new Layers();
  private busy = false;
  private failed = "";

  constructor(
    private readonly wire: Wire,
    private readonly names: Names,
    private readonly limits: Range,
    private readonly changed: (layer: Layer) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Whether an answer is under way. */
  get waiting(): boolean {
    return this.busy;
  }

  /** See to it that what is seen is there, or comes. `look` says what is seen when asked again. */
  want(look: () => Seen | null): void {
    if (this.busy || this.signal.aborted) return;
    const seen = look();
    if (seen === null) return;
    const wanted = this.layers.missing(seen.wanted, seen.around, this.limits);
    if (wanted === null) return;
    const key = JSON.stringify(wanted);
    if (key === this.failed) return;
    this.busy = true;
    void this.wire.ask("blocks", { ...wanted }).then(({ content, buffers }) => {
      for (const [code, name] of Object.entries((content.names ?? {}) as Record<string, string>)) {
        this.names.set(Number(code), name);
      }
      const layer = readLayer(wanted, content as unknown as BlocksAnswer, buffers);
      this.layers.add(layer, this.limits);
      this.busy = false;
      if (!this.signal.aborted) this.changed(layer);
      this.want(look);
    }).catch((error: unknown) => {
      if (this.signal.aborted) return;
      console.warn("stepviz: no answer to a question about lanes:", error);
      this.failed = key; // the same question would fail again
      setTimeout(() => {
        this.busy = false;
        this.want(look);
      }, PAUSE);
    });
  }
}
