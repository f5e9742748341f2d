"""Cases that Python answered, for the front end's own tests of what a saved page computes.

``python -m tests.widgets.make_page_cases`` writes `page_cases.json` anew.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import stepviz as sv
from stepviz.widgets.knobs import KnobWidget
from tests.widgets.page_pictures import in_python

CASES = Path(__file__).parent / "page_cases.json"

#: What is held against Python of each kernel's pictures; the rest is compared by other tests.
KEPT = {
    "planner": ("answer", "headline", "large", "parts", "notes", "solved", "stops"),
    "tokens": ("headline", "large", "facts", "notes", "trap", "stops"),
    "buckets": ("headline", "large", "completion", "queued", "words", "notes", "chosen", "best"),
}


def widgets() -> dict[str, list[KnobWidget]]:
    """Return by kernel the widgets whose pages are asked."""
    ids = [[5, 6, 7, 0], [8, 9, 0, 0], [1, 2, 3, 4]]
    batch = {
        "input_ids": ids,
        "attention_mask": [[int(k > 0) for k in row] for row in ids],
        "labels": [[-100, -100, 7, -100], [-100, 9, -100, -100], [-100, 2, 3, 4]],
    }
    return {
        "planner": [sv.RunPlanner(), sv.RunPlanner(checkpoint_seconds=60, watts_per_device=1400)],
        "tokens": [sv.TokenComparison(), sv.TokenComparison(batch, seconds=0.004, peak=989.4e12)],
        "buckets": [
            sv.BucketExplorer([20 * 2**20] * 12, latency=0.5).panel,
            sv.BucketExplorer({"<b>head</b>": 500e6, "a": 3e6, "b": 1e6, "c": 17e6}).panel,
        ],
    }


def settings_of(widget: KnobWidget, count: int) -> list[dict[str, Any]]:
    """Return settings at stops of the sliders, and some that have no meaning."""
    rng = random.Random(7)
    found: list[dict[str, Any]] = [dict(widget.value)]
    while len(found) < count:
        one = dict(widget.value)
        if "unknown" in one:
            one["unknown"] = rng.choice(["days", "devices", "mfu", "tokens", "peak"])
            one["days"] = rng.choice([0.1, 3, 30])
        for name in list(one):
            stops = widget._stops(one)
            if name in stops:
                one[name] = rng.choice(stops[name])
        if rng.random() < 0.1:
            one[rng.choice(sorted(one))] = rng.choice([-1, "many"])
        found.append(one)
    return found


def all_cases() -> list[dict[str, Any]]:
    """Return every case: kernel, what it computes from, settings and Python's answers."""
    cases = []
    for kernel, made in widgets().items():
        for widget in made:
            answers = []
            for settings in settings_of(widget, 14):
                said = in_python(widget, settings)
                if "picture" in said:
                    said = {name: said["picture"][name] for name in KEPT[kernel]}
                answers.append({"settings": settings, "answer": said})
            cases.append({"kernel": kernel, "given": widget._piece().given, "cases": answers})
    plain: list[dict[str, Any]] = json.loads(json.dumps(cases))
    return plain


def main() -> None:
    """Write the file."""
    lines = []
    for one in all_cases():
        head = json.dumps({"kernel": one["kernel"], "given": one["given"]})[:-1]
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in one["cases"])
        lines.append(f'{head}, "cases": [\n{rows}\n]}}')
    CASES.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
