"""The cases that both solvers must answer alike: timelines, and Python's answers to each.

``python -m tests.widgets.make_cases`` writes ``cases.json``, which the front end's node test and a
pytest read. The hand-checked cases of scheduling theory carry published answers besides; the random
ones only carry what Python says, since what they test is that the page says the same.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import stepviz as sv
from stepviz.core.vocabulary import KINDS, ORIGINS

CASES = Path(__file__).parent / "cases.json"
HOW_MANY = 520


def random_timeline(rng: random.Random) -> sv.Timeline:
    """A timeline of a few phases with everything a timeline can have; some are refused."""
    n = rng.choice((1, 2, 3, 4, 5, 5, 6, 7, 8, 9))
    ranks = rng.choice((1, 1, 2, 3))
    whole = rng.random() < 0.4  # whole numbers make ties, fractions make rounding

    def number(most: float, least: float = 0.0) -> float:
        if whole:
            return float(rng.randint(int(least), int(most)))
        return round(rng.uniform(least, most), rng.choice((1, 3)))

    phases: list[dict[str, Any]] = []
    for k in range(n):
        phase: dict[str, Any] = {
            "phase": f"p{k}",
            "kind": rng.choice(KINDS),
            "lane": rng.choice((None, "c", "c", "x")),
            "duration": rng.choice((0.0, number(9), number(9), number(9))),
            "release": number(12) if rng.random() < 0.2 else 0.0,
        }
        if ranks > 1 and rng.random() < 0.3:
            members = sorted(rng.sample(range(ranks), rng.randint(1, ranks)))
            phase |= {"kind": rng.choice(("exchange", "exchange", "other")), "members": members}
        else:
            phase["rank"] = rng.randrange(ranks)
        phases.append(phase)
    dependencies: dict[tuple[str, str, str], dict[str, Any]] = {}
    for _ in range(rng.randint(0, 2 * n) if n > 1 else 0):
        a, b = sorted(rng.sample(range(n), 2))
        if rng.random() < 0.03:
            a, b = b, a  # against the order of rows; may close a circle
        type_ = rng.choice(("FS", "FS", "SS", "FF", "SF"))
        lag = number(4, -6) if rng.random() < 0.5 else 0.0
        dependencies[f"p{a}", f"p{b}", type_] = {
            "source": f"p{a}",
            "target": f"p{b}",
            "type": type_,
            "lag": lag,
            "origin": rng.choice(ORIGINS),
        }
    target = rng.choice(phases)["phase"] if rng.random() < 0.25 else None
    return sv.Timeline(phases, list(dependencies.values()), target)


def random_timelines(seed: int, how_many: int) -> list[sv.Timeline]:
    """Solvable timelines, the same ones for the same seed."""
    rng = random.Random(seed)
    found: list[sv.Timeline] = []
    while len(found) < how_many:
        try:
            found.append(random_timeline(rng))
        except sv.TimelineError:
            continue  # a circle
    return found


# Notation of the sources: activity, duration, predecessors (type and lag; FS where bare).
# Answers: completion, critical, total float of the others, drag where known.
# Cases 1-4: PlanExe's test_schedule.py (MIT), after Engineer4Free, J. Emmanuel and J. Marion;
# 7: Wikipedia, "Project network"; 8, 9, 10: textbook exercises (AON, PDM, AOA); 12: J. D. Wiest,
# "Precedence diagramming method", 1981; 14: two equal paths, by hand. Each was recomputed with
# Bellman-Ford passes and as a linear program.
HANDED: dict[str, dict[str, Any]] = {
    "1: all four types": {
        "network": "A 3; B 2 A FS 2; C 2 A SS; D 4 B SS 1; E 1 C SF 3; F 2 C FF 3; "
        "G 4 D SS 1, E; H 3 F SF 2, G",
        "completion": 14,
        "critical": "A B D G H",
        "total_float": {"C": 4, "E": 4, "F": 9},
        "free_float": {"C": 0, "E": 4, "F": 9},
        "start": {"A": 0, "B": 5, "C": 0, "D": 6, "E": 2, "F": 3, "G": 7, "H": 11},
        "drag": {"A": 3, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0, "G": 4, "H": 3},
    },
    "2: FS only": {
        "network": "A 7; B 9; C 12 A; D 8 A, B; E 9 D; F 6 C, E; G 5 E",
        "completion": 32,
        "critical": "B D E F",
        "total_float": {"A": 2, "C": 7, "G": 1},
        "free_float": {"A": 0, "C": 7, "G": 1},
        "drag": {"B": 2, "D": 7, "E": 7, "F": 1},
    },
    "3: lags": {
        "network": "A 2; B 4 A FS 5; C 3 B SS 3; D 5 B; E 2 C, D",
        "completion": 18,
        "critical": "A B D E",
        "total_float": {"C": 3},
        "start": {"A": 0, "B": 7, "C": 10, "D": 11, "E": 16},
        "drag": {"A": 2, "B": 3, "D": 3, "E": 2},
    },
    "4: SF and FF": {
        "network": "A 2; B 2 A; C 4 A; D 3 B, C SF 7; E 3 C; F 1 D FF 3, E",
        "completion": 12,
        "critical": "A C D F",
        "total_float": {"B": 2, "E": 2},
        "start": {"A": 0, "B": 2, "C": 2, "D": 6, "E": 6, "F": 11},
        "drag": {"A": 2, "C": 0, "D": 0, "F": 0},
    },
    "7: PERT": {
        "network": "A 4; B 5.33; C 5.17 A; D 6.33 A; E 5.17 B, C; F 4.5 D; G 5.17 E",
        "completion": 19.51,
        "critical": "A C E G",
        "total_float": {"B": 3.84, "D": 4.68, "F": 4.68},
    },
    "8: AON": {
        "network": "A 6; B 2 A; C 2 A; D 3 B; F 2 C; E 4 D, F; G 1 E",
        "completion": 16,
        "critical": "A B D E G",
        "total_float": {"C": 1, "F": 1},
    },
    "9: PDM": {
        "network": "A 4; B 2; C 6 A; D 7 A; E 4 B; F 5 D, E; G 5 C; H 4 E",
        "completion": 16,
        "critical": "A D F",
        "total_float": {"B": 5, "C": 1, "E": 5, "G": 1, "H": 6},
    },
    "10: activities on arrows": {
        "network": "12 2; 13 7; 14 8; 25 3 12; 35 6 13; 36 10 13; 37 4 13; 46 6 14; "
        "57 2 25, 35; 68 5 36, 46; 78 6 37, 57",
        "completion": 22,
        "critical": "13 36 68",
        "total_float": {"12": 9, "14": 3, "25": 9, "35": 1, "37": 5, "46": 3, "57": 1, "78": 1},
    },
    "12: reverse criticality, A 8": {
        "network": "X 10; A 8 X FF; B 5 A SS",
        "completion": 10,
    },
    "12: reverse criticality, A 4": {
        "network": "X 10; A 4 X FF; B 5 A SS",
        "completion": 11,
    },
    "14: two critical paths": {
        "network": "A 5; B 10 A; C 10 A; D 5 B, C",
        "completion": 20,
        "critical": "A B C D",
        "total_float": {},
        "drag": {"A": 5, "B": 0, "C": 0, "D": 5},
    },
}


def network(text: str) -> sv.Timeline:
    """Read ``A 3; B 2 A FS 2`` as a timeline."""
    phases, links = [], []
    for entry in text.split(";"):
        name, duration, *rest = entry.split(maxsplit=2)
        phases.append({"phase": name, "duration": float(duration)})
        for predecessor in rest[0].split(",") if rest else ():
            source, type_, lag, *_ = [
                *predecessor.split(),
                *("FS", "0")[len(predecessor.split()) - 1 :],
            ]
            links.append((source, name, type_, float(lag)))
    return sv.Timeline(phases, links)


def lessons() -> dict[str, sv.Timeline]:
    """The lesson in its three models and three scenarios."""
    return {
        f"lesson: {model}, {scenario}": sv.lesson(model, scenario)
        for model in ("release", "ss-ff", "buckets")
        for scenario in ("base", "late-input", "contended")
    }


def answer(timeline: sv.Timeline) -> dict[str, Any]:
    """What Python says of a timeline, as plain JSON; infinite is null."""
    schedule = timeline.schedule()
    table = schedule.table
    breakdown = schedule.breakdown()
    return {
        "completion": schedule.completion,
        **{
            name: [finite(x) for x in table[name].tolist()]
            for name in (
                "start",
                "finish",
                "latest_start",
                "latest_finish",
                "total_float",
                "free_float",
                "drag",
            )
        },
        "critical": [int(c) for c in table["critical"]],
        "binding": table["binding_dependency"].fillna(-1).astype(int).tolist(),
        "critical_dependencies": schedule.dependencies["critical"].to_numpy().nonzero()[0].tolist(),
        "slack": schedule.dependencies["slack"].tolist(),
        "exposed": schedule.exposed("exchange").tolist(),
        "overlap": schedule.overlap("exchange", "backward").tolist(),
        "breakdown": {
            row: times
            for row, times in zip(breakdown.index, breakdown.to_numpy().tolist(), strict=True)
            if any(times)
        },
        "plain_sum": schedule.plain_sum,
        "plain_maximum": schedule.plain_maximum,
    }


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def compact(timeline: sv.Timeline) -> list[Any]:
    """A document without its keys, which would be most of the file."""
    document = timeline.to_dict()
    index = {phase["phase"]: row for row, phase in enumerate(document["phases"])}
    return [
        document["target"],
        [
            [
                p["phase"],
                p["kind"],
                p.get("members", p["rank"]),
                p["lane"],
                p["duration"],
                p["release"],
            ]
            for p in document["phases"]
        ],
        [
            [index[d["source"]], index[d["target"]], d["type"], d["lag"], d["origin"]]
            for d in document["dependencies"]
        ],
    ]


#: What the committed file leaves out, to stay small; fresh cases carry it.
LEFT_OUT = {"finish", "latest_finish", "slack", "overlap", "breakdown"}


def case(name: str, timeline: sv.Timeline, *, whole: bool = True) -> dict[str, Any]:
    """One case of the file: a timeline and Python's answers."""
    said = answer(timeline)
    kept = {key: value for key, value in said.items() if whole or key not in LEFT_OUT}
    return {"name": name, "timeline": compact(timeline), **kept}


def all_cases() -> list[dict[str, Any]]:
    """What the committed file holds."""
    cases = [case(name, network(given["network"])) for name, given in HANDED.items()]
    cases += [case(name, timeline) for name, timeline in lessons().items()]
    for k, timeline in enumerate(random_timelines(seed=1, how_many=HOW_MANY)):
        cases.append(case(f"random {k}", timeline, whole=False))
    return cases


def short(value: Any) -> Any:
    """Write 5.0 as 5: the same number in JSON, and half the file is numbers."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, list):
        return [short(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def write(path: Path, cases: list[dict[str, Any]]) -> None:
    """Write cases, one a line."""
    lines = [
        json.dumps(short(one), separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        for one in cases
    ]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write(CASES, all_cases())
