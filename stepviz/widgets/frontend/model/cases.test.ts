// The cases that Python answered (tests/widgets/make_cases.py): this solver must say the same, to
// the last bit where the schedule is concerned. STEPVIZ_CASES names another file of the same form.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { applyEdit } from "./edits";
import { breakdown, exposed, overlap, plainMaximum, plainSum, ranks } from "./measures";
import { sensitivity } from "./sensitivity";
import { FastSolver, type Solved, solve } from "./solver";
import type { Kind, LinkType, Origin, TimelineDoc } from "./types";
import { readDoc } from "./validate";

type CompactPhase = [string, Kind, number | number[], string | null, number, number];
type CompactLink = [number, number, LinkType, number, Origin];

interface Case {
  name: string;
  timeline: [string | null, CompactPhase[], CompactLink[]];
  completion: number;
  start: number[];
  finish?: number[];
  latest_start: (number | null)[];
  latest_finish?: (number | null)[];
  total_float: (number | null)[];
  free_float: (number | null)[];
  drag: number[];
  critical: number[];
  binding: number[];
  critical_dependencies: number[];
  slack?: number[];
  exposed: number[];
  overlap?: number[];
  breakdown?: Record<string, number[]>;
  plain_sum: number;
  plain_maximum: number;
}

const path = process.env["STEPVIZ_CASES"] ?? "../../../tests/widgets/cases.json";
const cases = JSON.parse(readFileSync(path, "utf8")) as Case[];

function document([target, phases, links]: Case["timeline"]): TimelineDoc {
  return {
    schema: "stepviz.timeline/1",
    name: "",
    target,
    phases: phases.map(([phase, kind, owner, lane, duration, release]) => ({
      phase,
      kind,
      rank: Array.isArray(owner) ? null : owner,
      lane,
      duration,
      release,
      ...(Array.isArray(owner) ? { members: owner } : {}),
    })),
    dependencies: links.map(([source, target, type, lag, origin]) => ({
      source: phases[source]![0],
      target: phases[target]![0],
      type,
      lag,
      origin,
    })),
  };
}

const finite = (values: ArrayLike<number>): (number | null)[] =>
  Array.from(values, (x) => (x === Infinity ? null : x));

function near(found: number, said: number, what: string): void {
  const tolerance = 1e-9 * Math.max(1, Math.abs(said));
  assert.ok(Math.abs(found - said) <= tolerance, `${what}: ${found} here, ${said} in Python`);
}

function nearAll(found: Iterable<number>, said: number[], what: string): void {
  const list = [...found];
  assert.equal(list.length, said.length, what);
  list.forEach((x, k) => near(x, said[k]!, `${what}[${k}]`));
}

function compareSchedules(s: Solved, said: Case): void {
  assert.equal(s.completion, said.completion, "completion");
  assert.deepEqual([...s.start], said.start, "start");
  if (said.finish) assert.deepEqual([...s.finish], said.finish, "finish");
  assert.deepEqual(finite(s.latestStart), said.latest_start, "latest start");
  if (said.latest_finish) assert.deepEqual(finite(s.latestFinish), said.latest_finish);
  assert.deepEqual(finite(s.totalFloat), said.total_float, "total float");
  assert.deepEqual(finite(s.freeFloat), said.free_float, "free float");
  assert.deepEqual([...s.critical], said.critical, "critical");
  assert.deepEqual([...s.binding], said.binding, "binding");
  if (said.slack) assert.deepEqual(s.dependencies.map((d) => d.slack), said.slack, "slack");
  const critical = s.dependencies.flatMap((d, k) => (d.critical ? [k] : []));
  assert.deepEqual(critical, said.critical_dependencies, "critical dependencies");
}

test(`${cases.length} cases: the schedule is Python's to the last bit`, () => {
  for (const one of cases) {
    try {
      compareSchedules(solve(document(one.timeline)), one);
    } catch (error) {
      (error as Error).message = `${one.name}: ${(error as Error).message}`;
      throw error;
    }
  }
});

test("what follows from the schedule is Python's to 1e-9", () => {
  for (const one of cases) {
    const doc = document(one.timeline);
    const s = solve(doc);
    const said = (what: string) => `${one.name}: ${what}`;
    nearAll(exposed(s, "exchange").values(), one.exposed, said("exposed"));
    near(plainSum(s), one.plain_sum, said("plain sum"));
    near(plainMaximum(s), one.plain_maximum, said("plain maximum"));
    nearAll(
      doc.phases.map((phase) => sensitivity(doc, phase.phase).drag),
      one.drag,
      said("drag"),
    );
    const strips = ranks(doc).map((rank) => breakdown(s, rank));
    for (const strip of strips) {
      near(strip.reduce((sum, row) => sum + row.ms, 0), s.completion, said("strip"));
    }
    if (one.overlap) nearAll(overlap(s, "exchange", "backward").values(), one.overlap, said("overlap"));
    for (const [row, times] of Object.entries(one.breakdown ?? {})) {
      nearAll(
        strips.map((strip) => strip.find((part) => part.row === row)?.ms ?? 0),
        times,
        said(row),
      );
    }
  }
});

test("the sensitivity curve is what solving again gives", () => {
  for (const one of cases) {
    const doc = document(one.timeline);
    for (const { phase } of doc.phases.slice(0, 4)) {
      const curve = sensitivity(doc, phase);
      curve.duration.forEach((duration, k) => {
        const there = solve(applyEdit(doc, { op: "duration", phase, duration })).completion;
        near(curve.completion[k]!, there, `${one.name}: ${phase} at ${duration}`);
      });
      const { takeover } = curve;
      if (takeover === null) continue;
      // From there on, shortening a little more saves nothing.
      const at = (duration: number) =>
        solve(applyEdit(doc, { op: "duration", phase, duration })).completion;
      const less = at(takeover.duration * 0.999);
      assert.ok(less >= at(takeover.duration) - 1e-9, `${one.name}: ${phase} still helps`);
    }
  }
});

test("a solver that is updated says what a new one says", () => {
  for (const one of cases) {
    const doc = document(one.timeline);
    const longer: TimelineDoc = {
      ...doc,
      phases: doc.phases.map((phase) => ({ ...phase, duration: phase.duration * 1.5 + 1, release: 0 })),
      dependencies: doc.dependencies.map((link) => ({ ...link, lag: -link.lag })),
    };
    const solver = new FastSolver(longer);
    assert.ok(solver.fits(doc));
    compareSchedules(solver.update(doc), one);
  }
});

test("documents read from outside stay as they are", () => {
  for (const one of cases) {
    const doc = document(one.timeline);
    assert.deepEqual(readDoc(JSON.parse(JSON.stringify(doc))), doc);
  }
});
