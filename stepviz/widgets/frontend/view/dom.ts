/** The few DOM helpers the view needs. Text is always set as text: names come from traces. */

export type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function assign(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  assign(element, attributes);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  assign(element, attributes);
  element.append(...children);
  return element;
}

/** Set an attribute only when it changes: a drag touches thousands of elements per frame. */
export function attr(element: Element, name: string, value: string | number | null): void {
  if (value === null) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = typeof value === "string" ? value : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export function text(element: Element, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

export function show(element: HTMLElement | SVGElement, visible: boolean): void {
  attr(element, "hidden", visible ? null : "");
}

/** Round a pixel coordinate so that attributes stay short and equal ones compare equal. */
export function px(value: number): number {
  return Math.round(value * 100) / 100;
}

/** A stroked 16×16 icon. */
export function icon(path: string): SVGSVGElement {
  return svg("svg", { class: "sv-icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: path }));
}

export function button(
  label: string,
  content: Node | string,
  attributes: Attributes,
  onClick: (event: MouseEvent) => void,
  signal: AbortSignal,
): HTMLButtonElement {
  // What is written on it is part of what it is called, so that a voice can press it.
  const named = typeof content !== "string" || label.toLowerCase().includes(content.toLowerCase()) || !/\p{L}/u.test(content);
  const element = html("button",
    { type: "button", title: label, "aria-label": named ? label : `${content}: ${label}`, ...attributes }, content);
  element.addEventListener("click", onClick, { signal });
  return element;
}
