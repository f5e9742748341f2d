/** The token comparison, drawn from what Python says; it computes pixels only. */

import { Controls } from "../knobs/controls";
import { Frame } from "../knobs/frame";
import { OWN_KEYS } from "../knobs/keys";
import type { Given } from "../knobs/start";
import { Folded, scrolled } from "../knobs/tables";
import { attr, html } from "../view/dom";
import { drawMasks, scaleOf } from "./masks";
import type { Change, Losses, Row, Side, TokenPicture, What } from "./types";

const SIGNS: Readonly<Record<Change, string>> = { better: "✓", worse: "✗", unchanged: "=" };
const HEADINGS = { batch: "A batch", change: "How it is run" };
let drawn = 0;

export function renderTokens(given: Given<TokenPicture>, el: HTMLElement, signal: AbortSignal): void {
  const { desk, model } = given;
  const number = ++drawn;
  const frame = new Frame(desk, "tk", "Tokens per second under every convention", signal);
  const numbers = html("div", { class: "kn-numbers" });
  const drawing = html("div", { class: "kn-numbers tk-sides" });
  const settings = html("div", { class: "tk-settings" });
  const said = html("div", { class: "kn-numbers" });
  const cells = new Folded("The masks as a table");
  const every = new Folded("Every convention at once");
  const below = html("div");
  const about = html("p", { class: "sv-dim" });
  let lossesTold = "";
  let controls = new Controls(desk, given.knobs(), HEADINGS, signal);
  settings.append(controls.root);
  let room = 0;
  let painted: unknown[] = [];

  frame.add(html("h3", {}, "Did throughput improve? Name the token."), numbers,
    html("div", { class: "tk-main" }, drawing, settings), said,
    html("div", { class: "kn-numbers" }, cells.element, every.element), below, about);
  el.append(frame.root);

  const refresh = (): void => {
    frame.refresh();
    controls.refresh();
    const { picture } = desk;
    if (picture === null || room === 0) return;
    const key = [picture, room];
    if (key.every((part, k) => part === painted[k])) return;
    painted = key;
    numbers.replaceChildren(html("p", { class: "tk-headline", "data-role": "headline" }, picture.headline), cards(picture));
    drawing.replaceChildren(...masks(picture, room, number));
    said.replaceChildren(words(picture));
    cells.draw(maskTable(picture));
    every.draw(conventions(picture), `Every convention at once (${picture.rows.length} numbers)`);
    about.textContent = picture.about.join(" ");
    const told = JSON.stringify(picture.losses); // they don't change with the settings: keep what is open
    if (told !== lossesTold) below.replaceChildren(losses(picture.losses));
    lossesTold = told;
  };

  desk.subscribe(refresh, signal);
  const reform = (): void => {
    controls = new Controls(desk, given.knobs(), HEADINGS, signal);
    settings.replaceChildren(controls.root);
    refresh();
  };
  model.on("change:_form", reform);
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== room) {
      room = width;
      refresh();
    }
  });
  watcher.observe(drawing);
  signal.addEventListener("abort", () => {
    model.off("change:_form", reform);
    watcher.disconnect();
    frame.root.remove();
  });
}

function chip(change: Change, words: string): HTMLElement {
  return html("span", { class: "kn-chip", "data-change": change }, `${SIGNS[change]} ${words}`);
}

function cards(picture: TokenPicture): HTMLElement {
  return html("div", { class: "tk-cards" }, ...picture.large.map((row) => html("div", { class: "tk-card", "data-quantity": row.name },
    html("div", { class: "tk-name" }, row.label),
    html("div", { class: "tk-value" },
      html("span", { class: "tk-before", "data-value": row.before }, row.beforeText),
      html("span", { class: "tk-arrow", "aria-hidden": "true" }, "→"), html("span", { class: "sv-live" }, "to"),
      html("strong", { class: "tk-after", "data-value": row.after }, row.afterText)),
    chip(row.change, row.change === "unchanged" ? row.change : `${row.change} ${row.ratioText}`))));
}

function masks(picture: TokenPicture, width: number, number: number): HTMLElement[] {
  const scale = scaleOf(picture.sides, Math.max(120, width - 4), Math.max(60, Math.min(300, width - 80)));
  const legend = html("div", { class: "tk-legend", "aria-hidden": "true" },
    ...[["prompt", "prompt"], ["target", "completion, scored ✓"], ["completion", "completion, not scored"], ["padding", "padding"]]
      .map(([what, words]) => html("span", {}, html("i", { class: `tk-swatch tk-${what}` }), words as string)),
    html("span", {}, html("i", { class: "tk-swatch tk-edge" }), "a packed sequence begins"));
  return [...picture.sides.map((side, k) => html("div", { class: "tk-side", "data-side": k === 0 ? "before" : "after" },
    html("div", { class: "tk-title" }, html("strong", {}, side.name), ` ${side.title}`),
    drawMasks(side, scale, `tk-hatch-${number}-${k}`),
    hidden(side),
    html("div", { class: "tk-time" }, bar(side, scale.ms), side.time),
    html("div", { class: "sv-dim" }, side.held))), legend];
}

function bar(side: Side, perMs: number): HTMLElement {
  const one = html("i", { class: "tk-bar" });
  one.style.width = `${Math.round(side.ms * perMs)}px`;
  return one;
}

function hidden(side: Side): HTMLElement {
  const rows = html("div", { class: "sv-dim" });
  if (side.hidden > 0) rows.textContent = `and ${side.hidden} more rows like these`;
  return rows;
}

function words(picture: TokenPicture): HTMLElement {
  const facts = picture.facts.map(({ text, change }) => html("li", { "data-change": change },
    html("span", { class: "tk-sign", "aria-hidden": "true" }, SIGNS[change]), text));
  const trap = picture.trap === "" ? null : html("p", { class: "tk-trap", "data-role": "trap" }, picture.trap);
  return html("div", { class: "tk-words", "data-role": "words" },
    html("ul", {}, ...facts), trap, ...picture.notes.map((note) => html("p", { class: "sv-dim" }, note)));
}

function conventions(picture: TokenPicture): HTMLElement {
  const [before, after] = picture.sides;
  const line = (row: Row): HTMLElement => html("tr", { "data-quantity": row.name },
    html("th", { scope: "row" }, row.name),
    html("td", { class: "kn-number", "data-value": row.before }, row.beforeText),
    html("td", { class: "kn-number", "data-value": row.after }, row.afterText),
    html("td", {}, row.unit),
    html("td", {}, chip(row.change, row.change)),
    html("td", { class: "tk-counts" }, row.counts));
  const heads = ["quantity", before.name, after.name, "unit", "change", "what it counts"];
  return html("table", { "data-role": "conventions" },
    html("caption", {}, "The same two updates, under every numerator and every FLOP convention"),
    html("thead", {}, html("tr", {}, ...heads.map((head, k) => html("th", { scope: "col", class: k === 1 || k === 2 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...picture.rows.map(line)));
}

/** Positions of each row by what they are, for those who don't see the masks. */
function maskTable(picture: TokenPicture): HTMLElement {
  const whats: readonly (readonly [What, string])[] = [["prompt", "prompt"], ["target", "completion, scored"], ["completion", "completion, not scored"], ["padding", "padding"]];
  const lines = picture.sides.flatMap((side) => [
    ...side.rows.map((runs, k) => html("tr", {}, html("th", { scope: "row" }, `${side.name}, row ${k + 1}`),
      html("td", { class: "kn-number" }, String(new Set(runs.map(([, , , sequence]) => sequence).filter((one) => one >= 0)).size)),
      ...whats.map(([what]) => html("td", { class: "kn-number" }, String(runs.reduce((sum, [, length, is]) => sum + (is === what ? length : 0), 0)))))),
    ...side.hidden > 0 ? [html("tr", {}, html("td", { colspan: whats.length + 2 }, `and ${side.hidden} more rows like these`))] : [],
  ]);
  return html("table", { "data-role": "cells" },
    html("caption", {}, "Positions of each row of the batch, by what they are"),
    html("thead", {}, html("tr", {}, ...["row", "sequences", ...whats.map(([, words]) => words)].map((head, k) => html("th", { scope: "col", class: k > 0 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...lines));
}

function losses(given: Losses): HTMLElement {
  const ranks = given.losses.map((rank, k) => html("div", { class: "tk-rank" }, html("span", { class: "sv-dim" }, `rank ${k}`),
    ...rank.map((batch) => html("span", { class: "tk-batch" }, ...batch.map((loss) => html("span", { class: "tk-loss" }, loss))))));
  const rows = given.rows.map((row) => {
    const line = html("tr", { "data-reduction": row.name },
      html("th", { scope: "row" }, row.name),
      html("td", { class: "kn-number", "data-value": row.value }, html(row.right ? "strong" : "span", {}, row.text)),
      html("td", { class: "kn-number" }, row.quotient),
      html("td", { class: "tk-counts" }, row.used));
    attr(line, "data-right", row.right ? "" : null);
    return line;
  });
  const table = html("table", { "data-role": "losses" },
    html("thead", {}, html("tr", {}, ...["divided over", "loss", "as", "who does it"].map((head, k) => html("th", { scope: "col", class: k === 1 || k === 2 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...rows));
  return html("details", {}, html("summary", OWN_KEYS, "And the loss: the same token losses, another denominator"),
    html("div", { class: "tk-losses" },
      html("div", {}, ...ranks, html("p", { class: "sv-dim" }, "Each box is a microbatch, each number the loss of a scored target.")),
      scrolled("The loss under every denominator", table)));
}
