/** One view of a viewer: puts the parts together and draws them, at most once a frame. */

import { attr, button, html, icon, show, text } from "../view/dom";
import { active, shieldKeys } from "../view/focus";
import { saveButtons } from "../view/saving";
import { Details } from "./details";
import { Feed, type Names } from "./feed";
import { Gestures } from "./gestures";
import { Corner, Gutter } from "./gutter";
import { hit } from "./hit";
import { command, HELP } from "./keys";
import { Legend } from "./legend";
import { Motion } from "./motion";
import { navigation } from "./navigation";
import { Colours } from "./palette";
import { rowAt, rowsBetween } from "./rows";
import { SearchField } from "./search";
import { SightTable } from "./sight";
import { headOf, Stage } from "./stage";
import { type Chosen, Look } from "./state";
import { PathTable } from "./table";
import { PATH, type Scene } from "./types";
import { fitted, type Range } from "./viewport";
import type { ModelLike, Wire } from "./wire";
import { count, duration } from "./words";

/** The names beside the lanes take so much, px. */
const GUTTER = 146;
const GUTTER_NARROW = 96;
const NARROW = 640;
const TALLEST = 590;

export interface Shared {
  readonly model: ModelLike;
  readonly scene: Scene;
  readonly wire: Wire;
  readonly names: Names;
}

export function renderViewer({ model, scene, wire, names }: Shared, host: HTMLElement, signal: AbortSignal): void {
  const look = new Look(scene, matchMedia("(any-pointer: coarse)").matches);
  const root = html("div", { class: "stepviz tv", tabindex: "-1", "data-view": "trace" });
  const frame = html("div", { class: "tv-frame" });
  const stage = new Stage();
  const colours = new Colours(scene.kinds, () => motion.draw(), signal);
  const motion = new Motion(look, draw, signal);
  const feed = new Feed(wire, names, look.limits, () => motion.draw(), signal);
  const details = new Details(look, names, wire, { zoom: () => to.focusChosen(), clear: () => choose(null) }, signal);
  const gutter = new Gutter(look, () => resize());

  // The scrolling part: a space as tall as all lanes, names in it, and the canvas that stays.
  const surface = html("div", { class: "tv-surface" }, stage.canvas);
  const corner = new Corner(look);
  const sticky = html("div", { class: "tv-sticky" }, corner.element, surface);
  const space = html("div", { class: "tv-space" }, sticky, gutter.element);
  const scroller = html("div", {
    class: "tv-scroll", tabindex: "0", role: "application", "aria-roledescription": "trace viewer",
    "data-role": "lanes", "aria-label": spoken(scene),
  }, space);
  const legend = new Legend(look, {
    kinds() {
      void search.recount();
      motion.draw();
    },
    path: () => motion.draw(),
  }, signal);
  const search = new SearchField(look, wire, {
    changed: () => motion.draw(),
    go(match) {
      to.reveal(match.lane, match.start, match.finish);
      choose({ ...match, count: 1 });
    },
    leave: () => scroller.focus({ preventScroll: true }),
  }, signal);
  const table = new PathTable(scene, wire, (start, finish) => to.go(start, finish), signal);
  const sight = new SightTable(look, feed.layers, names, (found) => choose({ ...found, name: names.get(found.name) ?? "" }), signal);
  const help = html("div", { class: "tv-help", "data-role": "help", role: "dialog", "aria-label": "keys", tabindex: "0", hidden: true },
    html("dl", {}, ...HELP.flatMap(([keys, what]) => [html("dt", {}, keys), html("dd", {}, what)])));
  const status = html("div", { class: "tv-status", "data-role": "status", role: "status" });

  const to = navigation({
    look, motion, feed, names, wire, scroller, choose, resize,
    search: () => search.field.focus(),
    match: (by) => void search.go(by),
    table: () => {
      table.toggle();
      sight.toggle(table.open);
      details.announce(table.open ? "Two tables below the lanes: the critical path, and what is in sight." : "Tables closed.");
      attr(tableButton, "aria-pressed", String(table.open));
    },
    help: () => {
      const held = help.contains(active(root));
      show(help, help.hidden === true);
      attr(helpButton, "aria-pressed", String(!help.hidden));
      if (!help.hidden) help.focus({ preventScroll: true });
      else if (held) scroller.focus({ preventScroll: true });
    },
    announce: (message) => details.announce(message),
    escape() {
      if (gestures.leave()) return;
      if (!help.hidden) to.help();
      else if (look.chosen !== null) choose(null);
      else if (look.search.text !== "") void search.set("");
    },
  });

  const tool = (label: string, content: Node | string, role: string, run: () => void): HTMLButtonElement =>
    button(label, content, { class: "sv-tool", "data-role": role }, run, signal);
  const tableButton = tool("the critical path and what is in sight as tables (T)", icon("M2 3h12v10H2zM2 6.3h12M2 9.6h12M6 3v10"), "table-button", () => to.table());
  const helpButton = tool("keys (?)", "?", "help-button", () => to.help());
  const tools = html("div", { class: "tv-tools" },
    html("span", { class: "sv-group" },
      tool("zoom out (S)", icon("M3 8h10"), "zoom-out", () => to.zoom(1 / 1.5)),
      tool("the whole step (0)", icon("M2 5V2h3M14 5V2h-3M2 11v3h3M14 11v3h-3M4.5 8h7"), "fit", () => to.fit()),
      tool("zoom in (W)", icon("M3 8h10M8 3v10"), "zoom-in", () => to.zoom(1.5))),
    html("span", { class: "sv-group" }, tableButton, helpButton));

  const about = `${scene.title} · ${count(scene.ranks.length, "rank")} · ${count(scene.intervals, "interval")}`;
  const heading = html("div", { class: "tv-heading" },
    html("strong", { class: "tv-completion" }, duration(scene.span)),
    html("span", { class: "tv-title", title: about }, about));
  const note = scene.path.pieces > 0 ? scene.doubt : [scene.path.why, scene.doubt].filter(Boolean).join(" · ");
  frame.append(scroller, details.tip, help);
  root.append(
    html("div", { class: "tv-top" }, heading, search.element, tools),
    html("div", { class: "tv-bar" }, legend.element, status),
    note === "" ? html("span") : html("div", { class: "tv-note", "data-role": "note" }, note),
    frame, details.line, table.element, sight.element, saveButtons(root, "step", {}, signal), details.live, colours.element);
  host.append(root);

  // Drawing

  function wantedHeight(): number {
    const own = model.get("height");
    if (typeof own === "number") return own;
    return Math.max(150, Math.min(TALLEST, headOf(look) + look.rows.height));
  }

  function resize(): void {
    const width = root.clientWidth === 0 ? 0 : frame.clientWidth;
    if (width <= 0) return; // hidden in a tab: drawn as soon as it is shown
    const names = width < NARROW ? GUTTER_NARROW : GUTTER;
    root.style.setProperty("--tv-gutter", `${names}px`);
    const height = wantedHeight();
    frame.style.height = `${height}px`;
    space.style.height = `${Math.max(height, headOf(look) + look.rows.height)}px`;
    sticky.style.height = `${height}px`;
    look.width = Math.max(40, scroller.clientWidth - names);
    look.height = height;
    look.scroll = scroller.scrollTop;
    stage.resize(look.width, height);
    legend.settle();
    colours.forget();
    motion.draw();
  }

  function seen(): ReturnType<Parameters<Feed["want"]>[0]> {
    if (look.width === 0) return null;
    const { rows } = look.rows;
    const view = look.height - headOf(look);
    const lanes = (top: number, bottom: number): number[] => {
      const [first, last] = rowsBetween(rows, top, bottom);
      return [...(scene.path.pieces > 0 ? [PATH] : []), ...rows.slice(first, last).map((row) => row.lane)];
    };
    return {
      wanted: {
        start: Math.max(look.range.start, look.limits.start), finish: Math.min(look.range.finish, look.limits.finish),
        pixel: look.pixel, lanes: lanes(look.scroll, look.scroll + view),
        hidden: [...look.hidden].sort((a, b) => a - b), find: look.search.text,
      },
      around: lanes(look.scroll - view, look.scroll + 2 * view),
    };
  }

  function draw(): void {
    if (look.width === 0 || signal.aborted) return;
    look.scroll = scroller.scrollTop;
    stage.draw(look, { layers: feed.layers, names, palette: colours.now });
    gutter.update();
    corner.update();
    root.dataset.start = String(look.range.start);
    root.dataset.finish = String(look.range.finish);
    feed.want(seen);
    root.toggleAttribute("data-waiting", feed.waiting);
    sight.drawn();
    text(status, wire.silent ? "Python is not answering: it is busy, or the cell wants to be run again" : "");
  }

  // Choosing

  function choose(chosen: Chosen | null, speak = true): void {
    look.chosen = chosen;
    details.choose(chosen, speak);
    model.set("_selected", chosen === null ? null : {
      start: Math.round(chosen.start), finish: Math.round(chosen.finish), lane: chosen.lane,
      name: chosen.name, kind: chosen.kind === null ? "" : scene.kinds[chosen.kind] ?? "",
    });
    model.save_changes();
    motion.draw();
  }

  /** The block at a place of the drawing. */
  function blockAt(x: number, y: number): ReturnType<typeof hit> {
    const head = headOf(look);
    if (y < head) return y > 24 && scene.path.pieces > 0 ? hit(feed.layers, PATH, look.time(x), 3 * look.pixel) : null;
    const row = rowAt(look.rows.rows, y - head + look.scroll);
    return row === null ? null : hit(feed.layers, row.lane, look.time(x), 3 * look.pixel);
  }

  const gestures = new Gestures(surface, look, {
    moved: (range) => motion.jump(range),
    hovered(x, y) {
      look.pointer = x;
      const found = x === null ? null : blockAt(x, y);
      const changed = found?.lane !== look.hovered?.lane || found?.start !== look.hovered?.start;
      look.hovered = found;
      const left = surface.offsetLeft;
      details.hover(found, (x ?? 0) + left, y, frame);
      if (changed) motion.draw();
    },
    clicked(x, y) {
      const found = blockAt(x, y);
      choose(found === null ? null : { ...found, name: names.get(found.name) ?? "" });
    },
    doubled(x, y) {
      const found = blockAt(x, y);
      if (found !== null) to.go(found.start, found.finish);
      else if (look.chosen?.lane === null) to.focusChosen();
    },
    measuring(band) {
      look.band = band;
      motion.draw();
    },
    measured(band) {
      look.band = null;
      choose({ ...band, lane: null, kind: null, name: "", count: 0 });
    },
  }, signal);

  // The keyboard

  shieldKeys(root, signal);
  root.addEventListener("keydown", (event) => {
    const target = event.target as Element;
    if (target.closest("input,select,textarea")) return;
    if (event.key === "Enter" && target.closest("button")) return;
    // Help, tables and a long line below the lanes scroll with the arrows themselves.
    if (/^(?:Arrow|Page|Home|End)/.test(event.key) && target.closest("[role=toolbar],.tv-help,.tv-table,.tv-details")) return;
    const run = command(event, to);
    if (run === null) return;
    event.preventDefault();
    run();
  }, { signal });
  for (const press of ["pointerdown", "click"]) {
    root.addEventListener(press, (event) => {
      if (!(event.target as Element).closest("button,input,a")) {
        if (active(root) !== scroller) scroller.focus({ preventScroll: true });
      }
    }, { signal });
  }
  scroller.addEventListener("scroll", () => {
    look.hovered = null;
    details.hover(null, 0, 0, frame);
    motion.draw();
  }, { signal });

  // Python and other views

  const listen = (event: string, run: () => void): void => {
    model.on(event, run);
    signal.addEventListener("abort", () => model.off(event, run));
  };
  listen("change:_view", () => {
    const view = model.get("_view") as Partial<Range> | null;
    if (typeof view?.start === "number" && typeof view.finish === "number") to.show({ start: view.start, finish: view.finish });
  });
  listen("change:_query", () => {
    const query = model.get("_query") as { text?: unknown } | null;
    if (typeof query?.text === "string") void search.set(query.text);
  });
  listen("change:height", () => resize());
  wire.onSilence(() => motion.draw(), signal);

  const given = model.get("_view") as Partial<Range> | null;
  if (typeof given?.start === "number" && typeof given.finish === "number") {
    look.range = look.target = { start: given.start, finish: given.finish };
  } else look.range = look.target = fitted(scene.span);
  const query = model.get("_query") as { text?: unknown } | null;
  if (typeof query?.text === "string" && query.text !== "") void search.set(query.text);

  const observer = new ResizeObserver(() => resize());
  observer.observe(root);
  resize();
  signal.addEventListener("abort", () => {
    observer.disconnect();
    root.remove();
  });
}

function spoken(scene: Scene): string {
  const path = scene.path.pieces > 0 ? `, critical path of ${count(scene.path.pieces, "piece")}` : "";
  return `Trace of ${scene.title}: ${duration(scene.span)}, ${count(scene.ranks.length, "rank")}, `
    + `${count(scene.intervals, "interval")}${path}. W and S zoom, A and D move, Shift and arrows go from piece to piece, `
    + "slash searches, T shows the critical path as a table, question mark shows all keys.";
}
