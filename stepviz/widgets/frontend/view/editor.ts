/** One view of an editor: puts the parts together and keeps them in step with the session. */

import type { Session } from "../model/session";
import type { Solved } from "../model/solver";
import { Refused } from "../model/types";
import { Chart } from "./chart";
import { follow } from "./choice";
import { html, show } from "./dom";
import { result } from "./explain";
import { active, keepFocus, shieldKeys } from "./focus";
import { Gestures } from "./gestures";
import { Headline } from "./headline";
import { Inspector } from "./inspector";
import { Keyboard } from "./keyboard";
import { Messages } from "./live";
import { Panels } from "./panels";
import { type Context, type Redraw, ViewState } from "./state";
import { Table } from "./table";
import { Toolbar } from "./toolbar";

let views = 0;
const HINT = "Drag a bar’s end or body · ? for keys";
const SPOKEN_HINT = "Tab to a bar · ← → holds it back (Shift 10 ms) · [ ] its length · A draws an arrow · Ctrl Z undoes · ? help";
/** Below these widths the parts of a view are arranged anew, px. */
const WIDTHS = { "sv-tiny": 560, "sv-narrow": 880, "sv-medium": 1060 };

/** In a row of widgets every editor takes its share, instead of pushing the next off the page. */
function shareWidth(host: HTMLElement): void {
  const { style } = host;
  const own = style.width !== "" || (style.flex !== "" && style.flex !== SHARE);
  if (own) {
    if (style.flex === SHARE) style.flex = "";
    return;
  }
  style.flex = SHARE;
  style.minWidth ||= "0";
  style.maxWidth ||= "100%";
}
const SHARE = "1 1 0px";

interface Labels { undo: string | null; redo: string | null }

/** What was just done, from what could be undone and redone before. */
function said(before: Labels, { undoLabel, redoLabel }: Session): string {
  if (redoLabel !== null && redoLabel === before.undo) return `Undone: ${redoLabel}. `;
  if (undoLabel !== null && undoLabel === before.redo) return `Redone: ${undoLabel}. `;
  return undoLabel === null ? "" : `${undoLabel}. `;
}

export function renderEditor(session: Session, host: HTMLElement, signal: AbortSignal): void {
  const uid = `stepviz-${++views}-${Math.random().toString(36).slice(2, 8)}`;
  const root = html("div", { class: "stepviz", tabindex: "-1" });
  const state = new ViewState();
  const messages = new Messages(session, HINT);

  const context: Context = {
    session, state, root, uid, signal, redraw,
    select(chosen, mode = "replace") {
      if (mode === "replace") state.selection.clear();
      for (const name of chosen) {
        if (mode === "toggle" && state.selection.has(name)) state.selection.delete(name);
        else {
          state.selection.delete(name);
          state.selection.add(name);
        }
      }
      if (chosen.length > 0) state.arrow = null;
      if (session.selected !== state.primary) session.selected = state.primary;
      redraw("selection");
    },
    selectArrow(row) {
      if (row === state.arrow) return;
      state.arrow = row;
      redraw("selection");
    },
    attempt(action) {
      try {
        action();
        messages.forgive();
        return true;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        messages.say(error.message, "refused");
        return false;
      }
    },
    say: (message, level) => messages.say(message, level),
    announce: (message) => messages.announce(message),
    panel: (name) => panels.show(name),
  };

  const headline = new Headline(context, (rank) => chart.goTo(rank));
  const chart = new Chart(context, (kind) =>
    context.select(chart.visible(session.doc.phases.filter((phase) => phase.kind === kind).map((phase) => phase.phase))));
  const inspector = new Inspector(context);
  const table = new Table(context);
  const panels = new Panels(context, chart);
  const gestures = new Gestures(context, chart);
  const keyboard = new Keyboard(context, chart, gestures, {
    inspect: () => inspector.focus(),
    remove,
    closePanel() {
      const { isOpen } = panels;
      panels.show(null);
      return isOpen;
    },
  });
  const toolbar = new Toolbar(context, chart, {
    table() {
      state.table = !state.table;
      show(table.element, state.table);
      redraw("selection");
    },
    inspector() {
      state.inspector = !state.inspector;
      redraw("layout");
    },
  });
  inspector.several.scale = toolbar.scale;
  inspector.onDelete = remove;
  inspector.onLink = () => {
    const name = state.primary;
    if (name === null) return;
    chart.bars.group(name)?.focus();
    keyboard.startLink(name);
  };

  function remove(): void {
    if (state.arrow !== null) {
      const row = state.arrow;
      if (context.attempt(() => session.apply({ op: "disconnect", row }))) context.selectArrow(null);
      return;
    }
    const phases = state.selection.size > 0 ? [...state.selection] : state.focus !== null ? [state.focus] : [];
    if (phases.length > 0) context.attempt(() => session.apply({ op: "remove", phases }));
  }

  const top = html("div", { class: "sv-top" }, headline.element, toolbar.main, messages.line, toolbar.tools);
  const hint = html("div", { id: `${uid}-hint`, class: "sv-live" }, SPOKEN_HINT);
  root.append(
    top,
    html("div", { class: "sv-main" }, chart.element, inspector.element, panels.element),
    table.element, messages.live, hint);
  host.append(root);

  function arrange(width: number): void {
    shareWidth(host);
    if (width <= 0) return;
    for (const [name, below] of Object.entries(WIDTHS)) root.classList.toggle(name, width < below);
    // Where room is dear, messages stand below the drawing; their place is kept either way.
    const parent = width < WIDTHS["sv-narrow"] ? chart.element : top;
    if (messages.line.parentElement !== parent) {
      if (parent === top) top.insertBefore(messages.line, toolbar.tools);
      else parent.append(messages.line);
    }
  }

  /** Draw what a change of this extent touches. A gesture in this view keeps its layout. */
  function redraw(what: Redraw): void {
    if (signal.aborted) return;
    const { shown } = session;
    // Bars of another timeline can't be moved to this one's places: they are made anew.
    const extent = what !== "layout" && !chart.fits(shown) ? "layout" : what;
    const place = chart.bars.itemOf(active(root));
    keepFocus(root, () => draw(extent, shown), (was) => {
      // Deleted: its neighbour, or else the editor keeps the keyboard, so that undo is at hand.
      if (was.matches("[data-phase]")) return chart.bars.at(Math.max(0, place - 1)) ?? root;
      const name = state.arrow === null ? state.primary : null;
      return (name === null ? null : chart.bars.group(name)) ?? root;
    }, extent === "values");
  }

  function draw(what: Redraw, shown: Solved): void {
    if (what === "layout" && !gestures.holds) {
      arrange(root.clientWidth);
      show(inspector.element, state.inspector);
      headline.update(shown);
      chart.relayout(shown);
      inspector.update(shown, true);
      toolbar.update();
      table.update(shown);
      keyboard.rove();
    } else if (what === "selection") {
      chart.update(shown);
      inspector.update(shown, true);
      toolbar.update();
      table.update(shown);
      keyboard.rove();
    } else {
      headline.update(shown);
      chart.update(shown);
      inspector.update(shown, false);
      toolbar.updateSelection();
    }
  }

  shieldKeys(root, signal, (event) => event.code === "KeyZ" || event.code === "KeyY");
  // A press anywhere in the editor brings the keyboard along; the host may have taken it elsewhere.
  for (const press of ["pointerdown", "click"]) {
    root.addEventListener(press, (event) => {
      if (!root.contains(active(root)) && !(event.target as Element).closest("button,input,select,textarea,label")) {
        root.focus({ preventScroll: true });
      }
    }, { signal });
  }
  root.addEventListener("input", () => messages.forgive(), { signal });

  let { doc } = session;
  let labels: Labels = { undo: session.undoLabel, redo: session.redoLabel };
  session.subscribe((what) => {
    if (what === "preview") {
      redraw("values");
      return;
    }
    if (what === "selected") {
      if (session.selected !== state.primary) {
        state.selection.clear();
        if (session.selected !== null) state.selection.add(session.selected);
        state.arrow = null;
        redraw("selection");
      }
      return;
    }
    if (what === "status") {
      messages.refresh();
      return;
    }
    follow(state, doc, session.doc);
    doc = session.doc;
    messages.settle();
    redraw("layout");
    if (what === "doc") {
      messages.dropHint();
      messages.announce(`${said(labels, session)}${result(session.solved, session.baseline, session.baselineName)}`);
      labels = { undo: session.undoLabel, redo: session.redoLabel };
    }
  }, signal);

  if (session.selected !== null) state.selection.add(session.selected);
  // Hidden in a tab the width is 0; the observer draws as soon as there is some.
  let width = root.clientWidth;
  const observer = new ResizeObserver(() => {
    const now = root.clientWidth;
    if (now === width) return;
    width = now;
    if (now > 0) redraw("layout");
  });
  observer.observe(root);
  redraw("layout");
  signal.addEventListener("abort", () => {
    observer.disconnect();
    root.remove();
  });
}
