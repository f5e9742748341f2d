"""What the step's graph answers: the critical path, what would help, how far to trust both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.reports.elements import Content, element, listed
from stepviz.reports.step_sections import clock_table
from stepviz.reports.subject import MOST_RANKS, Subject
from stepviz.reports.tables import Cell, each_row, facts, in_ms, key, number, strip, table, words
from stepviz.traces import told

#: So many stretches, pieces and names of the path have a row.
MOST_STRETCHES: Final = 40
MOST_PIECES: Final = 10
MOST_NAMES: Final = 15


def about_path(subject: Subject) -> Iterator[Content]:
    """Return the critical path by kind and rank, in order, and its longest pieces."""
    path = subject.replayed.critical_path
    by_kind = told.path_table(path, most_kinds=len(KINDS) + 10, least_ns=1)
    kinds = [str(kind) for kind in by_kind.index]
    pieces = [(kind, int(ns)) for kind, ns in zip(kinds, by_kind["all"], strict=True)]
    yield key(kinds)
    yield strip(pieces)
    owners = list(by_kind.columns)
    shown = owners[: MOST_RANKS + 1]
    if len(shown) < len(owners):
        subject.cuts.append(f"owners of the path: {len(shown) - 1} of {len(owners) - 1} are shown")
    yield table(
        "path",
        told.path_title(subject.asked) + subject.over,
        ("kind", *shown),
        [
            [words(kind), *(in_ms(by_kind.at[kind, owner]) for owner in shown)]
            for kind in by_kind.index
        ],
        foot=[words("sum"), *(in_ms(by_kind[owner].sum()) for owner in shown)],
    )
    said = told.path_said(path, subject.asked)
    if said:
        yield listed(said)
    stretches = subject.replayed.owners
    if len(stretches) > 1:
        kept = subject.largest(
            stretches, "duration_ns", MOST_STRETCHES, "stretches of the path", "that are longest"
        )
        yield table(
            "stretches",
            "The path in order: whose time it is, ms from the step's start",
            ("whose", "start", "length"),
            [
                [
                    words(told.stretch_said(row.rank, str(row.what))),
                    in_ms(row.start_ns - subject.path_origin_ns),
                    in_ms(row.duration_ns),
                ]
                for row in each_row(kept)
            ],
        )
    names = told.path_names(path)
    most = subject.first(list(each_row(names)), MOST_NAMES, "names on the path")
    yield table(
        "names",
        "What the path spends most time on, ms, by name",
        ("name", "kind", "whose", "pieces", "together"),
        [
            [
                words(row.name),
                words(row.kind),
                words(row.who),
                number(row.pieces),
                in_ms(row.duration_ns),
            ]
            for row in most
        ],
    )
    longest = path.nlargest(MOST_PIECES, "duration_ns").sort_index()
    yield table(
        "pieces",
        f"The {len(longest)} longest of {len(path):,} pieces of the path, ms from the step's start",
        ("name", "kind", "whose", "start", "length", "how it is known", "launched"),
        [
            [
                words(row.name or row.kind),
                words(row.kind),
                words("transfer" if pd.isna(row.rank) else f"rank {row.rank}"),
                in_ms(row.start_ns - subject.path_origin_ns),
                in_ms(row.duration_ns),
                words(row.origin),
                words(row.launched),
            ]
            for row in each_row(longest)
        ],
        optional=["launched"],
    )


def about_gains(subject: Subject) -> Iterator[Content]:
    """Return the changes that would help, each alone and replayed."""
    found = subject.gains
    if not found:
        yield element(
            "p",
            f"No change that was asked shortens the step by more than {told.LEAST_GAIN:.1%}.",
        )
        return
    yield element("p", "Each change alone, replayed on the graph of all rows. Gains do not add up.")
    yield table(
        "gains",
        f"What would help most{subject.over}; the first {told.MOST_GAINS} are what "
        "stepviz explain names",
        ("change", "gain, ms", "of the step", "the step would take, ms", "residual share"),
        [
            [
                words(each.what, 300),
                in_ms(each.gain_ns),
                Cell(each.share),
                in_ms(each.completion_ns),
                Cell(told.share(each.residual_share, 1)),
            ]
            for each in found
        ],
        chosen=0,
    )


def about_trust(subject: Subject) -> Iterator[Content]:
    """Return the figures that say how far the answers hold."""
    replayed = subject.replayed
    trust = replayed.trust
    residual, unexplained = (
        told.share(trust.residual_share, 1),
        told.share(trust.unexplained_share, 1),
    )
    yield facts(
        "trust",
        [
            ("Replay of the unedited graph", f"off by {replayed.largest_error_ns} ns at most"),
            ("Residual share", f"{residual} of the path is delay that no work explains"),
            ("Unexplained share", f"{unexplained} of the path is {trust.thresholds}"),
            *([("Guessed share", f"{trust.guessed}.")] if trust.guessed else []),
            (
                "Clocks",
                f"{subject.step.clash}." if subject.step.clash else "nothing shows them apart",
            ),
            ("Without the graph", told.wrong_said(subject.asked)),
        ],
    )
    if len(subject.run.ranks) > 1:
        yield clock_table(subject)
