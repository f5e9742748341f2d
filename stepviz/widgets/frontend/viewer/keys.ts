/** Keys on the lanes. Shift and an arrow go from piece to piece; without it they move the view. */

export interface Commands {
  zoom(factor: number): void;
  pan(share: number): void;
  scroll(px: number): void;
  fit(): void;
  search(): void;
  escape(): void;
  along(by: 1 | -1): void;
  updown(by: 1 | -1): void;
  path(by: 1 | -1): void;
  focusChosen(): void;
  choose(): void;
  match(by: 1 | -1): void;
  measure(): void;
  table(): void;
  help(): void;
}

/** What was pressed as a command, null where the key is not the viewer's. */
export function command(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean }, to: Commands): (() => void) | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { key, shiftKey } = event;
  const fast = shiftKey ? 3 : 1;
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "w": return () => to.zoom(1.5 ** fast);
    case "s": return () => to.zoom(1 / 1.5 ** fast);
    case "+": case "=": return () => to.zoom(1.5);
    case "-": case "_": case "−": return () => to.zoom(1 / 1.5);
    case "a": return () => to.pan(-0.15 * fast);
    case "d": return () => to.pan(0.15 * fast);
    case "ArrowLeft": return shiftKey ? () => to.along(-1) : () => to.pan(-0.15);
    case "ArrowRight": return shiftKey ? () => to.along(1) : () => to.pan(0.15);
    case "ArrowUp": return shiftKey ? () => to.updown(-1) : () => to.scroll(-48);
    case "ArrowDown": return shiftKey ? () => to.updown(1) : () => to.scroll(48);
    case "PageUp": return () => to.scroll(-320);
    case "PageDown": return () => to.scroll(320);
    case "Home": case "0": return () => to.fit();
    case "/": return () => to.search();
    case "Escape": return () => to.escape();
    case "[": return () => to.path(-1);
    case "]": return () => to.path(1);
    case "f": return () => to.focusChosen();
    case "Enter": return () => to.choose();
    case "n": return () => to.match(shiftKey ? -1 : 1);
    case "m": return () => to.measure();
    case "t": return () => to.table();
    case "?": return () => to.help();
    default: return null;
  }
}

export const HELP: readonly (readonly [keys: string, what: string])[] = [
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
  ["?", "show and close these keys"],
];
