/** What every widget with knobs has around it: the root, what Python refused, what is said aloud. */

import { attr, html, show, text } from "../view/dom";
import { saveButtons } from "../view/saving";
import type { Desk } from "./desk";
import { OWN_KEYS } from "./keys";
import type { Picture } from "./types";

export class Frame {
  readonly root: HTMLElement;
  private readonly status = html("div", { class: "kn-status", role: "status", "data-role": "status" });
  private readonly live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heard: string | null = null;

  constructor(private readonly desk: Desk<Picture>, name: string, label: string, signal: AbortSignal) {
    this.root = html("section", {
      class: `stepviz kn ${name}`, "aria-label": label, ...OWN_KEYS, tabindex: -1,
    });
    this.root.append(this.status, saveButtons(this.root, label.replace(/\W+/g, "-").toLowerCase(), OWN_KEYS, signal), this.live);
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  add(...parts: Node[]): void {
    this.status.before(...parts);
  }

  refresh(): void {
    const { desk } = this;
    // Numbers of earlier settings fade while their answer is on its way; where none comes that is said instead.
    attr(this.root, "data-stale", !desk.stale ? null : desk.problem !== null || desk.silent ? "kept" : "");
    const silent = desk.silent ? "The kernel is not answering: the numbers are those of earlier settings." : "";
    text(this.status, desk.problem === null ? silent : `${desk.problem}${desk.stale ? " — what is shown is as it was before." : ""}`);
    attr(this.status, "data-level", desk.problem !== null ? "refused" : "info");
    show(this.status, desk.problem !== null || desk.silent);
    const spoken = desk.stale ? null : desk.picture?.spoken ?? null;
    if (this.heard === null) this.heard = spoken; // what was there at first is read like any text
    if (spoken === null || spoken === this.heard) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.heard = spoken;
      text(this.live, spoken);
    }, 400);
  }
}
