/** The canvas: axis, the critical path's row, and the lanes below them. */

import { html } from "../view/dom";
import { niceStep } from "../view/scale";
import { decimals } from "../view/format";
import type { Layer, Layers } from "./layers";
import { FOUND } from "./layers";
import { drawMarks } from "./marks";
import { type Brush, paintLane, type Places } from "./paint";
import type { Palette } from "./palette";
import { drawPath, pathRuns } from "./path";
import type { Row } from "./rows";
import { rowsBetween } from "./rows";
import type { Look } from "./state";
import { PATH } from "./types";
import { Fitter } from "./words";

export const AXIS = 24;
export const PATH_ROW = 20;
/** Room above the lanes: the axis and, where there is one, the path's row. */
export const headOf = (look: Look): number => AXIS + (look.scene.path.pieces > 0 ? PATH_ROW + 6 : 2);

/** Words need a block at least this wide, px. */
const LABEL = 34;
/** Blocks at least this wide are parted from the next one, px. */
const PARTED = 4;

/** Kinds in which nothing is done: drawn thinner than work. */
const NO_WORK: ReadonlySet<string> = new Set(["wait", "idle", "before the step", "unexplained"]);

/** What is drawn besides the look itself. */
export interface Drawn {
  readonly layers: Layers;
  readonly names: ReadonlyMap<number, string>;
  readonly palette: Palette;
}

export class Stage {
  readonly canvas = html("canvas", { class: "tv-canvas", "aria-hidden": "true" });
  private readonly context: CanvasRenderingContext2D;
  private readonly lines = document.createElement("canvas");
  private readonly lineContext: CanvasRenderingContext2D;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private fitters = new Map<string, Fitter>();
  private ratio = 1;
  /** How many lanes were painted: thin ones follow the others. */
  private painted = 0;

  constructor() {
    const one = this.canvas.getContext("2d");
    const other = this.lines.getContext("2d");
    if (one === null || other === null) throw new Error("this browser draws no canvas");
    this.context = one;
    this.lineContext = other;
  }

  resize(width: number, height: number): void {
    this.ratio = Math.min(3, Math.max(1, globalThis.devicePixelRatio || 1));
    const [w, h] = [Math.max(1, Math.round(width * this.ratio)), Math.max(1, Math.round(height * this.ratio))];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  draw(look: Look, drawn: Drawn): void {
    const { context } = this;
    const { palette } = drawn;
    const head = headOf(look);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, look.width, look.height);
    const [first, last] = rowsBetween(look.rows.rows, look.scroll, look.scroll + look.height - head);
    const rows = look.rows.rows.slice(first, last);
    const top = (row: Row): number => head + row.y - look.scroll;
    context.save();
    context.beginPath();
    context.rect(0, head, look.width, look.height - head);
    context.clip();
    for (const row of rows) {
      if (row.track !== null) continue;
      context.fillStyle = palette.row;
      context.fillRect(0, top(row), look.width, row.height);
    }
    this.grid(look, palette, head);
    const places = this.paint(look, drawn, [PATH, ...rows.map((row) => row.lane)]);
    rows.forEach((row, k) => this.stretch(k + 1, look, top(row) + 1, row.height - (row.track === null ? 4 : 2)));
    this.shade(look, palette, rows, top);
    if (look.path) drawPath(context, look, drawn, head);
    rows.forEach((row, k) => {
      const size = row.track === null ? 11 : row.height >= 18 ? 11 : 10;
      this.words(places[k + 1] as Places, row.lane, top(row) + 1, row.height - 2, size, look, drawn);
    });
    drawMarks(context, look, drawn, head);
    context.restore();
    this.axis(look, palette, head);
    if (look.scene.path.pieces > 0) {
      this.stretch(0, look, AXIS + 1, PATH_ROW - 2);
      this.words(places[0] as Places, PATH, AXIS + 1, PATH_ROW - 2, 11, look, drawn);
      this.runs(places[0] as Places, AXIS + 1, PATH_ROW - 2, look, drawn);
    }
  }

  /** Paint each lane as lines of pixels; returns where there is room for words. */
  private paint(look: Look, drawn: Drawn, lanes: readonly number[]): Places[] {
    const width = this.canvas.width;
    if (this.image === null || this.image.width !== width || this.image.height < 2 * lanes.length) {
      this.image = new ImageData(width, Math.max(2 * lanes.length, 96));
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.lines.width = width;
      this.lines.height = this.image.height;
    }
    const { kinds } = look.scene;
    const brush: Brush = {
      pixels: this.pixels, lines: lanes.length, width, range: look.range, inks: drawn.palette.inks,
      hidden: Uint8Array.from(kinds, (_, kind) => Number(look.hidden.has(kind))),
      thin: Uint8Array.from(kinds, (kind) => Number(NO_WORK.has(kind))),
      searching: look.search.text !== "" && look.search.count !== 0,
      noted: LABEL * this.ratio, parted: PARTED * this.ratio,
    };
    this.pixels.fill(0, 0, 2 * lanes.length * width);
    const all = lanes.map((lane, line) => {
      const main = drawn.layers.main(lane, look.range, look.pixel);
      const places: Places = [];
      for (const layer of drawn.layers.of(lane, look.range, look.pixel)) {
        paintLane(brush, line, layer, lane, layer === main ? places : null);
      }
      if (main !== null) this.layerOf.set(lane, main);
      return places;
    });
    this.painted = lanes.length;
    this.lineContext.putImageData(this.image, 0, 0, 0, 0, width, 2 * lanes.length);
    return all;
  }

  /** The layer that each lane's words come from. */
  private readonly layerOf = new Map<number, Layer>();

  private stretch(line: number, look: Look, y: number, height: number): void {
    const { context, lines } = this;
    const top = Math.round(y);
    const tall = Math.max(2, Math.round(height));
    const low = Math.max(2, Math.round(tall * 0.55));
    context.imageSmoothingEnabled = false;
    context.drawImage(lines, 0, this.painted + line, lines.width, 1, 0, top + Math.round((tall - low) / 2), look.width, low);
    context.drawImage(lines, 0, line, lines.width, 1, 0, top, look.width, tall);
  }

  private words(places: Places, lane: number, y: number, height: number, size: number, look: Look, drawn: Drawn): void {
    const layer = this.layerOf.get(lane);
    if (layer === undefined || places.length === 0) return;
    const { context } = this;
    const { palette, names } = drawn;
    const font = `500 ${size}px ${palette.family}`;
    const fitter = this.fitter(font);
    context.font = font;
    context.textBaseline = "middle";
    const dimmed = look.search.text !== "" && look.search.count !== 0;
    const [low] = lane === PATH ? layer.span(PATH) : [0];
    for (let k = 0; k < places.length; k += 3) {
      const from = (places[k] as number) / this.ratio;
      const to = (places[k + 1] as number) / this.ratio;
      const block = places[k + 2] as number;
      const several = layer.counts[block] as number;
      let name = names.get(layer.names[block] as number) ?? "";
      if (several > 1) name = `${several} × ${name}`;
      if (lane === PATH) name = `r${layer.shown[block - low] as number} · ${name}`;
      const written = fitter.fit(name, to - from - 8);
      if (written === "") continue;
      const kind = layer.kinds[block] as number;
      context.fillStyle = dimmed && ((layer.flags[block] as number) & FOUND) === 0 ? palette.dim
        : NO_WORK.has(look.scene.kinds[kind] ?? "") ? palette.foreground : palette.labels[kind] as string;
      context.fillText(written, from + 4, y + height / 2 + 0.5);
    }
  }

  /** Say on the path's row what goes on for long, where no single piece is wide enough for words. */
  private runs(places: Places, y: number, height: number, look: Look, drawn: Drawn): void {
    const layer = this.layerOf.get(PATH);
    if (layer === undefined || look.search.text !== "") return;
    const { context } = this;
    const font = `500 11px ${drawn.palette.family}`;
    for (const { from, to, kind, rank } of pathRuns(look, layer)) {
      const [a, b] = [Math.max(0, from), Math.min(look.width, to)];
      const taken = places.some((_, k) => k % 3 === 0
        && (places[k] as number) / this.ratio < b && (places[k + 1] as number) / this.ratio > a);
      const name = look.scene.kinds[kind] ?? "";
      const written = taken ? "" : this.fitter(font).fit(`r${rank} · ${name}`, b - a - 12);
      if (written === "") continue;
      context.font = font;
      const width = context.measureText(written).width;
      context.fillStyle = drawn.palette.fills[kind] as string;
      context.fillRect(a + 2, y, width + 8, height); // the pieces' borders would run through the words
      context.fillStyle = drawn.palette.labels[kind] as string;
      context.fillText(written, a + 6, y + height / 2 + 0.5);
    }
  }

  private fitter(font: string): Fitter {
    let found = this.fitters.get(font);
    if (found === undefined) {
      found = new Fitter((letter) => {
        this.context.font = font;
        return this.context.measureText(letter).width;
      });
      this.fitters.set(font, found);
    }
    return found;
  }

  /** Fade what lies outside each rank's own step, and draw where that begins and ends. */
  private shade(look: Look, palette: Palette, rows: readonly Row[], top: (row: Row) => number): void {
    const { context } = this;
    let k = 0;
    while (k < rows.length) {
      const { place } = rows[k] as Row;
      let last = k;
      while (last + 1 < rows.length && (rows[last + 1] as Row).place === place) last++;
      const rank = look.scene.ranks[place];
      if (rank !== undefined) {
        const y = top(rows[k] as Row);
        const bottom = top(rows[last] as Row) + (rows[last] as Row).height;
        const from = Math.max(0, Math.min(look.width, look.x(rank.start)));
        const to = Math.max(0, Math.min(look.width, look.x(rank.finish)));
        context.globalAlpha = 0.62;
        context.fillStyle = palette.background;
        context.fillRect(0, y, from, bottom - y);
        context.fillRect(to, y, look.width - to, bottom - y);
        context.globalAlpha = 1;
        context.fillStyle = palette.strongLine;
        if (from > 0 && from < look.width) context.fillRect(Math.round(from) - 1, y, 1, bottom - y);
        if (to > 0 && to < look.width) context.fillRect(Math.round(to), y, 1, bottom - y);
      }
      k = last + 1;
    }
  }

  private ticks(look: Look): { step: number; times: number[] } {
    const step = niceStep(look.pixel * 96);
    const times: number[] = [];
    for (let k = Math.ceil(look.range.start / step); k * step <= look.range.finish && times.length < 200; k++) {
      times.push(k * step);
    }
    return { step, times };
  }

  private grid(look: Look, palette: Palette, head: number): void {
    const { context } = this;
    context.fillStyle = palette.line;
    for (const time of this.ticks(look).times) {
      context.fillRect(Math.round(look.x(time)), head, 1, look.height - head);
    }
  }

  private axis(look: Look, palette: Palette, head: number): void {
    const { context } = this;
    const { scene } = look;
    context.font = `11px ${palette.family}`;
    context.textBaseline = "middle";
    const { step, times } = this.ticks(look);
    const digits = Math.max(0, Math.ceil(-Math.log10(step / 1e6) - 1e-9));
    context.fillStyle = palette.dim;
    for (const time of times) {
      const x = look.x(time);
      const shown = decimals(Math.abs(time) / 1e6, digits);
      const text = `${time < 0 && shown !== "0" ? "−" : ""}${shown}${time === 0 ? " ms" : ""}`;
      if (x + context.measureText(text).width + 4 > look.width) continue;
      context.fillText(text, x + 4, 15);
      context.fillRect(Math.round(x), 9, 1, AXIS - 9);
    }
    // Where this lies in the whole.
    const whole = look.limits.finish - look.limits.start;
    context.fillStyle = palette.line;
    context.fillRect(0, 1, look.width, 3);
    context.fillStyle = palette.accent;
    const size = Math.max(6, ((look.range.finish - look.range.start) / whole) * look.width);
    const at = ((look.range.start - look.limits.start) / whole) * look.width;
    context.fillRect(Math.min(at, look.width - size), 1, size, 3);
    // The step's end.
    const end = Math.round(look.x(scene.span));
    context.fillStyle = palette.ink;
    if (end >= 0 && end <= look.width) context.fillRect(end, AXIS - 12, 2, look.height - AXIS + 12);
    context.fillStyle = palette.strongLine;
    context.fillRect(0, head - 1, look.width, 1);
  }
}
