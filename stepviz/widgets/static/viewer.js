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
  const layout2 = model.get("layout");
  if (canBeHeard(layout2)) layout2.on("destroy", cut);
}
function canBeHeard(value) {
  return typeof value === "object" && value !== null && typeof value.on === "function";
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

// viewer/types.ts
var PATH = -1;
var NOWHERE = -1;
var BESIDE = -2;
var besideLane = (at) => at <= BESIDE ? BESIDE - at : at;
function readScene(raw) {
  const given = raw;
  if (!given || !Array.isArray(given.ranks) || typeof given.span !== "number") return null;
  const whole = given;
  return {
    ...whole,
    ranks: whole.ranks.map((rank) => ({
      ...rank,
      tracks: rank.tracks.map(([name, title, role, first, rows, flat]) => ({ name, title, role, first, rows, flat }))
    }))
  };
}

// view/focus.ts
function active(root) {
  return root.getRootNode().activeElement;
}
var NAMES = ["data-role", "data-scenario", "data-filter", "data-table-phase", "data-table-arrow"];
function address(element) {
  const named = (name2, of) => `[${name2}="${CSS.escape(of.getAttribute(name2) ?? "")}"]`;
  if (element.matches("[data-phase]")) return named("data-phase", element) + named("data-rank", element);
  const name = NAMES.find((one) => element.hasAttribute(one));
  if (name === void 0) return null;
  const row = element.closest("[data-list-row]");
  return (row ? `${named("data-list-row", row)} ` : "") + named(name, element);
}
var off = (element) => element.matches(":disabled");
var seen = (element) => element.getClientRects().length > 0;
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
  const controls = () => [...toolbar.querySelectorAll("button,select")].filter((one) => !off(one) && seen(one));
  const settle = () => {
    const all = controls();
    if (stop === null || !all.includes(stop)) {
      const role = stop === null ? null : address(stop);
      stop = (role === null ? null : all.find((one) => one.matches(role))) ?? all[0] ?? null;
    }
    for (const one of toolbar.querySelectorAll("button,select")) {
      const index = one === stop ? 0 : -1;
      if (one.getAttribute("tabindex") !== String(index)) one.tabIndex = index;
    }
  };
  toolbar.addEventListener("focusin", (event) => {
    if (!event.target.matches("button,select")) return;
    stop = event.target;
    settle();
  }, { signal });
  toolbar.addEventListener("keydown", (event) => {
    const all = controls();
    const at = all.indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === void 0) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  }, { signal });
  return settle;
}

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

// viewer/viewport.ts
var length = (range) => range.finish - range.start;
var CLOSEST = 40;
function limitsOf(begin, span) {
  const room = 0.04 * (span - begin);
  return { start: begin - room, finish: span + room };
}
function fitted(span) {
  return { start: -8e-3 * span, finish: 1.012 * span };
}
function within(range, limits) {
  const most = length(limits);
  const size = Math.min(most, Math.max(CLOSEST, length(range)));
  const middle = (range.start + range.finish) / 2;
  const start = size === length(range) ? range.start : middle - size / 2;
  const moved = Math.min(Math.max(start, limits.start), limits.finish - size);
  return { start: moved, finish: moved + size };
}
function zoomed(range, time, factor, limits) {
  const size = Math.min(length(limits), Math.max(CLOSEST, length(range) / factor));
  const share = (time - range.start) / length(range);
  const start = time - share * size;
  return within({ start, finish: start + size }, limits);
}
function panned(range, by, limits) {
  return within({ start: range.start + by, finish: range.finish + by }, limits);
}
function around(start, finish, limits, room = 1) {
  const size = Math.max(finish - start, CLOSEST / 4);
  return within({ start: start - room * size, finish: finish + room * size }, limits);
}
function showing(range, start, finish, limits, least = 0.01) {
  const size = finish - start;
  if (size < least * length(range)) {
    const closer = Math.max(size / (4 * least), length(range) / 4096);
    if (closer < length(range)) return within(centred(start, finish, closer), limits);
  }
  if (size > length(range)) return around(start, finish, limits, 0.1);
  const edge = 0.05 * length(range);
  if (start >= range.start + edge && finish <= range.finish - edge) return range;
  return within(centred(start, finish, length(range)), limits);
}
function centred(start, finish, size) {
  const middle = (start + finish) / 2;
  return { start: middle - size / 2, finish: middle + size / 2 };
}
function towards(from, to, share, width) {
  const near = length(to) / Math.max(width, 1) / 4;
  if (Math.abs(to.start - from.start) < near && Math.abs(to.finish - from.finish) < near) return to;
  return {
    start: from.start + share * (to.start - from.start),
    finish: from.finish + share * (to.finish - from.finish)
  };
}
var same = (a, b) => a.start === b.start && a.finish === b.finish;

// viewer/layers.ts
var FOUND = 1;
var Layer = class {
  constructor(asked, from, unit, lanes, bounds, starts, finishes, names, counts, kinds, flags, shares, at, shown) {
    this.asked = asked;
    this.from = from;
    this.unit = unit;
    this.bounds = bounds;
    this.starts = starts;
    this.finishes = finishes;
    this.names = names;
    this.counts = counts;
    this.kinds = kinds;
    this.flags = flags;
    this.shares = shares;
    this.at = at;
    this.shown = shown;
    this.place = new Map(lanes.map((lane, k) => [lane, k]));
  }
  asked;
  from;
  unit;
  bounds;
  starts;
  finishes;
  names;
  counts;
  kinds;
  flags;
  shares;
  at;
  shown;
  /** By lane, its place among the bounds. */
  place;
  has(lane) {
    return this.place.has(lane);
  }
  /** The blocks of a lane: [low, high). */
  span(lane) {
    const k = this.place.get(lane);
    return k === void 0 ? [0, 0] : [this.bounds[k], this.bounds[k + 1]];
  }
  start(block) {
    return this.from + this.unit * this.starts[block];
  }
  finish(block) {
    return this.from + this.unit * this.finishes[block];
  }
  /** The first block of a lane that ends at `time` or later; finishes are sorted as starts are. */
  firstFrom(lane, time) {
    let [low, high] = this.span(lane);
    const bound = (time - this.from) / this.unit;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.finishes[middle] < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  covers(range) {
    return this.asked.start <= range.start && this.asked.finish >= range.finish;
  }
};
function readLayer(asked, answer, buffers) {
  const bytes = copied(buffers[0]);
  const lanes = answer.lanes;
  const head = 4 * (lanes.length + 1);
  const size = (bytes.byteLength - head) / 19;
  if (!Number.isInteger(size) || size < 0) throw new Error("a layer of blocks has the wrong length");
  const words = (k) => new Int32Array(bytes, head + 4 * k * size, size);
  const small = (k) => new Uint8Array(bytes, head + (16 + k) * size, size);
  const path = new Int32Array(copied(buffers[1]));
  return new Layer(
    asked,
    answer.start,
    answer.unit,
    lanes,
    new Int32Array(bytes, 0, lanes.length + 1),
    words(0),
    words(1),
    words(2),
    new Uint32Array(bytes, head + 12 * size, size),
    small(0),
    small(1),
    small(2),
    path.subarray(0, path.length / 2),
    path.subarray(path.length / 2)
  );
}
function copied(view) {
  if (view === void 0) return new ArrayBuffer(0);
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
}
var sameChoice = (a, b) => a.find === b.find && a.hidden.join() === b.hidden.join();
var COARSE = 1.4;
var FINE = 6;
var SOON = 0.35;
var KEPT = 3;
var Layers = class {
  list = [];
  get all() {
    return this.list;
  }
  add(layer, limits) {
    const rest = this.list.filter((one) => sameChoice(one.asked, layer.asked));
    const whole = rest.find((one) => one !== layer && one.covers(shrunk(limits)));
    const recent = rest.slice(0, KEPT - 1);
    this.list = [layer, ...recent];
    if (whole && !this.list.includes(whole)) this.list.push(whole);
  }
  /**
   * What to draw of a lane where a pixel is so long, coarse before fine: the one layer that has all
   * that can be seen, or else what there is.
   */
  of(lane, range, pixel) {
    const found = [...this.list].reverse().filter((one) => one.has(lane) && one.asked.start < range.finish && one.asked.finish > range.start).sort((a, b) => b.asked.pixel - a.asked.pixel);
    const enough = found.find((one) => one.covers(range) && one.asked.pixel <= COARSE * pixel);
    if (enough !== void 0) return [enough];
    const first = found.findLastIndex((one) => one.covers(range));
    return first > 0 ? found.slice(first) : found;
  }
  /** The one of these layers that says most about a whole range: for words and for the path. */
  main(lane, range, pixel) {
    const found = this.of(lane, range, pixel);
    return found.findLast((one) => one.covers(range)) ?? found.at(-1) ?? null;
  }
  /** The finest of what is known of a lane at a time. */
  at(lane, time) {
    return this.of(lane, { start: time, finish: time + 1e-6 }, 0).at(-1) ?? null;
  }
  /** What to ask for, null where all that is seen is there, and what comes next as well. */
  missing(seen2, around2, limits) {
    const size = seen2.finish - seen2.start;
    const good = this.list.some((one) => sameChoice(one.asked, seen2) && one.asked.pixel <= COARSE * seen2.pixel && seen2.pixel <= FINE * one.asked.pixel && one.asked.start <= Math.max(seen2.start - SOON * size, limits.start) && one.asked.finish >= Math.min(seen2.finish + SOON * size, limits.finish) && seen2.lanes.every((lane) => one.has(lane)));
    if (good) return null;
    return {
      ...seen2,
      start: Math.floor(Math.max(seen2.start - size, limits.start)),
      finish: Math.ceil(Math.min(seen2.finish + size, limits.finish)),
      pixel: Math.max(1, Math.floor(seen2.pixel)),
      lanes: around2
    };
  }
};
function shrunk(range) {
  const little = 0.01 * length(range);
  return { start: range.start + little, finish: range.finish - little };
}

// viewer/paint.ts
var SHADES = 8;
function paintLane(brush, line2, layer, lane, places) {
  const { pixels, width, range, inks, hidden, thin, searching, noted, parted } = brush;
  const first = line2 * width;
  const second = (brush.lines + line2) * width;
  const scale = width / (range.finish - range.start);
  const left = clamp(Math.floor((layer.asked.start - range.start) * scale), width);
  const right = clamp(Math.ceil((layer.asked.finish - range.start) * scale), width);
  for (const offset of [first, second]) pixels.fill(0, offset + left, offset + right);
  const [, high] = layer.span(lane);
  const { starts, finishes, kinds, flags, shares, counts } = layer;
  const ratio = layer.unit * scale;
  const shift = (layer.from - range.start) * scale;
  const found = [];
  for (let k = layer.firstFrom(lane, range.start); k < high; k++) {
    const from = shift + ratio * starts[k];
    if (from >= width) break;
    const kind = kinds[k];
    if (hidden[kind]) continue;
    let a = Math.round(from);
    let b = Math.round(shift + ratio * finishes[k]);
    if (b <= a) b = a + 1;
    const wide = b - a;
    if (wide >= parted) b -= 1;
    a = clamp(a, width);
    b = clamp(b, width);
    const marked = searching && (flags[k] & FOUND) !== 0;
    if (marked) found.push(k);
    const shade = counts[k] === 1 ? SHADES - 1 : shares[k] * (SHADES - 1) >> 8;
    const offset = thin[kind] ? second : first;
    const ink = (searching && !marked ? inks.dimmed : inks.plain)[kind * SHADES + shade];
    if (b - a === 1) pixels[offset + a] = ink;
    else pixels.fill(ink, offset + a, offset + b);
    if (places !== null && wide >= noted) places.push(a, b, k);
  }
  for (const k of found) {
    const a = clamp(Math.round(shift + ratio * starts[k]), width);
    const b = clamp(Math.max(Math.round(shift + ratio * finishes[k]), a + 1), width);
    if (b - a < parted) pixels.fill(inks.plain[kinds[k] * SHADES + SHADES - 1], first + a, first + b);
  }
}
function clamp(x, width) {
  return x < 0 ? 0 : x > width ? width : x;
}

// viewer/palette.ts
var VARIABLE = {
  input: "--sv-input",
  forward: "--sv-forward",
  backward: "--sv-backward",
  exchange: "--sv-exchange",
  optimizer: "--sv-optimizer",
  recompute: "--sv-recompute",
  checkpoint: "--sv-checkpoint",
  host: "--sv-host",
  other: "--sv-other",
  wait: "--sv-wait",
  "before the step": "--sv-before",
  unexplained: "--sv-unexplained",
  idle: "--sv-idle"
};
function variableOf(kind) {
  return VARIABLE[kind] ?? "--sv-other";
}
var Colours = class {
  /** `changed` is called when the theme changes, whoever changes it. */
  constructor(kinds, changed, signal) {
    this.kinds = kinds;
    this.element.addEventListener("transitionrun", () => {
      this.known = null;
      changed();
    }, { signal });
    this.element.addEventListener("transitionend", () => {
      this.known = null;
      changed();
    }, { signal });
  }
  kinds;
  /** Elements that have the colours, one for each, so that the browser works out what they are. */
  element = html("div", { class: "tv-probes", "aria-hidden": "true" });
  probes = /* @__PURE__ */ new Map();
  known = null;
  get now() {
    return this.known ??= this.read();
  }
  forget() {
    this.known = null;
  }
  colour(variable) {
    let probe = this.probes.get(variable);
    if (probe === void 0) {
      probe = html("i", { style: `color:var(${variable})` });
      this.probes.set(variable, probe);
      this.element.append(probe);
    }
    return parsed(getComputedStyle(probe).color);
  }
  read() {
    const fills = this.kinds.map((kind) => this.colour(variableOf(kind)));
    const background = this.colour("--sv-bg");
    const css = (variable) => written(this.colour(variable));
    const plain = new Uint32Array(fills.length * SHADES);
    const dimmed = new Uint32Array(fills.length * SHADES);
    fills.forEach((fill, kind) => {
      for (let shade = 0; shade < SHADES; shade++) {
        const share = 0.4 + 0.6 * shade / (SHADES - 1);
        const colour = mixed(fill, background, share);
        plain[kind * SHADES + shade] = packed(colour);
        dimmed[kind * SHADES + shade] = packed(mixed(grey(colour), background, 0.3));
      }
    });
    return {
      inks: { plain, dimmed },
      labels: fills.map((fill) => luminance(fill) > 0.19 ? "#0b0f14" : "#fff"),
      fills: fills.map(written),
      background: written(background),
      foreground: css("--sv-fg"),
      dim: css("--sv-dim"),
      line: css("--sv-line"),
      strongLine: css("--sv-strong-line"),
      row: css("--sv-row"),
      ink: css("--sv-ink"),
      accent: css("--sv-accent"),
      family: getComputedStyle(this.element).fontFamily
    };
  }
};
function parsed(colour) {
  const numbers = (colour.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number);
  const scale = colour.startsWith("color(") ? 255 : 1;
  const [r = 0, g = 0, b = 0] = numbers;
  return [r * scale, g * scale, b * scale];
}
function written([r, g, b]) {
  return `rgb(${Math.round(r)},${Math.round(g)},${Math.round(b)})`;
}
function mixed(a, b, share) {
  const mix = (x, y) => x * share + y * (1 - share);
  return [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2])];
}
function grey(colour) {
  const value = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2];
  return [value, value, value];
}
function packed([r, g, b]) {
  return (255 << 24 | Math.round(b) << 16 | Math.round(g) << 8 | Math.round(r)) >>> 0;
}
function luminance([r, g, b]) {
  const linear = (value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

// viewer/words.ts
function duration(ns) {
  const size = Math.abs(ns);
  const sign = ns < 0 ? "−" : "";
  if (size < 1e3) return `${sign}${decimals(size, 0)} ns`;
  if (size < 1e6) return `${sign}${decimals(size / 1e3, size < 1e5 ? 2 : 1)} µs`;
  if (size < 1e9) return `${sign}${decimals(size / 1e6, size < 1e8 ? 3 : 2)} ms`;
  return `${sign}${decimals(size / 1e9, 3)} s`;
}
function moment(ns) {
  return `${ns < 0 ? "−" : ""}${decimals(Math.abs(ns) / 1e6, 6)} ms`;
}
function count(of, one, several = `${one}s`) {
  return `${decimals(of, 0)} ${of === 1 ? one : several}`;
}
function telling(name) {
  const plain = name.replaceAll("(anonymous namespace)::", "");
  const end = plain.search(/[<(]/);
  if (end <= 0) return name;
  const head = plain.slice(0, end).trim();
  const from = Math.max(head.lastIndexOf("::") + 2, head.lastIndexOf(" ") + 1);
  return /^\w+$/.test(head.slice(from)) ? head.slice(from) : name;
}
var Fitter = class {
  constructor(measure) {
    this.measure = measure;
  }
  measure;
  widths = /* @__PURE__ */ new Map();
  /** "" where not even three letters fit. */
  fit(name, width) {
    const whole = this.cut(name, width);
    if (whole === name) return name;
    const short = telling(name);
    const cut2 = this.cut(short, width);
    if (cut2 === short) return short;
    return cut2.length >= 4 ? `${cut2.slice(0, -1)}…` : "";
  }
  cut(name, width) {
    let left = width;
    for (let k = 0; k < name.length; k++) {
      const letter = name[k];
      let size = this.widths.get(letter);
      if (size === void 0) this.widths.set(letter, size = this.measure(letter));
      left -= size;
      if (left < 0) return name.slice(0, k);
    }
    return name;
  }
};

// viewer/details.ts
var REST = 110;
var SPEAK = 500;
var SETTLED = 200;
var Details = class {
  constructor(look, names, wire, actions, signal) {
    this.look = look;
    this.names = names;
    this.wire = wire;
    this.actions = actions;
    this.signal = signal;
    this.choose(null);
    signal.addEventListener("abort", () => this.stop());
  }
  look;
  names;
  wire;
  actions;
  signal;
  tip = html("div", { class: "tv-tip", role: "tooltip", "data-role": "tip", hidden: true });
  line = html("div", { class: "tv-details", "data-role": "details" });
  /** Heard only. */
  live = html("div", { class: "sv-live", "aria-live": "polite", "data-role": "live" });
  timers = [];
  hovered = null;
  explained = null;
  turn = 0;
  speaking;
  chosenTurn = 0;
  announce(message) {
    text(this.live, this.live.textContent === message ? `${message} ` : message);
  }
  /** Whoever goes from piece to piece hears the one they stop at. */
  announceSoon(message) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => this.announce(message), SETTLED);
  }
  stop() {
    clearTimeout(this.speaking);
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }
  // Beside the pointer
  hover(hit2, x, y, frame) {
    const other = hit2?.lane !== this.hovered?.lane || hit2?.start !== this.hovered?.start || hit2?.finish !== this.hovered?.finish;
    if (other) {
      this.stop();
      this.turn++;
      this.hovered = hit2;
      this.explained = null;
      if (hit2 !== null) {
        const turn = this.turn;
        this.timers.push(setTimeout(() => void this.explain(hit2).then((said) => {
          if (turn !== this.turn || said === null) return;
          this.explained = said;
          this.fill(hit2);
          this.put(x, y, frame);
        }), REST));
        this.timers.push(setTimeout(() => this.announce(this.spoken(hit2)), SPEAK));
        this.fill(hit2);
      }
    }
    show(this.tip, hit2 !== null);
    if (hit2 !== null) this.put(x, y, frame);
  }
  put(x, y, frame) {
    const { tip } = this;
    const width = tip.offsetWidth;
    const height = tip.offsetHeight;
    const left = x + 16 + width > frame.clientWidth ? Math.max(0, x - width - 12) : x + 16;
    const top = y + 18 + height > frame.clientHeight ? Math.max(0, y - height - 12) : y + 18;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
  fill(hit2) {
    const { scene } = this.look;
    const said = this.explained;
    const { rank, lane } = where(scene, hit2.lane, said);
    const kind = scene.kinds[hit2.kind] ?? "other";
    const name = said?.name ?? this.names.get(hit2.name) ?? "";
    const facts = [];
    if (hit2.count > 1) {
      facts.push(["pieces", `${decimals(hit2.count, 0)}, ${decimals(100 * hit2.share, 0)} % busy`]);
    }
    facts.push(["start", moment(said?.start_ns ?? hit2.start)]);
    facts.push([hit2.count > 1 ? "over" : "duration", duration(said?.duration_ns ?? hit2.finish - hit2.start)]);
    for (const pair of said?.more ?? []) facts.push([pair[0], pair[1]]);
    for (const [one, times, ns] of said?.names ?? []) facts.push([`${times} ×`, `${one} · ${duration(ns)}`]);
    this.tip.replaceChildren(
      html("strong", {}, hit2.count > 1 ? `mostly ${kind}, longest: ${name}` : name),
      html("div", { class: "tv-tip-where" }, swatch(kind), `${kind} · ${rank} · ${lane}`),
      html("dl", { class: "tv-facts" }, ...facts.flatMap(([word, value]) => [html("dt", {}, word), html("dd", {}, value)]))
    );
  }
  spoken(hit2) {
    const { scene } = this.look;
    const { rank, lane } = where(scene, hit2.lane, this.explained);
    const name = this.explained?.name ?? this.names.get(hit2.name) ?? "";
    const what = hit2.count > 1 ? `${count(hit2.count, "piece")}, longest ${name}` : name;
    return `${what}, ${scene.kinds[hit2.kind] ?? ""}, ${rank}, ${lane}, at ${duration(hit2.start)}, ${duration(hit2.finish - hit2.start)}`;
  }
  async explain(what) {
    if (what.lane === null) return null;
    try {
      const { content } = await this.wire.ask("explain", {
        lane: what.lane,
        start: Math.floor(what.start),
        finish: Math.ceil(what.finish)
      });
      return this.signal.aborted ? null : content;
    } catch {
      return null;
    }
  }
  // Below the lanes
  /** Show what is chosen; `speak` also says it aloud. */
  choose(chosen, speak = false) {
    const turn = ++this.chosenTurn;
    this.write(chosen, null);
    if (chosen === null) return;
    if (speak) this.announceSoon(this.sentence(chosen, null));
    if (chosen.lane !== null) {
      void this.explain(chosen).then((said) => {
        if (turn === this.chosenTurn && said !== null) this.write(chosen, said);
      });
    }
  }
  sentence(chosen, said) {
    const { scene } = this.look;
    if (chosen.lane === null) return `measured ${duration(chosen.finish - chosen.start)} from ${moment(chosen.start)}`;
    const { rank, lane } = where(scene, chosen.lane, said);
    const kind = chosen.kind === null ? "" : `${scene.kinds[chosen.kind] ?? ""}, `;
    return `${chosen.name}, ${kind}${rank}, ${lane}, at ${moment(chosen.start)}, ${duration(chosen.finish - chosen.start)}`;
  }
  write(chosen, said) {
    if (chosen === null) {
      this.line.replaceChildren(html(
        "span",
        { class: "sv-dim" },
        "Click a piece · drag to move · Ctrl + wheel or W S to zoom · Shift + drag to measure · / to search · ? for keys"
      ));
      return;
    }
    const { scene } = this.look;
    const parts = [];
    const fact = (word, value) => {
      parts.push(html("span", { class: "tv-fact" }, html("span", { class: "sv-dim" }, word), ` ${value}`));
    };
    if (chosen.lane === null) {
      parts.push(html("strong", { class: "tv-chosen" }, duration(chosen.finish - chosen.start)));
      fact("from", moment(chosen.start));
      fact("to", moment(chosen.finish));
    } else {
      const kind = scene.kinds[chosen.kind ?? -1] ?? said?.kind ?? "";
      const { rank, lane } = where(scene, chosen.lane, said);
      const name = said?.name ?? chosen.name;
      parts.push(html("strong", { class: "tv-chosen", title: name }, swatch(kind), chosen.count > 1 ? `${count(chosen.count, "piece")}, longest: ${name}` : name));
      parts.push(html("span", { class: "tv-fact" }, `${kind} · ${rank} · ${lane}`));
      fact("start", moment(said?.start_ns ?? chosen.start));
      fact("duration", duration(said?.duration_ns ?? chosen.finish - chosen.start));
      for (const [word, value] of said?.more ?? []) fact(word, value);
      for (const [name2, times, ns] of said?.names ?? []) fact(`${times} ×`, `${name2} ${duration(ns)}`);
    }
    const zoom = html("button", { type: "button", class: "tv-small", "data-role": "zoom-to" }, "zoom to it");
    const clear = html("button", { type: "button", class: "sv-x", "aria-label": "let go of it", "data-role": "clear" }, "×");
    zoom.addEventListener("click", () => this.actions.zoom());
    clear.addEventListener("click", () => this.actions.clear());
    this.line.replaceChildren(...parts, zoom, clear);
    attr(this.line, "tabindex", this.line.scrollHeight > this.line.clientHeight ? 0 : null);
  }
};
function swatch(kind) {
  return html("i", { class: "tv-swatch", style: `background:var(${variableOf(kind)})` });
}
function where(scene, lane, said = null) {
  const told = said?.rank === null ? "all its ranks" : said?.rank === void 0 ? null : `rank ${said.rank}`;
  if (lane === PATH) return { rank: told ?? "", lane: said?.lane ?? "critical path" };
  for (const rank of scene.ranks) {
    if (rank.summary === lane) return { rank: `rank ${rank.rank}`, lane: "summary" };
    const track = rank.tracks.find((one) => holds(one, lane));
    if (track) return { rank: `rank ${rank.rank}`, lane: track.name };
  }
  return { rank: told ?? "", lane: said?.lane ?? "" };
}
function holds(track, lane) {
  return lane === track.flat || lane >= track.first && lane < track.first + track.rows;
}

// viewer/feed.ts
var PAUSE = 1e3;
var Feed = class {
  constructor(wire, names, limits, changed, signal) {
    this.wire = wire;
    this.names = names;
    this.limits = limits;
    this.changed = changed;
    this.signal = signal;
  }
  wire;
  names;
  limits;
  changed;
  signal;
  layers = new Layers();
  busy = false;
  failed = "";
  /** Whether an answer is under way. */
  get waiting() {
    return this.busy;
  }
  /** See to it that what is seen is there, or comes. `look` says what is seen when asked again. */
  want(look) {
    if (this.busy || this.signal.aborted) return;
    const seen2 = look();
    if (seen2 === null) return;
    const wanted = this.layers.missing(seen2.wanted, seen2.around, this.limits);
    if (wanted === null) return;
    const key = JSON.stringify(wanted);
    if (key === this.failed) return;
    this.busy = true;
    void this.wire.ask("blocks", { ...wanted }).then(({ content, buffers }) => {
      for (const [code, name] of Object.entries(content.names ?? {})) {
        this.names.set(Number(code), name);
      }
      const layer = readLayer(wanted, content, buffers);
      this.layers.add(layer, this.limits);
      this.busy = false;
      if (!this.signal.aborted) this.changed(layer);
      this.want(look);
    }).catch((error) => {
      if (this.signal.aborted) return;
      console.warn("stepviz: no answer to a question about lanes:", error);
      this.failed = key;
      setTimeout(() => {
        this.busy = false;
        this.want(look);
      }, PAUSE);
    });
  }
};

// viewer/gestures.ts
var CLICK = 4;
var Gestures = class {
  constructor(surface, look, on, signal) {
    this.surface = surface;
    this.look = look;
    this.on = on;
    const options = { signal };
    surface.addEventListener("pointerdown", (event) => this.down(event), options);
    surface.addEventListener("pointermove", (event) => this.move(event), options);
    surface.addEventListener("pointerup", (event) => this.up(event), options);
    surface.addEventListener("pointercancel", (event) => this.cancel(event), options);
    surface.addEventListener("pointerleave", () => {
      if (this.drag === null) this.on.hovered(null, 0);
    }, options);
    surface.addEventListener("dblclick", (event) => this.on.doubled(this.x(event), this.y(event)), options);
    surface.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
  }
  surface;
  look;
  on;
  drag = null;
  fingers = /* @__PURE__ */ new Map();
  pinch = null;
  get holds() {
    return this.drag !== null || this.pinch !== null;
  }
  /** Leave a gesture as Escape does; says whether there was one. */
  leave() {
    if (this.drag === null) return false;
    const { drag } = this;
    this.drag = null;
    if (drag.measure) this.on.measuring(null);
    else this.on.moved(drag.range);
    return true;
  }
  x(event) {
    return event.clientX - this.surface.getBoundingClientRect().left;
  }
  y(event) {
    return event.clientY - this.surface.getBoundingClientRect().top;
  }
  down(event) {
    if (event.button !== 0) return;
    this.fingers.set(event.pointerId, event.clientX);
    if (this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()];
      this.pinch = {
        distance: Math.max(8, Math.abs(a - b)),
        range: this.look.range,
        middle: (a + b) / 2 - this.surface.getBoundingClientRect().left
      };
      this.drag = null;
      return;
    }
    try {
      this.surface.setPointerCapture(event.pointerId);
    } catch {
    }
    this.drag = { x: this.x(event), y: this.y(event), range: this.look.range, measure: event.shiftKey, moved: false };
  }
  move(event) {
    const x = this.x(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, event.clientX);
    if (this.pinch !== null && this.fingers.size === 2) {
      const [a, b] = [...this.fingers.values()];
      const { distance, middle, range } = this.pinch;
      const time = range.start + middle / this.look.width * (range.finish - range.start);
      this.on.moved(zoomed(range, time, Math.max(8, Math.abs(a - b)) / distance, this.look.limits));
      return;
    }
    const { drag } = this;
    if (drag === null) {
      this.on.hovered(x, this.y(event));
      return;
    }
    if (!drag.moved && Math.abs(x - drag.x) < CLICK) return;
    if (!drag.moved) this.on.hovered(null, 0);
    drag.moved = true;
    const perPixel = (drag.range.finish - drag.range.start) / this.look.width;
    if (drag.measure) this.on.measuring(this.band(drag, x));
    else this.on.moved(panned(drag.range, -(x - drag.x) * perPixel, this.look.limits));
  }
  band(drag, x) {
    const [a, b] = [this.look.time(drag.x), this.look.time(x)];
    return { start: Math.min(a, b), finish: Math.max(a, b) };
  }
  up(event) {
    this.fingers.delete(event.pointerId);
    if (this.fingers.size < 2) this.pinch = null;
    const { drag } = this;
    this.drag = null;
    if (drag === null) return;
    const x = this.x(event);
    if (!drag.moved) this.on.clicked(drag.x, drag.y);
    else if (drag.measure) this.on.measured(this.band(drag, x));
  }
  cancel(event) {
    this.fingers.delete(event.pointerId);
    this.pinch = null;
    this.leave();
  }
  wheel(event) {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY * unit)) / 260);
      this.on.moved(zoomed(this.look.range, this.look.time(this.x(event)), factor, this.look.limits));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      const by = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
      this.on.moved(panned(this.look.range, by * this.look.pixel, this.look.limits));
    }
  }
};

// view/scale.ts
function niceStep(least) {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

// viewer/path.ts
var OUTLINED = 5;
var STAY = 6;
function rowOf(look, lane, rank) {
  const { rows, of } = look.rows;
  if (lane !== NOWHERE) {
    const at = of.get(lane);
    if (at !== void 0) return rows[at] ?? null;
  }
  const found = look.scene.ranks.find((one) => one.rank === rank);
  return found === void 0 ? null : rows[of.get(found.summary) ?? -1] ?? null;
}
function railOf(look, row) {
  if (row.track === null || row.folded) return row;
  return look.rows.rows[look.rows.of.get(row.track.first) ?? -1] ?? row;
}
function stays(look, layer, least = STAY) {
  const [low, high] = layer.span(PATH);
  const found = [];
  let row = null;
  let rank = NaN;
  for (let k = Math.max(low, layer.firstFrom(PATH, look.range.start) - 1); k < high; k++) {
    const from = look.x(layer.start(k));
    if (from > look.width) break;
    const lane = besideLane(layer.at[k - low]);
    const shown = layer.shown[k - low];
    if (lane !== NOWHERE || row === null || shown !== rank) row = rowOf(look, lane, shown);
    rank = shown;
    if (row === null) continue;
    const rail = railOf(look, row);
    const last = found.at(-1);
    const to = look.x(layer.finish(k));
    if (last !== void 0 && last.rail === rail) last.to = to;
    else if (last !== void 0 && last.to - last.from < least && found.length > 1) {
      found.pop();
      const before = found.at(-1);
      before.to = from;
      if (before.rail === rail) before.to = to;
      else found.push({ from, to, rail });
    } else found.push({ from, to, rail });
  }
  return found;
}
function pathRuns(look, layer, least = STAY) {
  const [low, high] = layer.span(PATH);
  const found = [];
  for (let k = layer.firstFrom(PATH, look.range.start); k < high; k++) {
    const from = look.x(layer.start(k));
    if (from > look.width) break;
    const to = look.x(layer.finish(k));
    const kind = layer.kinds[k];
    const rank = layer.shown[k - low];
    let last = found.at(-1);
    if (last !== void 0 && (last.kind !== kind || last.rank !== rank) && last.to - last.from < least) {
      found.pop();
      last = found.at(-1);
    }
    if (last !== void 0 && last.kind === kind && last.rank === rank && from - last.to < least) last.to = to;
    else found.push({ from, to, kind, rank });
  }
  return found;
}
function drawPath(context, look, drawn, head) {
  const layer = drawn.layers.main(PATH, look.range, look.pixel);
  if (layer === null) return;
  const { palette } = drawn;
  const line2 = new Path2D();
  const top = (row) => head + row.y - look.scroll;
  stays(look, layer).forEach(({ from, to, rail }, k) => {
    const y = top(rail) - 1;
    if (k === 0) line2.moveTo(from, y);
    else line2.lineTo(from, y);
    line2.lineTo(Math.min(to, look.width + 10), y);
  });
  const [low, high] = layer.span(PATH);
  const boxes = new Path2D();
  for (let k = layer.firstFrom(PATH, look.range.start); k < high; k++) {
    const a = Math.max(-4, look.x(layer.start(k)));
    const b = Math.min(look.width + 4, look.x(layer.finish(k)));
    if (a > look.width) break;
    const lane = layer.at[k - low];
    if (b - a < OUTLINED || lane < 0) continue;
    const row = rowOf(look, lane, NaN);
    if (row === null || row.track === null) continue;
    boxes.rect(a + 0.5, top(row) + 1.5, b - a - 1.5, row.height - 3);
  }
  context.lineJoin = "round";
  context.strokeStyle = palette.background;
  context.lineWidth = 5;
  context.globalAlpha = 0.7;
  context.stroke(line2);
  context.globalAlpha = 1;
  context.strokeStyle = palette.ink;
  context.lineWidth = 2.2;
  context.stroke(line2);
  context.lineWidth = 1.8;
  context.stroke(boxes);
}

// viewer/marks.ts
function drawMarks(context, look, drawn, head) {
  const { palette } = drawn;
  const { hovered, chosen, band } = look;
  const marked = hovered ?? (chosen?.lane == null ? null : { ...chosen, lane: chosen.lane });
  if (marked !== null) together(context, look, drawn, head, marked);
  if (hovered !== null) outline(context, look, head, hovered, palette.ink, 1.5);
  if (chosen !== null && chosen.lane !== null) outline(context, look, head, { ...chosen, lane: chosen.lane }, palette.accent, 3);
  const range = band ?? (chosen?.lane === null ? chosen : null);
  if (range !== null) measured(context, look, drawn, head, range);
}
function rowFor(look, lane) {
  return lane === PATH ? null : rowOf(look, lane, NaN);
}
function outline(context, look, head, piece, colour, width) {
  const row = rowFor(look, piece.lane);
  if (row === null) return;
  const a = Math.max(-6, look.x(piece.start));
  const b = Math.min(look.width + 6, Math.max(look.x(piece.finish), a + 2));
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(a - 0.5, head + row.y - look.scroll + 0.5, b - a + 1, row.height - 1);
}
function together(context, look, drawn, head, piece) {
  const of = look.rows.of.get(piece.lane);
  const own = of === void 0 ? null : look.rows.rows[of] ?? null;
  if (own?.track?.role !== "exchange" || piece.lane === PATH) return;
  const name = drawn.layers.at(piece.lane, (piece.start + piece.finish) / 2);
  if (name === null) return;
  const code = nameAt(name, piece);
  if (code === null) return;
  const moves = look.scene.kinds.indexOf("exchange");
  let began = -Infinity;
  const boxes = [];
  for (const row of look.rows.rows) {
    if (row.track?.role !== "exchange") continue;
    const layer = drawn.layers.at(row.lane, (piece.start + piece.finish) / 2);
    if (layer === null) continue;
    const [, high] = layer.span(row.lane);
    for (let k = layer.firstFrom(row.lane, look.range.start); k < high && layer.start(k) <= look.range.finish; k++) {
      if (layer.names[k] !== code) continue;
      boxes.push([{ lane: row.lane, start: layer.start(k), finish: layer.finish(k) }, row]);
      if (layer.kinds[k] === moves) began = Math.max(began, layer.start(k));
    }
  }
  if (boxes.length < 2) return;
  for (const [box2] of boxes) outline(context, look, head, box2, drawn.palette.accent, 1.5);
  if (!Number.isFinite(began)) return;
  const x = Math.round(look.x(began)) + 0.5;
  const ys = boxes.map(([, row]) => head + row.y - look.scroll);
  context.strokeStyle = drawn.palette.accent;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x, Math.min(...ys));
  context.lineTo(x, Math.max(...ys) + 18);
  context.stroke();
  context.setLineDash([]);
}
function nameAt(layer, piece) {
  const [, high] = layer.span(piece.lane);
  for (let k = layer.firstFrom(piece.lane, piece.start); k < high && layer.start(k) <= piece.finish; k++) {
    if (Math.abs(layer.start(k) - piece.start) < 2) return layer.names[k];
  }
  return null;
}
function measured(context, look, drawn, head, range) {
  const { palette } = drawn;
  const a = look.x(range.start);
  const b = look.x(range.finish);
  context.globalAlpha = 0.14;
  context.fillStyle = palette.accent;
  context.fillRect(a, head, b - a, look.height - head);
  context.globalAlpha = 1;
  context.fillRect(Math.round(a), head, 1, look.height - head);
  context.fillRect(Math.round(b), head, 1, look.height - head);
  const text2 = duration(range.finish - range.start);
  context.font = `600 12px ${palette.family}`;
  const width = context.measureText(text2).width + 14;
  const x = Math.max(2, Math.min(look.width - width - 2, (a + b) / 2 - width / 2));
  context.fillStyle = palette.ink;
  context.fillRect(x, head + 6, width, 20);
  context.fillStyle = palette.background;
  context.textBaseline = "middle";
  context.fillText(text2, x + 7, head + 16.5);
}

// viewer/rows.ts
var RANK = 20;
var DEVICE = 18;
var HOST = 14;
var FOLDED = 16;
var FINGER = 28;
var GAP = { track: 3, rank: 9 };
var MUCH = 540;
function layout(scene, folds, coarse = false) {
  const rows = [];
  const of = /* @__PURE__ */ new Map();
  let y = 4;
  const add = (lane, height, place, track, head, folded) => {
    of.set(lane, rows.length);
    rows.push({ lane, y, height, place, track, head, folded });
    y += height;
  };
  scene.ranks.forEach((rank, place) => {
    const closed = folds.ranks.has(place);
    add(rank.summary, coarse ? FINGER : RANK, place, null, true, closed);
    const own = rows.length - 1;
    for (const track of rank.tracks) {
      if (closed) {
        for (let k = 0; k < track.rows; k++) of.set(track.first + k, own);
        of.set(track.flat, own);
        continue;
      }
      y += GAP.track;
      const single = track.rows > 1 && folds.tracks.has(track.flat);
      const tall = track.role === "host" ? HOST : DEVICE;
      if (single) {
        add(track.flat, coarse ? FINGER : FOLDED, place, track, true, true);
        for (let k = 0; k < track.rows; k++) of.set(track.first + k, rows.length - 1);
      } else {
        for (let k = 0; k < track.rows; k++) add(track.first + k, track.rows === 1 ? Math.max(tall, FOLDED) : tall, place, track, k === 0, false);
        if (!of.has(track.flat)) of.set(track.flat, rows.length - track.rows);
      }
    }
    y += GAP.rank;
  });
  return { rows, height: y, of };
}
function firstFolds(scene) {
  const none = /* @__PURE__ */ new Set();
  if (layout(scene, { ranks: none, tracks: none }).height <= MUCH) return { ranks: none, tracks: none };
  const tracks = new Set(scene.ranks.flatMap((rank) => foldable(rank).map((track) => track.flat)));
  const all = new Set(scene.ranks.keys());
  let folds = { ranks: all, tracks };
  const order = [.../* @__PURE__ */ new Set([...scene.path.ranks, ...scene.ranks.map((rank) => rank.rank)])];
  for (const number of order) {
    const place = scene.ranks.findIndex((rank) => rank.rank === number);
    const next = toggled(folds, "ranks", place, false);
    if (folds.ranks.size < all.size && layout(scene, next).height > MUCH) break;
    folds = next;
  }
  return folds;
}
function foldable(rank) {
  return rank.tracks.filter((track) => track.rows > 1);
}
function toggled(folds, what, key, closed) {
  const next = new Set(folds[what]);
  if (closed ?? !next.has(key)) next.add(key);
  else next.delete(key);
  return { ...folds, [what]: next };
}
function rowFrom(rows, y) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = low + high >> 1;
    const row = rows[middle];
    if (row.y + row.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}
function rowsBetween(rows, top, bottom) {
  const first = rowFrom(rows, top);
  let last = first;
  while (last < rows.length && rows[last].y < bottom) last++;
  return [first, last];
}
function rowAt(rows, y) {
  const row = rows[rowFrom(rows, y)];
  return row !== void 0 && row.y <= y ? row : null;
}

// viewer/stage.ts
var AXIS = 24;
var PATH_ROW = 20;
var headOf = (look) => AXIS + (look.scene.path.pieces > 0 ? PATH_ROW + 6 : 2);
var LABEL = 34;
var PARTED = 4;
var NO_WORK = /* @__PURE__ */ new Set(["wait", "idle", "before the step", "unexplained"]);
var Stage = class {
  canvas = html("canvas", { class: "tv-canvas", "aria-hidden": "true" });
  context;
  lines = document.createElement("canvas");
  lineContext;
  image = null;
  pixels = new Uint32Array(0);
  fitters = /* @__PURE__ */ new Map();
  ratio = 1;
  /** How many lanes were painted: thin ones follow the others. */
  painted = 0;
  constructor() {
    const one = this.canvas.getContext("2d");
    const other = this.lines.getContext("2d");
    if (one === null || other === null) throw new Error("this browser draws no canvas");
    this.context = one;
    this.lineContext = other;
  }
  resize(width, height) {
    this.ratio = Math.min(3, Math.max(1, globalThis.devicePixelRatio || 1));
    const [w, h] = [Math.max(1, Math.round(width * this.ratio)), Math.max(1, Math.round(height * this.ratio))];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }
  draw(look, drawn) {
    const { context } = this;
    const { palette } = drawn;
    const head = headOf(look);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = palette.background;
    context.fillRect(0, 0, look.width, look.height);
    const [first, last] = rowsBetween(look.rows.rows, look.scroll, look.scroll + look.height - head);
    const rows = look.rows.rows.slice(first, last);
    const top = (row) => head + row.y - look.scroll;
    context.save();
    context.beginPath();
    context.rect(0, head, look.width, look.height - head);
    context.clip();
    for (const row of rows) {
      if (row.track !== null) continue;
      context.fillStyle = palette.row;
      context.fillRect(0, top(row), look.width, row.height);
    }
    this.grid(look, palette, head);
    const places = this.paint(look, drawn, [PATH, ...rows.map((row) => row.lane)]);
    rows.forEach((row, k) => this.stretch(k + 1, look, top(row) + 1, row.height - (row.track === null ? 4 : 2)));
    this.shade(look, palette, rows, top);
    if (look.path) drawPath(context, look, drawn, head);
    rows.forEach((row, k) => {
      const size = row.track === null ? 11 : row.height >= 18 ? 11 : 10;
      this.words(places[k + 1], row.lane, top(row) + 1, row.height - 2, size, look, drawn);
    });
    drawMarks(context, look, drawn, head);
    context.restore();
    this.axis(look, palette, head);
    if (look.scene.path.pieces > 0) {
      this.stretch(0, look, AXIS + 1, PATH_ROW - 2);
      this.words(places[0], PATH, AXIS + 1, PATH_ROW - 2, 11, look, drawn);
      this.runs(places[0], AXIS + 1, PATH_ROW - 2, look, drawn);
    }
  }
  /** Paint each lane as lines of pixels; returns where there is room for words. */
  paint(look, drawn, lanes) {
    const width = this.canvas.width;
    if (this.image === null || this.image.width !== width || this.image.height < 2 * lanes.length) {
      this.image = new ImageData(width, Math.max(2 * lanes.length, 96));
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.lines.width = width;
      this.lines.height = this.image.height;
    }
    const { kinds } = look.scene;
    const brush = {
      pixels: this.pixels,
      lines: lanes.length,
      width,
      range: look.range,
      inks: drawn.palette.inks,
      hidden: Uint8Array.from(kinds, (_, kind) => Number(look.hidden.has(kind))),
      thin: Uint8Array.from(kinds, (kind) => Number(NO_WORK.has(kind))),
      searching: look.search.text !== "" && look.search.count !== 0,
      noted: LABEL * this.ratio,
      parted: PARTED * this.ratio
    };
    this.pixels.fill(0, 0, 2 * lanes.length * width);
    const all = lanes.map((lane, line2) => {
      const main = drawn.layers.main(lane, look.range, look.pixel);
      const places = [];
      for (const layer of drawn.layers.of(lane, look.range, look.pixel)) {
        paintLane(brush, line2, layer, lane, layer === main ? places : null);
      }
      if (main !== null) this.layerOf.set(lane, main);
      return places;
    });
    this.painted = lanes.length;
    this.lineContext.putImageData(this.image, 0, 0, 0, 0, width, 2 * lanes.length);
    return all;
  }
  /** The layer that each lane's words come from. */
  layerOf = /* @__PURE__ */ new Map();
  stretch(line2, look, y, height) {
    const { context, lines } = this;
    const top = Math.round(y);
    const tall = Math.max(2, Math.round(height));
    const low = Math.max(2, Math.round(tall * 0.55));
    context.imageSmoothingEnabled = false;
    context.drawImage(lines, 0, this.painted + line2, lines.width, 1, 0, top + Math.round((tall - low) / 2), look.width, low);
    context.drawImage(lines, 0, line2, lines.width, 1, 0, top, look.width, tall);
  }
  words(places, lane, y, height, size, look, drawn) {
    const layer = this.layerOf.get(lane);
    if (layer === void 0 || places.length === 0) return;
    const { context } = this;
    const { palette, names } = drawn;
    const font = `500 ${size}px ${palette.family}`;
    const fitter = this.fitter(font);
    context.font = font;
    context.textBaseline = "middle";
    const dimmed = look.search.text !== "" && look.search.count !== 0;
    const [low] = lane === PATH ? layer.span(PATH) : [0];
    for (let k = 0; k < places.length; k += 3) {
      const from = places[k] / this.ratio;
      const to = places[k + 1] / this.ratio;
      const block = places[k + 2];
      const several = layer.counts[block];
      let name = names.get(layer.names[block]) ?? "";
      if (several > 1) name = `${several} × ${name}`;
      if (lane === PATH) name = `r${layer.shown[block - low]} · ${name}`;
      const written2 = fitter.fit(name, to - from - 8);
      if (written2 === "") continue;
      const kind = layer.kinds[block];
      context.fillStyle = dimmed && (layer.flags[block] & FOUND) === 0 ? palette.dim : NO_WORK.has(look.scene.kinds[kind] ?? "") ? palette.foreground : palette.labels[kind];
      context.fillText(written2, from + 4, y + height / 2 + 0.5);
    }
  }
  /** Say on the path's row what goes on for long, where no single piece is wide enough for words. */
  runs(places, y, height, look, drawn) {
    const layer = this.layerOf.get(PATH);
    if (layer === void 0 || look.search.text !== "") return;
    const { context } = this;
    const font = `500 11px ${drawn.palette.family}`;
    for (const { from, to, kind, rank } of pathRuns(look, layer)) {
      const [a, b] = [Math.max(0, from), Math.min(look.width, to)];
      const taken = places.some((_, k) => k % 3 === 0 && places[k] / this.ratio < b && places[k + 1] / this.ratio > a);
      const name = look.scene.kinds[kind] ?? "";
      const written2 = taken ? "" : this.fitter(font).fit(`r${rank} · ${name}`, b - a - 12);
      if (written2 === "") continue;
      context.font = font;
      const width = context.measureText(written2).width;
      context.fillStyle = drawn.palette.fills[kind];
      context.fillRect(a + 2, y, width + 8, height);
      context.fillStyle = drawn.palette.labels[kind];
      context.fillText(written2, a + 6, y + height / 2 + 0.5);
    }
  }
  fitter(font) {
    let found = this.fitters.get(font);
    if (found === void 0) {
      found = new Fitter((letter) => {
        this.context.font = font;
        return this.context.measureText(letter).width;
      });
      this.fitters.set(font, found);
    }
    return found;
  }
  /** Fade what lies outside each rank's own step, and draw where that begins and ends. */
  shade(look, palette, rows, top) {
    const { context } = this;
    let k = 0;
    while (k < rows.length) {
      const { place } = rows[k];
      let last = k;
      while (last + 1 < rows.length && rows[last + 1].place === place) last++;
      const rank = look.scene.ranks[place];
      if (rank !== void 0) {
        const y = top(rows[k]);
        const bottom = top(rows[last]) + rows[last].height;
        const from = Math.max(0, Math.min(look.width, look.x(rank.start)));
        const to = Math.max(0, Math.min(look.width, look.x(rank.finish)));
        context.globalAlpha = 0.62;
        context.fillStyle = palette.background;
        context.fillRect(0, y, from, bottom - y);
        context.fillRect(to, y, look.width - to, bottom - y);
        context.globalAlpha = 1;
        context.fillStyle = palette.strongLine;
        if (from > 0 && from < look.width) context.fillRect(Math.round(from) - 1, y, 1, bottom - y);
        if (to > 0 && to < look.width) context.fillRect(Math.round(to), y, 1, bottom - y);
      }
      k = last + 1;
    }
  }
  ticks(look) {
    const step = niceStep(look.pixel * 96);
    const times = [];
    for (let k = Math.ceil(look.range.start / step); k * step <= look.range.finish && times.length < 200; k++) {
      times.push(k * step);
    }
    return { step, times };
  }
  grid(look, palette, head) {
    const { context } = this;
    context.fillStyle = palette.line;
    for (const time of this.ticks(look).times) {
      context.fillRect(Math.round(look.x(time)), head, 1, look.height - head);
    }
  }
  axis(look, palette, head) {
    const { context } = this;
    const { scene } = look;
    context.font = `11px ${palette.family}`;
    context.textBaseline = "middle";
    const { step, times } = this.ticks(look);
    const digits = Math.max(0, Math.ceil(-Math.log10(step / 1e6) - 1e-9));
    context.fillStyle = palette.dim;
    for (const time of times) {
      const x = look.x(time);
      const shown = decimals(Math.abs(time) / 1e6, digits);
      const text2 = `${time < 0 && shown !== "0" ? "−" : ""}${shown}${time === 0 ? " ms" : ""}`;
      if (x + context.measureText(text2).width + 4 > look.width) continue;
      context.fillText(text2, x + 4, 15);
      context.fillRect(Math.round(x), 9, 1, AXIS - 9);
    }
    const whole = look.limits.finish - look.limits.start;
    context.fillStyle = palette.line;
    context.fillRect(0, 1, look.width, 3);
    context.fillStyle = palette.accent;
    const size = Math.max(6, (look.range.finish - look.range.start) / whole * look.width);
    const at = (look.range.start - look.limits.start) / whole * look.width;
    context.fillRect(Math.min(at, look.width - size), 1, size, 3);
    const end = Math.round(look.x(scene.span));
    context.fillStyle = palette.ink;
    if (end >= 0 && end <= look.width) context.fillRect(end, AXIS - 12, 2, look.height - AXIS + 12);
    context.fillStyle = palette.strongLine;
    context.fillRect(0, head - 1, look.width, 1);
  }
};

// viewer/gutter.ts
var Gutter = class {
  constructor(look, folded) {
    this.look = look;
    this.folded = folded;
    this.element.addEventListener("keydown", (event) => this.walk(event));
  }
  look;
  folded;
  element = html("div", { class: "tv-names", role: "group", "aria-label": "ranks and lanes" });
  /** By rank and track: one name, whether folded or not. */
  shown = /* @__PURE__ */ new Map();
  update() {
    const { look } = this;
    const head = headOf(look);
    attr(this.element, "style", `top:${head}px;height:${look.rows.height}px`);
    const [first, last] = rowsBetween(look.rows.rows, look.scroll - 200, look.scroll + look.height + 200);
    const wanted = /* @__PURE__ */ new Set();
    for (let k = first; k < last; k++) {
      const row = look.rows.rows[k];
      if (!row.head) continue;
      wanted.add(keyOf(row));
      this.place(row);
    }
    for (const [key, element] of this.shown) {
      if (wanted.has(key) || element.contains(active(element))) continue;
      element.remove();
      this.shown.delete(key);
    }
    this.rove();
  }
  place(row) {
    let element = this.shown.get(keyOf(row));
    if (element === void 0) {
      element = this.make(row);
      this.shown.set(keyOf(row), element);
      this.element.append(element);
    }
    attr(element, "data-lane", row.lane);
    const least = row.track !== null && row.track.rows > 1 && !row.folded ? 24 : 16;
    attr(element, "style", `top:${row.y}px;height:${Math.max(row.height, least)}px`);
    if (element.matches("button")) attr(element, "aria-expanded", String(!row.folded));
  }
  make(row) {
    const rank = this.look.scene.ranks[row.place];
    const { track } = row;
    const name = track === null ? `rank ${rank?.rank ?? "?"}` : track.name;
    const can = track === null ? (rank?.tracks.length ?? 0) > 0 : rank !== void 0 && foldable(rank).includes(track);
    const label = html("span", { class: "tv-name-text" }, name);
    if (!can) {
      return html("div", { class: "tv-name", title: track?.title ?? "" }, label);
    }
    const element = html("button", {
      type: "button",
      class: track === null ? "tv-name tv-rank" : "tv-name",
      title: track?.title ?? name,
      "data-role": track === null ? "rank" : "track",
      tabindex: -1
    }, html("span", { class: "tv-fold", "aria-hidden": "true" }), label);
    if (track !== null && track.rows > 1) label.append(html("span", { class: "tv-count" }, ` ${track.rows}`));
    element.addEventListener("click", () => {
      const { look } = this;
      look.fold(track === null ? toggled(look.folds, "ranks", row.place) : toggled(look.folds, "tracks", track.flat));
      this.folded();
      this.update();
    });
    return element;
  }
  buttons() {
    return [...this.element.querySelectorAll("button")].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
  }
  /** One stop for Tab; up and down go on from there, left folds and right unfolds. */
  walk(event) {
    const all = this.buttons();
    const at = all.indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = all[at]?.getAttribute("aria-expanded") === "true";
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = all[at + (event.key === "ArrowDown" ? 1 : -1)];
      next?.focus();
      next?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "ArrowLeft" && open || event.key === "ArrowRight" && !open) {
      all[at]?.click();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  rove() {
    const all = this.buttons();
    const held = active(this.element);
    const stop = all.find((one) => one === held) ?? all[0];
    for (const one of all) attr(one, "tabindex", one === stop ? 0 : -1);
  }
};
var Corner = class {
  constructor(look) {
    this.look = look;
    if (look.scene.path.pieces > 0) this.element.append(html("span", { class: "tv-corner-path" }, "critical path"));
  }
  look;
  rank = html("span", { class: "tv-corner-rank" });
  element = html("div", { class: "tv-corner" }, this.rank);
  update() {
    const { look } = this;
    this.element.style.height = `${headOf(look)}px`;
    const [first] = rowsBetween(look.rows.rows, look.scroll + 4, look.scroll + 5);
    const row = look.rows.rows[first];
    text(this.rank, row === void 0 || row.track === null ? "" : `rank ${look.scene.ranks[row.place]?.rank ?? "?"}`);
  }
};
var keyOf = (row) => `${row.place} ${row.track?.flat ?? ""}`;

// viewer/hit.ts
function blockOf(layer, lane, block) {
  return {
    lane,
    start: layer.start(block),
    finish: layer.finish(block),
    kind: layer.kinds[block],
    name: layer.names[block],
    count: layer.counts[block],
    share: layer.shares[block] / 255
  };
}
function hit(layers, lane, time, reach) {
  const layer = layers.at(lane, time);
  if (layer === null) return null;
  const [low, high] = layer.span(lane);
  let best = null;
  let least = reach;
  for (let k = Math.max(low, layer.firstFrom(lane, time - reach)); k < high; k++) {
    const found = blockOf(layer, lane, k);
    if (found.start > time + reach) break;
    const away = Math.max(found.start - time, time - found.finish, 0);
    if (away > least || best !== null && away === least && found.finish - found.start >= best.finish - best.start) continue;
    best = found;
    least = away;
  }
  return best;
}
function neighbour(layers, lane, from, by) {
  const layer = layers.at(lane, (from.start + from.finish) / 2);
  if (layer === null) return null;
  const [low, high] = layer.span(lane);
  let k = Math.max(low, layer.firstFrom(lane, from.start));
  while (k < high && (by > 0 ? layer.start(k) <= from.start : layer.start(k) < from.start)) k++;
  if (by < 0) k--;
  return k >= low && k < high ? blockOf(layer, lane, k) : null;
}

// viewer/keys.ts
function command(event, to) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { key, shiftKey } = event;
  const fast = shiftKey ? 3 : 1;
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "w":
      return () => to.zoom(1.5 ** fast);
    case "s":
      return () => to.zoom(1 / 1.5 ** fast);
    case "+":
    case "=":
      return () => to.zoom(1.5);
    case "-":
    case "_":
    case "−":
      return () => to.zoom(1 / 1.5);
    case "a":
      return () => to.pan(-0.15 * fast);
    case "d":
      return () => to.pan(0.15 * fast);
    case "ArrowLeft":
      return shiftKey ? () => to.along(-1) : () => to.pan(-0.15);
    case "ArrowRight":
      return shiftKey ? () => to.along(1) : () => to.pan(0.15);
    case "ArrowUp":
      return shiftKey ? () => to.updown(-1) : () => to.scroll(-48);
    case "ArrowDown":
      return shiftKey ? () => to.updown(1) : () => to.scroll(48);
    case "PageUp":
      return () => to.scroll(-320);
    case "PageDown":
      return () => to.scroll(320);
    case "Home":
    case "0":
      return () => to.fit();
    case "/":
      return () => to.search();
    case "Escape":
      return () => to.escape();
    case "[":
      return () => to.path(-1);
    case "]":
      return () => to.path(1);
    case "f":
      return () => to.focusChosen();
    case "Enter":
      return () => to.choose();
    case "n":
      return () => to.match(shiftKey ? -1 : 1);
    case "m":
      return () => to.measure();
    case "t":
      return () => to.table();
    case "?":
      return () => to.help();
    default:
      return null;
  }
}
var HELP = [
  ["W S, + −, Ctrl + wheel", "zoom in and out at the pointer"],
  ["A D, ← →, drag", "move through time; Shift A D further"],
  ["↑ ↓, Page ↑ ↓, wheel", "move through the lanes"],
  ["Home, 0", "the whole step"],
  ["Shift + drag", "measure a range; F or double click zooms to it"],
  ["M, and M at another piece", "measure from the one to the other"],
  ["click", "choose a piece; an exchange shows its other ranks"],
  ["Shift + ← →, Shift + ↑ ↓", "the piece beside it, the lane above or below"],
  ["[ ]", "along the critical path"],
  ["F, Enter", "zoom to what is chosen"],
  ["/, then Enter, N, Shift N", "search names; the next match, the one before"],
  ["T", "the critical path and what is in sight as tables"],
  ["Esc", "let go: range, choice, search"],
  ["?", "show and close these keys"]
];

// viewer/legend.ts
var Legend = class {
  constructor(look, on, signal) {
    this.look = look;
    this.on = on;
    const { scene } = look;
    if (scene.path.pieces > 0) {
      this.path = html(
        "button",
        { type: "button", class: "tv-kind", "data-role": "path", title: "draw the critical path over the lanes" },
        html("i", { class: "tv-path-swatch" }),
        "critical path"
      );
      this.path.addEventListener("click", () => {
        look.path = !look.path;
        this.update();
        this.on.path();
      }, { signal });
      this.element.append(this.path);
    }
    for (const kind of scene.present) {
      const name = scene.kinds[kind] ?? "other";
      const element = html("button", {
        type: "button",
        class: "tv-kind",
        "data-kind": name,
        title: `show or hide ${name}; with Shift, only ${name}`
      }, html("i", { class: "tv-swatch", style: `background:var(${variableOf(name)})` }), name);
      element.addEventListener("click", (event) => this.toggle(kind, event.shiftKey), { signal });
      this.buttons.set(kind, element);
      this.element.append(element);
    }
    this.settle = rove(this.element, signal);
    this.update();
  }
  look;
  on;
  element = html("div", { class: "tv-legend", role: "toolbar", "aria-label": "kinds" });
  buttons = /* @__PURE__ */ new Map();
  path = null;
  /** One of its buttons is a stop for Tab, which takes one that is seen. */
  settle;
  toggle(kind, only) {
    const { look } = this;
    const { present } = look.scene;
    const hidden = new Set(look.hidden);
    if (only) {
      const alone = present.every((one) => one === kind !== hidden.has(one));
      hidden.clear();
      if (!alone) {
        for (const one of present) if (one !== kind) hidden.add(one);
      }
    } else if (!hidden.delete(kind)) {
      hidden.add(kind);
    }
    look.hidden = hidden;
    this.update();
    this.on.kinds();
  }
  update() {
    for (const [kind, element] of this.buttons) attr(element, "aria-pressed", String(!this.look.hidden.has(kind)));
    if (this.path) attr(this.path, "aria-pressed", String(this.look.path));
    this.settle();
  }
};

// viewer/motion.ts
var EASE = 55;
var Motion = class {
  constructor(look, paint, signal) {
    this.look = look;
    this.paint = paint;
    signal.addEventListener("abort", () => cancelAnimationFrame(this.frame));
  }
  look;
  paint;
  frame = 0;
  last = 0;
  calm = matchMedia("(prefers-reduced-motion: reduce)");
  /** Draw in the next frame. */
  draw() {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.step(now));
  }
  /** Be there at once: the hand is on it. */
  jump(range) {
    this.look.range = this.look.target = range;
    this.draw();
  }
  /** Glide there, or be there at once for those who want less motion. */
  glide(range) {
    if (this.calm.matches) {
      this.jump(range);
      return;
    }
    if (same(this.look.range, this.look.target)) this.last = 0;
    this.look.target = range;
    this.draw();
  }
  step(now) {
    this.frame = 0;
    const { look } = this;
    if (!same(look.range, look.target)) {
      const passed = this.last === 0 ? 16 : Math.min(64, now - this.last);
      this.last = now;
      look.range = towards(look.range, look.target, 1 - Math.exp(-passed / EASE), look.width);
      if (!same(look.range, look.target)) this.draw();
    }
    this.paint();
  }
};

// viewer/navigation.ts
function navigation(parts) {
  const { look, motion, feed, names, wire, scroller } = parts;
  const { scene, limits } = look;
  function row(lane) {
    const at = look.rows.of.get(lane);
    return at === void 0 ? null : look.rows.rows[at] ?? null;
  }
  function scrollTo(lane) {
    const found = row(lane);
    if (found === null) return;
    const view = look.height - headOf(look);
    if (found.y < look.scroll) scroller.scrollTop = found.y - 30;
    else if (found.y + found.height > look.scroll + view) scroller.scrollTop = found.y + found.height - view + 30;
  }
  function unfold(lane) {
    scene.ranks.forEach((rank, place) => {
      const track = rank.tracks.find((one) => holds(one, lane));
      if (track === void 0) return;
      let { folds } = look;
      if (folds.ranks.has(place)) folds = toggled(folds, "ranks", place, false);
      if (lane !== track.flat && folds.tracks.has(track.flat)) folds = toggled(folds, "tracks", track.flat, false);
      if (folds === look.folds) return;
      look.fold(folds);
      parts.resize();
    });
  }
  function reveal(lane, start, finish) {
    if (lane !== PATH) {
      unfold(lane);
      scrollTo(lane);
    }
    motion.glide(showing(look.target, start, finish, limits));
  }
  function take(found) {
    if (found === null) return;
    parts.choose({ ...found, name: names.get(found.name) ?? "" });
    if (found.lane !== PATH) scrollTo(found.lane);
    motion.glide(showing(look.target, found.start, found.finish, limits, 0));
  }
  function firstSeen() {
    const middle = (look.range.start + look.range.finish) / 2;
    const from = look.rows.rows.filter((one) => one.y >= look.scroll);
    for (const one of from) {
      const found = hit(feed.layers, one.lane, middle, (look.range.finish - look.range.start) / 2);
      if (found !== null) return found;
    }
    return null;
  }
  let mark = null;
  const pointed = () => look.pointer === null ? (look.target.start + look.target.finish) / 2 : look.time(look.pointer);
  return {
    reveal,
    zoom(factor) {
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
        const found = hit(feed.layers, rows[k].lane, middle, look.range.finish - look.range.start);
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
          lane: lane >= 0 ? lane : PATH,
          start: content.start_ns,
          finish,
          count: 1,
          kind: scene.kinds.indexOf(String(content.kind)),
          name: String(content.name)
        });
        reveal(lane >= 0 ? lane : PATH, content.start_ns, finish);
      }).catch(() => void 0);
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
    escape: () => parts.escape()
  };
}

// viewer/search.ts
var TYPED = 140;
var SearchField = class {
  constructor(look, wire, on, signal) {
    this.look = look;
    this.wire = wire;
    this.on = on;
    const previous = button("previous match", "‹", { class: "tv-small", "data-role": "previous" }, () => void this.go(-1), signal);
    const next = button("next match", "›", { class: "tv-small", "data-role": "next" }, () => void this.go(1), signal);
    this.element = html("div", { class: "tv-search", role: "search" }, this.field, this.count, previous, next);
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.set(this.field.value), TYPED);
    }, { signal });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        clearTimeout(this.timer);
        void (this.field.value === this.look.search.text ? this.go(event.shiftKey ? -1 : 1) : this.set(this.field.value).then(() => this.go(1)));
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        if (this.field.value !== "") {
          this.field.value = "";
          void this.set("");
        }
        this.on.leave();
      }
    }, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }
  look;
  wire;
  on;
  field = html("input", {
    type: "search",
    class: "tv-search-field",
    placeholder: "Search names   /",
    "aria-label": "search names",
    "data-role": "search",
    spellcheck: "false",
    autocomplete: "off"
  });
  count = html("span", { class: "tv-search-count", "data-role": "search-count", role: "status" });
  element;
  timer;
  last = null;
  turn = 0;
  /** Look for a text; Python counts, and the blocks asked for next are marked. */
  async set(wanted) {
    const { look } = this;
    if (this.field.value !== wanted) this.field.value = wanted;
    const turn = ++this.turn;
    this.last = null;
    look.search = { text: wanted, count: wanted === "" ? 0 : null, place: null };
    this.show();
    this.on.changed();
    if (wanted !== "") await this.recount(turn);
  }
  /** Count again: other kinds are shown now. */
  async recount(turn = ++this.turn) {
    const { look } = this;
    if (look.search.text === "") return;
    try {
      const { content } = await this.wire.ask("find", { text: look.search.text, hidden: [...look.hidden] });
      if (turn !== this.turn) return;
      look.search = { ...look.search, count: Number(content.count), place: null };
    } catch {
      if (turn === this.turn) look.search = { ...look.search, count: 0 };
    }
    this.show();
    this.on.changed();
  }
  /** Go to the next match (or the one before), at first to the first in sight. */
  async go(by) {
    const { look } = this;
    if (look.search.text === "") return;
    const from = this.last ?? { start: Math.floor(by > 0 ? look.range.start : look.range.finish), lane: -1 };
    const turn = this.turn;
    try {
      const { content } = await this.wire.ask("find", {
        text: look.search.text,
        hidden: [...look.hidden],
        go: by > 0 ? "next" : "previous",
        start: from.start,
        lane: from.lane
      });
      if (turn !== this.turn) return;
      look.search = { ...look.search, count: Number(content.count), place: content.place === void 0 ? null : Number(content.place) };
      this.show();
      if (content.place === void 0) return;
      this.last = {
        lane: Number(content.lane),
        start: Number(content.start),
        finish: Number(content.finish),
        name: String(content.name),
        kind: Number(content.kind)
      };
      this.on.go(this.last);
    } catch {
    }
  }
  show() {
    const { text: wanted, count: count2, place } = this.look.search;
    const all = count2 === null ? "…" : count2 === 0 ? "none" : decimals(count2, 0);
    text(this.count, wanted === "" ? "" : place === null ? all : `${decimals(place + 1, 0)} of ${all}`);
    this.element.toggleAttribute("data-none", wanted !== "" && count2 === 0);
  }
};

// viewer/seen.ts
var LEAST = 3;
function inSight(look, layers, height, most) {
  const [first, last] = rowsBetween(look.rows.rows, look.scroll, look.scroll + height);
  const rows = look.rows.rows.slice(first, last);
  const each = Math.max(LEAST, Math.floor(most / Math.max(1, rows.length)));
  let left = 0;
  const hits = rows.flatMap(({ lane }) => {
    const layer = layers.main(lane, look.range, look.pixel);
    if (layer === null) return [];
    const found = [];
    const [, high] = layer.span(lane);
    for (let k = layer.firstFrom(lane, look.range.start); k < high && layer.start(k) < look.range.finish; k++) {
      found.push(blockOf(layer, lane, k));
    }
    left += Math.max(0, found.length - each);
    return found.sort((a, b) => b.finish - b.start - (a.finish - a.start)).slice(0, each).sort((a, b) => a.start - b.start);
  });
  return { hits, lanes: rows.length, left };
}

// viewer/sight.ts
var MOST = 200;
var STILL = 250;
var HEADINGS = ["rank", "lane", "kind", "name", "start", "duration"];
var inMs = (ns) => `${ns < 0 ? "−" : ""}${decimals(Math.abs(ns) / 1e6, 3)}`;
var SightTable = class {
  constructor(look, layers, names, go, signal) {
    this.look = look;
    this.layers = layers;
    this.names = names;
    this.go = go;
    const head = html("tr", {}, ...HEADINGS.map((word) => html("th", { scope: "col" }, word)));
    this.element.append(html("table", {}, this.caption, html("thead", {}, head), this.body));
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }
  look;
  layers;
  names;
  go;
  element = html("div", { class: "tv-table", "data-role": "sight", hidden: true });
  caption = html("caption");
  body = html("tbody");
  timer;
  written = "";
  toggle(open) {
    show(this.element, open);
    if (open) this.write();
  }
  /** The drawing was drawn. */
  drawn() {
    if (this.element.hidden) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), STILL);
  }
  write() {
    const { look } = this;
    const seen2 = inSight(look, this.layers, look.height - headOf(look), MOST);
    const key = JSON.stringify(seen2.hits);
    const longest = seen2.left > 0 ? `; the longest of each lane, ${count(seen2.left, "shorter piece")} left out` : "";
    text(this.caption, `In sight: ${count(seen2.lanes, "lane")}, ${inMs(look.range.start)} to ${inMs(look.range.finish)} ms, ${count(seen2.hits.length, "piece")}${longest}`);
    if (key === this.written) return;
    this.written = key;
    this.body.replaceChildren(...seen2.hits.map((hit2) => this.row(hit2)));
  }
  row(hit2) {
    const { rank, lane } = where(this.look.scene, hit2.lane);
    const name = this.names.get(hit2.name) ?? "";
    const at = html("button", { type: "button", class: "tv-at", title: "choose it" }, moment(hit2.start));
    at.addEventListener("click", () => this.go(hit2));
    const cells = [rank, lane, this.look.scene.kinds[hit2.kind] ?? "", hit2.count > 1 ? `${count(hit2.count, "piece")}, longest ${name}` : name, at, duration(hit2.finish - hit2.start)];
    return html("tr", {}, ...cells.map((cell) => html("td", {}, cell)));
  }
};

// viewer/state.ts
var Look = class {
  constructor(scene, coarse = false) {
    this.scene = scene;
    this.coarse = coarse;
    this.limits = limitsOf(scene.begin, scene.span);
    this.range = this.target = fitted(scene.span);
    this.folds = firstFolds(scene);
    this.rows = layout(scene, this.folds, coarse);
  }
  scene;
  coarse;
  limits;
  range;
  /** Where the range is going. */
  target;
  folds;
  rows;
  /** Drawing, in px; without the names at its left. */
  width = 0;
  height = 0;
  scroll = 0;
  hidden = /* @__PURE__ */ new Set();
  search = { text: "", count: null, place: null };
  path = true;
  hovered = null;
  chosen = null;
  /** A range being measured. */
  band = null;
  /** Where the pointer is, px from the drawing's left; null when it is elsewhere. */
  pointer = null;
  fold(folds) {
    this.folds = folds;
    this.rows = layout(this.scene, folds, this.coarse);
  }
  x(time) {
    return (time - this.range.start) / (this.range.finish - this.range.start) * this.width;
  }
  time(x) {
    return this.range.start + x / this.width * (this.range.finish - this.range.start);
  }
  /** ns in a pixel. */
  get pixel() {
    return (this.range.finish - this.range.start) / Math.max(1, this.width);
  }
};

// viewer/table.ts
var HEADINGS2 = ["rank", "kind", "name", "start", "duration", "link known as", "launched"];
var PathTable = class {
  constructor(scene, wire, go, signal) {
    this.scene = scene;
    this.wire = wire;
    this.go = go;
    this.more.addEventListener("click", () => void this.load(), { signal });
    const head = html("tr", {}, ...HEADINGS2.map((word) => html("th", { scope: "col" }, word)));
    this.element.append(html("table", {}, this.caption, html("thead", {}, head), this.body), this.more);
    show(this.more, false);
  }
  scene;
  wire;
  go;
  element = html("div", { class: "tv-table", "data-role": "table", hidden: true });
  body = html("tbody");
  more = html("button", { type: "button", class: "tv-small", "data-role": "more" }, "more rows");
  caption = html("caption");
  rows = 0;
  get open() {
    return !this.element.hidden;
  }
  toggle() {
    show(this.element, !this.open);
    if (this.open && this.rows === 0) void this.load();
  }
  async load() {
    if (this.scene.path.pieces === 0) {
      text(this.caption, `No critical path: ${this.scene.path.why || "it has no pieces"}`);
      return;
    }
    text(this.caption, "The critical path, loading …");
    try {
      const { content } = await this.wire.ask("path", { from: this.rows });
      for (const row of content.rows) this.body.append(this.row(row));
      this.rows += content.rows.length;
      const total = Number(content.total);
      text(this.caption, `The critical path in order of time: ${decimals(this.rows, 0)} of ${decimals(total, 0)} pieces, which sum to the step`);
      show(this.more, this.rows < total);
    } catch (error) {
      text(this.caption, `The critical path did not come: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  row([rank, kind, name, start, length2, origin, launched]) {
    const at = html("button", { type: "button", class: "tv-at", title: "show it" }, moment(start));
    at.addEventListener("click", () => this.go(start, start + length2));
    const cells = [rank === "" ? "all its ranks" : rank, kind, name, at, duration(length2), origin, launched];
    return html("tr", {}, ...cells.map((cell) => html("td", {}, cell)));
  }
};

// viewer/viewer.ts
var GUTTER = 146;
var GUTTER_NARROW = 96;
var NARROW = 640;
var TALLEST = 590;
function renderViewer({ model, scene, wire, names }, host, signal) {
  const look = new Look(scene, matchMedia("(any-pointer: coarse)").matches);
  const root = html("div", { class: "stepviz tv", tabindex: "-1", "data-view": "trace" });
  const frame = html("div", { class: "tv-frame" });
  const stage = new Stage();
  const colours = new Colours(scene.kinds, () => motion.draw(), signal);
  const motion = new Motion(look, draw2, signal);
  const feed = new Feed(wire, names, look.limits, () => motion.draw(), signal);
  const details = new Details(look, names, wire, { zoom: () => to.focusChosen(), clear: () => choose(null) }, signal);
  const gutter = new Gutter(look, () => resize());
  const surface = html("div", { class: "tv-surface" }, stage.canvas);
  const corner = new Corner(look);
  const sticky = html("div", { class: "tv-sticky" }, corner.element, surface);
  const space = html("div", { class: "tv-space" }, sticky, gutter.element);
  const scroller = html("div", {
    class: "tv-scroll",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "trace viewer",
    "data-role": "lanes",
    "aria-label": spoken(scene)
  }, space);
  const legend = new Legend(look, {
    kinds() {
      void search.recount();
      motion.draw();
    },
    path: () => motion.draw()
  }, signal);
  const search = new SearchField(look, wire, {
    changed: () => motion.draw(),
    go(match) {
      to.reveal(match.lane, match.start, match.finish);
      choose({ ...match, count: 1 });
    },
    leave: () => scroller.focus({ preventScroll: true })
  }, signal);
  const table = new PathTable(scene, wire, (start, finish) => to.go(start, finish), signal);
  const sight = new SightTable(look, feed.layers, names, (found) => choose({ ...found, name: names.get(found.name) ?? "" }), signal);
  const help = html(
    "div",
    { class: "tv-help", "data-role": "help", role: "dialog", "aria-label": "keys", tabindex: "0", hidden: true },
    html("dl", {}, ...HELP.flatMap(([keys, what]) => [html("dt", {}, keys), html("dd", {}, what)]))
  );
  const status = html("div", { class: "tv-status", "data-role": "status", role: "status" });
  const to = navigation({
    look,
    motion,
    feed,
    names,
    wire,
    scroller,
    choose,
    resize,
    search: () => search.field.focus(),
    match: (by) => void search.go(by),
    table: () => {
      table.toggle();
      sight.toggle(table.open);
      details.announce(table.open ? "Two tables below the lanes: the critical path, and what is in sight." : "Tables closed.");
      attr(tableButton, "aria-pressed", String(table.open));
    },
    help: () => {
      const held = help.contains(active(root));
      show(help, help.hidden === true);
      attr(helpButton, "aria-pressed", String(!help.hidden));
      if (!help.hidden) help.focus({ preventScroll: true });
      else if (held) scroller.focus({ preventScroll: true });
    },
    announce: (message) => details.announce(message),
    escape() {
      if (gestures.leave()) return;
      if (!help.hidden) to.help();
      else if (look.chosen !== null) choose(null);
      else if (look.search.text !== "") void search.set("");
    }
  });
  const tool = (label, content, role, run) => button(label, content, { class: "sv-tool", "data-role": role }, run, signal);
  const tableButton = tool("the critical path and what is in sight as tables (T)", icon("M2 3h12v10H2zM2 6.3h12M2 9.6h12M6 3v10"), "table-button", () => to.table());
  const helpButton = tool("keys (?)", "?", "help-button", () => to.help());
  const tools = html(
    "div",
    { class: "tv-tools" },
    html(
      "span",
      { class: "sv-group" },
      tool("zoom out (S)", icon("M3 8h10"), "zoom-out", () => to.zoom(1 / 1.5)),
      tool("the whole step (0)", icon("M2 5V2h3M14 5V2h-3M2 11v3h3M14 11v3h-3M4.5 8h7"), "fit", () => to.fit()),
      tool("zoom in (W)", icon("M3 8h10M8 3v10"), "zoom-in", () => to.zoom(1.5))
    ),
    html("span", { class: "sv-group" }, tableButton, helpButton)
  );
  const about = `${scene.title} · ${count(scene.ranks.length, "rank")} · ${count(scene.intervals, "interval")}`;
  const heading = html(
    "div",
    { class: "tv-heading" },
    html("strong", { class: "tv-completion" }, duration(scene.span)),
    html("span", { class: "tv-title", title: about }, about)
  );
  const note = scene.path.pieces > 0 ? scene.doubt : [scene.path.why, scene.doubt].filter(Boolean).join(" · ");
  frame.append(scroller, details.tip, help);
  root.append(
    html("div", { class: "tv-top" }, heading, search.element, tools),
    html("div", { class: "tv-bar" }, legend.element, status),
    note === "" ? html("span") : html("div", { class: "tv-note", "data-role": "note" }, note),
    frame,
    details.line,
    table.element,
    sight.element,
    saveButtons(root, "step", {}, signal),
    details.live,
    colours.element
  );
  host.append(root);
  function wantedHeight() {
    const own = model.get("height");
    if (typeof own === "number") return own;
    return Math.max(150, Math.min(TALLEST, headOf(look) + look.rows.height));
  }
  function resize() {
    const width = root.clientWidth === 0 ? 0 : frame.clientWidth;
    if (width <= 0) return;
    const names2 = width < NARROW ? GUTTER_NARROW : GUTTER;
    root.style.setProperty("--tv-gutter", `${names2}px`);
    const height = wantedHeight();
    frame.style.height = `${height}px`;
    space.style.height = `${Math.max(height, headOf(look) + look.rows.height)}px`;
    sticky.style.height = `${height}px`;
    look.width = Math.max(40, scroller.clientWidth - names2);
    look.height = height;
    look.scroll = scroller.scrollTop;
    stage.resize(look.width, height);
    legend.settle();
    colours.forget();
    motion.draw();
  }
  function seen2() {
    if (look.width === 0) return null;
    const { rows } = look.rows;
    const view = look.height - headOf(look);
    const lanes = (top, bottom) => {
      const [first, last] = rowsBetween(rows, top, bottom);
      return [...scene.path.pieces > 0 ? [PATH] : [], ...rows.slice(first, last).map((row) => row.lane)];
    };
    return {
      wanted: {
        start: Math.max(look.range.start, look.limits.start),
        finish: Math.min(look.range.finish, look.limits.finish),
        pixel: look.pixel,
        lanes: lanes(look.scroll, look.scroll + view),
        hidden: [...look.hidden].sort((a, b) => a - b),
        find: look.search.text
      },
      around: lanes(look.scroll - view, look.scroll + 2 * view)
    };
  }
  function draw2() {
    if (look.width === 0 || signal.aborted) return;
    look.scroll = scroller.scrollTop;
    stage.draw(look, { layers: feed.layers, names, palette: colours.now });
    gutter.update();
    corner.update();
    root.dataset.start = String(look.range.start);
    root.dataset.finish = String(look.range.finish);
    feed.want(seen2);
    root.toggleAttribute("data-waiting", feed.waiting);
    sight.drawn();
    text(status, wire.silent ? "Python is not answering: it is busy, or the cell wants to be run again" : "");
  }
  function choose(chosen, speak = true) {
    look.chosen = chosen;
    details.choose(chosen, speak);
    model.set("_selected", chosen === null ? null : {
      start: Math.round(chosen.start),
      finish: Math.round(chosen.finish),
      lane: chosen.lane,
      name: chosen.name,
      kind: chosen.kind === null ? "" : scene.kinds[chosen.kind] ?? ""
    });
    model.save_changes();
    motion.draw();
  }
  function blockAt(x, y) {
    const head = headOf(look);
    if (y < head) return y > 24 && scene.path.pieces > 0 ? hit(feed.layers, PATH, look.time(x), 3 * look.pixel) : null;
    const row = rowAt(look.rows.rows, y - head + look.scroll);
    return row === null ? null : hit(feed.layers, row.lane, look.time(x), 3 * look.pixel);
  }
  const gestures = new Gestures(surface, look, {
    moved: (range) => motion.jump(range),
    hovered(x, y) {
      look.pointer = x;
      const found = x === null ? null : blockAt(x, y);
      const changed = found?.lane !== look.hovered?.lane || found?.start !== look.hovered?.start;
      look.hovered = found;
      const left = surface.offsetLeft;
      details.hover(found, (x ?? 0) + left, y, frame);
      if (changed) motion.draw();
    },
    clicked(x, y) {
      const found = blockAt(x, y);
      choose(found === null ? null : { ...found, name: names.get(found.name) ?? "" });
    },
    doubled(x, y) {
      const found = blockAt(x, y);
      if (found !== null) to.go(found.start, found.finish);
      else if (look.chosen?.lane === null) to.focusChosen();
    },
    measuring(band) {
      look.band = band;
      motion.draw();
    },
    measured(band) {
      look.band = null;
      choose({ ...band, lane: null, kind: null, name: "", count: 0 });
    }
  }, signal);
  shieldKeys(root, signal);
  root.addEventListener("keydown", (event) => {
    const target = event.target;
    if (target.closest("input,select,textarea")) return;
    if (event.key === "Enter" && target.closest("button")) return;
    if (/^(?:Arrow|Page|Home|End)/.test(event.key) && target.closest("[role=toolbar],.tv-help,.tv-table,.tv-details")) return;
    const run = command(event, to);
    if (run === null) return;
    event.preventDefault();
    run();
  }, { signal });
  for (const press of ["pointerdown", "click"]) {
    root.addEventListener(press, (event) => {
      if (!event.target.closest("button,input,a")) {
        if (active(root) !== scroller) scroller.focus({ preventScroll: true });
      }
    }, { signal });
  }
  scroller.addEventListener("scroll", () => {
    look.hovered = null;
    details.hover(null, 0, 0, frame);
    motion.draw();
  }, { signal });
  const listen = (event, run) => {
    model.on(event, run);
    signal.addEventListener("abort", () => model.off(event, run));
  };
  listen("change:_view", () => {
    const view = model.get("_view");
    if (typeof view?.start === "number" && typeof view.finish === "number") to.show({ start: view.start, finish: view.finish });
  });
  listen("change:_query", () => {
    const query2 = model.get("_query");
    if (typeof query2?.text === "string") void search.set(query2.text);
  });
  listen("change:height", () => resize());
  wire.onSilence(() => motion.draw(), signal);
  const given = model.get("_view");
  if (typeof given?.start === "number" && typeof given.finish === "number") {
    look.range = look.target = { start: given.start, finish: given.finish };
  } else look.range = look.target = fitted(scene.span);
  const query = model.get("_query");
  if (typeof query?.text === "string" && query.text !== "") void search.set(query.text);
  const observer = new ResizeObserver(() => resize());
  observer.observe(root);
  resize();
  signal.addEventListener("abort", () => {
    observer.disconnect();
    root.remove();
  });
}
function spoken(scene) {
  const path = scene.path.pieces > 0 ? `, critical path of ${count(scene.path.pieces, "piece")}` : "";
  return `Trace of ${scene.title}: ${duration(scene.span)}, ${count(scene.ranks.length, "rank")}, ${count(scene.intervals, "interval")}${path}. W and S zoom, A and D move, Shift and arrows go from piece to piece, slash searches, T shows the critical path as a table, question mark shows all keys.`;
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

// viewer/index.ts
var viewer_default = () => {
  let wire;
  const names = /* @__PURE__ */ new Map();
  return {
    initialize({ model, signal }) {
      freeWhenClosed(model);
      wire = new Wire(model, signal);
    },
    render({ model, el, signal }) {
      const scene = readScene(model.get("_scene"));
      if (scene === null) {
        el.append(html("div", { class: "stepviz tv" }, "There is no step here; run the cell again."));
        return;
      }
      const shared = { model, scene, names, wire: wire ?? new Wire(model, signal) };
      renderViewer(shared, el, signal);
    }
  };
};
export {
  viewer_default as default
};
