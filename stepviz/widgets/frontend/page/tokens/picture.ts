/** What the token comparison shows (as `stepviz/widgets/token_pictures.py`; no DOM). */

import type { Setting, Settings } from "../../knobs/types";
import { commas, numberText, percent, share, shown, Unmeant, whole } from "../figures";
import type { Picture, Pictures } from "../knobs";
import { type Line, type Model, rates, type Timed, utilizations, words } from "./compared";
import { type Counts, counted, type Layout, layoutOf, type Made, madeBatch, type RawLayout, repacked, rint, roleRuns } from "./layout";

export interface GivenTokens {
  /** null: the batch is made by sliders. */
  readonly batch: RawLayout | null;
  readonly after: RawLayout | null;
  readonly seconds: number | null;
  readonly after_seconds: number | null;
  readonly ms_per_position: number;
  readonly packing: readonly number[];
  readonly accumulation: readonly number[];
  readonly most: Readonly<Record<string, number>>;
  readonly model: Model;
  readonly about: readonly string[];
  readonly losses: unknown;
}

const LARGE: Readonly<Record<string, string>> = {
  "processed positions per second": "Processed positions / s", "scored targets per second": "Scored targets / s",
  "updates per second": "Updates / s", "time per update": "Time per update", "MFU (packed)": "MFU (packed)",
};
const HEADLINES = ["Processed positions per second: ", "Scored targets per second: "];
const ACROSS = "Conventions that count attention over a whole row count keys beyond a sequence's boundary once it is packed, "
  + "which its mask leaves out; only “packed” does not.";

const widthOf = (layout: Layout): number => layout.lengths.reduce((widest, one) => Math.max(widest, one), 0);

export class TokenPictures implements Pictures {
  private readonly batch: Layout | null;
  private readonly after: Layout | null;

  constructor(private readonly given: GivenTokens) {
    this.batch = given.batch === null ? null : layoutOf(given.batch);
    this.after = given.after === null ? null : layoutOf(given.after);
  }

  completed(settings: Settings): Settings {
    for (const name of ["sequences", "length", "packing", "accumulation"]) {
      if (!(name in settings)) continue;
      const value = whole(settings[name], name, name === "length" ? 2 : 1);
      const most = this.given.most[name] as number;
      if (value > most) throw new Unmeant(`${name} is ${commas(value, 0)}: at most ${most} can be drawn here`);
    }
    for (const name of ["padding", "spread", "prompt"]) if (name in settings) share(settings[name], name);
    const skips = settings.skips_padding;
    if (typeof skips !== "boolean") throw new Unmeant(`skips_padding is ${shown(skips)}: give True or False`);
    return settings;
  }

  stops(settings: Settings): Record<string, readonly Setting[]> {
    const stops: Record<string, readonly Setting[]> = { packing: this.given.packing, accumulation: this.given.accumulation };
    if (this.batch === null) {
      const length = settings.length as number;
      const mean = Math.max(1, rint(length * (1 - (settings.padding as number))));
      const range = (count: number, first = 0): number[] => Array.from({ length: count }, (_, k) => first + k);
      Object.assign(stops, {
        sequences: range(12, 1), length: range(31, 2), padding: range(length).map((k) => k / length),
        spread: [0, 0.25, 0.5, 0.75, 1], prompt: range(mean + 1).map((k) => k / mean),
      });
    }
    return Object.fromEntries(Object.entries(stops).filter(([name]) => name in settings));
  }

  picture(settings: Settings): Picture {
    const { given } = this;
    const before = this.batch ?? madeBatch(settings as unknown as Made);
    const packing = settings.packing as number | undefined;
    const after = this.after ?? (packing === undefined || packing === 1 ? before : repacked(before, packing));
    const passes = settings.accumulation as number;
    const layouts = [before, after] as const;
    const parts = layouts.map((layout) => counted(layout, settings.skips_padding as boolean)) as [Counts, Counts];
    const sides = this.timed(parts, layouts, passes);
    const all = rates(...sides);
    const said = words(all, ...sides);
    const rows = [...all, ...utilizations(given.model, ...sides)].map(written);
    const large = rows.filter(({ name, ratio }) => name in LARGE && ratio !== null)
      .map((row) => ({ ...row, label: LARGE[row.name] as string, ratioText: `× ${numberText(row.ratio as number)}` }));
    const names = ["as it is", this.after === null ? "packed" : "after"];
    const packs = sides[1].width > sides[0].width;
    return {
      headline: said.filter((one) => HEADLINES.some((begin) => one.startsWith(begin))).join(" "),
      large,
      rows,
      sides: layouts.map((layout, k) => side(names[k] as string, layout, sides[k] as Timed)),
      facts: all.map(({ change }, k) => ({ text: said[k] as string, change })),
      notes: [...said.slice(all.length), ...(packs ? [ACROSS] : [])],
      trap: passes === 1 ? "" : `The trap: the count is of one update and the time of one microbatch: the rate would be `
        + `${numberText(passes)} times too high. Time one update, or count one microbatch.`,
      spoken: large.map((row) => (row.change === "unchanged"
        ? `${row.label}: ${row.beforeText}, unchanged.` : `${row.label}: ${row.beforeText} to ${row.afterText}.`)).join(" "),
      about: given.about,
      losses: given.losses,
    };
  }

  private timed(parts: readonly [Counts, Counts], layouts: readonly [Layout, Layout], passes: number): [Timed, Timed] {
    const { seconds, after_seconds, ms_per_position } = this.given;
    const ran = parts.map(({ executed }) => executed * passes) as [number, number];
    const each = seconds === null ? ms_per_position / 1000 : seconds * passes / ran[0];
    const times = after_seconds === null || seconds === null
      ? ran.map((count) => count * each) : [seconds * passes, after_seconds * passes];
    return parts.map((counts, k) => ({ counts, passes, seconds: times[k] as number, width: widthOf(layouts[k] as Layout) })) as [Timed, Timed];
  }
}

function written(row: Line): Record<string, unknown> & { name: string; ratio: number | null; beforeText: string; afterText: string; change: string } {
  const text = row.unit === "of peak" ? percent : (value: number): string => `${numberText(value)}${row.unit === "ms" ? " ms" : ""}`;
  return { ...row, beforeText: text(row.before), afterText: text(row.after), ratio: Number.isNaN(row.ratio) ? null : row.ratio };
}

function side(name: string, layout: Layout, timed: Timed): Record<string, unknown> {
  const { counts, passes, seconds, width } = timed;
  const rows = roleRuns(layout);
  const perUpdate = passes > 1 ? ` × ${passes} microbatches` : "";
  const ms = 1000 * seconds;
  const padding = counts.allocated - counts.real;
  return {
    name,
    title: `${commas(counts.allocated, 0)} positions${perUpdate}`,
    time: `${numberText(ms)} ms per update`,
    held: `${commas(counts.prompt, 0)} prompt · ${commas(counts.completion, 0)} completion, ${commas(counts.marked, 0)} scored · ${commas(padding, 0)} padding`,
    ms,
    width,
    rows,
    hidden: layout.lengths.length - rows.length,
  };
}
