/** What one view shows and what is chosen in it. Nothing of this is Python's. */

import type { Hit } from "./hit";
import { firstFolds, type Folds, layout, type Rows } from "./rows";
import type { Scene } from "./types";
import { fitted, limitsOf, type Range } from "./viewport";

/** What was chosen: a block, a piece found by a search, a piece of the path, or a range. */
export interface Chosen {
  readonly start: number;
  readonly finish: number;
  /** Missing for a range over all lanes. */
  readonly lane: number | null;
  readonly kind: number | null;
  readonly name: string;
  readonly count: number;
}

export interface Search {
  readonly text: string;
  readonly count: number | null;
  /** The match that was gone to. */
  readonly place: number | null;
}

export class Look {
  readonly limits: Range;
  range: Range;
  /** Where the range is going. */
  target: Range;
  folds: Folds;
  rows: Rows;
  /** Drawing, in px; without the names at its left. */
  width = 0;
  height = 0;
  scroll = 0;
  hidden: ReadonlySet<number> = new Set();
  search: Search = { text: "", count: null, place: null };
  path = true;
  hovered: Hit | null = null;
  chosen: Chosen | null = null;
  /** A range being measured. */
  band: Range | null = null;
  /** Where the pointer is, px from the drawing's left; null when it is elsewhere. */
  pointer: number | null = null;

  constructor(readonly scene: Scene, private readonly coarse = false) {
    this.limits = limitsOf(scene.begin, scene.span);
    this.range = this.target = fitted(scene.span);
    this.folds = firstFolds(scene);
    this.rows = layout(scene, this.folds, coarse);
  }

  fold(folds: Folds): void {
    this.folds = folds;
    this.rows = layout(this.scene, folds, this.coarse);
  }

  x(time: number): number {
    return ((time - this.range.start) / (this.range.finish - this.range.start)) * this.width;
  }

  time(x: number): number {
    return this.range.start + (x / this.width) * (this.range.finish - this.range.start);
  }

  /** ns in a pixel. */
  get pixel(): number {
    return (this.range.finish - this.range.start) / Math.max(1, this.width);
  }
}
