/** Compute runs slower while exchange runs beside it (as `stepviz/builders/contention.py`; no DOM). */

import { solve } from "../../model/solver";
import { COMPUTE_KINDS, type TimelineDoc } from "../../model/types";

interface Event { moment: number; what: 0 | 1; row: number; version: number }

const FINISH = 0; // at one moment ends come before starts
const START = 1;

/** How long each phase lasts, ms, where compute has this rate beside an exchange of its rank. */
export function slowed(doc: TimelineDoc, rate: number): TimelineDoc {
  const lasts = new Run(doc, rate).durations();
  return { ...doc, phases: doc.phases.map((phase, k) => ({ ...phase, duration: lasts[k] as number })) };
}

class Run {
  private readonly compute: boolean[];
  private readonly exchange: boolean[];
  private readonly owners: number[][];
  private readonly waits: number[];
  private readonly earliest: number[];
  private readonly after: [target: number, lag: number][][][];
  private readonly events = new Queue();
  private readonly version: number[];
  private readonly left: number[];
  private readonly rate: number[];
  private readonly seen: number[];
  private readonly started: number[];
  private readonly slow: boolean[];
  private readonly running = [new Map<number, Set<number>>(), new Map<number, Set<number>>()] as const;
  private now = 0;

  constructor(private readonly doc: TimelineDoc, private readonly beside: number) {
    const { phases } = doc;
    const n = phases.length;
    this.compute = phases.map(({ kind }) => COMPUTE_KINDS.includes(kind));
    this.exchange = phases.map(({ kind }) => kind === "exchange");
    this.owners = phases.map(({ rank, members }) => [...(members ?? [rank as number])]);
    this.waits = new Array<number>(n).fill(0);
    this.earliest = phases.map(({ release }) => release);
    this.after = [Array.from({ length: n }, () => []), Array.from({ length: n }, () => [])];
    // Only what a step of buckets has: FS without a negative lag.
    for (const { source, target, lag } of solve(doc).dependencies) {
      this.waits[target] = (this.waits[target] as number) + 1;
      (this.after[FINISH]?.[source] as [number, number][]).push([target, lag]);
    }
    this.version = new Array<number>(n).fill(0);
    this.left = phases.map(({ duration }) => duration);
    this.rate = new Array<number>(n).fill(1);
    this.seen = new Array<number>(n).fill(0);
    this.started = new Array<number>(n).fill(0);
    this.slow = new Array<boolean>(n).fill(false);
  }

  durations(): number[] {
    const lasts = this.doc.phases.map(({ duration }) => duration);
    this.waits.forEach((waits, row) => {
      if (waits === 0) this.events.push({ moment: this.earliest[row] as number, what: START, row, version: 0 });
    });
    for (let event = this.events.pop(); event !== undefined; event = this.events.pop()) {
      const { moment, what, row, version } = event;
      if (what === FINISH && version !== this.version[row]) continue; // its rate has changed since
      this.now = moment;
      if (what === START) {
        this.start(row);
      } else {
        this.stop(row);
        if (this.slow[row]) lasts[row] = moment - (this.started[row] as number);
      }
      this.letGo(what, row);
    }
    return lasts;
  }

  private letGo(what: 0 | 1, row: number): void {
    for (const [target, lag] of this.after[what]?.[row] ?? []) {
      this.earliest[target] = Math.max(this.earliest[target] as number, this.now + lag);
      this.waits[target] = (this.waits[target] as number) - 1;
      if (this.waits[target] === 0) this.events.push({ moment: this.earliest[target] as number, what: START, row: target, version: 0 });
    }
  }

  private contends(row: number): boolean {
    return ((this.exchange[row] as boolean) || (this.compute[row] as boolean)) && (this.doc.phases[row]?.duration ?? 0) > 0;
  }

  private of(exchange: boolean, rank: number): Set<number> {
    const held = this.running[exchange ? 1 : 0];
    const found = held.get(rank) ?? new Set<number>();
    held.set(rank, found);
    return found;
  }

  private start(row: number): void {
    this.started[row] = this.seen[row] = this.now;
    if (!this.contends(row)) {
      this.plan(row);
      return;
    }
    for (const rank of this.owners[row] as number[]) this.of(this.exchange[row] as boolean, rank).add(row);
    this.turn(row);
    this.turnBeside(row);
  }

  private stop(row: number): void {
    if (!this.contends(row)) return;
    for (const rank of this.owners[row] as number[]) this.of(this.exchange[row] as boolean, rank).delete(row);
    this.turnBeside(row);
  }

  private turnBeside(row: number): void {
    const others = new Set((this.owners[row] as number[]).flatMap((rank) => [...this.of(!this.exchange[row], rank)]));
    for (const other of [...others].sort((a, b) => a - b)) this.turn(other);
  }

  /** Let a running phase go on at the rate that holds from now. */
  private turn(row: number): void {
    const exchange = this.exchange[row] as boolean;
    const met = (this.owners[row] as number[]).some((rank) => this.of(!exchange, rank).size > 0);
    const rate = met && !exchange ? this.beside : 1;
    if (rate === this.rate[row] && this.version[row] !== 0) return;
    this.left[row] = Math.max((this.left[row] as number) - (this.rate[row] as number) * (this.now - (this.seen[row] as number)), 0);
    this.seen[row] = this.now;
    this.rate[row] = rate;
    if (rate !== 1) this.slow[row] = true;
    this.plan(row);
  }

  private plan(row: number): void {
    this.version[row] = (this.version[row] as number) + 1;
    const end = this.now + (this.left[row] as number) / (this.rate[row] as number);
    this.events.push({ moment: end, what: FINISH, row, version: this.version[row] as number });
  }
}

const before = (a: Event, b: Event): boolean =>
  (a.moment - b.moment || a.what - b.what || a.row - b.row || a.version - b.version) < 0;

/** A binary heap. */
class Queue {
  private readonly heap: Event[] = [];

  push(event: Event): void {
    const { heap } = this;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(event, heap[parent] as Event)) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  pop(): Event | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (!before(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
