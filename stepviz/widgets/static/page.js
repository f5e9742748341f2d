// page/model.ts
var PageModel = class {
  constructor(state, answers) {
    this.state = state;
    this.answers = answers;
  }
  state;
  answers;
  /** The editor then waits for no answer, and says nothing of a kernel. */
  kernel = false;
  listeners = /* @__PURE__ */ new Map();
  pending = {};
  get(key) {
    return this.state[key];
  }
  set(key, value) {
    if (this.assign(key, value)) {
      this.pending[key] = value;
      this.fire("change");
    }
  }
  save_changes() {
    const changes = this.pending;
    if (Object.keys(changes).length === 0) return;
    this.pending = {};
    queueMicrotask(() => this.answers()?.told?.(this, changes));
  }
  send(content) {
    queueMicrotask(() => this.answers()?.asked?.(this, content));
  }
  on(events, listener) {
    for (const event of events.split(" ")) {
      const held = this.listeners.get(event) ?? [];
      held.push(listener);
      this.listeners.set(event, held);
    }
  }
  off(events, listener) {
    for (const event of events ? events.split(" ") : [...this.listeners.keys()]) {
      const left = listener === void 0 ? [] : (this.listeners.get(event) ?? []).filter((one) => one !== listener);
      this.listeners.set(event, left);
    }
  }
  /** What Python's side would set. */
  assignAll(changes) {
    const changed = Object.entries(changes).filter(([key, value]) => this.state[key] !== value);
    Object.assign(this.state, changes);
    for (const [key, value] of changed) this.fire(`change:${key}`, value);
    if (changed.length > 0) this.fire("change");
  }
  /** What Python's side would send. */
  answer(content, buffers = []) {
    this.fire("msg:custom", content, buffers);
  }
  assign(key, value) {
    if (this.state[key] === value) return false;
    this.state[key] = value;
    this.fire(`change:${key}`, value);
    return true;
  }
  fire(event, ...given) {
    for (const listener of [...this.listeners.get(event) ?? []]) {
      listener(...event.startsWith("msg:") ? given : [this, ...given]);
    }
  }
};

// page/index.ts
async function startPart(place, part, widgets, kernels) {
  let kernel = null;
  const models = part.models.map(({ state }) => new PageModel(state, () => kernel));
  const make = kernels[part.kernel];
  if (make !== void 0) kernel = await make(models, part.given);
  const { signal } = new AbortController();
  for (const [k, { bundle }] of part.models.entries()) {
    const model = models[k];
    const module = widgets[bundle];
    const widget = typeof module === "function" ? await module() : module;
    await widget.initialize?.({ model, signal });
    const el = document.createElement("div");
    place.append(el);
    await widget.render({ model, el, signal });
  }
}
function start(page, widgets, kernels) {
  for (const script of page.querySelectorAll('.sv-page-part > script[type="application/json"]')) {
    const place = script.parentElement;
    const data = JSON.parse(script.textContent ?? "");
    script.remove();
    startPart(place, data, widgets, kernels).catch((error) => {
      console.error("stepviz: a widget could not be shown", error);
      const said = page.createElement("p");
      said.textContent = `This widget could not be shown: ${error instanceof Error ? error.message : String(error)}`;
      place.append(said);
    });
  }
}
export {
  start as default
};
