/** What a run spends besides training (as `stepviz/throughput/goodput.py`; no DOM). */

import { commas, real, Unmeant } from "../figures";

export const DAY = 86_400;
export const PARTS = ["active", "checkpoints", "evaluation", "restarts", "downtime"] as const;
export type PartName = (typeof PARTS)[number];

export interface GivenOverheads {
  readonly checkpoint_seconds: number;
  readonly checkpoint_every: number;
  readonly evaluation_seconds: number;
  readonly evaluation_every: number;
  readonly failures_per_device_day: number;
  readonly restart_seconds: number;
  readonly downtime_days: number;
}

export const OVERHEADS: readonly (keyof GivenOverheads)[] = [
  "checkpoint_seconds", "checkpoint_every", "evaluation_seconds", "evaluation_every",
  "failures_per_device_day", "restart_seconds", "downtime_days",
];

export class Overheads {
  constructor(private readonly given: GivenOverheads) {
    for (const name of OVERHEADS) real(given[name], name, name.endsWith("_every") ? { above: 0 } : { least: 0 });
  }

  private get running(): number {
    const { checkpoint_seconds, checkpoint_every, evaluation_seconds, evaluation_every } = this.given;
    return 1 + checkpoint_seconds / checkpoint_every + evaluation_seconds / evaluation_every;
  }

  private get perFailure(): number {
    const { failures_per_device_day, restart_seconds, checkpoint_every } = this.given;
    return failures_per_device_day === 0 ? 0 : restart_seconds + this.running * checkpoint_every / 2;
  }

  lostShare(devices: number): number {
    return devices * this.given.failures_per_device_day / DAY * this.perFailure;
  }

  /** The elapsed time, s, by part. */
  parts(active: number, devices: number): Record<PartName, number> {
    const { given } = this;
    const lost = this.lostShare(devices);
    if (lost >= 1) {
      const between = DAY / (devices * given.failures_per_device_day);
      throw new Unmeant(`${commas(devices, 0)} devices fail every ${commas(between, 0)} s on average and a failure `
        + `costs ${commas(this.perFailure, 0)} s: the run would never end. Checkpoint more often or restart faster`);
    }
    const run = active * this.running / (1 - lost);
    return {
      active,
      checkpoints: active * given.checkpoint_seconds / given.checkpoint_every,
      evaluation: active * given.evaluation_seconds / given.evaluation_every,
      restarts: run * lost,
      downtime: given.downtime_days * DAY,
    };
  }

  activeOf(elapsed: number, devices: number): number {
    const { downtime_days } = this.given;
    const left = (elapsed - downtime_days * DAY) * (1 - this.lostShare(devices)) / this.running;
    if (left <= 0) {
      throw new Unmeant(`of ${commas(elapsed / DAY, 2)} days nothing is left for training: `
        + `${commas(downtime_days, 2)} are downtime, and failures cost the rest`);
    }
    return left;
  }

  devicesFor(deviceSeconds: number, elapsed: number): number {
    const { downtime_days } = this.given;
    const run = elapsed - downtime_days * DAY;
    if (run <= 0) throw new Unmeant(`of ${commas(elapsed / DAY, 2)} days ${commas(downtime_days, 2)} are downtime: none left`);
    const loss = this.lostShare(1);
    const needed = deviceSeconds * this.running / run;
    if (loss === 0) return needed;
    const root = 1 - 4 * loss * needed;
    if (root < 0) {
      throw new Unmeant(`no number of devices does it in ${commas(elapsed / DAY, 2)} days: beyond ${commas(1 / (2 * loss), 0)} `
        + "failures cost more than another device adds. Checkpoint more often, restart faster, or give it more time");
    }
    return 2 * needed / (1 + Math.sqrt(root));
  }
}
