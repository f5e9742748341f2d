/** Text with `code` between backticks, as nodes: never as markup, since it may come from anywhere. */

import { html } from "../view/dom";

export function pieces(text: string): (Node | string)[] {
  const parts = text.split("`");
  // an odd one out is a backtick
  if (parts.length % 2 === 0) parts.push(`\`${parts.pop() as string}`);
  return parts.map((part, k) => k % 2 === 1 && k < parts.length - 1 ? html("code", {}, part) : part).filter((part) => part !== "");
}
