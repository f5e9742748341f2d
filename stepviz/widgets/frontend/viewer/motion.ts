/** One drawing a frame, and the way from one range to another. */

import type { Look } from "./state";
import { type Range, same, towards } from "./viewport";

/** How fast the view closes on where it is going: the time in which most of the way is done, ms. */
const EASE = 55;

export class Motion {
  private frame = 0;
  private last = 0;
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private readonly look: Look, private readonly paint: () => void, signal: AbortSignal) {
    signal.addEventListener("abort", () => cancelAnimationFrame(this.frame));
  }

  /** Draw in the next frame. */
  draw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.step(now));
  }

  /** Be there at once: the hand is on it. */
  jump(range: Range): void {
    this.look.range = this.look.target = range;
    this.draw();
  }

  /** Glide there, or be there at once for those who want less motion. */
  glide(range: Range): void {
    if (this.calm.matches) {
      this.jump(range);
      return;
    }
    if (same(this.look.range, this.look.target)) this.last = 0;
    this.look.target = range;
    this.draw();
  }

  private step(now: number): void {
    this.frame = 0;
    const { look } = this;
    if (!same(look.range, look.target)) {
      const passed = this.last === 0 ? 16 : Math.min(64, now - this.last);
      this.last = now;
      look.range = towards(look.range, look.target, 1 - Math.exp(-passed / EASE), look.width);
      if (!same(look.range, look.target)) this.draw();
    }
    this.paint();
  }
}
