/** What is known of a block: beside the pointer, and in the line below the lanes. */

import { attr, html, show, text } from "../view/dom";
import { decimals } from "../view/format";
import type { Hit } from "./hit";
import { variableOf } from "./palette";
import type { Chosen, Look } from "./state";
import { PATH, type Scene, type Track } from "./types";
import type { Wire } from "./wire";
import { count, duration, moment } from "./words";

/** What Python says of a block (see `questions.explain`). */
interface Explained {
  readonly rank?: number | null;
  readonly lane?: string;
  readonly count?: number;
  readonly name?: string;
  readonly kind?: string;
  readonly start_ns?: number;
  readonly duration_ns?: number;
  readonly busy_ns?: number;
  readonly names?: readonly [string, number, number][];
  readonly more?: readonly [string, string][];
}

/** How long the pointer rests before Python is asked, and before it is said aloud, ms. */
const REST = 110;
const SPEAK = 500;
const SETTLED = 200;

type Where = { rank: string; lane: string };

export class Details {
  readonly tip = html("div", { class: "tv-tip", role: "tooltip", "data-role": "tip", hidden: true });
  readonly line = html("div", { class: "tv-details", "data-role": "details" });
  /** Heard only. */
  readonly live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  private timers: ReturnType<typeof setTimeout>[] = [];
  private hovered: Hit | null = null;
  private explained: Explained | null = null;
  private turn = 0;
  private speaking: ReturnType<typeof setTimeout> | undefined;
  private chosenTurn = 0;

  constructor(
    private readonly look: Look,
    private readonly names: ReadonlyMap<number, string>,
    private readonly wire: Wire,
    private readonly actions: { zoom(): void; clear(): void },
    private readonly signal: AbortSignal,
  ) {
    this.choose(null);
    signal.addEventListener("abort", () => this.stop());
  }

  announce(message: string): void {
    text(this.live, this.live.textContent === message ? `${message}\u00a0` : message);
  }

  /** Whoever goes from piece to piece hears the one they stop at. */
  private announceSoon(message: string): void {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => this.announce(message), SETTLED);
  }

  private stop(): void {
    clearTimeout(this.speaking);
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }

  // Beside the pointer

  hover(hit: Hit | null, x: number, y: number, frame: HTMLElement): void {
    const other = hit?.lane !== this.hovered?.lane || hit?.start !== this.hovered?.start || hit?.finish !== this.hovered?.finish;
    if (other) {
      this.stop();
      this.turn++;
      this.hovered = hit;
      this.explained = null;
      if (hit !== null) {
        const turn = this.turn;
        this.timers.push(setTimeout(() => void this.explain(hit).then((said) => {
          if (turn !== this.turn || said === null) return;
          this.explained = said;
          this.fill(hit);
          this.put(x, y, frame);
        }), REST));
        this.timers.push(setTimeout(() => this.announce(this.spoken(hit)), SPEAK));
        this.fill(hit);
      }
    }
    show(this.tip, hit !== null);
    if (hit !== null) this.put(x, y, frame);
  }

  private put(x: number, y: number, frame: HTMLElement): void {
    const { tip } = this;
    const width = tip.offsetWidth;
    const height = tip.offsetHeight;
    const left = x + 16 + width > frame.clientWidth ? Math.max(0, x - width - 12) : x + 16;
    const top = y + 18 + height > frame.clientHeight ? Math.max(0, y - height - 12) : y + 18;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  private fill(hit: Hit): void {
    const { scene } = this.look;
    const said = this.explained;
    const { rank, lane } = where(scene, hit.lane, said);
    const kind = scene.kinds[hit.kind] ?? "other";
    const name = said?.name ?? this.names.get(hit.name) ?? "";
    const facts: [string, string][] = [];
    if (hit.count > 1) {
      facts.push(["pieces", `${decimals(hit.count, 0)}, ${decimals(100 * hit.share, 0)} % busy`]);
    }
    facts.push(["start", moment(said?.start_ns ?? hit.start)]);
    facts.push([hit.count > 1 ? "over" : "duration", duration(said?.duration_ns ?? hit.finish - hit.start)]);
    for (const pair of said?.more ?? []) facts.push([pair[0], pair[1]]);
    for (const [one, times, ns] of said?.names ?? []) facts.push([`${times} ×`, `${one} · ${duration(ns)}`]);
    this.tip.replaceChildren(
      html("strong", {}, hit.count > 1 ? `mostly ${kind}, longest: ${name}` : name),
      html("div", { class: "tv-tip-where" }, swatch(kind), `${kind} · ${rank} · ${lane}`),
      html("dl", { class: "tv-facts" }, ...facts.flatMap(([word, value]) => [html("dt", {}, word), html("dd", {}, value)])),
    );
  }

  private spoken(hit: Hit): string {
    const { scene } = this.look;
    const { rank, lane } = where(scene, hit.lane, this.explained);
    const name = this.explained?.name ?? this.names.get(hit.name) ?? "";
    const what = hit.count > 1 ? `${count(hit.count, "piece")}, longest ${name}` : name;
    return `${what}, ${scene.kinds[hit.kind] ?? ""}, ${rank}, ${lane}, at ${duration(hit.start)}, ${duration(hit.finish - hit.start)}`;
  }

  private async explain(what: { lane: number | null; start: number; finish: number }): Promise<Explained | null> {
    if (what.lane === null) return null;
    try {
      const { content } = await this.wire.ask("explain", {
        lane: what.lane, start: Math.floor(what.start), finish: Math.ceil(what.finish),
      });
      return this.signal.aborted ? null : (content as Explained);
    } catch {
      return null; // the page knows enough to go on
    }
  }

  // Below the lanes

  /** Show what is chosen; `speak` also says it aloud. */
  choose(chosen: Chosen | null, speak = false): void {
    const turn = ++this.chosenTurn;
    this.write(chosen, null);
    if (chosen === null) return;
    if (speak) this.announceSoon(this.sentence(chosen, null));
    if (chosen.lane !== null) {
      void this.explain(chosen).then((said) => {
        if (turn === this.chosenTurn && said !== null) this.write(chosen, said);
      });
    }
  }

  private sentence(chosen: Chosen, said: Explained | null): string {
    const { scene } = this.look;
    if (chosen.lane === null) return `measured ${duration(chosen.finish - chosen.start)} from ${moment(chosen.start)}`;
    const { rank, lane } = where(scene, chosen.lane, said);
    const kind = chosen.kind === null ? "" : `${scene.kinds[chosen.kind] ?? ""}, `;
    return `${chosen.name}, ${kind}${rank}, ${lane}, at ${moment(chosen.start)}, ${duration(chosen.finish - chosen.start)}`;
  }

  private write(chosen: Chosen | null, said: Explained | null): void {
    if (chosen === null) {
      this.line.replaceChildren(html("span", { class: "sv-dim" },
        "Click a piece · drag to move · Ctrl + wheel or W S to zoom · Shift + drag to measure · / to search · ? for keys"));
      return;
    }
    const { scene } = this.look;
    const parts: Node[] = [];
    const fact = (word: string, value: string): void => {
      parts.push(html("span", { class: "tv-fact" }, html("span", { class: "sv-dim" }, word), ` ${value}`));
    };
    if (chosen.lane === null) {
      parts.push(html("strong", { class: "tv-chosen" }, duration(chosen.finish - chosen.start)));
      fact("from", moment(chosen.start));
      fact("to", moment(chosen.finish));
    } else {
      const kind = scene.kinds[chosen.kind ?? -1] ?? said?.kind ?? "";
      const { rank, lane } = where(scene, chosen.lane, said);
      const name = said?.name ?? chosen.name;
      parts.push(html("strong", { class: "tv-chosen", title: name }, swatch(kind), chosen.count > 1 ? `${count(chosen.count, "piece")}, longest: ${name}` : name));
      parts.push(html("span", { class: "tv-fact" }, `${kind} · ${rank} · ${lane}`));
      fact("start", moment(said?.start_ns ?? chosen.start));
      fact("duration", duration(said?.duration_ns ?? chosen.finish - chosen.start));
      for (const [word, value] of said?.more ?? []) fact(word, value);
      for (const [name, times, ns] of said?.names ?? []) fact(`${times} ×`, `${name} ${duration(ns)}`);
    }
    const zoom = html("button", { type: "button", class: "tv-small", "data-role": "zoom-to" }, "zoom to it");
    const clear = html("button", { type: "button", class: "sv-x", "aria-label": "let go of it", "data-role": "clear" }, "×");
    zoom.addEventListener("click", () => this.actions.zoom());
    clear.addEventListener("click", () => this.actions.clear());
    this.line.replaceChildren(...parts, zoom, clear);
    // Where it is too long for its place, keys can scroll it.
    attr(this.line, "tabindex", this.line.scrollHeight > this.line.clientHeight ? 0 : null);
  }
}

function swatch(kind: string): HTMLElement {
  return html("i", { class: "tv-swatch", style: `background:var(${variableOf(kind)})` });
}

/** The rank and the lane in words. */
export function where(scene: Scene, lane: number, said: Explained | null = null): Where {
  const told = said?.rank === null ? "all its ranks" : said?.rank === undefined ? null : `rank ${said.rank}`;
  if (lane === PATH) return { rank: told ?? "", lane: said?.lane ?? "critical path" };
  for (const rank of scene.ranks) {
    if (rank.summary === lane) return { rank: `rank ${rank.rank}`, lane: "summary" };
    const track = rank.tracks.find((one) => holds(one, lane));
    if (track) return { rank: `rank ${rank.rank}`, lane: track.name };
  }
  return { rank: told ?? "", lane: said?.lane ?? "" };
}

export function holds(track: Track, lane: number): boolean {
  return lane === track.flat || (lane >= track.first && lane < track.first + track.rows);
}
