/** What the bucket explorer shows (as `stepviz/builders/bucket_sweeps.py` and `widgets/bucket_pictures.py`; no DOM). */

import type { Setting, Settings } from "../../knobs/types";
import { solve } from "../../model/solver";
import type { TimelineDoc } from "../../model/types";
import { commas, numberText, shown, Unmeant } from "../figures";
import type { Picture, Pictures } from "../knobs";
import { bytesOf, type GivenBuckets, type Gradient, launched, stepOf, type StepSettings } from "./step";

interface Row {
  cap: number; buckets: number; completion: number; backwardEnd: number; exposed: number; queued: number;
  last: number; overhead: number; lastBytes: number; overBest: number; near: boolean;
}

const MIB = 2 ** 20;
const WITHIN = 0.01;
const KEPT = 64;

export class SweepPictures implements Pictures {
  private readonly swept = new Map<string, Row[]>();

  constructor(private readonly given: GivenBuckets) {}

  completed(settings: Settings): Settings {
    for (const [name, value] of Object.entries(settings)) {
      if (value === null && name === "first_bucket") continue;
      if (typeof value !== "number") throw new Unmeant(`${name} is ${shown(value)}: give a number`);
    }
    return settings;
  }

  stops(settings: Settings): Record<string, readonly Setting[]> {
    return { ...this.given.stops, cap: this.tried(settings.cap as number) };
  }

  private tried(cap: number): number[] {
    return [...new Set([...this.given.stops.cap as number[], cap])].sort((a, b) => a - b);
  }

  timeline(settings: Settings): TimelineDoc {
    return stepOf(this.given, settings as unknown as StepSettings);
  }

  picture(settings: Settings): Picture {
    const s = settings as unknown as StepSettings;
    const rows = this.sweep(s);
    const note = this.unsplit(s.cap, s.first_bucket);
    return { ...pictureOf(rows, s), notes: note === "" ? [] : [note] };
  }

  private sweep(s: StepSettings): Row[] {
    const caps = this.tried(s.cap);
    const key = JSON.stringify([caps, s.first_bucket, s.bandwidth, s.latency, s.compute, s.backward]);
    let rows = this.swept.get(key);
    if (rows !== undefined) return rows;
    const { gradients } = this.given;
    const known = new Map<string, Omit<Row, "cap" | "overBest" | "near">>();
    const measured = caps.map((cap) => {
      const cut = launched(gradients, cap, s.first_bucket);
      const name = cut.map((bucket) => bucket.length).join();
      let found = known.get(name);
      if (found === undefined) {
        const lastBytes = bytesOf(gradients, cut[cut.length - 1] as number[]);
        found = { ...measure(stepOf(this.given, { ...s, cap })), buckets: cut.length, overhead: s.latency * cut.length, lastBytes };
        known.set(name, found);
      }
      return { cap, ...found };
    });
    const least = Math.min(...measured.map(({ completion }) => completion));
    rows = measured.map((row) => ({ ...row, overBest: row.completion - least, near: row.completion <= least * (1 + WITHIN) }));
    if (this.swept.size >= KEPT) this.swept.clear();
    this.swept.set(key, rows);
    return rows;
  }

  /** Which tensor keeps the last bucket large; "" where none does. */
  private unsplit(cap: number, first: number | null): string {
    const { gradients } = this.given;
    const last = launched(gradients, cap, first).at(-1) as number[];
    const held = bytesOf(gradients, last);
    const largest = last.map((place) => gradients[place] as Gradient)
      .reduce((best, one) => (one.nbytes > best.nbytes ? one : best));
    if (largest.nbytes <= Math.max(cap * MIB, held / 2)) return "";
    return `The last bucket holds ${largest.name}, ${mib(largest.nbytes)}, which is never split: no cap makes it smaller.`;
  }
}

/** When a step ends, and what its exposed tail is made of. */
function measure(doc: TimelineDoc): { completion: number; backwardEnd: number; exposed: number; queued: number; last: number } {
  const solved = solve(doc);
  let backwardEnd = NaN;
  let last = -1;
  doc.phases.forEach(({ kind }, k) => {
    const finish = solved.finish[k] as number;
    if (kind === "backward" && !(finish <= backwardEnd)) backwardEnd = finish;
    if (kind === "exchange") last = k;
  });
  const exposed = Math.max((solved.finish[last] as number) - backwardEnd, 0);
  const queued = Math.min(Math.max((solved.start[last] as number) - backwardEnd, 0), exposed);
  return { completion: solved.completion, backwardEnd, exposed, queued, last: exposed - queued };
}

const ms = (value: number): string => `${numberText(value, 4)} ms`;
const mib = (nbytes: number): string => `${numberText(nbytes / MIB)} MiB`;
const buckets = ({ buckets: count }: Row): string => `${commas(count, 0)} bucket${count === 1 ? "" : "s"}`;

function pictureOf(rows: readonly Row[], s: StepSettings): Picture {
  const at = rows.findIndex(({ cap }) => cap === s.cap);
  const best = rows.reduce((least, row, k) => (row.completion < (rows[least] as Row).completion ? k : least), 0);
  const chosen = rows[at] as Row;
  const over = chosen.overBest;
  const than = over > 0 ? `${ms(over)} more than the best` : "the best there is";
  const headline = `${numberText(s.cap)} MiB: ${ms(chosen.completion)} with ${buckets(chosen)}, ${than}.`;
  const texts = (pick: (row: Row) => number): string[] => rows.map((row) => numberText(pick(row), 4));
  const figure = (name: string, label: string, value: number, about: string): Record<string, unknown> => (
    { name, label, value, text: ms(value), about });
  return {
    caps: rows.map(({ cap }) => cap),
    capTexts: rows.map(({ cap }) => numberText(cap)),
    completion: rows.map(({ completion }) => completion),
    queued: rows.map(({ queued }) => queued),
    last_transfer: rows.map(({ last }) => last),
    buckets: rows.map(({ buckets: count }) => count),
    near_best: rows.map(({ near }) => near),
    texts: {
      completion: texts(({ completion }) => completion), exposed: texts(({ exposed }) => exposed),
      queued: texts(({ queued }) => queued), last_transfer: texts(({ last }) => last),
    },
    chosen: at,
    best,
    headline,
    large: [
      figure("completion", "Completion", chosen.completion, `at ${numberText(s.cap)} MiB`),
      figure("exposed", "Exposed tail", chosen.exposed, "after backward ends"),
      figure("queued", "waiting for the link", chosen.queued, "behind other buckets"),
      figure("last_transfer", "the last transfer", chosen.last, `of a bucket of ${mib(chosen.lastBytes)}`),
    ],
    words: [...twoCosts(rows, s.latency), bestOf(rows, rows[best] as Row), ...contention(chosen, s)],
    spoken: headline,
  };
}

function twoCosts(rows: readonly Row[], latency: number): string[] {
  const [small, large] = [rows[0] as Row, rows[rows.length - 1] as Row];
  let left = `Small caps cost latency: ${buckets(small)} of ${ms(latency)} each are ${ms(small.overhead)} of link time`;
  left += small.queued > 0
    ? `, so when backward ends the last one still queues ${ms(small.queued)}.`
    : ", which backward hides here: the last one does not queue.";
  return [left, `Large caps cost overlap: with ${buckets(large)}, ${ms(large.last)} of transfer begin only when backward has ended.`];
}

function bestOf(rows: readonly Row[], best: Row): string {
  const stretches: [number, number][] = [];
  rows.forEach(({ cap, near }, k) => {
    const last = stretches[stretches.length - 1];
    if (near && rows[k - 1]?.near && last !== undefined) last[1] = cap;
    else if (near) stretches.push([cap, cap]);
  });
  const said = stretches.map(([a, b]) => (a === b ? numberText(a) : `${numberText(a)} to ${numberText(b)}`));
  return `Best: ${numberText(best.cap)} MiB, ${ms(best.completion)} with ${buckets(best)}. Within 1 % of it: ${said.join(", ")} MiB.`;
}

function contention(chosen: Row, s: StepSettings): string[] {
  if (s.compute === 1) return [];
  return [`Overlap has a price: beside exchange compute runs at ${numberText(100 * s.compute)} % of its speed, and `
    + `backward, ${ms(s.backward)} of work, ends ${ms(chosen.backwardEnd)} into the step.`];
}
