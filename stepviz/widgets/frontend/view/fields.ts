/** Small form parts of the inspector and the panels. */

import { html } from "./dom";
import { exact, parse } from "./format";

export function field(label: string, input: HTMLElement, unit = ""): HTMLElement {
  return html("label", { class: "sv-field" }, html("span", {}, label), input,
    unit === "" ? null : html("span", { class: "sv-unit" }, unit));
}

/** A typed number: taken on Enter or on leaving, put back when it is none or refused. */
export function numberField(
  role: string, value: number, take: (value: number) => boolean, label: string,
): HTMLInputElement {
  const input = html("input", {
    value: exact(value), inputmode: "decimal", "data-role": role, "aria-label": label, autocomplete: "off",
    class: "sv-number",
  });
  let committed = exact(value);
  const commit = (): void => {
    if (input.value === committed) return;
    const typed = parse(input.value);
    if (typed !== null && take(typed)) committed = exact(typed);
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

/** "2" is a rank; "0, 1" are the members of a collective. */
export function parseRanks(typed: string): { rank: number } | { members: number[] } {
  const ranks = typed.split(/[\s,]+/).filter((part) => part !== "").map(Number);
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
