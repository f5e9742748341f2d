/** Axes of small charts: ticks and positions, linear or logarithmic (no DOM). */

export interface Axis { readonly at: (value: number) => number; readonly ticks: readonly number[] }

/** 1, 2, 5, 10, 20, …: those between two bounds, all of them or so many that they can be read. */
export function roundTicks(low: number, high: number, most = 8): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)); power++) {
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) found.push(tick);
    }
  }
  if (found.length <= most) return found;
  const decades = found.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(9))));
  return decades.length >= 2 ? decades : found.filter((_, k) => k % Math.ceil(found.length / most) === 0);
}

export function logAxis(low: number, high: number, from: number, to: number): Axis {
  const span = Math.log(high / low) || 1;
  return { at: (value) => from + (Math.log(value / low) / span) * (to - from), ticks: roundTicks(low, high) };
}

export function linearAxis(low: number, high: number, from: number, to: number, most = 6): Axis {
  const span = high - low || 1;
  const step = [1, 2, 5, 10].map((digit) => digit * 10 ** Math.floor(Math.log10(span / most))).find((one) => span / one <= most) as number;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return { at: (value) => from + ((value - low) / span) * (to - from), ticks };
}
