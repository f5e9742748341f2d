/** What a closed widget leaves in the page. */

type Heard = (closing?: Closing) => void;
interface Told { on(event: string, listener: Heard): void }

/** As much of a Jupyter model as this needs; other programs' have less, and no model is closed there so. */
interface Closing {
  /** Its line to Python, until everybody who asked has heard that it closes. */
  readonly comm?: { on_close(heard: () => void): void; on_msg(heard: () => void): void } | undefined;
  off?(event: string, listener: Heard): void;
}

const forget = (): void => {};
const cut: Heard = (closing) => {
  closing?.comm?.on_close(forget);
  closing?.comm?.on_msg(forget);
  closing?.off?.("destroy", cut);
};

/**
 * Let a model go once it is closed. In JupyterLab 4 each comm listens to its kernel's status and never
 * stops. It would keep whom it calls: the closed model, with its traits, its module and its styles.
 */
export function freeWhenClosed(model: Told & { get(key: string): unknown }): void {
  model.on("destroy", cut);
  const layout = model.get("layout");
  if (canBeHeard(layout)) layout.on("destroy", cut); // a model too, with a comm of its own
}

function canBeHeard(value: unknown): value is Told {
  return typeof value === "object" && value !== null && typeof (value as Partial<Told>).on === "function";
}
