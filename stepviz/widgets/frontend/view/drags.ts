/** What each kind of drag does between press and release. */

import type { Edit } from "../model/edits";
import { type LinkName, linkRow } from "../model/follow";
import { type Sensitivity, sensitivity } from "../model/sensitivity";
import type { Gesture } from "../model/session";
import type { Solved } from "../model/solver";
import { type Dependency, type Phase, Refused } from "../model/types";
import type { Chart } from "./chart";
import { finishHolder, heldBy, nameOf, whyNot } from "./explain";
import { lag as lagText, number } from "./format";
import type { Pointer } from "./gestures";
import type { Item } from "./layout";
import { snap } from "./scale";
import { type Context, rowOf } from "./state";

export interface Drag {
  /** It holds the session, and the drawing with it: the timeline stays what it is to its end. */
  readonly holds: boolean;
  begin(): void;
  move(now: Pointer, origin: Pointer): void;
  commit(): void;
  cancel(): void;
}

const round = (value: number): number => Math.round(value * 1e9) / 1e9;

/**
 * A drag that holds the session. Between the press and the first move another timeline may come, so
 * a drag knows things by name and looks them up when it begins.
 */
export abstract class Holding implements Drag {
  readonly holds = true;
  protected gesture: Gesture | null = null;

  constructor(
    protected readonly context: Context, protected readonly chart: Chart, protected readonly label: string,
    protected readonly phase: string | null,
  ) {}

  begin(): void {
    const { session } = this.context;
    this.gesture = session.begin(this.label);
    if (this.phase !== null && !session.solved.index.has(this.phase)) {
      throw new Refused(`“${this.phase}” is no longer there.`);
    }
  }

  abstract move(now: Pointer, origin: Pointer): void;

  protected preview(edit: Edit): Solved {
    return (this.gesture as Gesture).preview(edit);
  }

  /** What waited is taken, and what was previewed is put on top of it. */
  commit(): void {
    this.gesture?.commit();
    this.gesture = null;
  }

  cancel(): void {
    this.gesture?.cancel();
    this.gesture = null;
  }
}

/** A drag that previews edits through the session. */
abstract class Editing extends Holding {
  protected before: Solved;

  constructor(context: Context, chart: Chart, label: string, phase: string | null) {
    super(context, chart, label, phase);
    this.before = context.session.solved;
  }

  override begin(): void {
    super.begin();
    this.before = this.context.session.solved;
  }

  /** A dragged amount, snapped unless Alt frees it. */
  protected snapped(value: number, now: Pointer, magnets: number[] = []): number {
    return now.free ? round(value) : snap(value, this.chart.scale.pxPerMs, magnets);
  }

  protected tip(content: string, time: number, phase: string, now: Pointer): void {
    const { chart } = this;
    const item = this.itemNear(phase, now.y);
    if (!item) return;
    // On the side away from the middle, where fewer arrows run.
    const y = chart.rowOf(item).y;
    const below = item.row > 0 && item.row >= (chart.layout.rows.length - 1) / 2;
    chart.overlay.tooltip(now.free ? `${content} · free` : content, chart.scale.x(time),
      below ? y + chart.layout.density.bar + 7 : y - 30, chart.width, chart.font);
  }

  /** Which drawing of a phase the hand is on: a collective has one per rank. */
  protected itemNear(phase: string, y: number): Item | null {
    const { chart } = this;
    let best: Item | null = null;
    for (const k of chart.layout.of.get(rowOf(this.before, phase)) ?? []) {
      const item = chart.layout.items[k] as Item;
      if (!best || Math.abs(chart.rowOf(item).y - y) < Math.abs(chart.rowOf(best).y - y)) best = item;
    }
    return best;
  }

  protected knob(time: number, phase: string, now: Pointer): void {
    const item = this.itemNear(phase, now.y);
    if (item) {
      this.chart.overlay.setKnob(this.chart.scale.x(time),
        this.chart.rowOf(item).y + this.chart.layout.density.bar / 2);
    }
  }
}

/** A bar's right end: its duration; the schedule places the bar. All chosen bars scale together. */
class EndDrag extends Editing {
  constructor(context: Context, chart: Chart, protected override readonly phase: string) {
    super(context, chart, `length of ${phase}`, phase);
  }

  private last = NaN;
  private free = false;
  /** Asked at most once per drag: it solves the timeline a few times. */
  private takeover: (() => Sensitivity["takeover"]) = () => {
    const { takeover } = sensitivity(this.before.doc, this.phase);
    this.takeover = () => takeover;
    return takeover;
  };

  move(now: Pointer, origin: Pointer): void {
    const { context, chart, phase } = this;
    const { session, state } = context;
    state.dragging = phase;
    const row = rowOf(this.before, phase);
    const was = (this.before.doc.phases[row] as Phase).duration;
    const wish = was + (now.x - origin.x) / chart.scale.pxPerMs;
    const base = session.baseline.doc.phases[rowOf(session.baseline, phase)];
    const duration = Math.max(0, this.snapped(Math.max(0, wish), now, base ? [base.duration] : []));
    if (duration === this.last && now.free === this.free) return;
    this.last = duration;
    this.free = now.free;
    const together = state.selection.size > 1 && state.selection.has(phase) && was > 0;
    const shown = this.preview(together
      ? { op: "scale", phases: [...state.selection], factor: duration / was }
      : { op: "duration", phase, duration });
    const finish = shown.finish[row] as number;
    const held = !together && duration !== was && Math.abs(finish - (this.before.finish[row] as number))
      < 1e-9 * Math.max(1, finish) && finishHolder(shown, row) !== null;
    state.held = held ? phase : null;
    const hand = (this.before.finish[row] as number) + duration - was;
    this.tip(together ? `× ${(duration / was).toFixed(3)} · ${state.selection.size} phases`
      : held ? `${number(duration)} ms · still ends ${number(finish)}: ${heldBy(shown, row)}`
        : `ends ${number(finish)} · ${number(duration)} ms`, held ? hand : finish, phase, now);
    const item = this.itemNear(phase, now.y);
    if (item) {
      const middle = chart.rowOf(item).y + chart.layout.density.bar / 2;
      chart.overlay.setTether(held ? chart.scale.x(hand) : null, chart.scale.x(finish), middle);
    }
    this.knob(held ? hand : finish, phase, now);
    context.say(together ? null : whyNot(this.before, shown, phase, () => this.takeover()), "why");
  }
}

/** A bar's left end: when it starts, its end staying where it is. */
class StartDrag extends Editing {
  private hold = 0;
  constructor(context: Context, chart: Chart, protected override readonly phase: string) {
    super(context, chart, `start of ${phase}`, phase);
  }

  override begin(): void {
    super.begin();
    const free = this.preview({ op: "release", phase: this.phase, release: 0 });
    this.hold = free.start[rowOf(free, this.phase)] as number;
  }

  move(now: Pointer, origin: Pointer): void {
    const { context, chart, phase } = this;
    context.state.dragging = phase;
    const row = rowOf(this.before, phase);
    const start = this.before.start[row] as number;
    const finish = this.before.finish[row] as number;
    const wish = Math.min(finish, this.snapped(start + (now.x - origin.x) / chart.scale.pxPerMs, now, [this.hold]));
    // A bar whose finish is held follows its length alone; any other needs a pin to start later.
    const byFinish = finishHolder(this.before, row) !== null;
    const floor = byFinish ? 0 : this.hold;
    const held = wish <= floor;
    const from = Math.max(wish, floor);
    const duration: Edit = { op: "duration", phase, duration: round(finish - from) };
    const shown = this.preview(byFinish ? duration : {
      op: "many", edits: [{ op: "release", phase, release: held ? 0 : from }, duration],
    });
    context.state.held = held ? phase : null;
    const now_ = shown.start[row] as number;
    const length = (shown.doc.phases[row] as Phase).duration;
    this.tip(held ? `starts ${number(now_)}: ${heldBy(shown, row)}`
      : `starts ${number(now_)} · ${number(length)} ms`, now_, phase, now);
    this.knob(now_, phase, now);
  }
}

/** A bar's body: its release. At or left of where dependencies hold it, there is none. */
class BodyDrag extends Editing {
  private hold = 0;
  constructor(context: Context, chart: Chart, protected override readonly phase: string) {
    super(context, chart, `release of ${phase}`, phase);
  }

  override begin(): void {
    super.begin();
    const free = this.preview({ op: "release", phase: this.phase, release: 0 });
    this.hold = free.start[rowOf(free, this.phase)] as number;
  }

  move(now: Pointer, origin: Pointer): void {
    const { context, chart, phase } = this;
    context.state.dragging = phase;
    const row = rowOf(this.before, phase);
    const start = this.before.start[row] as number;
    const wish = this.snapped(start + (now.x - origin.x) / chart.scale.pxPerMs, now, [this.hold]);
    const held = wish <= this.hold;
    context.state.held = held ? phase : null;
    const shown = this.preview({ op: "release", phase, release: held ? 0 : wish });
    const begins = shown.start[row] as number;
    this.tip(held ? `starts ${number(begins)}: ${heldBy(shown, row)}`
      : `released at ${number(begins)} · ends ${number(shown.finish[row] as number)}`, begins, phase, now);
    context.say(null);
  }
}

/** An arrow's label: its lag. */
class LagDrag extends Editing {
  private row = -1;
  constructor(context: Context, chart: Chart, private readonly link: LinkName) {
    super(context, chart, `lag of ${link.source} → ${link.target}`, null);
  }

  override begin(): void {
    super.begin();
    this.row = rowOfLink(this.before, this.link);
  }

  move(now: Pointer, origin: Pointer): void {
    const { context, chart } = this;
    const dependency = this.before.doc.dependencies[this.row] as Dependency;
    const wish = dependency.lag + (now.x - origin.x) / chart.scale.pxPerMs;
    const lag = this.snapped(wish, now, [0]);
    context.state.arrow = this.row;
    const shown = this.preview({ op: "relink", row: this.row, changes: { lag } });
    const row = rowOf(shown, dependency.target);
    this.tip(`${dependency.type}${lagText(lag) || " +0"} ms · ${dependency.target} starts ${number(shown.start[row] as number)}`,
      shown.start[row] as number, dependency.target, now);
    const moved = lag !== dependency.lag && shown.completion === this.before.completion;
    context.say(moved ? `${dependency.target} can take it: the completion does not depend on this lag here.` : null, "why");
  }
}

/** The row of a dependency that is about to be edited. Throws Refused where it is gone. */
export function rowOfLink(solved: Solved, link: LinkName): number {
  const row = linkRow(solved.doc, link);
  if (row < 0) throw new Refused(`The arrow from “${link.source}” to “${link.target}” is no longer there.`);
  return row;
}

/** Alt + drag along the lane: another place in its order. */
class ReorderDrag extends Holding {
  private before: string | null | undefined;
  constructor(context: Context, chart: Chart, protected override readonly phase: string) {
    super(context, chart, `order of ${phase}`, phase);
  }

  move(now: Pointer): void {
    const { chart, context, phase } = this;
    const solved = context.session.solved;
    const { phases } = solved.doc;
    const mine = phases[rowOf(solved, phase)] as Phase;
    const lane = phases.filter((other) => other !== mine && other.lane === mine.lane && other.rank === mine.rank);
    const time = chart.scale.time(now.x);
    const next = lane.find((other) => {
      const row = rowOf(solved, other.phase);
      return ((solved.start[row] as number) + (solved.finish[row] as number)) / 2 > time;
    });
    this.before = mine.lane === null ? undefined : next?.phase ?? null;
    chart.overlay.tooltip(mine.lane === null ? "it has no lane: nothing to reorder"
      : next ? `before ${next.phase} in ${mine.lane}` : `last in ${mine.lane}`,
    now.x, now.y - 38, chart.width, chart.font);
  }

  override commit(): void {
    if (this.before !== undefined) this.preview({ op: "reorder", phase: this.phase, before: this.before });
    super.commit();
  }
}

/** A box over the background chooses the bars it touches. */
class Marquee extends Holding {
  private readonly kept: string[];
  constructor(context: Context, chart: Chart, adds: boolean) {
    super(context, chart, "choosing", null);
    this.kept = adds ? [...context.state.selection] : [];
  }

  move(now: Pointer, origin: Pointer): void {
    const { chart, context } = this;
    const box = {
      x: Math.min(now.x, origin.x), y: Math.min(now.y, origin.y),
      width: Math.abs(now.x - origin.x), height: Math.abs(now.y - origin.y),
    };
    chart.overlay.setMarquee(box);
    const { solved } = context.session;
    const names = new Set(this.kept.filter((name) => solved.index.has(name)));
    for (const item of chart.layout.items) {
      const y = chart.rowOf(item).y;
      if (y > box.y + box.height || y + chart.layout.density.bar < box.y) continue;
      if (chart.scale.x(solved.start[item.phase] as number) > box.x + box.width) continue;
      if (chart.scale.x(solved.finish[item.phase] as number) < box.x) continue;
      names.add(nameOf(solved, item.phase));
    }
    context.select([...names]);
  }
}

class Pan implements Drag {
  readonly holds = false;
  private last: number | null = null;
  constructor(private readonly chart: Chart) {}
  begin(): void { /* moves the view only */ }
  move(now: Pointer, origin: Pointer): void {
    this.chart.panBy(now.x - (this.last ?? origin.x));
    this.last = now.x;
  }

  commit(): void { /* the view stays */ }
  cancel(): void { /* likewise */ }
}

export const dragEnd = (c: Context, chart: Chart, phase: string): Drag => new EndDrag(c, chart, phase);
export const dragStart = (c: Context, chart: Chart, phase: string): Drag => new StartDrag(c, chart, phase);
export const dragBody = (c: Context, chart: Chart, phase: string): Drag => new BodyDrag(c, chart, phase);
export const dragLag = (c: Context, chart: Chart, link: LinkName): Drag => new LagDrag(c, chart, link);
export const reorder = (c: Context, chart: Chart, phase: string): Drag => new ReorderDrag(c, chart, phase);
export const marquee = (c: Context, chart: Chart, adds: boolean): Drag => new Marquee(c, chart, adds);
export const pan = (_c: Context, chart: Chart): Drag => new Pan(chart);
