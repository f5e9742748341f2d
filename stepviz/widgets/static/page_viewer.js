// page/unpacked.ts
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// page/viewer/lanes.ts
function laneOf(raw) {
  const count = raw.start.length;
  const start = new Float64Array(count);
  const finish = new Float64Array(count);
  let at = 0;
  for (let k = 0; k < count; k++) {
    at += raw.start[k];
    start[k] = at;
    finish[k] = at + raw.length[k];
  }
  return {
    start,
    finish,
    kind: Uint8Array.from(raw.kind),
    name: Int32Array.from(raw.name),
    count: raw.count === void 0 ? new Uint32Array(count).fill(1) : Uint32Array.from(raw.count),
    busy: Float64Array.from(raw.busy ?? raw.length)
  };
}
function bisect(values, bound, past = false) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = low + high >> 1;
    const value = values[middle];
    if (value < bound || past && value === bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
function within(lane, start, finish) {
  const low = bisect(lane.finish, start);
  return [low, Math.max(low, bisect(lane.start, finish, true))];
}
function merged(lane, start, finish, pixel, choice) {
  const blocks = [];
  const [low, high] = within(lane, start, finish);
  let open = null;
  let longest = 0;
  let wideBefore = true;
  let bucketBefore = 0;
  let times = /* @__PURE__ */ new Map();
  const close = () => {
    if (open === null || open.count < 2) return;
    let most = -1;
    for (const [kind, time] of times) {
      if (time > most || time === most && kind < open.kind) {
        most = time;
        open.kind = kind;
      }
    }
  };
  for (let k = low; k < high; k++) {
    const kind = lane.kind[k];
    if (choice.hidden.has(kind)) continue;
    const begin = lane.start[k];
    const end = lane.finish[k];
    const length = end - begin;
    const busy = lane.busy[k];
    const wide = length >= pixel;
    const bucket = Math.floor(begin / pixel);
    const name = lane.name[k];
    const marked = choice.found !== null && choice.found[name] === 1 ? 1 : 0;
    if (open === null || wide || wideBefore || bucket !== bucketBefore) {
      close();
      open = { start: begin, finish: end, busy, count: lane.count[k], kind, name, row: k, flags: marked };
      blocks.push(open);
      longest = length;
      times = /* @__PURE__ */ new Map([[kind, Math.max(busy, 0.25)]]);
    } else {
      open.finish = Math.max(open.finish, end);
      open.busy += busy;
      open.count += lane.count[k];
      open.flags |= marked;
      if (length > longest) {
        longest = length;
        open.name = name;
        open.row = k;
      }
      times.set(kind, (times.get(kind) ?? 0) + Math.max(busy, 0.25));
    }
    wideBefore = wide;
    bucketBefore = bucket;
  }
  close();
  return blocks;
}
var LARGEST = 2 ** 31 - 1;
var cut = (value) => Math.min(LARGEST, Math.max(-LARGEST, value));
function packBlocks(lanes, origin, unit) {
  const all = lanes.flat();
  const size = all.length;
  const head = 4 * (lanes.length + 1);
  const bytes = new ArrayBuffer(head + 19 * size);
  const bounds = new Int32Array(bytes, 0, lanes.length + 1);
  lanes.forEach((lane, k) => {
    bounds[k + 1] = bounds[k] + lane.length;
  });
  const words = (k) => new Int32Array(bytes, head + 4 * k * size, size);
  const [start, finish, name] = [words(0), words(1), words(2)];
  const count = new Uint32Array(bytes, head + 12 * size, size);
  const small = (k) => new Uint8Array(bytes, head + (16 + k) * size, size);
  const [kind, flags, share] = [small(0), small(1), small(2)];
  all.forEach((block, k) => {
    start[k] = cut(Math.floor((block.start - origin) / unit));
    finish[k] = cut(-Math.floor((origin - block.finish) / unit));
    name[k] = block.name;
    count[k] = block.count;
    kind[k] = block.kind;
    flags[k] = block.flags;
    share[k] = Math.ceil(255 * Math.min(block.busy / Math.max(block.finish - block.start, 1), 1));
  });
  return bytes;
}

// page/viewer/step.ts
var REACH = 2 ** 30;
var NOWHERE = -1;
var BESIDE = -2;
var NOBODY = -1;
var MOST_NAMES = 5;
var StepLanes = class {
  constructor(given, kinds) {
    this.given = given;
    this.kinds = kinds;
    for (const [number, lane] of Object.entries(given.lanes)) {
      this.lanes.set(Number(number), laneOf(lane));
      this.tracks.set(Number(number), lane.lane);
    }
    this.path = laneOf(given.path);
    this.lower = given.names.map((name) => name.toLowerCase());
  }
  given;
  kinds;
  lanes = /* @__PURE__ */ new Map();
  path;
  tracks = /* @__PURE__ */ new Map();
  told = /* @__PURE__ */ new Map();
  lower;
  found = null;
  /** Answer one question; what is wrong with it is the answer then. */
  answer(question) {
    const told = { id: question.id };
    try {
      const [content, buffers] = this.ask(question);
      return [{ ...told, ...content }, buffers];
    } catch (error) {
      return [{ ...told, error: error instanceof Error ? error.message : String(error) }, []];
    }
  }
  ask(question) {
    switch (question.ask) {
      case "blocks":
        return this.blocks(question);
      case "find":
        return [this.find(question), []];
      case "explain":
        return [this.explain(question), []];
      case "piece":
        return [this.piece(question), []];
      case "path":
        return [this.table(question), []];
      default:
        throw new Error(`a page answers no question of the kind ${String(question.ask)}`);
    }
  }
  lane(number) {
    const lane = number === this.given.number ? this.path : this.lanes.get(number);
    if (lane === void 0) throw new Error(`there is no lane ${number}`);
    return lane;
  }
  blocks(question) {
    const start = Number(question.start);
    const finish = Number(question.finish);
    const numbers = question.lanes.map(Number);
    const hidden = hiddenOf(question.hidden);
    const text = String(question.find ?? "");
    const choice = { hidden, found: text === "" ? null : this.search(text, hidden).named };
    const lanes = numbers.map((number) => merged(this.lane(number), start, finish, Math.max(1, Number(question.pixel)), choice));
    let unit = 1;
    while (Math.floor((finish - start) / unit) > REACH) unit *= 2;
    const place = numbers.indexOf(this.given.number);
    const onPath = place < 0 ? [] : lanes[place];
    const rows = onPath.map((block) => this.given.path.row[block.row]);
    const ends = Int32Array.from([
      ...rows.map((row) => this.given.path.at[row]),
      ...rows.map((row) => this.given.path.shown[row])
    ]);
    const content = { start, finish, unit, lanes: numbers, names: this.newNames(String(question.page), lanes) };
    return [content, [packBlocks(lanes, start, unit), ends.buffer]];
  }
  newNames(page, lanes) {
    const told = this.told.get(page) ?? /* @__PURE__ */ new Set();
    this.told.set(page, told);
    const names = {};
    for (const lane of lanes) {
      for (const { name } of lane) {
        if (told.has(name)) continue;
        told.add(name);
        names[String(name)] = this.given.names[name] ?? "";
      }
    }
    return names;
  }
  search(text, hidden) {
    const key = JSON.stringify([text, [...hidden].sort((a, b) => a - b)]);
    if (this.found?.key === key) return this.found;
    const wanted = text.toLowerCase();
    const named = Uint8Array.from(this.lower, (name) => Number(name.includes(wanted)));
    const matches = [];
    for (const number of this.given.recorded) {
      const lane = this.lane(number);
      for (let k = 0; k < lane.start.length; k++) {
        const [name, kind] = [lane.name[k], lane.kind[k]];
        if (named[name] !== 1 || hidden.has(kind)) continue;
        matches.push({ lane: number, start: lane.start[k], finish: lane.finish[k], name, kind });
      }
    }
    matches.sort((a, b) => a.start - b.start || a.lane - b.lane);
    this.found = { key, named, matches };
    return this.found;
  }
  /** Count matches, and go to the one after or before a place. */
  find(question) {
    const text = String(question.text);
    if (text === "") return { count: 0 };
    const { matches } = this.search(text, hiddenOf(question.hidden));
    const content = { count: matches.length };
    if (matches.length === 0 || !question.go) return content;
    const start = Number(question.start);
    const lane = Number(question.lane);
    const forward = question.go === "next";
    const before = (one2) => one2.start < start || one2.start === start && (forward ? one2.lane <= lane : one2.lane < lane);
    let place = 0;
    while (place < matches.length && before(matches[place])) place++;
    place = (forward ? place : place - 1 + matches.length) % matches.length;
    const one = matches[place];
    return { ...content, place, ...one, name: this.given.names[one.name] ?? "" };
  }
  explain(question) {
    const number = Number(question.lane);
    const start = Number(question.start);
    const finish = Number(question.finish);
    const lane = this.lane(number);
    const [low, high] = within(lane, start, finish);
    const all = Array.from({ length: high - low }, (_, k) => low + k);
    const inside = all.filter((k) => lane.start[k] >= start && lane.finish[k] <= finish);
    const length = (k) => lane.finish[k] - lane.start[k];
    if (number === this.given.number) {
      const [first, ...rest] = inside;
      if (first === void 0) return { count: 0 };
      const longest = rest.reduce((best, k) => length(k) > length(best) ? k : best, first);
      return { ...this.pieceAt(longest), count: inside.length };
    }
    const work = inside.length > 0 ? inside : all;
    const given = this.given.lanes[String(number)];
    const count = work.reduce((sum, k) => sum + lane.count[k], 0);
    const said = { rank: given.rank, lane: given.lane, count };
    if (work.length === 1 && count === 1) {
      const [k] = work;
      return {
        ...said,
        name: this.given.names[lane.name[k]],
        kind: this.kinds[lane.kind[k]],
        start_ns: lane.start[k],
        duration_ns: length(k),
        more: this.more(given, k)
      };
    }
    if (work.length === 0) return said;
    const begin = Math.min(...work.map((k) => lane.start[k]));
    const end = work.reduce((last, k) => Math.max(last, lane.finish[k]), -Infinity);
    const times = /* @__PURE__ */ new Map();
    for (const k of work) {
      const held = times.get(lane.name[k]) ?? [0, 0];
      times.set(lane.name[k], [held[0] + lane.count[k], held[1] + lane.busy[k]]);
    }
    const names = [...times].sort(([a, [, x]], [b, [, y]]) => y - x || a - b).slice(0, MOST_NAMES).map(([name, [count2, time]]) => [this.given.names[name], count2, time]);
    return { ...said, start_ns: begin, duration_ns: end - begin, busy_ns: work.reduce((sum, k) => sum + lane.busy[k], 0), names };
  }
  more(lane, k) {
    const known = lane.more?.[String(k)];
    if (known !== void 0) return known;
    if (lane.where === void 0) return [];
    const pairs = [[...lane.where], ["category", this.given.cats[lane.cat?.[k] ?? -1] ?? ""]];
    const correlation = lane.correlation?.[k] ?? -1;
    if (correlation >= 0) pairs.push(["correlation", String(correlation)]);
    return pairs;
  }
  pieceAt(place) {
    const { path, names } = this.given;
    const row = path.row[place];
    const raw = path.at[row];
    const at = raw <= BESIDE ? BESIDE - raw : raw;
    const rank = path.rank[row];
    const more = [];
    if (path.origin[row]) more.push(["link into it", path.origin[row]]);
    if (path.launched[row]) more.push(["launched", path.launched[row]]);
    return {
      rank: rank === NOBODY ? null : rank,
      lane: at === NOWHERE ? "critical path" : `critical path, ${this.tracks.get(at) ?? ""}`,
      count: 1,
      name: names[this.path.name[place]],
      kind: this.kinds[this.path.kind[place]],
      start_ns: this.path.start[place],
      duration_ns: this.path.finish[place] - this.path.start[place],
      more
    };
  }
  /** Go along the path: the piece at a time, or the one after or before it. */
  piece(question) {
    const count = this.path.start.length;
    if (count === 0) return { count: 0 };
    const at = bisect(this.path.start, Number(question.at), true) - 1 + Number(question.by);
    const place = Math.min(Math.max(at, 0), count - 1);
    const row = this.given.path.row[place];
    return { ...this.pieceAt(place), at: this.given.path.at[row], shown: this.given.path.shown[row] };
  }
  table(question) {
    const first = Math.max(0, Number(question.from ?? 0));
    const { table } = this.given.path;
    return { rows: table.slice(first, first + this.given.rows), total: table.length, from: first };
  }
};
function hiddenOf(given) {
  return new Set(Array.isArray(given) ? given.map(Number) : []);
}

// page/viewer.ts
async function viewerKernel([viewer], given) {
  const scene = viewer?.get("_scene");
  const step = new StepLanes(await unpacked(given), scene.kinds);
  return {
    asked(model, content) {
      const [answer, buffers] = step.answer(content);
      model.answer(answer, buffers.map((buffer) => new DataView(buffer)));
    }
  };
}
export {
  viewerKernel as default
};
