/** How numbers and sentences about numbers are written. */

const formats = new Map<number, Intl.NumberFormat>();

/** At most so many decimals, thousands separated, never an exponent. */
export function decimals(size: number, digits: number): string {
  let format = formats.get(digits);
  if (!format) formats.set(digits, (format = new Intl.NumberFormat("en-US", { maximumFractionDigits: digits })));
  return format.format(size + 0); // never "-0"
}

/** Whether an amount is nothing but what rounding left, beside times of size `among`. */
export function negligible(value: number, among = 1): boolean {
  return Math.abs(value) <= 1e-9 * Math.max(1, Math.abs(among));
}

/** Decimals that leave a number below one three significant digits. */
const forSmall = (size: number): number => Math.min(12, 2 - Math.floor(Math.log10(size)));

function written(value: number, digits: (size: number) => number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  if (negligible(value)) return "0";
  const size = Math.abs(value);
  return (value < 0 ? "−" : "") + decimals(size, digits(size));
}

/** A number with as many decimals as its size deserves: 746.43, 12.345, 0.0412, 0.000123. */
export function number(value: number): string {
  return written(value, (size) => size >= 10 ? 2 : size >= 1 ? 3 : Math.max(4, forSmall(size)));
}

/** A short form for labels inside bars. */
export function brief(value: number): string {
  return written(value, (size) => size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : forSmall(size));
}

export function ms(value: number): string {
  return `${number(value)} ms`;
}

/** With its sign: +80, −25, ±0. */
export function signed(value: number): string {
  const size = number(Math.abs(value));
  if (size === "0") return "±0";
  return (value < 0 ? "−" : "+") + size;
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return "";
  const share = (part / whole) * 100;
  return `${signed(Math.abs(share) >= 0.1 ? Math.round(share * 10) / 10 : Number(share.toPrecision(2)))} %`;
}

/** Three decimals, as speedups are quoted: 1.034×. */
export function speedup(before: number, after: number): string {
  return after > 0 ? `${(before / after).toFixed(3)}×` : "";
}

const PLAIN = [{ maximumFractionDigits: 9 }, { maximumSignificantDigits: 12 }].map(
  (digits) => new Intl.NumberFormat("en-US", { useGrouping: false, ...digits }),
);

/** What an exact input shows: every digit that means something, no grouping, no exponent. */
export function exact(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  return (value < 0 ? "-" : "") + (PLAIN[size >= 1e-3 ? 0 : 1] as Intl.NumberFormat).format(size);
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
