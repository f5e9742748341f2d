/** Tables that say what a picture shows, folded away until they are asked for. */

import { html } from "../view/dom";
import { OWN_KEYS } from "./keys";

/** What may be wider than the page: it scrolls by itself, with the arrow keys too. */
export function scrolled(label: string, content: HTMLElement): HTMLElement {
  return html("div", { ...OWN_KEYS, class: "kn-scroll", role: "group", "aria-label": label, tabindex: 0 }, content);
}

/** A table behind a line of text; it stays as open as it was while its content is drawn anew. */
export class Folded {
  readonly element: HTMLDetailsElement;
  private readonly summary = html("summary", OWN_KEYS);
  private readonly room: HTMLElement;

  constructor(label: string) {
    this.room = scrolled(label, html("div"));
    this.summary.textContent = label;
    this.element = html("details", {}, this.summary, this.room);
  }

  draw(table: HTMLElement, label?: string): void {
    if (label !== undefined && this.summary.textContent !== label) this.summary.textContent = label;
    this.room.replaceChildren(table);
  }
}
