"""Published scheduling exercises with their answers.

Sources are named at each case; the full answers were recomputed for this project with two
independent methods (Bellman-Ford passes and linear programming) before they were written down.

Notation: `name: (duration, "predecessor(TYPE+lag) …")`, FS where bare.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import stepviz as sv

_LINK = re.compile(r"(\w+)(?:\((FS|SS|FF|SF)?([+-][\d.]+)?\))?$")


@dataclass(frozen=True)
class Case:
    """One exercise: the network and what is known of its answer."""

    network: dict[str, tuple[float, str]]
    completion: float
    critical: str
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)
    late: dict[str, tuple[float, float]] = field(default_factory=dict)
    total_float: dict[str, float] = field(default_factory=dict)
    free_float: dict[str, float] = field(default_factory=dict)
    drag: dict[str, float] = field(default_factory=dict)

    def timeline(self) -> sv.Timeline:
        """Build the network as a timeline."""
        dependencies = []
        for name, (_, before) in self.network.items():
            for text in before.split():
                match = _LINK.match(text)
                assert match, text
                source, kind, lag = match.groups()
                dependencies.append((source, name, kind or "FS", float(lag or 0)))
        phases = [{"phase": n, "duration": d} for n, (d, _) in self.network.items()]
        return sv.Timeline(phases, dependencies)


CASES = {
    # All four link types; Engineer4Free, answers encoded in neoneye/PlanExe test_schedule.py (MIT).
    "four link types": Case(
        network={
            "A": (3, ""),
            "B": (2, "A(FS+2)"),
            "C": (2, "A(SS)"),
            "D": (4, "B(SS+1)"),
            "E": (1, "C(SF+3)"),
            "F": (2, "C(FF+3)"),
            "G": (4, "D(SS+1) E"),
            "H": (3, "F(SF+2) G"),
        },
        completion=14,
        critical="A B D G H",
        spans={
            "A": (0, 3),
            "B": (5, 7),
            "C": (0, 2),
            "D": (6, 10),
            "E": (2, 3),
            "F": (3, 5),
            "G": (7, 11),
            "H": (11, 14),
        },
        late={
            "A": (0, 3),
            "B": (5, 7),
            "C": (4, 6),
            "D": (6, 10),
            "E": (6, 7),
            "F": (12, 14),
            "G": (7, 11),
            "H": (11, 14),
        },
        total_float={"A": 0, "B": 0, "C": 4, "D": 0, "E": 4, "F": 9, "G": 0, "H": 0},
        free_float={"A": 0, "B": 0, "C": 0, "D": 0, "E": 4, "F": 9, "G": 0, "H": 0},
        drag={"A": 3, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0, "G": 4, "H": 3},
    ),
    # FS only; Joshua Emmanuel's example, same test file.
    "finish to start": Case(
        network={
            "A": (7, ""),
            "B": (9, ""),
            "C": (12, "A"),
            "D": (8, "A B"),
            "E": (9, "D"),
            "F": (6, "C E"),
            "G": (5, "E"),
        },
        completion=32,
        critical="B D E F",
        total_float={"A": 2, "C": 7, "G": 1},
        free_float={"A": 0, "C": 7, "G": 1},
        drag={"B": 2, "D": 7, "E": 7, "F": 1},
    ),
    # James Marion, lags 1.
    "lags 1": Case(
        network={
            "A": (2, ""),
            "B": (4, "A(FS+5)"),
            "C": (3, "B(SS+3)"),
            "D": (5, "B"),
            "E": (2, "C D"),
        },
        completion=18,
        critical="A B D E",
        spans={"A": (0, 2), "B": (7, 11), "C": (10, 13), "D": (11, 16), "E": (16, 18)},
        total_float={"C": 3},
        drag={"A": 2, "B": 3, "D": 3, "E": 2},
    ),
    # James Marion, lags 2, SF and FF.
    "lags 2": Case(
        network={
            "A": (2, ""),
            "B": (2, "A"),
            "C": (4, "A"),
            "D": (3, "B C(SF+7)"),
            "E": (3, "C"),
            "F": (1, "D(FF+3) E"),
        },
        completion=12,
        critical="A C D F",
        spans={
            "A": (0, 2),
            "B": (2, 4),
            "C": (2, 6),
            "D": (6, 9),
            "E": (6, 9),
            "F": (11, 12),
        },
        total_float={"B": 2, "E": 2},
        drag={"A": 2, "C": 0, "D": 0, "F": 0},
    ),
    # Wikipedia, PERT and project network; durations that floats can't hold.
    "pert": Case(
        network={
            "A": (4, ""),
            "B": (5.33, ""),
            "C": (5.17, "A"),
            "D": (6.33, "A"),
            "E": (5.17, "B C"),
            "F": (4.5, "D"),
            "G": (5.17, "E"),
        },
        completion=19.51,
        critical="A C E G",
        total_float={"B": 3.84, "D": 4.68, "F": 4.68},
    ),
    # A textbook's activity-on-node example.
    "activity on node": Case(
        network={
            "A": (6, ""),
            "B": (2, "A"),
            "C": (2, "A"),
            "D": (3, "B"),
            "F": (2, "C"),
            "E": (4, "D F"),
            "G": (1, "E"),
        },
        completion=16,
        critical="A B D E G",
        total_float={"C": 1, "F": 1},
    ),
    # A textbook's precedence diagram exercise.
    "precedence diagram": Case(
        network={
            "A": (4, ""),
            "B": (2, ""),
            "C": (6, "A"),
            "D": (7, "A"),
            "E": (4, "B"),
            "F": (5, "D E"),
            "G": (5, "C"),
            "H": (4, "E"),
        },
        completion=16,
        critical="A D F",
        total_float={"B": 5, "C": 1, "E": 5, "G": 1, "H": 6},
    ),
    # Activity on arrow: an arrow waits for every arrow into its tail.
    "activity on arrow": Case(
        network={
            "1_2": (2, ""),
            "1_3": (7, ""),
            "1_4": (8, ""),
            "2_5": (3, "1_2"),
            "3_5": (6, "1_3"),
            "3_6": (10, "1_3"),
            "3_7": (4, "1_3"),
            "4_6": (6, "1_4"),
            "5_7": (2, "2_5 3_5"),
            "6_8": (5, "3_6 4_6"),
            "7_8": (6, "3_7 5_7"),
        },
        completion=22,
        critical="1_3 3_6 6_8",
        total_float={
            "1_2": 9,
            "1_4": 3,
            "2_5": 9,
            "3_5": 1,
            "3_7": 5,
            "4_6": 3,
            "5_7": 1,
            "7_8": 1,
        },
    ),
    # Two critical paths: neither branch alone can save anything.
    "two critical paths": Case(
        network={"A": (5, ""), "B": (10, "A"), "C": (10, "A"), "D": (5, "B C")},
        completion=20,
        critical="A B C D",
        total_float={"A": 0, "B": 0, "C": 0, "D": 0},
        drag={"A": 5, "B": 0, "C": 0, "D": 5},
    ),
    # Wiest's anomaly; see test_sensitivity for what shortening A does.
    "reverse criticality": Case(
        network={"X": (10, ""), "A": (8, "X(FF)"), "B": (5, "A(SS)")},
        completion=10,
        critical="X A",
    ),
}
