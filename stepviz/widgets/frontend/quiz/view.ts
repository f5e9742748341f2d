/** A question, what was answered, and, only then, why. */

import { OWN_KEYS } from "../knobs/keys";
import { attr, button, html, show } from "../view/dom";
import { number } from "../view/format";
import { saveButtons } from "../view/saving";
import { judge, judgeNumber } from "./answers";
import { pieces } from "./pieces";
import type { Answer, Judgement, ModelLike, QuizDoc } from "./types";

const TRAITS = ["value", "revealed", "_quiz"] as const;
const WORDS = { right: "Right", mistake: "Not that", wrong: "Not that", unread: "" } as const;
const SIGNS = { right: "✓", mistake: "✗", wrong: "✗", unread: "" } as const;

export class QuizView {
  readonly root: HTMLElement;
  /** Each widget of a page has a module of its own, so a count would begin anew in each. */
  private readonly id = `qz-${Math.random().toString(36).slice(2, 10)}`;
  private readonly form = html("form", { class: "qz-form", novalidate: true });
  private readonly question = html("p", { class: "qz-question", id: `${this.id}-question` });
  private readonly entry = html("div", { class: "qz-entry" });
  private readonly verdict = html("div", { class: "qz-verdict", role: "status", tabindex: -1, id: `${this.id}-verdict`, "data-role": "verdict", ...OWN_KEYS });
  private readonly others = html("div", { class: "qz-others", "data-role": "others" });
  private readonly check = html("button", { ...OWN_KEYS, type: "submit", class: "sv-primary", "data-role": "check" }, "Check");
  private readonly reveal: HTMLButtonElement;
  private readonly again: HTMLButtonElement;
  private drawn: QuizDoc | null = null;
  /** What can't be read is told here only; it is no answer. */
  private unread: Judgement | null = null;
  /** Another answer is being written, so what was said of the last one is out of date. */
  private writing = false;
  private said = "";

  constructor(private readonly model: ModelLike, signal: AbortSignal) {
    this.reveal = button("show the answer", "Show the answer", { ...OWN_KEYS, "data-role": "reveal" }, () => this.shown(), signal);
    this.again = button("start over", "Start over", { ...OWN_KEYS, "data-role": "again" }, () => this.restart(), signal);
    this.form.append(this.entry, html("div", { class: "qz-buttons" }, this.check, this.reveal, this.again));
    this.root = html("section", { class: "stepviz qz", "aria-labelledby": this.question.id, ...OWN_KEYS, tabindex: -1 },
      this.question, this.form, this.verdict, this.others);
    // A notebook has many questions, and `save_svg` for each; a page has its buttons only.
    if (model.kernel === false) this.root.append(saveButtons(this.root, "question", OWN_KEYS, signal));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    }, { signal });
    this.form.addEventListener("keydown", (event) => {
      const plain = event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
      if (!plain || !(event.target instanceof HTMLInputElement)) return;
      event.preventDefault(); // JupyterLab keeps Enter from submitting a form
      event.stopPropagation();
      this.submit();
    }, { signal });
    this.form.addEventListener("input", () => {
      this.writing = true;
      this.unread = null;
      this.refresh();
    }, { signal });
    const changed = (): void => {
      this.writing = false;
      this.unread = null;
      this.refresh();
    };
    for (const name of TRAITS) model.on(`change:${name}`, changed);
    signal.addEventListener("abort", () => {
      for (const name of TRAITS) model.off(`change:${name}`, changed);
    });
    this.refresh();
  }

  private get quiz(): QuizDoc {
    return this.model.get("_quiz") as QuizDoc;
  }

  /** What is typed or chosen now. */
  private get given(): string {
    const chosen = this.entry.querySelector<HTMLInputElement>("input:checked");
    return this.quiz.kind === "choice" ? chosen?.value ?? "" : this.entry.querySelector("input")?.value ?? "";
  }

  private submit(): void {
    const found = judge(this.quiz, this.given);
    this.writing = false;
    this.unread = found.outcome === "unread" ? found : null;
    if (this.unread === null) this.save({ value: found.value });
    this.said = ""; // the same answer again is said again
    this.refresh();
    if (this.unread !== null) this.entry.querySelector<HTMLElement>("input")?.focus();
  }

  private shown(): void {
    this.save({ revealed: true });
    this.refresh();
    this.verdict.focus(); // the button that had the focus is gone
  }

  private restart(): void {
    this.save({ value: null, revealed: false });
    for (const input of this.entry.querySelectorAll("input")) {
      if (this.quiz.kind === "choice") input.checked = false;
      else input.value = "";
    }
    this.refresh();
    this.entry.querySelector<HTMLElement>("input")?.focus();
  }

  private save(changes: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.model.save_changes();
  }

  private refresh(): void {
    const { quiz } = this;
    if (this.drawn !== quiz) this.draw(quiz);
    const value = (this.model.get("value") ?? null) as Answer;
    const revealed = this.model.get("revealed") === true;
    if (!this.writing && this.unread === null) this.fill(quiz, value);
    const found = this.unread ?? (value === null || this.writing ? null : typeof value === "number" ? judgeNumber(quiz, value) : judge(quiz, value));
    const open = revealed || found?.outcome === "right";
    this.tell(quiz, found, revealed);
    for (const label of this.entry.querySelectorAll<HTMLElement>("label[data-choice]")) {
      const { choice } = label.dataset;
      const state: "right" | "wrong" | null = open && choice === quiz.answer ? "right" : found !== null && choice === found.value ? "wrong" : null;
      attr(label, "data-state", state);
      (label.querySelector(".qz-sign") as HTMLElement).textContent = state === null ? "" : SIGNS[state];
    }
    const field = this.entry.querySelector<HTMLInputElement>("input[type=text]");
    if (field !== null) attr(field, "aria-invalid", this.unread === null ? null : "true");
    show(this.reveal, value !== null && !open);
    show(this.again, open);
    show(this.others, open && quiz.wrong.length > 0);
  }

  private draw(quiz: QuizDoc): void {
    this.drawn = quiz;
    this.question.replaceChildren(...pieces(quiz.question));
    const described = { "aria-describedby": this.verdict.id, ...OWN_KEYS };
    if (quiz.kind === "choice") {
      this.entry.replaceChildren(html("div", { role: "radiogroup", class: "qz-choices", "aria-labelledby": this.question.id }, ...quiz.choices.map((choice) =>
        html("label", { class: "qz-choice", "data-choice": choice },
          html("input", { ...described, type: "radio", name: this.id, value: choice }), html("span", {}, ...pieces(choice)), html("span", { class: "qz-sign", "aria-hidden": "true" })))));
    } else {
      const field = html("input", { ...described, type: "text", autocomplete: "off", spellcheck: "false", inputmode: "text", id: `${this.id}-field`, size: 14, "data-role": "field" });
      this.entry.replaceChildren(html("label", { for: field.id }, "Your answer"), field, html("span", { class: "qz-unit", "aria-hidden": "true" }, quiz.unit));
      if (quiz.unit !== "") attr(field, "aria-label", `your answer, in ${quiz.unit}`);
    }
    this.others.replaceChildren(html("details", {},
      html("summary", OWN_KEYS, "Other answers, and where they come from"),
      html("dl", {}, ...quiz.wrong.flatMap((one) => [html("dt", {}, ...pieces(one.text)), html("dd", {}, ...pieces(one.words))]))));
  }

  /** Show what the model holds, unless the field says it already in other words. */
  private fill(quiz: QuizDoc, value: Answer): void {
    if (quiz.kind === "choice") {
      for (const input of this.entry.querySelectorAll<HTMLInputElement>("input")) input.checked = input.value === value;
      return;
    }
    const field = this.entry.querySelector("input");
    if (field === null || (value !== null && judge(quiz, field.value).value === value)) return;
    field.value = typeof value === "number" ? number(value) : "";
  }

  private tell(quiz: QuizDoc, found: Judgement | null, revealed: boolean): void {
    const outcome = found?.outcome ?? null;
    const state = outcome ?? (revealed ? "revealed" : "");
    const said = `${state}|${found?.words ?? ""}|${revealed}`;
    if (said === this.said) return;
    this.said = said;
    attr(this.verdict, "data-outcome", state === "" ? null : state);
    const parts: HTMLElement[] = [];
    if (found?.outcome === "unread") parts.push(html("p", {}, found.words));
    else if (found !== null) {
      const words = found.outcome === "right" ? quiz.text : found.outcome === "mistake" ? found.words : revealed ? "" : "Think again, or have the answer shown.";
      parts.push(html("p", {}, html("strong", {}, html("span", { "aria-hidden": "true" }, `${SIGNS[found.outcome]} `), `${WORDS[found.outcome]}${words === "" ? "." : ": "}`), ...pieces(words)));
    }
    if (revealed && outcome !== "right") parts.push(html("p", {}, html("strong", {}, "The answer: "), ...pieces(quiz.text)));
    if ((revealed || outcome === "right") && quiz.why !== "") parts.push(html("p", { class: "qz-why", "data-role": "why" }, ...pieces(quiz.why)));
    this.verdict.replaceChildren(...parts);
  }
}
