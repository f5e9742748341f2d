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

// knobs/keys.ts
var OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

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
  const text = typeof value === "string" ? value : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
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
var PLAIN = [{ maximumFractionDigits: 9 }, { maximumSignificantDigits: 12 }].map(
  (digits) => new Intl.NumberFormat("en-US", { useGrouping: false, ...digits })
);

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

// quiz/answers.ts
var DIGITS = "(?:[0-9]{1,3}(?:[ \\u00a0\\u2009\\u202f'’_][0-9]{3})+(?:[.,][0-9]+)?|[0-9][0-9.,]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?";
var ABOUT = /^(?:[≈~=]|(?:about|approx\.?|ca\.?)\s)\s*/i;
var TYPED = new RegExp(`^([+-]?)(${DIGITS})(?:\\s*[/÷]\\s*(${DIGITS}))?\\s*(.*)$`, "is");
function judge(quiz, given) {
  if (quiz.kind === "choice") return judgeChoice(quiz, given);
  const typed = given.trim();
  if (typed === "") return unread("Write a number first.");
  const found = TYPED.exec(typed.replace(ABOUT, "").replace(/^[−–]/, "-"));
  const values = found === null ? [] : readings(found);
  if (found === null || values.length === 0) {
    return unread(`“${typed}” can't be read as a number. Write it like 12.5${quiz.unit === "" ? "" : ` ${quiz.unit}`}.`);
  }
  const written2 = found[4].trim();
  const unit = plainUnit(written2);
  const factor = unit === "" ? 1 : Object.hasOwn(quiz.units, unit) ? quiz.units[unit] : void 0;
  if (factor === void 0) {
    return unread(`${quiz.unit === "" ? "Give a plain number" : `Give it in ${quiz.unit}`}: “${written2}” is another unit.`);
  }
  if (unit === "" && quiz.unit === "%") values.push(...values.map((value) => 100 * value));
  return judgeNumbers(quiz, values.map((value) => value * factor));
}
function judgeNumber(quiz, value) {
  return judgeNumbers(quiz, [value]);
}
function judgeChoice(quiz, given) {
  if (!quiz.choices.includes(given)) return unread("Choose one first.");
  if (given === quiz.answer) return { outcome: "right", value: given, words: "" };
  const mistake = quiz.wrong.find((one) => one.answer === given);
  return mistake === void 0 ? { outcome: "wrong", value: given, words: "" } : { outcome: "mistake", value: given, words: mistake.words };
}
function judgeNumbers(quiz, values) {
  const targets = [{ answer: quiz.answer, words: null }, ...quiz.wrong];
  for (const value of values) {
    let best;
    let least = Infinity;
    for (const target of targets) {
      const off = Math.abs(value - target.answer);
      if (off > quiz.tolerance * Math.abs(target.answer) || off >= least) continue;
      best = target;
      least = off;
    }
    if (best === void 0) continue;
    return best.words === null ? { outcome: "right", value, words: "" } : { outcome: "mistake", value, words: best.words };
  }
  return { outcome: "wrong", value: values[0], words: "" };
}
function unread(words) {
  return { outcome: "unread", value: null, words };
}
function readings(found) {
  const sign = found[1] === "-" ? -1 : 1;
  const below = found[3] === void 0 ? [1] : read(found[3]).filter((value) => value !== 0);
  return read(found[2]).flatMap((above) => below.map((other) => sign * above / other)).filter(Number.isFinite);
}
function read(digits) {
  const [whole, exponent] = digits.toLowerCase().replace(/[ \u00a0\u2009\u202f'’_]/g, "").split("e");
  const body = whole.replace(/[.,]+$/, "");
  const tail = exponent === void 0 ? "" : `e${exponent}`;
  const number2 = (text) => Number(text + tail);
  const decimal = body.lastIndexOf(",") > body.lastIndexOf(".") ? "," : ".";
  const parts = body.split(decimal);
  if (body.includes(".") && body.includes(",")) {
    const plain = body.replaceAll(decimal === "." ? "," : ".", "");
    return parts.length === 2 ? [number2(plain.replace(decimal, "."))] : [];
  }
  if (parts.length === 1) return [number2(body)];
  const grouped = /^[1-9][0-9]{0,2}$/.test(parts[0]) && parts.slice(1).every((part) => /^[0-9]{3}$/.test(part));
  const joined = grouped ? [number2(parts.join(""))] : [];
  if (parts.length > 2) return joined;
  const fraction = [number2(body.replace(decimal, "."))];
  return decimal === "," ? [...joined, ...fraction] : [...fraction, ...joined];
}
function plainUnit(unit) {
  return unit.trim().toLowerCase().replaceAll("µ", "u").replaceAll("μ", "u").replace(/\.+$/, "").replace(/\s*\bper\s+(?!cent\b)/g, "/").replace(/\s*\/\s*/g, "/").replace(/\/(?:seconds?|sec)$/, "/s");
}

// quiz/pieces.ts
function pieces(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) parts.push(`\`${parts.pop()}`);
  return parts.map((part, k) => k % 2 === 1 && k < parts.length - 1 ? html("code", {}, part) : part).filter((part) => part !== "");
}

// quiz/view.ts
var TRAITS = ["value", "revealed", "_quiz"];
var WORDS = { right: "Right", mistake: "Not that", wrong: "Not that", unread: "" };
var SIGNS = { right: "✓", mistake: "✗", wrong: "✗", unread: "" };
var QuizView = class {
  constructor(model, signal) {
    this.model = model;
    this.reveal = button("show the answer", "Show the answer", { ...OWN_KEYS, "data-role": "reveal" }, () => this.shown(), signal);
    this.again = button("start over", "Start over", { ...OWN_KEYS, "data-role": "again" }, () => this.restart(), signal);
    this.form.append(this.entry, html("div", { class: "qz-buttons" }, this.check, this.reveal, this.again));
    this.root = html(
      "section",
      { class: "stepviz qz", "aria-labelledby": this.question.id, ...OWN_KEYS, tabindex: -1 },
      this.question,
      this.form,
      this.verdict,
      this.others
    );
    if (model.kernel === false) this.root.append(saveButtons(this.root, "question", OWN_KEYS, signal));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    }, { signal });
    this.form.addEventListener("keydown", (event) => {
      const plain = event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
      if (!plain || !(event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      event.stopPropagation();
      this.submit();
    }, { signal });
    this.form.addEventListener("input", () => {
      this.writing = true;
      this.unread = null;
      this.refresh();
    }, { signal });
    const changed = () => {
      this.writing = false;
      this.unread = null;
      this.refresh();
    };
    for (const name of TRAITS) model.on(`change:${name}`, changed);
    signal.addEventListener("abort", () => {
      for (const name of TRAITS) model.off(`change:${name}`, changed);
    });
    this.refresh();
  }
  model;
  root;
  /** Each widget of a page has a module of its own, so a count would begin anew in each. */
  id = `qz-${Math.random().toString(36).slice(2, 10)}`;
  form = html("form", { class: "qz-form", novalidate: true });
  question = html("p", { class: "qz-question", id: `${this.id}-question` });
  entry = html("div", { class: "qz-entry" });
  verdict = html("div", { class: "qz-verdict", role: "status", tabindex: -1, id: `${this.id}-verdict`, "data-role": "verdict", ...OWN_KEYS });
  others = html("div", { class: "qz-others", "data-role": "others" });
  check = html("button", { ...OWN_KEYS, type: "submit", class: "sv-primary", "data-role": "check" }, "Check");
  reveal;
  again;
  drawn = null;
  /** What can't be read is told here only; it is no answer. */
  unread = null;
  /** Another answer is being written, so what was said of the last one is out of date. */
  writing = false;
  said = "";
  get quiz() {
    return this.model.get("_quiz");
  }
  /** What is typed or chosen now. */
  get given() {
    const chosen = this.entry.querySelector("input:checked");
    return this.quiz.kind === "choice" ? chosen?.value ?? "" : this.entry.querySelector("input")?.value ?? "";
  }
  submit() {
    const found = judge(this.quiz, this.given);
    this.writing = false;
    this.unread = found.outcome === "unread" ? found : null;
    if (this.unread === null) this.save({ value: found.value });
    this.said = "";
    this.refresh();
    if (this.unread !== null) this.entry.querySelector("input")?.focus();
  }
  shown() {
    this.save({ revealed: true });
    this.refresh();
    this.verdict.focus();
  }
  restart() {
    this.save({ value: null, revealed: false });
    for (const input of this.entry.querySelectorAll("input")) {
      if (this.quiz.kind === "choice") input.checked = false;
      else input.value = "";
    }
    this.refresh();
    this.entry.querySelector("input")?.focus();
  }
  save(changes) {
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.model.save_changes();
  }
  refresh() {
    const { quiz } = this;
    if (this.drawn !== quiz) this.draw(quiz);
    const value = this.model.get("value") ?? null;
    const revealed = this.model.get("revealed") === true;
    if (!this.writing && this.unread === null) this.fill(quiz, value);
    const found = this.unread ?? (value === null || this.writing ? null : typeof value === "number" ? judgeNumber(quiz, value) : judge(quiz, value));
    const open = revealed || found?.outcome === "right";
    this.tell(quiz, found, revealed);
    for (const label of this.entry.querySelectorAll("label[data-choice]")) {
      const { choice } = label.dataset;
      const state = open && choice === quiz.answer ? "right" : found !== null && choice === found.value ? "wrong" : null;
      attr(label, "data-state", state);
      label.querySelector(".qz-sign").textContent = state === null ? "" : SIGNS[state];
    }
    const field = this.entry.querySelector("input[type=text]");
    if (field !== null) attr(field, "aria-invalid", this.unread === null ? null : "true");
    show(this.reveal, value !== null && !open);
    show(this.again, open);
    show(this.others, open && quiz.wrong.length > 0);
  }
  draw(quiz) {
    this.drawn = quiz;
    this.question.replaceChildren(...pieces(quiz.question));
    const described = { "aria-describedby": this.verdict.id, ...OWN_KEYS };
    if (quiz.kind === "choice") {
      this.entry.replaceChildren(html("div", { role: "radiogroup", class: "qz-choices", "aria-labelledby": this.question.id }, ...quiz.choices.map((choice) => html(
        "label",
        { class: "qz-choice", "data-choice": choice },
        html("input", { ...described, type: "radio", name: this.id, value: choice }),
        html("span", {}, ...pieces(choice)),
        html("span", { class: "qz-sign", "aria-hidden": "true" })
      ))));
    } else {
      const field = html("input", { ...described, type: "text", autocomplete: "off", spellcheck: "false", inputmode: "text", id: `${this.id}-field`, size: 14, "data-role": "field" });
      this.entry.replaceChildren(html("label", { for: field.id }, "Your answer"), field, html("span", { class: "qz-unit", "aria-hidden": "true" }, quiz.unit));
      if (quiz.unit !== "") attr(field, "aria-label", `your answer, in ${quiz.unit}`);
    }
    this.others.replaceChildren(html(
      "details",
      {},
      html("summary", OWN_KEYS, "Other answers, and where they come from"),
      html("dl", {}, ...quiz.wrong.flatMap((one) => [html("dt", {}, ...pieces(one.text)), html("dd", {}, ...pieces(one.words))]))
    ));
  }
  /** Show what the model holds, unless the field says it already in other words. */
  fill(quiz, value) {
    if (quiz.kind === "choice") {
      for (const input of this.entry.querySelectorAll("input")) input.checked = input.value === value;
      return;
    }
    const field = this.entry.querySelector("input");
    if (field === null || value !== null && judge(quiz, field.value).value === value) return;
    field.value = typeof value === "number" ? number(value) : "";
  }
  tell(quiz, found, revealed) {
    const outcome = found?.outcome ?? null;
    const state = outcome ?? (revealed ? "revealed" : "");
    const said = `${state}|${found?.words ?? ""}|${revealed}`;
    if (said === this.said) return;
    this.said = said;
    attr(this.verdict, "data-outcome", state === "" ? null : state);
    const parts = [];
    if (found?.outcome === "unread") parts.push(html("p", {}, found.words));
    else if (found !== null) {
      const words = found.outcome === "right" ? quiz.text : found.outcome === "mistake" ? found.words : revealed ? "" : "Think again, or have the answer shown.";
      parts.push(html("p", {}, html("strong", {}, html("span", { "aria-hidden": "true" }, `${SIGNS[found.outcome]} `), `${WORDS[found.outcome]}${words === "" ? "." : ": "}`), ...pieces(words)));
    }
    if (revealed && outcome !== "right") parts.push(html("p", {}, html("strong", {}, "The answer: "), ...pieces(quiz.text)));
    if ((revealed || outcome === "right") && quiz.why !== "") parts.push(html("p", { class: "qz-why", "data-role": "why" }, ...pieces(quiz.why)));
    this.verdict.replaceChildren(...parts);
  }
};

// quiz/index.ts
var quiz_default = {
  initialize({ model }) {
    freeWhenClosed(model);
  },
  render({ model, el, signal }) {
    el.append(new QuizView(model, signal).root);
  }
};
export {
  quiz_default as default
};
