/** How numbers and sentences about numbers are written. */

const FORMATS = [0, 1, 2, 3, 4, 5, 6].map(
  (digits) => new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }),
);

/** A number with as many decimals as its size deserves: 746.43, 12.345, 0.0412. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  const size = Math.abs(value);
  const digits = size >= 10 ? 2 : size >= 1 ? 3 : size >= 0.01 ? 4 : 6;
  const written = (FORMATS[digits] as Intl.NumberFormat).format(size);
  return value < 0 && written !== "0" ? `−${written}` : written;
}

/** A short form for labels inside bars. */
export function brief(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  const written = (FORMATS[digits] as Intl.NumberFormat).format(size);
  return value < 0 && written !== "0" ? `−${written}` : written;
}

export function ms(value: number): string {
  return `${number(value)} ms`;
}

/** With its sign: +80, −25, ±0. */
export function signed(value: number): string {
  const written = number(Math.abs(value));
  if (written === "0") return "±0";
  return (value < 0 ? "−" : "+") + written;
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return "";
  return `${signed(Math.round((part / whole) * 1000) / 10)} %`;
}

/** Three decimals, as speedups are quoted: 1.034×. */
export function speedup(before: number, after: number): string {
  return after > 0 ? `${(before / after).toFixed(3)}×` : "";
}

/** What an exact input shows: every digit, no grouping. */
export function exact(value: number): string {
  return String(Math.round(value * 1e9) / 1e9);
}

/** Read a typed number; accepts a decimal comma, a real minus sign and a trailing "ms". */
export function parse(written: string): number | null {
  let plain = written.trim().replace(/\s*ms$/i, "").replace("−", "-").replace(/\s/g, "");
  plain = /^-?\d+,\d+$/.test(plain) && !/^-?\d{1,3},\d{3}$/.test(plain)
    ? plain.replace(",", ".") : plain.replace(/,/g, "");
  if (plain === "") return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

export function lag(value: number): string {
  return value === 0 ? "" : ` ${value > 0 ? "+" : "−"}${number(Math.abs(value))}`;
}
