/** Buttons that save a widget as it is on the screen. */

import { button, html } from "./dom";
import { savePNG, saveText } from "./export";
import { snapshotSVG } from "./snapshot";

/** Of the root's picture; `keys` are attributes for what takes the focus. */
export function saveButtons(root: HTMLElement, name: string, keys: Readonly<Record<string, string>>, signal: AbortSignal): HTMLElement {
  const said = html("span", { role: "status" });
  const one = (kind: string, run: () => void): HTMLButtonElement =>
    button(`Save the picture as ${kind}`, kind, { ...keys, class: "sv-save", "data-role": `save-${kind.toLowerCase()}` }, () => {
      said.textContent = "";
      run();
    }, signal);
  return html("div", { class: "sv-saving", "data-role": "saving" }, "Save the picture: ",
    one("SVG", () => saveText(snapshotSVG(root), `${name}.svg`, "image/svg+xml")),
    one("PNG", () => {
      savePNG(snapshotSVG(root), `${name}.png`).catch(() => {
        said.textContent = " This page does not allow pictures to be made; save the SVG instead.";
      });
    }), said);
}
