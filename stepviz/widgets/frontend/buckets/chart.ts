/** Completion over the cap, and below it what the exposed tail is made of; pixels only. */

import { linearAxis, logAxis } from "../knobs/axes";
import { px, svg } from "../view/dom";
import { decimals } from "../view/format";
import { stretches } from "./stretches";
import type { SweepPicture } from "./types";

const LEFT = 52;
const RIGHT = 18;
const UPPER = { top: 26, bottom: 200 };
const LOWER = { top: 226, bottom: 326 };
const HEIGHT = 366;

export interface Drawn { readonly element: SVGSVGElement; readonly places: readonly number[] }

export function sweepChart(picture: SweepPicture, room: number, hatch: string): Drawn {
  const width = Math.max(300, room);
  const { caps, completion, queued, last_transfer: last, best, chosen } = picture;
  const first = caps[0] as number;
  const final = caps.at(-1) as number;
  // A cap of 0 has no place on a logarithmic axis: it stands half a step before the next.
  const least = first > 0 ? first : (caps[1] ?? 1) / 2;
  const x = logAxis(least, Math.max(final, least * 1.01), LEFT, width - RIGHT);
  const places = caps.map((cap) => x.at(Math.max(cap, least)));
  const place = (k: number): number => places[k] as number;
  const low = Math.min(...completion);
  const high = Math.max(...completion);
  const pad = Math.max((high - low) * 0.08, high * 0.002, 1e-9);
  const y = linearAxis(Math.max(0, low - pad), high + pad, UPPER.bottom, UPPER.top, 5);
  const tails = caps.map((_, k) => (queued[k] as number) + (last[k] as number));
  const tail = linearAxis(0, Math.max(...tails, 1e-9) * 1.08, LOWER.bottom, LOWER.top, 4);
  const element = svg("svg", { class: "bk-chart", width, height: HEIGHT, role: "img", "aria-label": "Completion and exposed tail over the bucket cap; the table below holds the same numbers" },
    svg("defs", {}, svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "bk-queued-ground", width: 6, height: 6 }), svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "bk-hatch" }))));
  const words = (content: string, at: readonly [number, number], name: string, anchor = "start"): void => {
    const text = svg("text", { x: px(at[0]), y: px(at[1]), class: name, "text-anchor": anchor });
    text.textContent = content;
    element.append(text);
  };

  for (const [from, to] of stretches(picture.near_best)) {
    const left = from > 0 ? (place(from) + place(from - 1)) / 2 : place(from) - 4;
    const right = to < caps.length - 1 ? (place(to) + place(to + 1)) / 2 : place(to) + 4;
    element.append(svg("rect", { class: "bk-near", x: px(left), y: UPPER.top, width: px(right - left), height: LOWER.bottom - UPPER.top }));
  }
  for (const [axis, below] of [[y, UPPER.bottom], [tail, LOWER.bottom]] as const) {
    for (const tick of axis.ticks) {
      const at = axis.at(tick);
      element.append(svg("line", { class: "bk-rule", x1: LEFT, x2: width - RIGHT, y1: px(at), y2: px(at) }));
      if (at <= below) words(decimals(tick, 4), [LEFT - 6, at + 4], "bk-tick", "end");
    }
  }
  for (const tick of x.ticks) words(decimals(tick, 4), [x.at(tick), LOWER.bottom + 16], "bk-tick", "middle");
  words("bucket cap, MiB", [(LEFT + width - RIGHT) / 2, HEIGHT - 6], "bk-axis", "middle");
  words("completion, ms", [LEFT, UPPER.top - 8], "bk-axis");
  words("exposed tail, ms", [LEFT, LOWER.top - 8], "bk-axis");

  const line = (values: readonly number[], at: (value: number) => number): string => values.map((value, k) => `${px(place(k))},${px(at(value))}`).join(" ");
  const down = (values: readonly number[], at: (value: number) => number): string => values.map((value, k) => `${px(place(k))},${px(at(value))}`).reverse().join(" ");
  const none = caps.map(() => 0);
  const waits = svg("polygon", { class: "bk-queued", points: `${line(queued, tail.at)} ${down(none, tail.at)}` });
  waits.style.fill = `url(#${hatch})`;
  element.append(waits, svg("polygon", { class: "bk-last", points: `${line(tails, tail.at)} ${down(queued, tail.at)}` }),
    svg("polyline", { class: "bk-line", points: line(completion, y.at) }));
  completion.forEach((value, k) => element.append(svg("circle", { class: "bk-dot", cx: px(place(k)), cy: px(y.at(value)), r: 2 })));

  const mark = [place(best), y.at(completion[best] as number)] as const;
  element.append(svg("path", { class: "bk-best", d: `M${px(mark[0])} ${px(mark[1] - 7)}l6 7l-6 7l-6 -7z` }));
  element.append(svg("line", { class: "bk-chosen-rule", x1: px(place(chosen)), x2: px(place(chosen)), y1: UPPER.top, y2: LOWER.bottom }),
    svg("circle", { class: "bk-chosen", cx: px(place(chosen)), cy: px(y.at(completion[chosen] as number)), r: 6 }));
  const onLeft = place(chosen) > width * 0.72;
  words(`${picture.texts.completion[chosen]} ms`, [place(chosen) + (onLeft ? -11 : 11), y.at(completion[chosen] as number) + (y.at(completion[chosen] as number) < UPPER.top + 16 ? 18 : -9)], "bk-here", onLeft ? "end" : "start");
  return { element, places };
}
