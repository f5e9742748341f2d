/** Two layouts under every numerator and every convention (as `throughput/side_by_side.py`; no DOM). */

import { numberText, percent } from "../figures";
import type { Counts } from "./layout";

export type Change = "better" | "worse" | "unchanged";

/** One update of a layout, timed. */
export interface Timed { readonly counts: Counts; readonly passes: number; readonly seconds: number; readonly width: number }

export interface Model {
  readonly lengths: readonly number[];
  readonly conventions: readonly {
    readonly name: string; readonly kind: string; readonly includes: string; readonly guards: readonly string[]; readonly flops: readonly number[];
  }[];
  readonly roof: number;
}

export interface Line { name: string; unit: string; before: number; after: number; ratio: number; change: Change; counts: string }

const SAME = 1e-3;
const ABOUT_TARGETS = "Scored targets per second is a density of supervision: it says nothing about learning or the time to a quality.";
const ABOUT_PACKING = "This is evidence about these two batches: kernels that skip padding already gain less by packing, "
  + "and packed sequences need their boundaries in attention and in the loss.";

const NUMERATORS: readonly { name: string; unit: string; counts: string; of: (one: Timed) => number | null }[] = [
  { name: "processed positions per second", unit: "positions/s", of: ({ counts, passes }) => counts.allocated * passes,
    counts: "allocated positions: rows × length, padding and prompt included" },
  { name: "real positions per second", unit: "real positions/s", of: ({ counts, passes }) => counts.real * passes,
    counts: "real positions: what the attention mask keeps" },
  { name: "executed positions per second", unit: "executed positions/s", of: ({ counts, passes }) => counts.executed * passes,
    counts: "executed positions: what the kernels ran over" },
  { name: "scored targets per second", unit: "targets/s", of: ({ counts, passes }) => (counts.scored === null ? null : counts.scored * passes),
    counts: "scored targets: labels that are not ignored, after the shift" },
  { name: "sequences per second", unit: "sequences/s", of: ({ counts, passes }) => counts.sequences * passes,
    counts: "sequences: rows, or the segments that were packed into them" },
  { name: "updates per second", unit: "updates/s", of: () => 1,
    counts: "updates: optimizer steps that were applied" },
];
const [PROCESSED, TARGETS] = ["processed positions per second", "scored targets per second"];

function changeOf(name: string, old: number, now: number): Change {
  if (Math.abs(now - old) <= SAME * Math.max(Math.abs(old), Math.abs(now))) return "unchanged";
  return (now > old) !== (name === "time per update") ? "better" : "worse";
}

function line(name: string, unit: string, before: number, after: number, counts: string, called = name): Line {
  return { name, unit, before, after, ratio: before !== 0 ? after / before : NaN, change: changeOf(called, before, after), counts };
}

/** Every rate, before and after. */
export function rates(before: Timed, after: Timed): Line[] {
  const found: Line[] = [];
  for (const { name, unit, counts, of } of NUMERATORS) {
    const [old, now] = [of(before), of(after)];
    if (old !== null && now !== null) found.push(line(name, unit, old / before.seconds, now / after.seconds, counts));
  }
  found.push(line("time per update", "ms", 1000 * before.seconds, 1000 * after.seconds, "wall time ÷ updates"));
  return found;
}

/** FLOPs per token at a length: on a line between two of the lengths that Python answered. */
function flopsAt(model: Model, flops: readonly number[], length: number): number {
  const { lengths } = model;
  let k = 0;
  while (k + 2 < lengths.length && length > (lengths[k + 1] as number)) k++;
  const [a, b] = [lengths[k] as number, lengths[k + 1] as number];
  const [low, high] = [flops[k] as number, flops[k + 1] as number];
  return low + (length - a) * ((high - low) / (b - a));
}

/** Every utilization, before and after. */
export function utilizations(model: Model, before: Timed, after: Timed): Line[] {
  return model.conventions.map(({ name, kind, includes, guards, flops }) => {
    const said = [...guards];
    const [old, now] = [before, after].map(({ counts, passes, seconds, width }) => {
      const over = counts.executed || counts.real;
      const length = name === "packed" ? counts.squared / over : width;
      const value = flopsAt(model, flops, length) * (counts.executed * passes / seconds) / model.roof;
      if (value > 1) {
        said.push(`${percent(value)} of a peak cannot be reached: the peak is of another device or precision, `
          + "or the rate counts tokens more than once, or its time is a part of theirs");
      }
      return value;
    }) as [number, number];
    const guarded = [...new Set(said)].join("; ");
    return line(`${kind} (${name})`, "of peak", old, now, guarded === "" ? includes : `${includes}; ${guarded}`, name);
  });
}

/** What did and what did not improve: a sentence per rate, then what to think of beside them. */
export function words(table: readonly Line[], before: Timed, after: Timed): string[] {
  const said = table.map((row) => {
    const unit = row.unit === "ms" ? " ms" : "";
    const [old, now] = [numberText(row.before) + unit, numberText(row.after) + unit];
    const label = `${row.name.charAt(0).toUpperCase()}${row.name.slice(1)}`;
    if (row.change === "unchanged") return `${label}: ${old} before and after, unchanged.`;
    const ratio = numberText(row.ratio);
    return row.unit === "ms" ? `${label}: from ${old} to ${now}, ${ratio} of it.` : `${label}: from ${old} to ${now}, ${ratio} times as many.`;
  });
  const changed = (name: string | undefined): boolean | undefined => {
    const row = table.find((one) => one.name === name);
    return row === undefined ? undefined : row.change !== "unchanged";
  };
  if (changed(TARGETS) === true) {
    said.push(ABOUT_TARGETS);
    if (changed(PROCESSED) === false) said.push(ABOUT_PACKING);
  }
  const useful = [before, after].map(({ counts, passes }) => (counts.scored === null ? null : counts.scored * passes));
  if (useful[0] !== null && useful[1] !== null && useful[0] !== useful[1]) {
    said.push(`They do not score the same targets (${numberText(useful[0] as number)} and ${numberText(useful[1] as number)}), `
      + "so their times are of different work.");
  }
  return said;
}
