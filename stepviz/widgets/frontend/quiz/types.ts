/** A quiz as Python describes it (`stepviz/widgets/quiz.py`). */

/** A wrong answer whose source is known. */
export interface Mistake {
  readonly answer: number | string;
  /** The answer as it is written. */
  readonly text: string;
  readonly words: string;
}

export interface QuizDoc {
  readonly question: string;
  readonly kind: "number" | "choice";
  readonly answer: number | string;
  readonly text: string;
  readonly unit: string;
  /** In which units a number may be given, each with its factor to `unit`. */
  readonly units: Readonly<Record<string, number>>;
  readonly choices: readonly string[];
  readonly wrong: readonly Mistake[];
  readonly why: string;
  /** How far off a number may be, as a share of the answer. */
  readonly tolerance: number;
}

export type Answer = number | string | null;

export interface Judgement {
  readonly outcome: "right" | "mistake" | "wrong" | "unread";
  readonly value: Answer;
  readonly words: string;
}

export interface ModelLike {
  /** False in a saved page, where no Python can save the picture. */
  readonly kernel?: boolean;
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener?: () => void): void;
}
