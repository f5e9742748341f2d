"""A verdict as a command: its flags, what it prints, and how it ends."""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any, Final

from stepviz.errors import ThroughputError
from stepviz.evidence.verdict_formats import FORMATS

#: How a verdict ends that does not pass.
NOT_PASSED: Final = 1


def add_verdict(commands: Any) -> None:
    """Give a command line the command ``verdict``."""
    parser = commands.add_parser(
        "verdict",
        help="say whether a change made the same useful work finish sooner",
        description=(
            "Compare two measured runs: keep, revert or can't tell. Ends with 0 where the change "
            "passes, 1 where it does not (nor does one whose useful work is not known to be "
            "equal), 2 where the runs cannot be compared."
        ),
    )
    parser.add_argument("before", metavar="BEFORE", help="a folder of traces without the change")
    parser.add_argument("after", metavar="AFTER", help="a folder of traces with it")
    parser.add_argument(
        "--gate",
        type=_percent,
        metavar="PCT",
        help=(
            "pass only if the time for the same work is shown to grow by no more than PCT %% "
            "(-5: to shrink by 5 %%); without it all passes but revert"
        ),
    )
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="default: text")
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help=(
            "what counts as useful work where it differs: scored, executed, allocated, real, "
            "sequences or updates"
        ),
    )
    parser.add_argument(
        "--same-work",
        action="store_true",
        help=(
            "your word that an update holds the same useful work on both sides, where the "
            "captures count no tokens"
        ),
    )
    parser.add_argument(
        "--tokens",
        nargs=2,
        type=_count,
        metavar=("BEFORE", "AFTER"),
        help=(
            "what an update of all ranks holds on each side, where the captures count no tokens: "
            "of what --convention names (default: executed)"
        ),
    )


def _percent(text: str) -> float:
    """Read a gate: a percentage that can be compared with."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{text!r} is no percentage: give a number, such as 3"
        raise argparse.ArgumentTypeError(msg)
    return value


def _count(text: str) -> int:
    """Read a count as people write it: 131072, 131_072 or 131,072."""
    plain = text.replace(",", "").replace("_", "")
    if not (plain.isascii() and plain.isdigit() and int(plain)):
        msg = f"{text!r} is no count: give whole tokens of an update, such as 131072"
        raise argparse.ArgumentTypeError(msg)
    return int(plain)


def _stated(options: argparse.Namespace) -> Any:
    """Return the counts that the command line states, None where it states none."""
    from stepviz.throughput.token_counts import ADDITIVE, TokenCounts

    if options.tokens is None:
        return None
    name = options.convention or "executed"
    if name not in ADDITIVE:
        msg = f"--tokens are no {name}: leave one of --tokens and --convention out"
        raise ThroughputError(msg)
    return tuple(TokenCounts(**{name: count, "scope": "update"}) for count in options.tokens)


def judged(options: argparse.Namespace) -> tuple[str, int]:
    """Return the verdict as text, and the exit status: 0 where it passes, else 1.

    Raises
    ------
    StepvizError
        Where a run cannot be read, or the two cannot be compared.
    """
    from stepviz.evidence.verdict_formats import said
    from stepviz.evidence.verdicts import verdict
    from stepviz.traces import TraceWarning, load_run

    counts = _stated(options)
    with warnings.catch_warnings():
        # A verdict's notes say what could not be read.
        warnings.simplefilter("ignore", TraceWarning)
        runs = [load_run(options.before), load_run(options.after)]
        found = verdict(
            *runs,
            convention=options.convention,
            counts=counts,
            same_work=options.same_work,
        )
    passed = found.passes(options.gate)
    return said(found, options.format, options.gate), 0 if passed else NOT_PASSED
