/** The bars: one group per drawing of a phase. During a drag only what changed is touched. */

import { arrivals, exposedSegments } from "../model/measures";
import type { Solved } from "../model/solver";
import type { Phase } from "../model/types";
import { attr, px, svg } from "./dom";
import { brief, number } from "./format";
import { abbreviations, fit, textWidth } from "./labels";
import type { Item, Layout } from "./layout";
import type { TimeScale } from "./scale";
import { hatchPath, shape } from "./shapes";
import type { ViewState } from "./state";

export interface Fonts { inside: string; outside: string }

interface Drawn {
  item: Item;
  group: SVGGElement;
  ghost: SVGRectElement;
  wait: SVGRectElement | null;
  tail: SVGRectElement;
  fill: SVGRectElement;
  hatch: SVGPathElement | null;
  label: SVGTextElement;
  note: SVGTextElement;
  title: SVGTitleElement;
  start: SVGRectElement;
  /** The first pixels of a bar right behind another: the other's end. */
  seam: SVGRectElement;
  end: SVGRectElement;
  pin: SVGGElement | null;
  /** The name without what its row says anyway, and as short as can be. */
  short: [string, string];
  /** What was drawn last, part by part, to draw only what differs. */
  x: number;
  y: number;
  flags: number;
  width: number;
  before: number;
  after: number;
  tailWidth: number;
  duration: number;
  float: number;
  line: number;
  gap: number;
  length: string;
  hatched: string;
  /** What the hatch leaves free for the label. */
  plate: readonly [number, number];
  ghosted: number;
}

/** Room an end handle takes outside its bar, in px, when its neighbours leave it. */
const REACH = 9;

export class Bars {
  readonly layer = svg("g", { class: "sv-bars" });
  readonly ghosts = svg("g", { class: "sv-ghosts", "aria-hidden": "true" });
  private drawn: Drawn[] = [];
  private waits = new Map<number, Map<number, number>>();
  /** While a gesture runs, spoken labels and titles wait: they cost more than the drawing. */
  private quick = false;

  constructor(private readonly uid: string, private readonly coarse: boolean) {}

  group(name: string): SVGGElement | null {
    for (const bar of this.drawn) if (bar.group.dataset["phase"] === name) return bar.group;
    return null;
  }

  /** The group of an item of the layout, and the item of a group. */
  at(item: number): SVGGElement | undefined {
    return this.drawn[item]?.group;
  }

  itemOf(element: Element | null): number {
    const group = element?.closest("[data-phase]");
    return group ? this.drawn.findIndex((bar) => bar.group === group) : -1;
  }

  /** Build the groups of a new layout. */
  build(layout: Layout, solved: Solved, scale: TimeScale): void {
    this.drawn = layout.items.map((item) =>
      this.create(item, solved.doc.phases[item.phase] as Phase, layout.density.bar));
    // Hairs lie over their neighbours, so that a hand can get at them.
    const thin = (bar: Drawn): boolean =>
      (solved.doc.phases[bar.item.phase] as Phase).duration * scale.pxPerMs < 8;
    const groups = [...this.drawn.filter((bar) => !thin(bar)), ...this.drawn.filter(thin)];
    this.layer.replaceChildren(...groups.map((bar) => bar.group));
    this.ghosts.replaceChildren(...this.drawn.map((bar) => bar.ghost));
  }

  private create(item: Item, phase: Phase, height: number): Drawn {
    const fill = svg("rect", { class: "sv-fill", "data-handle": "body" });
    const collective = item.member;
    const wait = collective
      ? svg("rect", { class: "sv-wait", height: px(height * 0.5), y: px(height * 0.25) }) : null;
    const hatch = phase.kind === "exchange"
      ? svg("path", { class: "sv-hatch", "fill-rule": "evenodd", fill: `url(#${this.uid}-hatch)` }) : null;
    const bar: Drawn = {
      item, fill, wait, hatch, pin: null,
      short: abbreviations(phase.phase, item.rank),
      x: NaN, y: NaN, flags: -1, width: NaN, before: NaN, after: NaN, tailWidth: NaN, duration: NaN, float: NaN,
      line: NaN, gap: NaN, length: "", hatched: "", plate: [0, 0], ghosted: NaN,
      group: svg("g", {
        class: `sv-bar sv-k-${phase.kind}`, "data-phase": phase.phase, "data-rank": item.rank,
        "data-kind": phase.kind, role: "button", tabindex: "-1", "aria-roledescription": "phase",
      }),
      ghost: svg("rect", { class: "sv-ghost", height: height + 6, rx: 5 }),
      tail: svg("rect", { class: "sv-tail", height: px(height * 0.42), y: px(height * 0.29), rx: 1.5 }),
      label: svg("text", { class: "sv-label", y: px(height / 2), dy: ".35em", "text-anchor": "middle" }),
      note: svg("text", { class: "sv-note", y: px(height / 2), dy: ".35em" }),
      title: svg("title"),
      start: svg("rect", { class: "sv-grip", "data-handle": "start", height, y: 0 }),
      seam: svg("rect", { class: "sv-grip", height, y: 0, x: 0, width: 0 }),
      end: svg("rect", { class: "sv-grip", "data-handle": "end", height, y: 0 }),
    };
    const parts: (Element | string)[] = [bar.title, bar.tail];
    if (wait) parts.push(wait);
    parts.push(fill);
    if (hatch) parts.push(hatch);
    parts.push(bar.label, " ", bar.note, bar.start, bar.end, bar.seam);
    bar.group.append(...parts);
    return bar;
  }

  /** Bring every bar to `solved`; `baseline` gives the ghosts. */
  update(
    layout: Layout, scale: TimeScale, solved: Solved, baseline: Solved, state: ViewState, fonts: Fonts,
    quick: boolean,
  ): void {
    const { doc } = solved;
    this.quick = quick;
    this.waits.clear();
    const exposed = new Map<number, readonly (readonly [number, number])[]>();
    for (const row of layout.rows) {
      // The next bar of the row bounds tails, notes and grips.
      for (let place = 0; place < row.items.length; place++) {
        const bar = this.drawn[row.items[place] as number] as Drawn;
        const phase = doc.phases[bar.item.phase] as Phase;
        if (phase.kind === "exchange" && !exposed.has(row.rank)) {
          exposed.set(row.rank, exposedSegments(solved, "exchange", row.rank));
        }
        const before = this.drawn[row.items[place - 1] ?? -1];
        const after = this.drawn[row.items[place + 1] ?? -1];
        this.place(bar, phase, row.y, layout.density.bar, scale, solved, state, fonts,
          before?.group.dataset["phase"] ?? null,
          before ? scale.x(solved.finish[before.item.phase] as number) : -Infinity,
          after ? scale.x(solved.start[after.item.phase] as number) : scale.right + 22,
          exposed.get(row.rank) ?? []);
        this.ghost(bar, phase, row.y, scale, solved, baseline);
      }
    }
  }

  private place(
    bar: Drawn, phase: Phase, y: number, height: number, scale: TimeScale, solved: Solved,
    state: ViewState, fonts: Fonts, previousName: string | null, previous: number, next: number,
    exposed: readonly (readonly [number, number])[],
  ): void {
    const i = bar.item.phase;
    const start = solved.start[i] as number;
    const finish = solved.finish[i] as number;
    const float = solved.totalFloat[i] as number;
    const critical = solved.critical[i] === 1;
    const x = px(scale.x(start));
    const end = px(scale.x(finish));
    const selected = state.selection.has(phase.phase);
    const roomy = selected || state.hover === phase.phase || state.focus === phase.phase;
    const arrival = bar.wait ? this.arrival(solved, i, bar.item.rank) : start;
    // From the duration, not from the two ends: those are rounded, and would make it flicker.
    const width = px(phase.duration * scale.pxPerMs);
    const moved = x !== bar.x || y !== bar.y;
    if (moved) {
      bar.x = x;
      bar.y = y;
      bar.group.setAttribute("transform", `translate(${x} ${y})`);
    }
    const flags = (critical ? 1 : 0) + (selected ? 2 : 0) + (roomy ? 4 : 0);
    const reflagged = flags !== bar.flags;
    if (reflagged) {
      bar.flags = flags;
      const { classList } = bar.group;
      classList.toggle("sv-critical", critical);
      classList.toggle("sv-selected", selected);
      attr(bar.group, "aria-pressed", String(selected));
    }
    // Most bars that a drag moves are only pushed along: their shape is as it was.
    const zero = phase.duration === 0;
    const half = zero ? Math.min(9, height / 2) : 0;
    const before = Math.min(40, Math.round(x - previous));
    const after = Math.min(40, Math.round(next - end));
    const resized = width !== bar.width || phase.duration !== bar.duration;
    const reshaped = resized || before !== bar.before || after !== bar.after || reflagged;
    if (reshaped) {
      bar.width = width;
      bar.before = before;
      bar.after = after;
      shape(bar.fill, width, half, height);
      this.grips(bar, width, half, x - previous, next - end, roomy, previousName);
    }
    const tailEnd = Math.min(scale.x(Math.min(finish + float, solved.completion)), next);
    const tail = Math.max(0, px(tailEnd - end));
    if (resized || tail !== bar.tailWidth) {
      attr(bar.tail, "x", width);
      attr(bar.tail, "width", tail);
    }
    if (bar.wait) {
      const from = px(Math.max(scale.x(arrival), previous));
      attr(bar.wait, "x", from - x);
      attr(bar.wait, "width", Math.max(0, px(x - from)));
    }
    if (resized) {
      bar.duration = phase.duration;
      bar.length = brief(phase.duration);
      this.label(bar, phase, width, fonts, scale.left - x, scale.right - x);
    }
    const hatch = bar.hatch ? hatchPath(exposed, start, finish, scale, x, height, bar.plate) : "";
    if (bar.hatch && hatch !== bar.hatched) {
      bar.hatched = hatch;
      attr(bar.hatch, "d", hatch === "" ? null : hatch);
    }
    const gap = Math.min(400, Math.round(next - end));
    const toLine = scale.x(solved.completion) - x;
    // Only near the completion line does it matter where that is.
    const line = toLine - width - tail < 200 ? Math.round(toLine) : 9999;
    if (resized || tail !== bar.tailWidth || gap !== bar.gap || line !== bar.line || float !== bar.float
      || reflagged || (half > 0 && moved)) {
      bar.tailWidth = tail;
      bar.gap = gap;
      bar.line = line;
      bar.float = float;
      this.note(bar, phase, start, width, half, tail, float, next - end, fonts, solved.completion, line, height);
    }
    if (phase.release > 0 || bar.pin) this.pin(bar, phase, start, x, height, scale);
    if (!this.quick) this.name(bar, phase, start, finish, float, critical, arrival);
  }

  private name(
    bar: Drawn, phase: Phase, start: number, finish: number, float: number, critical: boolean,
    arrival: number,
  ): void {
    const { phase: name, kind } = phase;
    const { label, note, length } = bar;
    // First what is written on the bar and beside it: that is what it is called by voice.
    const head = `${name} ${length}${critical ? ", critical" : `, ${brief(float)} float`}`;
    const written = label.textContent || (note.textContent ?? "");
    const exactly = number(phase.duration) === length ? "" : `, exactly ${number(phase.duration)} ms`;
    attr(bar.group, "aria-label", `${head.includes(written) ? "" : `${written}: `}${head}${exactly}`
      + `${name.toLowerCase().includes(kind) ? "" : `, ${kind}`}, from ${number(start)} to ${number(finish)} ms`);
    const title = `${phase.phase} · ${phase.kind}\n${number(phase.duration)} ms: ${number(start)} – `
      + `${number(finish)}\n${critical ? "on the critical path" : `total float ${number(float)} ms`}`
      + (bar.wait && arrival < start ? `\nwaits ${number(start - arrival)} ms for the last rank` : "");
    if (bar.title.textContent !== title) bar.title.textContent = title;
  }

  private arrival(solved: Solved, phase: number, rank: number): number {
    let known = this.waits.get(phase);
    if (!known) this.waits.set(phase, (known = arrivals(solved, phase)));
    return known.get(rank) ?? (solved.start[phase] as number);
  }

  private grips(
    bar: Drawn, width: number, half: number, before: number, after: number, roomy: boolean,
    previous: string | null,
  ): void {
    const reach = this.coarse ? REACH * 1.8 : REACH;
    const inside = Math.min(this.coarse ? 12 : 7, width / 3);
    // The end has the right of way on a seam: changing a length is the commonest gesture.
    const out = roomy ? reach : Math.min(reach, Math.max(2, after / 2 + 1));
    attr(bar.end, "x", px(width + half - inside));
    attr(bar.end, "width", px(Math.max(8, inside + out)));
    const left = roomy && before > 6 ? reach : Math.min(reach, Math.max(0, before / 2 - 2));
    const shift = left > 0 ? -left : Math.min(4, width / 4);
    attr(bar.start, "x", px(shift - half));
    attr(bar.start, "width", px(Math.max(0, Math.min(inside - shift, left + inside))));
    // Bars lie over the ones before them, so the end of one is taken from within the next.
    const near = left === 0 && before > -4 && before < 4;
    attr(bar.seam, "data-seam", near ? previous : null);
    attr(bar.seam, "x", near ? px(-Math.max(0, before)) : 0);
    attr(bar.seam, "width", near ? px(Math.max(0, before) + shift) : 0);
  }

  /** The label stands in the middle of what is seen of the bar: from `left` to `right`. */
  private label(
    bar: Drawn, phase: Phase, width: number, fonts: Fonts, left: number, right: number,
  ): void {
    const { phase: name } = phase;
    const { length, short: [short, tiny] } = bar;
    const from = Math.max(0, left);
    const to = Math.max(from, Math.min(width, right));
    const inside = phase.duration === 0 ? ""
      : fit([`${name} ${length}`, `${short} ${length}`, name, short, tiny], to - from - 8, fonts.inside);
    if (bar.label.textContent !== inside) bar.label.textContent = inside;
    const middle = px((from + to) / 2);
    attr(bar.label, "x", middle);
    const room = bar.hatch === null || inside === "" ? -1 : textWidth(inside, fonts.inside) / 2 + 5;
    bar.plate = [middle - room, middle + room];
  }

  /** Beside the bar: what did not fit into it, and its float. */
  private note(
    bar: Drawn, phase: Phase, start: number, width: number, half: number, tail: number, float: number,
    gap: number, fonts: Fonts, completion: number, line: number, height: number,
  ): void {
    const name = phase.phase;
    const inside = bar.label.textContent !== "";
    const candidates: string[] = [];
    // Where rows are dense, captions belong to what is on the critical path or under the hand.
    const captioned = height >= 20 || (bar.flags & 5) !== 0;
    const spare = float > 1e-9 * Math.max(1, completion) && Number.isFinite(float)
      ? `${brief(float)} float` : "";
    if (!inside) {
      const label = half > 0 && phase.kind === "input" ? `ready at ${brief(start)}` : `${name} ${bar.length}`;
      if (spare) candidates.push(`${label} · ${spare}`);
      candidates.push(label, name);
    } else if (spare) {
      candidates.push(spare);
    }
    let note = "";
    let at = width + half + (tail > 0 ? tail + 5 : 6);
    if (captioned && candidates.length > 0 && gap + width > at) {
      // The completion line does not strike through a note: the note steps behind it.
      if (at < line + 6 && at + textWidth(candidates[0] as string, fonts.outside) > line) at = line + 7;
      const room = gap + width - at - 6;
      note = candidates.find((candidate) => textWidth(candidate, fonts.outside) <= room) ?? "";
    }
    // No room beyond the tail: the float is written on it.
    if (note === "" && inside && spare && height >= 28) {
      note = [spare, ...(height >= 34 ? [brief(float)] : [])]
        .find((candidate) => textWidth(candidate, fonts.outside) <= tail - 4) ?? "";
      if (note !== "") at = width + (tail - textWidth(note, fonts.outside)) / 2;
    }
    if (bar.note.textContent !== note) bar.note.textContent = note;
    if (note !== "") attr(bar.note, "x", px(at));
  }

  private ghost(
    bar: Drawn, phase: Phase, y: number, scale: TimeScale, solved: Solved, baseline: Solved,
  ): void {
    const was = baseline.index.get(phase.phase);
    const i = bar.item.phase;
    const tolerance = 1e-9 * Math.max(1, solved.completion);
    const moved = was !== undefined
      && (Math.abs((baseline.start[was] as number) - (solved.start[i] as number)) > tolerance
        || Math.abs((baseline.finish[was] as number) - (solved.finish[i] as number)) > tolerance);
    const x = moved ? px(scale.x(baseline.start[was] as number)) : -1e9;
    if (x === bar.ghosted) return;
    bar.ghosted = x;
    attr(bar.ghost, "display", moved ? null : "none");
    if (!moved) return;
    attr(bar.ghost, "x", x);
    attr(bar.ghost, "y", y - 3);
    attr(bar.ghost, "width", px(Math.max(3, scale.x(baseline.finish[was] as number) - x)));
  }

  /** A release stands as a pin on the bar's row, at its own time, also where something later holds. */
  private pin(
    bar: Drawn, phase: Phase, start: number, x: number, height: number, scale: TimeScale,
  ): void {
    if (!(phase.release > 0)) {
      bar.pin?.remove();
      bar.pin = null;
      return;
    }
    if (!bar.pin) {
      bar.pin = svg("g", { class: "sv-pin", "data-role": "pin", "data-pin": phase.phase },
        svg("title"),
        svg("rect", { class: "sv-pin-hit", x: -9, y: -15, width: 18, height: 18 }),
        svg("path", { class: "sv-pin-stem", d: `M0 -4V${height}` }),
        svg("path", { class: "sv-pin-head", d: "M-5.5 -14H5.5V-8L0 -2.5L-5.5 -8Z" }),
        svg("path", { class: "sv-pin-cross", d: "M-2.2 -11.6L2.2 -7.2M2.2 -11.6L-2.2 -7.2" }));
      (bar.pin.firstChild as SVGTitleElement).textContent = "";
      bar.group.append(bar.pin);
    }
    const holds = Math.abs(phase.release - start) <= 1e-9 * Math.max(1, start);
    bar.pin.classList.toggle("sv-idle", !holds);
    attr(bar.pin, "transform", `translate(${px(scale.x(phase.release) - x)} 0)`);
    const title = `released at ${number(phase.release)} ms${holds ? "" : "; something later holds it"}`
      + " · click to remove";
    const element = bar.pin.firstChild as SVGTitleElement;
    if (element.textContent !== title) element.textContent = title;
  }
}
