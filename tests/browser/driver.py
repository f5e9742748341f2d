"""The lesson's timelines by hand, larger made-up ones, and a hand on the editor's mouse."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Doc = dict[str, Any]


def phase(
    name: str,
    kind: str,
    duration: float,
    *,
    rank: int | None = 0,
    lane: str | None = "compute",
    release: float = 0.0,
    members: list[int] | None = None,
) -> Doc:
    found: Doc = {
        "phase": name,
        "kind": kind,
        "rank": rank,
        "lane": lane,
        "duration": duration,
        "release": release,
    }
    return found | ({"members": members} if members else {})


def dependency(source: str, target: str, type_: str = "FS", lag: float = 0.0) -> Doc:
    return {"source": source, "target": target, "type": type_, "lag": lag, "origin": "assumed"}


def timeline(phases: list[Doc], dependencies: list[Doc], name: str = "test") -> Doc:
    return {
        "schema": "stepviz.timeline/1",
        "name": name,
        "target": None,
        "phases": phases,
        "dependencies": dependencies,
    }


_LESSON = [
    phase("input", "input", 0.0, lane="input"),
    phase("forward", "forward", 200.0),
    phase("backward", "backward", 400.0),
    phase("optimizer", "optimizer", 100.0),
    phase("exchange", "exchange", 350.0, lane="exchange"),
]
_COMMON = [
    dependency("input", "forward"),
    dependency("forward", "backward"),
    dependency("backward", "optimizer"),
    dependency("exchange", "optimizer"),
]
RELEASE = timeline(_LESSON, [*_COMMON, dependency("forward", "exchange", "FS", 100.0)])
SS_FF = timeline(
    _LESSON,
    [
        *_COMMON,
        dependency("backward", "exchange", "SS", 100.0),
        dependency("backward", "exchange", "FF", 50.0),
    ],
)


def ddp(layers: int, ranks: int = 2, seed: int = 1) -> Doc:
    """A step of several ranks with a collective per two layers: ``ranks * (2 layers + 2) + …``."""
    draw = random.Random(seed).uniform
    phases, dependencies = [], []
    for rank in range(ranks):
        slow = 1 + 0.06 * rank
        phases.append(phase(f"input {rank}", "input", draw(8, 25), rank=rank, lane="input"))
        dependencies.append(dependency(f"input {rank}", f"r{rank} forward 0"))
        phases += [
            phase(f"r{rank} forward {layer}", "forward", draw(6, 12) * slow, rank=rank)
            for layer in range(layers)
        ]
        phases += [
            phase(f"r{rank} backward {layer}", "backward", draw(12, 24) * slow, rank=rank)
            for layer in reversed(range(layers))
        ]
        phases.append(phase(f"r{rank} optimizer", "optimizer", 14.5, rank=rank))
    for bucket in range(layers // 2):
        members = list(range(ranks))
        name = f"all-reduce {bucket}"
        phases.append(
            phase(name, "exchange", draw(18, 38), rank=None, lane="link", members=members)
        )
        for rank in members:
            layer = layers - 2 * bucket - 2
            dependencies.append(dependency(f"r{rank} backward {layer}", name))
            dependencies.append(dependency(name, f"r{rank} optimizer"))
    return timeline(phases, dependencies, "data parallel")


def chain(bars: int, ranks: int = 4, seed: int = 3) -> Doc:
    """Many bars whose change pushes many others."""
    rng = random.Random(seed)
    each = bars // ranks
    kinds = ("forward", "backward", "exchange", "optimizer")
    phases, dependencies = [], []
    for rank in range(ranks):
        for i in range(each):
            kind = kinds[min(3, i * 4 // each)]
            lane = "exchange" if kind == "exchange" else "compute" if i % 7 else "host"
            phases.append(phase(f"p{rank}.{i}", kind, rng.uniform(0.5, 3), rank=rank, lane=lane))
            if i:
                source = rng.randrange(max(0, i - 5), i)
                link = rng.choice(["FS", "FS", "FS", "SS"])
                dependencies.append(dependency(f"p{rank}.{source}", f"p{rank}.{i}", link))
            if rank and i % 10 == 1:
                dependencies.append(dependency(f"p{rank - 1}.{i - 1}", f"p{rank}.{i}", lag=0.1))
    return timeline(phases, dependencies, f"{bars} bars")


@dataclass
class Editor:
    """One view of an editor on a page, with what a user sees and does."""

    page: Page
    view: int = 0

    @property
    def root(self) -> Locator:
        return self.page.locator(".stepviz").nth(self.view)

    def role(self, name: str) -> Locator:
        return self.root.locator(f'[data-role="{name}"]')

    def text(self, name: str) -> str:
        return (self.role(name).text_content() or "").strip()

    @property
    def completion(self) -> str:
        return self.text("completion")

    @property
    def message(self) -> str:
        return self.text("message")

    def bar(self, name: str) -> Locator:
        return self.root.locator(f'[data-phase="{name}"]').first

    @property
    def px_per_ms(self) -> float:
        return float(self.root.get_attribute("data-px-per-ms") or "nan")

    def grip(self, name: str, handle: str) -> tuple[float, float]:
        """Where to press, in the page's pixels."""
        grip = self.bar(name).locator(f'[data-handle="{handle}"]')
        box = grip.bounding_box()
        for _ in range(50):  # a resize may have it drawn anew at this very moment
            if box is not None:
                break
            self.page.wait_for_timeout(20)
            box = grip.bounding_box()
        assert box is not None, f"the {handle} of {name} can't be seen"
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, name: str, handle: str, ms: float, *, release: bool = True) -> None:
        x, y = self.grip(name, handle)
        distance = ms * self.px_per_ms
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + distance / 2, y, steps=6)
        self.page.mouse.move(x + distance, y, steps=6)
        if release:
            self.page.mouse.up()

    def choose(self, name: str) -> None:
        x, y = self.grip(name, "body")
        self.page.mouse.click(x, y)

    def draw_arrow(self, source: str, end: str, target: str, side: str) -> None:
        """From a bar's port to the left or the right quarter of another bar."""
        self.choose(source)
        port = self.root.locator(f'[data-port="{end}"][data-of="{source}"]').first.bounding_box()
        body = self.bar(target).locator('[data-handle="body"]').bounding_box()
        assert port is not None
        assert body is not None
        share = 0.25 if side == "start" else 0.75
        self.page.mouse.move(port["x"] + port["width"] / 2, port["y"] + port["height"] / 2)
        self.page.mouse.down()
        x, y = body["x"] + share * body["width"], body["y"] + body["height"] / 2
        self.page.mouse.move(x - 20, y, steps=5)
        self.page.mouse.move(x, y, steps=3)
        self.page.mouse.up()

    def focus(self, name: str) -> None:
        self.bar(name).evaluate("element => element.focus()")

    def values(self) -> list[Doc]:
        """Every timeline that was committed, in order; choosing a bar commits none."""
        return self.page.evaluate("window.commits.filter(c => c.value).map(c => c.value)")

    @property
    def value(self) -> Doc:
        return self.page.evaluate("window.stub.model.get('value')")

    def phase(self, name: str) -> Doc:
        return next(found for found in self.value["phases"] if found["phase"] == name)
