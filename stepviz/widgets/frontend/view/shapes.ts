/** The outlines of a bar: its body, and the hatch over what of it is exposed. */

import { attr, px } from "./dom";
import type { TimeScale } from "./scale";

/** A bar, or the diamond of a phase without length: a square on its corner, `half` px wide. */
export function shape(fill: SVGRectElement, width: number, half: number, height: number): void {
  const side = px(half * Math.SQRT2);
  attr(fill, "x", half > 0 ? px(-side / 2) : 0);
  attr(fill, "y", half > 0 ? px((height - side) / 2) : 0);
  attr(fill, "width", half > 0 ? side : Math.max(px(width), 1.5));
  attr(fill, "height", half > 0 ? side : height);
  attr(fill, "rx", half > 0 || height <= 20 ? 2 : 4);
  attr(fill, "transform", half > 0 ? `rotate(45 0 ${px(height / 2)})` : null);
}

/** Rectangles of one bar that are exposed, around its label, relative to the bar's own origin. */
export function hatchPath(
  segments: readonly (readonly [number, number])[], start: number, finish: number,
  scale: TimeScale, x: number, height: number, [left, right]: readonly [number, number],
): string {
  let path = "";
  // Segments are sorted; a bisection finds the first that can matter.
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((segments[middle] as readonly [number, number])[1] <= start) low = middle + 1;
    else high = middle;
  }
  for (let k = low; k < segments.length; k++) {
    const [from, to] = segments[k] as readonly [number, number];
    if (from >= finish) break;
    const a = px(scale.x(Math.max(from, start)) - x);
    const b = px(scale.x(Math.min(to, finish)) - x);
    if (b <= a) continue;
    path += `M${a} 1.5H${b}V${height - 1.5}H${a}Z`;
    // A hole for the label, by the even-odd rule.
    const [low, high] = [Math.max(a, left), Math.min(b, right)];
    const tall = Math.min(9, height / 2 - 3.5);
    if (high > low) path += `M${px(low)} ${height / 2 - tall}H${px(high)}V${height / 2 + tall}H${px(low)}Z`;
  }
  return path;
}
