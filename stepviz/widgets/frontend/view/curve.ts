/** "What more would buy": the completion as a function of the chosen phase's duration. */

import { type Sensitivity, sensitivity } from "../model/sensitivity";
import type { Solved } from "../model/solver";
import { attr, html, px, svg, text } from "./dom";
import { ms, number } from "./format";

const WIDTH = 224;
const HEIGHT = 74;
const PAD = { left: 6, right: 8, top: 10, bottom: 16 };

export class Curve {
  readonly element = html("div", { class: "sv-curve", "data-role": "curve" });
  private readonly line = svg("path", { class: "sv-curve-line" });
  private readonly floor = svg("line", { class: "sv-curve-floor" });
  private readonly dot = svg("circle", { class: "sv-curve-dot", r: 4.5 });
  private readonly corner = svg("circle", { class: "sv-curve-corner", r: 3 });
  private readonly low = svg("text", { class: "sv-curve-text", y: HEIGHT - 3 });
  private readonly high = svg("text", { class: "sv-curve-text", y: HEIGHT - 3, "text-anchor": "end" });
  private readonly best = svg("text", { class: "sv-curve-text" });
  private readonly sentence = html("div", { class: "sv-curve-note", "data-role": "takeover" });
  private curve: Sensitivity | null = null;
  private of = "";

  constructor() {
    this.element.append(svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img",
      "aria-label": "completion against this duration",
    }, this.floor, this.line, this.corner, this.dot, this.low, this.high, this.best), this.sentence);
  }

  /**
   * The curve of the shown timeline. While only the phase's own duration is dragged it is that of
   * the committed one, and the dot runs along it; where it is dear, it waits for the drag's end.
   */
  update(committed: Solved, shown: Solved, phase: string, kind: string): void {
    const row = shown.index.get(phase);
    const own = shown === committed || (row !== undefined && onlyDuration(committed, shown, row));
    const cheap = shown.doc.phases.length <= CHEAP;
    const of = own || !cheap ? committed : shown;
    if (this.of !== phase || this.solved !== of) {
      this.of = phase;
      this.solved = of;
      this.curve = sensitivity(of.doc, phase);
      this.plot(kind);
    }
    const { curve } = this;
    if (!curve || row === undefined) return;
    this.stale = !own && !cheap;
    attr(this.element, "data-stale", this.stale ? "" : null);
    const duration = (shown.doc.phases[row] as { duration: number }).duration;
    attr(this.dot, "cx", px(this.x(duration)));
    attr(this.dot, "cy", px(this.y(at(curve, duration))));
    this.drag = shown.critical[row] === 1 && !this.stale ? at(curve, duration) - least(curve, duration) : curve.drag;
    if (this.stale) text(this.sentence, "As it was before this drag; it is reckoned anew when you let go.");
    else this.tell(curve, of, phase, duration);
  }

  /** The chosen phase's drag in the shown timeline, ms. */
  drag = 0;
  /** What is shown is of the timeline before the drag. */
  stale = false;

  private solved: Solved | null = null;
  private x: (duration: number) => number = () => 0;
  private y: (completion: number) => number = () => 0;

  private plot(kind: string): void {
    const { curve } = this;
    if (!curve) return;
    const last = Math.max(curve.duration[curve.duration.length - 1] ?? 1, 1e-9);
    const low = Math.min(...curve.completion);
    const high = Math.max(...curve.completion);
    const span = high - low || 1;
    this.x = (d) => PAD.left + (Math.min(d, last * 1.02) / last) * (WIDTH - PAD.left - PAD.right);
    this.y = (c) => HEIGHT - PAD.bottom - 4
      - ((Math.min(Math.max(c, low - span * 0.1), high + span * 0.1) - low) / span) * (HEIGHT - PAD.top - PAD.bottom - 8);
    const points = curve.duration.map((d, k) => `${px(this.x(d))} ${px(this.y(curve.completion[k] as number))}`);
    attr(this.line, "d", `M${points.join("L")}`);
    attr(this.line, "class", `sv-curve-line sv-k-${kind}`);
    attr(this.dot, "class", `sv-curve-dot sv-k-${kind}`);
    for (const [name, value] of [["x1", PAD.left], ["x2", WIDTH - PAD.right], ["y1", HEIGHT - PAD.bottom], ["y2", HEIGHT - PAD.bottom]] as const) {
      attr(this.floor, name, value);
    }
    attr(this.corner, "display", curve.takeover ? null : "none");
    if (curve.takeover) {
      const { duration } = curve.takeover;
      attr(this.corner, "cx", px(this.x(duration)));
      attr(this.corner, "cy", px(this.y(low)));
    }
    attr(this.low, "x", PAD.left);
    text(this.low, "0");
    attr(this.best, "x", PAD.left);
    // In the corner where the line is not.
    const start = this.y(curve.completion[0] as number);
    attr(this.best, "y", start > HEIGHT / 2 ? PAD.top + 2 : HEIGHT - PAD.bottom - 5);
    text(this.best, `at 0: ${ms(curve.completion[0] as number)}`);
    attr(this.high, "x", WIDTH - PAD.right);
    text(this.high, ms(last));
  }

  private tell(curve: Sensitivity, solved: Solved, phase: string, duration: number): void {
    const row = solved.index.get(phase) as number;
    const committed = (solved.doc.phases[row] as { duration: number }).duration;
    let sentence: string;
    const more = curve.takeover ? duration - curve.takeover.duration : 0;
    if (curve.takeover && more > 1e-9 * Math.max(1, duration)) {
      sentence = `Shortening it by up to ${ms(more)} more counts in full; then ${curve.takeover.phase} leads.`;
    } else if (curve.takeover && duration > 0 && curve.takeover.duration < duration + 1e-9) {
      sentence = `Shortening it buys nothing: ${curve.takeover.phase} leads.`;
    } else if (curve.drag > 0 && curve.drag < committed - 1e-9 * Math.max(1, committed)) {
      const left = Math.max(0, duration - committed + curve.drag);
      sentence = left > 0 ? `Shortening it by up to ${ms(left)} counts in full; more buys nothing.`
        : "Shortening it further buys nothing.";
    } else if (curve.drag > 0) {
      sentence = "Every ms less is a ms sooner, down to nothing.";
    } else if ((solved.totalFloat[row] as number) > 0) {
      sentence = `Shortening it buys nothing; ${number(solved.totalFloat[row] as number)} ms more cost nothing.`;
    } else {
      sentence = "Shortening it alone buys nothing.";
    }
    text(this.sentence, sentence);
  }
}

/** More phases than these are too many for a new curve per frame. */
const CHEAP = 150;

function onlyDuration(a: Solved, b: Solved, row: number): boolean {
  const { doc: was } = a;
  const { doc: now } = b;
  return was.dependencies === now.dependencies && was.target === now.target && was.phases.length === now.phases.length
    && was.phases.every((phase, k) => phase === now.phases[k]
      || (k === row && phase.phase === now.phases[k]?.phase && phase.release === now.phases[k].release));
}

/** The earliest completion that any duration up to this one gives. */
function least(curve: Sensitivity, duration: number): number {
  return curve.duration.reduce((best, d, k) => (d <= duration ? Math.min(best, curve.completion[k] as number) : best),
    at(curve, duration));
}

/** The curve between its corners; it goes on beyond the last as it came. */
function at(curve: Sensitivity, duration: number): number {
  const { duration: x, completion: y } = curve;
  let k = 1;
  while (k < x.length - 1 && (x[k] as number) < duration) k++;
  const [x0, x1, y0, y1] = [x[k - 1], x[k], y[k - 1], y[k]] as [number, number, number, number];
  return x.length < 2 || x1 === x0 ? y0 : y0 + ((duration - x0) * (y1 - y0)) / (x1 - x0);
}
