// The conversation with Python and with other widgets of the page. The page owns a gesture, Python
// owns the model: while a bar is dragged nothing from outside moves it, each release is one commit,
// and whatever crossed a commit on its way is sorted out so that both ends hold the same timeline.

import { type Edit, rebase, sameDoc } from "./edits";
import { followPhase } from "./follow";
import { advance, type Entry } from "./history";
import type { Ledger } from "./ledger";
import {
  type Answer,
  type ModelLike,
  pageName,
  readAnswer,
  readRevision,
  type Revision,
  sameRevision,
  sameSchedule,
  solvedByPython,
} from "./protocol";
import { Refused, type TimelineDoc } from "./types";
import { readDoc } from "./validate";

export interface Status {
  readonly kernel: "live" | "waiting" | "silent" | "none";
  readonly message: string | null;
  readonly level: "info" | "refused" | "error";
}

/** What the wire needs of its session. */
export interface Host {
  readonly model: ModelLike;
  readonly ledger: Ledger;
  readonly dragging: boolean;
  readonly status: Status;
  setStatus(change: Partial<Status>): void;
  /** The committed timeline is another one now. */
  changed(): void;
  /** Change the model without hearing it as news from outside. */
  write(change: () => void): void;
}

/** How long a kernel may take to answer before the page says so, ms. */
export const PATIENCE = 3000;
const SILENT = "The kernel is not answering: your edits stay here.";

/** A commit that Python has not answered yet. */
interface Sent {
  readonly revision: Revision;
  readonly entry: Entry;
  /** null: nothing to replay on another timeline (an undo, a reset). */
  readonly edit: Edit | null;
}

/** A timeline from outside. */
interface News {
  readonly doc: TimelineDoc;
  readonly revision: Revision;
  /** From a link inside the page: Python has not seen it. */
  readonly fromPage: boolean;
}

export class Wire {
  readonly #host: Host;
  readonly #page = pageName();
  #number = 0;
  /** The revision of the committed document … */
  #revision: Revision;
  /** … and the document it is about: one that a link in the page brought has no revision yet. */
  #about: TimelineDoc;
  /** What was said of an answer unlike the page's own, until one agrees. */
  #disagreement = "";
  #value: unknown;
  #answer: unknown;
  /** What came while a bar was being dragged. */
  #pending: News | null = null;
  #sent: Sent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(host: Host) {
    this.#host = host;
    this.#value = host.model.get("value");
    this.#answer = host.model.get("_answer");
    this.#revision = readRevision(host.model.get("_revision"));
    this.#about = host.ledger.doc;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  // To Python

  /** Send a commit: the value and its revision, in one save. */
  send(entry: Entry, edit: Edit | null): void {
    this.#save(true);
    const { kernel } = this.#host.status;
    // What was refused before is history once something else went well.
    this.#host.setStatus({ message: kernel === "silent" ? SILENT : null, level: "info" });
    if (kernel !== "none") {
      this.#sent.push({ revision: this.#revision, entry, edit });
      this.#timer ??= setTimeout(() => this.#fallSilent(), PATIENCE);
      if (kernel === "live") this.#host.setStatus({ kernel: "waiting" });
    }
    this.#host.changed();
  }

  #save(withValue: boolean): void {
    if (this.#closed) return;
    const { model, ledger } = this.#host;
    const before = this.#about;
    this.#about = ledger.doc;
    this.#revision = { page: this.#page, number: ++this.#number };
    this.#host.write(() => {
      if (withValue) {
        model.set("value", ledger.doc);
        this.#value = ledger.doc;
      }
      model.set("_revision", this.#revision);
      const selected = model.get("selected");
      if (typeof selected === "string" && !ledger.solved.index.has(selected)) {
        model.set("selected", followPhase(selected, before, ledger.doc));
      }
      model.save_changes();
    });
  }

  #fallSilent(): void {
    this.#timer = undefined;
    this.#host.setStatus({ kernel: "silent", message: SILENT, level: "info" });
  }

  // From outside

  /** Look at what the model holds now; called on each change, in whichever order they come. */
  receive(): void {
    const { model, dragging, ledger } = this.#host;
    const value = model.get("value");
    const revision = readRevision(model.get("_revision"));
    if (value !== this.#value) {
      this.#value = value;
      // Python, and other windows through it, send a revision along; a link in the page does not.
      const known = this.#pending?.revision ?? this.#revision;
      const news = this.#read(value, revision, sameRevision(revision, known));
      // The kernel's echo of a commit comes as another object: no news, and nothing to answer.
      const held = this.#pending === null && this.#about === ledger.doc ? ledger.doc : this.#pending?.doc;
      const echo = news?.fromPage && held !== undefined && sameDoc(news.doc, held);
      if (news !== null && !echo) {
        if (dragging) this.#pending = news;
        else this.#adopt(news);
      }
    } else if (this.#pending === null && revision.page !== this.#page) {
      this.#revision = revision;
    }
    this.#receiveAnswer();
  }

  #read(value: unknown, revision: Revision, fromPage: boolean): News | null {
    try {
      return { doc: readDoc(value), revision, fromPage };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const message = `A timeline that came from outside was refused: ${error.message}`;
      this.#host.setStatus({ message, level: "error" });
      queueMicrotask(() => this.#save(true));
      return null;
    }
  }

  /** After a gesture: take what came meanwhile, and put the gesture's edit on top of it. */
  finish(edit: Edit | null): void {
    const { ledger } = this.#host;
    const before = ledger.doc;
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) this.#adopt(pending);
    if (edit === null) return;
    try {
      const moved = pending === null ? edit : rebase(edit, before, ledger.doc);
      const entry = ledger.edit(moved);
      if (entry !== null) this.send(entry, moved);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const why =
        pending === null
          ? error.message
          : `Another timeline came while you dragged, and the edit no longer fits: ${error.message}`;
      this.#host.setStatus({ message: why, level: "refused" });
    }
  }

  /** Take a timeline from outside, and make again on it what Python had not seen yet. */
  #adopt({ doc, revision, fromPage }: News): void {
    const { model, ledger } = this.#host;
    const answer = readAnswer(model.get("_answer"));
    const rejected = !fromPage && answer?.rejected?.page === this.#page ? answer.rejected.number : 0;
    const refused = this.#sent.find((sent) => sent.revision.number === rejected);
    const unseen = fromPage ? [] : this.#sent.filter((sent) => sent.revision.number > rejected);
    const origin = unseen[0]?.entry.before.doc ?? ledger.doc;
    this.#sent = [];
    this.#revision = revision;
    const restored = refused !== undefined && ledger.history.dropFrom(refused.entry);
    if (restored) ledger.show(refused.entry.before);
    const state = advance(ledger.state, { op: "replace", doc }, doc);
    if (!restored) ledger.record(state, `timeline from ${whence(revision, fromPage)}`);
    else if (!sameDoc(doc, ledger.doc)) ledger.show(state);
    if (!fromPage) this.#about = ledger.doc;
    if (unseen.length > 0) this.#replay(unseen, origin);
    else if (fromPage) queueMicrotask(() => this.#save(false));
    this.#host.changed();
    this.#answer = null; // one that came during a drag counts now
    this.#receiveAnswer();
  }

  #replay(unseen: readonly Sent[], origin: TimelineDoc): void {
    const { ledger } = this.#host;
    let from = origin;
    let made = false;
    for (const { edit, entry } of unseen) {
      try {
        if (edit === null) throw new Refused(`“${entry.label}” came too late.`);
        const moved = rebase(edit, from, ledger.doc);
        const again = ledger.edit(moved);
        if (again !== null) this.send(again, moved);
        made ||= again !== null;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const message = `Python set another timeline meanwhile. ${error.message}`;
        this.#host.setStatus({ message, level: "refused" });
      }
      from = entry.after.doc;
    }
    // The old commits are still on their way to Python: send what counts after them.
    if (!made) this.#save(true);
  }

  #receiveAnswer(): void {
    const raw = this.#host.model.get("_answer");
    if (raw === this.#answer) return;
    this.#answer = raw;
    const answer = readAnswer(raw);
    if (answer === null || this.#host.status.kernel === "none") return;
    const known = this.#about === this.#host.ledger.doc;
    const latest = known && sameRevision(answer.revision, this.#revision);
    const mine = answer.revision.page === this.#page || answer.rejected?.page === this.#page;
    if (!latest && !mine) return; // about a timeline this page does not show
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (answer.error !== null) {
      const message = `Python refused what the page sent and put it right: ${answer.error}`;
      this.#host.setStatus({ kernel: "live", message, level: "error" });
    }
    if (latest) {
      this.#sent = [];
      if (answer.error === null) this.#compare(answer);
      return;
    }
    // Stale: a newer commit is on its way. But the kernel lives.
    this.#sent = this.#sent.filter((sent) => sent.revision.number > answer.revision.number);
    if (this.#sent.length > 0) this.#timer = setTimeout(() => this.#fallSilent(), PATIENCE);
  }

  #compare(answer: Answer): void {
    const { ledger, status } = this.#host;
    const over = status.message === SILENT || status.message === this.#disagreement;
    this.#host.setStatus({ kernel: "live", message: over ? null : status.message });
    const own = ledger.solve(ledger.doc);
    const python = solvedByPython(answer, own);
    if (python !== null && sameSchedule(python, own)) {
      if (sameSchedule(own, ledger.solved)) return;
      ledger.correct(own); // an answer before this one said otherwise
      this.#host.changed();
      return;
    }
    const both = `Python’s schedule (${answer.completion} ms) differs from the page’s (${own.completion} ms)`;
    const message = python === null ? `${both}.` : `${both}: Python’s is shown.`;
    this.#disagreement = message;
    this.#host.setStatus({ message, level: "error" });
    if (python === null) return;
    ledger.correct(python);
    this.#host.changed();
  }
}

function whence(revision: Revision, fromPage: boolean): string {
  if (fromPage) return "a linked widget";
  return revision.page === "" ? "Python" : "another window";
}
