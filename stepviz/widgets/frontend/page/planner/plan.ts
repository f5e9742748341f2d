/** A training run as arithmetic (as `stepviz/throughput/plans.py`; no DOM). */

import { general, numberText, real, share, Unmeant } from "../figures";
import { DAY, type GivenOverheads, OVERHEADS, Overheads, type PartName } from "./overheads";

/** What stays as it is while the knobs turn. */
export interface GivenPlan {
  /** FLOP/token of a shape; null: 6 × the parameters. */
  readonly perToken: number | null;
  readonly how: string;
  readonly convention: string;
  readonly included: readonly string[];
  readonly caveats: readonly string[];
  readonly about: string;
  readonly optional: readonly string[];
  readonly stops: Readonly<Record<string, readonly number[]>>;
  /** Dense bf16 peaks by device, FLOP/s. */
  readonly devices: Readonly<Record<string, number>>;
  readonly peaks: readonly { readonly device: string; readonly precision: string; readonly flops: number; readonly halved: boolean }[];
}

export interface Numbers extends GivenOverheads {
  readonly parameters: number | null;
  readonly tokens: number | null;
  readonly devices: number | null;
  readonly peak: number | null;
  /** The peak is the catalogue's own. */
  readonly catalogued: boolean;
  readonly mfu: number | null;
  readonly mfu_range: readonly [number, number] | null;
  readonly price_per_device_hour: number | null;
  readonly watts_per_device: number | null;
  readonly power_usage_effectiveness: number;
  readonly price_per_kwh: number | null;
}

export interface Figure { readonly value: number; readonly unit: string; readonly convention: string; readonly how: string }

const INCLUDED: Readonly<Record<string, keyof GivenOverheads>> = {
  checkpoints: "checkpoint_seconds", evaluation: "evaluation_seconds", restarts: "failures_per_device_day", downtime: "downtime_days",
};
const ASSUMED_SPREAD = 0.2;

export class Plan {
  readonly overheads: Overheads;

  constructor(readonly given: GivenPlan, readonly numbers: Numbers) {
    for (const name of ["parameters", "tokens", "devices"] as const) {
      if (numbers[name] !== null) real(numbers[name], name, { above: 0 });
    }
    if (numbers.peak !== null) real(numbers.peak, "peak", { above: 0 });
    if (numbers.mfu !== null) share(numbers.mfu, "mfu", true);
    if (numbers.mfu_range !== null) checkRange(numbers.mfu, numbers.mfu_range);
    for (const name of ["price_per_device_hour", "watts_per_device", "price_per_kwh"] as const) {
      if (numbers[name] !== null) real(numbers[name], name, { least: 0 });
    }
    real(numbers.power_usage_effectiveness, "power_usage_effectiveness", { least: 1 });
    const own = Object.fromEntries(OVERHEADS.map((name) => [name, numbers[name]])) as unknown as Record<keyof GivenOverheads, number>;
    for (const part of given.included) own[INCLUDED[part] as keyof GivenOverheads] = 0;
    this.overheads = new Overheads(own);
  }

  with(change: Partial<Numbers>): Plan {
    return new Plan(this.given, { ...this.numbers, ...change });
  }

  need(name: "parameters" | "tokens" | "devices" | "peak" | "mfu"): number {
    const value = this.numbers[name];
    if (value === null) throw new Unmeant(`this plan has no ${name}: give it`);
    return value;
  }

  get perToken(): number {
    return this.given.perToken ?? 6 * this.need("parameters");
  }

  get utilization(): number {
    return this.need("mfu");
  }

  private figure(value: number, unit: string, convention: string, how: string): Figure {
    return { value, unit, convention, how };
  }

  get flops(): Figure {
    return this.figure(this.perToken * this.need("tokens"), "FLOP", this.given.convention, `${this.given.how} × tokens`);
  }

  get rate(): Figure {
    const value = this.need("devices") * this.need("peak") * this.utilization;
    return this.figure(value, "FLOP/s", this.given.convention, "devices × peak × MFU");
  }

  get activeSeconds(): number {
    return this.flops.value / this.rate.value;
  }

  get days(): Figure {
    return this.figure(this.activeSeconds / DAY, "days", `${this.given.convention}, active`, "FLOP ÷ (FLOP/s) ÷ 86,400");
  }

  parts(): Record<PartName, number> {
    return this.overheads.parts(this.activeSeconds, this.need("devices"));
  }

  get elapsedDays(): Figure {
    const value = Object.values(this.parts()).reduce((sum, part) => sum + part, 0) / DAY;
    return this.figure(value, "days", `${this.given.convention}, elapsed`, "active + checkpoints + evaluation + restarts + downtime");
  }

  get endless(): boolean {
    return this.overheads.lostShare(this.need("devices")) >= 1;
  }

  get tokensPerSecond(): Figure {
    return this.figure(this.rate.value / this.perToken, "tokens/s", this.given.convention, "FLOP/s ÷ (FLOP/token)");
  }

  get deviceHours(): Figure {
    return this.figure(this.need("devices") * this.elapsedDays.value * 24, "device-hours", "elapsed", "devices × elapsed hours");
  }

  get energy(): Figure {
    const watts = (this.numbers.watts_per_device ?? NaN) * this.numbers.power_usage_effectiveness;
    if (Number.isNaN(watts)) throw new Unmeant("this plan has no watts_per_device: give it");
    const how = "device-hours × watts per device × power usage effectiveness ÷ 1,000";
    return this.figure(this.deviceHours.value * watts / 1000, "kWh", "elapsed", how);
  }

  get cost(): Figure {
    const { price_per_device_hour, price_per_kwh } = this.numbers;
    let value = this.deviceHours.value * (price_per_device_hour ?? 0);
    if (price_per_kwh !== null) value += this.energy.value * price_per_kwh;
    return this.figure(value, "in your currency", "elapsed", "device-hours and energy × price");
  }

  /** The MFU, and the days at the best, the likely and the worst of it. */
  band(): { name: string; mfu: number; days: number }[] {
    const own = this.utilization;
    const [low, high] = this.numbers.mfu_range ?? [own * (1 - ASSUMED_SPREAD), Math.min(1, own * (1 + ASSUMED_SPREAD))];
    return ([["best", high], ["likely", own], ["worst", low]] as const).map(([name, mfu]) => {
      const plan = this.with({ mfu });
      return { name, mfu, days: plan.endless ? Infinity : plan.elapsedDays.value };
    });
  }

  /** The one number that makes the run take so long. */
  solveFor(unknown: string, wanted: { days?: number; elapsed?: number }): Figure {
    if (unknown === "days") return this.days;
    const perToken = unknown === "parameters" ? 6 : this.perToken;
    const work = perToken * (unknown === "tokens" ? 1 : this.need("tokens"));
    const devices = unknown === "devices" ? 1 : this.need("devices");
    const peak = unknown === "peak" ? 1 : this.need("peak");
    const speed = devices * peak * (unknown === "mfu" ? 1 : this.utilization);
    let seconds: number;
    if (wanted.days !== undefined) {
      seconds = real(wanted.days, "days", { above: 0 }) * DAY;
    } else {
      const elapsed = real(wanted.elapsed, "elapsed_days", { above: 0 }) * DAY;
      if (unknown === "devices") return this.answer(unknown, this.overheads.devicesFor(work / speed, elapsed));
      seconds = this.overheads.activeOf(elapsed, devices);
    }
    const ratio = speed * seconds / work;
    return this.answer(unknown, unknown === "parameters" || unknown === "tokens" ? ratio : 1 / ratio);
  }

  private answer(unknown: string, value: number): Figure {
    const unit = { peak: "FLOP/s", mfu: "of peak" }[unknown] ?? unknown;
    return this.figure(value, unit, this.given.convention, "FLOP = devices × peak × MFU × seconds, solved");
  }

  /** Where convention and model do not fit, or the peak is a sparse one. */
  doubts(): string[] {
    const said = [...this.given.caveats];
    return this.numbers.catalogued ? said : [...said, ...this.sparse(this.need("peak"))];
  }

  private sparse(flops: number): string[] {
    const { peaks } = this.given;
    const same = (other: number): boolean => Math.abs(flops / other - 1) < 0.001;
    const dense = peaks.filter((one) => same(one.flops));
    const trained = (precision: string): boolean => precision === "bf16" || precision === "fp16";
    if (dense.some((one) => trained(one.precision))) return [];
    const own = peaks.find((one) => one.halved && trained(one.precision) && same(2 * one.flops));
    if (own === undefined) return [];
    const also = dense.filter((one) => one.device === own.device).map((one) => one.precision);
    const twice = also.length > 0 ? `, and its dense ${also[0]} peak` : "";
    return [`${numberText(flops / 1e12, 5)} TFLOP/s is the sparse ${own.precision} figure of ${own.device}${twice}; `
      + `its dense ${own.precision} peak is ${numberText(own.flops / 1e12, 5)}`];
  }
}

function checkRange(likely: number | null, [low, high]: readonly [number, number]): void {
  for (const end of [low, high]) share(end, "mfu_range", true);
  if (low > high) throw new Unmeant(`mfu_range is from ${general(low)} down to ${general(high)}: give the lower one first`);
  if (likely !== null && !(low <= likely && likely <= high)) {
    throw new Unmeant(`mfu is ${general(likely)}, and its range is from ${general(low)} to ${general(high)}: give a range that holds it`);
  }
}
