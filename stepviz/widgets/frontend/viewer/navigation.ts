/** What keys and buttons do: go somewhere, or choose what is beside what is chosen. */

import type { Feed, Names } from "./feed";
import { hit, neighbour } from "./hit";
import { holds } from "./details";
import type { Commands } from "./keys";
import type { Motion } from "./motion";
import { type Row, toggled } from "./rows";
import { headOf } from "./stage";
import type { Chosen, Look } from "./state";
import { PATH } from "./types";
import { around, fitted, panned, type Range, showing, within, zoomed } from "./viewport";
import type { Wire } from "./wire";

export interface Parts {
  readonly look: Look;
  readonly motion: Motion;
  readonly feed: Feed;
  readonly names: Names;
  readonly wire: Wire;
  readonly scroller: HTMLElement;
  choose(chosen: Chosen | null): void;
  resize(): void;
  search(): void;
  match(by: 1 | -1): void;
  table(): void;
  help(): void;
  escape(): void;
  announce(message: string): void;
}

export interface Navigation extends Commands {
  /** Show a time range, whole. */
  show(range: Range): void;
  /** Show a piece with what is around it. */
  go(start: number, finish: number): void;
  /** Unfold and scroll to a lane, and move as little as shows a piece of it. */
  reveal(lane: number, start: number, finish: number): void;
}

export function navigation(parts: Parts): Navigation {
  const { look, motion, feed, names, wire, scroller } = parts;
  const { scene, limits } = look;

  function row(lane: number): Row | null {
    const at = look.rows.of.get(lane);
    return at === undefined ? null : look.rows.rows[at] ?? null;
  }

  function scrollTo(lane: number): void {
    const found = row(lane);
    if (found === null) return;
    const view = look.height - headOf(look);
    if (found.y < look.scroll) scroller.scrollTop = found.y - 30;
    else if (found.y + found.height > look.scroll + view) scroller.scrollTop = found.y + found.height - view + 30;
  }

  function unfold(lane: number): void {
    scene.ranks.forEach((rank, place) => {
      const track = rank.tracks.find((one) => holds(one, lane));
      if (track === undefined) return;
      let { folds } = look;
      if (folds.ranks.has(place)) folds = toggled(folds, "ranks", place, false);
      if (lane !== track.flat && folds.tracks.has(track.flat)) folds = toggled(folds, "tracks", track.flat, false);
      if (folds === look.folds) return;
      look.fold(folds);
      parts.resize();
    });
  }

  function reveal(lane: number, start: number, finish: number): void {
    if (lane !== PATH) {
      unfold(lane);
      scrollTo(lane);
    }
    motion.glide(showing(look.target, start, finish, limits));
  }

  /** Choose a block as if it had been clicked. */
  function take(found: ReturnType<typeof hit>): void {
    if (found === null) return;
    parts.choose({ ...found, name: names.get(found.name) ?? "" });
    if (found.lane !== PATH) scrollTo(found.lane);
    motion.glide(showing(look.target, found.start, found.finish, limits, 0));
  }

  /** The first block in sight, where nothing is chosen yet. */
  function firstSeen(): ReturnType<typeof hit> {
    const middle = (look.range.start + look.range.finish) / 2;
    const from = look.rows.rows.filter((one) => one.y >= look.scroll);
    for (const one of from) {
      const found = hit(feed.layers, one.lane, middle, (look.range.finish - look.range.start) / 2);
      if (found !== null) return found;
    }
    return null;
  }

  /** Where measuring by keys began. */
  let mark: Chosen | null = null;

  const pointed = (): number => look.pointer === null ? (look.target.start + look.target.finish) / 2 : look.time(look.pointer);

  return {
    reveal,
    zoom(factor) {
      // Where the range is still going somewhere, what is under the pointer then is what counts.
      motion.glide(zoomed(look.target, pointed(), factor, limits));
    },
    pan(share) {
      motion.glide(panned(look.target, share * (look.target.finish - look.target.start), limits));
    },
    scroll(px) {
      scroller.scrollTop += px;
    },
    fit() {
      motion.glide(fitted(scene.span));
    },
    show(range) {
      motion.glide(within(range, limits));
    },
    go(start, finish) {
      motion.glide(around(start, finish, limits));
    },
    focusChosen() {
      const { chosen } = look;
      if (chosen === null) return;
      const { start, finish } = chosen;
      motion.glide(chosen.lane === null ? within({ start, finish }, limits) : around(start, finish, limits));
    },
    choose() {
      if (look.chosen === null) take(firstSeen());
      else this.focusChosen();
    },
    along(by) {
      const { chosen } = look;
      if (chosen === null || chosen.lane === null) take(firstSeen());
      else take(neighbour(feed.layers, row(chosen.lane)?.lane ?? chosen.lane, chosen, by));
    },
    updown(by) {
      const { chosen } = look;
      if (chosen === null || chosen.lane === null) {
        take(firstSeen());
        return;
      }
      const middle = (Math.max(chosen.start, look.range.start) + Math.min(chosen.finish, look.range.finish)) / 2;
      const { rows, of } = look.rows;
      const at = chosen.lane === PATH ? -1 : of.get(chosen.lane) ?? 0;
      for (let k = at + by; k >= 0 && k < rows.length; k += by) {
        const found = hit(feed.layers, (rows[k] as Row).lane, middle, look.range.finish - look.range.start);
        if (found === null) continue;
        take(found);
        return;
      }
    },
    path(by) {
      if (scene.path.pieces === 0) return;
      const { chosen } = look;
      const from = chosen !== null && chosen.lane !== null ? chosen.start : look.range.start;
      void wire.ask("piece", { at: Math.round(from), by: chosen === null ? 0 : by }).then(({ content }) => {
        if (typeof content.start_ns !== "number") return;
        const finish = content.start_ns + Number(content.duration_ns);
        const lane = Number(content.at);
        parts.choose({
          lane: lane >= 0 ? lane : PATH, start: content.start_ns, finish, count: 1,
          kind: scene.kinds.indexOf(String(content.kind)), name: String(content.name),
        });
        reveal(lane >= 0 ? lane : PATH, content.start_ns, finish);
      }).catch(() => undefined);
    },
    measure() {
      const { chosen } = look;
      if (chosen === null || chosen.lane === null) {
        parts.announce("Choose a piece first; from it to another the time is measured.");
      } else if (mark === null) {
        mark = chosen;
        parts.announce(`Measuring from ${chosen.name}: go to another piece and press M.`);
      } else {
        const start = Math.min(mark.start, chosen.start);
        const finish = Math.max(mark.finish, chosen.finish);
        mark = null;
        parts.choose({ start, finish, lane: null, kind: null, name: "", count: 0 });
      }
    },
    search: () => parts.search(),
    match: (by) => parts.match(by),
    table: () => parts.table(),
    help: () => parts.help(),
    escape: () => parts.escape(),
  };
}
