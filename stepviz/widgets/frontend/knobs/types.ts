/** Knobs and settings, as Python describes them (`stepviz/widgets/knobs.py`). */

export type Setting = number | string | boolean | null | readonly number[];
export type Settings = Readonly<Record<string, Setting>>;

export interface Knob {
  readonly name: string;
  readonly label: string;
  readonly kind: "slider" | "switch" | "number" | "list" | "choice";
  readonly show: "percent" | "count" | "number" | "text";
  readonly unit: string;
  readonly help: string;
  readonly choices: readonly (readonly [Setting, string])[];
  readonly group: string;
  readonly track: boolean;
}

/** What Python answers to settings; each widget has more in it. */
export interface Picture {
  readonly stops: Readonly<Record<string, readonly Setting[]>>;
  /** What to say aloud once the settings rest. */
  readonly spoken: string;
}

/** Settings as text that is equal where they are. */
export function keyOf(settings: Settings): string {
  return JSON.stringify(Object.keys(settings).sort().map((name) => [name, settings[name]]));
}
