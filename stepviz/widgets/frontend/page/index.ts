/** Starts the widgets of a page: reads each part's data, makes its models and shows them. */

import { type Kernel, PageModel, type State } from "./model";

interface Life { model: PageModel; signal: AbortSignal; el?: HTMLElement }
interface Widget {
  initialize?(life: Life): unknown;
  render(life: Life & { el: HTMLElement }): unknown;
}
type Module = (() => Widget | Promise<Widget>) | Widget;
export type MakeKernel = (models: readonly PageModel[], given: unknown) => Kernel | Promise<Kernel>;

interface Part {
  readonly models: readonly { readonly bundle: string; readonly state: State }[];
  readonly kernel: string;
  readonly given: unknown;
}

async function startPart(
  place: HTMLElement, part: Part, widgets: Readonly<Record<string, Module>>, kernels: Readonly<Record<string, MakeKernel>>,
): Promise<void> {
  let kernel: Kernel | null = null;
  const models = part.models.map(({ state }) => new PageModel(state, () => kernel));
  const make = kernels[part.kernel];
  if (make !== undefined) kernel = await make(models, part.given);
  const { signal } = new AbortController();
  for (const [k, { bundle }] of part.models.entries()) {
    const model = models[k] as PageModel;
    const module = widgets[bundle] as Module;
    const widget = typeof module === "function" ? await module() : module;
    await widget.initialize?.({ model, signal });
    const el = document.createElement("div");
    place.append(el);
    await widget.render({ model, el, signal });
  }
}

export default function start(
  page: Document, widgets: Readonly<Record<string, Module>>, kernels: Readonly<Record<string, MakeKernel>>,
): void {
  for (const script of page.querySelectorAll('.sv-page-part > script[type="application/json"]')) {
    const place = script.parentElement as HTMLElement;
    const data = JSON.parse(script.textContent ?? "") as Part;
    script.remove();
    startPart(place, data, widgets, kernels).catch((error: unknown) => {
      console.error("stepviz: a widget could not be shown", error);
      const said = page.createElement("p");
      said.textContent = `This widget could not be shown: ${error instanceof Error ? error.message : String(error)}`;
      place.append(said);
    });
  }
}
