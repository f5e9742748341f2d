/** A whole step in a page: answers what `stepviz/widgets/viewer_answers.py` answers in Python (no DOM). */

import { bisect, type Block, type Choice, type Lane, laneOf, merged, packBlocks, type RawLane, within } from "./lanes";

type Pairs = readonly (readonly [string, string])[];

interface GivenLane extends RawLane {
  readonly rank: number;
  readonly lane: string;
  readonly cat?: readonly number[];
  readonly correlation?: readonly number[];
  readonly where?: readonly [string, string];
  readonly more?: Readonly<Record<string, Pairs>>;
}

export interface GivenStep {
  readonly lanes: Readonly<Record<string, GivenLane>>;
  readonly recorded: readonly number[];
  readonly path: RawLane & {
    readonly row: readonly number[];
    readonly rank: readonly number[];
    readonly at: readonly number[];
    readonly shown: readonly number[];
    readonly table: readonly unknown[];
    readonly origin: readonly string[];
    readonly launched: readonly string[];
  };
  readonly names: readonly string[];
  readonly cats: readonly string[];
  /** By this number the path is asked for. */
  readonly number: number;
  /** Rows of the path's table in one answer. */
  readonly rows: number;
}

export type Content = Record<string, unknown>;
export type Answer = readonly [content: Content, buffers: readonly ArrayBuffer[]];
interface Match { lane: number; start: number; finish: number; name: number; kind: number }

const REACH = 2 ** 30;
const NOWHERE = -1;
const BESIDE = -2;
const NOBODY = -1;
const MOST_NAMES = 5;

export class StepLanes {
  private readonly lanes = new Map<number, Lane>();
  private readonly path: Lane;
  private readonly tracks = new Map<number, string>();
  private readonly told = new Map<string, Set<number>>();
  private readonly lower: readonly string[];
  private found: { key: string; named: Uint8Array; matches: Match[] } | null = null;

  constructor(private readonly given: GivenStep, private readonly kinds: readonly string[]) {
    for (const [number, lane] of Object.entries(given.lanes)) {
      this.lanes.set(Number(number), laneOf(lane));
      this.tracks.set(Number(number), lane.lane);
    }
    this.path = laneOf(given.path);
    this.lower = given.names.map((name) => name.toLowerCase());
  }

  /** Answer one question; what is wrong with it is the answer then. */
  answer(question: Content): Answer {
    const told = { id: question.id };
    try {
      const [content, buffers] = this.ask(question);
      return [{ ...told, ...content }, buffers];
    } catch (error) {
      return [{ ...told, error: error instanceof Error ? error.message : String(error) }, []];
    }
  }

  private ask(question: Content): Answer {
    switch (question.ask) {
      case "blocks": return this.blocks(question);
      case "find": return [this.find(question), []];
      case "explain": return [this.explain(question), []];
      case "piece": return [this.piece(question), []];
      case "path": return [this.table(question), []];
      default: throw new Error(`a page answers no question of the kind ${String(question.ask)}`);
    }
  }

  private lane(number: number): Lane {
    const lane = number === this.given.number ? this.path : this.lanes.get(number);
    if (lane === undefined) throw new Error(`there is no lane ${number}`);
    return lane;
  }

  private blocks(question: Content): Answer {
    const start = Number(question.start);
    const finish = Number(question.finish);
    const numbers = (question.lanes as unknown[]).map(Number);
    const hidden = hiddenOf(question.hidden);
    const text = String(question.find ?? "");
    const choice: Choice = { hidden, found: text === "" ? null : this.search(text, hidden).named };
    const lanes = numbers.map((number) => merged(this.lane(number), start, finish, Math.max(1, Number(question.pixel)), choice));
    let unit = 1;
    while (Math.floor((finish - start) / unit) > REACH) unit *= 2;
    const place = numbers.indexOf(this.given.number);
    const onPath = place < 0 ? [] : lanes[place] as Block[];
    const rows = onPath.map((block) => this.given.path.row[block.row] as number);
    const ends = Int32Array.from([
      ...rows.map((row) => this.given.path.at[row] as number), ...rows.map((row) => this.given.path.shown[row] as number),
    ]);
    const content = { start, finish, unit, lanes: numbers, names: this.newNames(String(question.page), lanes) };
    return [content, [packBlocks(lanes, start, unit), ends.buffer]];
  }

  private newNames(page: string, lanes: readonly Block[][]): Record<string, string> {
    const told = this.told.get(page) ?? new Set<number>();
    this.told.set(page, told);
    const names: Record<string, string> = {};
    for (const lane of lanes) {
      for (const { name } of lane) {
        if (told.has(name)) continue;
        told.add(name);
        names[String(name)] = this.given.names[name] ?? "";
      }
    }
    return names;
  }

  private search(text: string, hidden: ReadonlySet<number>): { named: Uint8Array; matches: Match[] } {
    const key = JSON.stringify([text, [...hidden].sort((a, b) => a - b)]);
    if (this.found?.key === key) return this.found;
    const wanted = text.toLowerCase();
    const named = Uint8Array.from(this.lower, (name) => Number(name.includes(wanted)));
    const matches: Match[] = [];
    for (const number of this.given.recorded) {
      const lane = this.lane(number);
      for (let k = 0; k < lane.start.length; k++) {
        const [name, kind] = [lane.name[k] as number, lane.kind[k] as number];
        if (named[name] !== 1 || hidden.has(kind)) continue;
        matches.push({ lane: number, start: lane.start[k] as number, finish: lane.finish[k] as number, name, kind });
      }
    }
    matches.sort((a, b) => a.start - b.start || a.lane - b.lane);
    this.found = { key, named, matches };
    return this.found;
  }

  /** Count matches, and go to the one after or before a place. */
  private find(question: Content): Content {
    const text = String(question.text);
    if (text === "") return { count: 0 };
    const { matches } = this.search(text, hiddenOf(question.hidden));
    const content = { count: matches.length };
    if (matches.length === 0 || !question.go) return content;
    const start = Number(question.start);
    const lane = Number(question.lane);
    const forward = question.go === "next";
    const before = (one: Match): boolean => one.start < start || (one.start === start && (forward ? one.lane <= lane : one.lane < lane));
    let place = 0;
    while (place < matches.length && before(matches[place] as Match)) place++;
    place = (forward ? place : place - 1 + matches.length) % matches.length;
    const one = matches[place] as Match;
    return { ...content, place, ...one, name: this.given.names[one.name] ?? "" };
  }

  private explain(question: Content): Content {
    const number = Number(question.lane);
    const start = Number(question.start);
    const finish = Number(question.finish);
    const lane = this.lane(number);
    const [low, high] = within(lane, start, finish);
    const all = Array.from({ length: high - low }, (_, k) => low + k);
    const inside = all.filter((k) => (lane.start[k] as number) >= start && (lane.finish[k] as number) <= finish);
    const length = (k: number): number => (lane.finish[k] as number) - (lane.start[k] as number);
    if (number === this.given.number) {
      const [first, ...rest] = inside;
      if (first === undefined) return { count: 0 };
      const longest = rest.reduce((best, k) => (length(k) > length(best) ? k : best), first);
      return { ...this.pieceAt(longest), count: inside.length };
    }
    const work = inside.length > 0 ? inside : all;
    const given = this.given.lanes[String(number)] as GivenLane;
    const count = work.reduce((sum, k) => sum + (lane.count[k] as number), 0);
    const said = { rank: given.rank, lane: given.lane, count };
    if (work.length === 1 && count === 1) {
      const [k] = work as [number];
      return {
        ...said, name: this.given.names[lane.name[k] as number], kind: this.kinds[lane.kind[k] as number],
        start_ns: lane.start[k], duration_ns: length(k), more: this.more(given, k),
      };
    }
    if (work.length === 0) return said;
    const begin = Math.min(...work.map((k) => lane.start[k] as number));
    const end = work.reduce((last, k) => Math.max(last, lane.finish[k] as number), -Infinity);
    const times = new Map<number, [count: number, time: number]>();
    for (const k of work) {
      const held = times.get(lane.name[k] as number) ?? [0, 0];
      times.set(lane.name[k] as number, [held[0] + (lane.count[k] as number), held[1] + (lane.busy[k] as number)]);
    }
    const names = [...times].sort(([a, [, x]], [b, [, y]]) => y - x || a - b).slice(0, MOST_NAMES)
      .map(([name, [count, time]]) => [this.given.names[name], count, time]);
    return { ...said, start_ns: begin, duration_ns: end - begin, busy_ns: work.reduce((sum, k) => sum + (lane.busy[k] as number), 0), names };
  }

  private more(lane: GivenLane, k: number): Pairs {
    const known = lane.more?.[String(k)];
    if (known !== undefined) return known;
    if (lane.where === undefined) return [];
    const pairs: [string, string][] = [[...lane.where], ["category", this.given.cats[lane.cat?.[k] ?? -1] ?? ""]];
    const correlation = lane.correlation?.[k] ?? -1;
    if (correlation >= 0) pairs.push(["correlation", String(correlation)]);
    return pairs;
  }

  private pieceAt(place: number): Content {
    const { path, names } = this.given;
    const row = path.row[place] as number;
    const raw = path.at[row] as number;
    const at = raw <= BESIDE ? BESIDE - raw : raw;
    const rank = path.rank[row] as number;
    const more: [string, string][] = [];
    if (path.origin[row]) more.push(["link into it", path.origin[row]]);
    if (path.launched[row]) more.push(["launched", path.launched[row]]);
    return {
      rank: rank === NOBODY ? null : rank,
      lane: at === NOWHERE ? "critical path" : `critical path, ${this.tracks.get(at) ?? ""}`,
      count: 1,
      name: names[this.path.name[place] as number],
      kind: this.kinds[this.path.kind[place] as number],
      start_ns: this.path.start[place],
      duration_ns: (this.path.finish[place] as number) - (this.path.start[place] as number),
      more,
    };
  }

  /** Go along the path: the piece at a time, or the one after or before it. */
  private piece(question: Content): Content {
    const count = this.path.start.length;
    if (count === 0) return { count: 0 };
    const at = bisect(this.path.start, Number(question.at), true) - 1 + Number(question.by);
    const place = Math.min(Math.max(at, 0), count - 1);
    const row = this.given.path.row[place] as number;
    return { ...this.pieceAt(place), at: this.given.path.at[row], shown: this.given.path.shown[row] };
  }

  private table(question: Content): Content {
    const first = Math.max(0, Number(question.from ?? 0));
    const { table } = this.given.path;
    return { rows: table.slice(first, first + this.given.rows), total: table.length, from: first };
  }
}

function hiddenOf(given: unknown): ReadonlySet<number> {
  return new Set(Array.isArray(given) ? given.map(Number) : []);
}
