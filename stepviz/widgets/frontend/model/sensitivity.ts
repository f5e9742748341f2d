// How the completion answers to one duration x. Only p's duration changes, so the completion is
// the largest of a constant, a falling and a rising line (see stepviz.core.sensitivity):
//
//     T(x) = max(A0, Rs + Ls, Rf + Lf,   Rf + Ls - x,   Rs + Lf + x)
//
// Rs, Rf: the earliest start, finish of p that its incoming dependencies allow. Ls, Lf: the longest
// way from p's start, finish to the completion. A0: the completion without p.

import { FastSolver, forward, type Solved } from "./solver";
import { Refused, type TimelineDoc } from "./types";

export interface Sensitivity {
  /** Corners of the curve, ms, ascending: 0, the duration now, where the slope changes, an end. */
  readonly duration: readonly number[];
  readonly completion: readonly number[];
  /** The most that shortening this phase alone can save, ms; 0 off the critical path. */
  readonly drag: number;
  /** Where shortening stops helping, and the phase that leads from there; null if it never does. */
  readonly takeover: { readonly duration: number; readonly phase: string } | null;
}

export function sensitivity(doc: TimelineDoc, phase: string): Sensitivity {
  const solver = new FastSolver(doc);
  const p = solver.index.get(phase);
  if (p === undefined) throw new Refused(`There is no phase called “${phase}”.`);
  const solved = solver.solve();
  const reach = reaches(solved, p);
  const tail = tails(solved, p);
  const without = completionWithout(solver, solved, p);
  const constant = Math.max(reach.start + tail.start, reach.finish + tail.finish);
  const level = Math.max(without, constant);
  const fall = reach.finish + tail.start;
  const rise = reach.start + tail.finish;
  const at = (x: number) => Math.max(level, fall - x, rise + x);

  const now = solver.durations[p]!;
  let corners = [fall - level, level - rise];
  if (corners[0]! > corners[1]!) corners = [(fall - rise) / 2]; // the level never shows
  corners = corners.filter((x) => x > 0 && x < Infinity);
  const end = 2 * Math.max(now, ...corners) || Math.max(solved.completion, 1);
  const duration = [...new Set([0, now, ...corners, end])].sort((a, b) => a - b);

  const best = Math.min(Math.max(bestDuration(fall, rise), 0), now);
  const tolerance = 1e-9 * Math.max(1, Math.abs(solved.completion));
  const saved = solved.completion - at(best);
  const drag = solved.critical[p] === 1 && saved > tolerance ? saved : 0;

  return {
    duration,
    completion: duration.map(at),
    drag,
    takeover: solved.critical[p] === 1 ? takeover() : null,
  };

  /** Shortened from now, the rising line leads down to where another one meets it. */
  function takeover(): Sensitivity["takeover"] {
    const floor = fall > -Infinity ? Math.max(level, (fall + rise) / 2) : level;
    let stop = Math.min(floor - rise, now);
    if (now - stop <= tolerance) stop = now;
    if (!(stop > 0)) return null;
    const leader = leaderAt(stop);
    return leader === null ? null : { duration: stop, phase: leader };
  }

  function leaderAt(stop: number): string | null {
    if (fall - stop > level + tolerance) return finishHolder(solved, p!);
    if (without < level - tolerance) {
      // A way through p that its duration does not lengthen.
      if (reach.finish + tail.finish >= reach.start + tail.start) return finishHolder(solved, p!);
      return targetOfStart(solved, p!);
    }
    solver.durations[p!] = stop;
    const there = solver.solve();
    solver.durations[p!] = now;
    return rival(solver, solved, there, p!);
  }
}

/** Where the falling and the rising line meet; the ends where one is missing. */
function bestDuration(fall: number, rise: number): number {
  if (fall === -Infinity) return 0;
  return rise === -Infinity ? Infinity : (fall - rise) / 2;
}

function reaches(solved: Solved, p: number): { start: number; finish: number } {
  let start = Math.max(0, solved.doc.phases[p]!.release);
  let finish = -Infinity;
  for (const link of solved.dependencies) {
    if (link.target !== p) continue;
    const head = fromFinish(link.type) ? solved.finish[link.source]! : solved.start[link.source]!;
    if (toFinish(link.type)) finish = Math.max(finish, head + link.lag);
    else start = Math.max(start, head + link.lag);
  }
  return { start, finish };
}

function tails(solved: Solved, p: number): { start: number; finish: number } {
  const { completion, doc } = solved;
  let start = -Infinity;
  let finish = doc.target === null || doc.target === doc.phases[p]!.phase ? 0 : -Infinity;
  for (const link of solved.dependencies) {
    if (link.source !== p) continue;
    const late = toFinish(link.type)
      ? solved.latestFinish[link.target]!
      : solved.latestStart[link.target]!;
    const tail = completion - (late - link.lag);
    if (fromFinish(link.type)) finish = Math.max(finish, tail);
    else start = Math.max(start, tail);
  }
  return { start, finish };
}

function completionWithout(solver: FastSolver, solved: Solved, p: number): number {
  const { doc } = solved;
  const lag = Float64Array.from(solved.dependencies, (link) => link.lag);
  const start = forward(solver.graph, solver.durations, solver.releases, lag, p);
  const goal = doc.target === null ? -1 : solver.index.get(doc.target)!;
  let last = -Infinity;
  for (let i = 0; i < start.length; i++) {
    if (i !== p && (goal < 0 || goal === i)) last = Math.max(last, start[i]! + solver.durations[i]!);
  }
  return last;
}

/** What holds p's finish, whatever its duration. */
function finishHolder(solved: Solved, p: number): string | null {
  let best = -Infinity;
  let name: string | null = null;
  for (const link of solved.dependencies) {
    if (link.target !== p || !toFinish(link.type)) continue;
    const head = fromFinish(link.type) ? solved.finish[link.source]! : solved.start[link.source]!;
    if (head + link.lag > best) {
      best = head + link.lag;
      name = solved.doc.phases[link.source]!.phase;
    }
  }
  return name;
}

/** What p's start, not its end, leads to. */
function targetOfStart(solved: Solved, p: number): string | null {
  const links = solved.dependencies.filter((link) => link.source === p && !fromFinish(link.type));
  const critical = links.find((link) => link.critical) ?? links[0];
  return critical === undefined ? null : solved.doc.phases[critical.target]!.phase;
}

/** The longest phase of the way that avoids p: critical, and newly so or at p's side. */
function rival(solver: FastSolver, before: Solved, there: Solved, p: number): string | null {
  const related = relatives(solver, p);
  let name: string | null = null;
  let best = -1;
  there.doc.phases.forEach((phase, row) => {
    if (row === p || there.critical[row] === 0) return;
    if (before.critical[row] === 1 && related[row] === 1) return;
    const fresh = before.critical[row] === 0 ? 1 : 0;
    const weight = fresh * 1e15 + solver.durations[row]!;
    if (weight > best) {
      best = weight;
      name = phase.phase;
    }
  });
  return name;
}

/** Everything before or after p. */
function relatives(solver: FastSolver, p: number): Uint8Array {
  const { source, target, into, intoAt, out, outAt } = solver.graph;
  const found = new Uint8Array(solver.durations.length);
  const walk = (end: Int32Array, edges: Int32Array, at: Int32Array) => {
    const queue = [p];
    for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
      for (let x = at[row]!; x < at[row + 1]!; x++) {
        const next = end[edges[x]!]!;
        if (found[next] === 1) continue;
        found[next] = 1;
        queue.push(next);
      }
    }
  };
  walk(source, into, intoAt);
  found.fill(0, p, p + 1);
  walk(target, out, outAt);
  return found;
}

function fromFinish(type: string): boolean {
  return type === "FS" || type === "FF";
}

function toFinish(type: string): boolean {
  return type === "FF" || type === "SF";
}
