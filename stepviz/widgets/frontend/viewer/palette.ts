/** The colours of the page as they are now: read from the style sheet, mixed for the canvas. */

import { html } from "../view/dom";
import { type Inks, SHADES } from "./paint";

type Rgb = readonly [number, number, number];

/** Variables of the style sheet by kind; the editor's own for the kinds it knows. */
const VARIABLE: Readonly<Record<string, string>> = {
  input: "--sv-input", forward: "--sv-forward", backward: "--sv-backward", exchange: "--sv-exchange",
  optimizer: "--sv-optimizer", recompute: "--sv-recompute", checkpoint: "--sv-checkpoint",
  host: "--sv-host", other: "--sv-other", wait: "--sv-wait",
  "before the step": "--sv-before", unexplained: "--sv-unexplained", idle: "--sv-idle",
};

export function variableOf(kind: string): string {
  return VARIABLE[kind] ?? "--sv-other";
}

export interface Palette {
  readonly inks: Inks;
  /** By code of kind, what words on it are written in. */
  readonly labels: readonly string[];
  readonly fills: readonly string[];
  readonly background: string;
  readonly foreground: string;
  readonly dim: string;
  readonly line: string;
  readonly strongLine: string;
  readonly row: string;
  readonly ink: string;
  readonly accent: string;
  readonly family: string;
}

export class Colours {
  /** Elements that have the colours, one for each, so that the browser works out what they are. */
  readonly element = html("div", { class: "tv-probes", "aria-hidden": "true" });
  private readonly probes = new Map<string, HTMLElement>();
  private known: Palette | null = null;

  /** `changed` is called when the theme changes, whoever changes it. */
  constructor(private readonly kinds: readonly string[], changed: () => void, signal: AbortSignal) {
    // A colour that changes starts a transition: cheaper and surer than watching for themes.
    this.element.addEventListener("transitionrun", () => {
      this.known = null;
      changed();
    }, { signal });
    this.element.addEventListener("transitionend", () => {
      this.known = null;
      changed();
    }, { signal });
  }

  get now(): Palette {
    return (this.known ??= this.read());
  }

  forget(): void {
    this.known = null;
  }

  private colour(variable: string): Rgb {
    let probe = this.probes.get(variable);
    if (probe === undefined) {
      probe = html("i", { style: `color:var(${variable})` });
      this.probes.set(variable, probe);
      this.element.append(probe);
    }
    return parsed(getComputedStyle(probe).color);
  }

  private read(): Palette {
    const fills = this.kinds.map((kind) => this.colour(variableOf(kind)));
    const background = this.colour("--sv-bg");
    const css = (variable: string): string => written(this.colour(variable));
    const plain = new Uint32Array(fills.length * SHADES);
    const dimmed = new Uint32Array(fills.length * SHADES);
    fills.forEach((fill, kind) => {
      for (let shade = 0; shade < SHADES; shade++) {
        const share = 0.4 + (0.6 * shade) / (SHADES - 1);
        const colour = mixed(fill, background, share);
        plain[kind * SHADES + shade] = packed(colour);
        dimmed[kind * SHADES + shade] = packed(mixed(grey(colour), background, 0.3));
      }
    });
    return {
      inks: { plain, dimmed },
      labels: fills.map((fill) => (luminance(fill) > 0.19 ? "#0b0f14" : "#fff")),
      fills: fills.map(written),
      background: written(background),
      foreground: css("--sv-fg"),
      dim: css("--sv-dim"),
      line: css("--sv-line"),
      strongLine: css("--sv-strong-line"),
      row: css("--sv-row"),
      ink: css("--sv-ink"),
      accent: css("--sv-accent"),
      family: getComputedStyle(this.element).fontFamily,
    };
  }
}

/** "rgb(1, 2, 3)", "rgba(1, 2, 3, 0.5)" or "color(srgb 0.1 0.2 0.3)". */
export function parsed(colour: string): Rgb {
  const numbers = (colour.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number);
  const scale = colour.startsWith("color(") ? 255 : 1;
  const [r = 0, g = 0, b = 0] = numbers;
  return [r * scale, g * scale, b * scale];
}

function written([r, g, b]: Rgb): string {
  return `rgb(${Math.round(r)},${Math.round(g)},${Math.round(b)})`;
}

export function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  const mix = (x: number, y: number): number => x * share + y * (1 - share);
  return [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2])];
}

function grey(colour: Rgb): Rgb {
  const value = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2];
  return [value, value, value];
}

/** As the bytes of an image lie in memory, on machines whose smallest byte comes first. */
function packed([r, g, b]: Rgb): number {
  return ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

/** Relative luminance as contrast is reckoned. */
export function luminance([r, g, b]: Rgb): number {
  const linear = (value: number): number => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
