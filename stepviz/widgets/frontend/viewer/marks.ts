/** What is marked: the block under the pointer, what is chosen, a range, an exchange's other parts. */

import type { Layer } from "./layers";
import { rowOf } from "./path";
import type { Row } from "./rows";
import type { Drawn } from "./stage";
import type { Look } from "./state";
import { PATH } from "./types";
import { duration } from "./words";

interface Piece { readonly lane: number; readonly start: number; readonly finish: number }

export function drawMarks(context: CanvasRenderingContext2D, look: Look, drawn: Drawn, head: number): void {
  const { palette } = drawn;
  const { hovered, chosen, band } = look;
  const marked = hovered ?? (chosen?.lane == null ? null : { ...chosen, lane: chosen.lane });
  if (marked !== null) together(context, look, drawn, head, marked);
  if (hovered !== null) outline(context, look, head, hovered, palette.ink, 1.5);
  if (chosen !== null && chosen.lane !== null) outline(context, look, head, { ...chosen, lane: chosen.lane }, palette.accent, 3);
  const range = band ?? (chosen?.lane === null ? chosen : null);
  if (range !== null) measured(context, look, drawn, head, range);
}

function rowFor(look: Look, lane: number): Row | null {
  return lane === PATH ? null : rowOf(look, lane, NaN);
}

function outline(context: CanvasRenderingContext2D, look: Look, head: number, piece: Piece, colour: string, width: number): void {
  const row = rowFor(look, piece.lane);
  if (row === null) return;
  const a = Math.max(-6, look.x(piece.start));
  const b = Math.min(look.width + 6, Math.max(look.x(piece.finish), a + 2));
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(a - 0.5, head + row.y - look.scroll + 0.5, b - a + 1, row.height - 1);
}

/** Of an exchange, all ranks' parts and the moment from which it moves. */
function together(context: CanvasRenderingContext2D, look: Look, drawn: Drawn, head: number, piece: Piece): void {
  const of = look.rows.of.get(piece.lane);
  const own = of === undefined ? null : look.rows.rows[of] ?? null;
  if (own?.track?.role !== "exchange" || piece.lane === PATH) return;
  const name = drawn.layers.at(piece.lane, (piece.start + piece.finish) / 2);
  if (name === null) return;
  const code = nameAt(name, piece);
  if (code === null) return;
  const moves = look.scene.kinds.indexOf("exchange");
  let began = -Infinity;
  const boxes: [Piece, Row][] = [];
  for (const row of look.rows.rows) {
    if (row.track?.role !== "exchange") continue;
    const layer = drawn.layers.at(row.lane, (piece.start + piece.finish) / 2);
    if (layer === null) continue;
    const [, high] = layer.span(row.lane);
    for (let k = layer.firstFrom(row.lane, look.range.start); k < high && layer.start(k) <= look.range.finish; k++) {
      if (layer.names[k] !== code) continue;
      boxes.push([{ lane: row.lane, start: layer.start(k), finish: layer.finish(k) }, row]);
      if (layer.kinds[k] === moves) began = Math.max(began, layer.start(k));
    }
  }
  if (boxes.length < 2) return;
  for (const [box] of boxes) outline(context, look, head, box, drawn.palette.accent, 1.5);
  if (!Number.isFinite(began)) return;
  const x = Math.round(look.x(began)) + 0.5;
  const ys = boxes.map(([, row]) => head + row.y - look.scroll);
  context.strokeStyle = drawn.palette.accent;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x, Math.min(...ys));
  context.lineTo(x, Math.max(...ys) + 18);
  context.stroke();
  context.setLineDash([]);
}

function nameAt(layer: Layer, piece: Piece): number | null {
  const [, high] = layer.span(piece.lane);
  for (let k = layer.firstFrom(piece.lane, piece.start); k < high && layer.start(k) <= piece.finish; k++) {
    if (Math.abs(layer.start(k) - piece.start) < 2) return layer.names[k] as number;
  }
  return null;
}

function measured(context: CanvasRenderingContext2D, look: Look, drawn: Drawn, head: number, range: { start: number; finish: number }): void {
  const { palette } = drawn;
  const a = look.x(range.start);
  const b = look.x(range.finish);
  context.globalAlpha = 0.14;
  context.fillStyle = palette.accent;
  context.fillRect(a, head, b - a, look.height - head);
  context.globalAlpha = 1;
  context.fillRect(Math.round(a), head, 1, look.height - head);
  context.fillRect(Math.round(b), head, 1, look.height - head);
  const text = duration(range.finish - range.start);
  context.font = `600 12px ${palette.family}`;
  const width = context.measureText(text).width + 14;
  const x = Math.max(2, Math.min(look.width - width - 2, (a + b) / 2 - width / 2));
  context.fillStyle = palette.ink;
  context.fillRect(x, head + 6, width, 20);
  context.fillStyle = palette.background;
  context.textBaseline = "middle";
  context.fillText(text, x + 7, head + 16.5);
}
