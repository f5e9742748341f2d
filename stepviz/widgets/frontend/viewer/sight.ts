/** What is in sight as a table: the same for those who cannot see the drawing, and as bounded. */

import { html, show, text } from "../view/dom";
import { decimals } from "../view/format";
import { where } from "./details";
import type { Names } from "./feed";
import type { Hit } from "./hit";
import type { Layers } from "./layers";
import { inSight } from "./seen";
import { headOf } from "./stage";
import type { Look } from "./state";
import { count, duration, moment } from "./words";

/** So many pieces of all lanes together. */
const MOST = 200;
/** The table is written anew once the drawing has been still for so long, ms. */
const STILL = 250;
const HEADINGS = ["rank", "lane", "kind", "name", "start", "duration"];

const inMs = (ns: number): string => `${ns < 0 ? "−" : ""}${decimals(Math.abs(ns) / 1e6, 3)}`;

export class SightTable {
  readonly element = html("div", { class: "tv-table", "data-role": "sight", hidden: true });
  private readonly caption = html("caption");
  private readonly body = html("tbody");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private written = "";

  constructor(
    private readonly look: Look,
    private readonly layers: Layers,
    private readonly names: Names,
    private readonly go: (hit: Hit) => void,
    signal: AbortSignal,
  ) {
    const head = html("tr", {}, ...HEADINGS.map((word) => html("th", { scope: "col" }, word)));
    this.element.append(html("table", {}, this.caption, html("thead", {}, head), this.body));
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  toggle(open: boolean): void {
    show(this.element, open);
    if (open) this.write();
  }

  /** The drawing was drawn. */
  drawn(): void {
    if (this.element.hidden) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), STILL);
  }

  private write(): void {
    const { look } = this;
    const seen = inSight(look, this.layers, look.height - headOf(look), MOST);
    const key = JSON.stringify(seen.hits);
    const longest = seen.left > 0 ? `; the longest of each lane, ${count(seen.left, "shorter piece")} left out` : "";
    text(this.caption, `In sight: ${count(seen.lanes, "lane")}, ${inMs(look.range.start)} to ${inMs(look.range.finish)} ms, ${count(seen.hits.length, "piece")}${longest}`);
    if (key === this.written) return; // whoever reads it keeps their place
    this.written = key;
    this.body.replaceChildren(...seen.hits.map((hit) => this.row(hit)));
  }

  private row(hit: Hit): HTMLElement {
    const { rank, lane } = where(this.look.scene, hit.lane);
    const name = this.names.get(hit.name) ?? "";
    const at = html("button", { type: "button", class: "tv-at", title: "choose it" }, moment(hit.start));
    at.addEventListener("click", () => this.go(hit));
    const cells = [rank, lane, this.look.scene.kinds[hit.kind] ?? "", hit.count > 1 ? `${count(hit.count, "piece")}, longest ${name}` : name, at, duration(hit.finish - hit.start)];
    return html("tr", {}, ...cells.map((cell) => html("td", {}, cell)));
  }
}
