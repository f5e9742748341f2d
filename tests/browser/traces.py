"""A made-up step of as many intervals as wanted, and a hand on the viewer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

import stepviz as sv
from stepviz.traces.lanes.pathway import placed
from stepviz.widgets.viewer_answers import Answers
from tests.traces.synthetic import all_reduce, document, host, kernel, launch, note

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page


def large_step(folder: Path, intervals: int, ranks: int = 4) -> sv.traces.Step:
    """Write and load one step of so many intervals: on each rank nested operators and kernels."""
    each = intervals // ranks
    count = (
        each // 5
    )  # per round: an operator, one in it, a launch, its kernel, one on a 2nd stream
    for rank in range(ranks):
        events = [note("ProfilerStep#1", 0, 10 * count + 400)]
        for k in range(count):
            at = 5 + 10 * k
            word = "forward" if k < count // 3 else "backward"
            events += [
                host(f"aten::{word}_{k % 7}", at, 9),
                host("aten::mm", at + 1, 6),
                launch(at + 2, k + 1),
                kernel(f"gemm_{k % 5}", 300 + 10 * k + rank, 7, k + 1),
                kernel("Memcpy HtoD", 300 + 10 * k + 3, 2, -1, stream=9, cat="gpu_memcpy"),
            ]
        at = 10 * count + 10
        late = 20 * rank
        events += all_reduce(at, at + 300 + late, 20 * ranks + 140 - late, count + 5)
        (folder / f"rank{rank}.json").write_text(json.dumps(document(rank, events, world=ranks)))
    return sv.load_run(folder).step()


def with_path(answers: Answers, rows: list[tuple[int, str, str, int, int]]) -> Answers:
    """Give a step a critical path of our own: rank, kind, name, start and finish from its start."""
    frame = pd.DataFrame(rows, columns=["rank", "kind", "name", "start_ns", "finish_ns"])
    frame[["start_ns", "finish_ns"]] += answers.scene.origin_ns
    answers.path = placed(answers.scene, frame.assign(origin="recorded", launched=""))
    return answers


@dataclass
class Viewer:
    """One view of a viewer on a page, with what a user sees and does."""

    page: Page
    view: int = 0

    @property
    def root(self) -> Locator:
        return self.page.locator(".tv").nth(self.view)

    def role(self, name: str) -> Locator:
        return self.root.locator(f'[data-role="{name}"]')

    def text(self, name: str) -> str:
        return (self.role(name).text_content() or "").strip()

    @property
    def range(self) -> tuple[float, float]:
        """What is seen, ns."""
        return (
            float(self.root.get_attribute("data-start") or "nan"),
            float(self.root.get_attribute("data-finish") or "nan"),
        )

    def settle(self) -> None:
        """Wait until nothing moves and nothing is under way."""
        last = None
        for _ in range(100):
            now = (self.range, self.root.get_attribute("data-waiting"))
            if now == last and now[1] is None:
                return
            last = now
            self.page.wait_for_timeout(60)

    def place(self, time: float, lane: int) -> tuple[float, float]:
        """Where a time in a lane is on the page, px."""
        box = self.root.locator(".tv-surface canvas").bounding_box()
        name = self.root.locator(f'.tv-names [data-lane="{lane}"]').bounding_box()
        assert box is not None
        assert name is not None, f"lane {lane} is not on the page"
        start, finish = self.range
        x = box["x"] + (time - start) / (finish - start) * box["width"]
        return x, name["y"] + name["height"] / 2

    def click(self, time: float, lane: int) -> None:
        self.page.mouse.click(*self.place(time, lane))

    def focus(self) -> None:
        self.role("lanes").focus()

    def inks(self, time: float, lane: int) -> list[int]:
        """The colour drawn at a time in the middle of a lane: red, green, blue."""
        x, y = self.place(time, lane)
        return self.page.evaluate(
            """([root, x, y]) => {
              const canvas = root.querySelector('canvas'), box = canvas.getBoundingClientRect();
              const scale = canvas.width / box.width;
              return [...canvas.getContext('2d').getImageData(
                Math.round((x - box.left) * scale), Math.round((y - box.top) * scale), 1, 1).data]
                .slice(0, 3); }""",
            [self.root.element_handle(), x, y],
        )

    @property
    def chosen(self) -> dict[str, Any] | None:
        return self.page.evaluate("window.stub.model.get('_selected')")

    def asked(self, what: str) -> list[dict[str, Any]]:
        return self.page.evaluate("what => window.messages.filter(m => m.ask === what)", what)
