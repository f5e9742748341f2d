/** Drags that draw an arrow or attach one elsewhere. */

import { type LinkName, linkRow } from "../model/follow";
import type { Gesture } from "../model/session";
import type { Dependency } from "../model/types";
import { anchor, arrives, leaves, linkType } from "./arrows";
import type { Chart } from "./chart";
import { type Drag, Holding, rowOfLink } from "./drags";
import { nameOf } from "./explain";
import type { Pointer } from "./gestures";
import type { Item } from "./layout";
import { type Context, type End, rowOf } from "./state";

/** Draws a new arrow, or re-attaches one: both look for a bar's end under the hand. */
abstract class Linking extends Holding {
  protected found: { item: Item; end: End } | null = null;
  override begin(): void {
    super.begin();
    this.context.root.classList.add("sv-linking");
  }

  protected abstract from(): { item: Item; end: End } | null;
  protected abstract caption(name: string, end: End): string;
  /** Make the arrow, or make it another, through `gesture`. */
  protected abstract apply(gesture: Gesture, name: string, end: End): void;

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

  override commit(): void {
    const { context, found, gesture } = this;
    context.root.classList.remove("sv-linking");
    if (!found || !gesture) return super.commit();
    this.apply(gesture, nameOf(context.session.solved, found.item.phase), found.end);
    this.gesture = null;
  }

  override cancel(): void {
    this.context.root.classList.remove("sv-linking");
    super.cancel();
  }
}

/** "optimizer starts after exchange has finished": an arrow's meaning before it is made. */
export function meaning(source: string, from: End, target: string, to: End): string {
  const verb = to === "start" ? "starts" : "finishes";
  return `${linkType(from, to)}: ${target} ${verb} after ${source} ${from === "start" ? "has started" : "has finished"}`;
}

class PortDrag extends Linking {
  constructor(
    context: Context, chart: Chart, protected override readonly phase: string, private readonly end: End,
  ) {
    super(context, chart, `new arrow from ${phase}`, phase);
  }

  protected from(): { item: Item; end: End } | null {
    const item = this.chart.first(rowOf(this.context.session.solved, this.phase));
    return item ? { item, end: this.end } : null;
  }

  protected caption(name: string, end: End): string {
    return meaning(this.phase, this.end, name, end);
  }

  protected apply(gesture: Gesture, name: string, end: End): void {
    connect(this.context, gesture, this.phase, this.end, name, end);
  }
}

/** End a gesture with a new arrow and choose it, so that its lag and type are at hand. */
export function connect(
  context: Context, gesture: Gesture, source: string, from: End, target: string, to: End,
): void {
  const { session } = context;
  const made = { source, target, type: linkType(from, to) };
  gesture.preview({ op: "connect", dependency: { ...made, lag: 0, origin: "assumed" } });
  gesture.commit();
  const row = linkRow(session.doc, { ...made, nth: 0 }); // none where it fits no longer
  if (row >= 0) context.selectArrow(row);
}

class ArrowEndDrag extends Linking {
  private row = -1;
  constructor(
    context: Context, chart: Chart, private readonly link: LinkName, private readonly side: "source" | "target",
  ) {
    super(context, chart, `${side} of ${link.source} → ${link.target}`, null);
  }

  override begin(): void {
    super.begin();
    this.row = rowOfLink(this.context.session.solved, this.link);
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

  protected apply(gesture: Gesture, name: string, end: End): void {
    const { dependency } = this;
    gesture.preview({
      op: "relink", row: this.row,
      changes: this.side === "source"
        ? { source: name, type: linkType(end, arrives(dependency.type)) }
        : { target: name, type: linkType(leaves(dependency.type), end) },
    });
    gesture.commit();
  }
}

export const dragPort = (c: Context, chart: Chart, phase: string, end: End): Drag => new PortDrag(c, chart, phase, end);
export const dragArrowEnd = (c: Context, chart: Chart, link: LinkName, side: "source" | "target"): Drag =>
  new ArrowEndDrag(c, chart, link, side);
