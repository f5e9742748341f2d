/** What the eye finds first: the completion, what changed, what is exposed, the two wrong answers. */

import { breakdown, exposed, plainMaximum, plainSum, ranks, slowestRank } from "../model/measures";
import type { Solved } from "../model/solver";
import { attr, html, show, text } from "./dom";
import { ms, negligible, number, percent, signed, speedup } from "./format";
import type { Context } from "./state";

/** What a plain sum adds up; the rest of a step (waiting, host, nothing) is not in it. */
const ADDED = new Set(["input", "forward", "backward", "recompute", "exchange", "optimizer"]);

export class Headline {
  readonly element: HTMLElement;
  private readonly completion = html("output", { class: "sv-completion-now", "data-role": "completion" });
  private readonly change = html("span", { class: "sv-pill-change", "data-role": "change" });
  private readonly caption = html("div", { class: "sv-caption", "data-role": "caption", dir: "auto" });
  private readonly exposedNow = html("b", { class: "sv-exposed", "data-role": "exposed" });
  private readonly exposedWas = html("span", { class: "sv-dim sv-was" });
  private readonly of = html("span");
  private readonly rank = html("button", { type: "button", class: "sv-link", "data-role": "go-to-rank" });
  private readonly verdict = html("div", { class: "sv-dim", "data-role": "verdict" });
  private readonly sum = html("span", { class: "sv-answer", "data-role": "plain-sum", title: "the sum: all categories added, as if nothing overlapped" });
  private readonly maximum = html("span", { class: "sv-answer", "data-role": "plain-maximum", title: "the maximum: the largest category alone, as if everything overlapped" });
  private leading = 0;

  constructor(private readonly context: Context, goTo: (rank: number) => void) {
    this.rank.addEventListener("click", () => goTo(this.leading));
    this.element = html("div", { class: "sv-headline" },
      html("div", { class: "sv-figure" },
        html("div", { class: "sv-figure-row" }, this.completion,
          html("span", { class: "sv-change" }, this.change)), this.caption),
      html("div", { class: "sv-side sv-side-exposed" }, html("div", { class: "sv-dim" }, "exposed exchange", this.of, this.rank),
        html("div", {}, this.exposedNow, " ", this.exposedWas)),
      html("div", { class: "sv-side sv-side-wrong" }, this.verdict,
        html("div", { class: "sv-wrong" }, this.sum, " ", this.maximum)));
  }

  update(solved: Solved): void {
    const { baseline, baselineName } = this.context.session;
    const now = solved.completion;
    const was = baseline.completion;
    const difference = now - was;
    const same = negligible(difference, was);
    text(this.completion, ms(now));
    text(this.change, same ? "no change"
      : [`${signed(difference)} ms`, speedup(was, now), percent(difference, was)].filter((part) => part !== "").join(" · "));
    attr(this.change, "data-trend", same ? "same" : difference < 0 ? "better" : "worse");
    const { doc } = solved;
    const what = doc.target === null ? "completion of the step" : `completion of ${doc.target}`;
    const caption = [what, doc.name, `baseline ${baselineName === "baseline" ? "" : `${baselineName} `}${ms(was)}`]
      .filter((part) => part !== "").join(" · ");
    text(this.caption, caption);
    attr(this.caption, "title", caption);
    // From the document, so that the very first frame is as wide and high as all later ones.
    const rank = this.leading = slowestRank(solved);
    const several = ranks(doc).length > 1;
    attr(this.element, "data-ranks", several ? "several" : "one");
    show(this.rank, several);
    text(this.of, several ? ", " : "");
    text(this.rank, `rank ${rank}`);
    attr(this.rank, "title", `show rank ${rank}, the slowest`);
    const open = exposed(solved, "exchange").get(rank) ?? 0;
    const before = exposed(baseline, "exchange").get(slowestRank(baseline)) ?? 0;
    text(this.exposedNow, ms(negligible(open, now) ? 0 : open));
    text(this.exposedWas, negligible(open - before, was) ? "" : `was ${number(before)}`);
    this.judge(solved, rank);
  }

  /** Strike out the answers that are wrong, and only those. */
  private judge(solved: Solved, rank: number): void {
    const { completion } = solved;
    const answers = [plainSum(solved), plainMaximum(solved)] as const;
    const right = answers.map((answer) => negligible(answer - completion, completion));
    [this.sum, this.maximum].forEach((element, k) => {
      text(element, ms(answers[k] as number));
      attr(element, "data-wrong", right[k] ? null : "");
    });
    text(this.verdict, verdict(right, negligible(completion), () => {
      const added = breakdown(solved, rank).reduce((sum, row) => sum + (ADDED.has(row.row) ? row.ms : 0), 0);
      return negligible(added - completion, completion);
    }));
  }
}

function verdict(right: readonly boolean[], nothing: boolean, gapless: () => boolean): string {
  const [sum, maximum] = right;
  if (nothing) return "sum, maximum";
  if (sum && maximum) return "here both are right";
  // Equal by chance is no reason: overlap and gaps may cancel.
  if (sum) return gapless() ? "here the sum is right: nothing overlaps" : "here the sum is right by chance";
  if (maximum) return "here the maximum is right";
  return "not the sum, not the maximum";
}
