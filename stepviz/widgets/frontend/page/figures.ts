/** Numbers as Python writes them (`stepviz/throughput/figures.py`; no DOM). */

/** With so many decimals; what lies exactly between two goes to the even one, as in Python. */
export function fixed(value: number, decimals: number): string {
  if (Math.abs(value) >= 2 ** 53 && Number.isFinite(value)) return `${BigInt(value)}${decimals > 0 ? `.${"0".repeat(decimals)}` : ""}`;
  const text = value.toFixed(decimals);
  if (decimals > 70 || !Number.isFinite(value)) return text;
  const exact = Math.abs(value).toFixed(Math.min(100, decimals + 30));
  const rest = exact.slice(exact.length - 30);
  if (!/^50*$/.test(rest) || Number(text[text.length - 1]) % 2 === 0) return text;
  // toFixed rounds such a tie away from zero: the even neighbour is one less.
  const digits = exact.slice(0, exact.length - 30).replace(/\.$/, "");
  return `${value < 0 ? "-" : ""}${digits}`;
}

/** Thousands apart. */
export function grouped(text: string): string {
  const [whole, rest] = text.split(".");
  const apart = (whole ?? "").replace(/(\d)(?=(\d{3})+$)/g, "$1,");
  return rest === undefined ? apart : `${apart}.${rest}`;
}

/** Mantissa and exponent with so many digits; ties go to the even digit, as in Python. */
function exponential(value: number, digits: number): [mantissa: string, exponent: number] {
  const split = (text: string): [string, number] => {
    const [mantissa, exponent] = text.split("e") as [string, string];
    return [mantissa, Number(exponent)];
  };
  const [mantissa, exponent] = split(value.toExponential(digits - 1));
  const [exact, own] = split(value.toExponential(digits + 29));
  const cut = exact.slice(0, exact.length - 30).replace(/\.$/, "");
  const tie = /^50*$/.test(exact.slice(exact.length - 30));
  return tie && Number(mantissa[mantissa.length - 1]) % 2 === 1 ? [cut, own] : [mantissa, exponent];
}

/** As format(value, "g") with so many digits. */
export function general(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const [mantissa, power] = exponential(value, digits);
  if (power < -4 || power >= digits) {
    const short = mantissa.includes(".") ? mantissa.replace(/0+$/, "").replace(/\.$/, "") : mantissa;
    return `${short}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = fixed(value, Math.max(0, digits - 1 - power));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

export function numberText(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return general(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-4)) return general(value, digits + 1).replace("e+", "e").replace("e-0", "e-");
  if (Number.isInteger(value)) return grouped(fixed(value, 0));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const text = grouped(fixed(value, decimals));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

export function daysText(value: number): string {
  const whole = value >= 1 && value < 1000 ? Math.floor(Math.log10(value)) : 0;
  return numberText(value, 3 + whole);
}

export const percent = (value: number): string => `${fixed(value * 100, 2)} %`;

/** `{value:,.2f}` and the like. */
export const commas = (value: number, decimals: number): string => grouped(fixed(value, decimals));

/** How Python shows a value in a message. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    return `${quote}${value.replace(/\\/g, "\\\\").replaceAll(quote, `\\${quote}`)}${quote}`;
  }
  return String(value).replace(/e-(\d)$/, "e-0$1");
}

/** Settings that have no meaning, in a sentence. */
export class Unmeant extends Error {}

/** A finite number within bounds, or what it should have been (as `throughput/checks.py`). */
export function real(value: unknown, name: string, bound: { above?: number; least?: number } = {}): number {
  const number = typeof value === "number" ? value : NaN;
  const { above, least } = bound;
  const said = above === 0 ? "above 0" : above !== undefined ? `above ${general(above)}` : least !== undefined ? `of ${general(least)} or more` : "";
  const low = (above !== undefined && number <= above) || (least !== undefined && number < least);
  if (!Number.isFinite(number) || low) throw new Unmeant(`${name} is ${shown(value)}: give a number ${said}`.trimEnd());
  return number;
}

/** A fraction from 0 to 1. */
export function share(value: unknown, name: string, aboveZero = false): number {
  const number = real(value, name, aboveZero ? { above: 0 } : { least: 0 });
  if (number > 1) {
    const meant = number <= 100 ? `: 40 % is 0.4, so ${general(number)} % is ${general(number / 100)}` : "";
    throw new Unmeant(`${name} is ${shown(value)}, and a fraction is at most 1${meant}`);
  }
  return number;
}

/** A whole number. */
export function whole(value: unknown, name: string, least: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least) {
    throw new Unmeant(`${name} is ${shown(value)}: give a whole number of ${least} or more`);
  }
  return value;
}
