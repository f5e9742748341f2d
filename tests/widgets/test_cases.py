"""Both solvers answer alike: Python's on every case file, TypeScript's through node."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import stepviz as sv
from tests.widgets import frontend, make_cases


@pytest.fixture(scope="module")
def committed() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(make_cases.CASES.read_text(encoding="utf-8"))
    return cases


def test_the_committed_file_holds_what_python_says_now(committed):
    assert len(committed) >= 500
    assert committed == json.loads(json.dumps(make_cases.all_cases()))


def test_the_committed_cases_cover_what_a_timeline_can_have(committed):
    links = [link for one in committed for link in one["timeline"][2]]
    phases = [phase for one in committed for phase in one["timeline"][1]]
    assert {link[2] for link in links} == {"FS", "SS", "FF", "SF"}
    assert any(link[3] < 0 for link in links)
    assert any(isinstance(phase[2], list) and len(phase[2]) > 1 for phase in phases)
    assert any(phase[4] == 0 for phase in phases)
    assert any(phase[5] > 0 for phase in phases)
    assert sum(one["timeline"][0] is not None for one in committed) > 50
    assert sum(None in one["latest_start"] for one in committed) > 20
    assert sum(len(one["critical_dependencies"]) > 0 for one in committed) > 200


@pytest.mark.parametrize("name", make_cases.HANDED)
def test_the_published_answers(name):
    given = make_cases.HANDED[name]
    schedule = make_cases.network(given["network"]).schedule()
    table = schedule.table
    assert schedule.completion == pytest.approx(given["completion"], abs=1e-9)
    for column in ("start", "free_float", "drag"):
        for phase, value in given.get(column, {}).items():
            assert table.loc[phase, column] == pytest.approx(value, abs=1e-9), (column, phase)
    if "critical" in given:
        assert table.index[table["critical"]].tolist() == given["critical"].split()
        floating = table["total_float"][~table["critical"]]
        assert floating.to_dict() == pytest.approx(given["total_float"], abs=1e-9)


def test_the_lesson():
    said = {name: timeline.completion for name, timeline in make_cases.lessons().items()}
    for model in ("release", "ss-ff", "buckets"):
        assert said[f"lesson: {model}, base"] == pytest.approx(750, abs=1e-9)
    assert said["lesson: release, late-input"] == pytest.approx(830, abs=1e-9)
    assert said["lesson: release, contended"] == pytest.approx(780, abs=1e-9)


def test_typescript_answers_fresh_random_timelines_alike(tmp_path):
    seed = random.SystemRandom().randrange(2**32)  # each failing case is named after it
    cases = [
        make_cases.case(f"seed {seed}, {k}", timeline)
        for k, timeline in enumerate(make_cases.random_timelines(seed, 600))
    ]
    path = tmp_path / "cases.json"
    make_cases.write(path, cases)
    frontend.build("--test", "model/cases", STEPVIZ_CASES=str(path))


def test_typescript_answers_a_large_timeline_alike(tmp_path):
    rng = random.Random(7)
    phases = [
        {"phase": f"p{k}", "duration": rng.uniform(0, 3), "rank": k % 8, "lane": f"l{k % 3}"}
        for k in range(3000)
    ]
    links = [
        (
            f"p{a}",
            f"p{a + rng.randint(1, 60)}",
            rng.choice(("FS", "SS", "FF", "SF")),
            rng.uniform(-2, 2),
        )
        for a in range(2900)
    ]
    timeline = sv.Timeline(phases, links, target="p2999")
    case = make_cases.case("3,000 phases", timeline)
    path = tmp_path / "cases.json"
    make_cases.write(path, [case])
    frontend.build("--test", "model/cases", STEPVIZ_CASES=str(path))
