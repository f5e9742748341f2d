// model/types.ts
var SCHEMA = "stepviz.timeline/1";
var COMPUTE_KINDS = ["forward", "backward", "recompute"];
var Refused = class extends Error {
  name = "Refused";
};

// model/solver.ts
function solve(doc) {
  return new FastSolver(doc).solve();
}
var FastSolver = class {
  durations;
  releases;
  /** One per row of `doc.dependencies`. */
  lags;
  index;
  graph;
  #doc;
  #lag;
  constructor(doc) {
    const index = indexPhases(doc);
    const graph = buildGraph(doc, index);
    this.#doc = doc;
    this.index = index;
    this.graph = graph;
    this.durations = new Float64Array(doc.phases.length);
    this.releases = new Float64Array(doc.phases.length);
    this.#lag = new Float64Array(graph.source.length);
    this.lags = this.#lag.subarray(0, doc.dependencies.length);
    this.#read(doc);
  }
  /** Whether `doc` has the same phases, lanes and dependencies, so that only numbers may differ. */
  fits(doc) {
    const old = this.#doc;
    if (doc.phases.length !== old.phases.length) return false;
    if (doc.dependencies.length !== old.dependencies.length) return false;
    if (doc.target !== null && !this.index.has(doc.target)) return false;
    return doc.phases.every((phase, row) => {
      const was = old.phases[row];
      return phase === was || phase.phase === was.phase && ownerOf(phase) === ownerOf(was);
    }) && doc.dependencies.every((link, row) => {
      const was = old.dependencies[row];
      return link === was || link.source === was.source && link.target === was.target && link.type === was.type;
    });
  }
  /** Take the numbers of a document that fits, and solve it. */
  update(doc) {
    this.#doc = doc;
    this.#read(doc);
    return this.solve();
  }
  solve() {
    const { graph, index } = this;
    const doc = this.#doc;
    const lag = this.#lag;
    const d = this.durations;
    const target = doc.target === null ? -1 : index.get(doc.target);
    const start = forward(graph, d, this.releases, lag);
    const n = d.length;
    const finish = new Float64Array(n);
    for (let i = 0; i < n; i++) finish[i] = start[i] + d[i];
    let completion = target < 0 ? -Infinity : finish[target];
    if (target < 0) {
      for (let i = 0; i < n; i++) if (finish[i] > completion) completion = finish[i];
    }
    const latestStart = backward(graph, d, lag, completion, target);
    const latestFinish = new Float64Array(n);
    for (let i = 0; i < n; i++) latestFinish[i] = latestStart[i] + d[i];
    const tolerance = 1e-9 * Math.max(1, Math.abs(completion));
    const totalFloat = new Float64Array(n);
    const freeFloat = new Float64Array(n);
    const critical = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      totalFloat[i] = snap(latestStart[i] - start[i], tolerance);
      critical[i] = totalFloat[i] === 0 ? 1 : 0;
      freeFloat[i] = target < 0 || target === i ? completion - finish[i] : Infinity;
    }
    const dependencies = [];
    const binding = new Int32Array(n).fill(-1);
    const stored = doc.dependencies.length;
    for (let e = 0; e < graph.source.length; e++) {
      const i = graph.source[e];
      const j = graph.target[e];
      const code = graph.code[e];
      const head = code % 2 === 0 ? finish[i] : start[i];
      const at = code >= 2 ? finish[j] : start[j];
      const slack = snap(at - lag[e] - head, tolerance);
      if (slack < freeFloat[i]) freeFloat[i] = slack;
      if (binding[j] === -1 && bound(head, lag[e], code, d[j]) === start[j]) binding[j] = e;
      dependencies.push({
        source: i,
        target: j,
        type: CODES[code],
        lag: lag[e],
        origin: e < stored ? doc.dependencies[e].origin : "lane",
        row: e < stored ? e : -1,
        slack,
        critical: critical[i] === 1 && critical[j] === 1 && slack === 0
      });
    }
    for (let i = 0; i < n; i++) freeFloat[i] = snap(freeFloat[i], tolerance);
    return {
      doc,
      index,
      start,
      finish,
      latestStart,
      latestFinish,
      totalFloat,
      freeFloat,
      critical,
      dependencies,
      binding,
      completion
    };
  }
  #read(doc) {
    for (let i = 0; i < this.durations.length; i++) {
      this.durations[i] = doc.phases[i].duration + 0;
      this.releases[i] = doc.phases[i].release + 0;
    }
    for (let e = 0; e < this.lags.length; e++) this.lags[e] = doc.dependencies[e].lag + 0;
  }
};
var CODES = ["FS", "SS", "FF", "SF"];
function bound(head, lag, code, targetDuration) {
  return code >= 2 ? head + lag - targetDuration : head + lag;
}
function forward(graph, d, releases, lag, without = -1) {
  const { source, code, into, intoAt, order } = graph;
  const start = new Float64Array(d.length);
  for (let k = 0; k < order.length; k++) {
    const j = order[k];
    if (j === without) continue;
    let at = 0;
    if (releases[j] > at) at = releases[j];
    for (let x = intoAt[j]; x < intoAt[j + 1]; x++) {
      const e = into[x];
      const i = source[e];
      if (i === without) continue;
      const c = code[e];
      const head = c % 2 === 0 ? start[i] + d[i] : start[i];
      const candidate = bound(head, lag[e], c, d[j]);
      if (candidate > at) at = candidate;
    }
    start[j] = at;
  }
  return start;
}
function backward(graph, d, lag, completion, target) {
  const { target: targets, code, out, outAt, order } = graph;
  const late = new Float64Array(d.length);
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k];
    let at = target < 0 || target === i ? completion - d[i] : Infinity;
    for (let x = outAt[i]; x < outAt[i + 1]; x++) {
      const e = out[x];
      const j = targets[e];
      const c = code[e];
      const limit = (c >= 2 ? late[j] + d[j] : late[j]) - lag[e];
      const candidate = c % 2 === 0 ? limit - d[i] : limit;
      if (candidate < at) at = candidate;
    }
    late[i] = at;
  }
  return late;
}
function snap(value, tolerance) {
  return Math.abs(value) <= tolerance ? 0 : value;
}
function indexPhases(doc) {
  if (doc.phases.length === 0) {
    throw new Refused("A timeline needs at least one phase.");
  }
  const index = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase, row) => {
    if (index.has(phase.phase)) {
      throw new Refused(`There is already a phase called “${phase.phase}”: choose another name.`);
    }
    index.set(phase.phase, row);
  });
  if (doc.target !== null && !index.has(doc.target)) {
    throw new Refused(`The target “${doc.target}” is no phase of this timeline: choose another.`);
  }
  return index;
}
function buildGraph(doc, index) {
  const sources = [];
  const targets = [];
  const codes = [];
  const linked = /* @__PURE__ */ new Set();
  const n = doc.phases.length;
  for (const link of doc.dependencies) {
    const i = index.get(link.source);
    const j = index.get(link.target);
    if (i === void 0 || j === void 0) {
      const missing = i === void 0 ? link.source : link.target;
      throw new Refused(`A dependency names “${missing}”, which is no phase of this timeline.`);
    }
    if (i === j) throw new Refused(`“${link.source}” can’t depend on itself.`);
    sources.push(i);
    targets.push(j);
    codes.push(CODES.indexOf(link.type));
    linked.add(Math.min(i, j) * n + Math.max(i, j));
  }
  const last = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase, row) => {
    if (phase.lane === null) return;
    const owner = ownerOf(phase);
    const before2 = last.get(owner);
    last.set(owner, row);
    if (before2 === void 0 || linked.has(before2 * n + row)) return;
    sources.push(before2);
    targets.push(row);
    codes.push(0);
  });
  const source = Int32Array.from(sources);
  const target = Int32Array.from(targets);
  const [into, intoAt] = sortEdges(target, n);
  const [out, outAt] = sortEdges(source, n);
  const order = topological(target, out, outAt, intoAt, n);
  if (order.length < n) throw new Refused(cycleSentence(doc, source, target, order));
  return { source, target, code: Uint8Array.from(codes), order, into, intoAt, out, outAt };
}
function ownerOf(phase) {
  const group = `group ${(phase.members ?? []).join("+")}`;
  return `${phase.rank ?? group} ${phase.lane ?? ""}`;
}
function sortEdges(end, n) {
  const at = new Int32Array(n + 1);
  for (const row of end) at[row + 1] += 1;
  for (let i = 0; i < n; i++) at[i + 1] += at[i];
  const next = at.slice();
  const edges = new Int32Array(end.length);
  end.forEach((row, e) => {
    edges[next[row]] = e;
    next[row] += 1;
  });
  return [edges, at];
}
function topological(target, out, outAt, intoAt, n) {
  const waiting = new Int32Array(n);
  const order = new Int32Array(n);
  let filled = 0;
  for (let i = 0; i < n; i++) {
    waiting[i] = intoAt[i + 1] - intoAt[i];
    if (waiting[i] === 0) order[filled++] = i;
  }
  for (let done = 0; done < filled; done++) {
    const i = order[done];
    for (let x = outAt[i]; x < outAt[i + 1]; x++) {
      const j = target[out[x]];
      waiting[j] -= 1;
      if (waiting[j] === 0) order[filled++] = j;
    }
  }
  return order.subarray(0, filled);
}
function cycleSentence(doc, source, target, free) {
  const stuck = new Uint8Array(doc.phases.length).fill(1);
  for (const row of free) stuck[row] = 0;
  const into = /* @__PURE__ */ new Map();
  for (let e = source.length - 1; e >= 0; e--) {
    if (stuck[source[e]] && stuck[target[e]]) into.set(target[e], e);
  }
  let at = into.keys().next().value;
  const seen = /* @__PURE__ */ new Map();
  const path = [];
  while (!seen.has(at)) {
    seen.set(at, path.length);
    path.push(into.get(at));
    at = source[into.get(at)];
  }
  const edges = path.slice(seen.get(at)).reverse();
  const names = edges.map((e) => `“${doc.phases[source[e]].phase}”`);
  const shown2 = names.length <= 8 ? names : [...names.slice(0, 4), "…", ...names.slice(-3)];
  const sentence = `These phases would wait for each other in a circle: ${[...shown2, names[0]].join(" → ")}.`;
  const lane = edges.find((e) => e >= doc.dependencies.length);
  if (lane === void 0) return `${sentence} Take one of these dependencies out, or turn one round.`;
  const first = doc.phases[source[lane]];
  const second = doc.phases[target[lane]];
  return `${sentence} The order of lane “${first.lane}” takes part (“${first.phase}” comes before “${second.phase}”): change their order or lane, or take a dependency out.`;
}

// page/figures.ts
function fixed(value, decimals) {
  if (Math.abs(value) >= 2 ** 53 && Number.isFinite(value)) return `${BigInt(value)}${decimals > 0 ? `.${"0".repeat(decimals)}` : ""}`;
  const text = value.toFixed(decimals);
  if (decimals > 70 || !Number.isFinite(value)) return text;
  const exact = Math.abs(value).toFixed(Math.min(100, decimals + 30));
  const rest = exact.slice(exact.length - 30);
  if (!/^50*$/.test(rest) || Number(text[text.length - 1]) % 2 === 0) return text;
  const digits = exact.slice(0, exact.length - 30).replace(/\.$/, "");
  return `${value < 0 ? "-" : ""}${digits}`;
}
function grouped(text) {
  const [whole, rest] = text.split(".");
  const apart = (whole ?? "").replace(/(\d)(?=(\d{3})+$)/g, "$1,");
  return rest === void 0 ? apart : `${apart}.${rest}`;
}
function exponential(value, digits) {
  const split = (text) => {
    const [mantissa2, exponent2] = text.split("e");
    return [mantissa2, Number(exponent2)];
  };
  const [mantissa, exponent] = split(value.toExponential(digits - 1));
  const [exact, own] = split(value.toExponential(digits + 29));
  const cut = exact.slice(0, exact.length - 30).replace(/\.$/, "");
  const tie = /^50*$/.test(exact.slice(exact.length - 30));
  return tie && Number(mantissa[mantissa.length - 1]) % 2 === 1 ? [cut, own] : [mantissa, exponent];
}
function general(value, digits = 6) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const [mantissa, power] = exponential(value, digits);
  if (power < -4 || power >= digits) {
    const short = mantissa.includes(".") ? mantissa.replace(/0+$/, "").replace(/\.$/, "") : mantissa;
    return `${short}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = fixed(value, Math.max(0, digits - 1 - power));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}
function numberText(value, digits = 3) {
  if (!Number.isFinite(value)) return general(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-4)) return general(value, digits + 1).replace("e+", "e").replace("e-0", "e-");
  if (Number.isInteger(value)) return grouped(fixed(value, 0));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const text = grouped(fixed(value, decimals));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}
var commas = (value, decimals) => grouped(fixed(value, decimals));
function shown(value) {
  if (value === null || value === void 0) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    return `${quote}${value.replace(/\\/g, "\\\\").replaceAll(quote, `\\${quote}`)}${quote}`;
  }
  return String(value).replace(/e-(\d)$/, "e-0$1");
}
var Unmeant = class extends Error {
};

// page/buckets/contention.ts
var FINISH = 0;
var START = 1;
function slowed(doc, rate) {
  const lasts = new Run(doc, rate).durations();
  return { ...doc, phases: doc.phases.map((phase, k) => ({ ...phase, duration: lasts[k] })) };
}
var Run = class {
  constructor(doc, beside) {
    this.doc = doc;
    this.beside = beside;
    const { phases } = doc;
    const n = phases.length;
    this.compute = phases.map(({ kind }) => COMPUTE_KINDS.includes(kind));
    this.exchange = phases.map(({ kind }) => kind === "exchange");
    this.owners = phases.map(({ rank, members }) => [...members ?? [rank]]);
    this.waits = new Array(n).fill(0);
    this.earliest = phases.map(({ release }) => release);
    this.after = [Array.from({ length: n }, () => []), Array.from({ length: n }, () => [])];
    for (const { source, target, lag } of solve(doc).dependencies) {
      this.waits[target] = this.waits[target] + 1;
      (this.after[FINISH]?.[source]).push([target, lag]);
    }
    this.version = new Array(n).fill(0);
    this.left = phases.map(({ duration }) => duration);
    this.rate = new Array(n).fill(1);
    this.seen = new Array(n).fill(0);
    this.started = new Array(n).fill(0);
    this.slow = new Array(n).fill(false);
  }
  doc;
  beside;
  compute;
  exchange;
  owners;
  waits;
  earliest;
  after;
  events = new Queue();
  version;
  left;
  rate;
  seen;
  started;
  slow;
  running = [/* @__PURE__ */ new Map(), /* @__PURE__ */ new Map()];
  now = 0;
  durations() {
    const lasts = this.doc.phases.map(({ duration }) => duration);
    this.waits.forEach((waits, row) => {
      if (waits === 0) this.events.push({ moment: this.earliest[row], what: START, row, version: 0 });
    });
    for (let event = this.events.pop(); event !== void 0; event = this.events.pop()) {
      const { moment, what, row, version } = event;
      if (what === FINISH && version !== this.version[row]) continue;
      this.now = moment;
      if (what === START) {
        this.start(row);
      } else {
        this.stop(row);
        if (this.slow[row]) lasts[row] = moment - this.started[row];
      }
      this.letGo(what, row);
    }
    return lasts;
  }
  letGo(what, row) {
    for (const [target, lag] of this.after[what]?.[row] ?? []) {
      this.earliest[target] = Math.max(this.earliest[target], this.now + lag);
      this.waits[target] = this.waits[target] - 1;
      if (this.waits[target] === 0) this.events.push({ moment: this.earliest[target], what: START, row: target, version: 0 });
    }
  }
  contends(row) {
    return (this.exchange[row] || this.compute[row]) && (this.doc.phases[row]?.duration ?? 0) > 0;
  }
  of(exchange, rank) {
    const held = this.running[exchange ? 1 : 0];
    const found = held.get(rank) ?? /* @__PURE__ */ new Set();
    held.set(rank, found);
    return found;
  }
  start(row) {
    this.started[row] = this.seen[row] = this.now;
    if (!this.contends(row)) {
      this.plan(row);
      return;
    }
    for (const rank of this.owners[row]) this.of(this.exchange[row], rank).add(row);
    this.turn(row);
    this.turnBeside(row);
  }
  stop(row) {
    if (!this.contends(row)) return;
    for (const rank of this.owners[row]) this.of(this.exchange[row], rank).delete(row);
    this.turnBeside(row);
  }
  turnBeside(row) {
    const others = new Set(this.owners[row].flatMap((rank) => [...this.of(!this.exchange[row], rank)]));
    for (const other of [...others].sort((a, b) => a - b)) this.turn(other);
  }
  /** Let a running phase go on at the rate that holds from now. */
  turn(row) {
    const exchange = this.exchange[row];
    const met = this.owners[row].some((rank) => this.of(!exchange, rank).size > 0);
    const rate = met && !exchange ? this.beside : 1;
    if (rate === this.rate[row] && this.version[row] !== 0) return;
    this.left[row] = Math.max(this.left[row] - this.rate[row] * (this.now - this.seen[row]), 0);
    this.seen[row] = this.now;
    this.rate[row] = rate;
    if (rate !== 1) this.slow[row] = true;
    this.plan(row);
  }
  plan(row) {
    this.version[row] = this.version[row] + 1;
    const end = this.now + this.left[row] / this.rate[row];
    this.events.push({ moment: end, what: FINISH, row, version: this.version[row] });
  }
};
var before = (a, b) => (a.moment - b.moment || a.what - b.what || a.row - b.row || a.version - b.version) < 0;
var Queue = class {
  heap = [];
  push(event) {
    const { heap } = this;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = at - 1 >> 1;
      if (!before(event, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = event;
  }
  pop() {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === void 0 || last === void 0 || heap.length === 0) return first;
    let at = 0;
    for (; ; ) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1], heap[child])) child++;
      if (!before(heap[child], last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return first;
  }
};

// page/buckets/step.ts
var MIB = 1024 * 1024;
var BYTES_PER_MS = 1e6;
function launched(gradients, cap, first) {
  const bytes = (mib2) => mib2 * MIB < Infinity ? Math.trunc(mib2 * MIB) : Infinity;
  const limits = [bytes(first ?? cap), bytes(cap)];
  const closed = [];
  const open = /* @__PURE__ */ new Map();
  gradients.forEach((gradient, place) => {
    if (gradient.sparse) {
      closed.push([place]);
      return;
    }
    const held = open.get(gradient.group) ?? { places: [], size: 0, limit: 0 };
    open.set(gradient.group, held);
    held.places.push(place);
    held.size += gradient.nbytes;
    if (held.size >= limits[held.limit]) {
      closed.push(held.places);
      held.places = [];
      held.size = 0;
      held.limit = Math.min(held.limit + 1, limits.length - 1);
    }
  });
  return [...closed, ...[...open.values()].reverse().map(({ places }) => places).filter((places) => places.length > 0)];
}
var bytesOf = (gradients, bucket) => bucket.reduce((sum, place) => sum + gradients[place].nbytes, 0);
function readyMoments(given, backward2) {
  const { gradients, leads } = given;
  if (leads !== null) {
    const longest = Math.max(...leads);
    if (longest > backward2 * (1 + 1e-12)) {
      throw new Unmeant(`backward is ${numberText(backward2, 6)} ms, but the first bucket was ready ${numberText(longest, 6)} ms before the last: give a backward at least as long`);
    }
    return (bucket) => Math.max(backward2 - Math.min(...bucket.map((place) => leads[place])), 0);
  }
  const some = gradients.some(({ nbytes }) => nbytes > 0);
  const reached = [];
  let total = 0;
  for (const { nbytes } of gradients) reached.push(total += some ? nbytes : 1);
  return (bucket) => Math.max(...bucket.map((place) => backward2 * (reached[place] / total)));
}
function stepOf(given, settings) {
  const { latency, bandwidth, backward: backward2, cap } = settings;
  const ready = readyMoments(given, backward2);
  const buckets2 = launched(given.gradients, cap, settings.first_bucket).map((bucket) => ({ ready: ready(bucket), service: latency + bytesOf(given.gradients, bucket) / (bandwidth * BYTES_PER_MS) }));
  const doc = passOf(`cap ${numberText(cap)} MiB`, given.forward, backward2, given.optimizer, buckets2);
  return settings.compute === 1 ? doc : slowed(doc, settings.compute);
}
function passOf(name, forward2, backward2, optimizer, buckets2) {
  const phases = [];
  const dependencies = [];
  const add = (phase, kind, duration, lane) => {
    phases.push({ phase, kind, rank: 0, lane, duration, release: 0 });
    return phase;
  };
  const link = (source, target) => {
    dependencies.push({ source, target, type: "FS", lag: 0, origin: "assumed" });
  };
  let last = add("input", "input", 0, "input");
  if (forward2 > 0) {
    const own = add("forward", "forward", forward2, "compute");
    link(last, own);
    last = own;
  }
  const nearEnd = backward2 * (1 - 1e-12);
  const ready = buckets2.map((bucket) => bucket.ready < nearEnd ? bucket.ready : backward2);
  const cuts = [.../* @__PURE__ */ new Set([0, backward2, ...ready])].sort((a, b) => a - b);
  const reached = /* @__PURE__ */ new Map([[0, last]]);
  cuts.slice(1).forEach((high, k) => {
    const piece = add(`backward ${k + 1}`, "backward", high - cuts[k], "compute");
    link(last, piece);
    reached.set(high, piece);
    last = piece;
  });
  let exchange = null;
  buckets2.forEach((bucket, k) => {
    exchange = add(`exchange ${k + 1}`, "exchange", bucket.service, "link");
    link(reached.get(ready[k]), exchange);
  });
  add("optimizer", "optimizer", optimizer, "compute");
  link(last, "optimizer");
  if (exchange !== null) link(exchange, "optimizer");
  return { schema: SCHEMA, name, target: null, phases, dependencies };
}

// page/buckets/picture.ts
var MIB2 = 2 ** 20;
var WITHIN = 0.01;
var KEPT = 64;
var SweepPictures = class {
  constructor(given) {
    this.given = given;
  }
  given;
  swept = /* @__PURE__ */ new Map();
  completed(settings) {
    for (const [name, value] of Object.entries(settings)) {
      if (value === null && name === "first_bucket") continue;
      if (typeof value !== "number") throw new Unmeant(`${name} is ${shown(value)}: give a number`);
    }
    return settings;
  }
  stops(settings) {
    return { ...this.given.stops, cap: this.tried(settings.cap) };
  }
  tried(cap) {
    return [.../* @__PURE__ */ new Set([...this.given.stops.cap, cap])].sort((a, b) => a - b);
  }
  timeline(settings) {
    return stepOf(this.given, settings);
  }
  picture(settings) {
    const s = settings;
    const rows = this.sweep(s);
    const note = this.unsplit(s.cap, s.first_bucket);
    return { ...pictureOf(rows, s), notes: note === "" ? [] : [note] };
  }
  sweep(s) {
    const caps = this.tried(s.cap);
    const key = JSON.stringify([caps, s.first_bucket, s.bandwidth, s.latency, s.compute, s.backward]);
    let rows = this.swept.get(key);
    if (rows !== void 0) return rows;
    const { gradients } = this.given;
    const known = /* @__PURE__ */ new Map();
    const measured = caps.map((cap) => {
      const cut = launched(gradients, cap, s.first_bucket);
      const name = cut.map((bucket) => bucket.length).join();
      let found = known.get(name);
      if (found === void 0) {
        const lastBytes = bytesOf(gradients, cut[cut.length - 1]);
        found = { ...measure(stepOf(this.given, { ...s, cap })), buckets: cut.length, overhead: s.latency * cut.length, lastBytes };
        known.set(name, found);
      }
      return { cap, ...found };
    });
    const least = Math.min(...measured.map(({ completion }) => completion));
    rows = measured.map((row) => ({ ...row, overBest: row.completion - least, near: row.completion <= least * (1 + WITHIN) }));
    if (this.swept.size >= KEPT) this.swept.clear();
    this.swept.set(key, rows);
    return rows;
  }
  /** Which tensor keeps the last bucket large; "" where none does. */
  unsplit(cap, first) {
    const { gradients } = this.given;
    const last = launched(gradients, cap, first).at(-1);
    const held = bytesOf(gradients, last);
    const largest = last.map((place) => gradients[place]).reduce((best, one) => one.nbytes > best.nbytes ? one : best);
    if (largest.nbytes <= Math.max(cap * MIB2, held / 2)) return "";
    return `The last bucket holds ${largest.name}, ${mib(largest.nbytes)}, which is never split: no cap makes it smaller.`;
  }
};
function measure(doc) {
  const solved = solve(doc);
  let backwardEnd = NaN;
  let last = -1;
  doc.phases.forEach(({ kind }, k) => {
    const finish = solved.finish[k];
    if (kind === "backward" && !(finish <= backwardEnd)) backwardEnd = finish;
    if (kind === "exchange") last = k;
  });
  const exposed = Math.max(solved.finish[last] - backwardEnd, 0);
  const queued = Math.min(Math.max(solved.start[last] - backwardEnd, 0), exposed);
  return { completion: solved.completion, backwardEnd, exposed, queued, last: exposed - queued };
}
var ms = (value) => `${numberText(value, 4)} ms`;
var mib = (nbytes) => `${numberText(nbytes / MIB2)} MiB`;
var buckets = ({ buckets: count }) => `${commas(count, 0)} bucket${count === 1 ? "" : "s"}`;
function pictureOf(rows, s) {
  const at = rows.findIndex(({ cap }) => cap === s.cap);
  const best = rows.reduce((least, row, k) => row.completion < rows[least].completion ? k : least, 0);
  const chosen = rows[at];
  const over = chosen.overBest;
  const than = over > 0 ? `${ms(over)} more than the best` : "the best there is";
  const headline = `${numberText(s.cap)} MiB: ${ms(chosen.completion)} with ${buckets(chosen)}, ${than}.`;
  const texts = (pick) => rows.map((row) => numberText(pick(row), 4));
  const figure = (name, label, value, about) => ({ name, label, value, text: ms(value), about });
  return {
    caps: rows.map(({ cap }) => cap),
    capTexts: rows.map(({ cap }) => numberText(cap)),
    completion: rows.map(({ completion }) => completion),
    queued: rows.map(({ queued }) => queued),
    last_transfer: rows.map(({ last }) => last),
    buckets: rows.map(({ buckets: count }) => count),
    near_best: rows.map(({ near }) => near),
    texts: {
      completion: texts(({ completion }) => completion),
      exposed: texts(({ exposed }) => exposed),
      queued: texts(({ queued }) => queued),
      last_transfer: texts(({ last }) => last)
    },
    chosen: at,
    best,
    headline,
    large: [
      figure("completion", "Completion", chosen.completion, `at ${numberText(s.cap)} MiB`),
      figure("exposed", "Exposed tail", chosen.exposed, "after backward ends"),
      figure("queued", "waiting for the link", chosen.queued, "behind other buckets"),
      figure("last_transfer", "the last transfer", chosen.last, `of a bucket of ${mib(chosen.lastBytes)}`)
    ],
    words: [...twoCosts(rows, s.latency), bestOf(rows, rows[best]), ...contention(chosen, s)],
    spoken: headline
  };
}
function twoCosts(rows, latency) {
  const [small, large] = [rows[0], rows[rows.length - 1]];
  let left = `Small caps cost latency: ${buckets(small)} of ${ms(latency)} each are ${ms(small.overhead)} of link time`;
  left += small.queued > 0 ? `, so when backward ends the last one still queues ${ms(small.queued)}.` : ", which backward hides here: the last one does not queue.";
  return [left, `Large caps cost overlap: with ${buckets(large)}, ${ms(large.last)} of transfer begin only when backward has ended.`];
}
function bestOf(rows, best) {
  const stretches = [];
  rows.forEach(({ cap, near }, k) => {
    const last = stretches[stretches.length - 1];
    if (near && rows[k - 1]?.near && last !== void 0) last[1] = cap;
    else if (near) stretches.push([cap, cap]);
  });
  const said = stretches.map(([a, b]) => a === b ? numberText(a) : `${numberText(a)} to ${numberText(b)}`);
  return `Best: ${numberText(best.cap)} MiB, ${ms(best.completion)} with ${buckets(best)}. Within 1 % of it: ${said.join(", ")} MiB.`;
}
function contention(chosen, s) {
  if (s.compute === 1) return [];
  return [`Overlap has a price: beside exchange compute runs at ${numberText(100 * s.compute)} % of its speed, and backward, ${ms(s.backward)} of work, ends ${ms(chosen.backwardEnd)} into the step.`];
}

// page/knobs.ts
function knobKernel(pictures, panel, settled) {
  const edition = panel.get("_shown").edition;
  const drawn = (settings) => ({ ...pictures.picture(settings), stops: pictures.stops(settings) });
  return {
    told(model, changes) {
      if (model !== panel || !("value" in changes)) return;
      const wanted = changes.value;
      try {
        const value = pictures.completed(wanted);
        const picture = drawn(value);
        model.assignAll({ _shown: { value: wanted, picture, edition } });
        settled?.(value);
      } catch (error) {
        model.assignAll({ _shown: { value: wanted, problem: reason(error), edition } });
      }
    },
    asked(model, content) {
      if (model !== panel || content.ask !== "track") return;
      const said = { id: content.id, edition };
      try {
        const settings = pictures.completed(content.value);
        const knob = String(content.knob);
        const found = [];
        for (const stop of pictures.stops(settings)[knob] ?? []) {
          const there = { ...settings, [knob]: stop };
          try {
            found.push([there, drawn(there)]);
          } catch (error) {
            if (!(error instanceof Unmeant)) throw error;
          }
        }
        model.answer({ ...said, pictures: found });
      } catch (error) {
        model.answer({ ...said, error: reason(error) });
      }
    }
  };
}
function reason(error) {
  if (!(error instanceof Unmeant)) console.error("stepviz: a page could not compute its numbers", error);
  return error instanceof Error ? error.message : String(error);
}

// page/unpacked.ts
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// page/buckets.ts
async function bucketsKernel([panel, editor], given) {
  const pictures = new SweepPictures(await unpacked(given));
  return knobKernel(pictures, panel, (settings) => editor?.assignAll({ value: pictures.timeline(settings) }));
}
export {
  bucketsKernel as default
};
