/** Pointer gestures. One gesture previews freely and commits once; Escape and pointercancel restore. */

import { type LinkName, linkName, linkRow } from "../model/follow";
import { Refused } from "../model/types";
import type { Chart } from "./chart";
import { type Drag, dragBody, dragEnd, dragLag, dragStart, marquee, pan, reorder } from "./drags";
import { dragArrowEnd, dragPort } from "./linking";
import type { Context } from "./state";

export interface Pointer { x: number; y: number; free: boolean; shift: boolean }

const THRESHOLD = 3;

export class Gestures {
  private drag: Drag | null = null;
  private pointer = -1;
  private origin: Pointer = { x: 0, y: 0, free: false, shift: false };
  private moved = false;
  private box: DOMRect | null = null;
  private click: (() => void) | null = null;
  private readonly touches = new Map<number, { x: number; y: number }>();
  private pinch: { distance: number; x: number } | null = null;

  constructor(private readonly context: Context, private readonly chart: Chart) {
    const { signal } = context;
    const { body, head } = chart;
    body.addEventListener("pointerdown", (event) => this.down(event), { signal });
    head.addEventListener("pointerdown", (event) => this.down(event), { signal });
    for (const target of [body, head]) {
      target.addEventListener("pointermove", (event) => this.move(event), { signal });
      target.addEventListener("pointerup", (event) => this.up(event), { signal });
      target.addEventListener("pointercancel", (event) => this.lost(event), { signal });
      target.addEventListener("lostpointercapture", (event) => this.lost(event), { signal });
      target.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
    }
    head.addEventListener("dblclick", () => chart.fit(), { signal });
    body.addEventListener("pointerover", (event) => this.hover(event), { signal });
    body.addEventListener("pointerleave", () => this.setHover(null), { signal });
    body.addEventListener("contextmenu", (event) => {
      if ((event.target as Element).closest("[data-phase],[data-of]")) event.preventDefault();
    }, { signal });
    // Without this a touch that starts on a bar may be taken by the page's scrolling.
    body.addEventListener("touchstart", (event) => {
      if ((event.target as Element).closest("[data-handle],[data-seam],[data-port],[data-lag],[data-arrow-end]")
        || event.touches.length > 1) event.preventDefault();
    }, { signal, passive: false });
    signal.addEventListener("abort", () => this.cancel());
  }

  /** Something is pressed, or dragged already. */
  get active(): boolean {
    return this.drag !== null;
  }

  /** A drag is under way that the drawing must keep still for. */
  get holds(): boolean {
    return this.drag !== null && this.moved && this.drag.holds;
  }

  /** Give up the running gesture: everything is as before it. */
  cancel(): void {
    const { drag } = this;
    if (!drag) return;
    const { moved } = this;
    this.end();
    try {
      drag.cancel();
    } finally {
      if (moved) this.context.say(null);
      this.context.redraw("layout");
    }
  }

  private end(): void {
    this.drag = null;
    const { pointer } = this;
    this.pointer = -1;
    for (const target of [this.chart.body, this.chart.head]) {
      if (target.hasPointerCapture(pointer)) target.releasePointerCapture(pointer);
    }
    this.context.state.dragging = null;
    this.context.state.held = null;
    this.context.root.classList.remove("sv-dragging");
    this.chart.overlay.tooltip(null);
    this.chart.overlay.setKnob(null);
    this.chart.overlay.setTether(null);
    this.chart.overlay.setMarquee(null);
    this.chart.overlay.setRubber(null);
  }

  /** Asking for the drawing's place makes the page lay itself out: once per gesture is enough. */
  private at(event: PointerEvent): Pointer {
    this.box ??= this.chart.body.getBoundingClientRect();
    const { left, top } = this.box;
    return { x: event.clientX - left, y: event.clientY - top, free: event.altKey, shift: event.shiftKey };
  }

  private down(event: PointerEvent): void {
    if (event.pointerType === "touch") {
      this.touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.touches.size === 2) {
        this.cancel();
        this.startPinch();
        return;
      }
    }
    if (this.drag || this.pinch || event.button !== 0 || !event.isPrimary) return;
    const begun = this.choose(event);
    if (!begun) return;
    event.preventDefault(); // which also leaves the focus where it was
    this.focus(event.target as Element);
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.box = null;
    this.origin = this.at(event);
    this.moved = false;
    this.drag = begun;
  }

  /** A press takes the keyboard along: to the bar, or to the editor for what is no bar. */
  private focus(target: Element): void {
    const bar = target.closest("[data-phase],[data-of],[data-seam]");
    const name = bar && (bar.getAttribute("data-seam") ?? bar.getAttribute("data-of") ?? bar.getAttribute("data-phase"));
    const group = name ? this.chart.bars.group(name) : null;
    const under = target.closest<SVGGElement>("[data-phase]");
    (under?.dataset["phase"] === name ? under : group ?? this.context.root)?.focus({ preventScroll: true });
  }

  /** What a press means, by what lies under it. */
  private choose(event: PointerEvent): Drag | null {
    const { context, chart } = this;
    const target = event.target as Element;
    const toggles = event.ctrlKey || event.metaKey || event.shiftKey;
    this.click = null;
    if (chart.head.contains(target)) return pan(context, chart);

    const pin = target.closest("[data-pin]");
    if (pin) {
      const phase = pin.getAttribute("data-pin") as string;
      this.click = () => context.attempt(() => context.session.apply({ op: "release", phase, release: 0 }));
      return dragBody(context, chart, phase);
    }
    const { doc } = context.session;
    const link = (element: Element, attribute: string): LinkName | null =>
      linkName(doc, Number(element.getAttribute(attribute)));
    // Another timeline may come between press and release: the arrow is found again by name.
    const pick = (chosen: LinkName | null) => (): void => {
      const row = chosen === null ? -1 : linkRow(context.session.doc, chosen);
      context.selectArrow(row < 0 ? null : row);
    };
    const lag = target.closest("[data-lag]");
    if (lag) {
      const chosen = link(lag, "data-lag");
      if (chosen === null) return null;
      this.click = pick(chosen);
      return dragLag(context, chart, chosen);
    }
    const arrowEnd = target.closest("[data-arrow-end]");
    if (arrowEnd) {
      const chosen = link(arrowEnd, "data-row");
      return chosen === null ? null
        : dragArrowEnd(context, chart, chosen, arrowEnd.getAttribute("data-arrow-end") as "source" | "target");
    }
    const port = target.closest("[data-port]");
    if (port) {
      return dragPort(context, chart, port.getAttribute("data-of") as string,
        port.getAttribute("data-port") as "start" | "finish");
    }
    const handle = target.closest("[data-handle],[data-seam]");
    if (handle) {
      const seam = handle.getAttribute("data-seam");
      const phase = seam ?? handle.getAttribute("data-of")
        ?? (handle.closest("[data-phase]") as Element).getAttribute("data-phase") as string;
      this.click = () => context.select([phase], toggles ? "toggle" : "replace");
      if (toggles) return marquee(context, chart, true);
      if (!context.state.selection.has(phase)) context.select([phase]);
      const kind = seam === null ? handle.getAttribute("data-handle") : "end";
      if (kind === "end") return dragEnd(context, chart, phase);
      if (kind === "start") return dragStart(context, chart, phase);
      return event.altKey ? reorder(context, chart, phase) : dragBody(context, chart, phase);
    }
    const arrow = target.closest("[data-dependency]");
    if (arrow) {
      this.click = pick(link(arrow, "data-dependency"));
      return marquee(context, chart, toggles);
    }
    this.click = () => {
      context.selectArrow(null);
      if (!toggles) context.select([]);
    };
    if (event.pointerType === "touch") return context.state.zoom ? pan(context, chart) : marquee(context, chart, toggles);
    return marquee(context, chart, toggles);
  }

  private move(event: PointerEvent): void {
    if (this.touches.has(event.pointerId)) {
      this.touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.pinch) {
        this.movePinch();
        return;
      }
    }
    const { drag } = this;
    if (!drag || event.pointerId !== this.pointer) return;
    const now = this.at(event);
    if (!this.moved) {
      const far = Math.hypot(now.x - this.origin.x, now.y - this.origin.y);
      if (far < (event.pointerType === "touch" ? THRESHOLD * 2 : THRESHOLD)) return;
      this.context.say(null);
      try {
        drag.begin();
      } catch (error) {
        this.end();
        drag.cancel();
        this.refuse(error);
        return;
      }
      this.moved = true;
      this.context.root.classList.add("sv-dragging");
    }
    try {
      drag.move(now, this.origin);
    } catch (error) {
      if (!(error instanceof Refused)) this.cancel(); // nothing half done stays, and no held session
      this.refuse(error);
    }
  }

  private refuse(error: unknown): void {
    if (!(error instanceof Refused)) throw error;
    this.context.say(error.message, "refused");
  }

  private up(event: PointerEvent): void {
    this.touches.delete(event.pointerId);
    if (this.touches.size < 2) this.pinch = null;
    const { drag } = this;
    if (!drag || event.pointerId !== this.pointer) return;
    const { moved, click } = this;
    this.end();
    if (!moved) {
      drag.cancel();
      click?.();
      return;
    }
    try {
      drag.commit();
    } catch (error) {
      drag.cancel();
      this.refuse(error);
    } finally {
      this.context.redraw("layout");
    }
  }

  private lost(event: PointerEvent): void {
    this.touches.delete(event.pointerId);
    if (this.touches.size < 2) this.pinch = null;
    if (event.pointerId === this.pointer) this.cancel();
  }

  private wheel(event: WheelEvent): void {
    this.box = null;
    if (this.drag) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const x = this.chart.point(event).x;
      this.chart.zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.06 : 0.0022)), x);
      return;
    }
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (this.context.state.zoom && Math.abs(across) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) {
      event.preventDefault();
      this.chart.panBy(-across);
    }
  }

  private hover(event: PointerEvent): void {
    if (this.drag || event.pointerType === "touch") return;
    const element = (event.target as Element).closest("[data-phase],[data-of]");
    this.setHover(element?.getAttribute("data-phase") ?? element?.getAttribute("data-of") ?? null);
  }

  private setHover(name: string | null): void {
    const { state } = this.context;
    if (state.hover === name || this.drag) return;
    state.hover = name;
    this.context.redraw("values");
  }

  private startPinch(): void {
    const [a, b] = [...this.touches.values()] as [{ x: number; y: number }, { x: number; y: number }];
    this.pinch = {
      distance: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)),
      x: this.chart.point({ clientX: (a.x + b.x) / 2, clientY: 0 }).x,
    };
  }

  private movePinch(): void {
    const [a, b] = [...this.touches.values()];
    if (!a || !b || !this.pinch) return;
    const distance = Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
    const x = this.chart.point({ clientX: (a.x + b.x) / 2, clientY: 0 }).x;
    this.chart.zoomBy(distance / this.pinch.distance, this.pinch.x);
    this.chart.panBy(x - this.pinch.x);
    this.pinch = { distance, x };
  }
}
