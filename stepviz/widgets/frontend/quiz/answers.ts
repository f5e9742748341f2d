/** What counts as right (no DOM). The same rule for Python is in `stepviz/widgets/quiz_answers.py`;
 *  `tests/widgets/quiz_cases.json` holds what both must say. */

import type { Judgement, QuizDoc } from "./types";

const DIGITS = "(?:[0-9]{1,3}(?:[ \\u00a0\\u2009\\u202f'’_][0-9]{3})+(?:[.,][0-9]+)?"
  + "|[0-9][0-9.,]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?";
const ABOUT = /^(?:[≈~=]|(?:about|approx\.?|ca\.?)\s)\s*/i;
const TYPED = new RegExp(`^([+-]?)(${DIGITS})(?:\\s*[/÷]\\s*(${DIGITS}))?\\s*(.*)$`, "is");

/** Judge what was typed or chosen. */
export function judge(quiz: QuizDoc, given: string): Judgement {
  if (quiz.kind === "choice") return judgeChoice(quiz, given);
  const typed = given.trim();
  if (typed === "") return unread("Write a number first.");
  const found = TYPED.exec(typed.replace(ABOUT, "").replace(/^[−–]/, "-"));
  const values = found === null ? [] : readings(found);
  if (found === null || values.length === 0) {
    return unread(`“${typed}” can't be read as a number. Write it like 12.5${quiz.unit === "" ? "" : ` ${quiz.unit}`}.`);
  }
  const written = (found[4] as string).trim();
  const unit = plainUnit(written);
  const factor = unit === "" ? 1 : Object.hasOwn(quiz.units, unit) ? quiz.units[unit] : undefined;
  if (factor === undefined) {
    return unread(`${quiz.unit === "" ? "Give a plain number" : `Give it in ${quiz.unit}`}: “${written}” is another unit.`);
  }
  if (unit === "" && quiz.unit === "%") values.push(...values.map((value) => 100 * value));
  return judgeNumbers(quiz, values.map((value) => value * factor));
}

/** Judge a number in the quiz's own unit. */
export function judgeNumber(quiz: QuizDoc, value: number): Judgement {
  return judgeNumbers(quiz, [value]);
}

function judgeChoice(quiz: QuizDoc, given: string): Judgement {
  if (!quiz.choices.includes(given)) return unread("Choose one first.");
  if (given === quiz.answer) return { outcome: "right", value: given, words: "" };
  const mistake = quiz.wrong.find((one) => one.answer === given);
  return mistake === undefined
    ? { outcome: "wrong", value: given, words: "" }
    : { outcome: "mistake", value: given, words: mistake.words };
}

/** The first reading that is the answer or a mistake counts; of these, the nearest. */
function judgeNumbers(quiz: QuizDoc, values: readonly number[]): Judgement {
  const targets = [{ answer: quiz.answer as number, words: null }, ...quiz.wrong as readonly { answer: number; words: string }[]];
  for (const value of values) {
    let best: { readonly words: string | null } | undefined;
    let least = Infinity;
    for (const target of targets) {
      const off = Math.abs(value - target.answer);
      if (off > quiz.tolerance * Math.abs(target.answer) || off >= least) continue;
      best = target;
      least = off;
    }
    if (best === undefined) continue;
    return best.words === null ? { outcome: "right", value, words: "" } : { outcome: "mistake", value, words: best.words };
  }
  return { outcome: "wrong", value: values[0] as number, words: "" };
}

function unread(words: string): Judgement {
  return { outcome: "unread", value: null, words };
}

/** 1,050 may be 1050 or 1.05: both are written so somewhere. The likelier comes first. */
function readings(found: RegExpExecArray): number[] {
  const sign = found[1] === "-" ? -1 : 1;
  const below = found[3] === undefined ? [1] : read(found[3]).filter((value) => value !== 0);
  return read(found[2] as string)
    .flatMap((above) => below.map((other) => sign * above / other))
    .filter(Number.isFinite);
}

function read(digits: string): number[] {
  const [whole, exponent] = digits.toLowerCase().replace(/[ \u00a0\u2009\u202f'’_]/g, "").split("e") as [string, string?];
  const body = whole.replace(/[.,]+$/, "");
  const tail = exponent === undefined ? "" : `e${exponent}`;
  const number = (text: string): number => Number(text + tail);
  const decimal = body.lastIndexOf(",") > body.lastIndexOf(".") ? "," : ".";
  const parts = body.split(decimal);
  if (body.includes(".") && body.includes(",")) {
    const plain = body.replaceAll(decimal === "." ? "," : ".", "");
    return parts.length === 2 ? [number(plain.replace(decimal, "."))] : [];
  }
  if (parts.length === 1) return [number(body)];
  const grouped = /^[1-9][0-9]{0,2}$/.test(parts[0] as string) && parts.slice(1).every((part) => /^[0-9]{3}$/.test(part));
  const joined = grouped ? [number(parts.join(""))] : [];
  if (parts.length > 2) return joined;
  const fraction = [number(body.replace(decimal, "."))];
  return decimal === "," ? [...joined, ...fraction] : [...fraction, ...joined];
}

/** A unit in the one way in which units are compared. */
function plainUnit(unit: string): string {
  return unit.trim().toLowerCase().replaceAll("µ", "u").replaceAll("μ", "u").replace(/\.+$/, "")
    .replace(/\s*\bper\s+(?!cent\b)/g, "/").replace(/\s*\/\s*/g, "/").replace(/\/(?:seconds?|sec)$/, "/s");
}
