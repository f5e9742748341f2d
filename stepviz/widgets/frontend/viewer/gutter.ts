/** The names at the left of the rows, as buttons where there is something to fold. */

import { attr, html, text } from "../view/dom";
import { active } from "../view/focus";
import { headOf } from "./stage";
import type { Look } from "./state";
import { foldable, type Row, rowsBetween, toggled } from "./rows";

export class Gutter {
  readonly element = html("div", { class: "tv-names", role: "group", "aria-label": "ranks and lanes" });
  /** By rank and track: one name, whether folded or not. */
  private readonly shown = new Map<string, HTMLElement>();

  constructor(private readonly look: Look, private readonly folded: () => void) {
    this.element.addEventListener("keydown", (event) => this.walk(event));
  }

  update(): void {
    const { look } = this;
    const head = headOf(look);
    attr(this.element, "style", `top:${head}px;height:${look.rows.height}px`);
    const [first, last] = rowsBetween(look.rows.rows, look.scroll - 200, look.scroll + look.height + 200);
    const wanted = new Set<string>();
    for (let k = first; k < last; k++) {
      const row = look.rows.rows[k] as Row;
      if (!row.head) continue;
      wanted.add(keyOf(row));
      this.place(row);
    }
    for (const [key, element] of this.shown) {
      if (wanted.has(key) || element.contains(active(element))) continue;
      element.remove();
      this.shown.delete(key);
    }
    this.rove();
  }

  private place(row: Row): void {
    let element = this.shown.get(keyOf(row));
    if (element === undefined) {
      element = this.make(row);
      this.shown.set(keyOf(row), element);
      this.element.append(element);
    }
    attr(element, "data-lane", row.lane);
    // A track that is unfolded has several rows, and room for a finger.
    const least = row.track !== null && row.track.rows > 1 && !row.folded ? 24 : 16;
    attr(element, "style", `top:${row.y}px;height:${Math.max(row.height, least)}px`);
    if (element.matches("button")) attr(element, "aria-expanded", String(!row.folded));
  }

  private make(row: Row): HTMLElement {
    const rank = this.look.scene.ranks[row.place];
    const { track } = row;
    const name = track === null ? `rank ${rank?.rank ?? "?"}` : track.name;
    const can = track === null ? (rank?.tracks.length ?? 0) > 0 : rank !== undefined && foldable(rank).includes(track);
    const label = html("span", { class: "tv-name-text" }, name);
    if (!can) {
      return html("div", { class: "tv-name", title: track?.title ?? "" }, label);
    }
    const element = html("button", {
      type: "button", class: track === null ? "tv-name tv-rank" : "tv-name", title: track?.title ?? name,
      "data-role": track === null ? "rank" : "track", tabindex: -1,
    }, html("span", { class: "tv-fold", "aria-hidden": "true" }), label);
    if (track !== null && track.rows > 1) label.append(html("span", { class: "tv-count" }, ` ${track.rows}`));
    element.addEventListener("click", () => {
      const { look } = this;
      look.fold(track === null ? toggled(look.folds, "ranks", row.place) : toggled(look.folds, "tracks", track.flat));
      this.folded();
      this.update();
    });
    return element;
  }

  private buttons(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>("button")]
      .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
  }

  /** One stop for Tab; up and down go on from there, left folds and right unfolds. */
  private walk(event: KeyboardEvent): void {
    const all = this.buttons();
    const at = all.indexOf(event.target as HTMLElement);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = all[at]?.getAttribute("aria-expanded") === "true";
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = all[at + (event.key === "ArrowDown" ? 1 : -1)];
      next?.focus();
      next?.scrollIntoView({ block: "nearest" });
    } else if ((event.key === "ArrowLeft" && open) || (event.key === "ArrowRight" && !open)) {
      all[at]?.click();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private rove(): void {
    const all = this.buttons();
    const held = active(this.element);
    const stop = all.find((one) => one === held) ?? all[0];
    for (const one of all) attr(one, "tabindex", one === stop ? 0 : -1);
  }
}

/** Above the names: what the path's row is, and whose lanes come first when the rank's own row is scrolled away. */
export class Corner {
  private readonly rank = html("span", { class: "tv-corner-rank" });
  readonly element = html("div", { class: "tv-corner" }, this.rank);

  constructor(private readonly look: Look) {
    if (look.scene.path.pieces > 0) this.element.append(html("span", { class: "tv-corner-path" }, "critical path"));
  }

  update(): void {
    const { look } = this;
    this.element.style.height = `${headOf(look)}px`;
    const [first] = rowsBetween(look.rows.rows, look.scroll + 4, look.scroll + 5);
    const row = look.rows.rows[first];
    text(this.rank, row === undefined || row.track === null ? "" : `rank ${look.scene.ranks[row.place]?.rank ?? "?"}`);
  }
}

const keyOf = (row: Row): string => `${row.place} ${row.track?.flat ?? ""}`;
