/** The dependency arrows. Lane order is drawn only where it decides something one can't see. */

import type { LinkType } from "../model/types";
import type { ScheduledDependency, Solved } from "../model/solver";
import { attr, px, svg } from "./dom";
import { lag as lagText } from "./format";
import { textWidth } from "./labels";
import type { Item, Layout, Row } from "./layout";
import { alongRow, type Anchor, assignTracks, type Route, route } from "./routes";
import type { TimeScale } from "./scale";
import { type End, rowOf, type ViewState } from "./state";

export const leaves = (type: LinkType): End => (type[0] === "F" ? "finish" : "start");
export const arrives = (type: LinkType): End => (type[1] === "F" ? "finish" : "start");
export const linkType = (from: End, to: End): LinkType =>
  `${from === "finish" ? "F" : "S"}${to === "finish" ? "F" : "S"}` as LinkType;

interface Drawn {
  group: SVGGElement;
  line: SVGPathElement;
  hit: SVGPathElement;
  head: SVGPathElement;
  pill: SVGGElement | null;
  key: string;
  strength: number;
}

interface Wanted { index: number; dependency: ScheduledDependency; from: Item; to: Item; strength: number }

/** More arrows than this are thinned to the critical, the chosen and the hovered ones. */
export const MANY = 90;

export class Arrows {
  /** Behind the bars, so that an arrow never strikes through a label … */
  readonly layer = svg("g", { class: "sv-arrows" });
  /** … but the ones asked for lie in front. */
  readonly front = svg("g", { class: "sv-arrows" });
  /** Stacked by strength, so that an arrow moves in the document only when its strength changes. */
  private readonly stack = [0, 1, 2, 3].map(() => svg("g"));
  readonly pills = svg("g", { class: "sv-pills" });
  private readonly drawn = new Map<string, Drawn>();
  /** How many of the stored arrows are drawn, for the note that says so. */
  shown = 0;
  total = 0;

  update(
    layout: Layout, scale: TimeScale, solved: Solved, state: ViewState, font: string,
  ): void {
    const wanted = this.choose(layout, solved, state);
    const seats = this.seats(wanted, solved, scale, layout);
    const tracks = wanted.length <= 400
      ? assignTracks(wanted.map((arrow, k) => ({
        gap: (seats[k] as Ends).along ? -2 : gapOf(arrow), from: (seats[k] as Ends).from.x, to: (seats[k] as Ends).to.x,
      })), Math.max(1, Math.min(5, Math.floor((layout.density.gap - 8) / 6))))
      : wanted.map((_, k) => k % 3);
    const ways = wanted.map((arrow, k) => wayOf(arrow, seats[k] as Ends, tracks[k] as number, layout));
    const places = this.label(wanted, ways, seats, scale, layout, state, font);
    const alive = new Set<string>();
    wanted.forEach((arrow, k) => {
      const { dependency } = arrow;
      const key = dependency.row >= 0
        ? `${dependency.row}:${arrow.from.rank}:${arrow.to.rank}:${arrow.from.row}:${arrow.to.row}`
        : `lane:${dependency.source}:${dependency.target}:${arrow.to.rank}`;
      alive.add(key);
      let drawn = this.drawn.get(key);
      if (!drawn) this.drawn.set(key, (drawn = this.create(dependency)));
      this.draw(drawn, arrow, seats[k] as Ends, ways[k] as Route, places[k] ?? null, layout, state);
    });
    for (const [key, drawn] of this.drawn) {
      if (alive.has(key)) continue;
      drawn.group.remove();
      drawn.pill?.remove();
      this.drawn.delete(key);
    }
  }

  constructor() {
    this.layer.append(...this.stack.slice(0, 3));
    this.front.append(this.stack[3] as SVGGElement);
  }

  clear(): void {
    this.drawn.clear();
    for (const layer of this.stack) layer.replaceChildren();
    this.pills.replaceChildren();
  }

  /** Which arrows to draw; the strongest last, so that they lie on top. */
  private choose(layout: Layout, solved: Solved, state: ViewState): Wanted[] {
    const all = solved.doc.dependencies.length;
    const thin = all > MANY && !state.allArrows;
    const held = state.held === null ? -1 : solved.binding[rowOf(solved, state.held)] ?? -1;
    const chosen = state.primary === null ? -1 : solved.binding[rowOf(solved, state.primary)] ?? -1;
    const names = solved.doc.phases;
    const wanted: Wanted[] = [];
    this.total = all;
    const seen = new Set<number>();
    solved.dependencies.forEach((dependency, index) => {
      const source = (names[dependency.source] as { phase: string }).phase;
      const target = (names[dependency.target] as { phase: string }).phase;
      const lit = index === held || index === chosen;
      const touched = state.selection.has(source) || state.selection.has(target)
        || state.hover === source || state.hover === target;
      if (dependency.row < 0 && !lit) return;
      if (thin && !dependency.critical && !lit && !touched && state.arrow !== dependency.row) return;
      const strength = lit || (dependency.row >= 0 && state.arrow === dependency.row) ? 3
        : dependency.critical ? 2 : touched ? 1 : 0;
      for (const [from, to] of pairs(layout, dependency)) {
        seen.add(dependency.row);
        wanted.push({ index, dependency, from, to, strength });
      }
    });
    seen.delete(-1);
    this.shown = seen.size;
    return wanted.sort((a, b) => a.strength - b.strength || a.index - b.index);
  }

  /** Where each arrow leaves and arrives; several at one bar end sit side by side. */
  private seats(wanted: Wanted[], solved: Solved, scale: TimeScale, layout: Layout): Ends[] {
    const used = new Map<string, number>();
    const seat = (item: Item, end: End, upper: boolean): number => {
      const key = `${item.phase}:${item.rank}:${end}:${upper}`;
      const count = used.get(key) ?? 0;
      used.set(key, count + 1);
      return count;
    };
    const ends: Ends[] = new Array<Ends>(wanted.length);
    // The strongest are seated first: they get the corner itself.
    for (let k = wanted.length - 1; k >= 0; k--) {
      const { dependency, from, to } = wanted[k] as Wanted;
      const down = to.row > from.row;
      const same = to.row === from.row;
      const leaving = leaves(dependency.type);
      const arriving = arrives(dependency.type);
      const x1 = scale.x(solved.finish[from.phase] as number);
      const x2 = scale.x(solved.start[to.phase] as number);
      if (same && dependency.type === "FS" && x2 >= x1 - 1 && neighbours(layout, from, to)) {
        const corner = anchor(from, "finish", 0, solved, scale, layout);
        ends[k] = { from: corner, to: corner, along: [x1, x2] };
        continue;
      }
      ends[k] = {
        along: null,
        from: anchor(from, leaving, seat(from, leaving, !down && !same), solved, scale, layout),
        to: anchor(to, arriving, seat(to, arriving, down), solved, scale, layout),
      };
    }
    return ends;
  }

  private create(dependency: ScheduledDependency): Drawn {
    const drawn: Drawn = {
      group: svg("g", { class: "sv-arrow" }), line: svg("path", { class: "sv-line" }),
      hit: svg("path", { class: "sv-arrow-hit" }), head: svg("path", { class: "sv-head" }),
      pill: null, key: "", strength: -1,
    };
    attr(drawn.group, dependency.row >= 0 ? "data-dependency" : "data-lane-dependency",
      dependency.row >= 0 ? dependency.row : dependency.target);
    drawn.group.append(drawn.hit, drawn.line, drawn.head);
    return drawn;
  }

  private draw(
    drawn: Drawn, arrow: Wanted, ends: Ends, way: Route, place: Place | null, layout: Layout, state: ViewState,
  ): void {
    const { dependency } = arrow;
    const chosen = isChosen(arrow, state);
    const key = `${way.path}|${arrow.strength}|${chosen}|${dependency.critical}|${place?.caption}@${px(place?.x ?? 0)},${px(place?.y ?? 0)}`;
    // A mark on a seam would be hidden behind the bars.
    const seam = ends.along !== null && ends.along[1] - ends.along[0] < headSize(arrow, layout) + 5;
    const level = seam ? 3 : arrow.strength;
    if (drawn.strength !== level) {
      (this.stack[level] as SVGGElement).append(drawn.group);
      drawn.strength = level;
    }
    if (drawn.key === key) return;
    drawn.key = key;
    attr(drawn.line, "d", way.path);
    attr(drawn.hit, "d", way.path);
    attr(drawn.head, "d", way.head);
    const group = drawn.group.classList;
    group.toggle("sv-critical", dependency.critical);
    group.toggle("sv-touched", arrow.strength === 1);
    group.toggle("sv-lit", arrow.strength === 3);
    group.toggle("sv-chosen", chosen);
    group.toggle("sv-seam", seam);
    group.toggle("sv-lane", dependency.row < 0);
    if (!place) {
      drawn.pill?.remove();
      drawn.pill = null;
      return;
    }
    if (!drawn.pill) {
      drawn.pill = svg("g", { class: "sv-pill", "data-lag": dependency.row },
        svg("rect", { height: 18, y: -9, rx: 9 }), svg("text", { dy: ".35em", "text-anchor": "middle" }));
      this.pills.append(drawn.pill);
    }
    drawn.pill.classList.toggle("sv-lit", arrow.strength === 3);
    drawn.pill.classList.toggle("sv-critical", dependency.critical);
    attr(drawn.pill, "transform", `translate(${px(place.x)} ${px(place.y)})`);
    const rect = drawn.pill.firstChild as SVGRectElement;
    attr(rect, "x", px(-place.width / 2));
    attr(rect, "width", px(place.width));
    const label = drawn.pill.lastChild as SVGTextElement;
    if (label.textContent !== place.caption) label.textContent = place.caption;
  }

  /**
   * Where each arrow's lag is written, if it is. The critical ones and those asked for are placed
   * first, beside their run where that is too short; the others only where their run has room.
   */
  private label(
    wanted: Wanted[], ways: Route[], seats: Ends[], scale: TimeScale, layout: Layout, state: ViewState, font: string,
  ): (Place | null)[] {
    const taken: Box[] = [];
    const lines = wanted.length > 150 ? [] : wanted.map((_, k) => uprights(ways[k] as Route, seats[k] as Ends));
    const places = new Array<Place | null>(wanted.length).fill(null);
    for (let k = wanted.length - 1; k >= 0; k--) {
      const arrow = wanted[k] as Wanted;
      const { type, lag, critical } = arrow.dependency;
      const chosen = isChosen(arrow, state);
      const asked = chosen || arrow.strength === 3;
      if (type === "FS" && lag === 0 && !chosen) continue;
      // A lag too small to be seen is read by choosing its arrow; in dense rows there is no room.
      const must = asked || critical && (type !== "FS" || Math.abs(lag) * scale.pxPerMs >= 3);
      if (layout.density.name === "dense" && !asked) continue;
      const caption = `${type}${lagText(lag)}`;
      const width = textWidth(caption, font) + 14;
      const way = ways[k] as Route;
      const inPlot = (box: Box): boolean => box[0] >= scale.left - 8 && box[2] <= scale.right + 16;
      const free = (box: Box): boolean => inPlot(box) && !taken.some((other) => overlaps(other, box));
      let best: Box | null = null;
      let least = Infinity;
      candidates(way, seats[k] as Ends, width, scale, must).forEach((box, rank) => {
        if (!(free(box) || asked && inPlot(box))) return;
        // Nor may another arrow pass between the pill and its own.
        const { from, to } = seats[k] as Ends;
        const nearest = Math.abs(from.x - box[0]) < Math.abs(to.x - box[2]) ? from.x : to.x;
        const [left, right] = [Math.min(box[0] - 3, nearest + 1), Math.max(box[2] + 3, nearest - 1)];
        const crossed = lines.reduce((count, pair, other) => count
          + (other === k ? 0 : pair.filter(([x, top, bottom]) =>
            x > left && x < right && top < box[3] && bottom > box[1]).length), 0);
        const cost = rank + 4 * crossed + (free(box) ? 0 : 100);
        if (cost < least) {
          least = cost;
          best = box;
        }
      });
      if (best === null) continue;
      taken.push(best);
      const [left, top] = best as Box;
      places[k] = { x: left + width / 2, y: top + 9, width, caption };
    }
    return places;
  }
}

type Box = readonly [left: number, top: number, right: number, bottom: number];
interface Place { x: number; y: number; width: number; caption: string }

const isChosen = (arrow: Wanted, state: ViewState): boolean =>
  arrow.dependency.row >= 0 && state.arrow === arrow.dependency.row;

const headSize = (arrow: Wanted, layout: Layout): number =>
  layout.density.name === "dense" ? 5 : arrow.strength >= 2 ? 8 : 7;

function wayOf(arrow: Wanted, ends: Ends, track: number, layout: Layout): Route {
  const size = headSize(arrow, layout);
  return ends.along ? alongRow(ends.along[0], ends.along[1], ends.from, size)
    : route(ends.from, ends.to, trackY(arrow, layout, track), size);
}

/** Boxes for a pill, the best first: on the run, right or left of the arrow, across its corners. */
function candidates(way: Route, ends: Ends, width: number, scale: TimeScale, must: boolean): Box[] {
  const y = way.labelY;
  const box = (middle: number): Box => [middle - width / 2, y - 9, middle + width / 2, y + 9];
  const [from, to] = ends.along ?? [ends.from.x, ends.to.x];
  // In the middle of what is seen of the run.
  const low = Math.max(Math.min(from, to), scale.left);
  const high = Math.min(Math.max(from, to), scale.right);
  const found: Box[] = [];
  if (way.labelRoom >= width - 10 && high - low >= width) found.push(box((low + high) / 2));
  if (!must) return found;
  found.push(box(Math.max(from, to) + width / 2 + 7), box(Math.min(from, to) - width / 2 - 7), box((from + to) / 2));
  return found;
}

/** The upright parts of an arrow: [x, top, bottom]. */
function uprights(way: Route, ends: Ends): [number, number, number][] {
  if (ends.along) return [];
  const { from, to } = ends;
  const y = way.labelY;
  const edge = (seat: Anchor): number => Math.abs(seat.top - y) < Math.abs(seat.bottom - y) ? seat.top : seat.bottom;
  return [from, to].map((seat) => [seat.x, Math.min(y, edge(seat)), Math.max(y, edge(seat))]);
}

interface Ends {
  from: Anchor;
  to: Anchor;
  /** The two ends of an FS arrow between neighbours of one row. */
  along: [number, number] | null;
}

/** A collective's arrows: on each rank with the phase of that rank, else with its first drawing. */
function pairs(layout: Layout, dependency: ScheduledDependency): [Item, Item][] {
  const from = (layout.of.get(dependency.source) ?? []).map((k) => layout.items[k] as Item);
  const to = (layout.of.get(dependency.target) ?? []).map((k) => layout.items[k] as Item);
  if (from.length === 0 || to.length === 0) return [];
  if (from.length === 1 && to.length === 1) return [[from[0] as Item, to[0] as Item]];
  const shared: [Item, Item][] = [];
  for (const a of from) for (const b of to) if (a.rank === b.rank) shared.push([a, b]);
  // Between two collectives one arrow is enough; the other members' are the same dependency.
  if (from.length > 1 && to.length > 1) return shared.slice(0, 1);
  return shared.length > 0 ? shared : [[from[0] as Item, to[0] as Item]];
}

function neighbours(layout: Layout, from: Item, to: Item): boolean {
  const { items } = layout.rows[from.row] as Row;
  const at = items.findIndex((k) => layout.items[k] === from);
  return layout.items[items[at + 1] ?? -1] === to;
}

export function anchor(
  item: Item, end: End, seat: number, solved: Solved, scale: TimeScale, layout: Layout,
): Anchor {
  const row = layout.rows[item.row] as Row;
  const start = scale.x(solved.start[item.phase] as number);
  const finish = scale.x(solved.finish[item.phase] as number);
  const width = finish - start;
  // The corner, a little inside: an arrow must be seen to belong to this bar and this end.
  const inset = Math.min(2 + seat * 6, width / 2);
  return {
    x: end === "start" ? start + inset : finish - inset,
    top: row.y, bottom: row.y + layout.density.bar, row: item.row,
  };
}

/** Gaps are numbered by the row above them; -1 is above the first. */
function gapOf(arrow: Wanted): number {
  const { from, to } = arrow;
  if (from.row === to.row) return to.row;
  return to.row > from.row ? to.row - 1 : to.row;
}

function trackY(arrow: Wanted, layout: Layout, track: number): number {
  const { gap, bar } = layout.density;
  const { from, to } = arrow;
  const target = layout.rows[to.row] as Row;
  // Middle first, then alternating outwards.
  const offset = (track === 0 ? 0 : track % 2 === 1 ? -(track + 1) / 2 : track / 2) * 6;
  const middle = Math.max(gap / 2 - 2, 4);
  if (from.row === to.row) return target.y + bar + Math.min(gap * 0.42, 13) + Math.abs(offset) * 0.6;
  return to.row > from.row ? target.y - middle - 1 + offset : target.y + bar + middle + offset;
}

function overlaps(a: Box, b: Box): boolean {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}
