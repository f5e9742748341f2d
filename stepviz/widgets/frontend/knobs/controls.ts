/** Sliders and switches for knobs: the browser's own, so that keys, touch and speech work. */

import { attr, html, text } from "../view/dom";
import type { Desk } from "./desk";
import type { Knob, Picture } from "./types";
import { nearest, settingText } from "./written";

export class Controls {
  readonly root = html("div", { class: "kn-controls", role: "group", "aria-label": "settings" });
  private readonly refreshers: (() => void)[] = [];

  constructor(private readonly desk: Desk<Picture>, knobs: readonly Knob[], headings: Readonly<Record<string, string>>, private readonly signal: AbortSignal) {
    const groups = new Map<string, HTMLElement>();
    for (const knob of knobs) {
      let group = groups.get(knob.group);
      if (group === undefined) {
        group = html("div", { class: "kn-group" }, headings[knob.group] ? html("h4", {}, headings[knob.group] as string) : null);
        groups.set(knob.group, group);
        this.root.append(group);
      }
      group.append(knob.kind === "switch" ? this.switch(knob) : this.slider(knob));
    }
  }

  refresh(): void {
    for (const one of this.refreshers) one();
  }

  private slider(knob: Knob): HTMLElement {
    const { desk, signal } = this;
    const input = html("input", { type: "range", min: 0, step: 1, "aria-label": knob.label, "data-knob": knob.name });
    const shown = html("output", { class: "kn-setting" });
    const stops = (): readonly (number | string | boolean | null)[] => desk.picture?.stops[knob.name] ?? [];
    let held = false;
    const turn = (done: boolean): void => {
      const stop = stops()[Number(input.value)];
      if (stop !== undefined && (stop !== desk.value[knob.name] || done)) desk.turn(knob.name, stop, done);
    };
    input.addEventListener("input", () => turn(false), { signal });
    input.addEventListener("change", () => turn(true), { signal });
    for (const event of ["pointerenter", "focus", "touchstart"] as const) {
      input.addEventListener(event, () => desk.pickUp(knob.name), { signal, passive: true });
    }
    input.addEventListener("pointerdown", () => { held = true; }, { signal });
    for (const event of ["pointerup", "pointercancel", "blur"] as const) {
      input.addEventListener(event, () => { held = false; }, { signal });
    }
    this.refreshers.push(() => {
      const setting = desk.value[knob.name] ?? null;
      const all = stops();
      attr(input, "max", Math.max(0, all.length - 1));
      // while a finger holds it the thumb is the finger's
      if (!held) input.value = String(nearest(all, setting));
      const written = settingText(knob, setting);
      attr(input, "aria-valuetext", written);
      text(shown, written);
    });
    return html("label", { class: "kn-knob", title: knob.help }, html("span", { class: "kn-label" }, knob.label), input, shown);
  }

  private switch(knob: Knob): HTMLElement {
    const input = html("input", { type: "checkbox", "data-knob": knob.name });
    input.addEventListener("change", () => this.desk.turn(knob.name, input.checked, true), { signal: this.signal });
    this.refreshers.push(() => { input.checked = this.desk.value[knob.name] === true; });
    return html("label", { class: "kn-switch", title: knob.help }, input, knob.label);
  }
}
