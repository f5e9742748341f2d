/** The bucket explorer's panel: sliders, the sweep, and why it is a U. */

import { Controls } from "../knobs/controls";
import { Frame } from "../knobs/frame";
import type { Given } from "../knobs/start";
import { Folded } from "../knobs/tables";
import { html } from "../view/dom";
import { sweepChart } from "./chart";
import { nearestPlace } from "./stretches";
import type { SweepPicture } from "./types";

const HEADINGS = { buckets: "Buckets", link: "The link", step: "The step" };
let drawn = 0;

export function renderBuckets(given: Given<SweepPicture>, el: HTMLElement, signal: AbortSignal): void {
  const { desk } = given;
  const hatch = `bk-hatch-${++drawn}`;
  const frame = new Frame(desk, "bk", "Bucket cap explorer", signal);
  const controls = new Controls(desk, given.knobs(), HEADINGS, signal);
  const top = html("div", { class: "kn-numbers" });
  const chart = html("div", { class: "kn-numbers bk-drawing" });
  const words = html("ul", { class: "bk-words", "data-role": "words" });
  const numbers = new Folded("The same as a table");
  frame.add(html("h3", {}, "Which bucket cap?"), top,
    html("div", { class: "bk-main" }, chart, html("div", { class: "bk-settings" }, controls.root)), legend(),
    html("div", { class: "kn-numbers" }, words, numbers.element));
  el.append(frame.root);

  let room = 0;
  let places: readonly number[] = [];
  let painted: unknown[] = [];
  const refresh = (): void => {
    frame.refresh();
    controls.refresh();
    const { picture } = desk;
    const key = [picture, room];
    if (picture === null || room === 0 || key.every((part, k) => part === painted[k])) return;
    painted = key;
    const sweep = sweepChart(picture, room, hatch);
    places = sweep.places;
    top.replaceChildren(html("p", { class: "bk-headline", "data-role": "headline" }, picture.headline), figures(picture));
    chart.replaceChildren(sweep.element);
    words.replaceChildren(...[...picture.words, ...picture.notes].map((one) => html("li", {}, one)));
    numbers.draw(table(picture));
  };
  desk.subscribe(refresh, signal);

  // The curve can be taken hold of too; the slider is the same for keys.
  const choose = (event: PointerEvent, done: boolean): void => {
    const { picture } = desk;
    if (picture === null || places.length === 0) return;
    const cap = picture.caps[nearestPlace(places, event.clientX - chart.getBoundingClientRect().left)];
    if (cap !== undefined && (done || cap !== desk.value.cap)) desk.turn("cap", cap, done);
  };
  chart.addEventListener("pointerenter", () => desk.pickUp("cap"), { signal });
  chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    desk.pickUp("cap");
    chart.setPointerCapture(event.pointerId);
    choose(event, false);
  }, { signal });
  chart.addEventListener("pointermove", (event) => {
    if (chart.hasPointerCapture(event.pointerId)) choose(event, false);
  }, { signal });
  chart.addEventListener("pointerup", (event) => {
    if (!chart.hasPointerCapture(event.pointerId)) return;
    chart.releasePointerCapture(event.pointerId);
    choose(event, true);
  }, { signal });
  // The page took the finger for scrolling: what was chosen until then stays, and Python hears of it.
  chart.addEventListener("pointercancel", () => {
    const { cap } = desk.value;
    if (cap !== undefined) desk.turn("cap", cap, true);
  }, { signal });

  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== room) {
      room = width;
      refresh();
    }
  });
  watcher.observe(chart);
  signal.addEventListener("abort", () => {
    watcher.disconnect();
    frame.root.remove();
  });
}

function legend(): HTMLElement {
  return html("div", { class: "bk-legend", "aria-hidden": "true" },
    html("span", {}, html("i", { class: "bk-swatch bk-swatch-near" }), "within 1 % of the best ◆"),
    html("span", {}, html("i", { class: "bk-swatch bk-swatch-queued" }), "the last bucket waits for the link: those before are not through"),
    html("span", {}, html("i", { class: "bk-swatch bk-swatch-last" }), "its own transfer, which nothing hides"));
}

function figures(picture: SweepPicture): HTMLElement {
  return html("div", { class: "bk-figures" }, ...picture.large.map((one, k) => html("div", { class: "bk-figure", "data-figure": one.name },
    html("div", { class: "bk-label" }, k === 2 ? `= ${one.label}` : k === 3 ? `+ ${one.label}` : one.label),
    html("strong", { "data-value": one.value }, one.text),
    html("div", { class: "bk-label" }, one.about))));
}

function table(picture: SweepPicture): HTMLElement {
  const heads = ["cap, MiB", "buckets", "completion, ms", "exposed tail, ms", "waiting for the link, ms", "last transfer, ms", "note"];
  const { texts } = picture;
  return html("table", { "data-role": "sweep" },
    html("caption", {}, "Completion and exposed tail by bucket cap"),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col", class: "kn-number" }, head)))),
    html("tbody", {}, ...picture.caps.map((cap, k) => html("tr", { "data-cap": cap, "data-chosen": k === picture.chosen },
      html("th", { scope: "row", class: "kn-number" }, picture.capTexts[k] as string),
      html("td", { class: "kn-number" }, String(picture.buckets[k])),
      html("td", { class: "kn-number", "data-value": picture.completion[k] }, texts.completion[k] as string),
      html("td", { class: "kn-number" }, texts.exposed[k] as string),
      html("td", { class: "kn-number", "data-value": picture.queued[k] }, texts.queued[k] as string),
      html("td", { class: "kn-number", "data-value": picture.last_transfer[k] }, texts.last_transfer[k] as string),
      html("td", {}, k === picture.best ? "best" : picture.near_best[k] === true ? "within 1 %" : "")))));
}
