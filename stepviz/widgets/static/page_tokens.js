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
  const [whole2, rest] = text.split(".");
  const apart = (whole2 ?? "").replace(/(\d)(?=(\d{3})+$)/g, "$1,");
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
var percent = (value) => `${fixed(value * 100, 2)} %`;
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
function real(value, name, bound = {}) {
  const number = typeof value === "number" ? value : NaN;
  const { above, least } = bound;
  const said = above === 0 ? "above 0" : above !== void 0 ? `above ${general(above)}` : least !== void 0 ? `of ${general(least)} or more` : "";
  const low = above !== void 0 && number <= above || least !== void 0 && number < least;
  if (!Number.isFinite(number) || low) throw new Unmeant(`${name} is ${shown(value)}: give a number ${said}`.trimEnd());
  return number;
}
function share(value, name, aboveZero = false) {
  const number = real(value, name, aboveZero ? { above: 0 } : { least: 0 });
  if (number > 1) {
    const meant = number <= 100 ? `: 40 % is 0.4, so ${general(number)} % is ${general(number / 100)}` : "";
    throw new Unmeant(`${name} is ${shown(value)}, and a fraction is at most 1${meant}`);
  }
  return number;
}
function whole(value, name, least) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least) {
    throw new Unmeant(`${name} is ${shown(value)}: give a whole number of ${least} or more`);
  }
  return value;
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

// page/tokens/compared.ts
var SAME = 1e-3;
var ABOUT_TARGETS = "Scored targets per second is a density of supervision: it says nothing about learning or the time to a quality.";
var ABOUT_PACKING = "This is evidence about these two batches: kernels that skip padding already gain less by packing, and packed sequences need their boundaries in attention and in the loss.";
var NUMERATORS = [
  {
    name: "processed positions per second",
    unit: "positions/s",
    of: ({ counts, passes }) => counts.allocated * passes,
    counts: "allocated positions: rows × length, padding and prompt included"
  },
  {
    name: "real positions per second",
    unit: "real positions/s",
    of: ({ counts, passes }) => counts.real * passes,
    counts: "real positions: what the attention mask keeps"
  },
  {
    name: "executed positions per second",
    unit: "executed positions/s",
    of: ({ counts, passes }) => counts.executed * passes,
    counts: "executed positions: what the kernels ran over"
  },
  {
    name: "scored targets per second",
    unit: "targets/s",
    of: ({ counts, passes }) => counts.scored === null ? null : counts.scored * passes,
    counts: "scored targets: labels that are not ignored, after the shift"
  },
  {
    name: "sequences per second",
    unit: "sequences/s",
    of: ({ counts, passes }) => counts.sequences * passes,
    counts: "sequences: rows, or the segments that were packed into them"
  },
  {
    name: "updates per second",
    unit: "updates/s",
    of: () => 1,
    counts: "updates: optimizer steps that were applied"
  }
];
var [PROCESSED, TARGETS] = ["processed positions per second", "scored targets per second"];
function changeOf(name, old, now) {
  if (Math.abs(now - old) <= SAME * Math.max(Math.abs(old), Math.abs(now))) return "unchanged";
  return now > old !== (name === "time per update") ? "better" : "worse";
}
function line(name, unit, before, after, counts, called = name) {
  return { name, unit, before, after, ratio: before !== 0 ? after / before : NaN, change: changeOf(called, before, after), counts };
}
function rates(before, after) {
  const found = [];
  for (const { name, unit, counts, of } of NUMERATORS) {
    const [old, now] = [of(before), of(after)];
    if (old !== null && now !== null) found.push(line(name, unit, old / before.seconds, now / after.seconds, counts));
  }
  found.push(line("time per update", "ms", 1e3 * before.seconds, 1e3 * after.seconds, "wall time ÷ updates"));
  return found;
}
function flopsAt(model, flops, length) {
  const { lengths } = model;
  let k = 0;
  while (k + 2 < lengths.length && length > lengths[k + 1]) k++;
  const [a, b] = [lengths[k], lengths[k + 1]];
  const [low, high] = [flops[k], flops[k + 1]];
  return low + (length - a) * ((high - low) / (b - a));
}
function utilizations(model, before, after) {
  return model.conventions.map(({ name, kind, includes, guards, flops }) => {
    const said = [...guards];
    const [old, now] = [before, after].map(({ counts, passes, seconds, width }) => {
      const over = counts.executed || counts.real;
      const length = name === "packed" ? counts.squared / over : width;
      const value = flopsAt(model, flops, length) * (counts.executed * passes / seconds) / model.roof;
      if (value > 1) {
        said.push(`${percent(value)} of a peak cannot be reached: the peak is of another device or precision, or the rate counts tokens more than once, or its time is a part of theirs`);
      }
      return value;
    });
    const guarded = [...new Set(said)].join("; ");
    return line(`${kind} (${name})`, "of peak", old, now, guarded === "" ? includes : `${includes}; ${guarded}`, name);
  });
}
function words(table, before, after) {
  const said = table.map((row) => {
    const unit = row.unit === "ms" ? " ms" : "";
    const [old, now] = [numberText(row.before) + unit, numberText(row.after) + unit];
    const label = `${row.name.charAt(0).toUpperCase()}${row.name.slice(1)}`;
    if (row.change === "unchanged") return `${label}: ${old} before and after, unchanged.`;
    const ratio = numberText(row.ratio);
    return row.unit === "ms" ? `${label}: from ${old} to ${now}, ${ratio} of it.` : `${label}: from ${old} to ${now}, ${ratio} times as many.`;
  });
  const changed = (name) => {
    const row = table.find((one) => one.name === name);
    return row === void 0 ? void 0 : row.change !== "unchanged";
  };
  if (changed(TARGETS) === true) {
    said.push(ABOUT_TARGETS);
    if (changed(PROCESSED) === false) said.push(ABOUT_PACKING);
  }
  const useful = [before, after].map(({ counts, passes }) => counts.scored === null ? null : counts.scored * passes);
  if (useful[0] !== null && useful[1] !== null && useful[0] !== useful[1]) {
    said.push(`They do not score the same targets (${numberText(useful[0])} and ${numberText(useful[1])}), so their times are of different work.`);
  }
  return said;
}

// page/tokens/layout.ts
var PROMPT = 0;
var COMPLETION = 1;
var PADDING = 2;
function layoutOf({ lengths, runs, labelled }) {
  const size = lengths.reduce((sum, length) => sum + length, 0);
  const layout = blank(lengths, size, labelled);
  for (const [start, length, role, sequence, scored, first] of runs) {
    layout.role.fill(role, start, start + length);
    layout.sequence.fill(sequence, start, start + length);
    layout.scored.fill(scored, start, start + length);
    layout.first.fill(first, start, start + length);
  }
  return layout;
}
function blank(lengths, size, labelled) {
  return {
    lengths,
    labelled,
    role: new Uint8Array(size).fill(PADDING),
    sequence: new Int32Array(size).fill(-1),
    scored: new Uint8Array(size),
    first: new Uint8Array(size)
  };
}
function rint(value) {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}
function madeBatch({ sequences, length, padding, spread, prompt }) {
  const mean = length * (1 - padding);
  const widest = Math.max(0, Math.min(mean - 1, length - mean)) * spread;
  const clip = (value, low, high) => Math.min(high, Math.max(low, value));
  const step = sequences > 1 ? 2 / (sequences - 1) : 0;
  const layout = blank(new Array(sequences).fill(length), sequences * length, true);
  for (let row = 0; row < sequences; row++) {
    const along = sequences === 1 ? 0 : row === sequences - 1 ? 1 : row * step - 1;
    const size = clip(rint(mean + widest * along), 1, length);
    const asked = clip(rint(size * prompt), 0, size);
    for (let k = 0; k < size; k++) {
      const at = row * length + k;
      const scored = k >= asked && k > 0;
      layout.role[at] = scored ? COMPLETION : PROMPT;
      layout.scored[at] = Number(scored);
      layout.first[at] = Number(k === 0);
      layout.sequence[at] = row;
    }
  }
  return layout;
}
function repacked(layout, most) {
  const places = [];
  const widths = [];
  for (let at = 0; at < layout.role.length; at++) {
    if (layout.role[at] === PADDING) continue;
    const row = Math.floor(layout.sequence[at] / most);
    const column = widths[row] ?? 0;
    widths[row] = column + 1;
    places.push([row, column, at]);
  }
  if (places.length === 0) throw new Unmeant("every position of this batch is padding: there is no sequence to pack");
  const width = widths.reduce((widest, one) => Math.max(widest, one), 0);
  const packed = blank(new Array(widths.length).fill(width), widths.length * width, layout.labelled);
  for (const [row, column, from] of places) {
    const at = row * width + column;
    const first = layout.first[from] === 1;
    const kept = layout.role[from] === COMPLETION && !first;
    packed.role[at] = kept ? COMPLETION : PROMPT;
    packed.scored[at] = Number(kept && column > 0);
    packed.first[at] = Number(first);
    packed.sequence[at] = layout.sequence[from];
  }
  return packed;
}
function counted(layout, skipsPadding) {
  const lengths = /* @__PURE__ */ new Map();
  let [prompt, completion, marked] = [0, 0, 0];
  for (let at = 0; at < layout.role.length; at++) {
    marked += layout.scored[at];
    if (layout.role[at] === PADDING) continue;
    if (layout.role[at] === PROMPT) prompt++;
    else completion++;
    const sequence = layout.sequence[at];
    lengths.set(sequence, (lengths.get(sequence) ?? 0) + 1);
  }
  const real2 = prompt + completion;
  let squared = 0;
  for (const length of lengths.values()) squared += length * length;
  return {
    allocated: layout.role.length,
    real: real2,
    executed: skipsPadding ? real2 : layout.role.length,
    scored: layout.labelled ? marked : null,
    sequences: lengths.size,
    squared,
    prompt,
    completion,
    marked
  };
}
var MOST_ROWS = 24;
var WORDS = ["prompt", "completion", "padding"];
function roleRuns(layout) {
  const found = [];
  let at = 0;
  for (const length of layout.lengths.slice(0, MOST_ROWS)) {
    const runs = [];
    for (let k = 0; k < length; k++, at++) {
      const what = layout.scored[at] === 1 ? "target" : WORDS[layout.role[at]];
      const sequence = layout.sequence[at];
      const last = runs[runs.length - 1];
      if (last !== void 0 && last[2] === what && last[3] === sequence && layout.first[at] !== 1) last[1] += 1;
      else runs.push([k, 1, what, sequence]);
    }
    found.push(runs);
  }
  return found;
}

// page/tokens/picture.ts
var LARGE = {
  "processed positions per second": "Processed positions / s",
  "scored targets per second": "Scored targets / s",
  "updates per second": "Updates / s",
  "time per update": "Time per update",
  "MFU (packed)": "MFU (packed)"
};
var HEADLINES = ["Processed positions per second: ", "Scored targets per second: "];
var ACROSS = "Conventions that count attention over a whole row count keys beyond a sequence's boundary once it is packed, which its mask leaves out; only “packed” does not.";
var widthOf = (layout) => layout.lengths.reduce((widest, one) => Math.max(widest, one), 0);
var TokenPictures = class {
  constructor(given) {
    this.given = given;
    this.batch = given.batch === null ? null : layoutOf(given.batch);
    this.after = given.after === null ? null : layoutOf(given.after);
  }
  given;
  batch;
  after;
  completed(settings) {
    for (const name of ["sequences", "length", "packing", "accumulation"]) {
      if (!(name in settings)) continue;
      const value = whole(settings[name], name, name === "length" ? 2 : 1);
      const most = this.given.most[name];
      if (value > most) throw new Unmeant(`${name} is ${commas(value, 0)}: at most ${most} can be drawn here`);
    }
    for (const name of ["padding", "spread", "prompt"]) if (name in settings) share(settings[name], name);
    const skips = settings.skips_padding;
    if (typeof skips !== "boolean") throw new Unmeant(`skips_padding is ${shown(skips)}: give True or False`);
    return settings;
  }
  stops(settings) {
    const stops = { packing: this.given.packing, accumulation: this.given.accumulation };
    if (this.batch === null) {
      const length = settings.length;
      const mean = Math.max(1, rint(length * (1 - settings.padding)));
      const range = (count, first = 0) => Array.from({ length: count }, (_, k) => first + k);
      Object.assign(stops, {
        sequences: range(12, 1),
        length: range(31, 2),
        padding: range(length).map((k) => k / length),
        spread: [0, 0.25, 0.5, 0.75, 1],
        prompt: range(mean + 1).map((k) => k / mean)
      });
    }
    return Object.fromEntries(Object.entries(stops).filter(([name]) => name in settings));
  }
  picture(settings) {
    const { given } = this;
    const before = this.batch ?? madeBatch(settings);
    const packing = settings.packing;
    const after = this.after ?? (packing === void 0 || packing === 1 ? before : repacked(before, packing));
    const passes = settings.accumulation;
    const layouts = [before, after];
    const parts = layouts.map((layout) => counted(layout, settings.skips_padding));
    const sides = this.timed(parts, layouts, passes);
    const all = rates(...sides);
    const said = words(all, ...sides);
    const rows = [...all, ...utilizations(given.model, ...sides)].map(written);
    const large = rows.filter(({ name, ratio }) => name in LARGE && ratio !== null).map((row) => ({ ...row, label: LARGE[row.name], ratioText: `× ${numberText(row.ratio)}` }));
    const names = ["as it is", this.after === null ? "packed" : "after"];
    const packs = sides[1].width > sides[0].width;
    return {
      headline: said.filter((one) => HEADLINES.some((begin) => one.startsWith(begin))).join(" "),
      large,
      rows,
      sides: layouts.map((layout, k) => side(names[k], layout, sides[k])),
      facts: all.map(({ change }, k) => ({ text: said[k], change })),
      notes: [...said.slice(all.length), ...packs ? [ACROSS] : []],
      trap: passes === 1 ? "" : `The trap: the count is of one update and the time of one microbatch: the rate would be ${numberText(passes)} times too high. Time one update, or count one microbatch.`,
      spoken: large.map((row) => row.change === "unchanged" ? `${row.label}: ${row.beforeText}, unchanged.` : `${row.label}: ${row.beforeText} to ${row.afterText}.`).join(" "),
      about: given.about,
      losses: given.losses
    };
  }
  timed(parts, layouts, passes) {
    const { seconds, after_seconds, ms_per_position } = this.given;
    const ran = parts.map(({ executed }) => executed * passes);
    const each = seconds === null ? ms_per_position / 1e3 : seconds * passes / ran[0];
    const times = after_seconds === null || seconds === null ? ran.map((count) => count * each) : [seconds * passes, after_seconds * passes];
    return parts.map((counts, k) => ({ counts, passes, seconds: times[k], width: widthOf(layouts[k]) }));
  }
};
function written(row) {
  const text = row.unit === "of peak" ? percent : (value) => `${numberText(value)}${row.unit === "ms" ? " ms" : ""}`;
  return { ...row, beforeText: text(row.before), afterText: text(row.after), ratio: Number.isNaN(row.ratio) ? null : row.ratio };
}
function side(name, layout, timed) {
  const { counts, passes, seconds, width } = timed;
  const rows = roleRuns(layout);
  const perUpdate = passes > 1 ? ` × ${passes} microbatches` : "";
  const ms = 1e3 * seconds;
  const padding = counts.allocated - counts.real;
  return {
    name,
    title: `${commas(counts.allocated, 0)} positions${perUpdate}`,
    time: `${numberText(ms)} ms per update`,
    held: `${commas(counts.prompt, 0)} prompt · ${commas(counts.completion, 0)} completion, ${commas(counts.marked, 0)} scored · ${commas(padding, 0)} padding`,
    ms,
    width,
    rows,
    hidden: layout.lengths.length - rows.length
  };
}

// page/unpacked.ts
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// page/tokens.ts
async function tokensKernel([panel], given) {
  return knobKernel(new TokenPictures(await unpacked(given)), panel);
}
export {
  tokensKernel as default
};
