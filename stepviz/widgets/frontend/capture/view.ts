/** The capture panel: a form, a bar that moves, and the runs there are. */

import { Controls } from "../knobs/controls";
import { Frame } from "../knobs/frame";
import { OWN_KEYS } from "../knobs/keys";
import type { Given } from "../knobs/start";
import { attr, button, html, show, text } from "../view/dom";
import { active } from "../view/focus";
import { RunTable } from "./runs";
import { spokenOf } from "./spoken";
import type { CapturePicture, Job, Table } from "./types";

const HEADINGS = { run: "The run", slow: "What slows it", fabric: "An emulated network", model: "Model and tokens", ddp: "Training", how: "How it runs" };
/** Past this Python is said to be silent, ms. */
const PATIENCE = 3000;

export function renderCapture(given: Given<CapturePicture>, el: HTMLElement, signal: AbortSignal): void {
  const { desk, model } = given;
  const frame = new Frame(desk, "cp", "Capture a run", signal);
  const knobs = given.knobs();
  const group = (...names: string[]): Controls => new Controls(desk, knobs.filter((knob) => names.includes(knob.group)), HEADINGS, signal);
  const [main, rest] = [group("run", "slow", "fabric"), group("model", "ddp", "how")];
  const code = html("div", { class: "kn-numbers cp-code" });

  let silence: ReturnType<typeof setTimeout> | undefined;
  const waiting = html("p", { class: "kn-status", role: "status", hidden: true }, "The kernel is not answering: it may be busy with a cell. Interrupting it stops a capture too.");
  const ask = (content: Record<string, unknown>): void => {
    model.send(content);
    clearTimeout(silence);
    silence = setTimeout(() => show(waiting, true), PATIENCE);
  };
  const answered = (): void => {
    clearTimeout(silence);
    show(waiting, false);
  };
  const run = button("Run the capture", "Run", { ...OWN_KEYS, class: "sv-primary", "data-role": "run" }, () => {
    if (run.ariaDisabled !== "true") ask({ ask: "run", value: desk.value });
  }, signal);
  const stop = button("Stop the capture and end every process of it", "Stop", { ...OWN_KEYS, class: "sv-danger", "data-role": "stop" }, () => ask({ ask: "stop" }), signal);
  const bar = html("progress", { class: "cp-bar", max: 1, "aria-label": "capture" });
  const words = html("span", { class: "cp-words", "data-role": "words" });
  const live = html("div", { class: "sv-live", role: "status", "aria-live": "polite", "data-role": "progress-live" });
  const sentence = html("p", { "data-role": "failure" });
  const lines = html("pre", OWN_KEYS);
  const folded = html("details", {}, html("summary", OWN_KEYS, "Its last lines"), lines);
  const failure = html("div", { class: "kn-status cp-failure", "data-level": "refused", role: "alert" }, sentence, folded);
  const runs = new RunTable({
    choose: (which) => ask({ ask: "choose", run: which }),
    rename: (which, label) => ask({ ask: "rename", run: which, label }),
    remove: (which) => ask({ ask: "remove", run: which }),
  }, signal);

  frame.add(html("h3", {}, "Capture a run"), main.root,
    html("details", { class: "cp-rest", hidden: knobs.length === 0 }, html("summary", OWN_KEYS, "All other options"), rest.root), code,
    html("div", { class: "cp-row" }, run, stop, bar, words), live, waiting, failure, runs.root);
  el.append(frame.root);

  let spoken = "";
  const progress = (): void => {
    const job = model.get("_job") as Job;
    const busy = job.state === "running" || job.state === "stopping";
    const kept = job.state === "idle" || job.state === "stopped" || job.state === "failed";
    // Not `disabled`: keys would lose their place while a capture runs.
    attr(run, "aria-disabled", String(busy || job.missing !== "" || desk.problem !== null));
    attr(stop, "aria-disabled", String(job.state !== "running"));
    if (!busy && stop === active(stop)) run.focus();
    show(stop, busy);
    show(bar, busy || job.state === "done");
    bar.value = job.share;
    attr(frame.root, "data-job", job.state);
    text(words, busy ? `${Math.round(job.share * 100)} % · ${job.words}` : kept && job.words === "" ? job.missing : job.words);
    show(failure, job.problem !== "");
    text(sentence, job.problem);
    text(lines, job.lines);
    show(folded, job.lines !== "");
    const say = spokenOf(job);
    if (say !== spoken && job.state !== "idle") text(live, say);
    spoken = say;
  };
  const table = (): void => runs.draw(model.get("_table") as Table);
  const refresh = (): void => {
    frame.refresh();
    main.refresh();
    rest.refresh();
    if (desk.picture !== null) {
      code.replaceChildren(html("span", { class: "sv-dim" }, "The same in Python: "), html("code", {}, desk.picture.code),
        ...(desk.picture.emulated === "" ? [] : [html("p", { class: "sv-dim" }, desk.picture.emulated)]));
    }
    progress();
  };
  const heard = [["change:_job", (): void => { answered(); progress(); }], ["change:_table", (): void => { answered(); table(); }], ["change:_shown", answered]] as const;
  for (const [event, listener] of heard) model.on(event, listener);
  signal.addEventListener("abort", () => {
    clearTimeout(silence);
    for (const [event, listener] of heard) model.off(event, listener);
    frame.root.remove();
  });
  desk.subscribe(refresh, signal);
  refresh();
  table();
}
