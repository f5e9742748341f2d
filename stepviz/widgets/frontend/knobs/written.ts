/** How settings are written and read; numbers of results come written from Python. */

import { exact } from "../view/format";
import type { Knob, Setting } from "./types";

const SUFFIXES: readonly (readonly [string, number])[] = [["T", 1e12], ["B", 1e9], ["M", 1e6], ["k", 1e3]];

/** A number as people type it: 7B, 1.4T, 64, 3,600, 1e12. */
export function written(value: number): string {
  for (const [suffix, size] of SUFFIXES) {
    const short = value / size;
    if (Math.abs(value) >= size && (size > 1e3 || value >= 1e5) && Number(short.toPrecision(6)) === short) return `${exact(short)}${suffix}`;
  }
  return exact(value);
}

/** Read what was typed; null where it is no number. */
export function read(text: string): number | null {
  const plain = text.trim().replace(/[\s_]/g, "").replace("−", "-").replace(/,(?=\d{3}(\D|$))/g, "").replace(",", ".");
  const parts = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([kKMGBT%]?)$/i.exec(plain);
  if (parts === null) return null;
  const size = { K: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12, "%": 0.01, "": 1 }[(parts[2] as string).toUpperCase()];
  // the digits and the exponent together, so that 0.3B is 300000000 and not a sum of roundings
  const value = Number(parts[1]);
  return size === undefined || !Number.isFinite(value) ? null : Number((value * size).toPrecision(15));
}

/** Read one number or several, "4" or "1, 2, 4"; null where nothing was typed, the text where it is neither. */
export function readList(text: string): Setting {
  const parts = text.trim().split(/[\s,;]+/).filter((part) => part !== "");
  const numbers = parts.map(read);
  if (numbers.includes(null)) return text.trim();
  return numbers.length > 1 ? numbers as number[] : numbers[0] ?? null;
}

/** A list as people type it. */
export function writtenList(setting: Setting): string {
  if (Array.isArray(setting)) return setting.map(written).join(", ");
  return typeof setting === "number" ? written(setting) : String(setting ?? "");
}

/** A knob's setting with its unit. */
export function settingText(knob: Knob, setting: Setting): string {
  const named = knob.choices.find(([value]) => value === setting);
  if (named !== undefined) return named[1];
  if (typeof setting === "boolean") return setting ? "on" : "off";
  if (typeof setting !== "number") return String(setting ?? "");
  const unit = knob.unit === "" ? "" : ` ${knob.unit}`;
  if (knob.show === "percent") return `${Math.round(setting * 1000) / 10} %`;
  if (knob.show === "count") return `${setting}${unit}`;
  return `${written(Number(setting.toPrecision(4)))}${unit}`;
}

/** The stop nearest to a setting. */
export function nearest(stops: readonly Setting[], setting: Setting): number {
  if (typeof setting !== "number") return Math.max(0, stops.indexOf(setting));
  let best = 0;
  stops.forEach((stop, k) => {
    if (Math.abs((stop as number) - setting) < Math.abs((stops[best] as number) - setting)) best = k;
  });
  return best;
}
