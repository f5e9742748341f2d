/** The keyboard's way to everything. Held keys make one gesture, committed when they are let go. */

import type { Gesture } from "../model/session";
import type { Solved } from "../model/solver";
import { type Phase, Refused } from "../model/types";
import { anchor, linkType } from "./arrows";
import type { Chart } from "./chart";
import { heldBy, nameOf, whyNot } from "./explain";
import { active } from "./focus";
import { number } from "./format";
import type { Gestures } from "./gestures";
import type { Item } from "./layout";
import { connect, meaning } from "./linking";
import { snapStep } from "./scale";
import { type Context, type End, rowOf } from "./state";

interface Burst { gesture: Gesture; phase: string; code: string; length: boolean; amount: number; before: Solved; hold: number }
interface Link { gesture: Gesture; source: string; from: End; target: string; to: End }

export class Keyboard {
  private burst: Burst | null = null;
  private link: Link | null = null;

  constructor(
    private readonly context: Context, private readonly chart: Chart, private readonly gestures: Gestures,
    private readonly actions: { inspect(): void; remove(): void; closePanel(): boolean },
  ) {
    const { root, signal } = context;
    root.addEventListener("keydown", (event) => this.down(event), { signal });
    root.addEventListener("keyup", (event) => {
      if (this.burst?.code === event.code) this.commit();
    }, { signal });
    root.addEventListener("focusout", () => this.commit(), { signal });
    // Not on the drawing: Chromium gives an SVG that listens for the focus a stop of its own.
    chart.scroller.addEventListener("focusin", (event) => this.focused(event), { signal });
    chart.scroller.addEventListener("focusout", () => {
      context.state.focus = null;
      this.endLink();
    }, { signal });
    signal.addEventListener("abort", () => {
      this.burst?.gesture.cancel();
      this.link?.gesture.cancel();
    });
  }

  /** Exactly one bar can be reached with Tab; the arrows go on from there. */
  rove(): void {
    const { state } = this.context;
    const groups = [...this.chart.bars.layer.children] as SVGGElement[];
    const name = state.focus ?? state.primary;
    const stop = groups.find((group) => group.dataset["phase"] === name) ?? this.chart.bars.at(0);
    for (const group of groups) {
      const wanted = group === stop ? "0" : "-1";
      if (group.getAttribute("tabindex") !== wanted) group.setAttribute("tabindex", wanted);
    }
  }

  private focused(event: FocusEvent): void {
    const group = (event.target as Element).closest<SVGGElement>("[data-phase]");
    const name = group?.dataset["phase"] ?? null;
    if (name === null || name === this.context.state.focus) return;
    this.context.state.focus = name;
    this.rove();
    this.context.redraw("values");
  }

  private current(): Item | null {
    return this.chart.layout.items[this.chart.bars.itemOf(active(this.context.root))] ?? null;
  }

  private down(event: KeyboardEvent): void {
    const { context, chart } = this;
    const { session } = context;
    const target = event.target as HTMLElement;
    const typing = target.matches("input,select,textarea");
    const command = event.ctrlKey || event.metaKey;
    const take = (action: () => void): void => {
      event.preventDefault();
      event.stopPropagation();
      if (this.burst && this.burst.code !== event.code && event.key !== "Escape") this.commit();
      if (command) this.endLink();
      action();
    };
    if (event.key === "Escape") {
      if (this.link) return take(() => this.endLink());
      if (this.burst) return take(() => this.cancelBurst());
      if (this.gestures.active) return take(() => this.gestures.cancel());
      if (this.actions.closePanel()) return take(() => { /* closing it was all */ });
      if (typing) return take(() => this.back());
      return take(() => {
        context.panel(null);
        context.selectArrow(null);
        context.select([]);
        context.say(null);
      });
    }
    if (command && !event.altKey && event.code === "KeyZ" && !typing) {
      return take(() => context.attempt(() => (event.shiftKey ? session.redo() : session.undo())));
    }
    if (command && event.code === "KeyY" && !typing) return take(() => context.attempt(() => session.redo()));
    if (typing || this.gestures.active) return;
    if (this.link) return this.linking(event, take);
    if (command && event.code === "KeyA") {
      return take(() => {
        context.select(this.chart.visible(session.doc.phases.map((phase) => phase.phase)));
        this.tell();
      });
    }
    if (command) return;
    const onButton = target.matches("button");
    switch (event.key) {
      case "?": return take(() => context.panel("help"));
      case "+": case "=": return take(() => chart.zoomBy(1.5));
      case "-": return take(() => chart.zoomBy(1 / 1.5));
      case "0": return take(() => chart.fit());
      case "n": case "N": return take(() => context.panel("add"));
      case "Delete": case "Backspace": return take(() => this.actions.remove());
      default:
    }
    if (onButton) return;
    const item = this.current();
    if (!item) return;
    const name = chart.phaseOf(item, session.shown).phase;
    const coarse = event.shiftKey ? 10 : 1;
    const step = Math.min(1, snapStep(chart.scale.pxPerMs)) * coarse;
    if (event.altKey && event.key.startsWith("Arrow")) {
      return take(() => this.reorder(name, event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 1));
    }
    switch (event.code) {
      case "ArrowLeft": return take(() => this.nudge(name, event.code, false, -step));
      case "ArrowRight": return take(() => this.nudge(name, event.code, false, step));
      case "BracketLeft": return take(() => this.nudge(name, event.code, true, -step));
      case "BracketRight": return take(() => this.nudge(name, event.code, true, step));
      case "ArrowUp": return take(() => this.go(item, -1, event.shiftKey));
      case "ArrowDown": return take(() => this.go(item, 1, event.shiftKey));
      case "PageUp": return take(() => this.goRow(item, -1));
      case "PageDown": return take(() => this.goRow(item, 1));
      case "Home": return take(() => this.focusItem(this.order()[0] ?? -1));
      case "End": return take(() => this.focusItem(this.order().at(-1) ?? -1));
      case "Space": return take(() => {
        context.select([name], "toggle");
        this.tell(name);
      });
      case "Enter": return take(() => {
        if (!context.state.selection.has(name)) context.select([name]);
        this.actions.inspect();
      });
      case "KeyA": return take(() => this.startLink(name));
      case "KeyR": return take(() => {
        const pinned = session.doc.phases.some((phase) => phase.phase === name && phase.release > 0);
        if (pinned) context.attempt(() => session.apply({ op: "release", phase: name, release: 0 }));
        else this.sayAloud(`${name} is not held back: there is no pin to let go.`);
      });
      default:
    }
  }

  /** Say what is chosen now: to those who see the drawing it shows. */
  private tell(name?: string): void {
    const { selection } = this.context.state;
    const chosen = name === undefined ? "" : `${name} ${selection.has(name) ? "chosen" : "no longer chosen"}, `;
    this.context.announce(`${chosen}${selection.size} ${selection.size === 1 ? "phase" : "phases"} chosen in all.`);
  }

  private sayAloud(sentence: string): void {
    this.context.say(sentence);
    this.context.announce(sentence);
  }

  /** From a field back to the bar it belongs to. */
  private back(): void {
    const { state } = this.context;
    const group = state.primary === null ? null : this.chart.bars.group(state.primary);
    (group ?? this.context.root).focus();
  }

  private order(): number[] {
    return this.chart.layout.rows.flatMap((row) => row.items);
  }

  focusItem(index: number): void {
    const item = this.chart.layout.items[index];
    if (!item) return;
    const { phase } = this.chart.phaseOf(item, this.context.session.shown);
    this.chart.reveal(phase);
    this.chart.bars.at(index)?.focus({ preventScroll: true });
  }

  private go(item: Item, by: number, extend: boolean): void {
    const order = this.order();
    const at = order.indexOf(this.chart.layout.items.indexOf(item)) + by;
    const next = order[at];
    if (next === undefined) return;
    this.focusItem(next);
    const name = this.chart.phaseOf(this.chart.layout.items[next] as Item, this.context.session.shown).phase;
    if (!extend) return;
    this.context.select([this.chart.phaseOf(item, this.context.session.shown).phase, name], "add");
    this.tell(name);
  }

  private goRow(item: Item, by: number): void {
    const { layout } = this.chart;
    const solved = this.context.session.shown;
    const row = layout.rows[item.row + by];
    if (!row) return;
    const time = solved.start[item.phase] as number;
    let best = row.items[0] ?? -1;
    for (const index of row.items) {
      const start = solved.start[(layout.items[index] as Item).phase] as number;
      if (start <= time + 1e-9) best = index;
    }
    this.focusItem(best);
  }

  private nudge(phase: string, code: string, length: boolean, by: number): void {
    const { context } = this;
    const { session } = context;
    try {
      if (!this.burst || this.burst.phase !== phase || this.burst.length !== length) {
        this.commit();
        const before = session.solved;
        const gesture = session.begin(length ? `length of ${phase}` : `release of ${phase}`);
        let hold = 0;
        if (!length) {
          const free = gesture.preview({ op: "release", phase, release: 0 });
          hold = free.start[rowOf(free, phase)] as number;
        }
        this.burst = { gesture, phase, code, length, amount: 0, before, hold };
      }
      const { burst } = this;
      burst.code = code;
      burst.amount += by;
      const row = rowOf(burst.before, phase);
      const was = burst.before.doc.phases[row] as Phase;
      if (length) {
        burst.amount = Math.max(burst.amount, -was.duration);
        const duration = Math.round((was.duration + burst.amount) * 1e9) / 1e9;
        const shown = burst.gesture.preview({ op: "duration", phase, duration });
        context.say(whyNot(burst.before, shown, phase), "why");
      } else {
        const wish = Math.round(((burst.before.start[row] as number) + burst.amount) * 1e9) / 1e9;
        const held = wish <= burst.hold;
        if (held) burst.amount = burst.hold - (burst.before.start[row] as number);
        const shown = burst.gesture.preview({ op: "release", phase, release: held ? 0 : wish });
        context.state.held = held ? phase : null;
        context.say(held ? `${phase} starts at ${number(shown.start[rowOf(shown, phase)] as number)}: ${heldBy(shown, rowOf(shown, phase))}.` : null, "why");
        context.redraw("values");
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.say(error.message, "refused");
    }
  }

  private commit(): void {
    const { burst } = this;
    if (!burst) return;
    this.burst = null;
    this.context.state.held = null;
    this.context.attempt(() => burst.gesture.commit());
  }

  private cancelBurst(): void {
    this.burst?.gesture.cancel();
    this.burst = null;
    this.context.state.held = null;
    this.context.say(null);
  }

  private reorder(name: string, by: number): void {
    const { context } = this;
    const { phases } = context.session.doc;
    const mine = phases.find((phase) => phase.phase === name);
    if (!mine || mine.lane === null) {
      context.say(`${name} has no lane, so there is no order to change.`, "refused");
      return;
    }
    const lane = phases.filter((other) => other.lane === mine.lane && other.rank === mine.rank);
    const at = lane.indexOf(mine) + by;
    if (at < 0 || at >= lane.length) return;
    const before = by < 0 ? lane[at]?.phase ?? null : lane[at + 1]?.phase ?? null;
    context.attempt(() => context.session.apply({ op: "reorder", phase: name, before }));
  }

  /** Draw an arrow by keys: up and down choose the bar, left and right its end, S this bar's. */
  startLink(name: string): void {
    const { context, chart } = this;
    const { solved } = context.session;
    this.endLink();
    const row = rowOf(solved, name);
    const successor = solved.dependencies.find((other) => other.source === row)?.target ?? -1;
    const order = this.phasesInOrder();
    const target = order.includes(successor) ? successor : order[(order.indexOf(row) + 1) % order.length];
    if (!chart.first(row) || target === undefined || target === row) {
      context.say("There is no other phase in sight to draw an arrow to.", "refused");
      return;
    }
    context.attempt(() => {
      const gesture = context.session.begin(`new arrow from ${name}`);
      this.link = { gesture, source: name, from: "finish", target: nameOf(solved, target), to: "start" };
      this.showLink();
    });
  }

  /** Rows of the drawn phases from top to bottom, a collective once. */
  private phasesInOrder(): number[] {
    return [...new Set(this.order().map((index) => (this.chart.layout.items[index] as Item).phase))];
  }

  private linking(event: KeyboardEvent, take: (action: () => void) => void): void {
    const { link, context } = this;
    if (!link) return;
    const { solved } = context.session;
    const turn = (by: number): void => {
      const order = this.phasesInOrder().filter((row) => row !== rowOf(solved, link.source));
      const next = order[(order.indexOf(rowOf(solved, link.target)) + by + order.length) % order.length];
      if (next !== undefined) link.target = nameOf(solved, next);
      this.showLink();
    };
    switch (event.code) {
      case "ArrowUp": return take(() => turn(-1));
      case "ArrowDown": return take(() => turn(1));
      case "ArrowLeft": case "ArrowRight": return take(() => {
        link.to = event.code === "ArrowLeft" ? "start" : "finish";
        this.showLink();
      });
      case "KeyS": return take(() => {
        link.from = link.from === "start" ? "finish" : "start";
        this.showLink();
      });
      case "Enter": return take(() => {
        this.link = null; // the gesture goes on, until it is committed or cancelled here
        this.hideLink();
        const { gesture } = link;
        if (!context.attempt(() => connect(context, gesture, link.source, link.from, link.target, link.to))) {
          gesture.cancel();
        }
      });
      default:
    }
  }

  private showLink(): void {
    const { link, chart, context } = this;
    if (!link) return;
    const { solved } = context.session;
    const { target } = link;
    const seat = (row: number, end: End): ReturnType<typeof anchor> | null => {
      const item = chart.first(row);
      return item ? anchor(item, end, 0, solved, chart.scale, chart.layout) : null;
    };
    const from = seat(rowOf(solved, link.source), link.from);
    const to = seat(rowOf(solved, target), link.to);
    if (from && to) {
      const at = { x: to.x, y: to.top > from.bottom ? to.top : to.bottom };
      chart.overlay.setRubber({ x: from.x, y: to.row < from.row ? from.top : from.bottom }, at, at);
    }
    const sentence = `New arrow, ${linkType(link.from, link.to)}: ${meaning(link.source, link.from, target, link.to).slice(4)}. `
      + "↑ ↓ another phase, ← → its start or finish, S this phase’s other end, Enter makes it, Esc leaves.";
    this.sayAloud(sentence);
  }

  private endLink(): void {
    const { link } = this;
    if (!link) return;
    this.link = null;
    this.hideLink();
    link.gesture.cancel();
  }

  private hideLink(): void {
    this.chart.overlay.setRubber(null);
    this.context.say(null);
  }
}
