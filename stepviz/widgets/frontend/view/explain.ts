/** Sentences: what holds a phase, and why a change bought nothing. Pure. */

import { type Sensitivity, sensitivity } from "../model/sensitivity";
import type { ScheduledDependency, Solved } from "../model/solver";
import type { LinkType, Phase } from "../model/types";
import { lag, ms, number } from "./format";

const ENDS: Record<LinkType, [string, string]> = {
  FS: ["starts", "has finished"], SS: ["starts", "has started"],
  FF: ["finishes", "has finished"], SF: ["finishes", "has started"],
};

export const nameOf = (solved: Solved, row: number): string => (solved.doc.phases[row] as Phase).phase;

export function arrowName(dependency: { type: LinkType; lag: number }): string {
  return `${dependency.type}${lag(dependency.lag)}`;
}

function after(amount: number): string {
  return amount === 0 ? "" : amount > 0 ? ` + ${ms(amount)}` : ` − ${ms(-amount)}`;
}

export function bindingOf(solved: Solved, row: number): ScheduledDependency | null {
  return solved.dependencies[solved.binding[row] ?? -1] ?? null;
}

/** What decides when a phase starts: [what it waits for, where that knowledge is from]. */
export function startsWhen(solved: Solved, row: number): [string, string] {
  const phase = solved.doc.phases[row] as Phase;
  const binding = bindingOf(solved, row);
  if (!binding) {
    return phase.release > 0 && Math.abs(phase.release - (solved.start[row] as number)) <= 1e-9 * Math.max(1, phase.release)
      ? [`its release at ${ms(phase.release)}, a pin you can remove`, ""]
      : ["nothing holds it: it starts with the step", ""];
  }
  const source = nameOf(solved, binding.source);
  const [verb, event] = ENDS[binding.type];
  const sentence = verb === "starts"
    ? `${source} ${event}${after(binding.lag)} (${binding.type})`
    : `it can finish once ${source} ${event}${after(binding.lag)} (${binding.type})`;
  return [sentence, originNote(binding.origin)];
}

export function originNote(origin: ScheduledDependency["origin"]): string {
  if (origin === "lane") return "the order of its lane";
  return { assumed: "assumed, not recorded", recorded: "recorded in a trace", inferred: "inferred from a trace" }[origin];
}

/** "held by backward (FF + 50)": for the tooltip while a bar won't follow the hand. */
export function heldBy(solved: Solved, row: number): string {
  const binding = bindingOf(solved, row);
  if (!binding) return "nothing holds it";
  const source = nameOf(solved, binding.source);
  return binding.origin === "lane" ? `held by ${source}, before it in the lane`
    : `held by ${source} (${arrowName(binding)})`;
}

const isFinish = (type: LinkType): boolean => type === "FF" || type === "SF";

/** The incoming dependency that holds a phase's finish, so that its length moves its start instead. */
export function finishHolder(solved: Solved, row: number): ScheduledDependency | null {
  const tolerance = 1e-9 * Math.max(1, solved.completion);
  for (const dependency of solved.dependencies) {
    if (dependency.target !== row || !isFinish(dependency.type)) continue;
    const base = dependency.type === "FF" ? solved.finish : solved.start;
    const earliest = (base[dependency.source] as number) + dependency.lag;
    if (Math.abs(earliest - (solved.finish[row] as number)) <= tolerance) return dependency;
  }
  return null;
}

/** The phase that a phase's most urgent successor is waiting for instead of it. */
function whoLeads(solved: Solved, row: number): string {
  let tightest: ScheduledDependency | null = null;
  for (const dependency of solved.dependencies) {
    if (dependency.source === row && (!tightest || dependency.slack < tightest.slack)) tightest = dependency;
  }
  if (!tightest) return "";
  const successor = nameOf(solved, tightest.target);
  const binding = bindingOf(solved, tightest.target);
  if (binding && binding.source !== row) return `; ${successor} waits for ${nameOf(solved, binding.source)} instead`;
  return "";
}

/**
 * Why changing one duration did not move the completion, or moved it by less than the change:
 * null where the change is bought in full.
 */
export function whyNot(
  before: Solved, after: Solved, name: string,
  takeoverOf: () => Sensitivity["takeover"] = () => sensitivity(before.doc, name).takeover,
): string | null {
  const was = before.index.get(name);
  const row = after.index.get(name);
  if (was === undefined || row === undefined) return null;
  const change = (after.doc.phases[row] as Phase).duration - (before.doc.phases[was] as Phase).duration;
  const tolerance = 1e-9 * Math.max(1, before.completion);
  const gain = after.completion - before.completion;
  if (Math.abs(change) <= tolerance || Math.abs(gain - change) <= tolerance) return null;
  const nothing = Math.abs(gain) <= tolerance;
  const verb = change < 0 ? "shortening" : "lengthening";
  const holder = finishHolder(after, row) ?? null;
  if (nothing && holder) {
    const source = nameOf(after, holder.source);
    return `${name}’s finish is held by ${source} (${arrowName(holder)}): ${verb} it only moves its start.`;
  }
  const float = before.totalFloat[was] as number;
  if (nothing && change < 0 && float > tolerance) {
    return `${name} is not on the critical path: it had ${ms(float)} of float already${whoLeads(before, was)}.`;
  }
  if (nothing && change > 0) {
    const left = after.totalFloat[row] as number;
    return left > tolerance
      ? `${name} had ${ms(float)} of float: ${ms(left)} are left before it delays the step.`
      : `${name} has used up its float exactly: any more delays the step.`;
  }
  if (change > 0 && gain > 0) {
    return `The first ${number(change - gain)} ms were float; the step waits for the other ${number(gain)} ms.`;
  }
  if (change < 0 && gain > tolerance) {
    return `Shortening ${name} lengthens the step: its finish holds others back through ${incoming(after, row)}.`;
  }
  if (change < 0) {
    const takeover = takeoverOf();
    if (takeover && takeover.phase !== name) {
      return nothing
        ? `Another path is as long: ${takeover.phase} leads without ${name}.`
        : `Only ${number(-gain)} of the ${number(-change)} ms count: after that ${takeover.phase} leads.`;
    }
    return nothing ? `${name}’s length does not decide the completion here.` : null;
  }
  return null;
}

function incoming(solved: Solved, row: number): string {
  const holder = solved.dependencies.find((other) => other.source === row && other.type[0] === "F");
  return holder ? `its arrow to ${nameOf(solved, holder.target)} (${arrowName(holder)})` : "its start";
}

/** One spoken line after a commit. */
export function result(solved: Solved, baseline: Solved, name: string): string {
  const baselineName = name === "baseline" ? "the baseline" : name;
  const difference = solved.completion - baseline.completion;
  const compared = Math.abs(difference) <= 1e-9 * Math.max(1, baseline.completion)
    ? `as in ${baselineName}`
    : `${ms(Math.abs(difference))} ${difference < 0 ? "sooner" : "later"} than ${baselineName}`;
  return `Completion ${ms(solved.completion)}, ${compared}.`;
}
