"""Every widget on a page, in every theme, and what axe-core, keys and fingers find there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import stepviz as sv
from stepviz.widgets.viewer_answers import Answers
from tests.browser.driver import SS_FF
from tests.widgets.frontend import FRONTEND

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from playwright.sync_api import Locator, Page

    Open = Callable[..., Page]

#: What JupyterLab says of its themes, as far as the widgets read it.
_LAB: Final = {
    "light": "--jp-layout-color0: #fff; --jp-ui-font-color0: rgba(0, 0, 0, 1);",
    "dark": "--jp-layout-color0: #111; --jp-ui-font-color0: rgba(255, 255, 255, 1);",
}
#: Browser context and JupyterLab's theme. In high contrast the two disagree on purpose.
THEMES: Final[dict[str, tuple[dict[str, str], str]]] = {
    "light": ({"color_scheme": "light"}, "light"),
    "dark": ({"color_scheme": "dark"}, "dark"),
    "high contrast": ({"color_scheme": "dark", "forced_colors": "active"}, "light"),
}
WIDGETS: Final = ("editor", "viewer", "tokens", "planner", "buckets", "capture", "quiz")

QUESTION: Final = {
    "question": "The exchange gets 25 ms faster. When does the step end?",
    "answer": 725,
    "unit": "ms",
    "wrong": {750: "That is the step as it was."},
    "why": "All of the 25 ms are exposed.",
}


def dress(page: Page, theme: str) -> Page:
    """Give a page what JupyterLab's theme gives it."""
    page.add_style_tag(
        content=f"body {{ {_LAB[theme]} background: var(--jp-layout-color0); }}"
        " button.way { color: inherit; background: none; }"
    )
    page.evaluate("light => { document.body.dataset.jpThemeLight = light; }", theme == "light")
    settle(page)
    return page


def open_widget(
    request: pytest.FixtureRequest, name: str, theme: str = "light", **context: Any
) -> Page:
    """Show a widget with something in it: ``page = open_widget(request, "viewer", "dark")``."""
    own, lab = THEMES[theme]
    given = {"context": {"viewport": {"width": 1100, "height": 900}, **own, **context}}
    asked: Callable[[str], Any] = request.getfixturevalue
    if name == "editor":
        page = asked("editor_page")(SS_FF, **given)
    elif name == "viewer":
        page = asked("viewer_page")(Answers(_step()), **given)
    elif name == "quiz":
        page = asked("quiz_page")(sv.Quiz(**QUESTION), **given)
    else:
        page = asked("knob_page")(_knobs(request, name), **given)
    return dress(page, lab)


@cache
def _step() -> Any:
    return sv.sample_run().step()


def _knobs(request: pytest.FixtureRequest, name: str) -> Any:
    if name == "tokens":
        return sv.TokenComparison()
    if name == "planner":
        return sv.RunPlanner(price_per_device_hour=2, downtime_days=1)
    if name == "buckets":
        return sv.BucketExplorer([2.5e6] * 200, backward=100, latency=0.5, bandwidth=10).panel
    panel = request.getfixturevalue("capturing")
    return panel.form


def settle(page: Page) -> None:
    """Wait until Python has answered and two frames were drawn."""
    page.wait_for_selector(".stepviz:not([data-stale]):not([data-waiting])")
    page.evaluate("() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")


def findings(page: Page, within: str = ".stepviz") -> list[str]:
    """Return what axe-core finds serious or critical, each with the element it is about."""
    if page.evaluate("typeof window.axe") == "undefined":
        source = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"
        page.evaluate(source.read_text(encoding="utf-8"))
    found = page.evaluate(
        """async within => (await axe.run(within, { resultTypes: ['violations'] })).violations
          .filter(one => ['serious', 'critical'].includes(one.impact))
          .flatMap(one => one.nodes.map(node => `${one.id} (${one.impact}): ${node.target} `
            + `${node.html.slice(0, 140)} ${node.failureSummary}`))""",
        within,
    )
    return [str(one) for one in found]


# A stop before the widget and one behind it, to see that Tab comes in and goes out again.
_STOPS = """() => {
  const root = document.querySelector('#root');
  for (const [id, where] of [['before', 'beforebegin'], ['behind', 'afterend']]) {
    const stop = document.createElement('button');
    Object.assign(stop, { id, className: 'way', textContent: id });
    root.insertAdjacentElement(where, stop);
  }
}"""

# Where the focus is: a number of its own, what it is, and whether one sees it there.
_HERE = """() => {
  const at = document.activeElement;
  window.walked ??= new Map();
  if (!window.walked.has(at)) window.walked.set(at, window.walked.size);
  const outlined = e => {
    const style = getComputedStyle(e);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  };
  const fill = at.querySelector(':scope > .sv-fill');
  const frame = at.closest('.tv-frame');
  return {
    id: at.id, number: window.walked.get(at),
    what: `${at.tagName} ${at.className.baseVal ?? at.className} ${at.dataset.role ?? ''} `
      + `${at.getAttribute('aria-label') ?? at.textContent.slice(0, 30)}`,
    seen: outlined(at) || (fill !== null && parseFloat(getComputedStyle(fill).strokeWidth) >= 3)
      || (at.matches('.tv-scroll') && outlined(frame)),
  };
}"""

# Controls that are seen and have not been walked to.
_MISSED = """() => {
  const controls = 'button, input, select, textarea, summary, [tabindex="0"]';
  const seen = e => e.checkVisibility({ visibilityProperty: true });
  const grouped = e => e.type === 'radio' && [...document.getElementsByName(e.name)]
    .some(other => window.walked.has(other));
  return [...document.querySelectorAll('.stepviz ' + controls.replaceAll(', ', ', .stepviz '))]
    .filter(e => seen(e) && !e.disabled && !window.walked.has(e) && !grouped(e))
    .map(e => e.outerHTML.slice(0, 160));
}"""


@dataclass
class Walk:
    """Going through a widget by Tab, with a stop before it and one behind."""

    page: Page

    def __post_init__(self) -> None:
        self.page.evaluate(_STOPS)

    def here(self) -> dict[str, Any]:
        at: dict[str, Any] = self.page.evaluate(_HERE)
        return at

    def through(self, key: str = "Tab", *, most: int = 150) -> list[dict[str, Any]]:
        """Press a key until the focus is out at the other side; returns where it was."""
        first, last = ("before", "behind") if key == "Tab" else ("behind", "before")
        self.page.focus(f"#{first}")
        stops: list[dict[str, Any]] = []
        for _ in range(most):
            self.page.keyboard.press(key)
            at = self.here()
            if at["id"] == last:
                return stops
            stops.append(at)
        msg = f"{key} does not get out of the widget: {stops[-6:]}"
        raise AssertionError(msg)

    def along(self, start: Locator, key: str, *, most: int = 80) -> int:
        """Press a key from an element until nothing new comes; returns how many there were."""
        start.focus()
        numbers = {self.here()["number"]}
        for _ in range(most):
            self.page.keyboard.press(key)
            at = self.here()["number"]
            if at in numbers:
                break
            numbers.add(at)
        return len(numbers)

    def missed(self) -> list[str]:
        """Return controls that one sees and that the focus was never on."""
        found: list[str] = self.page.evaluate(_MISSED)
        return found


#: Pressed and dragged controls of a widget that are smaller than 24 by 24 px.
SMALL = """() => {
  const seen = e => e.checkVisibility({ visibilityProperty: true });
  return [...document.querySelectorAll('.stepviz :is(button, input, select, textarea, summary)')]
    .filter(e => seen(e) && !e.disabled)
    .map(e => [e, (e.matches('[type=checkbox], [type=radio]') && e.closest('label')) || e])
    .map(([e, target]) => [e, target.getBoundingClientRect()])
    .filter(([, box]) => box.width < 23.5 || box.height < 23.5)
    .map(([e, box]) => `${box.width} x ${box.height}: ${e.outerHTML.slice(0, 140)}`);
}"""

#: Count what is said aloud from now on, in ``window.spoken``.
LISTEN = """() => {
  window.spoken = [];
  const said = '[aria-live], [role="status"], [role="alert"]';
  for (const region of document.querySelectorAll(`.stepviz :is(${said})`)) {
    new MutationObserver(() => window.spoken.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true });
  }
}"""
