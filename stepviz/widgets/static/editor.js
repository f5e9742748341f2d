// model/closed.ts
var forget = () => {
};
var cut = (closing) => {
  closing?.comm?.on_close(forget);
  closing?.comm?.on_msg(forget);
  closing?.off?.("destroy", cut);
};
function freeWhenClosed(model) {
  model.on("destroy", cut);
  const layout = model.get("layout");
  if (canBeHeard(layout)) layout.on("destroy", cut);
}
function canBeHeard(value) {
  return typeof value === "object" && value !== null && typeof value.on === "function";
}

// model/types.ts
var SCHEMA = "stepviz.timeline/1";
var KINDS = [
  "input",
  "forward",
  "backward",
  "exchange",
  "optimizer",
  "recompute",
  "checkpoint",
  "host",
  "other"
];
var COMPUTE_KINDS = ["forward", "backward", "recompute"];
var LINK_TYPES = ["FS", "SS", "FF", "SF"];
var ORIGINS = ["assumed", "recorded", "inferred"];
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
    return doc.phases.every((phase2, row) => {
      const was = old.phases[row];
      return phase2 === was || phase2.phase === was.phase && ownerOf(phase2) === ownerOf(was);
    }) && doc.dependencies.every((link2, row) => {
      const was = old.dependencies[row];
      return link2 === was || link2.source === was.source && link2.target === was.target && link2.type === was.type;
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
    const lag2 = this.#lag;
    const d = this.durations;
    const target = doc.target === null ? -1 : index.get(doc.target);
    const start = forward(graph, d, this.releases, lag2);
    const n = d.length;
    const finish = new Float64Array(n);
    for (let i = 0; i < n; i++) finish[i] = start[i] + d[i];
    let completion = target < 0 ? -Infinity : finish[target];
    if (target < 0) {
      for (let i = 0; i < n; i++) if (finish[i] > completion) completion = finish[i];
    }
    const latestStart = backward(graph, d, lag2, completion, target);
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
      const at2 = code >= 2 ? finish[j] : start[j];
      const slack = snap(at2 - lag2[e] - head, tolerance);
      if (slack < freeFloat[i]) freeFloat[i] = slack;
      if (binding[j] === -1 && bound(head, lag2[e], code, d[j]) === start[j]) binding[j] = e;
      dependencies.push({
        source: i,
        target: j,
        type: CODES[code],
        lag: lag2[e],
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
function bound(head, lag2, code, targetDuration) {
  return code >= 2 ? head + lag2 - targetDuration : head + lag2;
}
function forward(graph, d, releases, lag2, without = -1) {
  const { source, code, into, intoAt, order } = graph;
  const start = new Float64Array(d.length);
  for (let k = 0; k < order.length; k++) {
    const j = order[k];
    if (j === without) continue;
    let at2 = 0;
    if (releases[j] > at2) at2 = releases[j];
    for (let x = intoAt[j]; x < intoAt[j + 1]; x++) {
      const e = into[x];
      const i = source[e];
      if (i === without) continue;
      const c = code[e];
      const head = c % 2 === 0 ? start[i] + d[i] : start[i];
      const candidate = bound(head, lag2[e], c, d[j]);
      if (candidate > at2) at2 = candidate;
    }
    start[j] = at2;
  }
  return start;
}
function backward(graph, d, lag2, completion, target) {
  const { target: targets, code, out, outAt, order } = graph;
  const late = new Float64Array(d.length);
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k];
    let at2 = target < 0 || target === i ? completion - d[i] : Infinity;
    for (let x = outAt[i]; x < outAt[i + 1]; x++) {
      const e = out[x];
      const j = targets[e];
      const c = code[e];
      const limit = (c >= 2 ? late[j] + d[j] : late[j]) - lag2[e];
      const candidate = c % 2 === 0 ? limit - d[i] : limit;
      if (candidate < at2) at2 = candidate;
    }
    late[i] = at2;
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
  doc.phases.forEach((phase2, row) => {
    if (index.has(phase2.phase)) {
      throw new Refused(`There is already a phase called “${phase2.phase}”: choose another name.`);
    }
    index.set(phase2.phase, row);
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
  for (const link2 of doc.dependencies) {
    const i = index.get(link2.source);
    const j = index.get(link2.target);
    if (i === void 0 || j === void 0) {
      const missing = i === void 0 ? link2.source : link2.target;
      throw new Refused(`A dependency names “${missing}”, which is no phase of this timeline.`);
    }
    if (i === j) throw new Refused(`“${link2.source}” can’t depend on itself.`);
    sources.push(i);
    targets.push(j);
    codes.push(CODES.indexOf(link2.type));
    linked.add(Math.min(i, j) * n + Math.max(i, j));
  }
  const last = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase2, row) => {
    if (phase2.lane === null) return;
    const owner = ownerOf(phase2);
    const before = last.get(owner);
    last.set(owner, row);
    if (before === void 0 || linked.has(before * n + row)) return;
    sources.push(before);
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
function ownerOf(phase2) {
  const group = `group ${(phase2.members ?? []).join("+")}`;
  return `${phase2.rank ?? group} ${phase2.lane ?? ""}`;
}
function sortEdges(end, n) {
  const at2 = new Int32Array(n + 1);
  for (const row of end) at2[row + 1] += 1;
  for (let i = 0; i < n; i++) at2[i + 1] += at2[i];
  const next = at2.slice();
  const edges = new Int32Array(end.length);
  end.forEach((row, e) => {
    edges[next[row]] = e;
    next[row] += 1;
  });
  return [edges, at2];
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
  let at2 = into.keys().next().value;
  const seen2 = /* @__PURE__ */ new Map();
  const path = [];
  while (!seen2.has(at2)) {
    seen2.set(at2, path.length);
    path.push(into.get(at2));
    at2 = source[into.get(at2)];
  }
  const edges = path.slice(seen2.get(at2)).reverse();
  const names = edges.map((e) => `“${doc.phases[source[e]].phase}”`);
  const shown = names.length <= 8 ? names : [...names.slice(0, 4), "…", ...names.slice(-3)];
  const sentence = `These phases would wait for each other in a circle: ${[...shown, names[0]].join(" → ")}.`;
  const lane = edges.find((e) => e >= doc.dependencies.length);
  if (lane === void 0) return `${sentence} Take one of these dependencies out, or turn one round.`;
  const first = doc.phases[source[lane]];
  const second = doc.phases[target[lane]];
  return `${sentence} The order of lane “${first.lane}” takes part (“${first.phase}” comes before “${second.phase}”): change their order or lane, or take a dependency out.`;
}

// model/validate.ts
function readDoc(value) {
  const data = readObject(value, "A timeline");
  if ((data["schema"] ?? SCHEMA) !== SCHEMA) {
    throw new Refused(`This timeline is ${String(data["schema"])}; this page reads ${SCHEMA}.`);
  }
  if (!Array.isArray(data["phases"])) throw new Refused("A timeline needs a list of phases.");
  const links = data["dependencies"] ?? [];
  if (!Array.isArray(links)) throw new Refused("A timeline’s dependencies are a list.");
  const target = data["target"] ?? null;
  const doc = {
    schema: SCHEMA,
    name: String(data["name"] ?? ""),
    target: target === null ? null : readName(target),
    phases: data["phases"].map(readPhase),
    dependencies: links.map(readDependency)
  };
  new FastSolver(doc);
  return doc;
}
function readPhase(value) {
  const data = readObject(value, "A phase");
  const name = readName(data["phase"]);
  const kind = data["kind"] ?? "other";
  if (!KINDS.includes(kind)) {
    throw new Refused(`The kind of “${name}” is “${String(kind)}”: choose one of ${KINDS.join(", ")}.`);
  }
  const lane = data["lane"] ?? null;
  if (lane !== null && (typeof lane !== "string" || lane === "")) {
    throw new Refused(`The lane of “${name}” must be a name, or missing.`);
  }
  const rank = data["rank"] ?? null;
  const members = data["members"] ?? null;
  if (rank !== null && members !== null) {
    throw new Refused(`“${name}” has both a rank and members: a collective has no rank of its own.`);
  }
  return {
    phase: name,
    kind,
    rank: members === null ? readRank(rank ?? 0, name) : null,
    lane,
    duration: readTime(data["duration"], "duration", name),
    release: readTime(data["release"] ?? 0, "release", name),
    ...members === null ? {} : { members: readMembers(members, name) }
  };
}
function readDependency(value) {
  const data = readObject(value, "A dependency");
  const source = readName(data["source"]);
  const target = readName(data["target"]);
  const type = data["type"] ?? "FS";
  if (!LINK_TYPES.includes(type)) {
    throw new Refused(`The type of “${source}” → “${target}” must be FS, SS, FF or SF.`);
  }
  const origin = data["origin"] ?? "assumed";
  if (!ORIGINS.includes(origin)) {
    throw new Refused(`The origin of “${source}” → “${target}” must be ${ORIGINS.join(", ")}.`);
  }
  return {
    source,
    target,
    type,
    lag: readLag(data["lag"] ?? 0, source, target),
    origin
  };
}
function readObject(value, what) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refused(`${what} is an object of names and values.`);
  }
  return value;
}
function readName(value) {
  if (typeof value !== "string" || value === "") {
    throw new Refused("A phase needs a name that is not empty.");
  }
  return value;
}
function readTime(value, what, name) {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw new Refused(
      `The ${what} of “${name}” can’t be ${String(value)}: give a finite number of ms, 0 or more.`
    );
  }
  return value + 0;
}
function readLag(value, source, target) {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new Refused(
      `The lag of “${source}” → “${target}” can’t be ${String(value)}: give a finite number of ms.`
    );
  }
  return value + 0;
}
function readRank(value, name) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw new Refused(`The rank of “${name}” can’t be ${String(value)}: ranks are whole, from 0.`);
  }
  return value;
}
function readMembers(value, name) {
  if (!Array.isArray(value) || value.length === 0) {
    throw new Refused(`The group of “${name}” needs at least one rank.`);
  }
  const found = value.map((rank) => readRank(rank, name));
  return [...new Set(found)].sort((a, b) => a - b);
}

// model/describe.ts
function formatMs(ms2) {
  if (!Number.isFinite(ms2)) return "∞";
  return String(Number(ms2.toPrecision(6))).replace("-", "−");
}
function describe(edit, before) {
  try {
    return said(edit, before);
  } catch (error) {
    if (error instanceof Refused) return edit.op;
    throw error;
  }
}
function said(edit, before) {
  switch (edit.op) {
    case "duration":
      return change(edit.phase, phase(before, edit.phase).duration, edit.duration);
    case "release":
      return edit.release === 0 ? `unpin ${edit.phase}` : `pin ${edit.phase} at ${formatMs(edit.release)} ms`;
    case "add":
      return `add ${edit.phase.phase}`;
    case "update":
      return updated(phase(before, edit.phase), edit.changes);
    case "remove":
      return `delete ${several(edit.phases)}`;
    case "scale":
      return `${several(edit.phases)} × ${formatMs(edit.factor)}`;
    case "connect":
      return `connect ${link(edit.dependency)}`;
    case "disconnect":
      return `disconnect ${link(dependencyAt(before, edit.row))}`;
    case "relink":
      return relinked(dependencyAt(before, edit.row), edit.changes);
    case "reorder":
      return edit.before === null ? `move ${edit.phase} to the end of its lane` : `move ${edit.phase} before ${edit.before}`;
    case "target":
      return edit.target === null ? "no target" : `target ${edit.target}`;
    case "replace":
      return edit.doc.name === "" ? "another timeline" : `timeline ${edit.doc.name}`;
    case "many":
      return many(edit.edits, before);
  }
}
function many(edits, before) {
  const sentences = [];
  let doc = before;
  for (const edit of edits.slice(0, 2)) {
    sentences.push(said(edit, doc));
    doc = applyEdit(doc, edit);
  }
  if (edits.length > 2) sentences.push(`${edits.length - 2} more`);
  return sentences.join(", ") || "nothing";
}
function phase(doc, name) {
  return doc.phases[rowOf(doc, name)];
}
function change(name, from, to) {
  return `${name} ${formatMs(from)} → ${formatMs(to)} ms`;
}
function several(names) {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;
}
function updated(was, changes) {
  const parts = [];
  const { duration, release } = changes;
  if (changes.phase !== void 0 && changes.phase !== was.phase) {
    parts.push(`rename ${was.phase} to ${changes.phase}`);
  }
  if (duration !== void 0 && duration !== was.duration) {
    parts.push(change(was.phase, was.duration, duration));
  }
  if (release !== void 0 && release !== was.release) {
    parts.push(release === 0 ? `unpin ${was.phase}` : `pin ${was.phase} at ${formatMs(release)} ms`);
  }
  if (changes.kind !== void 0 && changes.kind !== was.kind) {
    parts.push(`${was.phase} is ${changes.kind}`);
  }
  if (changes.lane !== void 0 && changes.lane !== was.lane) {
    parts.push(changes.lane === null ? `${was.phase} without a lane` : `${was.phase} on lane ${changes.lane}`);
  }
  if (changes.members !== void 0) {
    parts.push(`${was.phase} on ranks ${changes.members.join(", ")}`);
  } else if (typeof changes.rank === "number" && changes.rank !== was.rank) {
    parts.push(`${was.phase} on rank ${changes.rank}`);
  }
  return parts.join(", ") || was.phase;
}
function relinked(was, changes) {
  const next = { ...was, ...changes };
  if (next.source === was.source && next.target === was.target) {
    if (next.type === was.type) {
      return `lag ${was.source} → ${was.target}: ${formatMs(was.lag)} → ${formatMs(next.lag)} ms`;
    }
    return `${was.source} → ${was.target}: ${ends(was)} → ${ends(next)}`;
  }
  return `${link(was)} becomes ${link(next)}`;
}
function link(d) {
  return `${d.source} → ${d.target} (${ends(d)})`;
}
function ends(d) {
  if (d.lag === 0) return d.type;
  return `${d.type} ${d.lag > 0 ? "+" : ""}${formatMs(d.lag)}`;
}

// model/python.ts
function toPython(before, edits) {
  const lines = [];
  let doc = before;
  for (const edit of flatten(edits)) {
    const after2 = applyEdit(doc, edit);
    lines.push(...statements(doc, edit, after2));
    doc = after2;
  }
  if (lines.some((line) => line.includes("sv."))) lines.unshift("import stepviz as sv", "");
  return lines.map((line) => `${line}
`).join("");
}
function flatten(edits) {
  return edits.flatMap((edit) => edit.op === "many" ? flatten(edit.edits) : [edit]);
}
function statements(doc, edit, after2) {
  if (after2 === doc) return [];
  switch (edit.op) {
    case "duration":
      return [call("with_duration", text(edit.phase), float(edit.duration))];
    case "release":
      return [call("with_release", text(edit.phase), float(edit.release))];
    case "add": {
      const added = after2.phases.find((phase2) => phase2.phase === edit.phase.phase);
      const place = edit.after === void 0 ? [] : [`after=${text(edit.after)}`];
      return [call("with_phase", text(added.phase), ...columns(added, true), ...place)];
    }
    case "update": {
      const was = doc.phases[rowOf(doc, edit.phase)];
      const now = after2.phases[rowOf(doc, edit.phase)];
      return [call("with_phase", text(edit.phase), ...changed(was, now))];
    }
    case "remove":
      return [call("without", one(edit.phases))];
    case "scale":
      return [scaled(doc, edit.phases, edit.factor)];
    case "connect":
      return [connected(after2.dependencies.at(-1))];
    case "disconnect": {
      const link2 = dependencyAt(doc, edit.row);
      return single(doc, link2) ? [disconnected(link2)] : whole(after2);
    }
    case "relink": {
      const was = dependencyAt(doc, edit.row);
      if (!single(doc, was)) return whole(after2);
      const { changes } = edit;
      const now = { ...was, ...changes };
      if (was.origin === now.origin && sameEnds(was, now)) {
        const { source, target, lag: lag2, type } = dependencyAt(after2, edit.row);
        return [call("with_lag", text(source), text(target), float(lag2), `type=${text(type)}`)];
      }
      return [disconnected(was), connected(after2.dependencies.at(-1))];
    }
    case "reorder": {
      const row = rowOf(after2, edit.phase);
      if (row === 0) return toFront(doc, edit.phase);
      return [call("with_phase", text(edit.phase), `after=${text(after2.phases[row - 1].phase)}`)];
    }
    case "target":
      return [call("with_target", edit.target === null ? "None" : text(edit.target))];
    case "replace":
      return whole(after2);
    case "many":
      return [];
  }
}
function call(method, ...args) {
  return `timeline = timeline.${method}(${args.join(", ")})`;
}
function columns(phase2, all) {
  const given = [`kind=${text(phase2.kind)}`];
  if (phase2.members === void 0) given.push(`rank=${phase2.rank}`);
  else given.push(`members=[${phase2.members.join(", ")}]`);
  if (phase2.lane !== null) given.push(`lane=${text(phase2.lane)}`);
  given.push(`duration=${float(phase2.duration)}`);
  if (all && phase2.release !== 0) given.push(`release=${float(phase2.release)}`);
  return given;
}
function changed(was, now) {
  const given = [];
  if (now.phase !== was.phase) given.push(`rename=${text(now.phase)}`);
  if (now.kind !== was.kind) given.push(`kind=${text(now.kind)}`);
  if (now.members !== void 0) {
    if (String(now.members) !== String(was.members ?? "")) {
      given.push(`members=[${now.members.join(", ")}]`);
    }
  } else if (now.rank !== was.rank) {
    given.push(`rank=${now.rank}`);
  }
  if (now.lane !== was.lane) given.push(`lane=${now.lane === null ? "None" : text(now.lane)}`);
  if (now.duration !== was.duration) given.push(`duration=${float(now.duration)}`);
  if (now.release !== was.release) given.push(`release=${float(now.release)}`);
  return given;
}
function scaled(doc, names, factor) {
  const chosen = new Set(names);
  const phases = doc.phases.filter((phase2) => chosen.has(phase2.phase));
  const kind = phases[0].kind;
  const whole2 = phases.length > 1 && doc.phases.every((phase2) => phase2.kind === kind === chosen.has(phase2.phase));
  const which = whole2 ? `kind=${text(kind)}` : one(phases.map((phase2) => phase2.phase));
  return call("scale", which, `factor=${float(factor)}`);
}
function connected(link2) {
  const args = [text(link2.source), text(link2.target), text(link2.type), float(link2.lag)];
  if (link2.origin !== "assumed") args.push(`origin=${text(link2.origin)}`);
  return call("connect", ...args);
}
function disconnected(link2) {
  return call("disconnect", text(link2.source), text(link2.target), text(link2.type));
}
function single(doc, link2) {
  return doc.dependencies.filter((other) => sameEnds(other, link2)).length === 1;
}
function toFront(doc, name) {
  return [
    "document = timeline.to_dict()",
    `document["phases"].insert(0, document["phases"].pop(${rowOf(doc, name)}))`,
    "timeline = sv.Timeline.from_dict(document)"
  ];
}
function whole(doc) {
  return [`timeline = sv.Timeline.from_dict(${literal(doc)})`];
}
function one(names) {
  return names.length === 1 ? text(names[0]) : `[${names.map(text).join(", ")}]`;
}
function text(value) {
  return JSON.stringify(value);
}
function float(value) {
  const digits = String(value);
  return /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
}
function literal(value, key = "") {
  if (value === null || value === void 0) return "None";
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    return key === "rank" || key === "members" ? String(value) : float(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, key)).join(", ")}]`;
  const pairs2 = Object.entries(value).map(([k, v]) => `${text(k)}: ${literal(v, k)}`);
  return `{${pairs2.join(", ")}}`;
}

// model/edits.ts
function applyEdit(doc, edit) {
  switch (edit.op) {
    case "duration":
      return withPhase(doc, edit.phase, { duration: readTime(edit.duration, "duration", edit.phase) });
    case "release":
      return withPhase(doc, edit.phase, { release: readTime(edit.release, "release", edit.phase) });
    case "add":
      return addPhase(doc, edit.phase, edit.after);
    case "update":
      return updatePhase(doc, edit.phase, edit.changes);
    case "remove":
      return removePhases(doc, edit.phases);
    case "scale":
      return scalePhases(doc, edit.phases, edit.factor);
    case "connect":
      return connect(doc, edit.dependency);
    case "disconnect":
      dependencyAt(doc, edit.row);
      return { ...doc, dependencies: doc.dependencies.filter((_, row) => row !== edit.row) };
    case "relink":
      return relink(doc, edit.row, edit.changes);
    case "reorder":
      return reorder(doc, edit.phase, edit.before);
    case "target":
      if (edit.target !== null) rowOf(doc, edit.target);
      return edit.target === doc.target ? doc : { ...doc, target: edit.target };
    case "replace": {
      const next = readDoc(edit.doc);
      return sameDoc(next, doc) ? doc : next;
    }
    case "many":
      return edit.edits.reduce(applyEdit, doc);
  }
}
function sameDoc(a, b) {
  return a === b || a.name === b.name && a.target === b.target && a.phases.length === b.phases.length && a.dependencies.length === b.dependencies.length && a.phases.every((phase2, row) => samePhase(phase2, b.phases[row])) && a.dependencies.every((link2, row) => sameLink(link2, b.dependencies[row]));
}
function rebase(edit, from, onto) {
  if (edit.op === "many") {
    const edits = [];
    let a = from;
    let b = onto;
    for (const one2 of edit.edits) {
      const moved = rebase(one2, a, b);
      edits.push(moved);
      a = applyEdit(a, one2);
      b = applyEdit(b, moved);
    }
    return { ...edit, edits };
  }
  if (edit.op !== "disconnect" && edit.op !== "relink") return edit;
  const was = dependencyAt(from, edit.row);
  const here = onto.dependencies[edit.row];
  if (here !== void 0 && sameEnds(here, was)) return edit;
  const row = onto.dependencies.findIndex((link2) => sameEnds(link2, was));
  if (row < 0) {
    throw new Refused(
      `The dependency from “${was.source}” to “${was.target}” (${was.type}) is no longer there.`
    );
  }
  return { ...edit, row };
}
function rowOf(doc, name) {
  const row = doc.phases.findIndex((phase2) => phase2.phase === name);
  if (row < 0) throw new Refused(`There is no phase called “${name}”.`);
  return row;
}
function dependencyAt(doc, row) {
  const link2 = doc.dependencies[row];
  if (link2 === void 0) throw new Refused("That dependency is no longer there.");
  return link2;
}
function withPhase(doc, name, changes) {
  const row = rowOf(doc, name);
  const phase2 = { ...doc.phases[row], ...changes };
  if (samePhase(phase2, doc.phases[row])) return doc;
  const phases = doc.phases.slice();
  phases[row] = phase2;
  return { ...doc, phases };
}
function addPhase(doc, phase2, after2) {
  const name = readName(phase2.phase);
  refuseTaken(doc, name);
  const checked = checkPhase({ ...phase2, phase: name });
  const phases = doc.phases.slice();
  phases.splice(after2 === void 0 ? phases.length : rowOf(doc, after2) + 1, 0, checked);
  return solvable({ ...doc, phases });
}
function updatePhase(doc, name, changes) {
  const row = rowOf(doc, name);
  const was = doc.phases[row];
  const merged = { ...was, ...changes };
  if (changes.members !== void 0) Object.assign(merged, { rank: null });
  else if (typeof changes.rank === "number") delete merged.members;
  const phase2 = checkPhase(merged);
  if (samePhase(phase2, was)) return doc;
  const phases = doc.phases.slice();
  phases[row] = phase2;
  const renamed2 = phase2.phase;
  if (renamed2 === name) return solvable({ ...doc, phases });
  refuseTaken(doc, renamed2);
  const to = (end) => end === name ? renamed2 : end;
  return solvable({
    ...doc,
    target: doc.target === null ? null : to(doc.target),
    phases,
    dependencies: doc.dependencies.map(
      (link2) => link2.source === name || link2.target === name ? { ...link2, source: to(link2.source), target: to(link2.target) } : link2
    )
  });
}
function removePhases(doc, names) {
  const gone = new Set(names);
  for (const name of gone) rowOf(doc, name);
  if (gone.size === 0) return doc;
  if (gone.size === doc.phases.length) {
    throw new Refused("A timeline needs at least one phase: keep one of them.");
  }
  if (doc.target !== null && gone.has(doc.target)) {
    throw new Refused(
      `“${doc.target}” is the target, whose finish is the completion: choose another target first.`
    );
  }
  return solvable({
    ...doc,
    phases: doc.phases.filter((phase2) => !gone.has(phase2.phase)),
    dependencies: doc.dependencies.filter((d) => !gone.has(d.source) && !gone.has(d.target))
  });
}
function scalePhases(doc, names, factor) {
  if (!Number.isFinite(factor) || factor < 0) {
    throw new Refused("A factor is a finite number of 0 or more.");
  }
  const scaled2 = new Set(names);
  for (const name of scaled2) rowOf(doc, name);
  if (factor === 1 || scaled2.size === 0) return doc;
  const phases = doc.phases.map(
    (phase2) => scaled2.has(phase2.phase) ? { ...phase2, duration: readTime(phase2.duration * factor, "duration", phase2.phase) } : phase2
  );
  return { ...doc, phases };
}
function connect(doc, dependency) {
  const link2 = checkLink(doc, dependency);
  refuseTwin(doc, link2, -1);
  return solvable({ ...doc, dependencies: [...doc.dependencies, link2] });
}
function relink(doc, row, changes) {
  const was = dependencyAt(doc, row);
  const link2 = checkLink(doc, { ...was, ...changes });
  if (sameLink(link2, was)) return doc;
  if (sameEnds(link2, was) && link2.origin === was.origin) {
    return { ...doc, dependencies: doc.dependencies.map((other, at2) => at2 === row ? link2 : other) };
  }
  const dependencies = [...doc.dependencies.filter((_, at2) => at2 !== row), link2];
  if (sameEnds(link2, was)) return { ...doc, dependencies };
  refuseTwin(doc, link2, row);
  return solvable({ ...doc, dependencies });
}
function reorder(doc, name, before) {
  const row = rowOf(doc, name);
  const moved = doc.phases[row];
  if (moved.lane === null) {
    throw new Refused(`“${name}” has no lane, so no order: give it a lane first.`);
  }
  const mates = (phase2) => phase2.rank === moved.rank && phase2.lane === moved.lane;
  if (before === name) return doc;
  if (before !== null && !mates(doc.phases[rowOf(doc, before)])) {
    throw new Refused(`“${before}” is in another lane than “${name}”: order them by a dependency.`);
  }
  const rest = doc.phases.filter((_, k) => k !== row);
  const lastMate = rest.findLastIndex(mates);
  if (lastMate < 0) return doc;
  const at2 = before === null ? lastMate + 1 : rest.findIndex((phase2) => phase2.phase === before);
  const next = doc.phases.slice(row + 1).find(mates)?.phase ?? null;
  if (next === before) return doc;
  const phases = [...rest.slice(0, at2), moved, ...rest.slice(at2)];
  return solvable({ ...doc, phases });
}
function checkPhase(phase2) {
  const name = readName(phase2.phase);
  if (!KINDS.includes(phase2.kind)) {
    throw new Refused(`“${phase2.kind}” is no kind: choose one of ${KINDS.join(", ")}.`);
  }
  const members = phase2.members === void 0 ? void 0 : readMembers(phase2.members, name);
  if (phase2.rank === null && members === void 0) {
    throw new Refused(`“${name}” needs a rank, or the ranks of its group.`);
  }
  return {
    phase: name,
    kind: phase2.kind,
    rank: members === void 0 ? readRank(phase2.rank, name) : null,
    lane: phase2.lane === "" ? null : phase2.lane,
    duration: readTime(phase2.duration, "duration", name),
    release: readTime(phase2.release, "release", name),
    ...members === void 0 ? {} : { members }
  };
}
function checkLink(doc, link2) {
  rowOf(doc, link2.source);
  rowOf(doc, link2.target);
  if (link2.source === link2.target) {
    throw new Refused(`“${link2.source}” can’t depend on itself.`);
  }
  if (!LINK_TYPES.includes(link2.type)) {
    throw new Refused(`“${link2.type}” is no type of dependency: choose FS, SS, FF or SF.`);
  }
  if (!ORIGINS.includes(link2.origin)) {
    throw new Refused(`“${link2.origin}” is no origin: choose ${ORIGINS.join(", ")}.`);
  }
  return { ...link2, lag: readLag(link2.lag, link2.source, link2.target) };
}
function refuseTaken(doc, name) {
  if (doc.phases.some((phase2) => phase2.phase === name)) {
    throw new Refused(`There is already a phase called “${name}”: choose another name.`);
  }
}
function refuseTwin(doc, link2, except) {
  if (doc.dependencies.some((other, row) => row !== except && sameEnds(other, link2))) {
    throw new Refused(
      `“${link2.source}” → “${link2.target}” (${link2.type}) is there already: change its lag instead.`
    );
  }
}
function solvable(doc) {
  new FastSolver(doc);
  return doc;
}
function samePhase(a, b) {
  return a === b || a.phase === b.phase && a.kind === b.kind && a.rank === b.rank && a.lane === b.lane && a.duration === b.duration && a.release === b.release && String(a.members ?? "") === String(b.members ?? "");
}
function sameEnds(a, b) {
  return a.source === b.source && a.target === b.target && a.type === b.type;
}
function sameLink(a, b) {
  return a === b || sameEnds(a, b) && a.lag === b.lag && a.origin === b.origin;
}

// model/history.ts
var LONGEST = 500;
function fresh(doc) {
  return { doc, from: doc, steps: [] };
}
function advance(state, edit, doc) {
  return { doc, from: state.from, steps: [...state.steps, { edit, doc }] };
}
var History = class {
  #past = [];
  #future = [];
  get undoable() {
    return this.#past.at(-1);
  }
  get redoable() {
    return this.#future.at(-1);
  }
  push(entry) {
    this.#past.push(entry);
    if (this.#past.length > LONGEST) this.#past.shift();
    this.#future = [];
  }
  undo() {
    const entry = this.#past.pop();
    if (entry !== void 0) this.#future.push(entry);
    return entry;
  }
  redo() {
    const entry = this.#future.pop();
    if (entry !== void 0) this.#past.push(entry);
    return entry;
  }
  /** Forget an entry and all after it, as if they had never been. */
  dropFrom(entry) {
    const at2 = this.#past.indexOf(entry);
    if (at2 < 0) return false;
    this.#past.length = at2;
    this.#future = [];
    return true;
  }
};
function editsSince(origin, state) {
  const made = edited(origin, state);
  const differing = difference(origin, state.doc);
  if (made === null) return differing ?? [{ op: "replace", doc: state.doc }];
  return differing !== null && differing.length < made.length ? differing : made;
}
function edited(origin, state) {
  const at2 = state.steps.findLastIndex((step) => sameDoc(step.doc, origin));
  if (at2 < 0 && !sameDoc(state.from, origin)) return null;
  return state.steps.slice(at2 + 1).map((step) => step.edit);
}
function difference(a, b) {
  if (a.phases.length !== b.phases.length) return null;
  if (a.dependencies.length !== b.dependencies.length) return null;
  const edits = [];
  b.phases.forEach(({ phase: phase2, duration, release }, row) => {
    if (phase2 !== a.phases[row].phase) return;
    if (duration !== a.phases[row].duration) edits.push({ op: "duration", phase: phase2, duration });
    if (release !== a.phases[row].release) edits.push({ op: "release", phase: phase2, release });
  });
  b.dependencies.forEach(({ lag: lag2 }, row) => {
    if (lag2 !== a.dependencies[row].lag) edits.push({ op: "relink", row, changes: { lag: lag2 } });
  });
  if (a.target !== b.target) edits.push({ op: "target", target: b.target });
  try {
    return sameDoc(applyEdit(a, { op: "many", edits }), b) ? edits : null;
  } catch {
    return null;
  }
}

// model/ledger.ts
var Ledger = class {
  history = new History();
  #state;
  #solver;
  #solved;
  constructor(doc) {
    this.#state = fresh(doc);
    this.#solver = new FastSolver(doc);
    this.#solved = this.#solver.solve();
  }
  get state() {
    return this.#state;
  }
  get doc() {
    return this.#state.doc;
  }
  get solved() {
    return this.#solved;
  }
  /** Solve any document; quick where only numbers differ from the one before. */
  solve(doc) {
    if (!this.#solver.fits(doc)) this.#solver = new FastSolver(doc);
    return this.#solver.update(doc);
  }
  show(state) {
    this.#state = state;
    this.#solved = this.solve(state.doc);
  }
  /** Show Python's schedule of the committed document in place of the page's own. */
  correct(solved) {
    this.#solved = solved;
  }
  /** Commit a state as one entry to undo; null where it is the same timeline. */
  record(state, label) {
    if (sameDoc(state.doc, this.doc)) return null;
    const entry = { label, before: this.#state, after: state };
    this.history.push(entry);
    this.show(state);
    return entry;
  }
  /** Commit an edit; null where it changes nothing. Throws Refused. */
  edit(edit, label) {
    const doc = applyEdit(this.doc, edit);
    if (doc === this.doc) return null;
    return this.record(advance(this.#state, edit, doc), label ?? describe(edit, this.doc));
  }
};

// model/scenarios.ts
var Scenarios = class {
  #model;
  #first;
  #docs = /* @__PURE__ */ new Map();
  /** How states kept on this page came about; scenarios from Python have no such story. */
  #states = /* @__PURE__ */ new Map();
  #baseline;
  /** Which of several equal scenarios is meant. */
  #baselineHint = null;
  #hint = null;
  constructor(model, first) {
    this.#model = model;
    this.#first = first;
    this.#baseline = solve(first);
    this.read();
  }
  /** Read both traits again; what can't be read is left out. */
  read() {
    const docs = /* @__PURE__ */ new Map();
    for (const [name, value] of Object.entries(this.#model.get("scenarios") ?? {})) {
      const doc = readable(value);
      if (doc !== null) docs.set(name, doc);
    }
    const baseline = readable(this.#model.get("baseline")) ?? this.#first;
    if (!sameDoc(baseline, this.#baseline.doc)) this.#baseline = solve(baseline);
    this.#docs = docs;
  }
  write() {
    this.#model.set("scenarios", Object.fromEntries(this.#docs));
    this.#model.set("baseline", this.#baseline.doc);
  }
  get baseline() {
    return this.#baseline;
  }
  get baselineName() {
    return this.#find(this.#baseline.doc, this.#baselineHint) ?? "baseline";
  }
  get names() {
    return [...this.#docs.keys()];
  }
  nameOf(doc) {
    return this.#find(doc, this.#hint);
  }
  /** Where several scenarios are equal, the last one that was asked for. */
  prefer(name) {
    this.#hint = name;
  }
  solved(name) {
    return solve(this.#get(name));
  }
  state(name) {
    const doc = this.#get(name);
    const state = this.#states.get(name);
    return state !== void 0 && sameDoc(state.doc, doc) ? state : fresh(doc);
  }
  keep(state, name) {
    const known = name === void 0 ? this.nameOf(state.doc) : null;
    if (known !== null) return known;
    const kept = name ?? this.#nextLetter();
    if (kept.trim() === "") throw new Refused("A scenario needs a name that is not empty.");
    this.#docs.set(kept, state.doc);
    this.#states.set(kept, state);
    this.#hint = kept;
    return kept;
  }
  forget(name) {
    this.#get(name);
    if (name === this.baselineName) {
      throw new Refused(`“${name}” is the baseline: choose another baseline first.`);
    }
    this.#docs.delete(name);
    this.#states.delete(name);
  }
  setBaseline(name) {
    this.#baseline = solve(this.#get(name));
    this.#baselineHint = name;
  }
  #get(name) {
    const doc = this.#docs.get(name);
    if (doc === void 0) throw new Refused(`There is no scenario called “${name}”.`);
    return doc;
  }
  #find(doc, hint) {
    const hinted = hint === null ? void 0 : this.#docs.get(hint);
    if (hinted !== void 0 && sameDoc(hinted, doc)) return hint;
    for (const [name, other] of this.#docs) if (sameDoc(other, doc)) return name;
    return null;
  }
  /** A … Z, then A2 … */
  #nextLetter() {
    for (let k = 0; ; k++) {
      const round2 = Math.floor(k / 26);
      const name = String.fromCharCode(65 + k % 26) + (round2 === 0 ? "" : String(round2 + 1));
      if (!this.#docs.has(name)) return name;
    }
  }
};
function readable(value) {
  if (value === null || value === void 0) return null;
  try {
    return readDoc(value);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

// model/follow.ts
function linkName(doc, row) {
  const link2 = doc.dependencies[row];
  if (link2 === void 0) return null;
  const { source, target, type } = link2;
  const nth = doc.dependencies.slice(0, row).filter((other) => sameEnds(other, link2)).length;
  return { source, target, type, nth };
}
function linkRow(doc, name) {
  let left = name.nth;
  return doc.dependencies.findIndex((link2) => sameEnds(link2, name) && left-- === 0);
}
function renamed(before, after2) {
  if (before.phases.length !== after2.phases.length) return null;
  let found = null;
  for (const [row, { phase: phase2 }] of before.phases.entries()) {
    const now = after2.phases[row].phase;
    if (now === phase2) continue;
    if (found !== null) return null;
    found = [phase2, now];
  }
  return found;
}
function followPhase(name, before, after2) {
  if (after2.phases.some((phase2) => phase2.phase === name)) return name;
  const change2 = renamed(before, after2);
  return change2?.[0] === name ? change2[1] : null;
}
function followLink(row, before, after2) {
  if (before === after2) return row;
  const change2 = renamed(before, after2);
  const to = (end) => change2?.[0] === end ? change2[1] : end;
  const now = (link2) => change2 === null ? link2 : { ...link2, source: to(link2.source), target: to(link2.target) };
  const was = linkName({ ...before, dependencies: before.dependencies.map(now) }, row);
  if (was === null) return null;
  const same2 = linkRow(after2, was);
  if (same2 >= 0) return same2;
  const gone = before.dependencies.filter(
    (link2) => !after2.dependencies.some((other) => sameEnds(other, now(link2)))
  );
  const made = after2.dependencies.filter(
    (link2) => !before.dependencies.some((other) => sameEnds(now(other), link2))
  );
  return gone.length === 1 && made.length === 1 ? after2.dependencies.indexOf(made[0]) : null;
}

// model/protocol.ts
function readRevision(value) {
  const given = value ?? {};
  return { page: String(given.page ?? ""), number: Number(given.number ?? 0) };
}
function readAnswer(value) {
  if (typeof value !== "object" || value === null || !("revision" in value)) return null;
  return value;
}
function sameRevision(a, b) {
  return a.page === b.page && a.number === b.number;
}
function pageName() {
  return Math.random().toString(36).slice(2, 10) || "page";
}
var finite = (value) => value === null ? Infinity : value;
function solvedByPython(answer, own) {
  if (answer.start.length !== own.start.length) return null;
  return {
    ...own,
    start: Float64Array.from(answer.start),
    finish: Float64Array.from(answer.finish),
    latestStart: Float64Array.from(answer.latest_start, finite),
    latestFinish: Float64Array.from(answer.latest_finish, finite),
    totalFloat: Float64Array.from(answer.total_float, finite),
    freeFloat: Float64Array.from(answer.free_float, finite),
    critical: Uint8Array.from(answer.critical, Number),
    binding: Int32Array.from(answer.binding),
    completion: answer.completion
  };
}
function sameSchedule(a, b) {
  return a.completion === b.completion && same(a.start, b.start) && same(a.finish, b.finish) && same(a.latestStart, b.latestStart) && same(a.latestFinish, b.latestFinish) && same(a.totalFloat, b.totalFloat) && same(a.freeFloat, b.freeFloat) && same(a.critical, b.critical) && same(a.binding, b.binding);
}
function same(a, b) {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

// model/wire.ts
var PATIENCE = 3e3;
var SILENT = "The kernel is not answering: your edits stay here.";
var Wire = class {
  #host;
  #page = pageName();
  #number = 0;
  /** The revision of the committed document … */
  #revision;
  /** … and the document it is about: one that a link in the page brought has no revision yet. */
  #about;
  /** What was said of an answer unlike the page's own, until one agrees. */
  #disagreement = "";
  #value;
  #answer;
  /** What came while a bar was being dragged. */
  #pending = null;
  #sent = [];
  #timer;
  #closed = false;
  constructor(host) {
    this.#host = host;
    this.#value = host.model.get("value");
    this.#answer = host.model.get("_answer");
    this.#revision = readRevision(host.model.get("_revision"));
    this.#about = host.ledger.doc;
  }
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
  // To Python
  /** Send a commit: the value and its revision, in one save. */
  send(entry, edit) {
    this.#save(true);
    const { kernel } = this.#host.status;
    this.#host.setStatus({ message: kernel === "silent" ? SILENT : null, level: "info" });
    if (kernel !== "none") {
      this.#sent.push({ revision: this.#revision, entry, edit });
      this.#timer ??= setTimeout(() => this.#fallSilent(), PATIENCE);
      if (kernel === "live") this.#host.setStatus({ kernel: "waiting" });
    }
    this.#host.changed();
  }
  #save(withValue) {
    if (this.#closed) return;
    const { model, ledger } = this.#host;
    const before = this.#about;
    this.#about = ledger.doc;
    this.#revision = { page: this.#page, number: ++this.#number };
    this.#host.write(() => {
      if (withValue) {
        model.set("value", ledger.doc);
        this.#value = ledger.doc;
      }
      model.set("_revision", this.#revision);
      const selected = model.get("selected");
      if (typeof selected === "string" && !ledger.solved.index.has(selected)) {
        model.set("selected", followPhase(selected, before, ledger.doc));
      }
      model.save_changes();
    });
  }
  #fallSilent() {
    this.#timer = void 0;
    this.#host.setStatus({ kernel: "silent", message: SILENT, level: "info" });
  }
  // From outside
  /** Look at what the model holds now; called on each change, in whichever order they come. */
  receive() {
    const { model, dragging, ledger } = this.#host;
    const value = model.get("value");
    const revision = readRevision(model.get("_revision"));
    if (value !== this.#value) {
      this.#value = value;
      const known = this.#pending?.revision ?? this.#revision;
      const news = this.#read(value, revision, sameRevision(revision, known));
      const held = this.#pending === null && this.#about === ledger.doc ? ledger.doc : this.#pending?.doc;
      const echo = news?.fromPage && held !== void 0 && sameDoc(news.doc, held);
      if (news !== null && !echo) {
        if (dragging) this.#pending = news;
        else this.#adopt(news);
      }
    } else if (this.#pending === null && revision.page !== this.#page) {
      this.#revision = revision;
    }
    this.#receiveAnswer();
  }
  #read(value, revision, fromPage) {
    try {
      return { doc: readDoc(value), revision, fromPage };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const message = `A timeline that came from outside was refused: ${error.message}`;
      this.#host.setStatus({ message, level: "error" });
      queueMicrotask(() => this.#save(true));
      return null;
    }
  }
  /** After a gesture: take what came meanwhile, and put the gesture's edit on top of it. */
  finish(edit) {
    const { ledger } = this.#host;
    const before = ledger.doc;
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) this.#adopt(pending);
    if (edit === null) return;
    try {
      const moved = pending === null ? edit : rebase(edit, before, ledger.doc);
      const entry = ledger.edit(moved);
      if (entry !== null) this.send(entry, moved);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const why = pending === null ? error.message : `Another timeline came while you dragged, and the edit no longer fits: ${error.message}`;
      this.#host.setStatus({ message: why, level: "refused" });
    }
  }
  /** Take a timeline from outside, and make again on it what Python had not seen yet. */
  #adopt({ doc, revision, fromPage }) {
    const { model, ledger } = this.#host;
    const answer = readAnswer(model.get("_answer"));
    const rejected = !fromPage && answer?.rejected?.page === this.#page ? answer.rejected.number : 0;
    const refused = this.#sent.find((sent) => sent.revision.number === rejected);
    const unseen = fromPage ? [] : this.#sent.filter((sent) => sent.revision.number > rejected);
    const origin = unseen[0]?.entry.before.doc ?? ledger.doc;
    this.#sent = [];
    this.#revision = revision;
    const restored = refused !== void 0 && ledger.history.dropFrom(refused.entry);
    if (restored) ledger.show(refused.entry.before);
    const state = advance(ledger.state, { op: "replace", doc }, doc);
    if (!restored) ledger.record(state, `timeline from ${whence(revision, fromPage)}`);
    else if (!sameDoc(doc, ledger.doc)) ledger.show(state);
    if (!fromPage) this.#about = ledger.doc;
    if (unseen.length > 0) this.#replay(unseen, origin);
    else if (fromPage) queueMicrotask(() => this.#save(false));
    this.#host.changed();
    this.#answer = null;
    this.#receiveAnswer();
  }
  #replay(unseen, origin) {
    const { ledger } = this.#host;
    let from = origin;
    let made = false;
    for (const { edit, entry } of unseen) {
      try {
        if (edit === null) throw new Refused(`“${entry.label}” came too late.`);
        const moved = rebase(edit, from, ledger.doc);
        const again = ledger.edit(moved);
        if (again !== null) this.send(again, moved);
        made ||= again !== null;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const message = `Python set another timeline meanwhile. ${error.message}`;
        this.#host.setStatus({ message, level: "refused" });
      }
      from = entry.after.doc;
    }
    if (!made) this.#save(true);
  }
  #receiveAnswer() {
    const raw = this.#host.model.get("_answer");
    if (raw === this.#answer) return;
    this.#answer = raw;
    const answer = readAnswer(raw);
    if (answer === null || this.#host.status.kernel === "none") return;
    const known = this.#about === this.#host.ledger.doc;
    const latest = known && sameRevision(answer.revision, this.#revision);
    const mine = answer.revision.page === this.#page || answer.rejected?.page === this.#page;
    if (!latest && !mine) return;
    clearTimeout(this.#timer);
    this.#timer = void 0;
    if (answer.error !== null) {
      const message = `Python refused what the page sent and put it right: ${answer.error}`;
      this.#host.setStatus({ kernel: "live", message, level: "error" });
    }
    if (latest) {
      this.#sent = [];
      if (answer.error === null) this.#compare(answer);
      return;
    }
    this.#sent = this.#sent.filter((sent) => sent.revision.number > answer.revision.number);
    if (this.#sent.length > 0) this.#timer = setTimeout(() => this.#fallSilent(), PATIENCE);
  }
  #compare(answer) {
    const { ledger, status } = this.#host;
    const over = status.message === SILENT || status.message === this.#disagreement;
    this.#host.setStatus({ kernel: "live", message: over ? null : status.message });
    const own = ledger.solve(ledger.doc);
    const python = solvedByPython(answer, own);
    if (python !== null && sameSchedule(python, own)) {
      if (sameSchedule(own, ledger.solved)) return;
      ledger.correct(own);
      this.#host.changed();
      return;
    }
    const both = `Python’s schedule (${answer.completion} ms) differs from the page’s (${own.completion} ms)`;
    const message = python === null ? `${both}.` : `${both}: Python’s is shown.`;
    this.#disagreement = message;
    this.#host.setStatus({ message, level: "error" });
    if (python === null) return;
    ledger.correct(python);
    this.#host.changed();
  }
};
function whence(revision, fromPage) {
  if (fromPage) return "a linked widget";
  return revision.page === "" ? "Python" : "another window";
}

// model/session.ts
var sessions = /* @__PURE__ */ new WeakMap();
var Session = class _Session {
  #model;
  #ledger;
  #wire;
  #scenarios;
  #closed = new AbortController();
  #heard = [];
  #listeners = /* @__PURE__ */ new Set();
  #preview = null;
  #gesture = null;
  #writing = false;
  #status;
  /** Open the session of a widget model; everything is freed when `signal` aborts. */
  static open(model, signal) {
    const session = _Session.for(model);
    signal.addEventListener("abort", () => session.dispose(), {
      once: true,
      signal: session.#closed.signal
    });
    if (signal.aborted) session.dispose();
    return session;
  }
  /** The session of this very model object, opened on first use. Throws Refused. */
  static for(model) {
    const known = sessions.get(model);
    if (known !== void 0) return known;
    const session = new _Session(model);
    sessions.set(model, session);
    return session;
  }
  constructor(model) {
    const ledger = new Ledger(readDoc(model.get("value")));
    this.#model = model;
    this.#ledger = ledger;
    this.#status = { kernel: model.kernel === false ? "none" : "live", message: null, level: "info" };
    this.#scenarios = new Scenarios(model, ledger.doc);
    const session = this;
    this.#wire = new Wire({
      model,
      ledger,
      get dragging() {
        return session.dragging;
      },
      get status() {
        return session.#status;
      },
      setStatus: (change2) => this.#setStatus(change2),
      changed: () => this.#tell("doc"),
      write: (change2) => this.#write(change2)
    });
    this.#hear(["value", "_revision", "_answer"], () => this.#wire.receive());
    this.#hear(["scenarios", "baseline"], () => {
      this.#scenarios.read();
      this.#tell("scenarios");
    });
    this.#hear(["selected"], () => this.#tell("selected"));
    this.#hear(["height"], () => this.#tell("height"));
  }
  // The timeline
  get doc() {
    return this.#ledger.doc;
  }
  get solved() {
    return this.#ledger.solved;
  }
  /** What to draw: the preview while a gesture runs, else the committed timeline. */
  get shown() {
    return this.#preview ?? this.solved;
  }
  get dragging() {
    return this.#gesture !== null;
  }
  /**
   * Start a gesture; until it ends the timeline stays what it is, whatever comes from outside.
   * Throws Refused while another one runs.
   */
  begin(label) {
    this.#refuseWhileDragging();
    let last = null;
    const end = (edit) => {
      if (this.#gesture !== gesture) return;
      this.#gesture = null;
      this.#preview = null;
      this.#wire.finish(edit);
      this.#tell("preview");
    };
    const gesture = {
      label,
      preview: (edit) => {
        if (this.#gesture !== gesture) throw new Refused("This gesture has ended.");
        const solved = this.#ledger.solve(applyEdit(this.doc, edit));
        last = edit;
        this.#preview = solved;
        this.#tell("preview");
        return solved;
      },
      commit: () => end(last),
      cancel: () => end(null)
    };
    this.#gesture = gesture;
    return gesture;
  }
  /** Make an edit at once. Throws Refused. */
  apply(edit, label) {
    this.#refuseWhileDragging();
    const entry = this.#ledger.edit(edit, label);
    if (entry !== null) this.#wire.send(entry, edit);
  }
  undo() {
    this.#refuseWhileDragging();
    const entry = this.#ledger.history.undo();
    if (entry !== void 0) this.#return(entry, entry.before);
  }
  redo() {
    this.#refuseWhileDragging();
    const entry = this.#ledger.history.redo();
    if (entry !== void 0) this.#return(entry, entry.after);
  }
  #return(entry, state) {
    this.#ledger.show(state);
    this.#wire.send(entry, null);
  }
  get canUndo() {
    return this.#ledger.history.undoable !== void 0;
  }
  get canRedo() {
    return this.#ledger.history.redoable !== void 0;
  }
  get undoLabel() {
    return this.#ledger.history.undoable?.label ?? null;
  }
  get redoLabel() {
    return this.#ledger.history.redoable?.label ?? null;
  }
  #refuseWhileDragging() {
    if (this.#gesture === null) return;
    throw new Refused(`“${this.#gesture.label}” is not finished: let go there first, or leave it with Esc.`);
  }
  // Scenarios and the baseline
  get baseline() {
    return this.#scenarios.baseline;
  }
  get baselineName() {
    return this.#scenarios.baselineName;
  }
  get scenarioNames() {
    return this.#scenarios.names;
  }
  /** The scenario that the committed timeline equals now; null once it was edited since. */
  get activeScenario() {
    return this.#scenarios.nameOf(this.doc);
  }
  scenario(name) {
    return this.#scenarios.solved(name);
  }
  /** Keep the timeline as it is now under a name, by default the next free letter. */
  keep(name) {
    const kept = this.#scenarios.keep(this.#ledger.state, name);
    this.#saveScenarios();
    return kept;
  }
  forget(name) {
    this.#scenarios.forget(name);
    this.#saveScenarios();
  }
  setBaseline(name) {
    this.#scenarios.setBaseline(name);
    this.#saveScenarios();
  }
  #saveScenarios() {
    this.#write(() => {
      this.#scenarios.write();
      this.#model.save_changes();
    });
    this.#tell("scenarios");
  }
  switchTo(name) {
    this.#refuseWhileDragging();
    const state = this.#scenarios.state(name);
    this.#scenarios.prefer(name);
    const entry = this.#ledger.record(state, `switch to ${name}`);
    if (entry !== null) this.#wire.send(entry, null);
    else this.#tell("scenarios");
  }
  /** Back to the baseline, as one more entry to undo. */
  reset() {
    this.#refuseWhileDragging();
    this.#scenarios.prefer(this.baselineName);
    const entry = this.#ledger.record(fresh(this.baseline.doc), `reset to ${this.baselineName}`);
    if (entry !== null) this.#wire.send(entry, null);
  }
  /** The edits since the baseline, as Python. */
  python() {
    const origin = this.baseline.doc;
    const name = this.baselineName.replace(/\s+/g, " ");
    const edits = editsSince(origin, this.#ledger.state);
    if (edits.length === 0) return `# nothing differs from ${name}
`;
    return `# changes to ${name}
${toPython(origin, edits)}`;
  }
  // The chosen phase, the height, messages
  get selected() {
    const name = this.#model.get("selected");
    return typeof name === "string" && this.solved.index.has(name) ? name : null;
  }
  set selected(name) {
    if (name === (this.#model.get("selected") ?? null)) return;
    this.#write(() => {
      this.#model.set("selected", name);
      this.#model.save_changes();
    });
  }
  /** Height asked for from Python, px; null leaves it to the view. */
  get height() {
    const height = this.#model.get("height");
    return typeof height === "number" ? height : null;
  }
  get status() {
    return this.#status;
  }
  /** Put a sentence where every view shows it and screen readers say it; null clears it. */
  say(message, level = "info") {
    this.#setStatus({ message, level });
  }
  #setStatus(change2) {
    const was = this.#status;
    const next = { ...was, ...change2 };
    const now = next.message === null ? { ...next, level: "info" } : next;
    if (now.kernel === was.kernel && now.message === was.message && now.level === was.level) return;
    this.#status = now;
    this.#tell("status");
  }
  // Listening and being listened to
  subscribe(listener, signal) {
    if (signal.aborted || this.#closed.signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), {
      once: true,
      signal: this.#closed.signal
    });
  }
  #tell(what) {
    for (const listener of [...this.#listeners]) {
      try {
        listener(what);
      } catch (error) {
        console.error("stepviz: a view failed", error);
      }
    }
  }
  #hear(keys, react) {
    const listener = () => {
      if (!this.#writing) react();
    };
    for (const key of keys) {
      this.#model.on(`change:${key}`, listener);
      this.#heard.push([`change:${key}`, listener]);
    }
  }
  #write(change2) {
    const outer = this.#writing;
    this.#writing = true;
    try {
      change2();
    } finally {
      this.#writing = outer;
    }
  }
  /** Let go of the model, of every listener and of the timer. */
  dispose() {
    this.#closed.abort();
    this.#wire.close();
    for (const [event, listener] of this.#heard.splice(0)) this.#model.off(event, listener);
    this.#listeners.clear();
    this.#gesture = null;
    this.#preview = null;
    sessions.delete(this.#model);
  }
};

// model/intervals.ts
function union(intervals2) {
  const spans = intervals2.filter(([a, b]) => b > a).sort((x, y) => x[0] - y[0]);
  const merged = [];
  for (const [a, b] of spans) {
    const last = merged.at(-1);
    if (last !== void 0 && a <= last[1]) last[1] = Math.max(last[1], b);
    else merged.push([a, b]);
  }
  return merged;
}
function intersect(a, b) {
  const both = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const low = Math.max(a[i][0], b[j][0]);
    const high = Math.min(a[i][1], b[j][1]);
    if (high > low) both.push([low, high]);
    if (a[i][1] < b[j][1]) i++;
    else j++;
  }
  return both;
}
function subtract(a, b) {
  const left = [];
  let j = 0;
  for (const [start, end] of a) {
    let from = start;
    while (j < b.length && b[j][1] <= from) j++;
    for (let k = j; k < b.length && b[k][0] < end; k++) {
      if (b[k][0] > from) left.push([from, b[k][0]]);
      from = Math.max(from, b[k][1]);
    }
    if (end > from) left.push([from, end]);
  }
  return left;
}
function total(a) {
  return a.reduce((sum, [start, end]) => sum + (end - start), 0);
}

// model/measures.ts
var BREAKDOWN_ROWS = [
  "forward",
  "backward",
  "recompute",
  "exchange",
  "wait",
  "optimizer",
  "input",
  "checkpoint",
  "host",
  "other",
  "idle"
];
var CATEGORIES = [
  ["input"],
  COMPUTE_KINDS,
  ["exchange"],
  ["optimizer"]
];
function ranksOf(phase2) {
  return phase2.rank === null ? phase2.members ?? [] : [phase2.rank];
}
function ranks(doc) {
  const found = /* @__PURE__ */ new Set();
  for (const phase2 of doc.phases) for (const rank of ranksOf(phase2)) found.add(rank);
  return [...found].sort((a, b) => a - b);
}
function arrivals(solved, row) {
  let known = arrivalsOf.get(solved);
  if (known === void 0) arrivalsOf.set(solved, known = findArrivals(solved));
  const phase2 = solved.doc.phases[row];
  return known.get(row) ?? new Map(ranksOf(phase2).map((rank) => [rank, solved.start[row]]));
}
var arrivalsOf = /* @__PURE__ */ new WeakMap();
function findArrivals(solved) {
  const { doc, start, finish } = solved;
  const own = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase2, row) => {
    if (phase2.rank === null) own.set(row, /* @__PURE__ */ new Map());
  });
  if (own.size === 0) return own;
  for (const link2 of solved.dependencies) {
    const found = own.get(link2.target);
    const { rank } = doc.phases[link2.source];
    if (found === void 0 || rank === null) continue;
    const head = link2.type === "FS" || link2.type === "FF" ? finish[link2.source] : start[link2.source];
    const onFinish = link2.type === "FF" || link2.type === "SF";
    const allowed = head + link2.lag - (onFinish ? doc.phases[link2.target].duration : 0);
    found.set(rank, Math.max(found.get(rank) ?? 0, allowed));
  }
  for (const [row, found] of own) {
    const at2 = start[row];
    for (const [rank, allowed] of found) found.set(rank, Math.min(allowed, at2));
    const last = found.size > 0 ? Math.max(...found.values()) : at2;
    const members = ranksOf(doc.phases[row]);
    own.set(row, new Map(members.map((rank) => [rank, found.get(rank) ?? last])));
  }
  return own;
}
function intervals(solved, kinds, rank) {
  const spans = [];
  solved.doc.phases.forEach((phase2, row) => {
    if (!kinds.includes(phase2.kind)) return;
    if (phase2.rank === rank) {
      spans.push([solved.start[row], solved.finish[row]]);
    } else if (phase2.rank === null && phase2.members?.includes(rank)) {
      spans.push([arrivals(solved, row).get(rank), solved.finish[row]]);
    }
  });
  return intersect(union(spans), [[0, solved.completion]]);
}
function exposedSegments(solved, kind, rank) {
  return subtract(intervals(solved, [kind], rank), intervals(solved, COMPUTE_KINDS, rank));
}
function exposed(solved, kind) {
  return new Map(
    ranks(solved.doc).map((rank) => [rank, total(exposedSegments(solved, kind, rank))])
  );
}
function breakdown(solved, rank) {
  const spans = /* @__PURE__ */ new Map();
  const add = (row, segment) => {
    const list2 = spans.get(row);
    if (list2 === void 0) spans.set(row, [segment]);
    else list2.push(segment);
  };
  solved.doc.phases.forEach((phase2, row) => {
    const finish = solved.finish[row];
    if (phase2.rank === rank) {
      add(phase2.kind, [solved.start[row], finish]);
    } else if (phase2.rank === null && phase2.members?.includes(rank)) {
      const arrived = arrivals(solved, row);
      const last = Math.max(...arrived.values());
      if (phase2.kind === "exchange") {
        add("wait", [arrived.get(rank), last]);
        add("exchange", [last, finish]);
      } else {
        add(phase2.kind, [arrived.get(rank), finish]);
      }
    }
  });
  let free = union([[0, solved.completion]]);
  const rows = [];
  for (const row of BREAKDOWN_ROWS) {
    const segments = row === "idle" ? free : intersect(union(spans.get(row) ?? []), free);
    if (segments.length === 0) continue;
    free = subtract(free, segments);
    rows.push({ row, ms: total(segments), segments });
  }
  return rows;
}
function plainSum(solved) {
  return Math.max(...categoryTimes(solved.doc).map((times) => times.reduce((a, b) => a + b, 0)));
}
function plainMaximum(solved) {
  return Math.max(...categoryTimes(solved.doc).map((times) => Math.max(...times)));
}
var timesOf = /* @__PURE__ */ new WeakMap();
function categoryTimes(doc) {
  const known = timesOf.get(doc);
  if (known !== void 0) return known;
  const byRank = new Map(ranks(doc).map((rank) => [rank, CATEGORIES.map(() => 0)]));
  for (const phase2 of doc.phases) {
    const category = CATEGORIES.findIndex((kinds) => kinds.includes(phase2.kind));
    if (category < 0) continue;
    for (const rank of ranksOf(phase2)) byRank.get(rank)[category] += phase2.duration;
  }
  const times = [...byRank.values()];
  timesOf.set(doc, times);
  return times;
}
function slowestRank(solved) {
  const { doc, finish, critical, completion } = solved;
  const last = /* @__PURE__ */ new Map();
  const work = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase2, row) => {
    const counts = doc.target === null || doc.target === phase2.phase;
    for (const rank of counts ? ranksOf(phase2) : []) {
      last.set(rank, Math.max(last.get(rank) ?? 0, finish[row]));
    }
    if (phase2.rank !== null && critical[row] === 1) {
      work.set(phase2.rank, (work.get(phase2.rank) ?? 0) + phase2.duration);
    }
  });
  const latest = Math.max(...last.values()) - 1e-9 * Math.max(1, completion);
  return [...last.keys()].filter((rank) => last.get(rank) >= latest).sort((a, b) => a - b).reduce((slow, rank) => (work.get(rank) ?? 0) > (work.get(slow) ?? 0) ? rank : slow);
}

// view/dom.ts
var SVG_NAMESPACE = "http://www.w3.org/2000/svg";
function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === void 0 || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}
function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  assign(element, attributes);
  element.append(...children);
  return element;
}
function attr(element, name, value) {
  if (value === null) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text3 = typeof value === "string" ? value : String(value);
  if (element.getAttribute(name) !== text3) element.setAttribute(name, text3);
}
function text2(element, value) {
  if (element.textContent !== value) element.textContent = value;
}
function show(element, visible) {
  attr(element, "hidden", visible ? null : "");
}
function px(value) {
  return Math.round(value * 100) / 100;
}
function icon(path) {
  return svg(
    "svg",
    { class: "sv-icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: path })
  );
}
function button(label, content, attributes, onClick, signal) {
  const named = typeof content !== "string" || label.toLowerCase().includes(content.toLowerCase()) || !/\p{L}/u.test(content);
  const element = html(
    "button",
    { type: "button", title: label, "aria-label": named ? label : `${content}: ${label}`, ...attributes },
    content
  );
  element.addEventListener("click", onClick, { signal });
  return element;
}

// view/format.ts
var formats = /* @__PURE__ */ new Map();
function decimals(size, digits) {
  let format = formats.get(digits);
  if (!format) formats.set(digits, format = new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }));
  return format.format(size + 0);
}
function negligible(value, among = 1) {
  return Math.abs(value) <= 1e-9 * Math.max(1, Math.abs(among));
}
var forSmall = (size) => Math.min(12, 2 - Math.floor(Math.log10(size)));
function written(value, digits) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  if (negligible(value)) return "0";
  const size = Math.abs(value);
  return (value < 0 ? "−" : "") + decimals(size, digits(size));
}
function number(value) {
  return written(value, (size) => size >= 10 ? 2 : size >= 1 ? 3 : Math.max(4, forSmall(size)));
}
function brief(value) {
  return written(value, (size) => size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : forSmall(size));
}
function ms(value) {
  return `${number(value)} ms`;
}
function signed(value) {
  const size = number(Math.abs(value));
  if (size === "0") return "±0";
  return (value < 0 ? "−" : "+") + size;
}
function percent(part, whole2) {
  if (!(whole2 > 0)) return "";
  const share = part / whole2 * 100;
  return `${signed(Math.abs(share) >= 0.1 ? Math.round(share * 10) / 10 : Number(share.toPrecision(2)))} %`;
}
function speedup(before, after2) {
  return after2 > 0 ? `${(before / after2).toFixed(3)}×` : "";
}
var PLAIN = [{ maximumFractionDigits: 9 }, { maximumSignificantDigits: 12 }].map(
  (digits) => new Intl.NumberFormat("en-US", { useGrouping: false, ...digits })
);
function exact(value) {
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  return (value < 0 ? "-" : "") + PLAIN[size >= 1e-3 ? 0 : 1].format(size);
}
function parse(written2) {
  let plain = written2.trim().replace(/\s*ms$/i, "").replace("−", "-").replace(/\s/g, "");
  plain = /^-?\d+,\d+$/.test(plain) && !/^-?\d{1,3},\d{3}$/.test(plain) ? plain.replace(",", ".") : plain.replace(/,/g, "");
  if (plain === "") return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}
function lag(value) {
  return value === 0 ? "" : ` ${value > 0 ? "+" : "−"}${number(Math.abs(value))}`;
}

// view/labels.ts
var context = null;
var widths = /* @__PURE__ */ new Map();
function textWidth(content, font) {
  let known = widths.get(font);
  if (!known) widths.set(font, known = /* @__PURE__ */ new Map());
  let width = known.get(content);
  if (width === void 0) {
    context ??= document.createElement("canvas").getContext("2d");
    if (context) {
      context.font = font;
      width = context.measureText(content).width;
    } else {
      width = content.length * 7;
    }
    if (known.size > 2e4) known.clear();
    known.set(content, width);
  }
  return width;
}
function fit(candidates2, room, font) {
  for (const candidate of candidates2) if (textWidth(candidate, font) <= room) return candidate;
  const last = candidates2[candidates2.length - 1] ?? "";
  if (textWidth(`${last.slice(0, 3)}…`, font) > room) return "";
  let low = 3;
  let high = last.length - 1;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (textWidth(`${last.slice(0, middle)}…`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return `${last.slice(0, low).trimEnd()}…`;
}
function abbreviations(name, rank) {
  const short = name.replace(new RegExp(`^r(?:ank)?[ _-]?${rank}[ _:/-]+|[ _:/-]+r(?:ank)?[ _-]?${rank}$`, "i"), "");
  const words = short.split(/[\s_\-./:]+/).filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  if (words.length > 1 && /^\d+$/.test(last)) {
    return [short, `${words.slice(0, -1).map((word) => word[0] ?? "").join("")}${last}`];
  }
  return [words.length === 1 && short.length > 7 ? `${short.slice(0, 5)}.` : short, short];
}

// view/routes.ts
var HEAD = 7;
function route(from, to, track, size = HEAD) {
  const { x: x1 } = from;
  const { x: x2 } = to;
  if (from.row === to.row) return sameRow(from, to, track, size);
  const down = to.row > from.row;
  const y1 = down ? from.bottom : from.top;
  const y2 = down ? to.top : to.bottom;
  const tip = down ? y2 - 1 : y2 + 1;
  const base = down ? tip - size : tip + size;
  const head = arrowhead(x2, tip, down ? 1 : -1, size);
  if (Math.abs(x1 - x2) < 7) {
    return {
      path: `M${px(x2)} ${px(y1)}V${px(base)}`,
      head,
      labelX: x2,
      labelY: (y1 + y2) / 2,
      labelRoom: 0
    };
  }
  const y = track;
  const right = x2 > x1 ? 1 : -1;
  const r1 = Math.max(0, Math.min(6, Math.abs(x2 - x1) / 2, Math.abs(y - y1)));
  const r2 = Math.max(0, Math.min(6, Math.abs(x2 - x1) / 2, Math.abs(base - y)));
  const v = down ? 1 : -1;
  const after2 = (base - y) * v >= 0 ? v : -v;
  const path = `M${px(x1)} ${px(y1)}V${px(y - v * r1)}Q${px(x1)} ${px(y)} ${px(x1 + right * r1)} ${px(y)}H${px(x2 - right * r2)}Q${px(x2)} ${px(y)} ${px(x2)} ${px(y + after2 * r2)}V${px(base)}`;
  return { path, head, labelX: (x1 + x2) / 2, labelY: y, labelRoom: Math.abs(x2 - x1) - 16 };
}
function alongRow(x1, x2, from, size) {
  const y = px(from.top + (from.bottom - from.top) * 0.82);
  if (x2 - x1 < size + 5) {
    const half2 = Math.min(size * 0.6, (from.bottom - from.top) / 4);
    const x = (x1 + x2) / 2;
    return {
      path: `M${px(x - half2)} ${y}H${px(x)}`,
      head: `M${px(x + half2)} ${y}L${px(x - half2)} ${px(y - half2)}V${px(y + half2)}Z`,
      labelX: x,
      labelY: from.bottom + 9,
      labelRoom: 0
    };
  }
  const half = size * 0.55;
  return {
    path: `M${px(x1)} ${y}H${px(x2 - size)}`,
    head: `M${px(x2 - 1)} ${y}L${px(x2 - 1 - size)} ${px(y - half)}V${px(y + half)}Z`,
    labelX: (x1 + x2) / 2,
    labelY: y,
    labelRoom: x2 - x1 - 16
  };
}
function sameRow(from, to, track, size) {
  const { x: x1 } = from;
  const { x: x2 } = to;
  const dip = track;
  const tip = to.bottom + 1;
  const head = arrowhead(x2, tip, -1, size);
  const right = x2 >= x1 ? 1 : -1;
  const r = Math.max(0, Math.min(4, Math.abs(x2 - x1) / 2));
  const base = tip + size;
  const low = Math.max(dip, base + 2);
  const path = `M${px(x1)} ${px(from.bottom)}V${px(low - r)}Q${px(x1)} ${px(low)} ${px(x1 + right * r)} ${px(low)}H${px(x2 - right * r)}Q${px(x2)} ${px(low)} ${px(x2)} ${px(low - r)}V${px(base)}`;
  return { path, head, labelX: (x1 + x2) / 2, labelY: low, labelRoom: Math.abs(x2 - x1) - 16 };
}
function arrowhead(x, tip, direction, size) {
  const base = tip - direction * size;
  const half = size * 0.55;
  return `M${px(x)} ${px(tip)}L${px(x - half)} ${px(base)}H${px(x + half)}Z`;
}
function assignTracks(runs, tracks) {
  const taken = /* @__PURE__ */ new Map();
  return runs.map((run) => {
    let lanes = taken.get(run.gap);
    if (!lanes) taken.set(run.gap, lanes = Array.from({ length: tracks }, () => []));
    const low = Math.min(run.from, run.to) - 6;
    const high = Math.max(run.from, run.to) + 6;
    let best = 0;
    let least2 = Infinity;
    for (let track = 0; track < lanes.length; track++) {
      let clashes = 0;
      for (const [a, b] of lanes[track]) if (a < high && b > low) clashes++;
      if (clashes < least2) {
        least2 = clashes;
        best = track;
        if (clashes === 0) break;
      }
    }
    lanes[best].push([low, high]);
    return best;
  });
}

// view/state.ts
var ViewState = class {
  /** Chosen phases, the last chosen one last. */
  selection = /* @__PURE__ */ new Set();
  /** Row of the chosen stored dependency, in the committed timeline. */
  arrow = null;
  /** The bar with the keyboard's focus. */
  focus = null;
  hover = null;
  /** null fits the whole step into the plot. */
  zoom = null;
  hidden = { ranks: /* @__PURE__ */ new Set(), lanes: /* @__PURE__ */ new Set(), kinds: /* @__PURE__ */ new Set() };
  /** null: thin out the arrows when there are many. */
  allArrows = false;
  table = false;
  inspector = true;
  /** The phase whose binding arrow is lit because it holds what is being dragged. */
  held = null;
  /** What the running gesture edits; it stays as it is drawn until the gesture ends. */
  dragging = null;
  get primary() {
    let last = null;
    for (const name of this.selection) last = name;
    return last;
  }
};
function rowOf2(solved, name) {
  return name === null ? -1 : solved.index.get(name) ?? -1;
}

// view/arrows.ts
var leaves = (type) => type[0] === "F" ? "finish" : "start";
var arrives = (type) => type[1] === "F" ? "finish" : "start";
var linkType = (from, to) => `${from === "finish" ? "F" : "S"}${to === "finish" ? "F" : "S"}`;
var MANY = 90;
var Arrows = class {
  /** Behind the bars, so that an arrow never strikes through a label … */
  layer = svg("g", { class: "sv-arrows" });
  /** … but the ones asked for lie in front. */
  front = svg("g", { class: "sv-arrows" });
  /** Stacked by strength, so that an arrow moves in the document only when its strength changes. */
  stack = [0, 1, 2, 3].map(() => svg("g"));
  pills = svg("g", { class: "sv-pills" });
  drawn = /* @__PURE__ */ new Map();
  /** How many of the stored arrows are drawn, for the note that says so. */
  shown = 0;
  total = 0;
  update(layout, scale, solved, state, font) {
    const wanted = this.choose(layout, solved, state);
    const seats = this.seats(wanted, solved, scale, layout);
    const tracks = wanted.length <= 400 ? assignTracks(wanted.map((arrow, k) => ({
      gap: seats[k].along ? -2 : gapOf(arrow),
      from: seats[k].from.x,
      to: seats[k].to.x
    })), Math.max(1, Math.min(5, Math.floor((layout.density.gap - 8) / 6)))) : wanted.map((_, k) => k % 3);
    const ways = wanted.map((arrow, k) => wayOf(arrow, seats[k], tracks[k], layout));
    const places = this.label(wanted, ways, seats, scale, layout, state, font);
    const alive = /* @__PURE__ */ new Set();
    wanted.forEach((arrow, k) => {
      const { dependency } = arrow;
      const key = dependency.row >= 0 ? `${dependency.row}:${arrow.from.rank}:${arrow.to.rank}:${arrow.from.row}:${arrow.to.row}` : `lane:${dependency.source}:${dependency.target}:${arrow.to.rank}`;
      alive.add(key);
      let drawn = this.drawn.get(key);
      if (!drawn) this.drawn.set(key, drawn = this.create(dependency));
      this.draw(drawn, arrow, seats[k], ways[k], places[k] ?? null, layout, state);
    });
    for (const [key, drawn] of this.drawn) {
      if (alive.has(key)) continue;
      drawn.group.remove();
      drawn.pill?.remove();
      this.drawn.delete(key);
    }
  }
  constructor() {
    this.layer.append(...this.stack.slice(0, 3));
    this.front.append(this.stack[3]);
  }
  clear() {
    this.drawn.clear();
    for (const layer of this.stack) layer.replaceChildren();
    this.pills.replaceChildren();
  }
  /** Which arrows to draw; the strongest last, so that they lie on top. */
  choose(layout, solved, state) {
    const all = solved.doc.dependencies.length;
    const thin = all > MANY && !state.allArrows;
    const held = state.held === null ? -1 : solved.binding[rowOf2(solved, state.held)] ?? -1;
    const chosen = state.primary === null ? -1 : solved.binding[rowOf2(solved, state.primary)] ?? -1;
    const names = solved.doc.phases;
    const wanted = [];
    this.total = all;
    const seen2 = /* @__PURE__ */ new Set();
    solved.dependencies.forEach((dependency, index) => {
      const source = names[dependency.source].phase;
      const target = names[dependency.target].phase;
      const lit = index === held || index === chosen;
      const touched = state.selection.has(source) || state.selection.has(target) || state.hover === source || state.hover === target;
      if (dependency.row < 0 && !lit) return;
      if (thin && !dependency.critical && !lit && !touched && state.arrow !== dependency.row) return;
      const strength = lit || dependency.row >= 0 && state.arrow === dependency.row ? 3 : dependency.critical ? 2 : touched ? 1 : 0;
      for (const [from, to] of pairs(layout, dependency)) {
        seen2.add(dependency.row);
        wanted.push({ index, dependency, from, to, strength });
      }
    });
    seen2.delete(-1);
    this.shown = seen2.size;
    return wanted.sort((a, b) => a.strength - b.strength || a.index - b.index);
  }
  /** Where each arrow leaves and arrives; several at one bar end sit side by side. */
  seats(wanted, solved, scale, layout) {
    const used = /* @__PURE__ */ new Map();
    const seat = (item, end, upper) => {
      const key = `${item.phase}:${item.rank}:${end}:${upper}`;
      const count = used.get(key) ?? 0;
      used.set(key, count + 1);
      return count;
    };
    const ends2 = new Array(wanted.length);
    for (let k = wanted.length - 1; k >= 0; k--) {
      const { dependency, from, to } = wanted[k];
      const down = to.row > from.row;
      const same2 = to.row === from.row;
      const leaving = leaves(dependency.type);
      const arriving = arrives(dependency.type);
      const x1 = scale.x(solved.finish[from.phase]);
      const x2 = scale.x(solved.start[to.phase]);
      if (same2 && dependency.type === "FS" && x2 >= x1 - 1 && neighbours(layout, from, to)) {
        const corner = anchor(from, "finish", 0, solved, scale, layout);
        ends2[k] = { from: corner, to: corner, along: [x1, x2] };
        continue;
      }
      ends2[k] = {
        along: null,
        from: anchor(from, leaving, seat(from, leaving, !down && !same2), solved, scale, layout),
        to: anchor(to, arriving, seat(to, arriving, down), solved, scale, layout)
      };
    }
    return ends2;
  }
  create(dependency) {
    const drawn = {
      group: svg("g", { class: "sv-arrow" }),
      line: svg("path", { class: "sv-line" }),
      hit: svg("path", { class: "sv-arrow-hit" }),
      head: svg("path", { class: "sv-head" }),
      pill: null,
      key: "",
      strength: -1
    };
    attr(
      drawn.group,
      dependency.row >= 0 ? "data-dependency" : "data-lane-dependency",
      dependency.row >= 0 ? dependency.row : dependency.target
    );
    drawn.group.append(drawn.hit, drawn.line, drawn.head);
    return drawn;
  }
  draw(drawn, arrow, ends2, way, place, layout, state) {
    const { dependency } = arrow;
    const chosen = isChosen(arrow, state);
    const key = `${way.path}|${arrow.strength}|${chosen}|${dependency.critical}|${place?.caption}@${px(place?.x ?? 0)},${px(place?.y ?? 0)}`;
    const seam = ends2.along !== null && ends2.along[1] - ends2.along[0] < headSize(arrow, layout) + 5;
    const level = seam ? 3 : arrow.strength;
    if (drawn.strength !== level) {
      this.stack[level].append(drawn.group);
      drawn.strength = level;
    }
    if (drawn.key === key) return;
    drawn.key = key;
    attr(drawn.line, "d", way.path);
    attr(drawn.hit, "d", way.path);
    attr(drawn.head, "d", way.head);
    const group = drawn.group.classList;
    group.toggle("sv-critical", dependency.critical);
    group.toggle("sv-touched", arrow.strength === 1);
    group.toggle("sv-lit", arrow.strength === 3);
    group.toggle("sv-chosen", chosen);
    group.toggle("sv-seam", seam);
    group.toggle("sv-lane", dependency.row < 0);
    if (!place) {
      drawn.pill?.remove();
      drawn.pill = null;
      return;
    }
    if (!drawn.pill) {
      drawn.pill = svg(
        "g",
        { class: "sv-pill", "data-lag": dependency.row },
        svg("rect", { height: 18, y: -9, rx: 9 }),
        svg("text", { dy: ".35em", "text-anchor": "middle" })
      );
      this.pills.append(drawn.pill);
    }
    drawn.pill.classList.toggle("sv-lit", arrow.strength === 3);
    drawn.pill.classList.toggle("sv-critical", dependency.critical);
    attr(drawn.pill, "transform", `translate(${px(place.x)} ${px(place.y)})`);
    const rect = drawn.pill.firstChild;
    attr(rect, "x", px(-place.width / 2));
    attr(rect, "width", px(place.width));
    const label = drawn.pill.lastChild;
    if (label.textContent !== place.caption) label.textContent = place.caption;
  }
  /**
   * Where each arrow's lag is written, if it is. The critical ones and those asked for are placed
   * first, beside their run where that is too short; the others only where their run has room.
   */
  label(wanted, ways, seats, scale, layout, state, font) {
    const taken = [];
    const lines = wanted.length > 150 ? [] : wanted.map((_, k) => uprights(ways[k], seats[k]));
    const places = new Array(wanted.length).fill(null);
    for (let k = wanted.length - 1; k >= 0; k--) {
      const arrow = wanted[k];
      const { type, lag: lag2, critical } = arrow.dependency;
      const chosen = isChosen(arrow, state);
      const asked = chosen || arrow.strength === 3;
      if (type === "FS" && lag2 === 0 && !chosen) continue;
      const must = asked || critical && (type !== "FS" || Math.abs(lag2) * scale.pxPerMs >= 3);
      if (layout.density.name === "dense" && !asked) continue;
      const caption = `${type}${lag(lag2)}`;
      const width = textWidth(caption, font) + 14;
      const way = ways[k];
      const inPlot = (box) => box[0] >= scale.left - 8 && box[2] <= scale.right + 16;
      const free = (box) => inPlot(box) && !taken.some((other) => overlaps(other, box));
      let best = null;
      let least2 = Infinity;
      candidates(way, seats[k], width, scale, must).forEach((box, rank) => {
        if (!(free(box) || asked && inPlot(box))) return;
        const { from, to } = seats[k];
        const nearest = Math.abs(from.x - box[0]) < Math.abs(to.x - box[2]) ? from.x : to.x;
        const [left2, right] = [Math.min(box[0] - 3, nearest + 1), Math.max(box[2] + 3, nearest - 1)];
        const crossed = lines.reduce((count, pair, other) => count + (other === k ? 0 : pair.filter(([x, top2, bottom]) => x > left2 && x < right && top2 < box[3] && bottom > box[1]).length), 0);
        const cost = rank + 4 * crossed + (free(box) ? 0 : 100);
        if (cost < least2) {
          least2 = cost;
          best = box;
        }
      });
      if (best === null) continue;
      taken.push(best);
      const [left, top] = best;
      places[k] = { x: left + width / 2, y: top + 9, width, caption };
    }
    return places;
  }
};
var isChosen = (arrow, state) => arrow.dependency.row >= 0 && state.arrow === arrow.dependency.row;
var headSize = (arrow, layout) => layout.density.name === "dense" ? 5 : arrow.strength >= 2 ? 8 : 7;
function wayOf(arrow, ends2, track, layout) {
  const size = headSize(arrow, layout);
  return ends2.along ? alongRow(ends2.along[0], ends2.along[1], ends2.from, size) : route(ends2.from, ends2.to, trackY(arrow, layout, track), size);
}
function candidates(way, ends2, width, scale, must) {
  const y = way.labelY;
  const box = (middle) => [middle - width / 2, y - 9, middle + width / 2, y + 9];
  const [from, to] = ends2.along ?? [ends2.from.x, ends2.to.x];
  const low = Math.max(Math.min(from, to), scale.left);
  const high = Math.min(Math.max(from, to), scale.right);
  const found = [];
  if (way.labelRoom >= width - 10 && high - low >= width) found.push(box((low + high) / 2));
  if (!must) return found;
  found.push(box(Math.max(from, to) + width / 2 + 7), box(Math.min(from, to) - width / 2 - 7), box((from + to) / 2));
  return found;
}
function uprights(way, ends2) {
  if (ends2.along) return [];
  const { from, to } = ends2;
  const y = way.labelY;
  const edge = (seat) => Math.abs(seat.top - y) < Math.abs(seat.bottom - y) ? seat.top : seat.bottom;
  return [from, to].map((seat) => [seat.x, Math.min(y, edge(seat)), Math.max(y, edge(seat))]);
}
function pairs(layout, dependency) {
  const from = (layout.of.get(dependency.source) ?? []).map((k) => layout.items[k]);
  const to = (layout.of.get(dependency.target) ?? []).map((k) => layout.items[k]);
  if (from.length === 0 || to.length === 0) return [];
  if (from.length === 1 && to.length === 1) return [[from[0], to[0]]];
  const shared = [];
  for (const a of from) for (const b of to) if (a.rank === b.rank) shared.push([a, b]);
  if (from.length > 1 && to.length > 1) return shared.slice(0, 1);
  return shared.length > 0 ? shared : [[from[0], to[0]]];
}
function neighbours(layout, from, to) {
  const { items } = layout.rows[from.row];
  const at2 = items.findIndex((k) => layout.items[k] === from);
  return layout.items[items[at2 + 1] ?? -1] === to;
}
function anchor(item, end, seat, solved, scale, layout) {
  const row = layout.rows[item.row];
  const start = scale.x(solved.start[item.phase]);
  const finish = scale.x(solved.finish[item.phase]);
  const width = finish - start;
  const inset = Math.min(2 + seat * 6, width / 2);
  return {
    x: end === "start" ? start + inset : finish - inset,
    top: row.y,
    bottom: row.y + layout.density.bar,
    row: item.row
  };
}
function gapOf(arrow) {
  const { from, to } = arrow;
  if (from.row === to.row) return to.row;
  return to.row > from.row ? to.row - 1 : to.row;
}
function trackY(arrow, layout, track) {
  const { gap, bar } = layout.density;
  const { from, to } = arrow;
  const target = layout.rows[to.row];
  const offset = (track === 0 ? 0 : track % 2 === 1 ? -(track + 1) / 2 : track / 2) * 6;
  const middle = Math.max(gap / 2 - 2, 4);
  if (from.row === to.row) return target.y + bar + Math.min(gap * 0.42, 13) + Math.abs(offset) * 0.6;
  return to.row > from.row ? target.y - middle - 1 + offset : target.y + bar + middle + offset;
}
function overlaps(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

// view/scale.ts
var TimeScale = class {
  constructor(left, right, pxPerMs, origin) {
    this.left = left;
    this.right = right;
    this.pxPerMs = pxPerMs;
    this.origin = origin;
  }
  left;
  right;
  pxPerMs;
  origin;
  x(time) {
    return this.left + (time - this.origin) * this.pxPerMs;
  }
  time(x) {
    return this.origin + (x - this.left) / this.pxPerMs;
  }
  get end() {
    return this.time(this.right);
  }
};
function niceStep(least2) {
  if (!(least2 > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least2));
  for (const factor of [1, 2, 5]) if (factor * power >= least2 * (1 - 1e-9)) return factor * power;
  return 10 * power;
}
function ticks(scale, spacing = 76) {
  const step = niceStep(spacing / scale.pxPerMs);
  const times = [];
  for (let k = Math.ceil(Math.max(0, scale.origin) / step - 1e-9); ; k++) {
    const time = k * step;
    if (time > scale.end + 1e-9 * step || times.length > 400) break;
    times.push(time);
  }
  return { step, times };
}
function fitEnd(latest) {
  if (!(latest > 0)) return 1;
  const step = niceStep(latest / 10);
  return Math.ceil(latest * 1.06 / step - 1e-9) * step;
}
function snapStep(pxPerMs) {
  if (pxPerMs <= 8) return 1;
  return 10 ** -Math.ceil(Math.log10(pxPerMs / 8));
}
function snap2(value, pxPerMs, magnets = []) {
  const step = snapStep(pxPerMs);
  const reach = 0.8 / pxPerMs;
  let best = NaN;
  for (const magnet of magnets) {
    if (Math.abs(magnet - value) <= 2.5 * reach && !(Math.abs(best - value) <= Math.abs(magnet - value))) best = magnet;
  }
  if (!Number.isNaN(best)) return best;
  const five = 5 * step;
  const coarse = Math.round(value / five) * five;
  const snapped = Math.abs(coarse - value) <= Math.max(reach, 0) && reach * 4 > step ? coarse : Math.round(value / step) * step;
  return Math.round(snapped * 1e9) / 1e9;
}

// view/axis.ts
var AXIS_HEIGHT = 26;
var FOOT_HEIGHT = 24;
var Axis = class {
  /** In the sticky head. */
  head = svg("g", { class: "sv-axis", "aria-hidden": "true" });
  /** Behind the rows. */
  lines = svg("g", { class: "sv-grid", "aria-hidden": "true" });
  /** In front of the rows. */
  marks = svg("g", { class: "sv-marks", "aria-hidden": "true" });
  /** Below the rows. */
  foot = svg("g", { class: "sv-foot", "aria-hidden": "true" });
  now = svg("line", { class: "sv-completion" });
  was = svg("line", { class: "sv-baseline" });
  nowText = svg("text", { class: "sv-completion-text", y: 16, "text-anchor": "middle" });
  wasText = svg("text", { class: "sv-baseline-text", y: 16 });
  window = svg("rect", { class: "sv-window", y: 0, height: 3, rx: 1.5 });
  constructor() {
    this.marks.append(this.was, this.now);
    this.foot.append(this.wasText, this.nowText);
  }
  layout(scale, height, whole2, family) {
    const widest = textWidth(decimals(scale.end, 0), `11px ${family}`);
    const { times, step } = ticks(scale, Math.max(76, widest + 34));
    const head = [];
    const lines = [];
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    const font = `11px ${family}`;
    const edge = scale.right + 18;
    let free = -Infinity;
    for (const time of times) {
      const x = px(scale.x(time));
      lines.push(svg("line", { x1: x, x2: x, y1: 0, y2: height }));
      const content = decimals(Math.round(time / step) * step, digits);
      const half = textWidth(content, font) / 2;
      const middle = Math.min(x, edge - half - 1);
      if (middle - half < free) continue;
      free = middle + half + 6;
      const label = svg("text", { x: px(middle), y: 17, "text-anchor": "middle" });
      label.textContent = content;
      head.push(label);
    }
    const unit = svg("text", { x: scale.left - 14, y: 17, "text-anchor": "end", class: "sv-unit" });
    unit.textContent = "ms";
    head.push(unit);
    const share = (scale.end - scale.origin) / whole2;
    if (share < 0.995) {
      const width = scale.right - scale.left;
      attr(this.window, "x", px(scale.left + Math.max(0, scale.origin / whole2) * width));
      attr(this.window, "width", px(Math.max(8, Math.min(1, share) * width)));
      head.push(this.window);
    }
    this.head.replaceChildren(...head);
    this.lines.replaceChildren(...lines);
    for (const line of [this.now, this.was]) {
      attr(line, "y1", 0);
      attr(line, "y2", height);
    }
  }
  update(scale, solved, baseline, baselineName, font) {
    const x = px(scale.x(solved.completion));
    const w = px(scale.x(baseline.completion));
    const visible = x >= scale.left - 1 && x <= scale.right + 1;
    const moved = Math.abs(solved.completion - baseline.completion) > 1e-9 * Math.max(1, solved.completion);
    const visibleWas = moved && w >= scale.left - 1 && w <= scale.right + 1;
    attr(this.now, "x1", x);
    attr(this.now, "x2", x);
    attr(this.now, "display", visible ? null : "none");
    attr(this.was, "x1", w);
    attr(this.was, "x2", w);
    attr(this.was, "display", visibleWas ? null : "none");
    const label = number(solved.completion);
    const wasLabel = `${baselineName === "baseline" ? "was" : baselineName} ${number(baseline.completion)}`;
    if (this.nowText.textContent !== label) this.nowText.textContent = label;
    const half = textWidth(label, `700 13px ${font}`) / 2;
    const middle = Math.min(x, scale.right + 18 - half);
    attr(this.nowText, "x", px(middle));
    attr(this.nowText, "display", visible ? null : "none");
    if (this.wasText.textContent !== wasLabel) this.wasText.textContent = wasLabel;
    attr(this.wasText, "display", visibleWas ? null : "none");
    const width = textWidth(wasLabel, `11px ${font}`);
    if (w >= x) {
      attr(this.wasText, "text-anchor", "start");
      attr(this.wasText, "x", px(Math.max(w - width / 2, middle + half + 8)));
    } else {
      attr(this.wasText, "text-anchor", "end");
      attr(this.wasText, "x", px(Math.min(w + width / 2, middle - half - 8)));
    }
  }
};

// view/shapes.ts
function shape(fill, width, half, height) {
  const side = px(half * Math.SQRT2);
  attr(fill, "x", half > 0 ? px(-side / 2) : 0);
  attr(fill, "y", half > 0 ? px((height - side) / 2) : 0);
  attr(fill, "width", half > 0 ? side : Math.max(px(width), 1.5));
  attr(fill, "height", half > 0 ? side : height);
  attr(fill, "rx", half > 0 || height <= 20 ? 2 : 4);
  attr(fill, "transform", half > 0 ? `rotate(45 0 ${px(height / 2)})` : null);
}
function hatchPath(segments, start, finish, scale, x, height, [left, right]) {
  let path = "";
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (segments[middle][1] <= start) low = middle + 1;
    else high = middle;
  }
  for (let k = low; k < segments.length; k++) {
    const [from, to] = segments[k];
    if (from >= finish) break;
    const a = px(scale.x(Math.max(from, start)) - x);
    const b = px(scale.x(Math.min(to, finish)) - x);
    if (b <= a) continue;
    path += `M${a} 1.5H${b}V${height - 1.5}H${a}Z`;
    const [low2, high2] = [Math.max(a, left), Math.min(b, right)];
    const tall = Math.min(9, height / 2 - 3.5);
    if (high2 > low2) path += `M${px(low2)} ${height / 2 - tall}H${px(high2)}V${height / 2 + tall}H${px(low2)}Z`;
  }
  return path;
}

// view/bars.ts
var REACH = 9;
var Bars = class {
  constructor(uid, coarse) {
    this.uid = uid;
    this.coarse = coarse;
  }
  uid;
  coarse;
  layer = svg("g", { class: "sv-bars" });
  ghosts = svg("g", { class: "sv-ghosts", "aria-hidden": "true" });
  drawn = [];
  waits = /* @__PURE__ */ new Map();
  /** While a gesture runs, spoken labels and titles wait: they cost more than the drawing. */
  quick = false;
  group(name) {
    for (const bar of this.drawn) if (bar.group.dataset["phase"] === name) return bar.group;
    return null;
  }
  /** The group of an item of the layout, and the item of a group. */
  at(item) {
    return this.drawn[item]?.group;
  }
  itemOf(element) {
    const group = element?.closest("[data-phase]");
    return group ? this.drawn.findIndex((bar) => bar.group === group) : -1;
  }
  /** Build the groups of a new layout. */
  build(layout, solved, scale) {
    this.drawn = layout.items.map((item) => this.create(item, solved.doc.phases[item.phase], layout.density.bar));
    const thin = (bar) => solved.doc.phases[bar.item.phase].duration * scale.pxPerMs < 8;
    const groups = [...this.drawn.filter((bar) => !thin(bar)), ...this.drawn.filter(thin)];
    this.layer.replaceChildren(...groups.map((bar) => bar.group));
    this.ghosts.replaceChildren(...this.drawn.map((bar) => bar.ghost));
  }
  create(item, phase2, height) {
    const fill = svg("rect", { class: "sv-fill", "data-handle": "body" });
    const collective = item.member;
    const wait = collective ? svg("rect", { class: "sv-wait", height: px(height * 0.5), y: px(height * 0.25) }) : null;
    const hatch = phase2.kind === "exchange" ? svg("path", { class: "sv-hatch", "fill-rule": "evenodd", fill: `url(#${this.uid}-hatch)` }) : null;
    const bar = {
      item,
      fill,
      wait,
      hatch,
      pin: null,
      short: abbreviations(phase2.phase, item.rank),
      x: NaN,
      y: NaN,
      flags: -1,
      width: NaN,
      before: NaN,
      after: NaN,
      tailWidth: NaN,
      duration: NaN,
      float: NaN,
      line: NaN,
      gap: NaN,
      length: "",
      hatched: "",
      plate: [0, 0],
      ghosted: NaN,
      group: svg("g", {
        class: `sv-bar sv-k-${phase2.kind}`,
        "data-phase": phase2.phase,
        "data-rank": item.rank,
        "data-kind": phase2.kind,
        role: "button",
        tabindex: "-1",
        "aria-roledescription": "phase"
      }),
      ghost: svg("rect", { class: "sv-ghost", height: height + 6, rx: 5 }),
      tail: svg("rect", { class: "sv-tail", height: px(height * 0.42), y: px(height * 0.29), rx: 1.5 }),
      label: svg("text", { class: "sv-label", y: px(height / 2), dy: ".35em", "text-anchor": "middle" }),
      note: svg("text", { class: "sv-note", y: px(height / 2), dy: ".35em" }),
      title: svg("title"),
      start: svg("rect", { class: "sv-grip", "data-handle": "start", height, y: 0 }),
      seam: svg("rect", { class: "sv-grip", height, y: 0, x: 0, width: 0 }),
      end: svg("rect", { class: "sv-grip", "data-handle": "end", height, y: 0 })
    };
    const parts = [bar.title, bar.tail];
    if (wait) parts.push(wait);
    parts.push(fill);
    if (hatch) parts.push(hatch);
    parts.push(bar.label, " ", bar.note, bar.start, bar.end, bar.seam);
    bar.group.append(...parts);
    return bar;
  }
  /** Bring every bar to `solved`; `baseline` gives the ghosts. */
  update(layout, scale, solved, baseline, state, fonts, quick) {
    const { doc } = solved;
    this.quick = quick;
    this.waits.clear();
    const exposed2 = /* @__PURE__ */ new Map();
    for (const row of layout.rows) {
      for (let place = 0; place < row.items.length; place++) {
        const bar = this.drawn[row.items[place]];
        const phase2 = doc.phases[bar.item.phase];
        if (phase2.kind === "exchange" && !exposed2.has(row.rank)) {
          exposed2.set(row.rank, exposedSegments(solved, "exchange", row.rank));
        }
        const before = this.drawn[row.items[place - 1] ?? -1];
        const after2 = this.drawn[row.items[place + 1] ?? -1];
        this.place(
          bar,
          phase2,
          row.y,
          layout.density.bar,
          scale,
          solved,
          state,
          fonts,
          before?.group.dataset["phase"] ?? null,
          before ? scale.x(solved.finish[before.item.phase]) : -Infinity,
          after2 ? scale.x(solved.start[after2.item.phase]) : scale.right + 22,
          exposed2.get(row.rank) ?? []
        );
        this.ghost(bar, phase2, row.y, scale, solved, baseline);
      }
    }
  }
  place(bar, phase2, y, height, scale, solved, state, fonts, previousName, previous, next, exposed2) {
    const i = bar.item.phase;
    const start = solved.start[i];
    const finish = solved.finish[i];
    const float2 = solved.totalFloat[i];
    const critical = solved.critical[i] === 1;
    const x = px(scale.x(start));
    const end = px(scale.x(finish));
    const selected = state.selection.has(phase2.phase);
    const roomy = selected || state.hover === phase2.phase || state.focus === phase2.phase;
    const arrival = bar.wait ? this.arrival(solved, i, bar.item.rank) : start;
    const width = px(phase2.duration * scale.pxPerMs);
    const moved = x !== bar.x || y !== bar.y;
    if (moved) {
      bar.x = x;
      bar.y = y;
      bar.group.setAttribute("transform", `translate(${x} ${y})`);
    }
    const flags = (critical ? 1 : 0) + (selected ? 2 : 0) + (roomy ? 4 : 0);
    const reflagged = flags !== bar.flags;
    if (reflagged) {
      bar.flags = flags;
      const { classList } = bar.group;
      classList.toggle("sv-critical", critical);
      classList.toggle("sv-selected", selected);
      attr(bar.group, "aria-pressed", String(selected));
    }
    const zero = phase2.duration === 0;
    const half = zero ? Math.min(9, height / 2) : 0;
    const before = Math.min(40, Math.round(x - previous));
    const after2 = Math.min(40, Math.round(next - end));
    const resized = width !== bar.width || phase2.duration !== bar.duration;
    const reshaped = resized || before !== bar.before || after2 !== bar.after || reflagged;
    if (reshaped) {
      bar.width = width;
      bar.before = before;
      bar.after = after2;
      shape(bar.fill, width, half, height);
      this.grips(bar, width, half, x - previous, next - end, roomy, previousName);
    }
    const tailEnd = Math.min(scale.x(Math.min(finish + float2, solved.completion)), next);
    const tail = Math.max(0, px(tailEnd - end));
    if (resized || tail !== bar.tailWidth) {
      attr(bar.tail, "x", width);
      attr(bar.tail, "width", tail);
    }
    if (bar.wait) {
      const from = px(Math.max(scale.x(arrival), previous));
      attr(bar.wait, "x", from - x);
      attr(bar.wait, "width", Math.max(0, px(x - from)));
    }
    if (resized) {
      bar.duration = phase2.duration;
      bar.length = brief(phase2.duration);
      this.label(bar, phase2, width, fonts, scale.left - x, scale.right - x);
    }
    const hatch = bar.hatch ? hatchPath(exposed2, start, finish, scale, x, height, bar.plate) : "";
    if (bar.hatch && hatch !== bar.hatched) {
      bar.hatched = hatch;
      attr(bar.hatch, "d", hatch === "" ? null : hatch);
    }
    const gap = Math.min(400, Math.round(next - end));
    const toLine = scale.x(solved.completion) - x;
    const line = toLine - width - tail < 200 ? Math.round(toLine) : 9999;
    if (resized || tail !== bar.tailWidth || gap !== bar.gap || line !== bar.line || float2 !== bar.float || reflagged || half > 0 && moved) {
      bar.tailWidth = tail;
      bar.gap = gap;
      bar.line = line;
      bar.float = float2;
      this.note(bar, phase2, start, width, half, tail, float2, next - end, fonts, solved.completion, line, height);
    }
    if (phase2.release > 0 || bar.pin) this.pin(bar, phase2, start, x, height, scale);
    if (!this.quick) this.name(bar, phase2, start, finish, float2, critical, arrival);
  }
  name(bar, phase2, start, finish, float2, critical, arrival) {
    const { phase: name, kind } = phase2;
    const { label, note, length } = bar;
    const head = `${name} ${length}${critical ? ", critical" : `, ${brief(float2)} float`}`;
    const written2 = label.textContent || (note.textContent ?? "");
    const exactly = number(phase2.duration) === length ? "" : `, exactly ${number(phase2.duration)} ms`;
    attr(bar.group, "aria-label", `${head.includes(written2) ? "" : `${written2}: `}${head}${exactly}${name.toLowerCase().includes(kind) ? "" : `, ${kind}`}, from ${number(start)} to ${number(finish)} ms`);
    const title = `${phase2.phase} · ${phase2.kind}
${number(phase2.duration)} ms: ${number(start)} – ${number(finish)}
${critical ? "on the critical path" : `total float ${number(float2)} ms`}` + (bar.wait && arrival < start ? `
waits ${number(start - arrival)} ms for the last rank` : "");
    if (bar.title.textContent !== title) bar.title.textContent = title;
  }
  arrival(solved, phase2, rank) {
    let known = this.waits.get(phase2);
    if (!known) this.waits.set(phase2, known = arrivals(solved, phase2));
    return known.get(rank) ?? solved.start[phase2];
  }
  grips(bar, width, half, before, after2, roomy, previous) {
    const reach = this.coarse ? REACH * 1.8 : REACH;
    const inside = Math.min(this.coarse ? 12 : 7, width / 3);
    const out = roomy ? reach : Math.min(reach, Math.max(2, after2 / 2 + 1));
    attr(bar.end, "x", px(width + half - inside));
    attr(bar.end, "width", px(Math.max(8, inside + out)));
    const left = roomy && before > 6 ? reach : Math.min(reach, Math.max(0, before / 2 - 2));
    const shift = left > 0 ? -left : Math.min(4, width / 4);
    attr(bar.start, "x", px(shift - half));
    attr(bar.start, "width", px(Math.max(0, Math.min(inside - shift, left + inside))));
    const near = left === 0 && before > -4 && before < 4;
    attr(bar.seam, "data-seam", near ? previous : null);
    attr(bar.seam, "x", near ? px(-Math.max(0, before)) : 0);
    attr(bar.seam, "width", near ? px(Math.max(0, before) + shift) : 0);
  }
  /** The label stands in the middle of what is seen of the bar: from `left` to `right`. */
  label(bar, phase2, width, fonts, left, right) {
    const { phase: name } = phase2;
    const { length, short: [short, tiny] } = bar;
    const from = Math.max(0, left);
    const to = Math.max(from, Math.min(width, right));
    const inside = phase2.duration === 0 ? "" : fit([`${name} ${length}`, `${short} ${length}`, name, short, tiny], to - from - 8, fonts.inside);
    if (bar.label.textContent !== inside) bar.label.textContent = inside;
    const middle = px((from + to) / 2);
    attr(bar.label, "x", middle);
    const room = bar.hatch === null || inside === "" ? -1 : textWidth(inside, fonts.inside) / 2 + 5;
    bar.plate = [middle - room, middle + room];
  }
  /** Beside the bar: what did not fit into it, and its float. */
  note(bar, phase2, start, width, half, tail, float2, gap, fonts, completion, line, height) {
    const name = phase2.phase;
    const inside = bar.label.textContent !== "";
    const candidates2 = [];
    const captioned = height >= 20 || (bar.flags & 5) !== 0;
    const spare = float2 > 1e-9 * Math.max(1, completion) && Number.isFinite(float2) ? `${brief(float2)} float` : "";
    if (!inside) {
      const label = half > 0 && phase2.kind === "input" ? `ready at ${brief(start)}` : `${name} ${bar.length}`;
      if (spare) candidates2.push(`${label} · ${spare}`);
      candidates2.push(label, name);
    } else if (spare) {
      candidates2.push(spare);
    }
    let note = "";
    let at2 = width + half + (tail > 0 ? tail + 5 : 6);
    if (captioned && candidates2.length > 0 && gap + width > at2) {
      if (at2 < line + 6 && at2 + textWidth(candidates2[0], fonts.outside) > line) at2 = line + 7;
      const room = gap + width - at2 - 6;
      note = candidates2.find((candidate) => textWidth(candidate, fonts.outside) <= room) ?? "";
    }
    if (note === "" && inside && spare && height >= 28) {
      note = [spare, ...height >= 34 ? [brief(float2)] : []].find((candidate) => textWidth(candidate, fonts.outside) <= tail - 4) ?? "";
      if (note !== "") at2 = width + (tail - textWidth(note, fonts.outside)) / 2;
    }
    if (bar.note.textContent !== note) bar.note.textContent = note;
    if (note !== "") attr(bar.note, "x", px(at2));
  }
  ghost(bar, phase2, y, scale, solved, baseline) {
    const was = baseline.index.get(phase2.phase);
    const i = bar.item.phase;
    const tolerance = 1e-9 * Math.max(1, solved.completion);
    const moved = was !== void 0 && (Math.abs(baseline.start[was] - solved.start[i]) > tolerance || Math.abs(baseline.finish[was] - solved.finish[i]) > tolerance);
    const x = moved ? px(scale.x(baseline.start[was])) : -1e9;
    if (x === bar.ghosted) return;
    bar.ghosted = x;
    attr(bar.ghost, "display", moved ? null : "none");
    if (!moved) return;
    attr(bar.ghost, "x", x);
    attr(bar.ghost, "y", y - 3);
    attr(bar.ghost, "width", px(Math.max(3, scale.x(baseline.finish[was]) - x)));
  }
  /** A release stands as a pin on the bar's row, at its own time, also where something later holds. */
  pin(bar, phase2, start, x, height, scale) {
    if (!(phase2.release > 0)) {
      bar.pin?.remove();
      bar.pin = null;
      return;
    }
    if (!bar.pin) {
      bar.pin = svg(
        "g",
        { class: "sv-pin", "data-role": "pin", "data-pin": phase2.phase },
        svg("title"),
        svg("rect", { class: "sv-pin-hit", x: -9, y: -15, width: 18, height: 18 }),
        svg("path", { class: "sv-pin-stem", d: `M0 -4V${height}` }),
        svg("path", { class: "sv-pin-head", d: "M-5.5 -14H5.5V-8L0 -2.5L-5.5 -8Z" }),
        svg("path", { class: "sv-pin-cross", d: "M-2.2 -11.6L2.2 -7.2M2.2 -11.6L-2.2 -7.2" })
      );
      bar.pin.firstChild.textContent = "";
      bar.group.append(bar.pin);
    }
    const holds = Math.abs(phase2.release - start) <= 1e-9 * Math.max(1, start);
    bar.pin.classList.toggle("sv-idle", !holds);
    attr(bar.pin, "transform", `translate(${px(scale.x(phase2.release) - x)} 0)`);
    const title = `released at ${number(phase2.release)} ms${holds ? "" : "; something later holds it"} · click to remove`;
    const element = bar.pin.firstChild;
    if (element.textContent !== title) element.textContent = title;
  }
};

// view/layout.ts
var NO_LANE = "no lane";
function densityFor(rows) {
  if (rows <= 5) return { name: "roomy", bar: 34, gap: 38 };
  if (rows <= 10) return { name: "medium", bar: 28, gap: 24 };
  if (rows <= 20) return { name: "compact", bar: 22, gap: 14 };
  return { name: "dense", bar: 16, gap: 8 };
}
function ranksOf2(doc) {
  const ranks2 = /* @__PURE__ */ new Set();
  for (const phase2 of doc.phases) {
    if (phase2.rank !== null) ranks2.add(phase2.rank);
    else for (const member of phase2.members ?? []) ranks2.add(member);
  }
  return [...ranks2].sort((a, b) => a - b);
}
function layOut(solved, filter) {
  const { doc } = solved;
  const ranks2 = ranksOf2(doc);
  const lanes = [...new Set(doc.phases.map((phase2) => phase2.lane ?? NO_LANE))];
  const laneOrder = new Map(lanes.map((lane, order) => [lane, order]));
  const groups = /* @__PURE__ */ new Map();
  doc.phases.forEach((phase2, index) => {
    const lane = phase2.lane ?? NO_LANE;
    if (filter.kinds.has(phase2.kind) || filter.lanes.has(lane)) return;
    for (const rank2 of phase2.rank !== null ? [phase2.rank] : phase2.members ?? []) {
      if (filter.ranks.has(rank2)) continue;
      const key = `${rank2}\0${lane}`;
      let group = groups.get(key);
      if (!group) groups.set(key, group = { rank: rank2, lane, phases: [] });
      group.phases.push(index);
    }
  });
  const ordered = [...groups.values()].sort((a, b) => a.rank - b.rank || (laneOrder.get(a.lane) ?? 0) - (laneOrder.get(b.lane) ?? 0));
  const packed = ordered.map((group) => ({ ...group, sub: pack(group.phases, solved) }));
  const count = packed.reduce((sum, group) => sum + group.sub.length, 0);
  const density = densityFor(count);
  const layout = {
    density,
    rows: [],
    headings: [],
    items: [],
    of: /* @__PURE__ */ new Map(),
    height: 0
  };
  let y = ranks2.length > 1 ? 10 : 30;
  let rank = null;
  for (const group of packed) {
    if (ranks2.length > 1 && group.rank !== rank) {
      rank = group.rank;
      if (layout.rows.length > 0) y += density.gap / 3;
      layout.headings.push({ rank, y });
      y += density.name === "dense" ? 20 : 30;
    }
    group.sub.forEach((phases, sub) => {
      const row = {
        rank: group.rank,
        lane: group.lane === NO_LANE ? null : group.lane,
        label: sub === 0 ? group.lane : "",
        y,
        items: []
      };
      for (const phase2 of phases) {
        const item = layout.items.length;
        layout.items.push({
          phase: phase2,
          rank: group.rank,
          row: layout.rows.length,
          member: doc.phases[phase2]?.rank === null
        });
        row.items.push(item);
        const of = layout.of.get(phase2);
        if (of) of.push(item);
        else layout.of.set(phase2, [item]);
      }
      layout.rows.push(row);
      y += density.bar + (sub < group.sub.length - 1 ? Math.min(density.gap, 6) : density.gap);
    });
  }
  layout.height = Math.max(y - density.gap + 34, 60);
  return layout;
}
function wholeRows(layout, most) {
  const { rows, density, height } = layout;
  if (height <= most) return Math.ceil(height);
  let best = 0;
  for (const row of rows) {
    const below = Math.ceil(row.y + density.bar + Math.min(6, density.gap / 2));
    if (below <= most) best = below;
  }
  return best > 0 ? best : most;
}
function pack(phases, solved) {
  const start = (phase2) => solved.start[phase2];
  const finish = (phase2) => solved.finish[phase2];
  const sorted = [...phases].sort((a, b) => start(a) - start(b) || finish(a) - finish(b) || a - b);
  const rows = [];
  const slack = 1e-9 * Math.max(1, solved.completion);
  for (const phase2 of sorted) {
    const row = rows.find((candidate) => candidate.end <= start(phase2) + slack);
    if (row) {
      row.phases.push(phase2);
      row.end = Math.max(row.end, finish(phase2));
    } else {
      rows.push({ phases: [phase2], end: finish(phase2) });
    }
  }
  return rows.map((row) => row.phases);
}

// view/overlay.ts
var Overlay = class {
  constructor(coarse) {
    this.coarse = coarse;
    this.layer.append(this.ends, this.ports, this.tether, this.knob, this.rubber, this.target, this.marquee);
    this.free.append(this.tip);
  }
  coarse;
  /** Clipped to the plot. */
  layer = svg("g", { class: "sv-overlay" });
  /** Not clipped: the tooltip may leave the plot. */
  free = svg("g", { class: "sv-free", "aria-hidden": "true" });
  ports = svg("g");
  ends = svg("g");
  marquee = svg("rect", { class: "sv-marquee", display: "none" });
  rubber = svg("path", { class: "sv-rubber", display: "none" });
  target = svg("circle", { class: "sv-target", r: 8, display: "none" });
  tether = svg("path", { class: "sv-tether", display: "none" });
  knob = svg("circle", { class: "sv-knob", r: 6, display: "none" });
  tip = svg(
    "g",
    { class: "sv-tip", display: "none" },
    svg("rect", { height: 24, rx: 6 }),
    svg("text", { y: 12, dy: ".35em", "text-anchor": "middle" })
  );
  key = "";
  clear() {
    this.key = "";
  }
  update(layout, scale, solved, state) {
    const active2 = /* @__PURE__ */ new Set();
    if (state.dragging === null) {
      for (const name of [state.primary, state.hover, state.focus]) if (name !== null) active2.add(name);
    }
    const wanted = [];
    for (const name of active2) {
      const index = solved.index.get(name);
      if (index === void 0) continue;
      for (const k of layout.of.get(index) ?? []) wanted.push({ item: layout.items[k], name });
    }
    const places = wanted.map(({ item, name }) => {
      const row = layout.rows[item.row];
      const start = scale.x(solved.start[item.phase]);
      const finish = scale.x(solved.finish[item.phase]);
      return { item, name, start, finish, top: row.y, bottom: row.y + layout.density.bar };
    });
    const key = places.map((p) => `${p.name}@${p.item.rank}:${px(p.start)}:${px(p.finish)}:${p.top}`).join("|") + `#${state.arrow}#${state.primary}`;
    if (key === this.key) return;
    this.key = key;
    this.ports.replaceChildren(...places.flatMap((place) => {
      const apart = Math.max(0, (this.coarse ? 30 : 18) - (place.finish - place.start)) / 2;
      return [
        this.port(place.name, "start", place.start - apart, place.bottom + 1),
        this.port(place.name, "finish", place.finish + apart, place.bottom + 1)
      ];
    }));
    this.ends.replaceChildren(...places.flatMap((place) => {
      if (place.finish - place.start < 26) {
        return [this.grip(place, "start", place.start - 12), this.grip(place, "end", place.finish + 2)];
      }
      return place.name === state.primary ? [this.grip(place, "start", place.start - 5), this.grip(place, "end", place.finish - 5)] : [];
    }));
    this.arrowEnds(layout, scale, solved, state);
  }
  port(name, end, x, y) {
    const group = svg("g", {
      class: "sv-port",
      "data-port": end,
      "data-of": name,
      transform: `translate(${px(x)} ${px(y)})`
    }, svg("circle", { class: "sv-port-hit", r: this.coarse ? 14 : 8 }), svg("circle", { class: "sv-port-dot", r: 4.5 }));
    const title = svg("title");
    title.textContent = `drag an arrow from the ${end} of ${name}`;
    group.append(title);
    return group;
  }
  grip(place, handle, x) {
    return svg("rect", {
      class: "sv-grip",
      "data-handle": handle,
      "data-of": place.name,
      x: px(x),
      y: place.top,
      width: 10,
      height: place.bottom - place.top
    });
  }
  /** The chosen arrow's own ends: drag one onto another bar's end to attach it there. */
  arrowEnds(layout, scale, solved, state) {
    if (state.arrow === null) return;
    const dependency = solved.dependencies.find((other) => other.row === state.arrow);
    if (!dependency) return;
    for (const side of ["source", "target"]) {
      const item = layout.items[(layout.of.get(dependency[side]) ?? [])[0] ?? -1];
      const other = layout.items[(layout.of.get(dependency[side === "source" ? "target" : "source"]) ?? [])[0] ?? -1];
      if (!item || !other) continue;
      const end = side === "source" ? leaves(dependency.type) : arrives(dependency.type);
      const seat = anchor(item, end, 0, solved, scale, layout);
      const y = other.row < item.row ? seat.top : seat.bottom;
      this.ports.append(svg("circle", {
        class: "sv-arrow-end",
        "data-arrow-end": side,
        "data-row": state.arrow,
        cx: px(seat.x),
        cy: px(y),
        r: this.coarse ? 10 : 6
      }));
    }
  }
  /** The bubble with the dragged value, above (or, at the top, below) a point. */
  tooltip(content, x = 0, y = 0, width = 0, font = "") {
    attr(this.tip, "display", content === null ? "none" : null);
    if (content === null) return;
    const label = this.tip.lastChild;
    if (label.textContent !== content) label.textContent = content;
    const room = textWidth(content, `600 12px ${font}`) + 20;
    const rect = this.tip.firstChild;
    attr(rect, "x", px(-room / 2));
    attr(rect, "width", px(room));
    const left = Math.min(Math.max(x, room / 2 + 4), Math.max(room / 2 + 4, width - room / 2 - 4));
    attr(this.tip, "transform", `translate(${px(left)} ${px(Math.max(0, y))})`);
  }
  setKnob(x, y = 0) {
    attr(this.knob, "display", x === null ? "none" : null);
    if (x === null) return;
    attr(this.knob, "cx", px(x));
    attr(this.knob, "cy", px(y));
  }
  /** A dotted line from where the hand is to the bar's end that did not follow. */
  setTether(from, to = 0, y = 0) {
    const apart = from !== null && Math.abs(from - to) > 2;
    attr(this.tether, "display", apart ? null : "none");
    if (apart) attr(this.tether, "d", `M${px(from)} ${px(y)}H${px(to)}`);
  }
  setMarquee(box) {
    attr(this.marquee, "display", box === null ? "none" : null);
    if (box) for (const [name, value] of Object.entries(box)) attr(this.marquee, name, px(value));
  }
  /** The arrow being drawn, and the end it would attach to. */
  setRubber(from, to = { x: 0, y: 0 }, at2 = null) {
    attr(this.rubber, "display", from === null ? "none" : null);
    attr(this.target, "display", from === null || at2 === null ? "none" : null);
    if (from === null) return;
    const end = at2 ?? to;
    const bend = Math.min(60, Math.abs(end.y - from.y) / 2 + 10) * (end.y >= from.y ? 1 : -1);
    attr(this.rubber, "d", `M${px(from.x)} ${px(from.y)}C${px(from.x)} ${px(from.y + bend)} ${px(end.x)} ${px(end.y - bend)} ${px(end.x)} ${px(end.y)}`);
    if (at2) {
      attr(this.target, "cx", px(at2.x));
      attr(this.target, "cy", px(at2.y));
    }
  }
};

// view/strip.ts
var HEIGHT = 24;
var STRIP_HEIGHT = HEIGHT + 8;
var NAMES = {
  exchange: "exposed exchange",
  wait: "waiting for other ranks",
  idle: "nothing runs"
};
var Strip = class {
  constructor(uid, pick) {
    this.uid = uid;
    this.pick = pick;
    this.caption.textContent = "the step is";
    this.layer.append(this.caption, this.parts, this.total);
  }
  uid;
  pick;
  layer = svg("g", { class: "sv-strip", "aria-hidden": "true" });
  /** What is clipped to the plot when it is zoomed in. */
  parts = svg("g");
  sum = html("div", { class: "sv-sum", "data-role": "breakdown" });
  caption = svg("text", { class: "sv-lane-name", "text-anchor": "end", y: HEIGHT / 2, dy: ".35em" });
  total = svg("text", { class: "sv-strip-total", y: HEIGHT / 2, dy: ".35em" });
  pieces = [];
  sumKey = "";
  update(scale, solved, several2, family) {
    const rank = slowestRank(solved);
    const rows = breakdown(solved, rank).filter((row) => !negligible(row.ms, solved.completion));
    const segments = rows.flatMap((row) => row.segments.filter(([from, to]) => !negligible(to - from, solved.completion)).map((segment) => ({ row, segment })));
    while (this.pieces.length < segments.length) {
      const piece = { rect: svg("rect", { height: HEIGHT }), plate: svg("rect", { height: HEIGHT - 9, y: 4.5, rx: 2, class: "sv-plate" }), label: svg("text", {
        class: "sv-label",
        y: HEIGHT / 2,
        dy: ".35em",
        "text-anchor": "middle"
      }) };
      this.parts.append(piece.rect, piece.plate, piece.label);
      this.pieces.push(piece);
    }
    this.pieces.forEach((piece, k) => {
      const part = segments[k];
      attr(piece.rect, "display", part ? null : "none");
      attr(piece.label, "display", part ? null : "none");
      if (!part) attr(piece.plate, "display", "none");
      if (part) this.place(piece, part.row, part.segment, scale, `500 11.5px ${family}`);
    });
    attr(this.caption, "x", scale.left - 14);
    const total2 = `= ${number(solved.completion)} ms`;
    if (this.total.textContent !== total2) this.total.textContent = total2;
    const end = scale.x(solved.completion);
    attr(this.total, "x", px(end + 8));
    const fits = end + textWidth(total2, `700 13px ${family}`) <= scale.right + 18;
    attr(this.total, "display", end > scale.left && fits ? null : "none");
    this.write(rows, solved, several2 ? rank : null);
  }
  place(piece, row, [from, to], scale, font) {
    const x = scale.x(from);
    const width = Math.max(0, scale.x(to) - x - (scale.x(to) - x > 3 ? 1 : 0));
    attr(piece.rect, "x", px(x));
    attr(piece.rect, "width", px(width));
    attr(piece.rect, "class", `sv-piece sv-k-${row.row}`);
    attr(piece.rect, "style", row.row === "exchange" ? `fill:url(#${this.uid}-hatch)` : null);
    attr(piece.label, "class", `sv-label sv-k-${row.row}`);
    const left = Math.max(x, scale.left);
    const right = Math.min(x + width, scale.right);
    const amount = brief(to - from);
    const label = right > left ? fit([`${row.row} ${amount}`, amount], right - left - 8, font) : "";
    const half = textWidth(label, font) / 2 + 3;
    const written2 = label.endsWith("…") ? "" : label;
    if (piece.label.textContent !== written2) piece.label.textContent = written2;
    attr(piece.label, "x", px((left + right) / 2));
    const hatched = row.row === "exchange" && written2 !== "";
    attr(piece.plate, "display", hatched ? null : "none");
    if (!hatched) return;
    attr(piece.plate, "x", px((left + right) / 2 - half));
    attr(piece.plate, "width", px(2 * half));
  }
  /** The sum in words: it is also the legend, and picks a kind when clicked. */
  write(rows, solved, rank) {
    const key = rows.map((row) => `${row.row} ${number(row.ms)}`).join("+") + `=${number(solved.completion)}@${rank}`;
    if (key === this.sumKey) return;
    this.sumKey = key;
    const children = [];
    if (rank !== null) children.push(html("span", { class: "sv-dim" }, `rank ${rank}: `));
    rows.forEach((row, k) => {
      if (k > 0) children.push(html("span", { class: "sv-plus" }, " + "));
      const term = html("button", {
        type: "button",
        class: `sv-term sv-k-${row.row}`,
        title: `choose every ${row.row} phase`
      }, html("i", { class: "sv-swatch" }), html("b", {}, number(row.ms)), ` ${NAMES[row.row] ?? row.row}`);
      if (row.row === "idle" || row.row === "wait") term.disabled = true;
      else term.addEventListener("click", () => this.pick(row.row));
      children.push(term);
    });
    children.push(html(
      "span",
      { class: "sv-total" },
      html("span", { class: "sv-plus" }, rows.length > 0 ? " = " : ""),
      html("b", {}, `${number(solved.completion)} ms`)
    ));
    this.sum.replaceChildren(...children);
  }
};

// view/chart.ts
var MOST = 620;
var Chart = class {
  constructor(context2, pick) {
    this.context = context2;
    const { uid, root } = context2;
    const coarse = matchMedia("(any-pointer: coarse)").matches;
    this.bars = new Bars(uid, coarse);
    this.strip = new Strip(uid, pick);
    this.overlay = new Overlay(coarse);
    this.clips = [0, 1].map(() => svg("rect", { y: -20 }));
    const clip = (name, k) => svg("clipPath", { id: `${uid}-${name}` }, this.clips[k]);
    const hatch = svg("pattern", {
      id: `${uid}-hatch`,
      class: "sv-hatch-pattern",
      width: 6,
      height: 6,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)"
    }, svg("rect", { width: 6, height: 6 }), svg("line", { x1: 1, x2: 1, y1: 0, y2: 6 }));
    this.head = svg(
      "svg",
      { class: "sv-head-svg", height: AXIS_HEIGHT, "aria-hidden": "true" },
      this.axis.head
    );
    this.body = svg(
      "svg",
      {
        class: "sv-body",
        "data-role": "chart",
        role: "application",
        "aria-roledescription": "timeline editor",
        "aria-label": "timeline",
        "aria-describedby": `${uid}-hint`
      },
      svg("defs", {}, clip("body", 0), hatch),
      this.stripes,
      svg(
        "g",
        { "clip-path": `url(#${uid}-body)` },
        this.axis.lines,
        this.bars.ghosts,
        this.axis.marks,
        this.arrows.layer,
        this.bars.layer,
        this.arrows.front,
        this.arrows.pills,
        this.overlay.layer
      ),
      // Over the lines and pins: a title is read first.
      this.names,
      this.overlay.free
    );
    this.below = svg(
      "svg",
      { class: "sv-below", height: FOOT_HEIGHT + STRIP_HEIGHT, "aria-hidden": "true" },
      svg("defs", {}, clip("below", 1)),
      this.axis.foot,
      svg("g", { transform: `translate(0 ${FOOT_HEIGHT})` }, this.strip.layer)
    );
    attr(this.strip.parts, "clip-path", `url(#${uid}-below)`);
    this.scroller.append(this.head, this.body);
    this.element = html("div", { class: "sv-chart" }, this.frame, this.more, this.below, this.strip.sum);
    this.scroller.addEventListener("scroll", () => this.cue(), { signal: context2.signal, passive: true });
    this.onward.addEventListener("click", () => this.goTo(slowestRank(context2.session.shown)), { signal: context2.signal });
    this.layout = layOut(context2.session.shown, context2.state.hidden);
    void root;
  }
  context;
  element;
  scroller = html("div", { class: "sv-scroll" });
  frame = html("div", { class: "sv-frame" }, this.scroller);
  onward = html("button", { type: "button", class: "sv-link", "data-role": "onward" });
  more = html(
    "div",
    { class: "sv-more", "data-role": "more", hidden: true },
    html("span"),
    this.onward
  );
  body;
  head;
  below;
  bars;
  arrows = new Arrows();
  overlay;
  strip;
  axis = new Axis();
  names = svg("g", { class: "sv-names" });
  stripes = svg("g", { class: "sv-stripes" });
  clips;
  layout;
  scale = new TimeScale(0, 1, 1, 0);
  width = 0;
  cut = false;
  domain = 0;
  /** The time the plot would show unzoomed. */
  whole = 1;
  laidOut = [];
  family = "system-ui, sans-serif";
  get font() {
    return this.family;
  }
  /** Everything again: after an edit of the structure, a resize, a filter, a zoom. */
  relayout(solved) {
    const { session, state, root } = this.context;
    const style = getComputedStyle(root);
    this.family = style.fontFamily || this.family;
    this.layout = layOut(solved, state.hidden);
    this.laidOut = solved.doc.phases;
    const most = wholeRows(this.layout, Math.max(120, session.height ?? MOST) - AXIS_HEIGHT);
    this.scroller.style.maxHeight = `${most + AXIS_HEIGHT}px`;
    this.cut = most < Math.ceil(this.layout.height);
    attr(this.body, "height", Math.ceil(this.layout.height));
    const width = this.scroller.clientWidth;
    this.width = width;
    if (width <= 0) return;
    root.dataset["density"] = this.layout.density.name;
    root.dataset["ranks"] = String(ranksOf2(solved.doc).length);
    const labels = this.layout.rows.map((row) => textWidth(row.label, `500 12.5px ${this.family}`));
    const gutter = Math.round(Math.min(Math.max(64, ...labels) + 30, Math.max(84, width * 0.22)));
    this.rescale(solved, gutter, width);
    for (const element of [this.head, this.body, this.below]) attr(element, "width", width);
    const edge = this.scale.left - (this.scale.origin > 0 ? 0 : 14);
    for (const clip of this.clips) {
      attr(clip, "x", px(edge));
      attr(clip, "width", px(width - edge));
      attr(clip, "height", Math.ceil(this.layout.height) + 60);
    }
    this.drawNames(gutter, width);
    this.tellMore(solved);
    this.bars.build(this.layout, solved, this.scale);
    this.arrows.clear();
    this.overlay.clear();
    this.axis.layout(this.scale, Math.ceil(this.layout.height), this.whole, this.family);
    this.update(solved);
  }
  rescale(solved, gutter, width) {
    const { session, state } = this.context;
    const latest = solved.finish.reduce((most, finish) => Math.max(most, finish), session.baseline.completion);
    const end = fitEnd(latest);
    if (end > this.domain || end < this.domain * 0.62) this.domain = end;
    const right = width - 18;
    const room = Math.max(40, right - gutter);
    const beyond = Math.min(textWidth(`= ${number(solved.completion)} ms`, `700 13px ${this.family}`), room / 4);
    const least2 = Math.min(room / this.domain, Math.max(20, room - beyond) / Math.max(latest, 1e-9));
    this.whole = room / least2;
    if (state.zoom) {
      const pxPerMs = Math.min(Math.max(state.zoom.pxPerMs, least2), least2 * 1e5);
      const origin = Math.min(Math.max(0, state.zoom.origin), room / least2 - room / pxPerMs);
      state.zoom = pxPerMs <= least2 * 1.0001 ? null : { pxPerMs, origin };
    }
    this.scale = new TimeScale(
      gutter,
      right,
      state.zoom?.pxPerMs ?? least2,
      state.zoom?.origin ?? 0
    );
    const { root } = this.context;
    root.dataset["pxPerMs"] = String(this.scale.pxPerMs);
    root.dataset["x0"] = String(this.scale.x(0));
  }
  /** Forget the kept scale: fit the step again. */
  fit() {
    this.domain = 0;
    this.context.state.zoom = null;
    this.context.redraw("layout");
  }
  zoomBy(factor, at2) {
    const x = at2 ?? (this.scale.left + this.scale.right) / 2;
    const time = this.scale.time(x);
    const pxPerMs = this.scale.pxPerMs * factor;
    this.context.state.zoom = { pxPerMs, origin: time - (x - this.scale.left) / pxPerMs };
    this.context.redraw("layout");
  }
  panBy(pixels) {
    const { state } = this.context;
    if (!state.zoom) return;
    state.zoom = { ...state.zoom, origin: state.zoom.origin - pixels / state.zoom.pxPerMs };
    this.context.redraw("layout");
  }
  /** Bring a bar into view after the keyboard moved to it. */
  reveal(name) {
    const { session, state } = this.context;
    const index = session.shown.index.get(name);
    if (index === void 0) return;
    const start = session.shown.start[index];
    const finish = session.shown.finish[index];
    if (state.zoom && (finish < this.scale.origin || start > this.scale.end)) {
      state.zoom = { ...state.zoom, origin: start - 40 / state.zoom.pxPerMs };
      this.context.redraw("layout");
    }
    const item = this.first(index);
    const row = item ? this.layout.rows[item.row] : void 0;
    if (!row) return;
    const top = row.y + AXIS_HEIGHT - this.scroller.scrollTop;
    if (top < AXIS_HEIGHT + 8) this.scroller.scrollTop -= AXIS_HEIGHT + 8 - top;
    const below = top + this.layout.density.bar + 12 - this.scroller.clientHeight;
    if (below > 0) this.scroller.scrollTop += below;
  }
  drawNames(gutter, width) {
    const names = [];
    const stripes = [];
    const { rows, headings, density } = this.layout;
    const leading = slowestRank(this.context.session.shown);
    headings.forEach((heading, k) => {
      const label = svg("text", { class: "sv-rank-name", x: 14, y: heading.y + 9 });
      label.textContent = `rank ${heading.rank}${heading.rank === leading ? ", the slowest" : ""}`;
      names.push(svg("rect", {
        class: "sv-rank-plate",
        x: 10,
        y: heading.y - 4,
        height: 17,
        width: px(textWidth(label.textContent, `700 12px ${this.family}`) + 8)
      }), label);
      if (k > 0) stripes.push(svg("line", { class: "sv-rank-line", x1: 8, x2: width - 8, y1: heading.y - 6, y2: heading.y - 6 }));
    });
    for (const row of rows) {
      stripes.push(svg("rect", {
        class: "sv-row",
        x: gutter - 6,
        width: Math.max(0, width - gutter - 4),
        y: row.y - 4,
        height: density.bar + 8,
        rx: 5
      }));
      if (row.label === "") continue;
      const label = svg("text", {
        class: "sv-lane-name",
        x: gutter - 14,
        y: row.y + density.bar / 2,
        dy: ".35em",
        "text-anchor": "end"
      });
      const title = svg("title");
      title.textContent = row.label;
      label.textContent = shorten(row.label, gutter - 26, `500 12.5px ${this.family}`);
      label.append(title);
      names.push(label);
    }
    this.names.replaceChildren(...names);
    this.stripes.replaceChildren(...stripes);
  }
  /** The rows that don't fit, and the way to those that the headline speaks of. */
  tellMore(solved) {
    const { headings } = this.layout;
    show(this.more, this.cut);
    const rank = slowestRank(solved);
    text2(this.onward, `go to rank ${rank}, the slowest`);
    if (this.cut) {
      text2(this.more.firstChild, headings.length > 1 ? `${headings.length} ranks, more below · ` : "more rows below");
      show(this.onward, headings.some((heading) => heading.rank === rank));
    }
    this.cue();
  }
  /** Shade the edges beyond which there are more rows. */
  cue() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    const hidden = [scrollTop > 2 ? "above" : "", this.cut && scrollTop + clientHeight < scrollHeight - 2 ? "below" : ""];
    attr(this.frame, "data-hidden-rows", hidden.join(" ").trim() || null);
  }
  /** Scroll to a rank's rows. */
  goTo(rank) {
    const heading = this.layout.headings.find((other) => other.rank === rank);
    if (!heading) return;
    this.element.scrollIntoView({ block: "nearest" });
    this.scroller.scrollTop = heading.y - 8;
  }
  /** Move what is drawn to `solved`, whose structure is that of the last `relayout`. */
  update(solved) {
    if (this.width <= 0) return;
    const { session, state } = this.context;
    const small = this.layout.density.name === "dense" ? 10 : this.layout.density.name === "compact" ? 11 : 12.5;
    this.bars.update(this.layout, this.scale, solved, session.baseline, state, {
      inside: `600 ${small}px ${this.family}`,
      outside: `${Math.min(11, small)}px ${this.family}`
    }, session.dragging);
    this.arrows.update(this.layout, this.scale, solved, state, `600 11px ${this.family}`);
    this.axis.update(this.scale, solved, session.baseline, session.baselineName, this.family);
    this.strip.update(this.scale, solved, this.layout.headings.length > 0, this.family);
    this.overlay.update(this.layout, this.scale, solved, state);
  }
  /** A point of the page in the drawing's pixels. */
  point(event) {
    const box = this.body.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
  /** The bar at a point, generously: for dropping arrows. */
  itemAt(point, solved) {
    const { rows, items, density } = this.layout;
    const slack = Math.min(density.gap / 2, 14);
    let best = null;
    let least2 = 14;
    for (const row of rows) {
      if (point.y < row.y - slack || point.y > row.y + density.bar + slack) continue;
      for (const k of row.items) {
        const item = items[k];
        const start = this.scale.x(solved.start[item.phase]);
        const finish = this.scale.x(solved.finish[item.phase]);
        const off2 = Math.max(start - point.x, point.x - finish, 0) + Math.max(row.y - point.y, point.y - row.y - density.bar, 0) / 2;
        if (off2 < least2) {
          least2 = off2;
          best = item;
        }
      }
    }
    return best;
  }
  /** Those of some phases that no filter hides. */
  visible(names) {
    const { shown } = this.context.session;
    return names.filter((name) => this.layout.of.has(shown.index.get(name) ?? -1));
  }
  /** Whether the layout is of this timeline: the same phases, in the same rows. */
  fits(solved) {
    const { phases } = solved.doc;
    return phases === this.laidOut || phases.length === this.laidOut.length && phases.every(({ phase: phase2 }, row) => phase2 === this.laidOut[row]?.phase);
  }
  /** The first drawing of a phase: a collective has one per rank, a filtered one none. */
  first(phase2) {
    return this.layout.items[(this.layout.of.get(phase2) ?? [])[0] ?? -1];
  }
  phaseOf(item, solved) {
    return solved.doc.phases[item.phase];
  }
  rowOf(item) {
    return this.layout.rows[item.row];
  }
};
function shorten(label, room, font) {
  if (textWidth(label, font) <= room) return label;
  let length = label.length - 1;
  while (length > 1 && textWidth(`${label.slice(0, length)}…`, font) > room) length--;
  return `${label.slice(0, length)}…`;
}

// view/choice.ts
function follow(state, before, after2) {
  if (before === after2) return;
  const next = (name) => name === null ? null : followPhase(name, before, after2);
  const names = [...state.selection].map(next);
  state.selection.clear();
  for (const name of names) if (name !== null) state.selection.add(name);
  state.arrow = state.arrow === null ? null : followLink(state.arrow, before, after2);
  state.focus = next(state.focus);
  state.hover = next(state.hover);
}

// model/sensitivity.ts
function sensitivity(doc, phase2) {
  const solver = new FastSolver(doc);
  const p = solver.index.get(phase2);
  if (p === void 0) throw new Refused(`There is no phase called “${phase2}”.`);
  const solved = solver.solve();
  const reach = reaches(solved, p);
  const tail = tails(solved, p);
  const without = completionWithout(solver, solved, p);
  const constant = Math.max(reach.start + tail.start, reach.finish + tail.finish);
  const level = Math.max(without, constant);
  const fall = reach.finish + tail.start;
  const rise = reach.start + tail.finish;
  const at2 = (x) => Math.max(level, fall - x, rise + x);
  const now = solver.durations[p];
  let corners = [fall - level, level - rise];
  if (corners[0] > corners[1]) corners = [(fall - rise) / 2];
  corners = corners.filter((x) => x > 0 && x < Infinity);
  const end = 2 * Math.max(now, ...corners) || Math.max(solved.completion, 1);
  const duration = [.../* @__PURE__ */ new Set([0, now, ...corners, end])].sort((a, b) => a - b);
  const best = Math.min(Math.max(bestDuration(fall, rise), 0), now);
  const tolerance = 1e-9 * Math.max(1, Math.abs(solved.completion));
  const saved = solved.completion - at2(best);
  const drag = solved.critical[p] === 1 && saved > tolerance ? saved : 0;
  return {
    duration,
    completion: duration.map(at2),
    drag,
    takeover: solved.critical[p] === 1 ? takeover() : null
  };
  function takeover() {
    const floor = fall > -Infinity ? Math.max(level, (fall + rise) / 2) : level;
    let stop = Math.min(floor - rise, now);
    if (now - stop <= tolerance) stop = now;
    if (!(stop > 0)) return null;
    const leader = leaderAt(stop);
    return leader === null ? null : { duration: stop, phase: leader };
  }
  function leaderAt(stop) {
    if (fall - stop > level + tolerance) return finishHolder(solved, p);
    if (without < level - tolerance) {
      if (reach.finish + tail.finish >= reach.start + tail.start) return finishHolder(solved, p);
      return targetOfStart(solved, p);
    }
    solver.durations[p] = stop;
    const there = solver.solve();
    solver.durations[p] = now;
    return rival(solver, solved, there, p);
  }
}
function bestDuration(fall, rise) {
  if (fall === -Infinity) return 0;
  return rise === -Infinity ? Infinity : (fall - rise) / 2;
}
function reaches(solved, p) {
  let start = Math.max(0, solved.doc.phases[p].release);
  let finish = -Infinity;
  for (const link2 of solved.dependencies) {
    if (link2.target !== p) continue;
    const head = fromFinish(link2.type) ? solved.finish[link2.source] : solved.start[link2.source];
    if (toFinish(link2.type)) finish = Math.max(finish, head + link2.lag);
    else start = Math.max(start, head + link2.lag);
  }
  return { start, finish };
}
function tails(solved, p) {
  const { completion, doc } = solved;
  let start = -Infinity;
  let finish = doc.target === null || doc.target === doc.phases[p].phase ? 0 : -Infinity;
  for (const link2 of solved.dependencies) {
    if (link2.source !== p) continue;
    const late = toFinish(link2.type) ? solved.latestFinish[link2.target] : solved.latestStart[link2.target];
    const tail = completion - (late - link2.lag);
    if (fromFinish(link2.type)) finish = Math.max(finish, tail);
    else start = Math.max(start, tail);
  }
  return { start, finish };
}
function completionWithout(solver, solved, p) {
  const { doc } = solved;
  const lag2 = Float64Array.from(solved.dependencies, (link2) => link2.lag);
  const start = forward(solver.graph, solver.durations, solver.releases, lag2, p);
  const goal = doc.target === null ? -1 : solver.index.get(doc.target);
  let last = -Infinity;
  for (let i = 0; i < start.length; i++) {
    if (i !== p && (goal < 0 || goal === i)) last = Math.max(last, start[i] + solver.durations[i]);
  }
  return last;
}
function finishHolder(solved, p) {
  let best = -Infinity;
  let name = null;
  for (const link2 of solved.dependencies) {
    if (link2.target !== p || !toFinish(link2.type)) continue;
    const head = fromFinish(link2.type) ? solved.finish[link2.source] : solved.start[link2.source];
    if (head + link2.lag > best) {
      best = head + link2.lag;
      name = solved.doc.phases[link2.source].phase;
    }
  }
  return name;
}
function targetOfStart(solved, p) {
  const links = solved.dependencies.filter((link2) => link2.source === p && !fromFinish(link2.type));
  const critical = links.find((link2) => link2.critical) ?? links[0];
  return critical === void 0 ? null : solved.doc.phases[critical.target].phase;
}
function rival(solver, before, there, p) {
  const related = relatives(solver, p);
  let name = null;
  let best = -1;
  there.doc.phases.forEach((phase2, row) => {
    if (row === p || there.critical[row] === 0) return;
    if (before.critical[row] === 1 && related[row] === 1) return;
    const fresh3 = before.critical[row] === 0 ? 1 : 0;
    const weight = fresh3 * 1e15 + solver.durations[row];
    if (weight > best) {
      best = weight;
      name = phase2.phase;
    }
  });
  return name;
}
function relatives(solver, p) {
  const { source, target, into, intoAt, out, outAt } = solver.graph;
  const found = new Uint8Array(solver.durations.length);
  const walk = (end, edges, at2) => {
    const queue = [p];
    for (let row = queue.pop(); row !== void 0; row = queue.pop()) {
      for (let x = at2[row]; x < at2[row + 1]; x++) {
        const next = end[edges[x]];
        if (found[next] === 1) continue;
        found[next] = 1;
        queue.push(next);
      }
    }
  };
  walk(source, into, intoAt);
  found.fill(0, p, p + 1);
  walk(target, out, outAt);
  return found;
}
function fromFinish(type) {
  return type === "FS" || type === "FF";
}
function toFinish(type) {
  return type === "FF" || type === "SF";
}

// view/explain.ts
var ENDS = {
  FS: ["starts", "has finished"],
  SS: ["starts", "has started"],
  FF: ["finishes", "has finished"],
  SF: ["finishes", "has started"]
};
var nameOf = (solved, row) => solved.doc.phases[row].phase;
function arrowName(dependency) {
  return `${dependency.type}${lag(dependency.lag)}`;
}
function after(amount) {
  return amount === 0 ? "" : amount > 0 ? ` + ${ms(amount)}` : ` − ${ms(-amount)}`;
}
function bindingOf(solved, row) {
  return solved.dependencies[solved.binding[row] ?? -1] ?? null;
}
function startsWhen(solved, row) {
  const phase2 = solved.doc.phases[row];
  const binding = bindingOf(solved, row);
  if (!binding) {
    return phase2.release > 0 && Math.abs(phase2.release - solved.start[row]) <= 1e-9 * Math.max(1, phase2.release) ? [`its release at ${ms(phase2.release)}, a pin you can remove`, ""] : ["nothing holds it: it starts with the step", ""];
  }
  const source = nameOf(solved, binding.source);
  const [verb, event] = ENDS[binding.type];
  const sentence = verb === "starts" ? `${source} ${event}${after(binding.lag)} (${binding.type})` : `it can finish once ${source} ${event}${after(binding.lag)} (${binding.type})`;
  return [sentence, originNote(binding.origin)];
}
function originNote(origin) {
  if (origin === "lane") return "the order of its lane";
  return { assumed: "assumed, not recorded", recorded: "recorded in a trace", inferred: "inferred from a trace" }[origin];
}
function heldBy(solved, row) {
  const binding = bindingOf(solved, row);
  if (!binding) return "nothing holds it";
  const source = nameOf(solved, binding.source);
  return binding.origin === "lane" ? `held by ${source}, before it in the lane` : `held by ${source} (${arrowName(binding)})`;
}
var isFinish = (type) => type === "FF" || type === "SF";
function finishHolder2(solved, row) {
  const tolerance = 1e-9 * Math.max(1, solved.completion);
  for (const dependency of solved.dependencies) {
    if (dependency.target !== row || !isFinish(dependency.type)) continue;
    const base = dependency.type === "FF" ? solved.finish : solved.start;
    const earliest = base[dependency.source] + dependency.lag;
    if (Math.abs(earliest - solved.finish[row]) <= tolerance) return dependency;
  }
  return null;
}
function whoLeads(solved, row) {
  let tightest = null;
  for (const dependency of solved.dependencies) {
    if (dependency.source === row && (!tightest || dependency.slack < tightest.slack)) tightest = dependency;
  }
  if (!tightest) return "";
  const successor = nameOf(solved, tightest.target);
  const binding = bindingOf(solved, tightest.target);
  if (binding && binding.source !== row) return `; ${successor} waits for ${nameOf(solved, binding.source)} instead`;
  return "";
}
function whyNot(before, after2, name, takeoverOf = () => sensitivity(before.doc, name).takeover) {
  const was = before.index.get(name);
  const row = after2.index.get(name);
  if (was === void 0 || row === void 0) return null;
  const change2 = after2.doc.phases[row].duration - before.doc.phases[was].duration;
  const tolerance = 1e-9 * Math.max(1, before.completion);
  const gain = after2.completion - before.completion;
  if (Math.abs(change2) <= tolerance || Math.abs(gain - change2) <= tolerance) return null;
  const nothing = Math.abs(gain) <= tolerance;
  const verb = change2 < 0 ? "shortening" : "lengthening";
  const holder = finishHolder2(after2, row) ?? null;
  if (nothing && holder) {
    const source = nameOf(after2, holder.source);
    return `${name}’s finish is held by ${source} (${arrowName(holder)}): ${verb} it only moves its start.`;
  }
  const float2 = before.totalFloat[was];
  if (nothing && change2 < 0 && float2 > tolerance) {
    return `${name} is not on the critical path: it had ${ms(float2)} of float already${whoLeads(before, was)}.`;
  }
  if (nothing && change2 > 0) {
    const left = after2.totalFloat[row];
    return left > tolerance ? `${name} had ${ms(float2)} of float: ${ms(left)} are left before it delays the step.` : `${name} has used up its float exactly: any more delays the step.`;
  }
  if (change2 > 0 && gain > 0) {
    return `The first ${number(change2 - gain)} ms were float; the step waits for the other ${number(gain)} ms.`;
  }
  if (change2 < 0 && gain > tolerance) {
    return `Shortening ${name} lengthens the step: its finish holds others back through ${incoming(after2, row)}.`;
  }
  if (change2 < 0) {
    const takeover = takeoverOf();
    if (takeover && takeover.phase !== name) {
      return nothing ? `Another path is as long: ${takeover.phase} leads without ${name}.` : `Only ${number(-gain)} of the ${number(-change2)} ms count: after that ${takeover.phase} leads.`;
    }
    return nothing ? `${name}’s length does not decide the completion here.` : null;
  }
  return null;
}
function incoming(solved, row) {
  const holder = solved.dependencies.find((other) => other.source === row && other.type[0] === "F");
  return holder ? `its arrow to ${nameOf(solved, holder.target)} (${arrowName(holder)})` : "its start";
}
function result(solved, baseline, name) {
  const baselineName = name === "baseline" ? "the baseline" : name;
  const difference2 = solved.completion - baseline.completion;
  const compared = Math.abs(difference2) <= 1e-9 * Math.max(1, baseline.completion) ? `as in ${baselineName}` : `${ms(Math.abs(difference2))} ${difference2 < 0 ? "sooner" : "later"} than ${baselineName}`;
  return `Completion ${ms(solved.completion)}, ${compared}.`;
}

// view/focus.ts
function active(root) {
  return root.getRootNode().activeElement;
}
var NAMES2 = ["data-role", "data-scenario", "data-filter", "data-table-phase", "data-table-arrow"];
function address(element) {
  const named = (name2, of) => `[${name2}="${CSS.escape(of.getAttribute(name2) ?? "")}"]`;
  if (element.matches("[data-phase]")) return named("data-phase", element) + named("data-rank", element);
  const name = NAMES2.find((one2) => element.hasAttribute(one2));
  if (name === void 0) return null;
  const row = element.closest("[data-list-row]");
  return (row ? `${named("data-list-row", row)} ` : "") + named(name, element);
}
var off = (element) => element.matches(":disabled");
var seen = (element) => element.getClientRects().length > 0;
function keepFocus(root, draw, fallback, quick = false) {
  const held = active(root);
  if (held === null || held === root || !root.contains(held)) {
    draw();
    return;
  }
  const where = address(held);
  draw();
  if (held.isConnected && !off(held) && (quick || seen(held))) return;
  const again = where === null ? null : root.querySelector(where);
  (again && !off(again) && seen(again) ? again : fallback(held)).focus({ preventScroll: true });
}
var SHIELD = "data-lm-suppress-shortcuts";
function shieldKeys(root, signal, own = () => false) {
  const mark = (event) => event.target.setAttribute(SHIELD, "true");
  const unmark = (event) => event.target.removeAttribute(SHIELD);
  root.addEventListener("focusin", mark, { signal });
  root.addEventListener("focusout", unmark, { signal });
  root.ownerDocument.defaultView?.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    if (!(target instanceof Element) || !root.contains(target)) return;
    if ((event.ctrlKey || event.metaKey) && !own(event) && !isOurs(event, target)) target.removeAttribute(SHIELD);
    else target.setAttribute(SHIELD, "true");
  }, { signal, capture: true });
  root.addEventListener("keyup", (event) => {
    if ((event.key === "Control" || event.key === "Meta") && event.target === active(root)) mark(event);
  }, { signal, capture: true });
  root.addEventListener("keydown", (event) => {
    if (isOurs(event, event.target)) event.stopPropagation();
  }, { signal });
}
var FIELD = /^(?:[zyacvx]|Arrow\w+|Home|End|Backspace|Delete)$/i;
function isOurs(event, target) {
  if (event.key === "Tab" || /^F\d+$/.test(event.key)) return false;
  const typing = target.matches("input,textarea");
  if (typing && event.altKey && event.key.length === 1) return true;
  if (event.ctrlKey || event.metaKey) return typing && FIELD.test(event.key);
  return !event.altKey;
}
function rove(toolbar, signal) {
  let stop = null;
  const controls = () => [...toolbar.querySelectorAll("button,select")].filter((one2) => !off(one2) && seen(one2));
  const settle = () => {
    const all = controls();
    if (stop === null || !all.includes(stop)) {
      const role = stop === null ? null : address(stop);
      stop = (role === null ? null : all.find((one2) => one2.matches(role))) ?? all[0] ?? null;
    }
    for (const one2 of toolbar.querySelectorAll("button,select")) {
      const index = one2 === stop ? 0 : -1;
      if (one2.getAttribute("tabindex") !== String(index)) one2.tabIndex = index;
    }
  };
  toolbar.addEventListener("focusin", (event) => {
    if (!event.target.matches("button,select")) return;
    stop = event.target;
    settle();
  }, { signal });
  toolbar.addEventListener("keydown", (event) => {
    const all = controls();
    const at2 = all.indexOf(event.target);
    if (at2 < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowRight: at2 + 1, ArrowLeft: at2 - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === void 0) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  }, { signal });
  return settle;
}

// view/drags.ts
var round = (value) => Math.round(value * 1e9) / 1e9;
var Holding = class {
  constructor(context2, chart, label, phase2) {
    this.context = context2;
    this.chart = chart;
    this.label = label;
    this.phase = phase2;
  }
  context;
  chart;
  label;
  phase;
  holds = true;
  gesture = null;
  begin() {
    const { session } = this.context;
    this.gesture = session.begin(this.label);
    if (this.phase !== null && !session.solved.index.has(this.phase)) {
      throw new Refused(`“${this.phase}” is no longer there.`);
    }
  }
  preview(edit) {
    return this.gesture.preview(edit);
  }
  /** What waited is taken, and what was previewed is put on top of it. */
  commit() {
    this.gesture?.commit();
    this.gesture = null;
  }
  cancel() {
    this.gesture?.cancel();
    this.gesture = null;
  }
};
var Editing = class extends Holding {
  before;
  constructor(context2, chart, label, phase2) {
    super(context2, chart, label, phase2);
    this.before = context2.session.solved;
  }
  begin() {
    super.begin();
    this.before = this.context.session.solved;
  }
  /** A dragged amount, snapped unless Alt frees it. */
  snapped(value, now, magnets = []) {
    return now.free ? round(value) : snap2(value, this.chart.scale.pxPerMs, magnets);
  }
  tip(content, time, phase2, now) {
    const { chart } = this;
    const item = this.itemNear(phase2, now.y);
    if (!item) return;
    const y = chart.rowOf(item).y;
    const below = item.row > 0 && item.row >= (chart.layout.rows.length - 1) / 2;
    chart.overlay.tooltip(
      now.free ? `${content} · free` : content,
      chart.scale.x(time),
      below ? y + chart.layout.density.bar + 7 : y - 30,
      chart.width,
      chart.font
    );
  }
  /** Which drawing of a phase the hand is on: a collective has one per rank. */
  itemNear(phase2, y) {
    const { chart } = this;
    let best = null;
    for (const k of chart.layout.of.get(rowOf2(this.before, phase2)) ?? []) {
      const item = chart.layout.items[k];
      if (!best || Math.abs(chart.rowOf(item).y - y) < Math.abs(chart.rowOf(best).y - y)) best = item;
    }
    return best;
  }
  knob(time, phase2, now) {
    const item = this.itemNear(phase2, now.y);
    if (item) {
      this.chart.overlay.setKnob(
        this.chart.scale.x(time),
        this.chart.rowOf(item).y + this.chart.layout.density.bar / 2
      );
    }
  }
};
var EndDrag = class extends Editing {
  constructor(context2, chart, phase2) {
    super(context2, chart, `length of ${phase2}`, phase2);
    this.phase = phase2;
  }
  phase;
  last = NaN;
  free = false;
  /** Asked at most once per drag: it solves the timeline a few times. */
  takeover = () => {
    const { takeover } = sensitivity(this.before.doc, this.phase);
    this.takeover = () => takeover;
    return takeover;
  };
  move(now, origin) {
    const { context: context2, chart, phase: phase2 } = this;
    const { session, state } = context2;
    state.dragging = phase2;
    const row = rowOf2(this.before, phase2);
    const was = this.before.doc.phases[row].duration;
    const wish = was + (now.x - origin.x) / chart.scale.pxPerMs;
    const base = session.baseline.doc.phases[rowOf2(session.baseline, phase2)];
    const duration = Math.max(0, this.snapped(Math.max(0, wish), now, base ? [base.duration] : []));
    if (duration === this.last && now.free === this.free) return;
    this.last = duration;
    this.free = now.free;
    const together = state.selection.size > 1 && state.selection.has(phase2) && was > 0;
    const shown = this.preview(together ? { op: "scale", phases: [...state.selection], factor: duration / was } : { op: "duration", phase: phase2, duration });
    const finish = shown.finish[row];
    const held = !together && duration !== was && Math.abs(finish - this.before.finish[row]) < 1e-9 * Math.max(1, finish) && finishHolder2(shown, row) !== null;
    state.held = held ? phase2 : null;
    const hand = this.before.finish[row] + duration - was;
    this.tip(together ? `× ${(duration / was).toFixed(3)} · ${state.selection.size} phases` : held ? `${number(duration)} ms · still ends ${number(finish)}: ${heldBy(shown, row)}` : `ends ${number(finish)} · ${number(duration)} ms`, held ? hand : finish, phase2, now);
    const item = this.itemNear(phase2, now.y);
    if (item) {
      const middle = chart.rowOf(item).y + chart.layout.density.bar / 2;
      chart.overlay.setTether(held ? chart.scale.x(hand) : null, chart.scale.x(finish), middle);
    }
    this.knob(held ? hand : finish, phase2, now);
    context2.say(together ? null : whyNot(this.before, shown, phase2, () => this.takeover()), "why");
  }
};
var StartDrag = class extends Editing {
  constructor(context2, chart, phase2) {
    super(context2, chart, `start of ${phase2}`, phase2);
    this.phase = phase2;
  }
  phase;
  hold = 0;
  begin() {
    super.begin();
    const free = this.preview({ op: "release", phase: this.phase, release: 0 });
    this.hold = free.start[rowOf2(free, this.phase)];
  }
  move(now, origin) {
    const { context: context2, chart, phase: phase2 } = this;
    context2.state.dragging = phase2;
    const row = rowOf2(this.before, phase2);
    const start = this.before.start[row];
    const finish = this.before.finish[row];
    const wish = Math.min(finish, this.snapped(start + (now.x - origin.x) / chart.scale.pxPerMs, now, [this.hold]));
    const byFinish = finishHolder2(this.before, row) !== null;
    const floor = byFinish ? 0 : this.hold;
    const held = wish <= floor;
    const from = Math.max(wish, floor);
    const duration = { op: "duration", phase: phase2, duration: round(finish - from) };
    const shown = this.preview(byFinish ? duration : {
      op: "many",
      edits: [{ op: "release", phase: phase2, release: held ? 0 : from }, duration]
    });
    context2.state.held = held ? phase2 : null;
    const now_ = shown.start[row];
    const length = shown.doc.phases[row].duration;
    this.tip(held ? `starts ${number(now_)}: ${heldBy(shown, row)}` : `starts ${number(now_)} · ${number(length)} ms`, now_, phase2, now);
    this.knob(now_, phase2, now);
  }
};
var BodyDrag = class extends Editing {
  constructor(context2, chart, phase2) {
    super(context2, chart, `release of ${phase2}`, phase2);
    this.phase = phase2;
  }
  phase;
  hold = 0;
  begin() {
    super.begin();
    const free = this.preview({ op: "release", phase: this.phase, release: 0 });
    this.hold = free.start[rowOf2(free, this.phase)];
  }
  move(now, origin) {
    const { context: context2, chart, phase: phase2 } = this;
    context2.state.dragging = phase2;
    const row = rowOf2(this.before, phase2);
    const start = this.before.start[row];
    const wish = this.snapped(start + (now.x - origin.x) / chart.scale.pxPerMs, now, [this.hold]);
    const held = wish <= this.hold;
    context2.state.held = held ? phase2 : null;
    const shown = this.preview({ op: "release", phase: phase2, release: held ? 0 : wish });
    const begins = shown.start[row];
    this.tip(held ? `starts ${number(begins)}: ${heldBy(shown, row)}` : `released at ${number(begins)} · ends ${number(shown.finish[row])}`, begins, phase2, now);
    context2.say(null);
  }
};
var LagDrag = class extends Editing {
  constructor(context2, chart, link2) {
    super(context2, chart, `lag of ${link2.source} → ${link2.target}`, null);
    this.link = link2;
  }
  link;
  row = -1;
  begin() {
    super.begin();
    this.row = rowOfLink(this.before, this.link);
  }
  move(now, origin) {
    const { context: context2, chart } = this;
    const dependency = this.before.doc.dependencies[this.row];
    const wish = dependency.lag + (now.x - origin.x) / chart.scale.pxPerMs;
    const lag2 = this.snapped(wish, now, [0]);
    context2.state.arrow = this.row;
    const shown = this.preview({ op: "relink", row: this.row, changes: { lag: lag2 } });
    const row = rowOf2(shown, dependency.target);
    this.tip(
      `${dependency.type}${lag(lag2) || " +0"} ms · ${dependency.target} starts ${number(shown.start[row])}`,
      shown.start[row],
      dependency.target,
      now
    );
    const moved = lag2 !== dependency.lag && shown.completion === this.before.completion;
    context2.say(moved ? `${dependency.target} can take it: the completion does not depend on this lag here.` : null, "why");
  }
};
function rowOfLink(solved, link2) {
  const row = linkRow(solved.doc, link2);
  if (row < 0) throw new Refused(`The arrow from “${link2.source}” to “${link2.target}” is no longer there.`);
  return row;
}
var ReorderDrag = class extends Holding {
  constructor(context2, chart, phase2) {
    super(context2, chart, `order of ${phase2}`, phase2);
    this.phase = phase2;
  }
  phase;
  before;
  move(now) {
    const { chart, context: context2, phase: phase2 } = this;
    const solved = context2.session.solved;
    const { phases } = solved.doc;
    const mine = phases[rowOf2(solved, phase2)];
    const lane = phases.filter((other) => other !== mine && other.lane === mine.lane && other.rank === mine.rank);
    const time = chart.scale.time(now.x);
    const next = lane.find((other) => {
      const row = rowOf2(solved, other.phase);
      return (solved.start[row] + solved.finish[row]) / 2 > time;
    });
    this.before = mine.lane === null ? void 0 : next?.phase ?? null;
    chart.overlay.tooltip(
      mine.lane === null ? "it has no lane: nothing to reorder" : next ? `before ${next.phase} in ${mine.lane}` : `last in ${mine.lane}`,
      now.x,
      now.y - 38,
      chart.width,
      chart.font
    );
  }
  commit() {
    if (this.before !== void 0) this.preview({ op: "reorder", phase: this.phase, before: this.before });
    super.commit();
  }
};
var Marquee = class extends Holding {
  kept;
  constructor(context2, chart, adds) {
    super(context2, chart, "choosing", null);
    this.kept = adds ? [...context2.state.selection] : [];
  }
  move(now, origin) {
    const { chart, context: context2 } = this;
    const box = {
      x: Math.min(now.x, origin.x),
      y: Math.min(now.y, origin.y),
      width: Math.abs(now.x - origin.x),
      height: Math.abs(now.y - origin.y)
    };
    chart.overlay.setMarquee(box);
    const { solved } = context2.session;
    const names = new Set(this.kept.filter((name) => solved.index.has(name)));
    for (const item of chart.layout.items) {
      const y = chart.rowOf(item).y;
      if (y > box.y + box.height || y + chart.layout.density.bar < box.y) continue;
      if (chart.scale.x(solved.start[item.phase]) > box.x + box.width) continue;
      if (chart.scale.x(solved.finish[item.phase]) < box.x) continue;
      names.add(nameOf(solved, item.phase));
    }
    context2.select([...names]);
  }
};
var Pan = class {
  constructor(chart) {
    this.chart = chart;
  }
  chart;
  holds = false;
  last = null;
  begin() {
  }
  move(now, origin) {
    this.chart.panBy(now.x - (this.last ?? origin.x));
    this.last = now.x;
  }
  commit() {
  }
  cancel() {
  }
};
var dragEnd = (c, chart, phase2) => new EndDrag(c, chart, phase2);
var dragStart = (c, chart, phase2) => new StartDrag(c, chart, phase2);
var dragBody = (c, chart, phase2) => new BodyDrag(c, chart, phase2);
var dragLag = (c, chart, link2) => new LagDrag(c, chart, link2);
var reorder2 = (c, chart, phase2) => new ReorderDrag(c, chart, phase2);
var marquee = (c, chart, adds) => new Marquee(c, chart, adds);
var pan = (_c, chart) => new Pan(chart);

// view/linking.ts
var Linking = class extends Holding {
  found = null;
  begin() {
    super.begin();
    this.context.root.classList.add("sv-linking");
  }
  move(now) {
    const { chart, context: context2 } = this;
    const solved = context2.session.solved;
    const start = this.from();
    if (!start) return;
    const item = chart.itemAt(now, solved);
    const name = item ? nameOf(solved, item.phase) : "";
    this.found = null;
    if (item && item.phase !== start.item.phase) {
      const middle = (chart.scale.x(solved.start[item.phase]) + chart.scale.x(solved.finish[item.phase])) / 2;
      this.found = { item, end: now.x < middle ? "start" : "finish" };
    }
    const origin = anchor(start.item, start.end, 0, solved, chart.scale, chart.layout);
    const y = now.y > origin.bottom ? origin.bottom : now.y < origin.top ? origin.top : origin.bottom;
    let at2 = null;
    if (this.found) {
      const seat = anchor(this.found.item, this.found.end, 0, solved, chart.scale, chart.layout);
      at2 = { x: seat.x, y: seat.top > y ? seat.top : seat.bottom };
    }
    chart.overlay.setRubber({ x: origin.x, y }, now, at2);
    chart.overlay.tooltip(
      this.found ? this.caption(name, this.found.end) : "drop on a bar’s start or end",
      now.x,
      now.y - 38,
      chart.width,
      chart.font
    );
  }
  commit() {
    const { context: context2, found, gesture } = this;
    context2.root.classList.remove("sv-linking");
    if (!found || !gesture) return super.commit();
    this.apply(gesture, nameOf(context2.session.solved, found.item.phase), found.end);
    this.gesture = null;
  }
  cancel() {
    this.context.root.classList.remove("sv-linking");
    super.cancel();
  }
};
function meaning(source, from, target, to) {
  const verb = to === "start" ? "starts" : "finishes";
  return `${linkType(from, to)}: ${target} ${verb} after ${source} ${from === "start" ? "has started" : "has finished"}`;
}
var PortDrag = class extends Linking {
  constructor(context2, chart, phase2, end) {
    super(context2, chart, `new arrow from ${phase2}`, phase2);
    this.phase = phase2;
    this.end = end;
  }
  phase;
  end;
  from() {
    const item = this.chart.first(rowOf2(this.context.session.solved, this.phase));
    return item ? { item, end: this.end } : null;
  }
  caption(name, end) {
    return meaning(this.phase, this.end, name, end);
  }
  apply(gesture, name, end) {
    connect2(this.context, gesture, this.phase, this.end, name, end);
  }
};
function connect2(context2, gesture, source, from, target, to) {
  const { session } = context2;
  const made = { source, target, type: linkType(from, to) };
  gesture.preview({ op: "connect", dependency: { ...made, lag: 0, origin: "assumed" } });
  gesture.commit();
  const row = linkRow(session.doc, { ...made, nth: 0 });
  if (row >= 0) context2.selectArrow(row);
}
var ArrowEndDrag = class extends Linking {
  constructor(context2, chart, link2, side) {
    super(context2, chart, `${side} of ${link2.source} → ${link2.target}`, null);
    this.link = link2;
    this.side = side;
  }
  link;
  side;
  row = -1;
  begin() {
    super.begin();
    this.row = rowOfLink(this.context.session.solved, this.link);
  }
  get dependency() {
    return this.context.session.doc.dependencies[this.row];
  }
  from() {
    const { dependency } = this;
    const fixed = this.side === "source" ? dependency.target : dependency.source;
    const item = this.chart.first(rowOf2(this.context.session.solved, fixed));
    const end = this.side === "source" ? arrives(dependency.type) : leaves(dependency.type);
    return item ? { item, end } : null;
  }
  caption(name, end) {
    const { dependency } = this;
    return this.side === "source" ? meaning(name, end, dependency.target, arrives(dependency.type)) : meaning(dependency.source, leaves(dependency.type), name, end);
  }
  apply(gesture, name, end) {
    const { dependency } = this;
    gesture.preview({
      op: "relink",
      row: this.row,
      changes: this.side === "source" ? { source: name, type: linkType(end, arrives(dependency.type)) } : { target: name, type: linkType(leaves(dependency.type), end) }
    });
    gesture.commit();
  }
};
var dragPort = (c, chart, phase2, end) => new PortDrag(c, chart, phase2, end);
var dragArrowEnd = (c, chart, link2, side) => new ArrowEndDrag(c, chart, link2, side);

// view/gestures.ts
var THRESHOLD = 3;
var Gestures = class {
  constructor(context2, chart) {
    this.context = context2;
    this.chart = chart;
    const { signal } = context2;
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
      if (event.target.closest("[data-phase],[data-of]")) event.preventDefault();
    }, { signal });
    body.addEventListener("touchstart", (event) => {
      if (event.target.closest("[data-handle],[data-seam],[data-port],[data-lag],[data-arrow-end]") || event.touches.length > 1) event.preventDefault();
    }, { signal, passive: false });
    signal.addEventListener("abort", () => this.cancel());
  }
  context;
  chart;
  drag = null;
  pointer = -1;
  origin = { x: 0, y: 0, free: false, shift: false };
  moved = false;
  box = null;
  click = null;
  touches = /* @__PURE__ */ new Map();
  pinch = null;
  /** Something is pressed, or dragged already. */
  get active() {
    return this.drag !== null;
  }
  /** A drag is under way that the drawing must keep still for. */
  get holds() {
    return this.drag !== null && this.moved && this.drag.holds;
  }
  /** Give up the running gesture: everything is as before it. */
  cancel() {
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
  end() {
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
  at(event) {
    this.box ??= this.chart.body.getBoundingClientRect();
    const { left, top } = this.box;
    return { x: event.clientX - left, y: event.clientY - top, free: event.altKey, shift: event.shiftKey };
  }
  down(event) {
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
    event.preventDefault();
    this.focus(event.target);
    event.currentTarget.setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.box = null;
    this.origin = this.at(event);
    this.moved = false;
    this.drag = begun;
  }
  /** A press takes the keyboard along: to the bar, or to the editor for what is no bar. */
  focus(target) {
    const bar = target.closest("[data-phase],[data-of],[data-seam]");
    const name = bar && (bar.getAttribute("data-seam") ?? bar.getAttribute("data-of") ?? bar.getAttribute("data-phase"));
    const group = name ? this.chart.bars.group(name) : null;
    const under = target.closest("[data-phase]");
    (under?.dataset["phase"] === name ? under : group ?? this.context.root)?.focus({ preventScroll: true });
  }
  /** What a press means, by what lies under it. */
  choose(event) {
    const { context: context2, chart } = this;
    const target = event.target;
    const toggles = event.ctrlKey || event.metaKey || event.shiftKey;
    this.click = null;
    if (chart.head.contains(target)) return pan(context2, chart);
    const pin = target.closest("[data-pin]");
    if (pin) {
      const phase2 = pin.getAttribute("data-pin");
      this.click = () => context2.attempt(() => context2.session.apply({ op: "release", phase: phase2, release: 0 }));
      return dragBody(context2, chart, phase2);
    }
    const { doc } = context2.session;
    const link2 = (element, attribute) => linkName(doc, Number(element.getAttribute(attribute)));
    const pick = (chosen) => () => {
      const row = chosen === null ? -1 : linkRow(context2.session.doc, chosen);
      context2.selectArrow(row < 0 ? null : row);
    };
    const lag2 = target.closest("[data-lag]");
    if (lag2) {
      const chosen = link2(lag2, "data-lag");
      if (chosen === null) return null;
      this.click = pick(chosen);
      return dragLag(context2, chart, chosen);
    }
    const arrowEnd = target.closest("[data-arrow-end]");
    if (arrowEnd) {
      const chosen = link2(arrowEnd, "data-row");
      return chosen === null ? null : dragArrowEnd(context2, chart, chosen, arrowEnd.getAttribute("data-arrow-end"));
    }
    const port = target.closest("[data-port]");
    if (port) {
      return dragPort(
        context2,
        chart,
        port.getAttribute("data-of"),
        port.getAttribute("data-port")
      );
    }
    const handle = target.closest("[data-handle],[data-seam]");
    if (handle) {
      const seam = handle.getAttribute("data-seam");
      const phase2 = seam ?? handle.getAttribute("data-of") ?? handle.closest("[data-phase]").getAttribute("data-phase");
      this.click = () => context2.select([phase2], toggles ? "toggle" : "replace");
      if (toggles) return marquee(context2, chart, true);
      if (!context2.state.selection.has(phase2)) context2.select([phase2]);
      const kind = seam === null ? handle.getAttribute("data-handle") : "end";
      if (kind === "end") return dragEnd(context2, chart, phase2);
      if (kind === "start") return dragStart(context2, chart, phase2);
      return event.altKey ? reorder2(context2, chart, phase2) : dragBody(context2, chart, phase2);
    }
    const arrow = target.closest("[data-dependency]");
    if (arrow) {
      this.click = pick(link2(arrow, "data-dependency"));
      return marquee(context2, chart, toggles);
    }
    this.click = () => {
      context2.selectArrow(null);
      if (!toggles) context2.select([]);
    };
    if (event.pointerType === "touch") return context2.state.zoom ? pan(context2, chart) : marquee(context2, chart, toggles);
    return marquee(context2, chart, toggles);
  }
  move(event) {
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
      if (!(error instanceof Refused)) this.cancel();
      this.refuse(error);
    }
  }
  refuse(error) {
    if (!(error instanceof Refused)) throw error;
    this.context.say(error.message, "refused");
  }
  up(event) {
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
  lost(event) {
    this.touches.delete(event.pointerId);
    if (this.touches.size < 2) this.pinch = null;
    if (event.pointerId === this.pointer) this.cancel();
  }
  wheel(event) {
    this.box = null;
    if (this.drag) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const x = this.chart.point(event).x;
      this.chart.zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.06 : 22e-4)), x);
      return;
    }
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (this.context.state.zoom && Math.abs(across) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) {
      event.preventDefault();
      this.chart.panBy(-across);
    }
  }
  hover(event) {
    if (this.drag || event.pointerType === "touch") return;
    const element = event.target.closest("[data-phase],[data-of]");
    this.setHover(element?.getAttribute("data-phase") ?? element?.getAttribute("data-of") ?? null);
  }
  setHover(name) {
    const { state } = this.context;
    if (state.hover === name || this.drag) return;
    state.hover = name;
    this.context.redraw("values");
  }
  startPinch() {
    const [a, b] = [...this.touches.values()];
    this.pinch = {
      distance: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)),
      x: this.chart.point({ clientX: (a.x + b.x) / 2, clientY: 0 }).x
    };
  }
  movePinch() {
    const [a, b] = [...this.touches.values()];
    if (!a || !b || !this.pinch) return;
    const distance = Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
    const x = this.chart.point({ clientX: (a.x + b.x) / 2, clientY: 0 }).x;
    this.chart.zoomBy(distance / this.pinch.distance, this.pinch.x);
    this.chart.panBy(x - this.pinch.x);
    this.pinch = { distance, x };
  }
};

// view/headline.ts
var ADDED = /* @__PURE__ */ new Set(["input", "forward", "backward", "recompute", "exchange", "optimizer"]);
var Headline = class {
  constructor(context2, goTo) {
    this.context = context2;
    this.rank.addEventListener("click", () => goTo(this.leading));
    this.element = html(
      "div",
      { class: "sv-headline" },
      html(
        "div",
        { class: "sv-figure" },
        html(
          "div",
          { class: "sv-figure-row" },
          this.completion,
          html("span", { class: "sv-change" }, this.change)
        ),
        this.caption
      ),
      html(
        "div",
        { class: "sv-side sv-side-exposed" },
        html("div", { class: "sv-dim" }, "exposed exchange", this.of, this.rank),
        html("div", {}, this.exposedNow, " ", this.exposedWas)
      ),
      html(
        "div",
        { class: "sv-side sv-side-wrong" },
        this.verdict,
        html("div", { class: "sv-wrong" }, this.sum, " ", this.maximum)
      )
    );
  }
  context;
  element;
  completion = html("output", { class: "sv-completion-now", "data-role": "completion" });
  change = html("span", { class: "sv-pill-change", "data-role": "change" });
  caption = html("div", { class: "sv-caption", "data-role": "caption", dir: "auto" });
  exposedNow = html("b", { class: "sv-exposed", "data-role": "exposed" });
  exposedWas = html("span", { class: "sv-dim sv-was" });
  of = html("span");
  rank = html("button", { type: "button", class: "sv-link", "data-role": "go-to-rank" });
  verdict = html("div", { class: "sv-dim", "data-role": "verdict" });
  sum = html("span", { class: "sv-answer", "data-role": "plain-sum", title: "the sum: all categories added, as if nothing overlapped" });
  maximum = html("span", { class: "sv-answer", "data-role": "plain-maximum", title: "the maximum: the largest category alone, as if everything overlapped" });
  leading = 0;
  update(solved) {
    const { baseline, baselineName } = this.context.session;
    const now = solved.completion;
    const was = baseline.completion;
    const difference2 = now - was;
    const same2 = negligible(difference2, was);
    text2(this.completion, ms(now));
    text2(this.change, same2 ? "no change" : [`${signed(difference2)} ms`, speedup(was, now), percent(difference2, was)].filter((part) => part !== "").join(" · "));
    attr(this.change, "data-trend", same2 ? "same" : difference2 < 0 ? "better" : "worse");
    const { doc } = solved;
    const what = doc.target === null ? "completion of the step" : `completion of ${doc.target}`;
    const caption = [what, doc.name, `baseline ${baselineName === "baseline" ? "" : `${baselineName} `}${ms(was)}`].filter((part) => part !== "").join(" · ");
    text2(this.caption, caption);
    attr(this.caption, "title", caption);
    const rank = this.leading = slowestRank(solved);
    const several2 = ranks(doc).length > 1;
    attr(this.element, "data-ranks", several2 ? "several" : "one");
    show(this.rank, several2);
    text2(this.of, several2 ? ", " : "");
    text2(this.rank, `rank ${rank}`);
    attr(this.rank, "title", `show rank ${rank}, the slowest`);
    const open = exposed(solved, "exchange").get(rank) ?? 0;
    const before = exposed(baseline, "exchange").get(slowestRank(baseline)) ?? 0;
    text2(this.exposedNow, ms(negligible(open, now) ? 0 : open));
    text2(this.exposedWas, negligible(open - before, was) ? "" : `was ${number(before)}`);
    this.judge(solved, rank);
  }
  /** Strike out the answers that are wrong, and only those. */
  judge(solved, rank) {
    const { completion } = solved;
    const answers = [plainSum(solved), plainMaximum(solved)];
    const right = answers.map((answer) => negligible(answer - completion, completion));
    [this.sum, this.maximum].forEach((element, k) => {
      text2(element, ms(answers[k]));
      attr(element, "data-wrong", right[k] ? null : "");
    });
    text2(this.verdict, verdict(right, negligible(completion), () => {
      const added = breakdown(solved, rank).reduce((sum, row) => sum + (ADDED.has(row.row) ? row.ms : 0), 0);
      return negligible(added - completion, completion);
    }));
  }
};
function verdict(right, nothing, gapless) {
  const [sum, maximum] = right;
  if (nothing) return "sum, maximum";
  if (sum && maximum) return "here both are right";
  if (sum) return gapless() ? "here the sum is right: nothing overlaps" : "here the sum is right by chance";
  if (maximum) return "here the maximum is right";
  return "not the sum, not the maximum";
}

// view/curve.ts
var WIDTH = 224;
var HEIGHT2 = 74;
var PAD = { left: 6, right: 8, top: 10, bottom: 16 };
var Curve = class {
  element = html("div", { class: "sv-curve", "data-role": "curve" });
  line = svg("path", { class: "sv-curve-line" });
  floor = svg("line", { class: "sv-curve-floor" });
  dot = svg("circle", { class: "sv-curve-dot", r: 4.5 });
  corner = svg("circle", { class: "sv-curve-corner", r: 3 });
  low = svg("text", { class: "sv-curve-text", y: HEIGHT2 - 3 });
  high = svg("text", { class: "sv-curve-text", y: HEIGHT2 - 3, "text-anchor": "end" });
  best = svg("text", { class: "sv-curve-text" });
  sentence = html("div", { class: "sv-curve-note", "data-role": "takeover" });
  curve = null;
  of = "";
  constructor() {
    this.element.append(svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT2}`,
      width: WIDTH,
      height: HEIGHT2,
      role: "img",
      "aria-label": "completion against this duration"
    }, this.floor, this.line, this.corner, this.dot, this.low, this.high, this.best), this.sentence);
  }
  /**
   * The curve of the shown timeline. While only the phase's own duration is dragged it is that of
   * the committed one, and the dot runs along it; where it is dear, it waits for the drag's end.
   */
  update(committed, shown, phase2, kind) {
    const row = shown.index.get(phase2);
    const own = shown === committed || row !== void 0 && onlyDuration(committed, shown, row);
    const cheap = shown.doc.phases.length <= CHEAP;
    const of = own || !cheap ? committed : shown;
    if (this.of !== phase2 || this.solved !== of) {
      this.of = phase2;
      this.solved = of;
      this.curve = sensitivity(of.doc, phase2);
      this.plot(kind);
    }
    const { curve } = this;
    if (!curve || row === void 0) return;
    this.stale = !own && !cheap;
    attr(this.element, "data-stale", this.stale ? "" : null);
    const duration = shown.doc.phases[row].duration;
    attr(this.dot, "cx", px(this.x(duration)));
    attr(this.dot, "cy", px(this.y(at(curve, duration))));
    this.drag = shown.critical[row] === 1 && !this.stale ? at(curve, duration) - least(curve, duration) : curve.drag;
    if (this.stale) text2(this.sentence, "As it was before this drag; it is reckoned anew when you let go.");
    else this.tell(curve, of, phase2, duration);
  }
  /** The chosen phase's drag in the shown timeline, ms. */
  drag = 0;
  /** What is shown is of the timeline before the drag. */
  stale = false;
  solved = null;
  x = () => 0;
  y = () => 0;
  plot(kind) {
    const { curve } = this;
    if (!curve) return;
    const last = Math.max(curve.duration[curve.duration.length - 1] ?? 1, 1e-9);
    const low = Math.min(...curve.completion);
    const high = Math.max(...curve.completion);
    const span = high - low || 1;
    this.x = (d) => PAD.left + Math.min(d, last * 1.02) / last * (WIDTH - PAD.left - PAD.right);
    this.y = (c) => HEIGHT2 - PAD.bottom - 4 - (Math.min(Math.max(c, low - span * 0.1), high + span * 0.1) - low) / span * (HEIGHT2 - PAD.top - PAD.bottom - 8);
    const points = curve.duration.map((d, k) => `${px(this.x(d))} ${px(this.y(curve.completion[k]))}`);
    attr(this.line, "d", `M${points.join("L")}`);
    attr(this.line, "class", `sv-curve-line sv-k-${kind}`);
    attr(this.dot, "class", `sv-curve-dot sv-k-${kind}`);
    for (const [name, value] of [["x1", PAD.left], ["x2", WIDTH - PAD.right], ["y1", HEIGHT2 - PAD.bottom], ["y2", HEIGHT2 - PAD.bottom]]) {
      attr(this.floor, name, value);
    }
    attr(this.corner, "display", curve.takeover ? null : "none");
    if (curve.takeover) {
      const { duration } = curve.takeover;
      attr(this.corner, "cx", px(this.x(duration)));
      attr(this.corner, "cy", px(this.y(low)));
    }
    attr(this.low, "x", PAD.left);
    text2(this.low, "0");
    attr(this.best, "x", PAD.left);
    const start = this.y(curve.completion[0]);
    attr(this.best, "y", start > HEIGHT2 / 2 ? PAD.top + 2 : HEIGHT2 - PAD.bottom - 5);
    text2(this.best, `at 0: ${ms(curve.completion[0])}`);
    attr(this.high, "x", WIDTH - PAD.right);
    text2(this.high, ms(last));
  }
  tell(curve, solved, phase2, duration) {
    const row = solved.index.get(phase2);
    const committed = solved.doc.phases[row].duration;
    let sentence;
    const more = curve.takeover ? duration - curve.takeover.duration : 0;
    if (curve.takeover && more > 1e-9 * Math.max(1, duration)) {
      sentence = `Shortening it by up to ${ms(more)} more counts in full; then ${curve.takeover.phase} leads.`;
    } else if (curve.takeover && duration > 0 && curve.takeover.duration < duration + 1e-9) {
      sentence = `Shortening it buys nothing: ${curve.takeover.phase} leads.`;
    } else if (curve.drag > 0 && curve.drag < committed - 1e-9 * Math.max(1, committed)) {
      const left = Math.max(0, duration - committed + curve.drag);
      sentence = left > 0 ? `Shortening it by up to ${ms(left)} counts in full; more buys nothing.` : "Shortening it further buys nothing.";
    } else if (curve.drag > 0) {
      sentence = "Every ms less is a ms sooner, down to nothing.";
    } else if (solved.totalFloat[row] > 0) {
      sentence = `Shortening it buys nothing; ${number(solved.totalFloat[row])} ms more cost nothing.`;
    } else {
      sentence = "Shortening it alone buys nothing.";
    }
    text2(this.sentence, sentence);
  }
};
var CHEAP = 150;
function onlyDuration(a, b, row) {
  const { doc: was } = a;
  const { doc: now } = b;
  return was.dependencies === now.dependencies && was.target === now.target && was.phases.length === now.phases.length && was.phases.every((phase2, k) => phase2 === now.phases[k] || k === row && phase2.phase === now.phases[k]?.phase && phase2.release === now.phases[k].release);
}
function least(curve, duration) {
  return curve.duration.reduce(
    (best, d, k) => d <= duration ? Math.min(best, curve.completion[k]) : best,
    at(curve, duration)
  );
}
function at(curve, duration) {
  const { duration: x, completion: y } = curve;
  let k = 1;
  while (k < x.length - 1 && x[k] < duration) k++;
  const [x0, x1, y0, y1] = [x[k - 1], x[k], y[k - 1], y[k]];
  return x.length < 2 || x1 === x0 ? y0 : y0 + (duration - x0) * (y1 - y0) / (x1 - x0);
}

// view/fields.ts
function field(label, input, unit = "") {
  return html(
    "label",
    { class: "sv-field" },
    html("span", {}, label),
    input,
    unit === "" ? null : html("span", { class: "sv-unit" }, unit)
  );
}
function readNumber(typed) {
  const value = parse(typed);
  if (value !== null) return value;
  const plain = typed.trim();
  if (plain === "") throw new Refused("Nothing is written there: give a number of ms, such as 350 or 0.25.");
  const huge = /^[-−]?\d[\d.,]*(e\+?\d+)?\s*(ms)?$/i.test(plain);
  throw new Refused(huge ? `“${plain}” is more than can be reckoned with: give a smaller number of ms.` : `“${plain}” can’t be read as a number: write one such as 350 or 0.25, in ms.`);
}
function numberField(role, value, take, label) {
  const input = html("input", {
    value: exact(value),
    inputmode: "decimal",
    "data-role": role,
    "aria-label": label,
    autocomplete: "off",
    class: "sv-number"
  });
  let committed = exact(value);
  const commit = () => {
    if (input.value === committed) return;
    const typed = input.value;
    if (take(() => readNumber(typed))) committed = typed;
    else input.value = committed;
  };
  input.addEventListener("focus", () => {
    committed = input.value;
  });
  input.addEventListener("change", commit);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    if (event.key === "Escape") input.value = committed;
  });
  return input;
}
function textField(role, value, take) {
  const input = html("input", {
    value,
    "data-role": role,
    "aria-label": role,
    placeholder: "none",
    spellcheck: "false",
    autocomplete: "off"
  });
  input.addEventListener("change", () => {
    if (!take(input.value.trim())) input.value = value;
  });
  return input;
}
function parseRanks(typed) {
  const parts = typed.split(/[\s,]+/).filter((part) => part !== "");
  if (parts.length === 0) throw new Refused("A phase needs a rank: 0, or several of a collective, such as 0, 1.");
  const wrong = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (wrong !== void 0) {
    throw new Refused(`“${wrong}” is no rank: ranks are whole numbers from 0, several of a collective such as 0, 1.`);
  }
  const ranks2 = parts.map(Number);
  const twice = ranks2.find((rank, k) => ranks2.indexOf(rank) !== k);
  if (twice !== void 0) throw new Refused(`Rank ${twice} is there twice: name each rank of a collective once.`);
  return ranks2.length === 1 ? { rank: ranks2[0] } : { members: ranks2 };
}
function select(role, options, value, take) {
  const element = html(
    "select",
    { "data-role": role, "aria-label": role },
    ...options.map((option) => html("option", { value: option, selected: option === value }, option))
  );
  element.addEventListener("change", () => {
    if (!take(element.value)) element.value = value;
  });
  return element;
}

// view/overview.ts
var ASKED = 24;
var LISTED = 6;
var Overview = class {
  constructor(context2) {
    this.context = context2;
    this.element.append(
      html("h3", {}, "What would help"),
      this.meaning,
      this.levers,
      this.legend,
      html("p", { class: "sv-dim" }, "Drag a bar’s end for its length, its body to hold it back. Choose a bar for its numbers.")
    );
  }
  context;
  element = html("div", { class: "sv-overview" });
  levers = html("ol", { class: "sv-levers", "data-role": "levers" });
  meaning = html("p", { class: "sv-dim", "data-role": "levers-meaning" });
  legend = html("div", { "data-role": "legend" });
  of = null;
  against = null;
  update(committed, shown) {
    const { baseline } = this.context.session;
    if (shown !== committed || this.of === committed && this.against === baseline) return;
    this.of = committed;
    this.against = baseline;
    this.explain(committed, baseline);
    const phases = committed.doc.phases.map((phase2, row) => ({ phase: phase2, row })).filter(({ phase: phase2, row }) => committed.critical[row] === 1 && phase2.duration > 0).sort((a, b) => b.phase.duration - a.phase.duration).slice(0, committed.doc.phases.length > 2e3 ? LISTED : ASKED).map(({ phase: phase2 }) => ({ phase: phase2, drag: sensitivity(committed.doc, phase2.phase).drag })).filter(({ drag }) => !negligible(drag, committed.completion)).sort((a, b) => b.drag - a.drag).slice(0, LISTED);
    text2(this.meaning, phases.length > 0 ? "The most that shortening one phase alone can save (its drag):" : negligible(committed.completion) ? "Nothing here has a length." : "No phase alone: shortening any one of them saves nothing.");
    const most = Math.max(...phases.map(({ drag }) => drag), 1e-9);
    this.levers.replaceChildren(...phases.map(({ phase: phase2, drag }) => this.lever(phase2, drag, most)));
  }
  /** Only what is in the drawing. */
  explain(solved, baseline) {
    const { doc, completion, critical, totalFloat } = solved;
    const entries = [
      ["sv-legend-critical", "on the critical path", completion > 0],
      [
        "sv-legend-exposed",
        "exposed exchange: no compute hides it",
        [...exposed(solved, "exchange").values()].some((time) => !negligible(time, completion))
      ],
      [
        "sv-legend-float",
        "float: it may be this much later",
        doc.phases.some((phase2, row) => critical[row] === 0 && phase2.duration > 0 && totalFloat[row] > 0)
      ],
      ["sv-legend-ghost", "where it was in the baseline", doc.phases.some((phase2, row) => {
        const was = baseline.index.get(phase2.phase);
        return was !== void 0 && ["start", "finish"].some((end) => !negligible(solved[end][row] - baseline[end][was], completion));
      })],
      ["sv-legend-wait", "waiting for the last rank", doc.phases.some((phase2, row) => phase2.rank === null && [...arrivals(solved, row).values()].some((at2) => !negligible(at2 - solved.start[row], completion)))]
    ];
    const drawn = entries.filter(([, , is]) => is);
    this.legend.replaceChildren(
      ...drawn.length > 0 ? [html("h4", {}, "how to read it")] : [],
      ...drawn.map(([name, meaning2]) => legend(name, meaning2))
    );
  }
  lever(phase2, drag, most) {
    const meter = html("i", { class: `sv-meter sv-k-${phase2.kind}` });
    meter.style.width = `${Math.max(2, drag / most * 100)}%`;
    const open = html(
      "button",
      { type: "button", title: phase2.phase },
      html("span", { class: "sv-lever-name", dir: "auto" }, phase2.phase),
      html("b", {}, `−${number(drag)}`),
      html("span", { class: "sv-meter-track" }, meter)
    );
    open.addEventListener("click", () => this.context.select([phase2.phase]));
    return html("li", {}, open);
  }
};
function legend(name, meaning2) {
  return html(
    "div",
    { class: "sv-legend" },
    html("i", { class: name }),
    html("span", {}, meaning2)
  );
}

// view/several.ts
var LISTED2 = 12;
var Several = class {
  constructor(context2) {
    this.context = context2;
  }
  context;
  /** The toolbar's field and button, which stand here while the inspector is open. */
  scale = null;
  names = [];
  lengths = [];
  sum = html("output", { "data-role": "together" });
  parts(solved, names) {
    this.names = names;
    this.lengths = names.slice(0, LISTED2).map(() => html("small"));
    const rows = this.lengths.map((length, k) => {
      const name = names[k];
      const open = html(
        "button",
        { type: "button", class: "sv-open", title: "choose this one alone" },
        html("span", { class: "sv-arrow-name" }, name),
        length
      );
      open.addEventListener("click", () => this.context.select([name]));
      return html("li", {}, open);
    });
    if (names.length > LISTED2) rows.push(html("li", { class: "sv-dim" }, `and ${names.length - LISTED2} more`));
    this.update(solved);
    return [
      html("div", { class: "sv-inspector-head" }, html("h3", { "data-role": "several" }, `${names.length} phases`)),
      html("p", { class: "sv-dim" }, "together ", this.sum, "; the end of any one drags them all by its factor."),
      ...this.scale ? [this.scale] : [],
      html("ul", { class: "sv-arrow-list" }, ...rows)
    ];
  }
  update(solved) {
    const duration = (name) => solved.doc.phases[rowOf2(solved, name)]?.duration ?? 0;
    this.lengths.forEach((length, k) => text2(length, ms(duration(this.names[k]))));
    text2(this.sum, ms(this.names.reduce((sum, name) => sum + duration(name), 0)));
  }
};

// view/inspector.ts
var Inspector = class {
  constructor(context2) {
    this.context = context2;
    this.overview = new Overview(context2);
    this.several = new Several(context2);
  }
  context;
  element = html("aside", { class: "sv-inspector", "data-role": "inspector", "aria-label": "inspector" });
  curve = new Curve();
  overview;
  rows = [];
  shownFor = "";
  editing = false;
  several;
  hold = null;
  duration = null;
  release = null;
  focus() {
    (this.duration ?? this.element.querySelector("input,select,button"))?.focus();
    this.duration?.select();
  }
  /** `structure`: the committed timeline or the choice changed, so fields are made anew. */
  update(solved, structure) {
    const { state, session } = this.context;
    const phase2 = state.primary !== null ? solved.doc.phases[rowOf2(solved, state.primary)] : void 0;
    const dependency = state.arrow !== null ? solved.doc.dependencies[state.arrow] : void 0;
    const several2 = phase2 !== void 0 && state.selection.size > 1;
    const key = dependency ? `arrow ${state.arrow}` : several2 ? `phases ${[...state.selection].join("\n")}` : phase2 ? `phase ${phase2.phase}` : "";
    if (structure || key !== this.shownFor) this.rebuild(key, solved, phase2, dependency);
    if (several2 && !dependency) this.several.update(solved);
    else if (phase2 && !dependency) this.refresh(solved, phase2);
    else this.overview.update(session.solved, solved);
  }
  rebuild(key, solved, phase2, dependency) {
    const at2 = active(this.context.root);
    const focused = this.element.contains(at2) && at2 instanceof HTMLInputElement ? at2 : null;
    const role = key === this.shownFor ? focused?.dataset["role"] : void 0;
    const draft = focused && !this.editing && focused.value !== focused.defaultValue ? focused.value : null;
    if (focused && draft !== null) focused.value = focused.defaultValue;
    this.shownFor = key;
    this.duration = this.release = null;
    this.hold = null;
    if (dependency) this.element.replaceChildren(...this.arrowParts(dependency, this.context.state.arrow));
    else if (phase2 && this.context.state.selection.size > 1) {
      this.element.replaceChildren(...this.several.parts(solved, [...this.context.state.selection]), this.deleteButton());
    } else if (phase2) this.element.replaceChildren(...this.phaseParts(solved, phase2));
    else this.element.replaceChildren(this.overview.element);
    const again = role === void 0 ? null : this.element.querySelector(`input[data-role="${role}"]`);
    if (!again) return;
    again.focus();
    if (draft !== null) again.value = draft;
  }
  /** Make an edit; reading what was typed for it may be refused as well. */
  edit(edit) {
    const { context: context2 } = this;
    this.editing = true;
    try {
      return context2.attempt(() => context2.session.apply(typeof edit === "function" ? edit() : edit));
    } finally {
      this.editing = false;
    }
  }
  deleteButton() {
    const { size } = this.context.state.selection;
    return size > 1 ? button(
      `Delete these ${size} phases (Delete)`,
      `delete ${size}`,
      { "data-role": "delete", class: "sv-danger" },
      () => this.onDelete?.(),
      this.context.signal
    ) : button(
      "Delete this phase (Delete)",
      "delete",
      { "data-role": "delete", class: "sv-danger" },
      () => this.onDelete?.(),
      this.context.signal
    );
  }
  phaseParts(solved, phase2) {
    const { context: context2 } = this;
    const name = phase2.phase;
    const title = html("input", {
      class: "sv-title",
      "data-role": "name",
      value: name,
      dir: "auto",
      "aria-label": "name of the phase",
      spellcheck: "false"
    });
    title.addEventListener("change", () => {
      const renamed2 = title.value.trim();
      if (renamed2 === name || !this.edit({ op: "update", phase: name, changes: { phase: renamed2 } })) {
        title.value = name;
      }
    });
    const kind = select("kind", KINDS, phase2.kind, (chosen) => this.edit({ op: "update", phase: name, changes: { kind: chosen } }));
    kind.classList.add("sv-kind", `sv-k-${phase2.kind}`);
    this.duration = numberField("duration", phase2.duration, (typed) => this.edit(() => ({ op: "duration", phase: name, duration: typed() })), "duration in ms");
    this.release = numberField("release", phase2.release, (typed) => this.edit(() => ({ op: "release", phase: name, release: typed() })), "release in ms, 0 for none");
    const value = (role) => html("output", { "data-role": role });
    this.rows = ["start", "finish", "latest start", "total float", "drag", "free float"].map((label) => ({ key: label, value: value(label.replace(" ", "-")) }));
    const place = textField("rank", phase2.rank === null ? (phase2.members ?? []).join(", ") : String(phase2.rank), (typed) => this.edit(() => ({ op: "update", phase: name, changes: parseRanks(typed) })));
    place.title = "one rank, or several of a collective: 0, 1";
    const lane = textField("lane", phase2.lane ?? "", (typed) => this.edit({ op: "update", phase: name, changes: { lane: typed || null } }));
    this.hold = { what: html("div", { "data-role": "starts-when" }), note: html("div", { class: "sv-dim" }) };
    return [
      html("div", { class: "sv-inspector-head" }, title, kind),
      field("duration", this.duration, "ms"),
      field("release", this.release, "ms"),
      html("dl", { class: "sv-facts" }, ...this.rows.flatMap((row) => [html("dt", {}, row.key), html("dd", {}, row.value)])),
      html("div", { class: "sv-fields-row" }, field("rank", place), field("lane", lane)),
      html("h4", {}, "starts when"),
      this.hold.what,
      this.hold.note,
      html("h4", {}, "what more would buy"),
      this.curve.element,
      html("h4", {}, "arrows"),
      this.arrowList(solved, rowOf2(solved, name)),
      html(
        "div",
        { class: "sv-actions" },
        button("Draw an arrow from this phase (A)", "+ arrow", { "data-role": "link" }, () => this.onLink?.(), context2.signal),
        this.targetButton(name),
        this.deleteButton()
      )
    ];
  }
  /** Where the completion is measured: at one phase's finish, or at the last of all. */
  targetButton(name) {
    const { context: context2 } = this;
    const is = context2.session.doc.target === name;
    return button(
      is ? "Target: the completion is this phase’s finish; click for the last finish of all" : "Target: measure the completion at this phase’s finish",
      "target",
      { "data-role": "target-toggle", "aria-pressed": String(is) },
      () => this.edit({ op: "target", target: is ? null : name }),
      context2.signal
    );
  }
  onLink = null;
  onDelete = null;
  refresh(solved, phase2) {
    const { session } = this.context;
    const row = rowOf2(solved, phase2.phase);
    for (const [input, current] of [[this.duration, phase2.duration], [this.release, phase2.release]]) {
      if (input && active(this.context.root) !== input) {
        const written2 = exact(current);
        if (input.value !== written2) input.value = written2;
      }
    }
    const values = [solved.start, solved.finish, solved.latestStart, solved.totalFloat, null, solved.freeFloat];
    this.rows.forEach((fact, k) => {
      const column = values[k];
      if (column) text2(fact.value, number(column[row]));
    });
    const drag = this.rows[4]?.value;
    this.curve.update(session.solved, solved, phase2.phase, phase2.kind);
    if (drag) {
      text2(drag, number(this.curve.drag));
      attr(drag, "data-stale", this.curve.stale ? "" : null);
    }
    const [what, note] = startsWhen(solved, row);
    if (this.hold) {
      text2(this.hold.what, what);
      text2(this.hold.note, note);
      show(this.hold.note, note !== "");
    }
  }
  arrowList(solved, row) {
    const list2 = html("ul", { class: "sv-arrow-list" });
    const mine = solved.dependencies.filter((other) => other.source === row || other.target === row);
    for (const dependency of mine.slice(0, 24)) list2.append(this.arrowRow(solved, dependency, row));
    if (mine.length > 24) list2.append(html("li", { class: "sv-dim" }, `and ${mine.length - 24} more`));
    if (mine.length === 0) list2.append(html("li", { class: "sv-dim" }, "none"));
    return list2;
  }
  arrowRow(solved, dependency, row) {
    const { context: context2 } = this;
    const outgoing = dependency.source === row;
    const other = nameOf(solved, outgoing ? dependency.target : dependency.source);
    const cut2 = other.length - (/[^\p{L}\p{N}]*\S{1,5}$/u.exec(other.slice(-7))?.[0].length ?? 0);
    const label = html(
      "span",
      { class: "sv-arrow-name", title: other, dir: "auto" },
      outgoing ? "→ " : "← ",
      html("span", { class: "sv-arrow-front" }, other.slice(0, cut2)),
      html("span", {}, other.slice(cut2))
    );
    if (dependency.row < 0) {
      return html("li", {}, html("span", { class: "sv-type" }, "FS"), label, html("span", { class: "sv-dim" }, "lane order"));
    }
    const at2 = dependency.row;
    const type = select("type", LINK_TYPES, dependency.type, (chosen) => this.edit({ op: "relink", row: at2, changes: { type: chosen } }));
    const open = html(
      "button",
      { type: "button", class: "sv-open", title: "choose this arrow" },
      label,
      html("small", {}, dependency.origin)
    );
    open.addEventListener("click", () => context2.selectArrow(at2));
    return html(
      "li",
      { "data-list-row": at2, class: dependency.critical ? "sv-critical" : "" },
      type,
      open,
      numberField(`lag-${at2}`, dependency.lag, (typed) => this.edit(() => ({ op: "relink", row: at2, changes: { lag: typed() } })), `lag to ${other} in ms`),
      button(
        `Delete the arrow ${outgoing ? "to" : "from"} ${other}`,
        "×",
        { class: "sv-x" },
        () => this.edit({ op: "disconnect", row: at2 }),
        context2.signal
      )
    );
  }
  arrowParts(dependency, row) {
    const { context: context2 } = this;
    const names = context2.session.doc.phases.map((phase2) => phase2.phase);
    const change2 = (changes) => this.edit({ op: "relink", row, changes });
    const solved = context2.session.solved.dependencies.find((other) => other.row === row);
    const ends2 = {
      FS: ["starts", "has finished"],
      SS: ["starts", "has started"],
      FF: ["finishes", "has finished"],
      SF: ["finishes", "has started"]
    }[dependency.type];
    return [
      html(
        "div",
        { class: "sv-inspector-head" },
        html("h3", {}, "arrow"),
        html("span", { class: "sv-dim" }, originNote(dependency.origin))
      ),
      html("p", { "data-role": "arrow-meaning" }, `${dependency.target} ${ends2[0]} at the earliest ${dependency.lag === 0 ? "when" : `${ms(Math.abs(dependency.lag))} ${dependency.lag > 0 ? "after" : "before"}`} ${dependency.source} ${ends2[1]}.`),
      field("from", select("source", names, dependency.source, (source) => change2({ source }))),
      field("to", select("target", names, dependency.target, (target) => change2({ target }))),
      field("type", select("arrow-type", LINK_TYPES, dependency.type, (type) => change2({ type }))),
      field("lag", numberField(
        "lag",
        dependency.lag,
        (typed) => this.edit(() => ({ op: "relink", row, changes: { lag: typed() } })),
        "lag in ms"
      ), "ms"),
      field("origin", select("origin", ORIGINS, dependency.origin, (origin) => change2({ origin }))),
      html(
        "dl",
        { class: "sv-facts" },
        html("dt", {}, "slack"),
        html("dd", {}, solved ? ms(solved.slack) : ""),
        html("dt", {}, "critical"),
        html("dd", {}, solved?.critical ? "yes" : "no")
      ),
      html("div", { class: "sv-actions" }, button(
        "Delete this arrow (Delete)",
        "delete",
        { class: "sv-danger", "data-role": "delete-arrow" },
        () => {
          if (this.edit({ op: "disconnect", row })) context2.selectArrow(null);
        },
        context2.signal
      )),
      html("p", { class: "sv-dim" }, `Drag its label to change the lag, its ends to attach it elsewhere. ${number(names.length)} phases in all.`)
    ];
  }
};

// view/keyboard.ts
var Keyboard = class {
  constructor(context2, chart, gestures, actions) {
    this.context = context2;
    this.chart = chart;
    this.gestures = gestures;
    this.actions = actions;
    const { root, signal } = context2;
    root.addEventListener("keydown", (event) => this.down(event), { signal });
    root.addEventListener("keyup", (event) => {
      if (this.burst?.code === event.code) this.commit();
    }, { signal });
    root.addEventListener("focusout", () => this.commit(), { signal });
    chart.scroller.addEventListener("focusin", (event) => this.focused(event), { signal });
    chart.scroller.addEventListener("focusout", () => {
      context2.state.focus = null;
      this.endLink();
    }, { signal });
    signal.addEventListener("abort", () => {
      this.burst?.gesture.cancel();
      this.link?.gesture.cancel();
    });
  }
  context;
  chart;
  gestures;
  actions;
  burst = null;
  link = null;
  /** Exactly one bar can be reached with Tab; the arrows go on from there. */
  rove() {
    const { state } = this.context;
    const groups = [...this.chart.bars.layer.children];
    const name = state.focus ?? state.primary;
    const stop = groups.find((group) => group.dataset["phase"] === name) ?? this.chart.bars.at(0);
    for (const group of groups) {
      const wanted = group === stop ? "0" : "-1";
      if (group.getAttribute("tabindex") !== wanted) group.setAttribute("tabindex", wanted);
    }
  }
  focused(event) {
    const group = event.target.closest("[data-phase]");
    const name = group?.dataset["phase"] ?? null;
    if (name === null || name === this.context.state.focus) return;
    this.context.state.focus = name;
    this.rove();
    this.context.redraw("values");
  }
  current() {
    return this.chart.layout.items[this.chart.bars.itemOf(active(this.context.root))] ?? null;
  }
  down(event) {
    const { context: context2, chart } = this;
    const { session } = context2;
    const target = event.target;
    const typing = target.matches("input,select,textarea");
    const command = event.ctrlKey || event.metaKey;
    const take = (action) => {
      event.preventDefault();
      event.stopPropagation();
      if (this.burst && this.burst.code !== event.code && event.key !== "Escape") this.commit();
      if (command) this.endLink();
      action();
    };
    if (event.key === "Escape") {
      if (this.link) return take(() => this.endLink());
      if (this.burst) return take(() => this.cancelBurst());
      if (this.gestures.active) return take(() => this.gestures.cancel());
      if (this.actions.closePanel()) return take(() => {
      });
      if (typing) return take(() => this.back());
      return take(() => {
        context2.panel(null);
        context2.selectArrow(null);
        context2.select([]);
        context2.say(null);
      });
    }
    if (command && !event.altKey && event.code === "KeyZ" && !typing) {
      return take(() => context2.attempt(() => event.shiftKey ? session.redo() : session.undo()));
    }
    if (command && event.code === "KeyY" && !typing) return take(() => context2.attempt(() => session.redo()));
    if (typing || this.gestures.active) return;
    if (this.link) return this.linking(event, take);
    if (command && event.code === "KeyA") {
      return take(() => {
        context2.select(this.chart.visible(session.doc.phases.map((phase2) => phase2.phase)));
        this.tell();
      });
    }
    if (command) return;
    const onButton = target.matches("button");
    switch (event.key) {
      case "?":
        return take(() => context2.panel("help"));
      case "+":
      case "=":
        return take(() => chart.zoomBy(1.5));
      case "-":
        return take(() => chart.zoomBy(1 / 1.5));
      case "0":
        return take(() => chart.fit());
      case "n":
      case "N":
        return take(() => context2.panel("add"));
      case "Delete":
      case "Backspace":
        return take(() => this.actions.remove());
      default:
    }
    if (onButton) return;
    const item = this.current();
    if (!item) return;
    const name = chart.phaseOf(item, session.shown).phase;
    const coarse = event.shiftKey ? 10 : 1;
    const step = Math.min(1, snapStep(chart.scale.pxPerMs)) * coarse;
    if (event.altKey && event.key.startsWith("Arrow")) {
      return take(() => this.reorder(name, event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 1));
    }
    switch (event.code) {
      case "ArrowLeft":
        return take(() => this.nudge(name, event.code, false, -step));
      case "ArrowRight":
        return take(() => this.nudge(name, event.code, false, step));
      case "BracketLeft":
        return take(() => this.nudge(name, event.code, true, -step));
      case "BracketRight":
        return take(() => this.nudge(name, event.code, true, step));
      case "ArrowUp":
        return take(() => this.go(item, -1, event.shiftKey));
      case "ArrowDown":
        return take(() => this.go(item, 1, event.shiftKey));
      case "PageUp":
        return take(() => this.goRow(item, -1));
      case "PageDown":
        return take(() => this.goRow(item, 1));
      case "Home":
        return take(() => this.focusItem(this.order()[0] ?? -1));
      case "End":
        return take(() => this.focusItem(this.order().at(-1) ?? -1));
      case "Space":
        return take(() => {
          context2.select([name], "toggle");
          this.tell(name);
        });
      case "Enter":
        return take(() => {
          if (!context2.state.selection.has(name)) context2.select([name]);
          this.actions.inspect();
        });
      case "KeyA":
        return take(() => this.startLink(name));
      case "KeyR":
        return take(() => {
          const pinned = session.doc.phases.some((phase2) => phase2.phase === name && phase2.release > 0);
          if (pinned) context2.attempt(() => session.apply({ op: "release", phase: name, release: 0 }));
          else this.sayAloud(`${name} is not held back: there is no pin to let go.`);
        });
      default:
    }
  }
  /** Say what is chosen now: to those who see the drawing it shows. */
  tell(name) {
    const { selection } = this.context.state;
    const chosen = name === void 0 ? "" : `${name} ${selection.has(name) ? "chosen" : "no longer chosen"}, `;
    this.context.announce(`${chosen}${selection.size} ${selection.size === 1 ? "phase" : "phases"} chosen in all.`);
  }
  sayAloud(sentence) {
    this.context.say(sentence);
    this.context.announce(sentence);
  }
  /** From a field back to the bar it belongs to. */
  back() {
    const { state } = this.context;
    const group = state.primary === null ? null : this.chart.bars.group(state.primary);
    (group ?? this.context.root).focus();
  }
  order() {
    return this.chart.layout.rows.flatMap((row) => row.items);
  }
  focusItem(index) {
    const item = this.chart.layout.items[index];
    if (!item) return;
    const { phase: phase2 } = this.chart.phaseOf(item, this.context.session.shown);
    this.chart.reveal(phase2);
    this.chart.bars.at(index)?.focus({ preventScroll: true });
  }
  go(item, by, extend) {
    const order = this.order();
    const at2 = order.indexOf(this.chart.layout.items.indexOf(item)) + by;
    const next = order[at2];
    if (next === void 0) return;
    this.focusItem(next);
    const name = this.chart.phaseOf(this.chart.layout.items[next], this.context.session.shown).phase;
    if (!extend) return;
    this.context.select([this.chart.phaseOf(item, this.context.session.shown).phase, name], "add");
    this.tell(name);
  }
  goRow(item, by) {
    const { layout } = this.chart;
    const solved = this.context.session.shown;
    const row = layout.rows[item.row + by];
    if (!row) return;
    const time = solved.start[item.phase];
    let best = row.items[0] ?? -1;
    for (const index of row.items) {
      const start = solved.start[layout.items[index].phase];
      if (start <= time + 1e-9) best = index;
    }
    this.focusItem(best);
  }
  nudge(phase2, code, length, by) {
    const { context: context2 } = this;
    const { session } = context2;
    try {
      if (!this.burst || this.burst.phase !== phase2 || this.burst.length !== length) {
        this.commit();
        const before = session.solved;
        const gesture = session.begin(length ? `length of ${phase2}` : `release of ${phase2}`);
        let hold = 0;
        if (!length) {
          const free = gesture.preview({ op: "release", phase: phase2, release: 0 });
          hold = free.start[rowOf2(free, phase2)];
        }
        this.burst = { gesture, phase: phase2, code, length, amount: 0, before, hold };
      }
      const { burst } = this;
      burst.code = code;
      burst.amount += by;
      const row = rowOf2(burst.before, phase2);
      const was = burst.before.doc.phases[row];
      if (length) {
        burst.amount = Math.max(burst.amount, -was.duration);
        const duration = Math.round((was.duration + burst.amount) * 1e9) / 1e9;
        const shown = burst.gesture.preview({ op: "duration", phase: phase2, duration });
        context2.say(whyNot(burst.before, shown, phase2), "why");
      } else {
        const wish = Math.round((burst.before.start[row] + burst.amount) * 1e9) / 1e9;
        const held = wish <= burst.hold;
        if (held) burst.amount = burst.hold - burst.before.start[row];
        const shown = burst.gesture.preview({ op: "release", phase: phase2, release: held ? 0 : wish });
        context2.state.held = held ? phase2 : null;
        context2.say(held ? `${phase2} starts at ${number(shown.start[rowOf2(shown, phase2)])}: ${heldBy(shown, rowOf2(shown, phase2))}.` : null, "why");
        context2.redraw("values");
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context2.say(error.message, "refused");
    }
  }
  commit() {
    const { burst } = this;
    if (!burst) return;
    this.burst = null;
    this.context.state.held = null;
    this.context.attempt(() => burst.gesture.commit());
  }
  cancelBurst() {
    this.burst?.gesture.cancel();
    this.burst = null;
    this.context.state.held = null;
    this.context.say(null);
  }
  reorder(name, by) {
    const { context: context2 } = this;
    const { phases } = context2.session.doc;
    const mine = phases.find((phase2) => phase2.phase === name);
    if (!mine || mine.lane === null) {
      context2.say(`${name} has no lane, so there is no order to change.`, "refused");
      return;
    }
    const lane = phases.filter((other) => other.lane === mine.lane && other.rank === mine.rank);
    const at2 = lane.indexOf(mine) + by;
    if (at2 < 0 || at2 >= lane.length) return;
    const before = by < 0 ? lane[at2]?.phase ?? null : lane[at2 + 1]?.phase ?? null;
    context2.attempt(() => context2.session.apply({ op: "reorder", phase: name, before }));
  }
  /** Draw an arrow by keys: up and down choose the bar, left and right its end, S this bar's. */
  startLink(name) {
    const { context: context2, chart } = this;
    const { solved } = context2.session;
    this.endLink();
    const row = rowOf2(solved, name);
    const successor = solved.dependencies.find((other) => other.source === row)?.target ?? -1;
    const order = this.phasesInOrder();
    const target = order.includes(successor) ? successor : order[(order.indexOf(row) + 1) % order.length];
    if (!chart.first(row) || target === void 0 || target === row) {
      context2.say("There is no other phase in sight to draw an arrow to.", "refused");
      return;
    }
    context2.attempt(() => {
      const gesture = context2.session.begin(`new arrow from ${name}`);
      this.link = { gesture, source: name, from: "finish", target: nameOf(solved, target), to: "start" };
      this.showLink();
    });
  }
  /** Rows of the drawn phases from top to bottom, a collective once. */
  phasesInOrder() {
    return [...new Set(this.order().map((index) => this.chart.layout.items[index].phase))];
  }
  linking(event, take) {
    const { link: link2, context: context2 } = this;
    if (!link2) return;
    const { solved } = context2.session;
    const turn = (by) => {
      const order = this.phasesInOrder().filter((row) => row !== rowOf2(solved, link2.source));
      const next = order[(order.indexOf(rowOf2(solved, link2.target)) + by + order.length) % order.length];
      if (next !== void 0) link2.target = nameOf(solved, next);
      this.showLink();
    };
    switch (event.code) {
      case "ArrowUp":
        return take(() => turn(-1));
      case "ArrowDown":
        return take(() => turn(1));
      case "ArrowLeft":
      case "ArrowRight":
        return take(() => {
          link2.to = event.code === "ArrowLeft" ? "start" : "finish";
          this.showLink();
        });
      case "KeyS":
        return take(() => {
          link2.from = link2.from === "start" ? "finish" : "start";
          this.showLink();
        });
      case "Enter":
        return take(() => {
          this.link = null;
          this.hideLink();
          const { gesture } = link2;
          if (!context2.attempt(() => connect2(context2, gesture, link2.source, link2.from, link2.target, link2.to))) {
            gesture.cancel();
          }
        });
      default:
    }
  }
  showLink() {
    const { link: link2, chart, context: context2 } = this;
    if (!link2) return;
    const { solved } = context2.session;
    const { target } = link2;
    const seat = (row, end) => {
      const item = chart.first(row);
      return item ? anchor(item, end, 0, solved, chart.scale, chart.layout) : null;
    };
    const from = seat(rowOf2(solved, link2.source), link2.from);
    const to = seat(rowOf2(solved, target), link2.to);
    if (from && to) {
      const at2 = { x: to.x, y: to.top > from.bottom ? to.top : to.bottom };
      chart.overlay.setRubber({ x: from.x, y: to.row < from.row ? from.top : from.bottom }, at2, at2);
    }
    const sentence = `New arrow, ${linkType(link2.from, link2.to)}: ${meaning(link2.source, link2.from, target, link2.to).slice(4)}. ↑ ↓ another phase, ← → its start or finish, S this phase’s other end, Enter makes it, Esc leaves.`;
    this.sayAloud(sentence);
  }
  endLink() {
    const { link: link2 } = this;
    if (!link2) return;
    this.link = null;
    this.hideLink();
    link2.gesture.cancel();
  }
  hideLink() {
    this.chart.overlay.setRubber(null);
    this.context.say(null);
  }
};

// view/live.ts
var Messages = class {
  constructor(session, idle) {
    this.session = session;
    this.idle = idle;
    this.refresh();
  }
  session;
  idle;
  /** Visible: one line whose place is kept, so that nothing jumps when it speaks. */
  line = html("div", { class: "sv-message", "data-role": "message", "data-level": "none" });
  /** Heard only. */
  live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  own = null;
  kernel = "";
  /** What went wrong with the timeline itself and was said already. */
  told = null;
  say(message, level = "info") {
    this.own = message === null ? null : { message, level, during: this.session.dragging };
    this.refresh();
    if (message !== null && level === "refused") this.announce(message);
  }
  /** The hint has done its work. */
  dropHint() {
    this.idle = "";
    this.refresh();
  }
  /** Something went well: what was refused before it is over. */
  forgive() {
    if (this.own?.level === "refused") this.say(null);
  }
  /** The timeline is another one. Only the reason why a drag bought nothing stays, to be read. */
  settle() {
    if (this.own?.during && this.own.level === "why") this.own.during = false;
    else this.say(null);
  }
  announce(message) {
    text2(this.live, this.live.textContent === message ? `${message} ` : message);
  }
  refresh() {
    const { status } = this.session;
    const { message, level } = status;
    const { own } = this;
    const shown = message !== null && (own === null || level !== "info") ? { message, level } : own !== null ? { message: message === null ? own.message : `${own.message} · ${message}`, level: own.level } : { message: this.idle, level: "none" };
    text2(this.line, shown.message);
    attr(this.line, "data-level", shown.level);
    if (message !== this.told) {
      this.told = message;
      if (message !== null && level !== "info") this.announce(message);
    }
    if (status.kernel !== this.kernel) {
      this.kernel = status.kernel;
      if (status.kernel === "silent" && status.message) this.announce(status.message);
    }
  }
};

// view/legal.ts
var ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\p{Cs}\ufffe\uffff]/gu;
var legal = (content) => content.replace(ILLEGAL, "�");

// view/export.ts
var PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-variant-numeric",
  "text-decoration-line"
];
var SKIPPED = ".sv-grip,.sv-arrow-hit,.sv-overlay,.sv-free,.sv-pin-hit,title";
function dress(from, to) {
  const style = getComputedStyle(from);
  if (style.display === "none" || style.visibility === "hidden") {
    to.setAttribute("display", "none");
    return;
  }
  if (from instanceof SVGGraphicsElement && !(from instanceof SVGGElement)) {
    for (const property of PROPERTIES) {
      const value = style.getPropertyValue(property);
      if (value !== "" && value !== "none" || property === "fill" || property === "stroke") to.setAttribute(property, value.replace(/url\("?[^"#)]*#/, "url(#").replace('")', ")"));
    }
  }
  if (from instanceof SVGTextElement && style.paintOrder.startsWith("stroke")) {
    to.setAttribute("paint-order", "stroke");
    to.setAttribute("stroke-linejoin", "round");
  }
  for (let k = 0; k < from.children.length; k++) dress(from.children[k], to.children[k]);
}
function copy(drawing, y) {
  const clone = drawing.cloneNode(true);
  dress(drawing, clone);
  for (const extra of clone.querySelectorAll(SKIPPED)) extra.remove();
  for (const name of ["class", "role", "aria-label", "aria-describedby", "aria-roledescription", "data-role"]) clone.removeAttribute(name);
  clone.setAttribute("y", String(y));
  return clone;
}
function pictureSVG(root, chart) {
  const style = getComputedStyle(root);
  const foreground = style.color;
  const value = (role) => root.querySelector(`[data-role="${role}"]`)?.textContent ?? "";
  const line = (content, x, y, size, weight, opacity = 1) => {
    const element = svg("text", { x, y, "font-size": size, "font-weight": weight, "font-family": style.fontFamily, fill: foreground, "fill-opacity": opacity });
    element.textContent = content;
    return element;
  };
  const heights = [chart.head, chart.body, chart.below].map((part) => Number(part.getAttribute("height")));
  const top = 84;
  const lines = wrap(chart.strip.sum.textContent ?? "", chart.width - 32, `12.5px ${style.fontFamily}`);
  const drawn = top + heights.reduce((sum, part) => sum + part, 0);
  const height = drawn + 24 + 20 * lines.length;
  const picture = svg(
    "svg",
    {
      width: chart.width,
      height,
      viewBox: `0 0 ${chart.width} ${height}`
    },
    svg("rect", { width: chart.width, height, fill: style.backgroundColor === "rgba(0, 0, 0, 0)" ? "white" : style.backgroundColor }),
    line(`${value("completion")}`, 16, 42, 34, 700),
    line(value("change"), 16 + textWidth(value("completion"), `700 34px ${style.fontFamily}`) + 16, 40, 15, 600),
    line(value("caption"), 16, 64, 12.5, 400, 0.72),
    copy(chart.head, top),
    copy(chart.body, top + heights[0]),
    copy(chart.below, top + heights[0] + heights[1]),
    ...lines.map((content, k) => line(content, 16, drawn + 28 + 20 * k, 12.5, 400))
  );
  return legal(new XMLSerializer().serializeToString(picture));
}
function wrap(content, room, font) {
  const lines = [""];
  for (const term of content.split(/ (?=[+=] )/)) {
    const longer = `${lines.at(-1)} ${term}`.trim();
    if (textWidth(longer, font) <= room || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(term);
  }
  return lines;
}
function saveURL(url, name) {
  const link2 = html("a", { href: url, download: name });
  link2.click();
}
function saveText(content, name, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  saveURL(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 1e4);
}
async function savePNG(picture, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
  await image.decode();
  const canvas = html("canvas");
  canvas.width = image.naturalWidth * 2;
  canvas.height = image.naturalHeight * 2;
  const context2 = canvas.getContext("2d");
  if (!context2) throw new Error("no canvas");
  context2.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("no picture");
  const url = URL.createObjectURL(blob);
  saveURL(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 1e4);
}

// view/panels.ts
var KEYS = [
  ["Tab, ↑ ↓", "to a bar, and on; Page ↑ ↓ by row"],
  ["← →", "hold it back 1 ms (Shift 10); R lets it go"],
  ["[ ]", "shorter, longer by 1 ms (Shift 10)"],
  ["Enter", "type exact numbers; Esc goes back"],
  ["A", "draw an arrow from it"],
  ["Space, Shift ↑ ↓", "choose several; Ctrl A all"],
  ["Alt ← →", "earlier, later in its lane"],
  ["N, Delete", "new phase; delete what is chosen"],
  ["Ctrl Z, Shift Ctrl Z", "undo, redo"],
  ["+ − 0", "zoom, fit"]
];
var GESTURES = [
  ["a bar’s right end", "its length; several chosen bars scale together"],
  ["its left end", "its start, the end staying"],
  ["its body", "holds it back with a pin; drop it left to let it go"],
  ["the dots below its ends", "draw an arrow: the ends decide FS, SS, FF or SF"],
  ["an arrow’s label, its ends", "its lag; attach it elsewhere"],
  ["Alt while dragging", "no snapping to whole ms"],
  ["Alt + body", "another place in its lane"],
  ["the background", "choose several; Ctrl or Shift adds"],
  ["Ctrl + wheel, pinch", "zoom; drag the time axis to pan"]
];
var Panels = class {
  constructor(context2, chart) {
    this.context = context2;
    this.chart = chart;
  }
  context;
  chart;
  element = html("div", { class: "sv-panel", role: "dialog", hidden: true, "data-role": "panel" });
  open = null;
  opener = null;
  get isOpen() {
    return this.open !== null;
  }
  show(name) {
    const next = name === this.open ? null : name;
    const had = this.open !== null;
    if (next !== null && !had) this.opener = active(this.context.root);
    this.open = next;
    show(this.element, next !== null);
    if (next === null) {
      const within = had && this.element.contains(active(this.context.root));
      this.element.replaceChildren();
      if (!within) return;
      const opener = this.opener;
      (opener?.isConnected ? opener : this.context.root).focus();
      return;
    }
    const [title, parts] = this.build(next);
    this.element.setAttribute("aria-label", title);
    this.element.dataset["panel"] = next;
    this.element.replaceChildren(html(
      "div",
      { class: "sv-panel-head" },
      html("h3", {}, title),
      button("Close (Esc)", "×", { class: "sv-x", "data-role": "close" }, () => this.show(null), this.context.signal)
    ), ...parts);
    (this.element.querySelector("input,textarea,.sv-primary") ?? this.element.querySelector("button"))?.focus();
  }
  build(name) {
    switch (name) {
      case "help":
        return ["Keys and gestures", [list(KEYS, "kbd"), html("h4", {}, "drag"), list(GESTURES, "b")]];
      case "python":
        return ["The edits as Python", this.python()];
      case "filter":
        return ["Show", this.filter()];
      case "add":
        return ["A new phase", this.add()];
      case "export":
        return ["Save the picture", this.save()];
    }
  }
  python() {
    const { context: context2 } = this;
    const code = context2.session.python();
    const area = html("textarea", { readonly: true, rows: Math.min(16, code.split("\n").length + 1), spellcheck: "false", "data-role": "code", "aria-label": "the edits as Python" });
    area.value = code;
    const copy2 = button("Copy", "copy", { class: "sv-primary", "data-role": "copy" }, () => {
      const fallback = () => {
        area.focus();
        area.select();
        copy2.textContent = "chosen: press Ctrl+C";
      };
      if (!navigator.clipboard) return fallback();
      navigator.clipboard.writeText(code).then(() => {
        copy2.textContent = "copied";
      }, fallback);
    }, context2.signal);
    return [area, html("div", { class: "sv-actions" }, copy2)];
  }
  filter() {
    const { state, session } = this.context;
    const { phases } = session.doc;
    const group = (title, values, hidden, label = (value) => String(value)) => html("fieldset", {}, html("legend", {}, title), ...values.map((value) => {
      const box = html("input", { type: "checkbox", checked: !hidden.has(value), "data-filter": `${title}:${value}` });
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(value);
        else hidden.add(value);
        this.context.redraw("layout");
        this.leaveHidden();
      });
      return html("label", { class: "sv-check" }, box, html("span", {}, label(value)));
    }));
    const lanes = [...new Set(phases.map((phase2) => phase2.lane ?? NO_LANE))];
    const kinds = KINDS.filter((kind) => phases.some((phase2) => phase2.kind === kind));
    const choose = select("choose-kind", ["…", ...kinds], "…", (kind) => {
      this.context.select(this.chart.visible(phases.filter((phase2) => phase2.kind === kind).map((phase2) => phase2.phase)));
      this.show(null);
      return true;
    });
    return [
      group("rank", ranksOf2(session.doc), state.hidden.ranks, (rank) => `rank ${rank}`),
      group("lane", lanes, state.hidden.lanes),
      group("kind", [...kinds], state.hidden.kinds),
      field("choose every", choose),
      html("p", { class: "sv-dim" }, "Filters hide bars in this view only; the step is computed with all of them.")
    ];
  }
  /** Several phases are scaled and deleted together: not ones that a filter hides. */
  leaveHidden() {
    const { context: context2 } = this;
    const chosen = [...context2.state.selection];
    const seen2 = this.chart.visible(chosen);
    if (chosen.length < 2 || seen2.length === chosen.length) return;
    context2.select(seen2);
    const left = chosen.length - seen2.length;
    context2.say(`${left} hidden ${left === 1 ? "phase is" : "phases are"} no longer chosen.`);
  }
  add() {
    const { context: context2 } = this;
    const { session, state } = context2;
    const near = session.doc.phases[rowOf2(session.solved, state.primary)];
    const name = html("input", { "data-role": "new-name", value: fresh2(session.doc.phases), spellcheck: "false" });
    let kind = near?.kind ?? "other";
    const kinds = select("new-kind", KINDS, kind, (chosen) => {
      kind = chosen;
      return true;
    });
    const number2 = (role, value) => html("input", { class: "sv-number", "data-role": role, value, inputmode: "decimal" });
    const duration = number2("new-duration", "50");
    const rank = number2("new-rank", near?.members?.join(", ") ?? String(near?.rank ?? ranksOf2(session.doc)[0] ?? 0));
    const lane = html("input", { "data-role": "new-lane", value: near?.lane ?? "", placeholder: "none" });
    const apply = () => {
      const added = name.value.trim();
      const made = context2.attempt(() => {
        const phase2 = {
          phase: added,
          kind,
          rank: null,
          ...parseRanks(rank.value),
          lane: lane.value.trim() || null,
          duration: readNumber(duration.value),
          release: 0
        };
        session.apply(near ? { op: "add", phase: phase2, after: near.phase } : { op: "add", phase: phase2 });
      });
      if (!made) return;
      this.show(null);
      context2.select([added]);
      (this.chart.bars.group(added) ?? context2.root).focus();
    };
    const form = html(
      "div",
      { class: "sv-form" },
      field("name", name),
      field("kind", kinds),
      field("duration", duration, "ms"),
      field("rank, or 0, 1", rank),
      field("lane", lane),
      html("p", { class: "sv-dim" }, near ? `It comes after ${near.phase} in its lane’s order.` : "It comes last in its lane’s order."),
      html("div", { class: "sv-actions" }, button("Add", "add", { class: "sv-primary", "data-role": "add-apply" }, apply, context2.signal))
    );
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target instanceof HTMLInputElement) apply();
    });
    return [form];
  }
  save() {
    const { context: context2, chart } = this;
    const title = context2.session.doc.name || "timeline";
    const file = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "timeline";
    return [html(
      "div",
      { class: "sv-actions" },
      button("Save as SVG", "SVG", { class: "sv-primary", "data-role": "save-svg" }, () => saveText(pictureSVG(context2.root, chart), `${file}.svg`, "image/svg+xml"), context2.signal),
      button("Save as PNG", "PNG", { "data-role": "save-png" }, () => {
        savePNG(pictureSVG(context2.root, chart), `${file}.png`).catch(() => context2.say("This page does not allow pictures to be made; save the SVG instead.", "refused"));
      }, context2.signal),
      button("Save the timeline as JSON", "JSON", { "data-role": "save-json" }, () => saveText(JSON.stringify(context2.session.doc, null, 1), `${file}.json`, "application/json"), context2.signal)
    )];
  }
};
function list(rows, tag) {
  return html("dl", { class: "sv-help" }, ...rows.flatMap(([key, meaning2]) => [html("dt", {}, html(tag, {}, key)), html("dd", {}, meaning2)]));
}
function fresh2(phases) {
  const taken = new Set(phases.map((phase2) => phase2.phase));
  for (let k = 1; ; k++) {
    const name = k === 1 ? "new phase" : `new phase ${k}`;
    if (!taken.has(name)) return name;
  }
}

// view/table.ts
var LISTED3 = 400;
var ARROWS = ["from", "to", "type", "lag", "slack", "critical", "known as"];
var COLUMNS = ["phase", "kind", "rank", "lane", "start", "finish", "duration", "total float", "critical"];
var Table = class {
  constructor(context2) {
    this.context = context2;
  }
  context;
  element = html("div", { class: "sv-table", "data-role": "table", hidden: true });
  update(solved) {
    if (!this.context.state.table) return;
    const rows = solved.doc.phases.map((phase2, row) => {
      const name = html("button", { type: "button", "data-table-phase": phase2.phase }, phase2.phase);
      name.addEventListener("click", () => this.context.select([phase2.phase]));
      const cells = [
        phase2.kind,
        phase2.rank === null ? (phase2.members ?? []).join(", ") : String(phase2.rank),
        phase2.lane ?? "",
        number(solved.start[row]),
        number(solved.finish[row]),
        number(phase2.duration),
        number(solved.totalFloat[row]),
        solved.critical[row] === 1 ? "yes" : ""
      ];
      return html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell)));
    });
    this.element.replaceChildren(html(
      "table",
      { "data-role": "phases" },
      html("caption", {}, `Completion ${number(solved.completion)} ms`),
      html("thead", {}, html("tr", {}, ...COLUMNS.map((column) => html("th", { scope: "col" }, column)))),
      html("tbody", {}, ...rows)
    ), this.arrows(solved));
  }
  arrows(solved) {
    const { phases } = solved.doc;
    const stored = solved.dependencies.filter(({ row }) => row >= 0);
    const name = (row) => phases[row]?.phase ?? "";
    const lines = stored.slice(0, LISTED3).map((arrow) => {
      const open = html("button", { type: "button", "data-table-arrow": arrow.row, title: "choose this arrow" }, name(arrow.source));
      open.addEventListener("click", () => this.context.selectArrow(arrow.row));
      const cells = [name(arrow.target), arrow.type, number(arrow.lag), number(arrow.slack), arrow.critical ? "yes" : "", arrow.origin];
      return html("tr", {}, html("th", { scope: "row" }, open), ...cells.map((cell) => html("td", {}, cell)));
    });
    const left = stored.length - lines.length;
    return html(
      "table",
      { "data-role": "arrows" },
      html("caption", {}, `${number(stored.length)} arrows${left > 0 ? `, the first ${LISTED3} of them` : ""}; the order within a lane is not among them`),
      html("thead", {}, html("tr", {}, ...ARROWS.map((column) => html("th", { scope: "col" }, column)))),
      html("tbody", {}, ...lines)
    );
  }
};

// view/toolbar.ts
var ICONS = {
  undo: "M6.5 3.5L3 7l3.5 3.5M3 7h6a4 4 0 0 1 0 8H7",
  redo: "M9.5 3.5L13 7l-3.5 3.5M13 7H7a4 4 0 0 0 0 8h2",
  reset: "M3 3v4h4M3.4 7a5.2 5.2 0 1 1-.4 3.4",
  python: "M5.5 4L1.5 8l4 4M10.5 4l4 4-4 4",
  save: "M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.5h11",
  table: "M2 3h12v10H2zM2 6.4h12M2 9.7h12M6.4 3v10",
  panel: "M2 3h12v10H2zM10 3v10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 5V2.5h2.5M11.5 2.5H14V5M14 11v2.5h-2.5M4.5 13.5H2V11M5 8h6",
  filter: "M2 3h12l-4.6 5.4V13l-2.8-1.4V8.4z"
};
var BESIDE_HEADLINE = 12;
var Toolbar = class {
  constructor(context2, chart, toggles) {
    this.context = context2;
    this.chart = chart;
    const { session, signal, state } = context2;
    const tool = (role, label, path, action) => button(label, icon(path), { "data-role": role, class: "sv-tool" }, action, signal);
    this.undo = tool("undo", "Undo", ICONS.undo, () => context2.attempt(() => session.undo()));
    this.redo = tool("redo", "Redo", ICONS.redo, () => context2.attempt(() => session.redo()));
    this.reset = tool("reset", "Reset", ICONS.reset, () => context2.attempt(() => session.reset()));
    this.tableButton = tool("table-toggle", "Show as a table", ICONS.table, toggles.table);
    this.panelButton = tool("inspector-toggle", "Inspector", ICONS.panel, toggles.inspector);
    this.baseline.addEventListener("change", () => {
      context2.attempt(() => session.setBaseline(this.baseline.value));
    }, { signal });
    this.main = html(
      "div",
      { class: "sv-toolbar", role: "toolbar", "aria-label": "timeline" },
      this.scenarios,
      this.baseline,
      html("span", { class: "sv-group" }, this.undo, this.redo, this.reset)
    );
    this.arrowNote = button("Arrows", "", { "data-role": "arrow-note", class: "sv-note-button" }, () => {
      state.allArrows = !state.allArrows;
      context2.redraw("values");
    }, signal);
    const apply = () => {
      const factor = parse(this.factor.value);
      if (factor === null || factor < 0) {
        context2.say("A factor is a number from 0 up, such as 0.9.", "refused");
        return;
      }
      context2.attempt(() => session.apply({ op: "scale", phases: [...state.selection], factor }));
    };
    this.factor.addEventListener("keydown", (event) => {
      if (event.key === "Enter") apply();
    }, { signal });
    this.scale = html(
      "span",
      { class: "sv-scale", "data-role": "scale", hidden: true },
      this.scaleLabel,
      " × ",
      this.factor,
      button("Scale the chosen phases together", "scale", { "data-role": "scale-apply" }, apply, signal)
    );
    this.tools = html(
      "div",
      { class: "sv-tools", role: "toolbar", "aria-label": "view" },
      this.scale,
      this.arrowNote,
      button("Add a phase (N)", html("span", {}, "+", html("span", { class: "sv-word" }, " phase")), { "data-role": "add" }, () => context2.panel("add"), signal),
      tool("filter", "Filter by rank, lane or kind", ICONS.filter, () => context2.panel("filter")),
      html(
        "span",
        { class: "sv-group" },
        tool("zoom-out", "Zoom out (−)", ICONS.minus, () => chart.zoomBy(1 / 1.5)),
        tool("fit", "Fit the whole step (0)", ICONS.fit, () => chart.fit()),
        tool("zoom-in", "Zoom in (+)", ICONS.plus, () => chart.zoomBy(1.5))
      ),
      html(
        "span",
        { class: "sv-group" },
        tool("python", "Copy the edits as Python", ICONS.python, () => context2.panel("python")),
        tool("export", "Save as SVG or PNG", ICONS.save, () => context2.panel("export")),
        this.tableButton,
        this.panelButton,
        button("Help: keys and gestures (?)", "?", { "data-role": "help", class: "sv-tool" }, () => context2.panel("help"), signal)
      )
    );
    this.settle = [this.main, this.tools].map((bar) => rove(bar, signal));
  }
  context;
  chart;
  main;
  tools;
  scenarios = html("span", { class: "sv-group sv-scenarios", role: "group", "aria-label": "scenarios" });
  baseline = html("select", { "data-role": "baseline", "aria-label": "baseline to compare with", title: "compare with" });
  undo;
  redo;
  reset;
  tableButton;
  panelButton;
  arrowNote;
  scale;
  scaleLabel = html("span");
  factor = html("input", {
    class: "sv-number",
    value: "0.9",
    "data-role": "factor",
    "aria-label": "factor",
    inputmode: "decimal"
  });
  scenarioKey = "";
  settle;
  update() {
    const { session, state } = this.context;
    const able = (element, can, label) => {
      if (element.disabled === can) element.disabled = !can;
      attr(element, "title", label);
      attr(element, "aria-label", label);
    };
    able(this.undo, session.canUndo, session.undoLabel === null ? "Nothing to undo" : `Undo: ${session.undoLabel}`);
    able(this.redo, session.canRedo, session.redoLabel === null ? "Nothing to redo" : `Redo: ${session.redoLabel}`);
    able(this.reset, true, `Reset to ${session.baselineName === "baseline" ? "the baseline" : session.baselineName} (can be undone)`);
    attr(this.tableButton, "aria-pressed", String(state.table));
    attr(this.panelButton, "aria-pressed", String(state.inspector));
    const filtered = state.hidden.ranks.size + state.hidden.lanes.size + state.hidden.kinds.size;
    attr(this.tools, "data-filtered", filtered > 0 ? filtered : null);
    this.listScenarios();
    this.updateSelection();
    for (const settle of this.settle) settle();
  }
  updateSelection() {
    const { state } = this.context;
    const chosen = state.selection.size;
    show(this.scale, chosen > 1);
    if (!state.inspector && this.scale.parentElement !== this.tools) this.tools.prepend(this.scale);
    if (chosen > 1) text2(this.scaleLabel, `${chosen} phases`);
    const { shown, total: total2 } = this.chart.arrows;
    const thinned = shown < total2;
    show(this.arrowNote, thinned || state.allArrows);
    text2(this.arrowNote, thinned ? `${number(shown)} of ${number(total2)} arrows · show all` : "all arrows · thin out");
    attr(this.arrowNote, "title", "Critical arrows and those of the chosen phase are always drawn");
  }
  listScenarios() {
    const { session } = this.context;
    const { scenarioNames, activeScenario, baselineName } = session;
    const key = JSON.stringify([
      scenarioNames,
      activeScenario,
      baselineName,
      scenarioNames.map((name) => session.scenario(name).completion)
    ]);
    if (key === this.scenarioKey) return;
    this.scenarioKey = key;
    const letters = scenarioNames.reduce((sum, name) => sum + Math.max(2, name.length), 0);
    attr(this.main, "data-long", letters > BESIDE_HEADLINE ? "" : null);
    const children = scenarioNames.map((name) => {
      const completion = ms(session.scenario(name).completion);
      const element = html("button", {
        type: "button",
        class: "sv-scenario",
        "data-scenario": name,
        "aria-pressed": String(name === activeScenario),
        title: `${name}: ${completion}${name === baselineName ? ", the baseline" : ""}`
      }, name);
      element.addEventListener("click", () => this.context.attempt(() => session.switchTo(name)));
      return element;
    });
    const keep = html("button", {
      type: "button",
      class: "sv-keep",
      "data-role": "keep",
      title: "Keep this timeline as the next scenario, to switch between them"
    }, "+ keep");
    keep.addEventListener("click", () => {
      this.context.attempt(() => {
        const name = session.keep();
        this.context.say(`Kept as ${name}.`);
      });
    });
    this.scenarios.replaceChildren(...children, keep);
    show(this.baseline, scenarioNames.length > 1);
    this.baseline.replaceChildren(...scenarioNames.map((name) => html("option", { value: name, selected: name === baselineName }, `vs ${name}`)));
  }
};

// view/editor.ts
var views = 0;
var HINT = "Drag a bar’s end or body · ? for keys";
var SPOKEN_HINT = "Tab to a bar · ← → holds it back (Shift 10 ms) · [ ] its length · A draws an arrow · Ctrl Z undoes · ? help";
var WIDTHS = { "sv-tiny": 560, "sv-narrow": 880, "sv-medium": 1060 };
function shareWidth(host) {
  const { style } = host;
  const own = style.width !== "" || style.flex !== "" && style.flex !== SHARE;
  if (own) {
    if (style.flex === SHARE) style.flex = "";
    return;
  }
  style.flex = SHARE;
  style.minWidth ||= "0";
  style.maxWidth ||= "100%";
}
var SHARE = "1 1 0px";
function said2(before, { undoLabel, redoLabel }) {
  if (redoLabel !== null && redoLabel === before.undo) return `Undone: ${redoLabel}. `;
  if (undoLabel !== null && undoLabel === before.redo) return `Redone: ${undoLabel}. `;
  return undoLabel === null ? "" : `${undoLabel}. `;
}
function renderEditor(session, host, signal) {
  const uid = `stepviz-${++views}-${Math.random().toString(36).slice(2, 8)}`;
  const root = html("div", { class: "stepviz", tabindex: "-1" });
  const state = new ViewState();
  const messages = new Messages(session, HINT);
  const context2 = {
    session,
    state,
    root,
    uid,
    signal,
    redraw,
    select(chosen, mode = "replace") {
      if (mode === "replace") state.selection.clear();
      for (const name of chosen) {
        if (mode === "toggle" && state.selection.has(name)) state.selection.delete(name);
        else {
          state.selection.delete(name);
          state.selection.add(name);
        }
      }
      if (chosen.length > 0) state.arrow = null;
      if (session.selected !== state.primary) session.selected = state.primary;
      redraw("selection");
    },
    selectArrow(row) {
      if (row === state.arrow) return;
      state.arrow = row;
      redraw("selection");
    },
    attempt(action) {
      try {
        action();
        messages.forgive();
        return true;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        messages.say(error.message, "refused");
        return false;
      }
    },
    say: (message, level) => messages.say(message, level),
    announce: (message) => messages.announce(message),
    panel: (name) => panels.show(name)
  };
  const headline = new Headline(context2, (rank) => chart.goTo(rank));
  const chart = new Chart(context2, (kind) => context2.select(chart.visible(session.doc.phases.filter((phase2) => phase2.kind === kind).map((phase2) => phase2.phase))));
  const inspector = new Inspector(context2);
  const table = new Table(context2);
  const panels = new Panels(context2, chart);
  const gestures = new Gestures(context2, chart);
  const keyboard = new Keyboard(context2, chart, gestures, {
    inspect: () => inspector.focus(),
    remove,
    closePanel() {
      const { isOpen } = panels;
      panels.show(null);
      return isOpen;
    }
  });
  const toolbar = new Toolbar(context2, chart, {
    table() {
      state.table = !state.table;
      show(table.element, state.table);
      redraw("selection");
    },
    inspector() {
      state.inspector = !state.inspector;
      redraw("layout");
    }
  });
  inspector.several.scale = toolbar.scale;
  inspector.onDelete = remove;
  inspector.onLink = () => {
    const name = state.primary;
    if (name === null) return;
    chart.bars.group(name)?.focus();
    keyboard.startLink(name);
  };
  function remove() {
    if (state.arrow !== null) {
      const row = state.arrow;
      if (context2.attempt(() => session.apply({ op: "disconnect", row }))) context2.selectArrow(null);
      return;
    }
    const phases = state.selection.size > 0 ? [...state.selection] : state.focus !== null ? [state.focus] : [];
    if (phases.length > 0) context2.attempt(() => session.apply({ op: "remove", phases }));
  }
  const top = html("div", { class: "sv-top" }, headline.element, toolbar.main, messages.line, toolbar.tools);
  const hint = html("div", { id: `${uid}-hint`, class: "sv-live" }, SPOKEN_HINT);
  root.append(
    top,
    html("div", { class: "sv-main" }, chart.element, inspector.element, panels.element),
    table.element,
    messages.live,
    hint
  );
  host.append(root);
  function arrange(width2) {
    shareWidth(host);
    if (width2 <= 0) return;
    for (const [name, below] of Object.entries(WIDTHS)) root.classList.toggle(name, width2 < below);
    const parent = width2 < WIDTHS["sv-narrow"] ? chart.element : top;
    if (messages.line.parentElement !== parent) {
      if (parent === top) top.insertBefore(messages.line, toolbar.tools);
      else parent.append(messages.line);
    }
  }
  function redraw(what) {
    if (signal.aborted) return;
    const { shown } = session;
    const extent = what !== "layout" && !chart.fits(shown) ? "layout" : what;
    const place = chart.bars.itemOf(active(root));
    keepFocus(root, () => draw(extent, shown), (was) => {
      if (was.matches("[data-phase]")) return chart.bars.at(Math.max(0, place - 1)) ?? root;
      const name = state.arrow === null ? state.primary : null;
      return (name === null ? null : chart.bars.group(name)) ?? root;
    }, extent === "values");
  }
  function draw(what, shown) {
    if (what === "layout" && !gestures.holds) {
      arrange(root.clientWidth);
      show(inspector.element, state.inspector);
      headline.update(shown);
      chart.relayout(shown);
      inspector.update(shown, true);
      toolbar.update();
      table.update(shown);
      keyboard.rove();
    } else if (what === "selection") {
      chart.update(shown);
      inspector.update(shown, true);
      toolbar.update();
      table.update(shown);
      keyboard.rove();
    } else {
      headline.update(shown);
      chart.update(shown);
      inspector.update(shown, false);
      toolbar.updateSelection();
    }
  }
  shieldKeys(root, signal, (event) => event.code === "KeyZ" || event.code === "KeyY");
  for (const press of ["pointerdown", "click"]) {
    root.addEventListener(press, (event) => {
      if (!root.contains(active(root)) && !event.target.closest("button,input,select,textarea,label")) {
        root.focus({ preventScroll: true });
      }
    }, { signal });
  }
  root.addEventListener("input", () => messages.forgive(), { signal });
  let { doc } = session;
  let labels = { undo: session.undoLabel, redo: session.redoLabel };
  session.subscribe((what) => {
    if (what === "preview") {
      redraw("values");
      return;
    }
    if (what === "selected") {
      if (session.selected !== state.primary) {
        state.selection.clear();
        if (session.selected !== null) state.selection.add(session.selected);
        state.arrow = null;
        redraw("selection");
      }
      return;
    }
    if (what === "status") {
      messages.refresh();
      return;
    }
    follow(state, doc, session.doc);
    doc = session.doc;
    messages.settle();
    redraw("layout");
    if (what === "doc") {
      messages.dropHint();
      messages.announce(`${said2(labels, session)}${result(session.solved, session.baseline, session.baselineName)}`);
      labels = { undo: session.undoLabel, redo: session.redoLabel };
    }
  }, signal);
  if (session.selected !== null) state.selection.add(session.selected);
  let width = root.clientWidth;
  const observer = new ResizeObserver(() => {
    const now = root.clientWidth;
    if (now === width) return;
    width = now;
    if (now > 0) redraw("layout");
  });
  observer.observe(root);
  redraw("layout");
  signal.addEventListener("abort", () => {
    observer.disconnect();
    root.remove();
  });
}

// index.ts
var index_default = () => {
  let session;
  return {
    initialize({ model, signal }) {
      freeWhenClosed(model);
      session = Session.open(model, signal);
    },
    render({ model, el, signal }) {
      renderEditor(session ?? Session.for(model), el, signal);
    }
  };
};
export {
  index_default as default
};
