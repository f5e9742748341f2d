/** Small form parts of the inspector and the panels. */

import { Refused } from "../model/types";
import { html } from "./dom";
import { exact, parse } from "./format";

export function field(label: string, input: HTMLElement, unit = ""): HTMLElement {
  return html("label", { class: "sv-field" }, html("span", {}, label), input,
    unit === "" ? null : html("span", { class: "sv-unit" }, unit));
}

/** A typed number, ms. Throws Refused with what is wrong. */
export function readNumber(typed: string): number {
  const value = parse(typed);
  if (value !== null) return value;
  const plain = typed.trim();
  if (plain === "") throw new Refused("Nothing is written there: give a number of ms, such as 350 or 0.25.");
  const huge = /^[-−]?\d[\d.,]*(e\+?\d+)?\s*(ms)?$/i.test(plain);
  throw new Refused(huge ? `“${plain}” is more than can be reckoned with: give a smaller number of ms.`
    : `“${plain}” can’t be read as a number: write one such as 350 or 0.25, in ms.`);
}

/** A typed number: taken on Enter or on leaving, put back when it is none or refused. */
export function numberField(
  role: string, value: number, take: (typed: () => number) => boolean, label: string,
): HTMLInputElement {
  const input = html("input", {
    value: exact(value), inputmode: "decimal", "data-role": role, "aria-label": label, autocomplete: "off",
    class: "sv-number",
  });
  let committed = exact(value);
  const commit = (): void => {
    if (input.value === committed) return;
    const typed = input.value;
    if (take(() => readNumber(typed))) committed = typed;
    else input.value = committed;
  };
  input.addEventListener("focus", () => {
    committed = input.value;
  });
  input.addEventListener("change", commit);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    if (event.key === "Escape") input.value = committed;
  });
  return input;
}

export function textField(role: string, value: string, take: (typed: string) => boolean): HTMLInputElement {
  const input = html("input", {
    value, "data-role": role, "aria-label": role, placeholder: "none", spellcheck: "false", autocomplete: "off",
  });
  input.addEventListener("change", () => {
    if (!take(input.value.trim())) input.value = value;
  });
  return input;
}

/** "2" is a rank; "0, 1" are the members of a collective. Throws Refused with what is wrong. */
export function parseRanks(typed: string): { rank: number } | { members: number[] } {
  const parts = typed.split(/[\s,]+/).filter((part) => part !== "");
  if (parts.length === 0) throw new Refused("A phase needs a rank: 0, or several of a collective, such as 0, 1.");
  const wrong = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (wrong !== undefined) {
    throw new Refused(`“${wrong}” is no rank: ranks are whole numbers from 0, several of a collective such as 0, 1.`);
  }
  const ranks = parts.map(Number);
  const twice = ranks.find((rank, k) => ranks.indexOf(rank) !== k);
  if (twice !== undefined) throw new Refused(`Rank ${twice} is there twice: name each rank of a collective once.`);
  return ranks.length === 1 ? { rank: ranks[0] as number } : { members: ranks };
}

export function select<T extends string>(
  role: string, options: readonly T[], value: T, take: (value: T) => boolean,
): HTMLSelectElement {
  const element = html("select", { "data-role": role, "aria-label": role },
    ...options.map((option) => html("option", { value: option, selected: option === value }, option)));
  element.addEventListener("change", () => {
    if (!take(element.value as T)) element.value = value;
  });
  return element;
}
