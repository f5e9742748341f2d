/**
 * The keyboard's focus: it stays in the editor whatever is made anew or switched off, and while it
 * is there the notebook around the editor does not take its keys.
 */

type Focusable = HTMLElement | SVGElement;

/** What has the focus, also inside a shadow root. */
export function active(root: Element): Element | null {
  return (root.getRootNode() as Document | ShadowRoot).activeElement;
}

/** What names a control, so that it is found again after it was made anew. */
const NAMES = ["data-role", "data-scenario", "data-filter", "data-table-phase", "data-table-arrow"];

function address(element: Element): string | null {
  const named = (name: string, of: Element): string => `[${name}="${CSS.escape(of.getAttribute(name) ?? "")}"]`;
  if (element.matches("[data-phase]")) return named("data-phase", element) + named("data-rank", element);
  const name = NAMES.find((one) => element.hasAttribute(one));
  if (name === undefined) return null;
  const row = element.closest("[data-list-row]");
  return (row ? `${named("data-list-row", row)} ` : "") + named(name, element);
}

const off = (element: Element): boolean => element.matches(":disabled");
const seen = (element: Element): boolean => element.getClientRects().length > 0;

/**
 * Draw, and see to it that whoever stood on something stands on it again, or else on `fallback`.
 * `quick`: nothing is hidden by this drawing, so the page need not be laid out to find out.
 */
export function keepFocus(
  root: HTMLElement, draw: () => void, fallback: (was: Element) => Focusable, quick = false,
): void {
  const held = active(root);
  if (held === null || held === root || !root.contains(held)) {
    draw();
    return;
  }
  const where = address(held);
  draw();
  if (held.isConnected && !off(held) && (quick || seen(held))) return;
  const again = where === null ? null : root.querySelector<Focusable>(where);
  (again && !off(again) && seen(again) ? again : fallback(held)).focus({ preventScroll: true });
}

/** JupyterLab leaves an element that has it alone; only on the focused element itself is that sure. */
const SHIELD = "data-lm-suppress-shortcuts";

/**
 * Keep what is typed in the editor from the notebook, where x cuts the cell and b makes one. Tab,
 * and what is typed with Ctrl or Cmd and means nothing here (to save, say), goes on to the host;
 * `own` says what means something.
 */
export function shieldKeys(
  root: HTMLElement, signal: AbortSignal, own: (event: KeyboardEvent) => boolean = () => false,
): void {
  const mark = (event: Event): void => (event.target as Element).setAttribute(SHIELD, "true");
  const unmark = (event: Event): void => (event.target as Element).removeAttribute(SHIELD);
  root.addEventListener("focusin", mark, { signal });
  root.addEventListener("focusout", unmark, { signal });
  // The host listens on the document, before anything below it is told; only the window is earlier.
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
    if (isOurs(event, event.target as Element)) event.stopPropagation();
  }, { signal });
}

/** Keys of a field, with Ctrl or Cmd: its own undo, its clipboard, its cursor. */
const FIELD = /^(?:[zyacvx]|Arrow\w+|Home|End|Backspace|Delete)$/i;

function isOurs(event: KeyboardEvent, target: Element): boolean {
  if (event.key === "Tab" || /^F\d+$/.test(event.key)) return false;
  const typing = target.matches("input,textarea");
  if (typing && event.altKey && event.key.length === 1) return true; // AltGr writes characters
  if (event.ctrlKey || event.metaKey) return typing && FIELD.test(event.key);
  return !event.altKey;
}

/** One stop for Tab in a toolbar; the arrows go on from there, Home and End to its ends. */
export function rove(toolbar: HTMLElement, signal: AbortSignal): () => void {
  let stop: HTMLElement | null = null;
  const controls = (): HTMLElement[] =>
    [...toolbar.querySelectorAll<HTMLElement>("button,select")].filter((one) => !off(one) && seen(one));
  const settle = (): void => {
    const all = controls();
    if (stop === null || !all.includes(stop)) {
      const role = stop === null ? null : address(stop);
      stop = (role === null ? null : all.find((one) => one.matches(role))) ?? all[0] ?? null;
    }
    for (const one of toolbar.querySelectorAll<HTMLElement>("button,select")) {
      const index = one === stop ? 0 : -1;
      if (one.getAttribute("tabindex") !== String(index)) one.tabIndex = index;
    }
  };
  toolbar.addEventListener("focusin", (event) => {
    if (!(event.target as Element).matches("button,select")) return;
    stop = event.target as HTMLElement;
    settle();
  }, { signal });
  toolbar.addEventListener("keydown", (event) => {
    const all = controls();
    const at = all.indexOf(event.target as HTMLElement);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  }, { signal });
  return settle;
}
