/** What the run planner shows of a plan (as `stepviz/widgets/plan_pictures.py` and `run_planner.py`; no DOM). */

import type { Setting, Settings } from "../../knobs/types";
import { commas, daysText, general, numberText, percent, shown, Unmeant } from "../figures";
import type { Picture, Pictures } from "../knobs";
import { DAY, PARTS } from "./overheads";
import { type Figure, type GivenPlan, type Numbers, Plan } from "./plan";

const MFU_AXIS = Array.from({ length: 15 }, (_, k) => (k + 2) / 20);
const LINES = [0.25, 0.5, 1, 2, 4];
const LABELS = {
  active: "updates", checkpoints: "checkpoints", evaluation: "evaluation",
  restarts: "failures: restarts and work done again", downtime: "downtime",
} as const;
const CHOICES = ["unknown", "device", "days_are"];
const SHARES = ["mfu", "mfu_low", "mfu_high"];
const PASSED = [
  "checkpoint_seconds", "checkpoint_every", "evaluation_seconds", "evaluation_every", "failures_per_device_day",
  "restart_seconds", "downtime_days", "price_per_device_hour", "watts_per_device", "power_usage_effectiveness", "price_per_kwh",
] as const;

export class PlanPictures implements Pictures {
  constructor(private readonly given: GivenPlan) {}

  completed(settings: Settings): Settings {
    for (const [name, value] of Object.entries(settings)) {
      if (CHOICES.includes(name)) continue;
      if (value === null && (this.given.optional.includes(name) || name === settings.unknown)) continue;
      if (typeof value !== "number") throw new Unmeant(`${name} is ${value === null ? "empty" : shown(value)}: give a number`);
      if (SHARES.includes(name) && name !== settings.unknown && !(value > 0 && value <= 1)) {
        throw new Unmeant(`${name} is ${general(100 * value)} %: give more than 0 % and at most 100 % (in Python 40 % is 0.4)`);
      }
    }
    return settings;
  }

  stops(settings: Settings): Record<string, readonly Setting[]> {
    return Object.fromEntries(Object.entries(this.given.stops).filter(([name]) => name !== settings.unknown));
  }

  picture(settings: Settings): Picture {
    const unknown = String(settings.unknown);
    const [plan, answer] = this.solved(settings, unknown);
    return {
      ...pictureOf(plan, unknown, answer),
      solved: { peak: plan.need("peak"), [unknown]: answer.value },
      about: this.given.about,
    };
  }

  private solved(settings: Settings, unknown: string): [Plan, Figure] {
    const held = (name: string): number | null => (name === unknown ? null : (settings[name] ?? null) as number | null);
    const device = String(settings.device ?? "");
    const low = settings.mfu_low as number | null;
    const high = settings.mfu_high as number | null;
    if ((low === null) !== (high === null)) {
      throw new Unmeant("the MFU's range has one end: give both, at worst and at best, or neither");
    }
    if (low !== null && high !== null && low > high) {
      throw new Unmeant(`the MFU at worst, ${percent(low)}, is above that at best, ${percent(high)}: give the lower one as the worst`);
    }
    const passed = Object.fromEntries(PASSED.map((name) => [name, settings[name] ?? null]));
    const numbers = {
      ...passed,
      parameters: "parameters" in settings ? held("parameters") : null,
      tokens: held("tokens"), devices: held("devices"), mfu: held("mfu"),
      peak: unknown === "peak" ? null : device === "" ? settings.peak : this.given.devices[device] ?? null,
      catalogued: device !== "" && unknown !== "peak",
      mfu_range: low === null || high === null ? null : [low, high],
    } as unknown as Numbers;
    const plan = new Plan(this.given, numbers);
    const active = settings.days_are === "active";
    if (unknown === "days") return [plan, active ? plan.days : plan.elapsedDays];
    const days = settings.days as number;
    const answer = plan.solveFor(unknown, active ? { days } : { elapsed: days });
    if (unknown === "mfu" && answer.value > 1) {
      throw new Unmeant(`it would take an MFU of ${percent(answer.value)}, more than the devices can do: `
        + `give it more than ${numberText(days)} days, more devices, or less work`);
    }
    const found = unknown === "mfu" ? { mfu: answer.value, mfu_range: null } : { [unknown]: answer.value };
    return [plan.with(found), answer];
  }
}

const written = (figure: Figure): string => (figure.unit === "days" ? daysText : numberText)(figure.value);

function pictureOf(plan: Plan, unknown: string, answer: Figure): Picture {
  const cases = plan.band().map(({ name, mfu, days }) => ({ name, mfu, mfuText: percent(mfu), days, text: `${daysText(days)} days` }));
  const [best, likely, worst] = cases as [Case, Case, Case];
  const large = [
    figure("active", "Active time", plan.days),
    figure("elapsed", "Elapsed time", plan.elapsedDays),
    figure("flops", "Work", plan.flops),
    figure("rate", "Achieved rate", plan.rate),
    figure("tokens_per_second", "Tokens per second", plan.tokensPerSecond),
    figure("device_hours", "Device-hours", plan.deviceHours),
  ];
  const { watts_per_device, price_per_device_hour, price_per_kwh } = plan.numbers;
  if (watts_per_device !== null) large.push(figure("energy", "Energy", plan.energy));
  if (price_per_device_hour !== null || price_per_kwh !== null) large.push(figure("cost", "Cost", plan.cost));
  const headline = `${likely.text} in all at ${likely.mfuText} MFU; from ${best.text} at ${best.mfuText} to ${worst.text} at ${worst.mfuText}.`;
  const said = answerText(unknown, answer);
  const parts = plan.parts();
  const whole = PARTS.reduce((sum, name) => sum + parts[name], 0);
  return {
    answer: { name: unknown, value: answer.value, text: said, convention: answer.convention, how: answer.how },
    headline,
    large,
    band: cases,
    parts: PARTS.map((name) => ({
      name, label: LABELS[name], days: parts[name] / DAY, share: parts[name] / whole,
      text: `${daysText(parts[name] / DAY)} days`, shareText: percent(parts[name] / whole),
    })),
    goodput: `${percent(plan.days.value / plan.elapsedDays.value)} of the elapsed time is active (goodput).`,
    sensitivity: grid(plan),
    notes: notes(plan),
    spoken: `${said}. ${headline}`,
  };
}

interface Case { name: string; mfu: number; mfuText: string; days: number; text: string }

function figure(name: string, label: string, one: Figure): Record<string, unknown> {
  return { name, label, value: one.value, text: written(one), unit: one.unit, convention: one.convention, how: one.how };
}

function grid(plan: Plan): Record<string, unknown> {
  const own = plan.utilization;
  const axis = [...new Set([...MFU_AXIS, own])].sort((a, b) => a - b);
  const alone = plan.with({ mfu_range: null });
  const lines = [];
  for (const factor of LINES) {
    const devices = plan.need("devices") * factor;
    const days = axis.map((mfu) => {
      const one = alone.with({ mfu, devices });
      return one.endless ? Infinity : one.elapsedDays.value;
    });
    if (!days.every(Number.isFinite)) continue;
    lines.push({ devices, label: `${numberText(devices)} devices`, days, texts: days.map(daysText), own: factor === 1 });
  }
  const band = plan.band();
  const range = [band[0]?.mfu ?? own, band[2]?.mfu ?? own].sort((a, b) => a - b);
  return { mfu: axis, mfuTexts: axis.map(percent), lines, own, range };
}

function notes(plan: Plan): string[] {
  const band = plan.band();
  const [fast, slow] = [band[0] as { days: number; mfu: number }, band[2] as { days: number; mfu: number }];
  const why = plan.numbers.mfu_range === null ? "assumed: fill in the MFU at worst and at best" : "given";
  const said = [`${daysText(fast.days)} to ${daysText(slow.days)} days at ${percent(fast.mfu)} to ${percent(slow.mfu)} MFU, a range that is ${why}`];
  if (!(plan.elapsedDays.value > plan.days.value)) {
    const { included } = plan.given;
    const has = included.length > 0 ? ` but what the MFU includes (${included.join(", ")})` : "";
    said.push(`nothing comes on top of the active time: no checkpoint, evaluation, restart or downtime is in this plan${has}`);
  }
  return [...said, ...plan.doubts()];
}

function answerText(unknown: string, answer: Figure): string {
  if (unknown === "mfu") return `${percent(answer.value)} MFU`;
  if (unknown === "devices") {
    const whole = Math.ceil(answer.value * (1 - 1e-12));
    return `${commas(whole, 0)} devices${answer.value === whole ? "" : ` (exactly ${numberText(answer.value, 6)})`}`;
  }
  return `${written(answer)} ${answer.unit}`;
}
