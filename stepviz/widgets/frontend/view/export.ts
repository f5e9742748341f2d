/** The drawing as a file that stands alone: styles written into the elements. */

import type { Chart } from "./chart";
import { html, svg } from "./dom";
import { textWidth } from "./labels";
import { legal } from "./legal";

const PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "font-variant-numeric", "text-decoration-line",
];
const SKIPPED = ".sv-grip,.sv-arrow-hit,.sv-overlay,.sv-free,.sv-pin-hit,title";

export function dress(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  if (style.display === "none" || style.visibility === "hidden") {
    to.setAttribute("display", "none");
    return;
  }
  if (from instanceof SVGGraphicsElement && !(from instanceof SVGGElement)) {
    for (const property of PROPERTIES) {
      const value = style.getPropertyValue(property);
      if (value !== "" && value !== "none" || property === "fill" || property === "stroke") to.setAttribute(property, value.replace(/url\("?[^"#)]*#/, "url(#").replace('")', ")"));
    }
  }
  // Words with a halo are painted edge first.
  if (from instanceof SVGTextElement && style.paintOrder.startsWith("stroke")) {
    to.setAttribute("paint-order", "stroke");
    to.setAttribute("stroke-linejoin", "round");
  }
  for (let k = 0; k < from.children.length; k++) dress(from.children[k] as Element, to.children[k] as Element);
}

function copy(drawing: SVGSVGElement, y: number): SVGElement {
  const clone = drawing.cloneNode(true) as SVGSVGElement;
  dress(drawing, clone);
  for (const extra of clone.querySelectorAll(SKIPPED)) extra.remove();
  for (const name of ["class", "role", "aria-label", "aria-describedby", "aria-roledescription", "data-role"]) clone.removeAttribute(name);
  clone.setAttribute("y", String(y));
  return clone;
}

/** Headline, axis, rows and strip as one SVG text. */
export function pictureSVG(root: HTMLElement, chart: Chart): string {
  const style = getComputedStyle(root);
  const foreground = style.color;
  const value = (role: string): string => root.querySelector(`[data-role="${role}"]`)?.textContent ?? "";
  const line = (content: string, x: number, y: number, size: number, weight: number, opacity = 1): SVGTextElement => {
    const element = svg("text", { x, y, "font-size": size, "font-weight": weight, "font-family": style.fontFamily, fill: foreground, "fill-opacity": opacity });
    element.textContent = content;
    return element;
  };
  const heights = [chart.head, chart.body, chart.below].map((part) => Number(part.getAttribute("height")));
  const top = 84;
  const lines = wrap(chart.strip.sum.textContent ?? "", chart.width - 32, `12.5px ${style.fontFamily}`);
  const drawn = top + heights.reduce((sum, part) => sum + part, 0);
  const height = drawn + 24 + 20 * lines.length;
  const picture = svg("svg", {
    width: chart.width, height, viewBox: `0 0 ${chart.width} ${height}`,
  }, svg("rect", { width: chart.width, height, fill: style.backgroundColor === "rgba(0, 0, 0, 0)" ? "white" : style.backgroundColor }),
  line(`${value("completion")}`, 16, 42, 34, 700),
  line(value("change"), 16 + textWidth(value("completion"), `700 34px ${style.fontFamily}`) + 16, 40, 15, 600),
  line(value("caption"), 16, 64, 12.5, 400, 0.72),
  copy(chart.head, top), copy(chart.body, top + (heights[0] as number)),
  copy(chart.below, top + (heights[0] as number) + (heights[1] as number)),
  ...lines.map((content, k) => line(content, 16, drawn + 28 + 20 * k, 12.5, 400)));
  // Parents come before nested drawings: name the namespace once, on the outermost.
  return legal(new XMLSerializer().serializeToString(picture));
}

/** A sum in lines that fit, broken before a plus. */
function wrap(content: string, room: number, font: string): string[] {
  const lines = [""];
  for (const term of content.split(/ (?=[+=] )/)) {
    const longer = `${lines.at(-1)} ${term}`.trim();
    if (textWidth(longer, font) <= room || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(term);
  }
  return lines;
}

function saveURL(url: string, name: string): void {
  const link = html("a", { href: url, download: name });
  link.click();
}

export function saveText(content: string, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  saveURL(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export async function savePNG(picture: string, name: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
  await image.decode();
  const canvas = html("canvas");
  canvas.width = image.naturalWidth * 2;
  canvas.height = image.naturalHeight * 2;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("no picture");
  const url = URL.createObjectURL(blob);
  saveURL(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
