/** Elapsed days over MFU, a line per number of devices; pixels only, the days are Python's. */

import { linearAxis, logAxis } from "../knobs/axes";
import { px, svg } from "../view/dom";
import { decimals } from "../view/format";
import type { Sensitivity } from "./types";

const LEFT = 46;
const TOP = 12;
const BOTTOM = 40;
const HEIGHT = 280;

export function sensitivityChart(given: Sensitivity, room: number): SVGSVGElement {
  const right = 104;
  const width = Math.max(280, room);
  const all = given.lines.flatMap((line) => line.days);
  const x = linearAxis(0, Math.max(...given.mfu), LEFT, width - right, 8);
  const y = logAxis(Math.min(...all) / 1.15, Math.max(...all) * 1.1, HEIGHT - BOTTOM, TOP);
  const own = given.lines.find((line) => line.own);
  const label = (words: string, at: readonly [number, number], attributes: Record<string, string>): SVGTextElement => {
    const element = svg("text", { x: px(at[0]), y: px(at[1]), ...attributes });
    element.textContent = words;
    return element;
  };
  const chart = svg("svg", { class: "pl-chart", width, height: HEIGHT, role: "img", "aria-label": "Elapsed days over MFU for several numbers of devices; the table below holds the same numbers" });
  const [low, high] = given.range;
  chart.append(svg("rect", { class: "pl-range", x: px(x.at(low)), y: TOP, width: px(Math.max(1, x.at(high) - x.at(low))), height: HEIGHT - TOP - BOTTOM }));
  for (const tick of y.ticks) {
    chart.append(svg("line", { class: "pl-rule", x1: LEFT, x2: width - right, y1: px(y.at(tick)), y2: px(y.at(tick)) }),
      label(decimals(tick, 3), [LEFT - 6, y.at(tick) + 4], { class: "pl-tick", "text-anchor": "end" }));
  }
  for (const tick of x.ticks) {
    chart.append(label(`${Math.round(tick * 100)} %`, [x.at(tick), HEIGHT - BOTTOM + 16], { class: "pl-tick", "text-anchor": "middle" }));
  }
  chart.append(label("MFU", [(LEFT + width - right) / 2, HEIGHT - 6], { class: "pl-axis", "text-anchor": "middle" }));
  const up = label("elapsed days", [0, 0], { class: "pl-axis", "text-anchor": "middle" });
  up.setAttribute("transform", `translate(11 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`);
  chart.append(up);
  for (const line of given.lines) {
    const points = line.days.map((days, k) => `${px(x.at(given.mfu[k] as number))},${px(y.at(days))}`);
    const group = svg("g", { class: line.own ? "pl-line pl-own" : "pl-line" }, svg("polyline", { points: points.join(" ") }));
    group.append(label(line.label, [width - right + 7, y.at(line.days.at(-1) as number) + 4], { class: "pl-name" }));
    chart.append(group);
  }
  const at = given.mfu.indexOf(given.own);
  if (own !== undefined && at >= 0) {
    const [cx, cy] = [x.at(given.own), y.at(own.days[at] as number)];
    chart.append(svg("circle", { class: "pl-point", cx: px(cx), cy: px(cy), r: 5 }),
      label(`${own.texts[at]} days`, [cx + 9, cy - 8], { class: "pl-here" }));
  }
  return chart;
}
