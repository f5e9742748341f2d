/** A widget as it is on the screen, as one SVG that stands alone: texts, boxes, drawings. */

import { svg } from "./dom";
import { dress } from "./export";
import { legal } from "./legal";

const SKIPPED = ".sv-tool, .sv-x, [data-role='saving'], .sv-live, [hidden]";
const NOTHING = "rgba(0, 0, 0, 0)";

interface Page { readonly left: number; readonly top: number; readonly parts: SVGElement[] }

export function snapshotSVG(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const { width, height } = box;
  const style = getComputedStyle(root);
  const page: Page = { left: box.left, top: box.top, parts: [] };
  const paper = style.backgroundColor === NOTHING ? "white" : style.backgroundColor;
  page.parts.push(svg("rect", { width, height, fill: paper }));
  for (const child of root.childNodes) draw(child, page);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...page.parts);
  return legal(new XMLSerializer().serializeToString(picture));
}

function draw(node: Node, page: Page): void {
  if (node instanceof Text) {
    write(node, page);
    return;
  }
  if (!(node instanceof Element) || node.matches(SKIPPED)) return;
  const visible = node.checkVisibility?.({ visibilityProperty: true, contentVisibilityAuto: true }) ?? true;
  const rect = node.getBoundingClientRect();
  if (!visible || (rect.width <= 1 && rect.height <= 1)) return;
  const [x, y] = [rect.left - page.left, rect.top - page.top];
  if (node instanceof SVGSVGElement) {
    const clone = node.cloneNode(true) as SVGSVGElement;
    dress(node, clone);
    for (const title of clone.querySelectorAll("title")) title.remove();
    for (const [name, value] of Object.entries({ x, y, width: rect.width, height: rect.height })) clone.setAttribute(name, String(value));
    page.parts.push(clone);
    return;
  }
  if (node instanceof HTMLCanvasElement) {
    if (node.width > 0 && node.height > 0) page.parts.push(svg("image", { x, y, width: rect.width, height: rect.height, href: node.toDataURL() }));
    return;
  }
  const style = getComputedStyle(node);
  box(style, rect, x, y, page);
  if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement) {
    control(node, style, rect, x, y, page);
    return;
  }
  for (const child of node.childNodes) draw(child, page);
}

function box(style: CSSStyleDeclaration, rect: DOMRect, x: number, y: number, page: Page): void {
  const round = Math.min(parseFloat(style.borderTopLeftRadius) || 0, rect.height / 2);
  const fill = style.backgroundColor;
  const border = parseFloat(style.borderTopWidth) || 0;
  const all = border > 0 && style.borderBottomWidth === style.borderTopWidth && style.borderTopStyle !== "none";
  if (fill !== NOTHING || all) {
    page.parts.push(svg("rect", {
      x, y, width: rect.width, height: rect.height, rx: round, fill: fill === NOTHING ? "none" : fill,
      stroke: all ? style.borderTopColor : "none", "stroke-width": border,
    }));
  } else if (border > 0 && style.borderTopStyle !== "none") {
    page.parts.push(svg("line", { x1: x, y1: y, x2: x + rect.width, y2: y, stroke: style.borderTopColor, "stroke-width": border }));
  }
}

function control(node: HTMLInputElement | HTMLSelectElement, style: CSSStyleDeclaration, rect: DOMRect, x: number, y: number, page: Page): void {
  const middle = y + rect.height / 2;
  if (node.type === "range") {
    const { min, max, value } = node as HTMLInputElement;
    const share = (Number(value) - Number(min)) / ((Number(max) - Number(min)) || 1);
    page.parts.push(
      svg("line", { x1: x, x2: x + rect.width, y1: middle, y2: middle, stroke: style.color, "stroke-opacity": 0.4, "stroke-width": 3 }),
      svg("circle", { cx: x + 7 + share * (rect.width - 14), cy: middle, r: 7, fill: style.color }));
  } else if (node.type === "radio") {
    const [cx, r] = [x + rect.width / 2, Math.min(rect.width, rect.height) / 2 - 1];
    page.parts.push(svg("circle", { cx, cy: middle, r, fill: "none", stroke: style.color }));
    if ((node as HTMLInputElement).checked) page.parts.push(svg("circle", { cx, cy: middle, r: r / 2, fill: style.color }));
  } else if (node.type === "checkbox") {
    page.parts.push(svg("rect", { x, y, width: rect.width, height: rect.height, rx: 2, fill: "none", stroke: style.color }));
    if ((node as HTMLInputElement).checked) {
      page.parts.push(svg("path", { d: `M${x + 3} ${middle}l3 3 5-6`, fill: "none", stroke: style.color, "stroke-width": 2 }));
    }
  } else {
    const words = node instanceof HTMLSelectElement ? node.selectedOptions[0]?.textContent ?? "" : node.value || node.placeholder;
    page.parts.push(line(words, style, x + (parseFloat(style.paddingLeft) || 0) + 1, y, rect.height, null));
  }
}

function write(node: Text, page: Page): void {
  const content = node.data;
  const parent = node.parentElement;
  if (content.trim() === "" || parent === null) return;
  const style = getComputedStyle(parent);
  const range = document.createRange();
  let [from, row] = [0, null as DOMRect | null];
  const put = (to: number): void => {
    const words = content.slice(from, to).trimEnd();
    if (words === "" || row === null) return;
    range.setStart(node, from);
    range.setEnd(node, from + words.length); // a space after the words is not theirs to fill
    const { width } = range.getBoundingClientRect();
    page.parts.push(line(words, style, row.left - page.left, row.top - page.top, row.height, width));
  };
  // Word by word: where one stands lower than those before it, a new line begins.
  for (const { index, 0: word } of content.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const rect = range.getClientRects()[0];
    if (rect === undefined || rect.width === 0) continue;
    if (row !== null && Math.abs(rect.top - row.top) > 2) {
      put(index);
      from = index;
      row = rect;
    } else if (row === null) {
      from = index;
      row = rect;
    }
  }
  put(content.length);
}

function line(words: string, style: CSSStyleDeclaration, x: number, top: number, height: number, width: number | null): SVGTextElement {
  const size = parseFloat(style.fontSize);
  const element = svg("text", {
    x, y: top + height / 2 + size * 0.35, fill: style.color, "font-size": size, "font-family": style.fontFamily, "font-weight": style.fontWeight,
    "text-decoration": style.textDecorationLine === "none" ? null : style.textDecorationLine,
    textLength: width === null || width === 0 ? null : width, lengthAdjust: width === null ? null : "spacingAndGlyphs",
  });
  element.textContent = words;
  return element;
}
