/** Pointers and wheel on the lanes: drag to move, Shift to measure, two fingers or Ctrl to zoom. */

import type { Look } from "./state";
import { panned, type Range, zoomed } from "./viewport";

export interface Gesturing {
  /** The range has moved under the hand. */
  moved(range: Range): void;
  /** Where the pointer is over the drawing, in px of the drawing; null when it left. */
  hovered(x: number | null, y: number): void;
  clicked(x: number, y: number): void;
  doubled(x: number, y: number): void;
  measuring(band: Range | null): void;
  measured(band: Range): void;
}

/** A press that moves less than this is a click, px. */
const CLICK = 4;

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly range: Range;
  readonly measure: boolean;
  moved: boolean;
}

export class Gestures {
  private drag: Drag | null = null;
  private readonly fingers = new Map<number, number>();
  private pinch: { distance: number; middle: number; range: Range } | null = null;

  constructor(
    private readonly surface: HTMLElement,
    private readonly look: Look,
    private readonly on: Gesturing,
    signal: AbortSignal,
  ) {
    const options = { signal };
    surface.addEventListener("pointerdown", (event) => this.down(event), options);
    surface.addEventListener("pointermove", (event) => this.move(event), options);
    surface.addEventListener("pointerup", (event) => this.up(event), options);
    surface.addEventListener("pointercancel", (event) => this.cancel(event), options);
    surface.addEventListener("pointerleave", () => {
      if (this.drag === null) this.on.hovered(null, 0);
    }, options);
    surface.addEventListener("dblclick", (event) => this.on.doubled(this.x(event), this.y(event)), options);
    surface.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
  }

  get holds(): boolean {
    return this.drag !== null || this.pinch !== null;
  }

  /** Leave a gesture as Escape does; says whether there was one. */
  leave(): boolean {
    if (this.drag === null) return false;
    const { drag } = this;
    this.drag = null;
    if (drag.measure) this.on.measuring(null);
    else this.on.moved(drag.range);
    return true;
  }

  private x(event: { clientX: number }): number {
    return event.clientX - this.surface.getBoundingClientRect().left;
  }

  private y(event: { clientY: number }): number {
    return event.clientY - this.surface.getBoundingClientRect().top;
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.fingers.set(event.pointerId, event.clientX);
    if (this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()] as [number, number];
      this.pinch = {
        distance: Math.max(8, Math.abs(a - b)), range: this.look.range,
        middle: (a + b) / 2 - this.surface.getBoundingClientRect().left,
      };
      this.drag = null;
      return;
    }
    try {
      this.surface.setPointerCapture(event.pointerId);
    } catch {
      // a made-up event has no pointer to capture
    }
    this.drag = { x: this.x(event), y: this.y(event), range: this.look.range, measure: event.shiftKey, moved: false };
  }

  private move(event: PointerEvent): void {
    const x = this.x(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, event.clientX);
    if (this.pinch !== null && this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()] as [number, number];
      const { distance, middle, range } = this.pinch;
      const time = range.start + (middle / this.look.width) * (range.finish - range.start);
      this.on.moved(zoomed(range, time, Math.max(8, Math.abs(a - b)) / distance, this.look.limits));
      return;
    }
    const { drag } = this;
    if (drag === null) {
      this.on.hovered(x, this.y(event));
      return;
    }
    if (!drag.moved && Math.abs(x - drag.x) < CLICK) return;
    if (!drag.moved) this.on.hovered(null, 0);
    drag.moved = true;
    const perPixel = (drag.range.finish - drag.range.start) / this.look.width;
    if (drag.measure) this.on.measuring(this.band(drag, x));
    else this.on.moved(panned(drag.range, -(x - drag.x) * perPixel, this.look.limits));
  }

  private band(drag: Drag, x: number): Range {
    const [a, b] = [this.look.time(drag.x), this.look.time(x)];
    return { start: Math.min(a, b), finish: Math.max(a, b) };
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.fingers.size < 2) this.pinch = null;
    const { drag } = this;
    this.drag = null;
    if (drag === null) return;
    const x = this.x(event);
    if (!drag.moved) this.on.clicked(drag.x, drag.y);
    else if (drag.measure) this.on.measured(this.band(drag, x));
  }

  private cancel(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.pinch = null;
    this.leave();
  }

  private wheel(event: WheelEvent): void {
    // Without Ctrl the wheel is the page's, and the lanes': the notebook must scroll on.
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY * unit)) / 260);
      this.on.moved(zoomed(this.look.range, this.look.time(this.x(event)), factor, this.look.limits));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      const by = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
      this.on.moved(panned(this.look.range, by * this.look.pixel, this.look.limits));
    }
  }
}
