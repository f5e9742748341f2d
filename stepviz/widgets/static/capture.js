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
  const parts = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([kKMGBT%]?)$/i.exec(plain);
  if (parts === null) return null;
  const size = { K: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12, "%": 0.01, "": 1 }[parts[2].toUpperCase()];
  const value = Number(parts[1]);
  return size === void 0 || !Number.isFinite(value) ? null : Number((value * size).toPrecision(15));
}
function readList(text2) {
  const parts = text2.trim().split(/[\s,;]+/).filter((part) => part !== "");
  const numbers = parts.map(read);
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
  add(...parts) {
    this.status.before(...parts);
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

// capture/runs.ts
var made = 0;
var RunTable = class {
  constructor(acts, signal) {
    this.acts = acts;
    this.signal = signal;
    const rename = () => {
      if (this.chosen >= 0 && this.label.value !== this.shown) acts.rename(this.chosen, this.label.value);
    };
    this.label.addEventListener("keydown", (event) => {
      if (event.key === "Enter") rename();
      if (event.key === "Escape") this.label.value = this.shown;
      if (event.key === "Enter" || event.key === "Escape") event.stopPropagation();
    }, { signal });
    this.more = html(
      "div",
      { class: "cp-row" },
      html("label", { class: "cp-choice" }, "The chosen run ", this.label),
      button("Give the chosen run this label", "Rename", { ...OWN_KEYS, "data-role": "rename" }, rename, signal),
      button("Take the chosen run off the table; its files stay", "Remove", { ...OWN_KEYS, "data-role": "remove" }, () => {
        if (this.chosen >= 0) acts.remove(this.chosen);
      }, signal)
    );
    this.root.append(this.scroll, this.more, this.said);
  }
  acts;
  signal;
  root = html("div", { class: "cp-runs" });
  group = `cp-runs-${++made}`;
  scroll = html("div", { ...OWN_KEYS, class: "kn-scroll", role: "group", "aria-label": "runs", tabindex: 0 });
  label = html("input", { ...OWN_KEYS, type: "text", class: "cp-label", "aria-label": "label of the chosen run", "data-role": "label" });
  said = html("p", { class: "kn-status", role: "status", "data-role": "runs-said" });
  more;
  chosen = -1;
  shown = "";
  draw(table) {
    const rows = table.rows ?? [];
    const label = rows[table.chosen]?.label ?? "";
    if (table.chosen !== this.chosen || label !== this.shown) this.label.value = label;
    this.chosen = table.chosen;
    this.shown = label;
    text(this.said, table.said ?? "");
    show(this.said, (table.said ?? "") !== "");
    show(this.root, rows.length > 0 || (table.said ?? "") !== "");
    show(this.more, table.chosen >= 0 && table.fixed !== true);
    show(this.scroll, rows.length > 0);
    const focused = this.scroll.contains(active(this.scroll));
    const number = (content, more = "") => html("td", { class: "kn-number" }, content, more === "" ? null : html("span", { class: "sv-dim" }, ` ${more}`));
    this.scroll.replaceChildren(html(
      "table",
      { "data-role": "runs" },
      html("caption", {}, "The chosen run is in the editor below; each is compared with the first."),
      html("thead", {}, html("tr", {}, ...["run", "ranks", "cap, MiB", "step, ms", "quartiles", "exposed, ms", "beside the first"].map((heading, k) => html("th", { scope: "col", class: k > 0 && k < 6 ? "kn-number" : null }, heading)))),
      html("tbody", {}, ...rows.map((row, k) => html(
        "tr",
        { "data-chosen": k === table.chosen },
        html("th", { scope: "row" }, this.radio(row, k, k === table.chosen)),
        number(row.ranks),
        number(row.caps),
        number(row.step, row.how),
        number(row.quartiles),
        number(row.exposed, row.emulated ? "emulated" : ""),
        html(
          "td",
          {},
          k === 0 ? html("span", { class: "sv-dim" }, row.verdict) : html("b", {}, row.verdict),
          row.reason === "" ? null : html("div", { class: "sv-dim" }, row.reason)
        )
      )))
    ));
    if (focused) this.scroll.querySelector("input:checked")?.focus();
  }
  radio(row, k, checked) {
    const input = html("input", { ...OWN_KEYS, type: "radio", name: this.group, checked, "data-run": k });
    input.addEventListener("change", () => this.acts.choose(k), { signal: this.signal });
    return html("label", { class: "cp-choice" }, input, row.label);
  }
};

// capture/spoken.ts
function spokenOf(job) {
  if (job.state === "running") {
    const quarter = Math.floor(job.share * 4) * 25;
    return quarter === 0 ? "The capture has begun." : `The capture is ${quarter} % done.`;
  }
  if (job.state === "stopping") return "The capture is being stopped.";
  return job.state === "failed" ? "" : job.words;
}

// capture/view.ts
var HEADINGS = { run: "The run", slow: "What slows it", fabric: "An emulated network", model: "Model and tokens", ddp: "Training", how: "How it runs" };
var PATIENCE3 = 3e3;
function renderCapture(given, el, signal) {
  const { desk, model } = given;
  const frame = new Frame(desk, "cp", "Capture a run", signal);
  const knobs = given.knobs();
  const group = (...names) => new Controls(desk, knobs.filter((knob) => names.includes(knob.group)), HEADINGS, signal);
  const [main, rest] = [group("run", "slow", "fabric"), group("model", "ddp", "how")];
  const code = html("div", { class: "kn-numbers cp-code" });
  let silence;
  const waiting = html("p", { class: "kn-status", role: "status", hidden: true }, "The kernel is not answering: it may be busy with a cell. Interrupting it stops a capture too.");
  const ask = (content) => {
    model.send(content);
    clearTimeout(silence);
    silence = setTimeout(() => show(waiting, true), PATIENCE3);
  };
  const answered = () => {
    clearTimeout(silence);
    show(waiting, false);
  };
  const run = button("Run the capture", "Run", { ...OWN_KEYS, class: "sv-primary", "data-role": "run" }, () => {
    if (run.ariaDisabled !== "true") ask({ ask: "run", value: desk.value });
  }, signal);
  const stop = button("Stop the capture and end every process of it", "Stop", { ...OWN_KEYS, class: "sv-danger", "data-role": "stop" }, () => ask({ ask: "stop" }), signal);
  const bar = html("progress", { class: "cp-bar", max: 1, "aria-label": "capture" });
  const words = html("span", { class: "cp-words", "data-role": "words" });
  const live = html("div", { class: "sv-live", role: "status", "aria-live": "polite", "data-role": "progress-live" });
  const sentence = html("p", { "data-role": "failure" });
  const lines = html("pre", OWN_KEYS);
  const folded = html("details", {}, html("summary", OWN_KEYS, "Its last lines"), lines);
  const failure = html("div", { class: "kn-status cp-failure", "data-level": "refused", role: "alert" }, sentence, folded);
  const runs = new RunTable({
    choose: (which) => ask({ ask: "choose", run: which }),
    rename: (which, label) => ask({ ask: "rename", run: which, label }),
    remove: (which) => ask({ ask: "remove", run: which })
  }, signal);
  frame.add(
    html("h3", {}, "Capture a run"),
    main.root,
    html("details", { class: "cp-rest", hidden: knobs.length === 0 }, html("summary", OWN_KEYS, "All other options"), rest.root),
    code,
    html("div", { class: "cp-row" }, run, stop, bar, words),
    live,
    waiting,
    failure,
    runs.root
  );
  el.append(frame.root);
  let spoken = "";
  const progress = () => {
    const job = model.get("_job");
    const busy = job.state === "running" || job.state === "stopping";
    const kept = job.state === "idle" || job.state === "stopped" || job.state === "failed";
    attr(run, "aria-disabled", String(busy || job.missing !== "" || desk.problem !== null));
    attr(stop, "aria-disabled", String(job.state !== "running"));
    if (!busy && stop === active(stop)) run.focus();
    show(stop, busy);
    show(bar, busy || job.state === "done");
    bar.value = job.share;
    attr(frame.root, "data-job", job.state);
    text(words, busy ? `${Math.round(job.share * 100)} % · ${job.words}` : kept && job.words === "" ? job.missing : job.words);
    show(failure, job.problem !== "");
    text(sentence, job.problem);
    text(lines, job.lines);
    show(folded, job.lines !== "");
    const say = spokenOf(job);
    if (say !== spoken && job.state !== "idle") text(live, say);
    spoken = say;
  };
  const table = () => runs.draw(model.get("_table"));
  const refresh = () => {
    frame.refresh();
    main.refresh();
    rest.refresh();
    if (desk.picture !== null) {
      code.replaceChildren(
        html("span", { class: "sv-dim" }, "The same in Python: "),
        html("code", {}, desk.picture.code),
        ...desk.picture.emulated === "" ? [] : [html("p", { class: "sv-dim" }, desk.picture.emulated)]
      );
    }
    progress();
  };
  const heard = [["change:_job", () => {
    answered();
    progress();
  }], ["change:_table", () => {
    answered();
    table();
  }], ["change:_shown", answered]];
  for (const [event, listener] of heard) model.on(event, listener);
  signal.addEventListener("abort", () => {
    clearTimeout(silence);
    for (const [event, listener] of heard) model.off(event, listener);
    frame.root.remove();
  });
  desk.subscribe(refresh, signal);
  refresh();
  table();
}

// capture/index.ts
var capture_default = start(renderCapture);
export {
  capture_default as default
};
