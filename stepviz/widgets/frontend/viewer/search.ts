/** The search field: how many there are, the next one and the one before. */

import { button, html, text } from "../view/dom";
import { decimals } from "../view/format";
import type { Look } from "./state";
import type { Wire } from "./wire";

export interface Match {
  readonly lane: number;
  readonly start: number;
  readonly finish: number;
  readonly name: string;
  readonly kind: number;
}

const TYPED = 140; // ms without a key before Python is asked

export class SearchField {
  readonly field = html("input", {
    type: "search", class: "tv-search-field", placeholder: "Search names   /", "aria-label": "search names",
    "data-role": "search", spellcheck: "false", autocomplete: "off",
  });
  readonly count = html("span", { class: "tv-search-count", "data-role": "search-count", role: "status" });
  readonly element: HTMLElement;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last: Match | null = null;
  private turn = 0;

  constructor(
    private readonly look: Look,
    private readonly wire: Wire,
    private readonly on: { changed(): void; go(match: Match): void; leave(): void },
    signal: AbortSignal,
  ) {
    const previous = button("previous match", "‹", { class: "tv-small", "data-role": "previous" }, () => void this.go(-1), signal);
    const next = button("next match", "›", { class: "tv-small", "data-role": "next" }, () => void this.go(1), signal);
    this.element = html("div", { class: "tv-search", role: "search" }, this.field, this.count, previous, next);
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.set(this.field.value), TYPED);
    }, { signal });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        clearTimeout(this.timer);
        void (this.field.value === this.look.search.text ? this.go(event.shiftKey ? -1 : 1)
          : this.set(this.field.value).then(() => this.go(1)));
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        if (this.field.value !== "") {
          this.field.value = "";
          void this.set("");
        }
        this.on.leave();
      }
    }, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Look for a text; Python counts, and the blocks asked for next are marked. */
  async set(wanted: string): Promise<void> {
    const { look } = this;
    if (this.field.value !== wanted) this.field.value = wanted;
    const turn = ++this.turn;
    this.last = null;
    look.search = { text: wanted, count: wanted === "" ? 0 : null, place: null };
    this.show();
    this.on.changed();
    if (wanted !== "") await this.recount(turn);
  }

  /** Count again: other kinds are shown now. */
  async recount(turn = ++this.turn): Promise<void> {
    const { look } = this;
    if (look.search.text === "") return;
    try {
      const { content } = await this.wire.ask("find", { text: look.search.text, hidden: [...look.hidden] });
      if (turn !== this.turn) return;
      look.search = { ...look.search, count: Number(content.count), place: null };
    } catch {
      if (turn === this.turn) look.search = { ...look.search, count: 0 };
    }
    this.show();
    this.on.changed();
  }

  /** Go to the next match (or the one before), at first to the first in sight. */
  async go(by: 1 | -1): Promise<void> {
    const { look } = this;
    if (look.search.text === "") return;
    const from = this.last ?? { start: Math.floor(by > 0 ? look.range.start : look.range.finish), lane: -1 };
    const turn = this.turn;
    try {
      const { content } = await this.wire.ask("find", {
        text: look.search.text, hidden: [...look.hidden], go: by > 0 ? "next" : "previous",
        start: from.start, lane: from.lane,
      });
      if (turn !== this.turn) return;
      look.search = { ...look.search, count: Number(content.count), place: content.place === undefined ? null : Number(content.place) };
      this.show();
      if (content.place === undefined) return;
      this.last = {
        lane: Number(content.lane), start: Number(content.start), finish: Number(content.finish),
        name: String(content.name), kind: Number(content.kind),
      };
      this.on.go(this.last);
    } catch {
      // no answer: the field stays as it is
    }
  }

  private show(): void {
    const { text: wanted, count, place } = this.look.search;
    const all = count === null ? "…" : count === 0 ? "none" : decimals(count, 0);
    text(this.count, wanted === "" ? "" : place === null ? all : `${decimals(place + 1, 0)} of ${all}`);
    this.element.toggleAttribute("data-none", wanted !== "" && count === 0);
  }
}
