// The model an anywidget sees, without Jupyter: enough of ipywidgets' behaviour to test a view.
// Evaluated in the page with { esm, state, kernel }; leaves on `window`:
//   commits      one entry per save_changes that changed something: { changed key: value }
//   messages     what the view sent with model.send; a function window.onSend is told as well
//   stub.model, stub.listeners
//   stub.fromPython({ key: value })  what Python's side would send: sets and fires change events
//   stub.custom(content, buffers)    a message that Python sends with widget.send
//   stub.addView() -> index          render once more, into a new <div class="stub-view">
//   stub.removeView(index)           what clearing a cell's output does
//   stub.closeModel()                what widget.close() does: every view, then the model
async ({ esm, state, kernel }) => {
  const listeners = {};
  const pending = new Map();
  window.commits = [];
  window.messages = [];
  const clone = (value) => (value === undefined ? undefined : structuredClone(value));
  const fire = (event, ...args) => {
    for (const listener of [...(listeners[event] ?? [])]) listener(...args);
  };
  const assign = (key, value) => {
    const old = state[key];
    state[key] = value;
    if (old !== value) {
      fire(`change:${key}`, model, value);
      return true;
    }
    return false;
  };
  const fromPython = (changes) => {
    let changed = false;
    for (const [key, value] of Object.entries(changes)) changed = assign(key, clone(value)) || changed;
    if (changed) fire("change", model);
  };
  const model = {
    get: (key) => state[key],
    set(key, value) {
      if (assign(key, value)) {
        pending.set(key, value);
        fire("change", model);
      }
    },
    save_changes() {
      if (pending.size === 0) return;
      const changes = clone(Object.fromEntries(pending));
      pending.clear();
      window.commits.push(changes);
      if (kernel) {
        const { reply, delay } = kernel;
        setTimeout(() => {
          const answer = reply(changes, clone(state));
          if (answer) fromPython(answer);
        }, delay);
      }
    },
    send(content) {
      window.messages.push(clone(content));
      window.onSend?.(clone(content));
    },
    on(event, listener) {
      for (const name of event.split(" ")) (listeners[name] ??= []).push(listener);
    },
    off(event, listener) {
      for (const name of event ? event.split(" ") : Object.keys(listeners)) {
        listeners[name] = listener
          ? (listeners[name] ?? []).filter((other) => other !== listener)
          : [];
      }
    },
  };

  if (kernel) kernel = { delay: kernel.delay, reply: (0, eval)(`(${kernel.reply})`) };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const exported = (await import(url)).default;
  const widget = typeof exported === "function" ? await exported() : exported;
  const lifetime = new AbortController();
  const disposeModel = await widget.initialize?.({ model, signal: lifetime.signal });

  const views = [];
  const addView = async () => {
    const el = document.createElement("div");
    el.className = "stub-view";
    document.querySelector("#root").append(el);
    const controller = new AbortController();
    const dispose = await widget.render({ model, el, signal: controller.signal });
    views.push({ el, controller, dispose });
    return views.length - 1;
  };
  const removeView = async (index) => {
    const view = views[index];
    if (!view) return;
    views[index] = undefined;
    view.controller.abort();
    await view.dispose?.();
    view.el.remove();
  };
  const closeModel = async () => {
    for (const index of views.keys()) await removeView(index);
    lifetime.abort();
    fire("destroy", model);
    await disposeModel?.();
  };
  const custom = (content, buffers) => fire("msg:custom", content, buffers);
  window.stub = { model, listeners, fromPython, custom, addView, removeView, closeModel };
  await addView();
}
