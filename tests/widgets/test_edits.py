"""Edits made in the page are the ones that the copied Python makes."""

from __future__ import annotations

import random
from typing import Any

import pytest

import stepviz as sv
from tests.widgets import frontend, make_cases

EVIL = [
    'a "quoted" name',
    "back\\slash",
    "two\nlines",
    "é → ∑ 🚀",
    "'",
    "{x}",
    "\u2028",
    "#",
    "\x00",
]


def after_python(before: sv.Timeline, code: str) -> sv.Timeline:
    space: dict[str, Any] = {"timeline": before}
    exec(code, space)  # noqa: S102 - running what the page wrote is the test
    timeline = space["timeline"]
    assert isinstance(timeline, sv.Timeline)
    return timeline


def random_edit(rng: random.Random, timeline: sv.Timeline) -> dict[str, Any]:
    document = timeline.to_dict()
    names = [phase["phase"] for phase in document["phases"]]
    name = rng.choice(names)
    rows = len(document["dependencies"])
    some = rng.sample(names, rng.randint(1, min(3, len(names))))
    new = rng.choice(EVIL) + str(rng.randrange(1000))
    number = rng.choice((0.0, 2.0, 1 / 3, 1e-7, 12345.678, 1e21))
    link = {
        "source": name,
        "target": rng.choice(names),
        "type": rng.choice(("FS", "SS", "FF", "SF")),
        "lag": rng.choice((0.0, -1.5, 2.0)),
        "origin": rng.choice(("assumed", "recorded", "inferred")),
    }
    changes = {
        "phase": new,
        "kind": rng.choice(("host", "forward")),
        "lane": rng.choice((None, "c", "new lane")),
        "duration": number,
        "release": 3.0,
        **rng.choice(({"rank": 1}, {"members": [2, 0]}, {})),
    }
    update = {key: changes[key] for key in rng.sample(list(changes), rng.randint(1, 3))}
    added = {
        "phase": new,
        "kind": "other",
        "lane": "c",
        "duration": number,
        "release": 0.0,
        "rank": 0,
    }
    edits: list[dict[str, Any]] = [
        {"op": "duration", "phase": name, "duration": number},
        {"op": "release", "phase": name, "release": number},
        {"op": "add", "phase": added, **rng.choice(({}, {"after": name}))},
        {"op": "add", "phase": added | {"rank": None, "members": [0, 3], "release": 1.5}},
        {"op": "update", "phase": name, "changes": update},
        {"op": "remove", "phases": some},
        {"op": "scale", "phases": some, "factor": rng.choice((0.0, 0.9, 1 / 3, 2.0))},
        {
            "op": "scale",
            "phases": [p["phase"] for p in document["phases"] if p["kind"] == "exchange"],
            "factor": 0.5,
        },
        {"op": "connect", "dependency": link},
        {"op": "reorder", "phase": name, "before": rng.choice((None, *names))},
        {"op": "target", "target": rng.choice((None, name))},
    ]
    if rows:
        row = rng.randrange(rows)
        part = {key: link[key] for key in rng.sample(list(link), rng.randint(1, 3))}
        edits += [
            {"op": "disconnect", "row": row},
            {"op": "relink", "row": row, "changes": {"lag": rng.choice((0.0, 1.25, -3.0))}},
            {"op": "relink", "row": row, "changes": part},
        ]
    if rng.random() < 0.05:
        return {"op": "replace", "doc": sv.lesson("buckets").to_dict()}
    return rng.choice(edits)


def test_single_edits_are_what_their_python_does():
    rng = random.Random(5)
    timelines = make_cases.random_timelines(seed=6, how_many=900)
    questions = []
    for timeline in timelines:
        edit = random_edit(rng, timeline)
        if rng.random() < 0.1:
            edit = {"op": "many", "edits": [edit]}
        questions.append({"timeline": timeline.to_dict(), "edits": [edit]})
    made: dict[str, int] = {}
    for timeline, question, answer in zip(
        timelines, questions, frontend.ask(questions), strict=True
    ):
        if "refused" in answer:
            continue
        op = question["edits"][0]["op"]
        made[op] = made.get(op, 0) + 1
        expected = sv.Timeline.from_dict(answer["timeline"])
        got = after_python(timeline, answer["python"])
        assert got == expected, (question["edits"], answer["python"])
        assert answer["said"]
    every = "duration release add update remove scale connect disconnect relink reorder target"
    assert set(made) == {*every.split(), "replace", "many"}


def test_chains_of_edits_are_what_their_python_does():
    rng = random.Random(8)
    timelines = make_cases.random_timelines(seed=9, how_many=80)
    edits: list[list[dict[str, Any]]] = [[] for _ in timelines]
    now = list(timelines)
    for _ in range(5):  # each step on what the page has by then; refused ones are left out
        tries = [[*done, random_edit(rng, t)] for done, t in zip(edits, now, strict=True)]
        questions = [
            {"timeline": t.to_dict(), "edits": chain}
            for t, chain in zip(timelines, tries, strict=True)
        ]
        for k, answer in enumerate(frontend.ask(questions)):
            if "refused" not in answer:
                edits[k] = tries[k]
                now[k] = sv.Timeline.from_dict(answer["timeline"])
                assert after_python(timelines[k], answer["python"]) == now[k]
    assert sum(map(len, edits)) > 200


def test_what_the_page_refuses_python_refuses_too():
    def question(*edits: dict[str, Any]) -> dict[str, Any]:
        return {"timeline": sv.lesson().to_dict(), "edits": list(edits)}

    back = {"source": "optimizer", "target": "forward", "type": "FS", "lag": 0, "origin": "assumed"}
    answers = frontend.ask(
        [
            question({"op": "connect", "dependency": back}),
            question({"op": "duration", "phase": "exchange", "duration": -1}),
            question({"op": "duration", "phase": "exchagne", "duration": 1}),
        ]
    )
    assert all("refused" in answer for answer in answers)
    assert "circle" in answers[0]["refused"]
    assert "forward" in answers[0]["refused"]
    lesson = sv.lesson()
    with pytest.raises(sv.TimelineError, match="cycle"):
        lesson.connect("optimizer", "forward")
    with pytest.raises(sv.TimelineError, match="exchange"):
        lesson.with_duration("exchange", -1)
    with pytest.raises(sv.TimelineError, match="exchange"):
        lesson.with_duration("exchagne", 1)


def test_duplicate_dependencies_from_files_are_kept_apart():
    phases = [{"phase": "a", "duration": 1}, {"phase": "b", "duration": 1}]
    timeline = sv.Timeline(phases, [("a", "b", "FS", 1), ("a", "b", "FS", 2)])
    edits = [{"op": "disconnect", "row": 0}], [{"op": "relink", "row": 1, "changes": {"lag": 5}}]
    for chain, answer in zip(
        edits,
        frontend.ask([{"timeline": timeline.to_dict(), "edits": e} for e in edits]),
        strict=True,
    ):
        expected = sv.Timeline.from_dict(answer["timeline"])
        assert after_python(timeline, answer["python"]) == expected, chain
