/** Drags that draw an arrow or attach one elsewhere. */

import type { Dependency } from "../model/types";
import { anchor, arrives, leaves, linkType } from "./arrows";
import type { Chart } from "./chart";
import type { Drag } from "./drags";
import { nameOf } from "./explain";
import type { Pointer } from "./gestures";
import type { Item } from "./layout";
import { type Context, type End, rowOf } from "./state";

/** Draws a new arrow, or re-attaches one: both look for a bar's end under the hand. */
abstract class Linking implements Drag {
  protected found: { item: Item; end: End } | null = null;
  constructor(protected readonly context: Context, protected readonly chart: Chart) {}
  begin(): void {
    this.context.root.classList.add("sv-linking");
  }

  protected abstract from(): { item: Item; end: End } | null;
  protected abstract caption(name: string, end: End): string;
  protected abstract apply(name: string, end: End): void;

  move(now: Pointer): void {
    const { chart, context } = this;
    const solved = context.session.solved;
    const start = this.from();
    if (!start) return;
    const item = chart.itemAt(now, solved);
    const name = item ? nameOf(solved, item.phase) : "";
    this.found = null;
    if (item && item.phase !== start.item.phase) {
      const middle = (chart.scale.x(solved.start[item.phase] as number)
        + chart.scale.x(solved.finish[item.phase] as number)) / 2;
      this.found = { item, end: now.x < middle ? "start" : "finish" };
    }
    const origin = anchor(start.item, start.end, 0, solved, chart.scale, chart.layout);
    const y = now.y > origin.bottom ? origin.bottom : now.y < origin.top ? origin.top : origin.bottom;
    let at: { x: number; y: number } | null = null;
    if (this.found) {
      const seat = anchor(this.found.item, this.found.end, 0, solved, chart.scale, chart.layout);
      at = { x: seat.x, y: seat.top > y ? seat.top : seat.bottom };
    }
    chart.overlay.setRubber({ x: origin.x, y }, now, at);
    chart.overlay.tooltip(this.found ? this.caption(name, this.found.end) : "drop on a bar’s start or end",
      now.x, now.y - 38, chart.width, chart.font);
  }

  commit(): void {
    this.context.root.classList.remove("sv-linking");
    if (this.found) this.apply(nameOf(this.context.session.solved, this.found.item.phase), this.found.end);
  }

  cancel(): void {
    this.context.root.classList.remove("sv-linking");
  }
}

/** "optimizer starts after exchange has finished": an arrow's meaning before it is made. */
export function meaning(source: string, from: End, target: string, to: End): string {
  const verb = to === "start" ? "starts" : "finishes";
  return `${linkType(from, to)}: ${target} ${verb} after ${source} ${from === "start" ? "has started" : "has finished"}`;
}

class PortDrag extends Linking {
  constructor(context: Context, chart: Chart, private readonly phase: string, private readonly end: End) {
    super(context, chart);
  }

  protected from(): { item: Item; end: End } | null {
    const item = this.chart.first(rowOf(this.context.session.solved, this.phase));
    return item ? { item, end: this.end } : null;
  }

  protected caption(name: string, end: End): string {
    return meaning(this.phase, this.end, name, end);
  }

  protected apply(name: string, end: End): void {
    connect(this.context, this.phase, this.end, name, end);
  }
}

/** Make an arrow and choose it, so that its lag and type are at hand. */
export function connect(context: Context, source: string, from: End, target: string, to: End): void {
  const { session } = context;
  session.apply({
    op: "connect",
    dependency: { source, target, type: linkType(from, to), lag: 0, origin: "assumed" },
  });
  context.selectArrow(session.doc.dependencies.length - 1);
}

class ArrowEndDrag extends Linking {
  constructor(
    context: Context, chart: Chart, private readonly row: number, private readonly side: "source" | "target",
  ) {
    super(context, chart);
  }

  private get dependency(): Dependency {
    return this.context.session.doc.dependencies[this.row] as Dependency;
  }

  protected from(): { item: Item; end: End } | null {
    const { dependency } = this;
    const fixed = this.side === "source" ? dependency.target : dependency.source;
    const item = this.chart.first(rowOf(this.context.session.solved, fixed));
    const end = this.side === "source" ? arrives(dependency.type) : leaves(dependency.type);
    return item ? { item, end } : null;
  }

  protected caption(name: string, end: End): string {
    const { dependency } = this;
    return this.side === "source"
      ? meaning(name, end, dependency.target, arrives(dependency.type))
      : meaning(dependency.source, leaves(dependency.type), name, end);
  }

  protected apply(name: string, end: End): void {
    const { dependency } = this;
    this.context.session.apply({
      op: "relink", row: this.row,
      changes: this.side === "source"
        ? { source: name, type: linkType(end, arrives(dependency.type)) }
        : { target: name, type: linkType(leaves(dependency.type), end) },
    });
  }
}

export const dragPort = (c: Context, chart: Chart, phase: string, end: End): Drag => new PortDrag(c, chart, phase, end);
export const dragArrowEnd = (c: Context, chart: Chart, row: number, side: "source" | "target"): Drag =>
  new ArrowEndDrag(c, chart, row, side);
