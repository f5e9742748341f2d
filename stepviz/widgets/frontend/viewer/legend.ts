/** The kinds that occur: what their colours mean, and buttons to leave them out. */

import { attr, html } from "../view/dom";
import { rove } from "../view/focus";
import { variableOf } from "./palette";
import type { Look } from "./state";

export class Legend {
  readonly element = html("div", { class: "tv-legend", role: "toolbar", "aria-label": "kinds" });
  private readonly buttons = new Map<number, HTMLButtonElement>();
  private readonly path: HTMLButtonElement | null = null;
  /** One of its buttons is a stop for Tab, which takes one that is seen. */
  readonly settle: () => void;

  constructor(private readonly look: Look, private readonly on: { kinds(): void; path(): void }, signal: AbortSignal) {
    const { scene } = look;
    if (scene.path.pieces > 0) {
      this.path = html("button", { type: "button", class: "tv-kind", "data-role": "path", title: "draw the critical path over the lanes" },
        html("i", { class: "tv-path-swatch" }), "critical path");
      this.path.addEventListener("click", () => {
        look.path = !look.path;
        this.update();
        this.on.path();
      }, { signal });
      this.element.append(this.path);
    }
    for (const kind of scene.present) {
      const name = scene.kinds[kind] ?? "other";
      const element = html("button", {
        type: "button", class: "tv-kind", "data-kind": name, title: `show or hide ${name}; with Shift, only ${name}`,
      }, html("i", { class: "tv-swatch", style: `background:var(${variableOf(name)})` }), name);
      element.addEventListener("click", (event) => this.toggle(kind, event.shiftKey), { signal });
      this.buttons.set(kind, element);
      this.element.append(element);
    }
    this.settle = rove(this.element, signal);
    this.update();
  }

  private toggle(kind: number, only: boolean): void {
    const { look } = this;
    const { present } = look.scene;
    const hidden = new Set(look.hidden);
    if (only) {
      const alone = present.every((one) => (one === kind) !== hidden.has(one));
      hidden.clear();
      if (!alone) for (const one of present) if (one !== kind) hidden.add(one);
    } else if (!hidden.delete(kind)) {
      hidden.add(kind);
    }
    look.hidden = hidden;
    this.update();
    this.on.kinds();
  }

  private update(): void {
    for (const [kind, element] of this.buttons) attr(element, "aria-pressed", String(!this.look.hidden.has(kind)));
    if (this.path) attr(this.path, "aria-pressed", String(this.look.path));
    this.settle();
  }
}
