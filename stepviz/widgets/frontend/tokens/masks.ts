/** Masks drawn token by token: rows of cells, one scale for both layouts. */

import { html, px, svg } from "../view/dom";
import type { Run, Side } from "./types";

const ROW = 22;
const GAP = 4;
/** Cells are this wide at most, so that eight positions don't fill a screen. */
const WIDEST = 34;
/** Narrower cells run together. */
const TOLD_APART = 5;

export interface Scale { readonly cell: number; readonly ms: number }

/** One scale for both, so that fewer positions and less time look like less. */
export function scaleOf(sides: readonly Side[], room: number, roomOfTime: number): Scale {
  const width = Math.max(1, ...sides.map((side) => side.width));
  const ms = Math.max(...sides.map((side) => side.ms));
  return { cell: Math.max(0.05, Math.min(WIDEST, room / width)), ms: ms > 0 ? roomOfTime / ms : 0 };
}

/** What a row says to those who don't see it. */
export function rowWords(runs: readonly Run[]): string {
  const names = { prompt: "prompt", completion: "completion not scored", target: "scored", padding: "padding" };
  return runs.map(([, length, what]) => `${length} ${names[what]}`).join(", ");
}

export function drawMasks(side: Side, scale: Scale, hatch: string): HTMLElement {
  const { cell } = scale;
  const apart = cell >= TOLD_APART;
  const gap = apart ? Math.min(2, cell / 8) : 0;
  const height = side.rows.length * (ROW + GAP);
  const width = px(side.width * cell + 2);
  const drawing = svg("svg", { class: "tk-masks", width, height, role: "img", "aria-label": side.rows.map((runs, k) => `row ${k + 1}: ${rowWords(runs)}`).join("; ") },
    svg("defs", {}, svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "tk-hatch" }))));
  side.rows.forEach((runs, row) => {
    const y = row * (ROW + GAP) + 1;
    const group = svg("g", { class: "tk-row" });
    for (const [start, length, what, sequence] of runs) {
      const cells = apart ? length : 1;
      const wide = apart ? cell : cell * length;
      for (let k = 0; k < cells; k++) {
        const x = px(1 + (start + (apart ? k : 0)) * cell);
        const rect = svg("rect", { x, y, width: px(Math.max(0.5, wide - gap)), height: ROW - 2, rx: Math.min(3, cell / 6), class: `tk-cell tk-${what}` });
        if (what === "padding") rect.style.fill = `url(#${hatch})`;
        group.append(rect);
        if (what === "target" && cell >= 12) {
          const mark = svg("text", { x: px(x + (wide - gap) / 2), y: y + 15, class: "tk-mark", "text-anchor": "middle" });
          mark.textContent = "✓";
          group.append(mark);
        }
      }
      if (sequence > 0 && start > 0 && sequence !== before(runs, start)) {
        const x = px(1 + start * cell - gap / 2);
        group.append(svg("line", { x1: x, x2: x, y1: y - 2, y2: y + ROW, class: "tk-bound" }));
      }
    }
    drawing.append(group);
  });
  return html("div", { class: "tk-drawing" }, drawing);
}

/** The sequence of the run that ends where this one starts. */
function before(runs: readonly Run[], start: number): number {
  return runs.find(([from, length]) => from + length === start)?.[3] ?? -1;
}
