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
    const select = html("select", { ...OWN_KEYS, "data-knob": knob.name, ...described(knob) }, ...knob.choices.map(([value, words2]) => html("option", { value: String(value) }, words2)));
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
    const words2 = node instanceof HTMLSelectElement ? node.selectedOptions[0]?.textContent ?? "" : node.value || node.placeholder;
    page.parts.push(line(words2, style, x + (parseFloat(style.paddingLeft) || 0) + 1, y, rect.height, null));
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
    const words2 = content.slice(from, to).trimEnd();
    if (words2 === "" || row === null) return;
    range.setStart(node, from);
    range.setEnd(node, from + words2.length);
    const { width } = range.getBoundingClientRect();
    page.parts.push(line(words2, style, row.left - page.left, row.top - page.top, row.height, width));
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
function line(words2, style, x, top, height, width) {
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
  element.textContent = words2;
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
  draw(table, label) {
    if (label !== void 0 && this.summary.textContent !== label) this.summary.textContent = label;
    this.room.replaceChildren(table);
  }
};

// tokens/masks.ts
var ROW = 22;
var GAP = 4;
var WIDEST = 34;
var TOLD_APART = 5;
function scaleOf(sides, room, roomOfTime) {
  const width = Math.max(1, ...sides.map((side) => side.width));
  const ms = Math.max(...sides.map((side) => side.ms));
  return { cell: Math.max(0.05, Math.min(WIDEST, room / width)), ms: ms > 0 ? roomOfTime / ms : 0 };
}
function rowWords(runs) {
  const names = { prompt: "prompt", completion: "completion not scored", target: "scored", padding: "padding" };
  return runs.map(([, length, what]) => `${length} ${names[what]}`).join(", ");
}
function drawMasks(side, scale, hatch) {
  const { cell } = scale;
  const apart = cell >= TOLD_APART;
  const gap = apart ? Math.min(2, cell / 8) : 0;
  const height = side.rows.length * (ROW + GAP);
  const width = px(side.width * cell + 2);
  const drawing = svg(
    "svg",
    { class: "tk-masks", width, height, role: "img", "aria-label": side.rows.map((runs, k) => `row ${k + 1}: ${rowWords(runs)}`).join("; ") },
    svg("defs", {}, svg(
      "pattern",
      { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "tk-hatch" })
    ))
  );
  side.rows.forEach((runs, row) => {
    const y = row * (ROW + GAP) + 1;
    const group = svg("g", { class: "tk-row" });
    for (const [start2, length, what, sequence] of runs) {
      const cells = apart ? length : 1;
      const wide = apart ? cell : cell * length;
      for (let k = 0; k < cells; k++) {
        const x = px(1 + (start2 + (apart ? k : 0)) * cell);
        const rect = svg("rect", { x, y, width: px(Math.max(0.5, wide - gap)), height: ROW - 2, rx: Math.min(3, cell / 6), class: `tk-cell tk-${what}` });
        if (what === "padding") rect.style.fill = `url(#${hatch})`;
        group.append(rect);
        if (what === "target" && cell >= 12) {
          const mark = svg("text", { x: px(x + (wide - gap) / 2), y: y + 15, class: "tk-mark", "text-anchor": "middle" });
          mark.textContent = "✓";
          group.append(mark);
        }
      }
      if (sequence > 0 && start2 > 0 && sequence !== before(runs, start2)) {
        const x = px(1 + start2 * cell - gap / 2);
        group.append(svg("line", { x1: x, x2: x, y1: y - 2, y2: y + ROW, class: "tk-bound" }));
      }
    }
    drawing.append(group);
  });
  return html("div", { class: "tk-drawing" }, drawing);
}
function before(runs, start2) {
  return runs.find(([from, length]) => from + length === start2)?.[3] ?? -1;
}

// tokens/view.ts
var SIGNS = { better: "✓", worse: "✗", unchanged: "=" };
var HEADINGS = { batch: "A batch", change: "How it is run" };
var drawn = 0;
function renderTokens(given, el, signal) {
  const { desk, model } = given;
  const number = ++drawn;
  const frame = new Frame(desk, "tk", "Tokens per second under every convention", signal);
  const numbers = html("div", { class: "kn-numbers" });
  const drawing = html("div", { class: "kn-numbers tk-sides" });
  const settings = html("div", { class: "tk-settings" });
  const said = html("div", { class: "kn-numbers" });
  const cells = new Folded("The masks as a table");
  const every = new Folded("Every convention at once");
  const below = html("div");
  const about = html("p", { class: "sv-dim" });
  let lossesTold = "";
  let controls = new Controls(desk, given.knobs(), HEADINGS, signal);
  settings.append(controls.root);
  let room = 0;
  let painted = [];
  frame.add(
    html("h3", {}, "Did throughput improve? Name the token."),
    numbers,
    html("div", { class: "tk-main" }, drawing, settings),
    said,
    html("div", { class: "kn-numbers" }, cells.element, every.element),
    below,
    about
  );
  el.append(frame.root);
  const refresh = () => {
    frame.refresh();
    controls.refresh();
    const { picture } = desk;
    if (picture === null || room === 0) return;
    const key = [picture, room];
    if (key.every((part, k) => part === painted[k])) return;
    painted = key;
    numbers.replaceChildren(html("p", { class: "tk-headline", "data-role": "headline" }, picture.headline), cards(picture));
    drawing.replaceChildren(...masks(picture, room, number));
    said.replaceChildren(words(picture));
    cells.draw(maskTable(picture));
    every.draw(conventions(picture), `Every convention at once (${picture.rows.length} numbers)`);
    about.textContent = picture.about.join(" ");
    const told = JSON.stringify(picture.losses);
    if (told !== lossesTold) below.replaceChildren(losses(picture.losses));
    lossesTold = told;
  };
  desk.subscribe(refresh, signal);
  const reform = () => {
    controls = new Controls(desk, given.knobs(), HEADINGS, signal);
    settings.replaceChildren(controls.root);
    refresh();
  };
  model.on("change:_form", reform);
  const watcher = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== room) {
      room = width;
      refresh();
    }
  });
  watcher.observe(drawing);
  signal.addEventListener("abort", () => {
    model.off("change:_form", reform);
    watcher.disconnect();
    frame.root.remove();
  });
}
function chip(change, words2) {
  return html("span", { class: "kn-chip", "data-change": change }, `${SIGNS[change]} ${words2}`);
}
function cards(picture) {
  return html("div", { class: "tk-cards" }, ...picture.large.map((row) => html(
    "div",
    { class: "tk-card", "data-quantity": row.name },
    html("div", { class: "tk-name" }, row.label),
    html(
      "div",
      { class: "tk-value" },
      html("span", { class: "tk-before", "data-value": row.before }, row.beforeText),
      html("span", { class: "tk-arrow", "aria-hidden": "true" }, "→"),
      html("span", { class: "sv-live" }, "to"),
      html("strong", { class: "tk-after", "data-value": row.after }, row.afterText)
    ),
    chip(row.change, row.change === "unchanged" ? row.change : `${row.change} ${row.ratioText}`)
  )));
}
function masks(picture, width, number) {
  const scale = scaleOf(picture.sides, Math.max(120, width - 4), Math.max(60, Math.min(300, width - 80)));
  const legend = html(
    "div",
    { class: "tk-legend", "aria-hidden": "true" },
    ...[["prompt", "prompt"], ["target", "completion, scored ✓"], ["completion", "completion, not scored"], ["padding", "padding"]].map(([what, words2]) => html("span", {}, html("i", { class: `tk-swatch tk-${what}` }), words2)),
    html("span", {}, html("i", { class: "tk-swatch tk-edge" }), "a packed sequence begins")
  );
  return [...picture.sides.map((side, k) => html(
    "div",
    { class: "tk-side", "data-side": k === 0 ? "before" : "after" },
    html("div", { class: "tk-title" }, html("strong", {}, side.name), ` ${side.title}`),
    drawMasks(side, scale, `tk-hatch-${number}-${k}`),
    hidden(side),
    html("div", { class: "tk-time" }, bar(side, scale.ms), side.time),
    html("div", { class: "sv-dim" }, side.held)
  )), legend];
}
function bar(side, perMs) {
  const one = html("i", { class: "tk-bar" });
  one.style.width = `${Math.round(side.ms * perMs)}px`;
  return one;
}
function hidden(side) {
  const rows = html("div", { class: "sv-dim" });
  if (side.hidden > 0) rows.textContent = `and ${side.hidden} more rows like these`;
  return rows;
}
function words(picture) {
  const facts = picture.facts.map(({ text: text2, change }) => html(
    "li",
    { "data-change": change },
    html("span", { class: "tk-sign", "aria-hidden": "true" }, SIGNS[change]),
    text2
  ));
  const trap = picture.trap === "" ? null : html("p", { class: "tk-trap", "data-role": "trap" }, picture.trap);
  return html(
    "div",
    { class: "tk-words", "data-role": "words" },
    html("ul", {}, ...facts),
    trap,
    ...picture.notes.map((note) => html("p", { class: "sv-dim" }, note))
  );
}
function conventions(picture) {
  const [before2, after] = picture.sides;
  const line2 = (row) => html(
    "tr",
    { "data-quantity": row.name },
    html("th", { scope: "row" }, row.name),
    html("td", { class: "kn-number", "data-value": row.before }, row.beforeText),
    html("td", { class: "kn-number", "data-value": row.after }, row.afterText),
    html("td", {}, row.unit),
    html("td", {}, chip(row.change, row.change)),
    html("td", { class: "tk-counts" }, row.counts)
  );
  const heads = ["quantity", before2.name, after.name, "unit", "change", "what it counts"];
  return html(
    "table",
    { "data-role": "conventions" },
    html("caption", {}, "The same two updates, under every numerator and every FLOP convention"),
    html("thead", {}, html("tr", {}, ...heads.map((head, k) => html("th", { scope: "col", class: k === 1 || k === 2 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...picture.rows.map(line2))
  );
}
function maskTable(picture) {
  const whats = [["prompt", "prompt"], ["target", "completion, scored"], ["completion", "completion, not scored"], ["padding", "padding"]];
  const lines = picture.sides.flatMap((side) => [
    ...side.rows.map((runs, k) => html(
      "tr",
      {},
      html("th", { scope: "row" }, `${side.name}, row ${k + 1}`),
      html("td", { class: "kn-number" }, String(new Set(runs.map(([, , , sequence]) => sequence).filter((one) => one >= 0)).size)),
      ...whats.map(([what]) => html("td", { class: "kn-number" }, String(runs.reduce((sum, [, length, is]) => sum + (is === what ? length : 0), 0))))
    )),
    ...side.hidden > 0 ? [html("tr", {}, html("td", { colspan: whats.length + 2 }, `and ${side.hidden} more rows like these`))] : []
  ]);
  return html(
    "table",
    { "data-role": "cells" },
    html("caption", {}, "Positions of each row of the batch, by what they are"),
    html("thead", {}, html("tr", {}, ...["row", "sequences", ...whats.map(([, words2]) => words2)].map((head, k) => html("th", { scope: "col", class: k > 0 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...lines)
  );
}
function losses(given) {
  const ranks = given.losses.map((rank, k) => html(
    "div",
    { class: "tk-rank" },
    html("span", { class: "sv-dim" }, `rank ${k}`),
    ...rank.map((batch) => html("span", { class: "tk-batch" }, ...batch.map((loss) => html("span", { class: "tk-loss" }, loss))))
  ));
  const rows = given.rows.map((row) => {
    const line2 = html(
      "tr",
      { "data-reduction": row.name },
      html("th", { scope: "row" }, row.name),
      html("td", { class: "kn-number", "data-value": row.value }, html(row.right ? "strong" : "span", {}, row.text)),
      html("td", { class: "kn-number" }, row.quotient),
      html("td", { class: "tk-counts" }, row.used)
    );
    attr(line2, "data-right", row.right ? "" : null);
    return line2;
  });
  const table = html(
    "table",
    { "data-role": "losses" },
    html("thead", {}, html("tr", {}, ...["divided over", "loss", "as", "who does it"].map((head, k) => html("th", { scope: "col", class: k === 1 || k === 2 ? "kn-number" : null }, head)))),
    html("tbody", {}, ...rows)
  );
  return html(
    "details",
    {},
    html("summary", OWN_KEYS, "And the loss: the same token losses, another denominator"),
    html(
      "div",
      { class: "tk-losses" },
      html("div", {}, ...ranks, html("p", { class: "sv-dim" }, "Each box is a microbatch, each number the loss of a scored target.")),
      scrolled("The loss under every denominator", table)
    )
  );
}

// tokens/index.ts
var tokens_default = start(renderTokens);
export {
  tokens_default as default
};
