/** A data-parallel step from its gradients (as `stepviz/builders/ddp_steps.py`, on one rank; no DOM). */

import { type Dependency, type Kind, type Phase, SCHEMA, type TimelineDoc } from "../../model/types";
import { numberText, Unmeant } from "../figures";
import { slowed } from "./contention";

const MIB = 1024 * 1024;
const BYTES_PER_MS = 1e6;

export interface Gradient { readonly name: string; readonly nbytes: number; readonly group: string; readonly sparse: boolean }

export interface GivenBuckets {
  /** In the order in which they are ready. */
  readonly gradients: readonly Gradient[];
  /** How long before the last each was ready, ms; null: backward is shared out by bytes. */
  readonly leads: readonly number[] | null;
  readonly forward: number;
  readonly optimizer: number;
  readonly stops: Readonly<Record<string, readonly (number | null)[]>>;
}

export interface StepSettings {
  readonly cap: number;
  readonly first_bucket: number | null;
  readonly bandwidth: number;
  readonly latency: number;
  readonly compute: number;
  readonly backward: number;
}

interface Bucket { readonly ready: number; readonly service: number }

/** Places of the gradients in each bucket, in launch order (as `bucket_rules.assign`). */
export function launched(gradients: readonly Gradient[], cap: number, first: number | null): number[][] {
  const bytes = (mib: number): number => (mib * MIB < Infinity ? Math.trunc(mib * MIB) : Infinity);
  const limits = [bytes(first ?? cap), bytes(cap)];
  const closed: number[][] = [];
  const open = new Map<string, { places: number[]; size: number; limit: number }>();
  gradients.forEach((gradient, place) => {
    if (gradient.sparse) {
      closed.push([place]);
      return;
    }
    const held = open.get(gradient.group) ?? { places: [], size: 0, limit: 0 };
    open.set(gradient.group, held);
    held.places.push(place);
    held.size += gradient.nbytes;
    if (held.size >= (limits[held.limit] as number)) {
      closed.push(held.places);
      held.places = [];
      held.size = 0;
      held.limit = Math.min(held.limit + 1, limits.length - 1);
    }
  });
  return [...closed, ...[...open.values()].reverse().map(({ places }) => places).filter((places) => places.length > 0)];
}

export const bytesOf = (gradients: readonly Gradient[], bucket: readonly number[]): number =>
  bucket.reduce((sum, place) => sum + (gradients[place] as Gradient).nbytes, 0);

function readyMoments(given: GivenBuckets, backward: number): (bucket: readonly number[]) => number {
  const { gradients, leads } = given;
  if (leads !== null) {
    const longest = Math.max(...leads);
    if (longest > backward * (1 + 1e-12)) {
      throw new Unmeant(`backward is ${numberText(backward, 6)} ms, but the first bucket was ready `
        + `${numberText(longest, 6)} ms before the last: give a backward at least as long`);
    }
    return (bucket) => Math.max(backward - Math.min(...bucket.map((place) => leads[place] as number)), 0);
  }
  const some = gradients.some(({ nbytes }) => nbytes > 0);
  const reached: number[] = [];
  let total = 0;
  for (const { nbytes } of gradients) reached.push(total += some ? nbytes : 1);
  return (bucket) => Math.max(...bucket.map((place) => backward * ((reached[place] as number) / total)));
}

/** The step at these settings. */
export function stepOf(given: GivenBuckets, settings: StepSettings): TimelineDoc {
  const { latency, bandwidth, backward, cap } = settings;
  const ready = readyMoments(given, backward);
  const buckets = launched(given.gradients, cap, settings.first_bucket).map((bucket): Bucket => (
    { ready: ready(bucket), service: latency + bytesOf(given.gradients, bucket) / (bandwidth * BYTES_PER_MS) }));
  const doc = passOf(`cap ${numberText(cap)} MiB`, given.forward, backward, given.optimizer, buckets);
  return settings.compute === 1 ? doc : slowed(doc, settings.compute);
}

function passOf(name: string, forward: number, backward: number, optimizer: number, buckets: readonly Bucket[]): TimelineDoc {
  const phases: Phase[] = [];
  const dependencies: Dependency[] = [];
  const add = (phase: string, kind: Kind, duration: number, lane: string): string => {
    phases.push({ phase, kind, rank: 0, lane, duration, release: 0 });
    return phase;
  };
  const link = (source: string, target: string): void => {
    dependencies.push({ source, target, type: "FS", lag: 0, origin: "assumed" });
  };
  let last = add("input", "input", 0, "input");
  if (forward > 0) {
    const own = add("forward", "forward", forward, "compute");
    link(last, own);
    last = own;
  }
  // Ready to rounding at the end of backward is ready at its end.
  const nearEnd = backward * (1 - 1e-12);
  const ready = buckets.map((bucket) => (bucket.ready < nearEnd ? bucket.ready : backward));
  const cuts = [...new Set([0, backward, ...ready])].sort((a, b) => a - b);
  const reached = new Map([[0, last]]);
  cuts.slice(1).forEach((high, k) => {
    const piece = add(`backward ${k + 1}`, "backward", high - (cuts[k] as number), "compute");
    link(last, piece);
    reached.set(high, piece);
    last = piece;
  });
  let exchange: string | null = null;
  buckets.forEach((bucket, k) => {
    exchange = add(`exchange ${k + 1}`, "exchange", bucket.service, "link");
    link(reached.get(ready[k] as number) as string, exchange);
  });
  add("optimizer", "optimizer", optimizer, "compute");
  link(last, "optimizer");
  if (exchange !== null) link(exchange, "optimizer");
  return { schema: SCHEMA, name, target: null, phases, dependencies };
}
