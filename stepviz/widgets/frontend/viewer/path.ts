/**
 * The critical path over the lanes: a rail above each track while the path runs in it, linked to
 * the next track's, and an outline around each piece that is wide enough.
 */

import type { Layer } from "./layers";
import type { Row } from "./rows";
import type { Drawn } from "./stage";
import type { Look } from "./state";
import { besideLane, NOWHERE, PATH } from "./types";

/** Pieces at least this wide are outlined, px. */
const OUTLINED = 5;
/** A stay in a track shorter than this is drawn as part of the one before, px: else lines fill the picture. */
const STAY = 6;

/** The row a piece is drawn in: its lane's, what stands for it, or else its rank's own. */
export function rowOf(look: Look, lane: number, rank: number): Row | null {
  const { rows, of } = look.rows;
  if (lane !== NOWHERE) {
    const at = of.get(lane);
    if (at !== undefined) return rows[at] ?? null;
  }
  const found = look.scene.ranks.find((one) => one.rank === rank);
  return found === undefined ? null : rows[of.get(found.summary) ?? -1] ?? null;
}

/** The first row of a row's track, above which its rail runs. */
function railOf(look: Look, row: Row): Row {
  if (row.track === null || row.folded) return row;
  return look.rows.rows[look.rows.of.get(row.track.first) ?? -1] ?? row;
}

export interface Stay { from: number; to: number; readonly rail: Row }

/** Where the path stays, in px: one stay after the other, none shorter than `least` but the first. */
export function stays(look: Look, layer: Layer, least = STAY): Stay[] {
  const [low, high] = layer.span(PATH);
  const found: Stay[] = [];
  let row: Row | null = null;
  let rank = NaN;
  for (let k = Math.max(low, layer.firstFrom(PATH, look.range.start) - 1); k < high; k++) {
    const from = look.x(layer.start(k));
    if (from > look.width) break;
    const lane = besideLane(layer.at[k - low] as number);
    const shown = layer.shown[k - low] as number;
    // What runs in no lane is a gap beside what ran before.
    if (lane !== NOWHERE || row === null || shown !== rank) row = rowOf(look, lane, shown);
    rank = shown;
    if (row === null) continue;
    const rail = railOf(look, row);
    const last = found.at(-1);
    const to = look.x(layer.finish(k));
    if (last !== undefined && last.rail === rail) last.to = to;
    else if (last !== undefined && last.to - last.from < least && found.length > 1) {
      // Too short to be seen: the stay before goes on, and may be where this one is.
      found.pop();
      const before = found.at(-1) as Stay;
      before.to = from;
      if (before.rail === rail) before.to = to;
      else found.push({ from, to, rail });
    } else found.push({ from, to, rail });
  }
  return found;
}

export interface Run { from: number; to: number; readonly kind: number; readonly rank: number }

/** Stretches of the path of one kind on one rank, in px; short pieces between them are passed over. */
export function pathRuns(look: Look, layer: Layer, least = STAY): Run[] {
  const [low, high] = layer.span(PATH);
  const found: Run[] = [];
  for (let k = layer.firstFrom(PATH, look.range.start); k < high; k++) {
    const from = look.x(layer.start(k));
    if (from > look.width) break;
    const to = look.x(layer.finish(k));
    const kind = layer.kinds[k] as number;
    const rank = layer.shown[k - low] as number;
    let last = found.at(-1);
    if (last !== undefined && (last.kind !== kind || last.rank !== rank) && last.to - last.from < least) {
      found.pop(); // the one before may go on
      last = found.at(-1);
    }
    if (last !== undefined && last.kind === kind && last.rank === rank && from - last.to < least) last.to = to;
    else found.push({ from, to, kind, rank });
  }
  return found;
}

export function drawPath(context: CanvasRenderingContext2D, look: Look, drawn: Drawn, head: number): void {
  const layer = drawn.layers.main(PATH, look.range, look.pixel);
  if (layer === null) return;
  const { palette } = drawn;
  const line = new Path2D();
  const top = (row: Row): number => head + row.y - look.scroll;
  stays(look, layer).forEach(({ from, to, rail }, k) => {
    const y = top(rail) - 1;
    if (k === 0) line.moveTo(from, y);
    else line.lineTo(from, y);
    line.lineTo(Math.min(to, look.width + 10), y);
  });
  const [low, high] = layer.span(PATH);
  const boxes = new Path2D();
  for (let k = layer.firstFrom(PATH, look.range.start); k < high; k++) {
    const a = Math.max(-4, look.x(layer.start(k)));
    const b = Math.min(look.width + 4, look.x(layer.finish(k)));
    if (a > look.width) break;
    const lane = layer.at[k - low] as number;
    if (b - a < OUTLINED || lane < 0) continue; // of a gap there is nothing to outline
    const row = rowOf(look, lane, NaN);
    if (row === null || row.track === null) continue;
    boxes.rect(a + 0.5, top(row) + 1.5, b - a - 1.5, row.height - 3);
  }
  context.lineJoin = "round";
  // A rim in the background's colour keeps the line apart from what it crosses.
  context.strokeStyle = palette.background;
  context.lineWidth = 5;
  context.globalAlpha = 0.7;
  context.stroke(line);
  context.globalAlpha = 1;
  context.strokeStyle = palette.ink;
  context.lineWidth = 2.2;
  context.stroke(line);
  context.lineWidth = 1.8;
  context.stroke(boxes);
}
