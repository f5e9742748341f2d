/** Time to pixels and back, ticks, and the step to which a dragged value snaps. */

export class TimeScale {
  constructor(
    /** Left and right edge of the plot, in pixels of the drawing. */
    readonly left: number,
    readonly right: number,
    readonly pxPerMs: number,
    /** The time at the left edge, in ms. */
    readonly origin: number,
  ) {}

  x(time: number): number {
    return this.left + (time - this.origin) * this.pxPerMs;
  }

  time(x: number): number {
    return this.origin + (x - this.left) / this.pxPerMs;
  }

  get end(): number {
    return this.time(this.right);
  }
}

/** The next of 1, 2, 5, 10, 20 … at or above `least`. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

export interface Ticks { step: number; times: number[] }

export function ticks(scale: TimeScale, spacing = 76): Ticks {
  const step = niceStep(spacing / scale.pxPerMs);
  const times: number[] = [];
  for (let k = Math.ceil(Math.max(0, scale.origin) / step - 1e-9); ; k++) {
    const time = k * step;
    if (time > scale.end + 1e-9 * step || times.length > 400) break;
    times.push(time);
  }
  return { step, times };
}

/** The time the fitted plot shows: a little more than the longest of what must be seen. */
export function fitEnd(latest: number): number {
  if (!(latest > 0)) return 1;
  const step = niceStep(latest / 10);
  return Math.ceil((latest * 1.06) / step - 1e-9) * step;
}

/** Whole ms while a ms is coarse on screen; decimals once a ms is wide enough to aim at them. */
export function snapStep(pxPerMs: number): number {
  if (pxPerMs <= 8) return 1;
  return 10 ** -Math.ceil(Math.log10(pxPerMs / 8));
}

/**
 * Snap a dragged value: to `step`, and a bit more eagerly (within a pixel) to multiples of five
 * steps and to `magnets`, since a pixel is often wider than a step.
 */
export function snap(value: number, pxPerMs: number, magnets: readonly number[] = []): number {
  const step = snapStep(pxPerMs);
  const reach = 0.8 / pxPerMs;
  let best = NaN;
  for (const magnet of magnets) {
    if (Math.abs(magnet - value) <= 2.5 * reach
      && !(Math.abs(best - value) <= Math.abs(magnet - value))) best = magnet;
  }
  if (!Number.isNaN(best)) return best;
  const five = 5 * step;
  const coarse = Math.round(value / five) * five;
  const snapped = Math.abs(coarse - value) <= Math.max(reach, 0) && reach * 4 > step
    ? coarse : Math.round(value / step) * step;
  return Math.round(snapped * 1e9) / 1e9;
}
