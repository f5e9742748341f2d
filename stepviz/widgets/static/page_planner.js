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
function daysText(value) {
  const whole = value >= 1 && value < 1e3 ? Math.floor(Math.log10(value)) : 0;
  return numberText(value, 3 + whole);
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

// page/planner/overheads.ts
var DAY = 86400;
var PARTS = ["active", "checkpoints", "evaluation", "restarts", "downtime"];
var OVERHEADS = [
  "checkpoint_seconds",
  "checkpoint_every",
  "evaluation_seconds",
  "evaluation_every",
  "failures_per_device_day",
  "restart_seconds",
  "downtime_days"
];
var Overheads = class {
  constructor(given) {
    this.given = given;
    for (const name of OVERHEADS) real(given[name], name, name.endsWith("_every") ? { above: 0 } : { least: 0 });
  }
  given;
  get running() {
    const { checkpoint_seconds, checkpoint_every, evaluation_seconds, evaluation_every } = this.given;
    return 1 + checkpoint_seconds / checkpoint_every + evaluation_seconds / evaluation_every;
  }
  get perFailure() {
    const { failures_per_device_day, restart_seconds, checkpoint_every } = this.given;
    return failures_per_device_day === 0 ? 0 : restart_seconds + this.running * checkpoint_every / 2;
  }
  lostShare(devices) {
    return devices * this.given.failures_per_device_day / DAY * this.perFailure;
  }
  /** The elapsed time, s, by part. */
  parts(active, devices) {
    const { given } = this;
    const lost = this.lostShare(devices);
    if (lost >= 1) {
      const between = DAY / (devices * given.failures_per_device_day);
      throw new Unmeant(`${commas(devices, 0)} devices fail every ${commas(between, 0)} s on average and a failure costs ${commas(this.perFailure, 0)} s: the run would never end. Checkpoint more often or restart faster`);
    }
    const run = active * this.running / (1 - lost);
    return {
      active,
      checkpoints: active * given.checkpoint_seconds / given.checkpoint_every,
      evaluation: active * given.evaluation_seconds / given.evaluation_every,
      restarts: run * lost,
      downtime: given.downtime_days * DAY
    };
  }
  activeOf(elapsed, devices) {
    const { downtime_days } = this.given;
    const left = (elapsed - downtime_days * DAY) * (1 - this.lostShare(devices)) / this.running;
    if (left <= 0) {
      throw new Unmeant(`of ${commas(elapsed / DAY, 2)} days nothing is left for training: ${commas(downtime_days, 2)} are downtime, and failures cost the rest`);
    }
    return left;
  }
  devicesFor(deviceSeconds, elapsed) {
    const { downtime_days } = this.given;
    const run = elapsed - downtime_days * DAY;
    if (run <= 0) throw new Unmeant(`of ${commas(elapsed / DAY, 2)} days ${commas(downtime_days, 2)} are downtime: none left`);
    const loss = this.lostShare(1);
    const needed = deviceSeconds * this.running / run;
    if (loss === 0) return needed;
    const root = 1 - 4 * loss * needed;
    if (root < 0) {
      throw new Unmeant(`no number of devices does it in ${commas(elapsed / DAY, 2)} days: beyond ${commas(1 / (2 * loss), 0)} failures cost more than another device adds. Checkpoint more often, restart faster, or give it more time`);
    }
    return 2 * needed / (1 + Math.sqrt(root));
  }
};

// page/planner/plan.ts
var INCLUDED = {
  checkpoints: "checkpoint_seconds",
  evaluation: "evaluation_seconds",
  restarts: "failures_per_device_day",
  downtime: "downtime_days"
};
var ASSUMED_SPREAD = 0.2;
var Plan = class _Plan {
  constructor(given, numbers) {
    this.given = given;
    this.numbers = numbers;
    for (const name of ["parameters", "tokens", "devices"]) {
      if (numbers[name] !== null) real(numbers[name], name, { above: 0 });
    }
    if (numbers.peak !== null) real(numbers.peak, "peak", { above: 0 });
    if (numbers.mfu !== null) share(numbers.mfu, "mfu", true);
    if (numbers.mfu_range !== null) checkRange(numbers.mfu, numbers.mfu_range);
    for (const name of ["price_per_device_hour", "watts_per_device", "price_per_kwh"]) {
      if (numbers[name] !== null) real(numbers[name], name, { least: 0 });
    }
    real(numbers.power_usage_effectiveness, "power_usage_effectiveness", { least: 1 });
    const own = Object.fromEntries(OVERHEADS.map((name) => [name, numbers[name]]));
    for (const part of given.included) own[INCLUDED[part]] = 0;
    this.overheads = new Overheads(own);
  }
  given;
  numbers;
  overheads;
  with(change) {
    return new _Plan(this.given, { ...this.numbers, ...change });
  }
  need(name) {
    const value = this.numbers[name];
    if (value === null) throw new Unmeant(`this plan has no ${name}: give it`);
    return value;
  }
  get perToken() {
    return this.given.perToken ?? 6 * this.need("parameters");
  }
  get utilization() {
    return this.need("mfu");
  }
  figure(value, unit, convention, how) {
    return { value, unit, convention, how };
  }
  get flops() {
    return this.figure(this.perToken * this.need("tokens"), "FLOP", this.given.convention, `${this.given.how} × tokens`);
  }
  get rate() {
    const value = this.need("devices") * this.need("peak") * this.utilization;
    return this.figure(value, "FLOP/s", this.given.convention, "devices × peak × MFU");
  }
  get activeSeconds() {
    return this.flops.value / this.rate.value;
  }
  get days() {
    return this.figure(this.activeSeconds / DAY, "days", `${this.given.convention}, active`, "FLOP ÷ (FLOP/s) ÷ 86,400");
  }
  parts() {
    return this.overheads.parts(this.activeSeconds, this.need("devices"));
  }
  get elapsedDays() {
    const value = Object.values(this.parts()).reduce((sum, part) => sum + part, 0) / DAY;
    return this.figure(value, "days", `${this.given.convention}, elapsed`, "active + checkpoints + evaluation + restarts + downtime");
  }
  get endless() {
    return this.overheads.lostShare(this.need("devices")) >= 1;
  }
  get tokensPerSecond() {
    return this.figure(this.rate.value / this.perToken, "tokens/s", this.given.convention, "FLOP/s ÷ (FLOP/token)");
  }
  get deviceHours() {
    return this.figure(this.need("devices") * this.elapsedDays.value * 24, "device-hours", "elapsed", "devices × elapsed hours");
  }
  get energy() {
    const watts = (this.numbers.watts_per_device ?? NaN) * this.numbers.power_usage_effectiveness;
    if (Number.isNaN(watts)) throw new Unmeant("this plan has no watts_per_device: give it");
    const how = "device-hours × watts per device × power usage effectiveness ÷ 1,000";
    return this.figure(this.deviceHours.value * watts / 1e3, "kWh", "elapsed", how);
  }
  get cost() {
    const { price_per_device_hour, price_per_kwh } = this.numbers;
    let value = this.deviceHours.value * (price_per_device_hour ?? 0);
    if (price_per_kwh !== null) value += this.energy.value * price_per_kwh;
    return this.figure(value, "in your currency", "elapsed", "device-hours and energy × price");
  }
  /** The MFU, and the days at the best, the likely and the worst of it. */
  band() {
    const own = this.utilization;
    const [low, high] = this.numbers.mfu_range ?? [own * (1 - ASSUMED_SPREAD), Math.min(1, own * (1 + ASSUMED_SPREAD))];
    return [["best", high], ["likely", own], ["worst", low]].map(([name, mfu]) => {
      const plan = this.with({ mfu });
      return { name, mfu, days: plan.endless ? Infinity : plan.elapsedDays.value };
    });
  }
  /** The one number that makes the run take so long. */
  solveFor(unknown, wanted) {
    if (unknown === "days") return this.days;
    const perToken = unknown === "parameters" ? 6 : this.perToken;
    const work = perToken * (unknown === "tokens" ? 1 : this.need("tokens"));
    const devices = unknown === "devices" ? 1 : this.need("devices");
    const peak = unknown === "peak" ? 1 : this.need("peak");
    const speed = devices * peak * (unknown === "mfu" ? 1 : this.utilization);
    let seconds;
    if (wanted.days !== void 0) {
      seconds = real(wanted.days, "days", { above: 0 }) * DAY;
    } else {
      const elapsed = real(wanted.elapsed, "elapsed_days", { above: 0 }) * DAY;
      if (unknown === "devices") return this.answer(unknown, this.overheads.devicesFor(work / speed, elapsed));
      seconds = this.overheads.activeOf(elapsed, devices);
    }
    const ratio = speed * seconds / work;
    return this.answer(unknown, unknown === "parameters" || unknown === "tokens" ? ratio : 1 / ratio);
  }
  answer(unknown, value) {
    const unit = { peak: "FLOP/s", mfu: "of peak" }[unknown] ?? unknown;
    return this.figure(value, unit, this.given.convention, "FLOP = devices × peak × MFU × seconds, solved");
  }
  /** Where convention and model do not fit, or the peak is a sparse one. */
  doubts() {
    const said = [...this.given.caveats];
    return this.numbers.catalogued ? said : [...said, ...this.sparse(this.need("peak"))];
  }
  sparse(flops) {
    const { peaks } = this.given;
    const same = (other) => Math.abs(flops / other - 1) < 1e-3;
    const dense = peaks.filter((one) => same(one.flops));
    const trained = (precision) => precision === "bf16" || precision === "fp16";
    if (dense.some((one) => trained(one.precision))) return [];
    const own = peaks.find((one) => one.halved && trained(one.precision) && same(2 * one.flops));
    if (own === void 0) return [];
    const also = dense.filter((one) => one.device === own.device).map((one) => one.precision);
    const twice = also.length > 0 ? `, and its dense ${also[0]} peak` : "";
    return [`${numberText(flops / 1e12, 5)} TFLOP/s is the sparse ${own.precision} figure of ${own.device}${twice}; its dense ${own.precision} peak is ${numberText(own.flops / 1e12, 5)}`];
  }
};
function checkRange(likely, [low, high]) {
  for (const end of [low, high]) share(end, "mfu_range", true);
  if (low > high) throw new Unmeant(`mfu_range is from ${general(low)} down to ${general(high)}: give the lower one first`);
  if (likely !== null && !(low <= likely && likely <= high)) {
    throw new Unmeant(`mfu is ${general(likely)}, and its range is from ${general(low)} to ${general(high)}: give a range that holds it`);
  }
}

// page/planner/picture.ts
var MFU_AXIS = Array.from({ length: 15 }, (_, k) => (k + 2) / 20);
var LINES = [0.25, 0.5, 1, 2, 4];
var LABELS = {
  active: "updates",
  checkpoints: "checkpoints",
  evaluation: "evaluation",
  restarts: "failures: restarts and work done again",
  downtime: "downtime"
};
var CHOICES = ["unknown", "device", "days_are"];
var SHARES = ["mfu", "mfu_low", "mfu_high"];
var PASSED = [
  "checkpoint_seconds",
  "checkpoint_every",
  "evaluation_seconds",
  "evaluation_every",
  "failures_per_device_day",
  "restart_seconds",
  "downtime_days",
  "price_per_device_hour",
  "watts_per_device",
  "power_usage_effectiveness",
  "price_per_kwh"
];
var PlanPictures = class {
  constructor(given) {
    this.given = given;
  }
  given;
  completed(settings) {
    for (const [name, value] of Object.entries(settings)) {
      if (CHOICES.includes(name)) continue;
      if (value === null && (this.given.optional.includes(name) || name === settings.unknown)) continue;
      if (typeof value !== "number") throw new Unmeant(`${name} is ${value === null ? "empty" : shown(value)}: give a number`);
      if (SHARES.includes(name) && name !== settings.unknown && !(value > 0 && value <= 1)) {
        throw new Unmeant(`${name} is ${general(100 * value)} %: give more than 0 % and at most 100 % (in Python 40 % is 0.4)`);
      }
    }
    return settings;
  }
  stops(settings) {
    return Object.fromEntries(Object.entries(this.given.stops).filter(([name]) => name !== settings.unknown));
  }
  picture(settings) {
    const unknown = String(settings.unknown);
    const [plan, answer] = this.solved(settings, unknown);
    return {
      ...pictureOf(plan, unknown, answer),
      solved: { peak: plan.need("peak"), [unknown]: answer.value },
      about: this.given.about
    };
  }
  solved(settings, unknown) {
    const held = (name) => name === unknown ? null : settings[name] ?? null;
    const device = String(settings.device ?? "");
    const low = settings.mfu_low;
    const high = settings.mfu_high;
    if (low === null !== (high === null)) {
      throw new Unmeant("the MFU's range has one end: give both, at worst and at best, or neither");
    }
    if (low !== null && high !== null && low > high) {
      throw new Unmeant(`the MFU at worst, ${percent(low)}, is above that at best, ${percent(high)}: give the lower one as the worst`);
    }
    const passed = Object.fromEntries(PASSED.map((name) => [name, settings[name] ?? null]));
    const numbers = {
      ...passed,
      parameters: "parameters" in settings ? held("parameters") : null,
      tokens: held("tokens"),
      devices: held("devices"),
      mfu: held("mfu"),
      peak: unknown === "peak" ? null : device === "" ? settings.peak : this.given.devices[device] ?? null,
      catalogued: device !== "" && unknown !== "peak",
      mfu_range: low === null || high === null ? null : [low, high]
    };
    const plan = new Plan(this.given, numbers);
    const active = settings.days_are === "active";
    if (unknown === "days") return [plan, active ? plan.days : plan.elapsedDays];
    const days = settings.days;
    const answer = plan.solveFor(unknown, active ? { days } : { elapsed: days });
    if (unknown === "mfu" && answer.value > 1) {
      throw new Unmeant(`it would take an MFU of ${percent(answer.value)}, more than the devices can do: give it more than ${numberText(days)} days, more devices, or less work`);
    }
    const found = unknown === "mfu" ? { mfu: answer.value, mfu_range: null } : { [unknown]: answer.value };
    return [plan.with(found), answer];
  }
};
var written = (figure2) => (figure2.unit === "days" ? daysText : numberText)(figure2.value);
function pictureOf(plan, unknown, answer) {
  const cases = plan.band().map(({ name, mfu, days }) => ({ name, mfu, mfuText: percent(mfu), days, text: `${daysText(days)} days` }));
  const [best, likely, worst] = cases;
  const large = [
    figure("active", "Active time", plan.days),
    figure("elapsed", "Elapsed time", plan.elapsedDays),
    figure("flops", "Work", plan.flops),
    figure("rate", "Achieved rate", plan.rate),
    figure("tokens_per_second", "Tokens per second", plan.tokensPerSecond),
    figure("device_hours", "Device-hours", plan.deviceHours)
  ];
  const { watts_per_device, price_per_device_hour, price_per_kwh } = plan.numbers;
  if (watts_per_device !== null) large.push(figure("energy", "Energy", plan.energy));
  if (price_per_device_hour !== null || price_per_kwh !== null) large.push(figure("cost", "Cost", plan.cost));
  const headline = `${likely.text} in all at ${likely.mfuText} MFU; from ${best.text} at ${best.mfuText} to ${worst.text} at ${worst.mfuText}.`;
  const said = answerText(unknown, answer);
  const parts = plan.parts();
  const whole = PARTS.reduce((sum, name) => sum + parts[name], 0);
  return {
    answer: { name: unknown, value: answer.value, text: said, convention: answer.convention, how: answer.how },
    headline,
    large,
    band: cases,
    parts: PARTS.map((name) => ({
      name,
      label: LABELS[name],
      days: parts[name] / DAY,
      share: parts[name] / whole,
      text: `${daysText(parts[name] / DAY)} days`,
      shareText: percent(parts[name] / whole)
    })),
    goodput: `${percent(plan.days.value / plan.elapsedDays.value)} of the elapsed time is active (goodput).`,
    sensitivity: grid(plan),
    notes: notes(plan),
    spoken: `${said}. ${headline}`
  };
}
function figure(name, label, one) {
  return { name, label, value: one.value, text: written(one), unit: one.unit, convention: one.convention, how: one.how };
}
function grid(plan) {
  const own = plan.utilization;
  const axis = [.../* @__PURE__ */ new Set([...MFU_AXIS, own])].sort((a, b) => a - b);
  const alone = plan.with({ mfu_range: null });
  const lines = [];
  for (const factor of LINES) {
    const devices = plan.need("devices") * factor;
    const days = axis.map((mfu) => {
      const one = alone.with({ mfu, devices });
      return one.endless ? Infinity : one.elapsedDays.value;
    });
    if (!days.every(Number.isFinite)) continue;
    lines.push({ devices, label: `${numberText(devices)} devices`, days, texts: days.map(daysText), own: factor === 1 });
  }
  const band = plan.band();
  const range = [band[0]?.mfu ?? own, band[2]?.mfu ?? own].sort((a, b) => a - b);
  return { mfu: axis, mfuTexts: axis.map(percent), lines, own, range };
}
function notes(plan) {
  const band = plan.band();
  const [fast, slow] = [band[0], band[2]];
  const why = plan.numbers.mfu_range === null ? "assumed: fill in the MFU at worst and at best" : "given";
  const said = [`${daysText(fast.days)} to ${daysText(slow.days)} days at ${percent(fast.mfu)} to ${percent(slow.mfu)} MFU, a range that is ${why}`];
  if (!(plan.elapsedDays.value > plan.days.value)) {
    const { included } = plan.given;
    const has = included.length > 0 ? ` but what the MFU includes (${included.join(", ")})` : "";
    said.push(`nothing comes on top of the active time: no checkpoint, evaluation, restart or downtime is in this plan${has}`);
  }
  return [...said, ...plan.doubts()];
}
function answerText(unknown, answer) {
  if (unknown === "mfu") return `${percent(answer.value)} MFU`;
  if (unknown === "devices") {
    const whole = Math.ceil(answer.value * (1 - 1e-12));
    return `${commas(whole, 0)} devices${answer.value === whole ? "" : ` (exactly ${numberText(answer.value, 6)})`}`;
  }
  return `${written(answer)} ${answer.unit}`;
}

// page/planner.ts
function plannerKernel([panel], given) {
  return knobKernel(new PlanPictures(given), panel);
}
export {
  plannerKernel as default
};
