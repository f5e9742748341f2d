/** Sliders and switches for knobs: the browser's own, so that keys, touch and speech work. */

import { attr, html, show, text } from "../view/dom";
import { active } from "../view/focus";
import type { Desk } from "./desk";
import type { Knob, Picture, Setting } from "./types";
import { OWN_KEYS } from "./keys";
import { nearest, read, readList, settingText, written, writtenList } from "./written";

/** Typing rests this long before what was typed is taken, ms. */
const PAUSE = 450;

/** What a setting means, which others read in a tip beside the pointer. */
const described = (knob: Knob): { "aria-description": string | null } => ({ "aria-description": knob.help === "" ? null : knob.help });

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
      group.append(this[knob.kind](knob));
    }
  }

  refresh(): void {
    for (const one of this.refreshers) one();
  }

  private slider(knob: Knob): HTMLElement {
    const { desk, signal } = this;
    const input = html("input", { ...OWN_KEYS, type: "range", min: 0, step: 1, "aria-label": knob.label, ...described(knob), "data-knob": knob.name });
    const shown = html("output", { class: "kn-setting" });
    const stops = (): readonly Setting[] => desk.picture?.stops[knob.name] ?? [];
    let held = false;
    const turn = (done: boolean): void => {
      const stop = stops()[Number(input.value)];
      if (stop !== undefined && (stop !== desk.value[knob.name] || done)) desk.turn(knob.name, stop, done);
    };
    input.addEventListener("input", () => turn(false), { signal });
    input.addEventListener("change", () => turn(true), { signal });
    for (const event of ["pointerenter", "focus", "touchstart"] as const) {
      if (knob.track) input.addEventListener(event, () => desk.pickUp(knob.name), { signal, passive: true });
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

  /** A field to type in; where it has stops, a slider below. */
  private number(knob: Knob): HTMLElement {
    const { desk } = this;
    const percent = knob.show === "percent";
    const field = html("input", { ...OWN_KEYS, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "data-knob": knob.name, "aria-label": knob.label, ...described(knob) });
    const slider = this.slider(knob);
    const row = html("div", { class: "kn-field" }, html("label", { class: "kn-knob", title: knob.help },
      html("span", { class: "kn-label" }, knob.label), field, html("span", { class: "kn-unit" }, knob.unit)), slider);
    const own = this.typing(field, () => {
      const typed = field.value.trim();
      const number = read(typed);
      return typed === "" ? null : number === null ? typed : percent && !typed.endsWith("%") ? Number((number / 100).toPrecision(15)) : number;
    }, (setting) => {
      if (setting !== desk.value[knob.name]) desk.turn(knob.name, setting, true);
    });
    this.refreshers.push(() => {
      const solved = (desk.picture as { solved?: Record<string, number> } | null)?.solved?.[knob.name];
      const unknown = desk.value.unknown === knob.name || (solved !== undefined && knob.name === "peak" && desk.value.device !== "");
      const setting = unknown ? solved ?? null : desk.value[knob.name] ?? null;
      if (!own(setting) || unknown) {
        field.value = typeof setting === "number" ? written(Number((percent ? setting * 100 : setting).toPrecision(unknown ? 4 : 12))) : String(setting ?? "");
      }
      field.readOnly = unknown;
      attr(row, "data-solved", desk.value.unknown === knob.name ? "" : null);
      show(slider, !unknown && (desk.picture?.stops[knob.name]?.length ?? 0) > 0);
    });
    return row;
  }

  /**
   * Take what is typed when it rests, at Enter, which JupyterLab keeps from the field, and when the
   * field is left. Returns whether a setting is what its reader is writing, so that it stays as
   * written; one that came from elsewhere, from the slider below, is none.
   */
  private typing(field: HTMLInputElement, meant: () => Setting, turn: (setting: Setting) => void): (setting: Setting) => boolean {
    const { signal } = this;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let taken: string | null = null;
    const take = (): void => {
      clearTimeout(timer);
      timer = undefined;
      const setting = meant();
      taken = writtenList(setting);
      turn(setting);
    };
    const flush = (): void => {
      if (timer !== undefined) take();
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(take, PAUSE);
    }, { signal });
    field.addEventListener("change", take, { signal });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) flush();
    }, { signal });
    field.addEventListener("blur", () => {
      flush();
      taken = null;
      this.refresh();
    }, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
    return (setting) => field === active(field) && (timer !== undefined || taken === writtenList(setting));
  }

  /** A field for one number or several. */
  private list(knob: Knob): HTMLElement {
    const { desk } = this;
    const field = html("input", { ...OWN_KEYS, type: "text", autocomplete: "off", spellcheck: "false", "data-knob": knob.name, "aria-label": knob.label, ...described(knob) });
    const own = this.typing(field, () => readList(field.value), (setting) => {
      if (writtenList(setting) !== writtenList(desk.value[knob.name] ?? null)) desk.turn(knob.name, setting, true);
    });
    this.refreshers.push(() => {
      const setting = desk.value[knob.name] ?? null;
      if (!own(setting)) field.value = writtenList(setting);
    });
    return html("label", { class: "kn-knob", title: knob.help },
      html("span", { class: "kn-label" }, knob.label), field, html("span", { class: "kn-unit" }, knob.unit));
  }

  private choice(knob: Knob): HTMLElement {
    const { desk, signal } = this;
    const select = html("select", { ...OWN_KEYS, "data-knob": knob.name, ...described(knob) }, ...knob.choices.map(([value, words]) => html("option", { value: String(value) }, words)));
    select.addEventListener("change", () => {
      const chosen = knob.choices[select.selectedIndex];
      if (chosen !== undefined) desk.turn(knob.name, chosen[0], true);
    }, { signal });
    this.refreshers.push(() => { select.value = String(desk.value[knob.name] ?? ""); });
    return html("label", { class: "kn-knob kn-choice", title: knob.help }, html("span", { class: "kn-label" }, knob.label), select);
  }

  private switch(knob: Knob): HTMLElement {
    const input = html("input", { ...OWN_KEYS, type: "checkbox", "data-knob": knob.name, ...described(knob) });
    input.addEventListener("change", () => this.desk.turn(knob.name, input.checked, true), { signal: this.signal });
    this.refreshers.push(() => { input.checked = this.desk.value[knob.name] === true; });
    return html("label", { class: "kn-switch", title: knob.help }, input, knob.label);
  }
}
