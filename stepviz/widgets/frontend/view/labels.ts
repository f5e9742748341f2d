/** Text that must fit: measured on a canvas, never by asking the page for its layout. */

let context: CanvasRenderingContext2D | null = null;
const widths = new Map<string, Map<string, number>>();

export function textWidth(content: string, font: string): number {
  let known = widths.get(font);
  if (!known) widths.set(font, (known = new Map()));
  let width = known.get(content);
  if (width === undefined) {
    context ??= document.createElement("canvas").getContext("2d");
    if (context) {
      context.font = font;
      width = context.measureText(content).width;
    } else {
      width = content.length * 7;
    }
    if (known.size > 20_000) known.clear();
    known.set(content, width);
  }
  return width;
}

/** The longest of the candidates that fits, else the last one shortened, else nothing. */
export function fit(candidates: readonly string[], room: number, font: string): string {
  for (const candidate of candidates) if (textWidth(candidate, font) <= room) return candidate;
  const last = candidates[candidates.length - 1] ?? "";
  // A stump of one or two letters says nothing; the title and the inspector have the whole name.
  if (textWidth(`${last.slice(0, 3)}…`, font) > room) return "";
  let low = 3;
  let high = last.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${last.slice(0, middle)}…`, font) <= room) low = middle;
    else high = middle - 1;
  }
  return `${last.slice(0, low).trimEnd()}…`;
}

/** "r1 backward 3" on rank 1 → "backward 3", "b3": what still tells bars of one kind apart. */
export function abbreviations(name: string, rank: number): [string, string] {
  const short = name.replace(new RegExp(`^r(?:ank)?[ _-]?${rank}[ _:/-]+|[ _:/-]+r(?:ank)?[ _-]?${rank}$`, "i"), "");
  const words = short.split(/[\s_\-./:]+/).filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  if (words.length > 1 && /^\d+$/.test(last)) {
    return [short, `${words.slice(0, -1).map((word) => word[0] ?? "").join("")}${last}`];
  }
  return [words.length === 1 && short.length > 7 ? `${short.slice(0, 5)}.` : short, short];
}
