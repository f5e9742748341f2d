"""stepviz from a shell: the same answers as in a notebook, as text."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from stepviz import __version__
from stepviz.errors import StepvizError, TraceError
from stepviz.evidence.judging import add_verdict, judged
from stepviz.recording.flags import add_capture

if TYPE_CHECKING:
    from stepviz.traces import Run

#: A request that cannot be answered, as argparse also says.
CANNOT = 2
#: As shells say of a program that SIGINT ended.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 1 where a verdict does not pass; 2 where something could not be done, and then the
        reason is one sentence on stderr; 130 where it was interrupted.
    """
    _print_anything()
    options = _parser().parse_args(arguments)
    status = 0
    try:
        text, status = _answered(options)
        print(text)
        sys.stdout.flush()
    except StepvizError as error:
        print(f"stepviz: {error}", file=sys.stderr)
        return CANNOT
    except KeyboardInterrupt:
        print("stepviz: interrupted; nothing is left running", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        _give_up(sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        print(f"stepviz: the answer cannot be written ({error.strerror})", file=sys.stderr)
        return CANNOT
    return status


def _print_anything() -> None:
    """Let a terminal that knows no … or µ show a ? there, and let closed streams be, not fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us, as >&- does
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # until the end
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _give_up(stream: TextIO) -> None:
    """Send what is left in a stream nowhere, so that closing it at exit does not complain."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stepviz",
        description="What would make this training step finish sooner?",
        epilog=(
            "Exit status: 0 done; 1 a verdict does not pass; 2 it could not be done, and stderr "
            "says why in a sentence; 130 interrupted. What was asked for is on stdout alone."
        ),
    )
    parser.add_argument("--version", action="version", version=f"stepviz {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    explain = commands.add_parser(
        "explain",
        help="say where a step of a recorded run goes and what would help",
        description="Read PyTorch profiler traces and say where a step goes and what would help.",
    )
    _add_source(explain)
    explain.add_argument(
        "--json",
        action="store_true",
        help="print all of it as one JSON document, times in ns (see docs/explain-json.md)",
    )
    report = commands.add_parser(
        "report",
        help="write the same as one HTML page to attach to a ticket",
        description="Write what a step shows as one HTML file that needs no network: where it "
        "goes, its critical path, what would help, how far to trust that, and where it is from.",
    )
    _add_source(report)
    report.add_argument(
        "--out", required=True, metavar="FILE", help="where to write it, such as step.html"
    )
    add_capture(commands)
    add_verdict(commands)
    return parser


def _add_source(command: argparse.ArgumentParser) -> None:
    """Add what says which step of which run is meant."""
    command.add_argument(
        "source",
        nargs="*",
        metavar="FOLDER",
        help="a folder of traces (.json, .json.gz; one file a rank), or the files themselves",
    )
    command.add_argument(
        "--step", type=int, metavar="N", help="the step's number (default: the median one)"
    )
    command.add_argument(
        "--sample", action="store_true", help="take the small run that ships with stepviz"
    )


def _answered(options: argparse.Namespace) -> tuple[str, int]:
    """Return what a command prints, and how it ends."""
    if options.command == "verdict":
        return judged(options)
    answer = {"capture": _captured, "explain": _explained, "report": _reported}[options.command]
    return answer(options), 0


def _captured(options: argparse.Namespace) -> str:
    from stepviz.recording.captures import capture_and_tell

    return capture_and_tell(options)


def _explained(options: argparse.Namespace) -> str:
    from stepviz.traces.report_data import as_json, report
    from stepviz.traces.story import explain

    run = _loaded(options)
    return as_json(report(run, options.step)) if options.json else explain(run, options.step)


def _reported(options: argparse.Namespace) -> str:
    from stepviz.files import target_of
    from stepviz.reports import report

    target_of(options.out)  # before traces are read, which may take minutes
    written = report(_loaded(options), options.out, step=options.step)
    return f"{written}: {written.stat().st_size / 1e6:.1f} MB, opens in any browser"


def _loaded(options: argparse.Namespace) -> Run:
    from stepviz.traces import TraceWarning, load_run, sample_run

    if options.sample and options.source:
        msg = f"--sample is a run of its own; leave it out to {options.command} {options.source[0]}"
        raise TraceError(msg)
    if not options.sample and not options.source:
        msg = "pass a folder of traces, or --sample for the run that ships with stepviz"
        raise TraceError(msg)
    with warnings.catch_warnings():
        # What could not be read is part of the story; saying it twice helps nobody.
        warnings.simplefilter("ignore", TraceWarning)
        if options.sample:
            return sample_run()
        return load_run(options.source[0] if len(options.source) == 1 else options.source)


if __name__ == "__main__":
    sys.exit(main())
