/** The run planner: a form, and what Python says of the plan. */

import { Controls } from "../knobs/controls";
import { Frame } from "../knobs/frame";
import { OWN_KEYS } from "../knobs/keys";
import type { Given } from "../knobs/start";
import { Folded } from "../knobs/tables";
import { html } from "../view/dom";
import { sensitivityChart } from "./chart";
import type { PlanPicture } from "./types";

const HEADINGS = { ask: "", run: "The run", top: "What comes on top of training", cost: "What it costs" };

export function renderPlanner(given: Given<PlanPicture>, el: HTMLElement, signal: AbortSignal): void {
  const { desk } = given;
  const frame = new Frame(desk, "pl", "Training plan", signal);
  const knobs = given.knobs();
  const group = (...names: string[]): Controls => new Controls(desk, knobs.filter((knob) => names.includes(knob.group)), HEADINGS, signal);
  const [main, top, cost] = [group("ask", "run"), group("top"), group("cost")];
  const above = html("div");
  const numbers = new Folded("The same as a table");
  const beneath = html("div");
  const results = html("div", { class: "kn-numbers pl-results" }, above, numbers.element, beneath);
  const fold = (words: string, content: HTMLElement): HTMLElement => html("details", {}, html("summary", OWN_KEYS, words), content);
  frame.add(html("h3", {}, "How long will the run take?"), html("div", { class: "pl-main" },
    html("div", { class: "pl-form" }, main.root, fold("Checkpoints, evaluation, failures, downtime", top.root), fold("Prices and power", cost.root)), results));
  el.append(frame.root);

  let room = 0;
  let painted: unknown[] = [];
  const refresh = (): void => {
    frame.refresh();
    for (const form of [main, top, cost]) form.refresh();
    const { picture } = desk;
    const key = [picture, room];
    if (picture === null || room === 0 || key.every((part, k) => part === painted[k])) return;
    painted = key;
    above.replaceChildren(
      html("p", { class: "pl-answer", "data-role": "answer", "data-value": picture.answer.value, title: picture.answer.how },
        picture.answer.text, html("span", { class: "pl-convention" }, picture.answer.convention)),
      html("p", { class: "pl-headline", "data-role": "headline" }, picture.headline),
      figures(picture), parts(picture),
      html("h4", {}, "Elapsed days over MFU; the shaded range is what the MFU may be"),
      sensitivityChart(picture.sensitivity, room));
    numbers.draw(html("div", {}, table(picture), ways(picture)));
    beneath.replaceChildren(
      ...picture.notes.map((note) => html("p", { class: "sv-dim" }, `${note.charAt(0).toUpperCase()}${note.slice(1)}.`)),
      html("p", { class: "sv-dim" }, picture.about));
  };
  desk.subscribe(refresh, signal);
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== room) {
      room = width;
      refresh();
    }
  });
  watcher.observe(results);
  signal.addEventListener("abort", () => {
    watcher.disconnect();
    frame.root.remove();
  });
}

function figures(picture: PlanPicture): HTMLElement {
  return html("div", { class: "pl-figures" }, ...picture.large.map((one) => html("div", { class: "pl-figure", "data-figure": one.name, title: one.how },
    html("div", { class: "pl-label" }, one.label),
    html("div", {}, html("strong", { "data-value": one.value }, one.text), ` ${one.unit}`),
    html("div", { class: "pl-label" }, one.convention))));
}

function parts(picture: PlanPicture): HTMLElement {
  const shown = picture.parts.filter((part) => part.share > 0);
  const strip = html("div", { class: "pl-strip", role: "img", "aria-label": shown.map((part) => `${part.label} ${part.text}`).join(", ") },
    ...shown.map((part) => {
      const piece = html("i", { class: `pl-piece pl-${part.name}`, title: `${part.label}: ${part.text}, ${part.shareText}` });
      piece.style.flexGrow = String(part.share);
      return piece;
    }));
  return html("div", { "data-role": "parts" }, html("h4", {}, "Where the elapsed time goes"), strip,
    html("div", { class: "pl-legend" }, ...shown.map((part) => html("span", { "data-part": part.name },
      html("i", { class: `pl-swatch pl-${part.name}` }), `${part.label} `, html("b", { "data-value": part.days }, part.text), ` ${part.shareText}`))),
    html("p", { class: "sv-dim" }, picture.goodput));
}

/** How each number came about: others read it in a tip beside the pointer. */
function ways(picture: PlanPicture): HTMLElement {
  const cell = (words: string): HTMLElement => html("td", {}, words);
  const answer = { ...picture.answer, label: "The answer", unit: "" };
  return html("table", { "data-role": "ways" },
    html("caption", {}, "How each number came about"),
    html("thead", {}, html("tr", {}, ...["number", "value", "counted as", "how"].map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...[answer, ...picture.large].map((one) => html("tr", {},
      html("th", { scope: "row" }, one.label), cell(`${one.text} ${one.unit}`.trim()), cell(one.convention), cell(one.how)))));
}

function table(picture: PlanPicture): HTMLElement {
  const { mfu, mfuTexts, lines, own } = picture.sensitivity;
  return html("table", { "data-role": "grid" },
    html("caption", {}, "Elapsed days"),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "MFU"), ...lines.map((line) => html("th", { scope: "col", class: "kn-number" }, line.label)))),
    html("tbody", {}, ...mfu.map((one, k) => html("tr", { "data-own": one === own },
      html("th", { scope: "row" }, mfuTexts[k] as string),
      ...lines.map((line) => html("td", { class: "kn-number", "data-value": line.days[k], "data-own": one === own && line.own }, line.texts[k] as string))))));
}
