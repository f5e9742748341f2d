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

// viewer/wire.ts
var PATIENCE = 3e3;
var Wire = class {
  constructor(model, signal) {
    this.model = model;
    const heard = (content, buffers) => this.hear(content, buffers ?? []);
    model.on("msg:custom", heard);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", heard);
      clearTimeout(this.timer);
      this.waiting.clear();
    });
  }
  model;
  /** A name of this page's own: Python remembers by it which names were told. */
  page = Math.random().toString(36).slice(2, 10);
  waiting = /* @__PURE__ */ new Map();
  listeners = /* @__PURE__ */ new Set();
  number = 0;
  timer;
  quiet = false;
  /** Whether a question has been waiting too long. */
  get silent() {
    return this.quiet;
  }
  ask(what, question) {
    const id = `${this.page}:${++this.number}`;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, since: performance.now() });
      this.watch();
      this.model.send({ ask: what, id, page: this.page, ...question });
    });
  }
  onSilence(listener, signal) {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }
  hear(given, buffers) {
    const content = given;
    const id = content?.id;
    if (content === null || typeof id !== "string") return;
    const waiting = this.waiting.get(id);
    if (waiting === void 0) return;
    this.waiting.delete(id);
    this.say(false);
    this.watch();
    if (typeof content.error === "string") waiting.reject(new Error(content.error));
    else waiting.resolve({ content, buffers });
  }
  /** Look again when the oldest question has waited too long. */
  watch() {
    clearTimeout(this.timer);
    const oldest = this.waiting.values().next().value;
    if (oldest === void 0 || this.quiet) return;
    this.timer = setTimeout(() => this.say(true), Math.max(0, oldest.since + PATIENCE - performance.now()));
  }
  say(quiet) {
    if (quiet === this.quiet) return;
    this.quiet = quiet;
    for (const listener of [...this.listeners]) listener();
  }
};

// knobs/types.ts
function keyOf(settings) {
  return JSON.stringify(Object.keys(settings).sort().map((name) => [name, settings[name]]));
}

// knobs/desk.ts
var PATIENCE2 = 3e3;
var MOST = 4e3;
var Desk = class {
  constructor(model, wire, signal) {
    this.model = model;
    this.wire = wire;
    this.value = model.get("value");
    this.sent = keyOf(this.value);
    const answered = () => this.hear();
    const changed = () => this.follow();
    model.on("change:_shown", answered);
    model.on("change:value", changed);
    signal.addEventListener("abort", () => {
      model.off("change:_shown", answered);
      model.off("change:value", changed);
      clearTimeout(this.timer);
      this.listeners.clear();
    });
    this.hear();
  }
  model;
  wire;
  value;
  picture = null;
  /** Why the settings have no meaning, as Python said. */
  problem = null;
  /** The picture is of other settings than these. */
  stale = true;
  silent = false;
  edition = -1;
  answers = /* @__PURE__ */ new Map();
  listeners = /* @__PURE__ */ new Set();
  asked = /* @__PURE__ */ new Set();
  timer;
  sent = "";
  subscribe(listener, signal) {
    this.listeners.add(listener);
    signal.addEventListener("abort", () => this.listeners.delete(listener));
  }
  /** Turn a knob; `done` when it is let go. What was answered already is only told to Python then. */
  turn(name, setting, done) {
    this.settle({ ...this.value, [name]: setting }, done);
  }
  settle(value, done) {
    this.value = value;
    const known = this.look();
    if (done || !known) this.tell();
    this.news();
  }
  /** A slider is picked up, or about to be: ask for every stop of it. */
  pickUp(name) {
    const { [name]: _, ...rest } = this.value;
    const key = `${this.edition} ${name} ${keyOf(rest)}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    this.wire.ask("track", { knob: name, value: this.value }).then(({ content }) => {
      if (content.edition !== this.edition) return;
      for (const [value, picture] of content.pictures) this.remember(value, picture);
      if (this.stale && this.look()) this.news();
    }, () => this.asked.delete(key));
  }
  remember(value, picture) {
    if (this.answers.size >= MOST) {
      this.answers.clear();
      this.asked.clear();
    }
    this.answers.set(keyOf(value), picture);
  }
  /** Show what is known of the settings. */
  look() {
    const found = this.answers.get(keyOf(this.value));
    if (found === void 0) {
      this.stale = true;
      return false;
    }
    this.picture = found;
    this.problem = null;
    this.stale = false;
    this.rest();
    return true;
  }
  tell() {
    const key = keyOf(this.value);
    if (key === this.sent) return;
    this.sent = key;
    this.model.set("value", this.value);
    this.model.save_changes();
    if (this.stale) this.wait();
  }
  wait() {
    if (this.timer !== void 0) return;
    this.timer = setTimeout(() => {
      this.timer = void 0;
      this.silent = true;
      this.news();
    }, PATIENCE2);
  }
  rest() {
    clearTimeout(this.timer);
    this.timer = void 0;
    this.silent = false;
  }
  hear() {
    const shown = this.model.get("_shown");
    if (shown?.value === void 0) return;
    if (shown.edition !== this.edition) {
      this.edition = shown.edition;
      this.answers.clear();
      this.asked.clear();
      this.value = this.model.get("value");
      this.sent = keyOf(this.value);
    }
    if (shown.picture !== void 0) this.remember(shown.value, shown.picture);
    if (keyOf(shown.value) !== keyOf(this.value)) return;
    if (shown.problem !== void 0) {
      this.problem = shown.problem;
      this.rest();
    } else {
      this.look();
    }
    this.news();
  }
  /** The settings were changed from outside: in Python, or by a link. */
  follow() {
    const value = this.model.get("value");
    const key = keyOf(value);
    this.sent = key;
    if (key === keyOf(this.value)) return;
    this.value = value;
    if (!this.look()) this.wait();
    this.news();
  }
  news() {
    for (const listener of [...this.listeners]) listener();
  }
};

// knobs/start.ts
function start(show2) {
  return () => {
    let desk;
    const open = ({ model, signal }) => new Desk(model, new Wire(model, signal), signal);
    return {
      initialize(life) {
        freeWhenClosed(life.model);
        desk = open(life);
      },
      render(life) {
        const { model, el, signal } = life;
        show2({ desk: desk ?? open(life), model, knobs: () => model.get("_form") }, el, signal);
      }
    };
  };
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
  const text2 = typeof value === "string" ? value : String(value);
  if (element.getAttribute(name) !== text2) element.setAttribute(name, text2);
}
function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}
function show(element, visible) {
  attr(element, "hidden", visible ? null : "");
}
function px(value) {
  return Math.round(value * 100) / 100;
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

// view/focus.ts
function active(root) {
  return root.getRootNode().activeElement;
}

// knobs/keys.ts
var OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

// view/format.ts
var formats = /* @__PURE__ */ new Map();
function decimals(size, digits) {
  let format = formats.get(digits);
  if (!format) formats.set(digits, format = new Intl.NumberFormat("en-US", { maximumFractionDigits: digits }));
  return format.format(size + 0);
}
var PLAIN = [{ maximumFractionDigits: 9 }, { maximumSignificantDigits: 12 }].map(
  (digits) => new Intl.NumberFormat("en-US", { useGrouping: false, ...digits })
);
function exact(value) {
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  return (value < 0 ? "-" : "") + PLAIN[size >= 1e-3 ? 0 : 1].format(size);
}

// knobs/written.ts
var SUFFIXES = [["T", 1e12], ["B", 1e9], ["M", 1e6], ["k", 1e3]];
function written(value) {
  for (const [suffix, size] of SUFFIXES) {
    const short = value / size;
    if (Math.abs(value) >= size && (size > 1e3 || value >= 1e5) && Number(short.toPrecision(6)) === short) return `${exact(short)}${suffix}`;
  }
  return exact(value);
}
function read(text2) {
  const plain = text2.trim().replace(/[\s_]/g, "").replace("−", "-").replace(/,(?=\d{3}(\D|$))/g, "").replace(",", ".");
  const parts2 = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([kKMGBT%]?)$/i.exec(plain);
  if (parts2 === null) return null;
  const size = { K: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12, "%": 0.01, "": 1 }[parts2[2].toUpperCase()];
  const value = Number(parts2[1]);
  return size === void 0 || !Number.isFinite(value) ? null : Number((value * size).toPrecision(15));
}
function readList(text2) {
  const parts2 = text2.trim().split(/[\s,;]+/).filter((part) => part !== "");
  const numbers = parts2.map(read);
  if (numbers.includes(null)) return text2.trim();
  return numbers.length > 1 ? numbers : numbers[0] ?? null;
}
function writtenList(setting) {
  if (Array.isArray(setting)) return setting.map(written).join(", ");
  return typeof setting === "number" ? written(setting) : String(setting ?? "");
}
function settingText(knob, setting) {
  const named = knob.choices.find(([value]) => value === setting);
  if (named !== void 0) return named[1];
  if (typeof setting === "boolean") return setting ? "on" : "off";
  if (typeof setting !== "number") return String(setting ?? "");
  const unit = knob.unit === "" ? "" : ` ${knob.unit}`;
  if (knob.show === "percent") return `${Math.round(setting * 1e3) / 10} %`;
  if (knob.show === "count") return `${setting}${unit}`;
  return `${written(Number(setting.toPrecision(4)))}${unit}`;
}
function nearest(stops, setting) {
  if (typeof setting !== "number") return Math.max(0, stops.indexOf(setting));
  let best = 0;
  stops.forEach((stop, k) => {
    if (Math.abs(stop - setting) < Math.abs(stops[best] - setting)) best = k;
  });
  return best;
}

// knobs/controls.ts
var PAUSE = 450;
var described = (knob) => ({ "aria-description": knob.help === "" ? null : knob.help });
var Controls = class {
  constructor(desk, knobs, headings, signal) {
    this.desk = desk;
    this.signal = signal;
    const groups = /* @__PURE__ */ new Map();
    for (const knob of knobs) {
      let group = groups.get(knob.group);
      if (group === void 0) {
        group = html("div", { class: "kn-group" }, headings[knob.group] ? html("h4", {}, headings[knob.group]) : null);
        groups.set(knob.group, group);
        this.root.append(group);
      }
      group.append(this[knob.kind](knob));
    }
  }
  desk;
  signal;
  root = html("div", { class: "kn-controls", role: "group", "aria-label": "settings" });
  refreshers = [];
  refresh() {
    for (const one of this.refreshers) one();
  }
  slider(knob) {
    const { desk, signal } = this;
    const input = html("input", { ...OWN_KEYS, type: "range", min: 0, step: 1, "aria-label": knob.label, ...described(knob), "data-knob": knob.name });
    const shown = html("output", { class: "kn-setting" });
    const stops = () => desk.picture?.stops[knob.name] ?? [];
    let held = false;
    const turn = (done) => {
      const stop = stops()[Number(input.value)];
      if (stop !== void 0 && (stop !== desk.value[knob.name] || done)) desk.turn(knob.name, stop, done);
    };
    input.addEventListener("input", () => turn(false), { signal });
    input.addEventListener("change", () => turn(true), { signal });
    for (const event of ["pointerenter", "focus", "touchstart"]) {
      if (knob.track) input.addEventListener(event, () => desk.pickUp(knob.name), { signal, passive: true });
    }
    input.addEventListener("pointerdown", () => {
      held = true;
    }, { signal });
    for (const event of ["pointerup", "pointercancel", "blur"]) {
      input.addEventListener(event, () => {
        held = false;
      }, { signal });
    }
    this.refreshers.push(() => {
      const setting = desk.value[knob.name] ?? null;
      const all = stops();
      attr(input, "max", Math.max(0, all.length - 1));
      if (!held) input.value = String(nearest(all, setting));
      const written2 = settingText(knob, setting);
      attr(input, "aria-valuetext", written2);
      text(shown, written2);
    });
    return html("label", { class: "kn-knob", title: knob.help }, html("span", { class: "kn-label" }, knob.label), input, shown);
  }
  /** A field to type in; where it has stops, a slider below. */
  number(knob) {
    const { desk } = this;
    const percent = knob.show === "percent";
    const field = html("input", { ...OWN_KEYS, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "data-knob": knob.name, "aria-label": knob.label, ...described(knob) });
    const slider = this.slider(knob);
    const row = html("div", { class: "kn-field" }, html(
      "label",
      { class: "kn-knob", title: knob.help },
      html("span", { class: "kn-label" }, knob.label),
      field,
      html("span", { class: "kn-unit" }, knob.unit)
    ), slider);
    const own = this.typing(field, () => {
      const typed = field.value.trim();
      const number = read(typed);
      return typed === "" ? null : number === null ? typed : percent && !typed.endsWith("%") ? Number((number / 100).toPrecision(15)) : number;
    }, (setting) => {
      if (setting !== desk.value[knob.name]) desk.turn(knob.name, setting, true);
    });
    this.refreshers.push(() => {
      const solved = desk.picture?.solved?.[knob.name];
      const unknown = desk.value.unknown === knob.name || solved !== void 0 && knob.name === "peak" && desk.value.device !== "";
      const setting = unknown ? solved ?? null : desk.value[knob.name] ?? null;
      if (!own(setting) || unknown) {
        field.value = typeof setting === "number" ? written(Number((percent ? setting * 100 : setting).toPrecision(unknown ? 4 : 12))) : String(setting ?? "");
      }
      field.readOnly = unknown;
      attr(row, "data-solved", desk.value.unknown === knob.name ? "" : null);
      show(slider, !unknown && (desk.picture?.stops[knob.name]?.length ?? 0) > 0);
    });
    return row;
  }
  /**
   * Take what is typed when it rests, at Enter, which JupyterLab keeps from the field, and when the
   * field is left. Returns whether a setting is what its reader is writing, so that it stays as
   * written; one that came from elsewhere, from the slider below, is none.
   */
  typing(field, meant, turn) {
    const { signal } = this;
    let timer;
    let taken = null;
    const take = () => {
      clearTimeout(timer);
      timer = void 0;
      const setting = meant();
      taken = writtenList(setting);
      turn(setting);
    };
    const flush = () => {
      if (timer !== void 0) take();
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(take, PAUSE);
    }, { signal });
    field.addEventListener("change", take, { signal });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) flush();
    }, { signal });
    field.addEventListener("blur", () => {
      flush();
      taken = null;
      this.refresh();
    }, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
    return (setting) => field === active(field) && (timer !== void 0 || taken === writtenList(setting));
  }
  /** A field for one number or several. */
  list(knob) {
    const { desk } = this;
    const field = html("input", { ...OWN_KEYS, type: "text", autocomplete: "off", spellcheck: "false", "data-knob": knob.name, "aria-label": knob.label, ...described(knob) });
    const own = this.typing(field, () => readList(field.value), (setting) => {
      if (writtenList(setting) !== writtenList(desk.value[knob.name] ?? null)) desk.turn(knob.name, setting, true);
    });
    this.refreshers.push(() => {
      const setting = desk.value[knob.name] ?? null;
      if (!own(setting)) field.value = writtenList(setting);
    });
    return html(
      "label",
      { class: "kn-knob", title: knob.help },
      html("span", { class: "kn-label" }, knob.label),
      field,
      html("span", { class: "kn-unit" }, knob.unit)
    );
  }
  choice(knob) {
    const { desk, signal } = this;
    const select = html("select", { ...OWN_KEYS, "data-knob": knob.name, ...described(knob) }, ...knob.choices.map(([value, words]) => html("option", { value: String(value) }, words)));
    select.addEventListener("change", () => {
      const chosen = knob.choices[select.selectedIndex];
      if (chosen !== void 0) desk.turn(knob.name, chosen[0], true);
    }, { signal });
    this.refreshers.push(() => {
      select.value = String(desk.value[knob.name] ?? "");
    });
    return html("label", { class: "kn-knob kn-choice", title: knob.help }, html("span", { class: "kn-label" }, knob.label), select);
  }
  switch(knob) {
    const input = html("input", { ...OWN_KEYS, type: "checkbox", "data-knob": knob.name, ...described(knob) });
    input.addEventListener("change", () => this.desk.turn(knob.name, input.checked, true), { signal: this.signal });
    this.refreshers.push(() => {
      input.checked = this.desk.value[knob.name] === true;
    });
    return html("label", { class: "kn-switch", title: knob.help }, input, knob.label);
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
function saveURL(url, name) {
  const link = html("a", { href: url, download: name });
  link.click();
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
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("no picture");
  const url = URL.createObjectURL(blob);
  saveURL(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 1e4);
}

// view/snapshot.ts
var SKIPPED = ".sv-tool, .sv-x, [data-role='saving'], .sv-live, [hidden]";
var NOTHING = "rgba(0, 0, 0, 0)";
function snapshotSVG(root) {
  const box2 = root.getBoundingClientRect();
  const { width, height } = box2;
  const style = getComputedStyle(root);
  const page = { left: box2.left, top: box2.top, parts: [] };
  const paper = style.backgroundColor === NOTHING ? "white" : style.backgroundColor;
  page.parts.push(svg("rect", { width, height, fill: paper }));
  for (const child of root.childNodes) draw(child, page);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...page.parts);
  return legal(new XMLSerializer().serializeToString(picture));
}
function draw(node, page) {
  if (node instanceof Text) {
    write(node, page);
    return;
  }
  if (!(node instanceof Element) || node.matches(SKIPPED)) return;
  const visible = node.checkVisibility?.({ visibilityProperty: true, contentVisibilityAuto: true }) ?? true;
  const rect = node.getBoundingClientRect();
  if (!visible || rect.width <= 1 && rect.height <= 1) return;
  const [x, y] = [rect.left - page.left, rect.top - page.top];
  if (node instanceof SVGSVGElement) {
    const clone = node.cloneNode(true);
    dress(node, clone);
    for (const title of clone.querySelectorAll("title")) title.remove();
    for (const [name, value] of Object.entries({ x, y, width: rect.width, height: rect.height })) clone.setAttribute(name, String(value));
    page.parts.push(clone);
    return;
  }
  if (node instanceof HTMLCanvasElement) {
    if (node.width > 0 && node.height > 0) page.parts.push(svg("image", { x, y, width: rect.width, height: rect.height, href: node.toDataURL() }));
    return;
  }
  const style = getComputedStyle(node);
  box(style, rect, x, y, page);
  if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement) {
    control(node, style, rect, x, y, page);
    return;
  }
  for (const child of node.childNodes) draw(child, page);
}
function box(style, rect, x, y, page) {
  const round = Math.min(parseFloat(style.borderTopLeftRadius) || 0, rect.height / 2);
  const fill = style.backgroundColor;
  const border = parseFloat(style.borderTopWidth) || 0;
  const all = border > 0 && style.borderBottomWidth === style.borderTopWidth && style.borderTopStyle !== "none";
  if (fill !== NOTHING || all) {
    page.parts.push(svg("rect", {
      x,
      y,
      width: rect.width,
      height: rect.height,
      rx: round,
      fill: fill === NOTHING ? "none" : fill,
      stroke: all ? style.borderTopColor : "none",
      "stroke-width": border
    }));
  } else if (border > 0 && style.borderTopStyle !== "none") {
    page.parts.push(svg("line", { x1: x, y1: y, x2: x + rect.width, y2: y, stroke: style.borderTopColor, "stroke-width": border }));
  }
}
function control(node, style, rect, x, y, page) {
  const middle = y + rect.height / 2;
  if (node.type === "range") {
    const { min, max, value } = node;
    const share = (Number(value) - Number(min)) / (Number(max) - Number(min) || 1);
    page.parts.push(
      svg("line", { x1: x, x2: x + rect.width, y1: middle, y2: middle, stroke: style.color, "stroke-opacity": 0.4, "stroke-width": 3 }),
      svg("circle", { cx: x + 7 + share * (rect.width - 14), cy: middle, r: 7, fill: style.color })
    );
  } else if (node.type === "radio") {
    const [cx, r] = [x + rect.width / 2, Math.min(rect.width, rect.height) / 2 - 1];
    page.parts.push(svg("circle", { cx, cy: middle, r, fill: "none", stroke: style.color }));
    if (node.checked) page.parts.push(svg("circle", { cx, cy: middle, r: r / 2, fill: style.color }));
  } else if (node.type === "checkbox") {
    page.parts.push(svg("rect", { x, y, width: rect.width, height: rect.height, rx: 2, fill: "none", stroke: style.color }));
    if (node.checked) {
      page.parts.push(svg("path", { d: `M${x + 3} ${middle}l3 3 5-6`, fill: "none", stroke: style.color, "stroke-width": 2 }));
    }
  } else {
    const words = node instanceof HTMLSelectElement ? node.selectedOptions[0]?.textContent ?? "" : node.value || node.placeholder;
    page.parts.push(line(words, style, x + (parseFloat(style.paddingLeft) || 0) + 1, y, rect.height, null));
  }
}
function write(node, page) {
  const content = node.data;
  const parent = node.parentElement;
  if (content.trim() === "" || parent === null) return;
  const style = getComputedStyle(parent);
  const range = document.createRange();
  let [from, row] = [0, null];
  const put = (to) => {
    const words = content.slice(from, to).trimEnd();
    if (words === "" || row === null) return;
    range.setStart(node, from);
    range.setEnd(node, from + words.length);
    const { width } = range.getBoundingClientRect();
    page.parts.push(line(words, style, row.left - page.left, row.top - page.top, row.height, width));
  };
  for (const { index, 0: word } of content.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const rect = range.getClientRects()[0];
    if (rect === void 0 || rect.width === 0) continue;
    if (row !== null && Math.abs(rect.top - row.top) > 2) {
      put(index);
      from = index;
      row = rect;
    } else if (row === null) {
      from = index;
      row = rect;
    }
  }
  put(content.length);
}
function line(words, style, x, top, height, width) {
  const size = parseFloat(style.fontSize);
  const element = svg("text", {
    x,
    y: top + height / 2 + size * 0.35,
    fill: style.color,
    "font-size": size,
    "font-family": style.fontFamily,
    "font-weight": style.fontWeight,
    "text-decoration": style.textDecorationLine === "none" ? null : style.textDecorationLine,
    textLength: width === null || width === 0 ? null : width,
    lengthAdjust: width === null ? null : "spacingAndGlyphs"
  });
  element.textContent = words;
  return element;
}

// view/saving.ts
function saveButtons(root, name, keys, signal) {
  const said = html("span", { role: "status" });
  const one = (kind, run) => button(`Save the picture as ${kind}`, kind, { ...keys, class: "sv-save", "data-role": `save-${kind.toLowerCase()}` }, () => {
    said.textContent = "";
    run();
  }, signal);
  return html(
    "div",
    { class: "sv-saving", "data-role": "saving" },
    "Save the picture: ",
    one("SVG", () => saveText(snapshotSVG(root), `${name}.svg`, "image/svg+xml")),
    one("PNG", () => {
      savePNG(snapshotSVG(root), `${name}.png`).catch(() => {
        said.textContent = " This page does not allow pictures to be made; save the SVG instead.";
      });
    }),
    said
  );
}

// knobs/frame.ts
var Frame = class {
  constructor(desk, name, label, signal) {
    this.desk = desk;
    this.root = html("section", {
      class: `stepviz kn ${name}`,
      "aria-label": label,
      ...OWN_KEYS,
      tabindex: -1
    });
    this.root.append(this.status, saveButtons(this.root, label.replace(/\W+/g, "-").toLowerCase(), OWN_KEYS, signal), this.live);
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }
  desk;
  root;
  status = html("div", { class: "kn-status", role: "status", "data-role": "status" });
  live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  timer;
  heard = null;
  add(...parts2) {
    this.status.before(...parts2);
  }
  refresh() {
    const { desk } = this;
    attr(this.root, "data-stale", !desk.stale ? null : desk.problem !== null || desk.silent ? "kept" : "");
    const silent = desk.silent ? "The kernel is not answering: the numbers are those of earlier settings." : "";
    text(this.status, desk.problem === null ? silent : `${desk.problem}${desk.stale ? " — what is shown is as it was before." : ""}`);
    attr(this.status, "data-level", desk.problem !== null ? "refused" : "info");
    show(this.status, desk.problem !== null || desk.silent);
    const spoken = desk.stale ? null : desk.picture?.spoken ?? null;
    if (this.heard === null) this.heard = spoken;
    if (spoken === null || spoken === this.heard) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.heard = spoken;
      text(this.live, spoken);
    }, 400);
  }
};

// knobs/tables.ts
function scrolled(label, content) {
  return html("div", { ...OWN_KEYS, class: "kn-scroll", role: "group", "aria-label": label, tabindex: 0 }, content);
}
var Folded = class {
  element;
  summary = html("summary", OWN_KEYS);
  room;
  constructor(label) {
    this.room = scrolled(label, html("div"));
    this.summary.textContent = label;
    this.element = html("details", {}, this.summary, this.room);
  }
  draw(table2, label) {
    if (label !== void 0 && this.summary.textContent !== label) this.summary.textContent = label;
    this.room.replaceChildren(table2);
  }
};

// knobs/axes.ts
function roundTicks(low, high, most = 8) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)); power++) {
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) found.push(tick);
    }
  }
  if (found.length <= most) return found;
  const decades = found.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(9))));
  return decades.length >= 2 ? decades : found.filter((_, k) => k % Math.ceil(found.length / most) === 0);
}
function logAxis(low, high, from, to) {
  const span = Math.log(high / low) || 1;
  return { at: (value) => from + Math.log(value / low) / span * (to - from), ticks: roundTicks(low, high) };
}
function linearAxis(low, high, from, to, most = 6) {
  const span = high - low || 1;
  const step = [1, 2, 5, 10].map((digit) => digit * 10 ** Math.floor(Math.log10(span / most))).find((one) => span / one <= most);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return { at: (value) => from + (value - low) / span * (to - from), ticks };
}

// planner/chart.ts
var LEFT = 46;
var TOP = 12;
var BOTTOM = 40;
var HEIGHT = 280;
function sensitivityChart(given, room) {
  const right = 104;
  const width = Math.max(280, room);
  const all = given.lines.flatMap((line2) => line2.days);
  const x = linearAxis(0, Math.max(...given.mfu), LEFT, width - right, 8);
  const y = logAxis(Math.min(...all) / 1.15, Math.max(...all) * 1.1, HEIGHT - BOTTOM, TOP);
  const own = given.lines.find((line2) => line2.own);
  const label = (words, at2, attributes) => {
    const element = svg("text", { x: px(at2[0]), y: px(at2[1]), ...attributes });
    element.textContent = words;
    return element;
  };
  const chart = svg("svg", { class: "pl-chart", width, height: HEIGHT, role: "img", "aria-label": "Elapsed days over MFU for several numbers of devices; the table below holds the same numbers" });
  const [low, high] = given.range;
  chart.append(svg("rect", { class: "pl-range", x: px(x.at(low)), y: TOP, width: px(Math.max(1, x.at(high) - x.at(low))), height: HEIGHT - TOP - BOTTOM }));
  for (const tick of y.ticks) {
    chart.append(
      svg("line", { class: "pl-rule", x1: LEFT, x2: width - right, y1: px(y.at(tick)), y2: px(y.at(tick)) }),
      label(decimals(tick, 3), [LEFT - 6, y.at(tick) + 4], { class: "pl-tick", "text-anchor": "end" })
    );
  }
  for (const tick of x.ticks) {
    chart.append(label(`${Math.round(tick * 100)} %`, [x.at(tick), HEIGHT - BOTTOM + 16], { class: "pl-tick", "text-anchor": "middle" }));
  }
  chart.append(label("MFU", [(LEFT + width - right) / 2, HEIGHT - 6], { class: "pl-axis", "text-anchor": "middle" }));
  const up = label("elapsed days", [0, 0], { class: "pl-axis", "text-anchor": "middle" });
  up.setAttribute("transform", `translate(11 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`);
  chart.append(up);
  for (const line2 of given.lines) {
    const points = line2.days.map((days, k) => `${px(x.at(given.mfu[k]))},${px(y.at(days))}`);
    const group = svg("g", { class: line2.own ? "pl-line pl-own" : "pl-line" }, svg("polyline", { points: points.join(" ") }));
    group.append(label(line2.label, [width - right + 7, y.at(line2.days.at(-1)) + 4], { class: "pl-name" }));
    chart.append(group);
  }
  const at = given.mfu.indexOf(given.own);
  if (own !== void 0 && at >= 0) {
    const [cx, cy] = [x.at(given.own), y.at(own.days[at])];
    chart.append(
      svg("circle", { class: "pl-point", cx: px(cx), cy: px(cy), r: 5 }),
      label(`${own.texts[at]} days`, [cx + 9, cy - 8], { class: "pl-here" })
    );
  }
  return chart;
}

// planner/view.ts
var HEADINGS = { ask: "", run: "The run", top: "What comes on top of training", cost: "What it costs" };
function renderPlanner(given, el, signal) {
  const { desk } = given;
  const frame = new Frame(desk, "pl", "Training plan", signal);
  const knobs = given.knobs();
  const group = (...names) => new Controls(desk, knobs.filter((knob) => names.includes(knob.group)), HEADINGS, signal);
  const [main, top, cost] = [group("ask", "run"), group("top"), group("cost")];
  const above = html("div");
  const numbers = new Folded("The same as a table");
  const beneath = html("div");
  const results = html("div", { class: "kn-numbers pl-results" }, above, numbers.element, beneath);
  const fold = (words, content) => html("details", {}, html("summary", OWN_KEYS, words), content);
  frame.add(html("h3", {}, "How long will the run take?"), html(
    "div",
    { class: "pl-main" },
    html("div", { class: "pl-form" }, main.root, fold("Checkpoints, evaluation, failures, downtime", top.root), fold("Prices and power", cost.root)),
    results
  ));
  el.append(frame.root);
  let room = 0;
  let painted = [];
  const refresh = () => {
    frame.refresh();
    for (const form of [main, top, cost]) form.refresh();
    const { picture } = desk;
    const key = [picture, room];
    if (picture === null || room === 0 || key.every((part, k) => part === painted[k])) return;
    painted = key;
    above.replaceChildren(
      html(
        "p",
        { class: "pl-answer", "data-role": "answer", "data-value": picture.answer.value, title: picture.answer.how },
        picture.answer.text,
        html("span", { class: "pl-convention" }, picture.answer.convention)
      ),
      html("p", { class: "pl-headline", "data-role": "headline" }, picture.headline),
      figures(picture),
      parts(picture),
      html("h4", {}, "Elapsed days over MFU; the shaded range is what the MFU may be"),
      sensitivityChart(picture.sensitivity, room)
    );
    numbers.draw(html("div", {}, table(picture), ways(picture)));
    beneath.replaceChildren(
      ...picture.notes.map((note) => html("p", { class: "sv-dim" }, `${note.charAt(0).toUpperCase()}${note.slice(1)}.`)),
      html("p", { class: "sv-dim" }, picture.about)
    );
  };
  desk.subscribe(refresh, signal);
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== room) {
      room = width;
      refresh();
    }
  });
  watcher.observe(results);
  signal.addEventListener("abort", () => {
    watcher.disconnect();
    frame.root.remove();
  });
}
function figures(picture) {
  return html("div", { class: "pl-figures" }, ...picture.large.map((one) => html(
    "div",
    { class: "pl-figure", "data-figure": one.name, title: one.how },
    html("div", { class: "pl-label" }, one.label),
    html("div", {}, html("strong", { "data-value": one.value }, one.text), ` ${one.unit}`),
    html("div", { class: "pl-label" }, one.convention)
  )));
}
function parts(picture) {
  const shown = picture.parts.filter((part) => part.share > 0);
  const strip = html(
    "div",
    { class: "pl-strip", role: "img", "aria-label": shown.map((part) => `${part.label} ${part.text}`).join(", ") },
    ...shown.map((part) => {
      const piece = html("i", { class: `pl-piece pl-${part.name}`, title: `${part.label}: ${part.text}, ${part.shareText}` });
      piece.style.flexGrow = String(part.share);
      return piece;
    })
  );
  return html(
    "div",
    { "data-role": "parts" },
    html("h4", {}, "Where the elapsed time goes"),
    strip,
    html("div", { class: "pl-legend" }, ...shown.map((part) => html(
      "span",
      { "data-part": part.name },
      html("i", { class: `pl-swatch pl-${part.name}` }),
      `${part.label} `,
      html("b", { "data-value": part.days }, part.text),
      ` ${part.shareText}`
    ))),
    html("p", { class: "sv-dim" }, picture.goodput)
  );
}
function ways(picture) {
  const cell = (words) => html("td", {}, words);
  const answer = { ...picture.answer, label: "The answer", unit: "" };
  return html(
    "table",
    { "data-role": "ways" },
    html("caption", {}, "How each number came about"),
    html("thead", {}, html("tr", {}, ...["number", "value", "counted as", "how"].map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...[answer, ...picture.large].map((one) => html(
      "tr",
      {},
      html("th", { scope: "row" }, one.label),
      cell(`${one.text} ${one.unit}`.trim()),
      cell(one.convention),
      cell(one.how)
    )))
  );
}
function table(picture) {
  const { mfu, mfuTexts, lines, own } = picture.sensitivity;
  return html(
    "table",
    { "data-role": "grid" },
    html("caption", {}, "Elapsed days"),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "MFU"), ...lines.map((line2) => html("th", { scope: "col", class: "kn-number" }, line2.label)))),
    html("tbody", {}, ...mfu.map((one, k) => html(
      "tr",
      { "data-own": one === own },
      html("th", { scope: "row" }, mfuTexts[k]),
      ...lines.map((line2) => html("td", { class: "kn-number", "data-value": line2.days[k], "data-own": one === own && line2.own }, line2.texts[k]))
    )))
  );
}

// planner/index.ts
var planner_default = start(renderPlanner);
export {
  planner_default as default
};
