/** What the eye finds first: the completion, what changed, what is exposed, the two wrong answers. */

import { exposed, plainMaximum, plainSum } from "../model/measures";
import type { Solved } from "../model/solver";
import { attr, html, text } from "./dom";
import { ms, number, percent, signed, speedup } from "./format";
import { leadingRank } from "./slowest";
import type { Context } from "./state";

export class Headline {
  readonly element: HTMLElement;
  private readonly completion = html("output", { class: "sv-completion-now", "data-role": "completion" });
  private readonly change = html("span", { class: "sv-pill-change", "data-role": "change" });
  private readonly caption = html("div", { class: "sv-caption", "data-role": "caption" });
  private readonly exposedNow = html("b", { class: "sv-exposed", "data-role": "exposed" });
  private readonly exposedWas = html("span", { class: "sv-dim sv-was" });
  private readonly exposedLabel = html("div", { class: "sv-dim" }, "exposed exchange");
  private readonly sum = html("s", { "data-role": "plain-sum", title: "all categories added: as if nothing overlapped" });
  private readonly maximum = html("s", { "data-role": "plain-maximum", title: "the largest category alone: as if everything overlapped" });

  constructor(private readonly context: Context) {
    this.element = html("div", { class: "sv-headline" },
      html("div", { class: "sv-figure" },
        html("div", { class: "sv-figure-row" }, this.completion,
          html("span", { class: "sv-change" }, this.change)), this.caption),
      html("div", { class: "sv-side" }, this.exposedLabel,
        html("div", {}, this.exposedNow, " ", this.exposedWas)),
      html("div", { class: "sv-side" }, html("div", { class: "sv-dim" }, "not the sum, not the maximum"),
        html("div", { class: "sv-wrong" }, this.sum, " ", this.maximum)));
  }

  update(solved: Solved): void {
    const { baseline, baselineName } = this.context.session;
    const now = solved.completion;
    const was = baseline.completion;
    const difference = now - was;
    const same = Math.abs(difference) <= 1e-9 * Math.max(1, was);
    text(this.completion, ms(now));
    text(this.change, same ? "no change"
      : `${signed(difference)} ms · ${speedup(was, now)} · ${percent(difference, was)}`);
    attr(this.change, "data-trend", same ? "same" : difference < 0 ? "better" : "worse");
    const { doc } = solved;
    const what = doc.target === null ? "completion of the step" : `completion of ${doc.target}`;
    text(this.caption, [what, doc.name, `baseline ${baselineName === "baseline" ? "" : `${baselineName} `}${ms(was)}`]
      .filter((part) => part !== "").join(" · "));
    const rank = leadingRank(solved);
    const several = this.context.root.dataset["ranks"] !== "1";
    text(this.exposedLabel, several ? `exposed exchange, rank ${rank}` : "exposed exchange");
    const open = exposed(solved, "exchange").get(rank) ?? 0;
    const before = exposed(baseline, "exchange").get(leadingRank(baseline)) ?? 0;
    text(this.exposedNow, ms(open));
    text(this.exposedWas, Math.abs(open - before) > 1e-9 * Math.max(1, was) ? `was ${number(before)}` : "");
    text(this.sum, ms(plainSum(solved)));
    text(this.maximum, ms(plainMaximum(solved)));
  }
}
