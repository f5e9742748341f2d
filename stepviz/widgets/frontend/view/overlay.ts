/** What appears over the bars while somebody works: ports, grips, the value being dragged. */

import type { Solved } from "../model/solver";
import { anchor, arrives, leaves } from "./arrows";
import { attr, px, svg } from "./dom";
import { textWidth } from "./labels";
import type { Item, Layout, Row } from "./layout";
import type { TimeScale } from "./scale";
import type { End, ViewState } from "./state";

export class Overlay {
  /** Clipped to the plot. */
  readonly layer = svg("g", { class: "sv-overlay" });
  /** Not clipped: the tooltip may leave the plot. */
  readonly free = svg("g", { class: "sv-free", "aria-hidden": "true" });
  private readonly ports = svg("g");
  private readonly ends = svg("g");
  private readonly marquee = svg("rect", { class: "sv-marquee", display: "none" });
  private readonly rubber = svg("path", { class: "sv-rubber", display: "none" });
  private readonly target = svg("circle", { class: "sv-target", r: 8, display: "none" });
  private readonly tether = svg("path", { class: "sv-tether", display: "none" });
  private readonly knob = svg("circle", { class: "sv-knob", r: 6, display: "none" });
  private readonly tip = svg("g", { class: "sv-tip", display: "none" },
    svg("rect", { height: 24, rx: 6 }), svg("text", { y: 12, dy: ".35em", "text-anchor": "middle" }));
  private key = "";

  constructor(private readonly coarse: boolean) {
    this.layer.append(this.ends, this.ports, this.tether, this.knob, this.rubber, this.target, this.marquee);
    this.free.append(this.tip);
  }

  clear(): void {
    this.key = "";
  }

  update(layout: Layout, scale: TimeScale, solved: Solved, state: ViewState): void {
    const active = new Set<string>();
    if (state.dragging === null) {
      for (const name of [state.primary, state.hover, state.focus]) if (name !== null) active.add(name);
    }
    const wanted: { item: Item; name: string }[] = [];
    for (const name of active) {
      const index = solved.index.get(name);
      if (index === undefined) continue;
      for (const k of layout.of.get(index) ?? []) wanted.push({ item: layout.items[k] as Item, name });
    }
    const places = wanted.map(({ item, name }) => {
      const row = layout.rows[item.row] as Row;
      const start = scale.x(solved.start[item.phase] as number);
      const finish = scale.x(solved.finish[item.phase] as number);
      return { item, name, start, finish, top: row.y, bottom: row.y + layout.density.bar };
    });
    const key = places.map((p) => `${p.name}@${p.item.rank}:${px(p.start)}:${px(p.finish)}:${p.top}`).join("|")
      + `#${state.arrow}#${state.primary}`;
    if (key === this.key) return;
    this.key = key;
    this.ports.replaceChildren(...places.flatMap((place) => {
      // Ports of a short bar step apart, so that either can be hit.
      const apart = Math.max(0, (this.coarse ? 30 : 18) - (place.finish - place.start)) / 2;
      return [
        this.port(place.name, "start", place.start - apart, place.bottom + 1),
        this.port(place.name, "finish", place.finish + apart, place.bottom + 1),
      ];
    }));
    // Crowded bars get grips of full size once they are the ones worked on, and the chosen one's
    // lie over its neighbours: who chose a bar means its ends.
    this.ends.replaceChildren(...places.flatMap((place) => {
      if (place.finish - place.start < 26) {
        return [this.grip(place, "start", place.start - 12), this.grip(place, "end", place.finish + 2)];
      }
      return place.name === state.primary
        ? [this.grip(place, "start", place.start - 5), this.grip(place, "end", place.finish - 5)] : [];
    }));
    this.arrowEnds(layout, scale, solved, state);
  }

  private port(name: string, end: End, x: number, y: number): SVGGElement {
    const group = svg("g", {
      class: "sv-port", "data-port": end, "data-of": name, transform: `translate(${px(x)} ${px(y)})`,
    }, svg("circle", { class: "sv-port-hit", r: this.coarse ? 14 : 8 }), svg("circle", { class: "sv-port-dot", r: 4.5 }));
    const title = svg("title");
    title.textContent = `drag an arrow from the ${end} of ${name}`;
    group.append(title);
    return group;
  }

  private grip(
    place: { name: string; top: number; bottom: number }, handle: "start" | "end", x: number,
  ): SVGRectElement {
    return svg("rect", {
      class: "sv-grip", "data-handle": handle, "data-of": place.name, x: px(x), y: place.top,
      width: 10, height: place.bottom - place.top,
    });
  }

  /** The chosen arrow's own ends: drag one onto another bar's end to attach it there. */
  private arrowEnds(layout: Layout, scale: TimeScale, solved: Solved, state: ViewState): void {
    if (state.arrow === null) return;
    const dependency = solved.dependencies.find((other) => other.row === state.arrow);
    if (!dependency) return;
    for (const side of ["source", "target"] as const) {
      const item = layout.items[(layout.of.get(dependency[side]) ?? [])[0] ?? -1];
      const other = layout.items[(layout.of.get(dependency[side === "source" ? "target" : "source"]) ?? [])[0] ?? -1];
      if (!item || !other) continue;
      const end = side === "source" ? leaves(dependency.type) : arrives(dependency.type);
      const seat = anchor(item, end, 0, solved, scale, layout);
      const y = other.row < item.row ? seat.top : seat.bottom;
      this.ports.append(svg("circle", {
        class: "sv-arrow-end", "data-arrow-end": side, "data-row": state.arrow,
        cx: px(seat.x), cy: px(y), r: this.coarse ? 10 : 6,
      }));
    }
  }

  /** The bubble with the dragged value, above (or, at the top, below) a point. */
  tooltip(content: string | null, x = 0, y = 0, width = 0, font = ""): void {
    attr(this.tip, "display", content === null ? "none" : null);
    if (content === null) return;
    const label = this.tip.lastChild as SVGTextElement;
    if (label.textContent !== content) label.textContent = content;
    const room = textWidth(content, `600 12px ${font}`) + 20;
    const rect = this.tip.firstChild as SVGRectElement;
    attr(rect, "x", px(-room / 2));
    attr(rect, "width", px(room));
    const left = Math.min(Math.max(x, room / 2 + 4), Math.max(room / 2 + 4, width - room / 2 - 4));
    attr(this.tip, "transform", `translate(${px(left)} ${px(Math.max(0, y))})`);
  }

  setKnob(x: number | null, y = 0): void {
    attr(this.knob, "display", x === null ? "none" : null);
    if (x === null) return;
    attr(this.knob, "cx", px(x));
    attr(this.knob, "cy", px(y));
  }

  /** A dotted line from where the hand is to the bar's end that did not follow. */
  setTether(from: number | null, to = 0, y = 0): void {
    const apart = from !== null && Math.abs(from - to) > 2;
    attr(this.tether, "display", apart ? null : "none");
    if (apart) attr(this.tether, "d", `M${px(from)} ${px(y)}H${px(to)}`);
  }

  setMarquee(box: { x: number; y: number; width: number; height: number } | null): void {
    attr(this.marquee, "display", box === null ? "none" : null);
    if (box) for (const [name, value] of Object.entries(box)) attr(this.marquee, name, px(value));
  }

  /** The arrow being drawn, and the end it would attach to. */
  setRubber(
    from: { x: number; y: number } | null, to: { x: number; y: number } = { x: 0, y: 0 },
    at: { x: number; y: number } | null = null,
  ): void {
    attr(this.rubber, "display", from === null ? "none" : null);
    attr(this.target, "display", from === null || at === null ? "none" : null);
    if (from === null) return;
    const end = at ?? to;
    const bend = Math.min(60, Math.abs(end.y - from.y) / 2 + 10) * (end.y >= from.y ? 1 : -1);
    attr(this.rubber, "d", `M${px(from.x)} ${px(from.y)}C${px(from.x)} ${px(from.y + bend)} `
      + `${px(end.x)} ${px(end.y - bend)} ${px(end.x)} ${px(end.y)}`);
    if (at) {
      attr(this.target, "cx", px(at.x));
      attr(this.target, "cy", px(at.y));
    }
  }
}
