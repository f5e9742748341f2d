/** Says the result of each edit to screen readers, and shows refusals and reasons to everybody. */

import { attr, html, text } from "./dom";
import type { Session } from "../model/session";

export class Messages {
  /** Visible: one line whose place is kept, so that nothing jumps when it speaks. */
  readonly line = html("div", { class: "sv-message", "data-role": "message", "data-level": "none" });
  /** Heard only. */
  readonly live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  private own: { message: string; level: string; during: boolean } | null = null;
  private kernel = "";

  constructor(private readonly session: Session, private idle: string) {
    this.refresh();
  }

  /** What went wrong with the timeline itself and was said already. */
  private told: string | null = null;

  say(message: string | null, level: "info" | "refused" | "why" = "info"): void {
    this.own = message === null ? null : { message, level, during: this.session.dragging };
    this.refresh();
    if (message !== null && level === "refused") this.announce(message);
  }

  /** The hint has done its work. */
  dropHint(): void {
    this.idle = "";
    this.refresh();
  }

  /** Something went well: what was refused before it is over. */
  forgive(): void {
    if (this.own?.level === "refused") this.say(null);
  }

  /** The timeline is another one. Only the reason why a drag bought nothing stays, to be read. */
  settle(): void {
    if (this.own?.during && this.own.level === "why") this.own.during = false;
    else this.say(null);
  }

  announce(message: string): void {
    // The same sentence again is said again only where the text differs.
    text(this.live, this.live.textContent === message ? `${message}\u00a0` : message);
  }

  refresh(): void {
    const { status } = this.session;
    const { message, level } = status;
    const { own } = this;
    // A refusal comes before a reason, and a reason does not hide that the kernel is silent.
    const shown = message !== null && (own === null || level !== "info") ? { message, level }
      : own !== null ? { message: message === null ? own.message : `${own.message} · ${message}`, level: own.level }
        : { message: this.idle, level: "none" };
    text(this.line, shown.message);
    attr(this.line, "data-level", shown.level);
    if (message !== this.told) {
      this.told = message;
      if (message !== null && level !== "info") this.announce(message);
    }
    if (status.kernel !== this.kernel) {
      this.kernel = status.kernel;
      if (status.kernel === "silent" && status.message) this.announce(status.message);
    }
  }
}
