/** The drawing: scale and layout, and the layers that are kept in step with a solved timeline. */

import { slowestRank } from "../model/measures";
import type { Solved } from "../model/solver";
import type { Phase } from "../model/types";
import { Arrows } from "./arrows";
import { Axis, AXIS_HEIGHT, FOOT_HEIGHT } from "./axis";
import { Bars } from "./bars";
import { attr, html, px, show, svg, text } from "./dom";
import { number } from "./format";
import { textWidth } from "./labels";
import { type Item, type Layout, layOut, ranksOf, type Row, wholeRows } from "./layout";
import { Overlay } from "./overlay";
import { fitEnd, TimeScale } from "./scale";
import type { Context } from "./state";
import { Strip, STRIP_HEIGHT } from "./strip";

/** Without a height of the user's, rows beyond this are scrolled to, px. */
const MOST = 620;

export class Chart {
  readonly element: HTMLElement;
  readonly scroller = html("div", { class: "sv-scroll" });
  private readonly frame = html("div", { class: "sv-frame" }, this.scroller);
  private readonly onward = html("button", { type: "button", class: "sv-link", "data-role": "onward" });
  private readonly more = html("div", { class: "sv-more", "data-role": "more", hidden: true },
    html("span"), this.onward);
  readonly body: SVGSVGElement;
  readonly head: SVGSVGElement;
  readonly below: SVGSVGElement;
  readonly bars: Bars;
  readonly arrows = new Arrows();
  readonly overlay: Overlay;
  readonly strip: Strip;
  private readonly axis = new Axis();
  private readonly names = svg("g", { class: "sv-names" });
  private readonly stripes = svg("g", { class: "sv-stripes" });
  private readonly clips: SVGRectElement[];
  layout: Layout;
  scale = new TimeScale(0, 1, 1, 0);
  width = 0;
  private cut = false;
  private domain = 0;
  /** The time the plot would show unzoomed. */
  private whole = 1;
  private laidOut: readonly Phase[] = [];
  private family = "system-ui, sans-serif";

  constructor(private readonly context: Context, pick: (kind: string) => void) {
    const { uid, root } = context;
    const coarse = matchMedia("(any-pointer: coarse)").matches;
    this.bars = new Bars(uid, coarse);
    this.strip = new Strip(uid, pick);
    this.overlay = new Overlay(coarse);
    this.clips = [0, 1].map(() => svg("rect", { y: -20 }));
    const clip = (name: string, k: number): SVGClipPathElement =>
      svg("clipPath", { id: `${uid}-${name}` }, this.clips[k] as SVGRectElement);
    const hatch = svg("pattern", {
      id: `${uid}-hatch`, class: "sv-hatch-pattern", width: 6, height: 6,
      patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    }, svg("rect", { width: 6, height: 6 }), svg("line", { x1: 1, x2: 1, y1: 0, y2: 6 }));
    this.head = svg("svg", { class: "sv-head-svg", height: AXIS_HEIGHT, "aria-hidden": "true" },
      this.axis.head);
    this.body = svg("svg", {
      class: "sv-body", "data-role": "chart", role: "application",
      "aria-roledescription": "timeline editor", "aria-label": "timeline",
      "aria-describedby": `${uid}-hint`,
    },
    svg("defs", {}, clip("body", 0), hatch), this.stripes,
    svg("g", { "clip-path": `url(#${uid}-body)` }, this.axis.lines, this.bars.ghosts,
      this.axis.marks, this.arrows.layer, this.bars.layer, this.arrows.front, this.arrows.pills,
      this.overlay.layer),
    // Over the lines and pins: a title is read first.
    this.names, this.overlay.free);
    this.below = svg("svg", { class: "sv-below", height: FOOT_HEIGHT + STRIP_HEIGHT, "aria-hidden": "true" },
      svg("defs", {}, clip("below", 1)),
      this.axis.foot,
      svg("g", { transform: `translate(0 ${FOOT_HEIGHT})` }, this.strip.layer));
    attr(this.strip.parts, "clip-path", `url(#${uid}-below)`);
    this.scroller.append(this.head, this.body);
    this.element = html("div", { class: "sv-chart" }, this.frame, this.more, this.below, this.strip.sum);
    this.scroller.addEventListener("scroll", () => this.cue(), { signal: context.signal, passive: true });
    this.onward.addEventListener("click", () => this.goTo(slowestRank(context.session.shown)), { signal: context.signal });
    this.layout = layOut(context.session.shown, context.state.hidden);
    void root;
  }

  get font(): string {
    return this.family;
  }

  /** Everything again: after an edit of the structure, a resize, a filter, a zoom. */
  relayout(solved: Solved): void {
    const { session, state, root } = this.context;
    const style = getComputedStyle(root);
    this.family = style.fontFamily || this.family;
    this.layout = layOut(solved, state.hidden);
    this.laidOut = solved.doc.phases;
    const most = wholeRows(this.layout, Math.max(120, session.height ?? MOST) - AXIS_HEIGHT);
    this.scroller.style.maxHeight = `${most + AXIS_HEIGHT}px`;
    this.cut = most < Math.ceil(this.layout.height);
    // Set the height before the width is read: a scroll bar takes from it.
    attr(this.body, "height", Math.ceil(this.layout.height));
    const width = this.scroller.clientWidth;
    this.width = width;
    if (width <= 0) return; // hidden: nothing is drawn before it is seen again
    root.dataset["density"] = this.layout.density.name;
    root.dataset["ranks"] = String(ranksOf(solved.doc).length);
    const labels = this.layout.rows.map((row) => textWidth(row.label, `500 12.5px ${this.family}`));
    const gutter = Math.round(Math.min(Math.max(64, ...labels) + 30, Math.max(84, width * 0.22)));
    this.rescale(solved, gutter, width);
    for (const element of [this.head, this.body, this.below]) attr(element, "width", width);
    // A diamond at 0 reaches a little left of the plot; zoomed in, bars end at its edge.
    const edge = this.scale.left - (this.scale.origin > 0 ? 0 : 14);
    for (const clip of this.clips) {
      attr(clip, "x", px(edge));
      attr(clip, "width", px(width - edge));
      attr(clip, "height", Math.ceil(this.layout.height) + 60);
    }
    this.drawNames(gutter, width);
    this.tellMore(solved);
    this.bars.build(this.layout, solved, this.scale);
    this.arrows.clear();
    this.overlay.clear();
    this.axis.layout(this.scale, Math.ceil(this.layout.height), this.whole, this.family);
    this.update(solved);
  }

  private rescale(solved: Solved, gutter: number, width: number): void {
    const { session, state } = this.context;
    // With a target there may be work after the completion: it must be seen as well.
    const latest = solved.finish.reduce((most, finish) => Math.max(most, finish), session.baseline.completion);
    const end = fitEnd(latest);
    // Keep the scale over small edits: a scale that moves under the hand hides the change.
    if (end > this.domain || end < this.domain * 0.62) this.domain = end;
    const right = width - 18;
    const room = Math.max(40, right - gutter);
    // "= 750 ms" stands right of the strip's end.
    const beyond = Math.min(textWidth(`= ${number(solved.completion)} ms`, `700 13px ${this.family}`), room / 4);
    const least = Math.min(room / this.domain, Math.max(20, room - beyond)
      / Math.max(latest, 1e-9));
    this.whole = room / least;
    if (state.zoom) {
      const pxPerMs = Math.min(Math.max(state.zoom.pxPerMs, least), least * 100_000);
      const origin = Math.min(Math.max(0, state.zoom.origin), room / least - room / pxPerMs);
      state.zoom = pxPerMs <= least * 1.0001 ? null : { pxPerMs, origin };
    }
    this.scale = new TimeScale(gutter, right,
      state.zoom?.pxPerMs ?? least, state.zoom?.origin ?? 0);
    const { root } = this.context;
    root.dataset["pxPerMs"] = String(this.scale.pxPerMs);
    root.dataset["x0"] = String(this.scale.x(0));
  }

  /** Forget the kept scale: fit the step again. */
  fit(): void {
    this.domain = 0;
    this.context.state.zoom = null;
    this.context.redraw("layout");
  }

  zoomBy(factor: number, at?: number): void {
    const x = at ?? (this.scale.left + this.scale.right) / 2;
    const time = this.scale.time(x);
    const pxPerMs = this.scale.pxPerMs * factor;
    this.context.state.zoom = { pxPerMs, origin: time - (x - this.scale.left) / pxPerMs };
    this.context.redraw("layout");
  }

  panBy(pixels: number): void {
    const { state } = this.context;
    if (!state.zoom) return;
    state.zoom = { ...state.zoom, origin: state.zoom.origin - pixels / state.zoom.pxPerMs };
    this.context.redraw("layout");
  }

  /** Bring a bar into view after the keyboard moved to it. */
  reveal(name: string): void {
    const { session, state } = this.context;
    const index = session.shown.index.get(name);
    if (index === undefined) return;
    const start = session.shown.start[index] as number;
    const finish = session.shown.finish[index] as number;
    if (state.zoom && (finish < this.scale.origin || start > this.scale.end)) {
      state.zoom = { ...state.zoom, origin: start - 40 / state.zoom.pxPerMs };
      this.context.redraw("layout");
    }
    const item = this.first(index);
    const row = item ? this.layout.rows[item.row] : undefined;
    if (!row) return;
    const top = row.y + AXIS_HEIGHT - this.scroller.scrollTop;
    if (top < AXIS_HEIGHT + 8) this.scroller.scrollTop -= AXIS_HEIGHT + 8 - top;
    const below = top + this.layout.density.bar + 12 - this.scroller.clientHeight;
    if (below > 0) this.scroller.scrollTop += below;
  }

  private drawNames(gutter: number, width: number): void {
    const names: SVGElement[] = [];
    const stripes: SVGElement[] = [];
    const { rows, headings, density } = this.layout;
    const leading = slowestRank(this.context.session.shown);
    headings.forEach((heading, k) => {
      const label = svg("text", { class: "sv-rank-name", x: 14, y: heading.y + 9 });
      label.textContent = `rank ${heading.rank}${heading.rank === leading ? ", the slowest" : ""}`;
      names.push(svg("rect", { class: "sv-rank-plate", x: 10, y: heading.y - 4, height: 17,
        width: px(textWidth(label.textContent, `700 12px ${this.family}`) + 8) }), label);
      if (k > 0) stripes.push(svg("line", { class: "sv-rank-line", x1: 8, x2: width - 8, y1: heading.y - 6, y2: heading.y - 6 }));
    });
    for (const row of rows) {
      stripes.push(svg("rect", {
        class: "sv-row", x: gutter - 6, width: Math.max(0, width - gutter - 4), y: row.y - 4,
        height: density.bar + 8, rx: 5,
      }));
      if (row.label === "") continue;
      const label = svg("text", {
        class: "sv-lane-name", x: gutter - 14, y: row.y + density.bar / 2, dy: ".35em",
        "text-anchor": "end",
      });
      const title = svg("title");
      title.textContent = row.label;
      label.textContent = shorten(row.label, gutter - 26, `500 12.5px ${this.family}`);
      label.append(title);
      names.push(label);
    }
    this.names.replaceChildren(...names);
    this.stripes.replaceChildren(...stripes);
  }

  /** The rows that don't fit, and the way to those that the headline speaks of. */
  private tellMore(solved: Solved): void {
    const { headings } = this.layout;
    show(this.more, this.cut);
    const rank = slowestRank(solved);
    text(this.onward, `go to rank ${rank}, the slowest`);
    if (this.cut) {
      text(this.more.firstChild as HTMLElement, headings.length > 1 ? `${headings.length} ranks, more below · ` : "more rows below");
      show(this.onward, headings.some((heading) => heading.rank === rank));
    }
    this.cue();
  }

  /** Shade the edges beyond which there are more rows. */
  private cue(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    const hidden = [scrollTop > 2 ? "above" : "", this.cut && scrollTop + clientHeight < scrollHeight - 2 ? "below" : ""];
    attr(this.frame, "data-hidden-rows", hidden.join(" ").trim() || null);
  }

  /** Scroll to a rank's rows. */
  goTo(rank: number): void {
    const heading = this.layout.headings.find((other) => other.rank === rank);
    if (!heading) return;
    this.element.scrollIntoView({ block: "nearest" });
    this.scroller.scrollTop = heading.y - 8;
  }

  /** Move what is drawn to `solved`, whose structure is that of the last `relayout`. */
  update(solved: Solved): void {
    if (this.width <= 0) return;
    const { session, state } = this.context;
    const small = this.layout.density.name === "dense" ? 10 : this.layout.density.name === "compact" ? 11 : 12.5;
    this.bars.update(this.layout, this.scale, solved, session.baseline, state, {
      inside: `600 ${small}px ${this.family}`, outside: `${Math.min(11, small)}px ${this.family}`,
    }, session.dragging);
    this.arrows.update(this.layout, this.scale, solved, state, `600 11px ${this.family}`);
    this.axis.update(this.scale, solved, session.baseline, session.baselineName, this.family);
    this.strip.update(this.scale, solved, this.layout.headings.length > 0, this.family);
    this.overlay.update(this.layout, this.scale, solved, state);
  }

  /** A point of the page in the drawing's pixels. */
  point(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const box = this.body.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** The bar at a point, generously: for dropping arrows. */
  itemAt(point: { x: number; y: number }, solved: Solved): Item | null {
    const { rows, items, density } = this.layout;
    const slack = Math.min(density.gap / 2, 14);
    let best: Item | null = null;
    let least = 14;
    for (const row of rows) {
      if (point.y < row.y - slack || point.y > row.y + density.bar + slack) continue;
      for (const k of row.items) {
        const item = items[k] as Item;
        const start = this.scale.x(solved.start[item.phase] as number);
        const finish = this.scale.x(solved.finish[item.phase] as number);
        const off = Math.max(start - point.x, point.x - finish, 0)
          + Math.max(row.y - point.y, point.y - row.y - density.bar, 0) / 2;
        if (off < least) {
          least = off;
          best = item;
        }
      }
    }
    return best;
  }

  /** Those of some phases that no filter hides. */
  visible(names: readonly string[]): string[] {
    const { shown } = this.context.session;
    return names.filter((name) => this.layout.of.has(shown.index.get(name) ?? -1));
  }

  /** Whether the layout is of this timeline: the same phases, in the same rows. */
  fits(solved: Solved): boolean {
    const { phases } = solved.doc;
    return phases === this.laidOut || (phases.length === this.laidOut.length
      && phases.every(({ phase }, row) => phase === this.laidOut[row]?.phase));
  }

  /** The first drawing of a phase: a collective has one per rank, a filtered one none. */
  first(phase: number): Item | undefined {
    return this.layout.items[(this.layout.of.get(phase) ?? [])[0] ?? -1];
  }

  phaseOf(item: Item, solved: Solved): Phase {
    return solved.doc.phases[item.phase] as Phase;
  }

  rowOf(item: Item): Row {
    return this.layout.rows[item.row] as Row;
  }
}

function shorten(label: string, room: number, font: string): string {
  if (textWidth(label, font) <= room) return label;
  let length = label.length - 1;
  while (length > 1 && textWidth(`${label.slice(0, length)}…`, font) > room) length--;
  return `${label.slice(0, length)}…`;
}
