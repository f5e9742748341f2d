/** How times, counts and the long names of traces are written. */

import { decimals } from "../view/format";

/** A length or a time, in the unit that fits: 12.35 ms, 3.2 µs, 450 ns. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const sign = ns < 0 ? "−" : "";
  if (size < 1e3) return `${sign}${decimals(size, 0)} ns`;
  if (size < 1e6) return `${sign}${decimals(size / 1e3, size < 1e5 ? 2 : 1)} µs`;
  if (size < 1e9) return `${sign}${decimals(size / 1e6, size < 1e8 ? 3 : 2)} ms`;
  return `${sign}${decimals(size / 1e9, 3)} s`;
}

/** A point in time, exact to the ns, in ms. */
export function moment(ns: number): string {
  return `${ns < 0 ? "−" : ""}${decimals(Math.abs(ns) / 1e6, 6)} ms`;
}

export function count(of: number, one: string, several = `${one}s`): string {
  return `${decimals(of, 0)} ${of === 1 ? one : several}`;
}

/**
 * The telling part of a C++ function's name: without what it returns, its namespaces, and what
 * its templates and arguments are. Other names stay as they are.
 */
export function telling(name: string): string {
  const plain = name.replaceAll("(anonymous namespace)::", "");
  const end = plain.search(/[<(]/);
  if (end <= 0) return name;
  const head = plain.slice(0, end).trim();
  const from = Math.max(head.lastIndexOf("::") + 2, head.lastIndexOf(" ") + 1);
  return /^\w+$/.test(head.slice(from)) ? head.slice(from) : name;
}

/** Writes as much of a name as fits a width, by the widths of its letters. */
export class Fitter {
  private readonly widths = new Map<string, number>();

  constructor(private readonly measure: (letter: string) => number) {}

  /** "" where not even three letters fit. */
  fit(name: string, width: number): string {
    const whole = this.cut(name, width);
    if (whole === name) return name;
    const short = telling(name);
    const cut = this.cut(short, width);
    if (cut === short) return short;
    return cut.length >= 4 ? `${cut.slice(0, -1)}…` : "";
  }

  private cut(name: string, width: number): string {
    let left = width;
    for (let k = 0; k < name.length; k++) {
      const letter = name[k] as string;
      let size = this.widths.get(letter);
      if (size === undefined) this.widths.set(letter, (size = this.measure(letter)));
      left -= size;
      if (left < 0) return name.slice(0, k);
    }
    return name;
  }
}
