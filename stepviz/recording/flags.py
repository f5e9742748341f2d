"""The options as flags of a command line: of `stepviz capture`, and of the benchmark itself."""

from __future__ import annotations

import argparse
from typing import Any, Final

from stepviz.errors import CaptureError
from stepviz.recording.options import LaunchedOptions, Options, Told, told

_NONE: Final = "none"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give a parser one flag for each option."""
    for name, (what, default) in told().items():
        flag = "--" + name.replace("_", "-")
        if what.kind == "flag":
            parser.add_argument(
                flag,
                dest=name,
                action=argparse.BooleanOptionalAction,
                default=default,
                help=f"{what.help} (default: {'yes' if default else 'no'})",
            )
            continue
        shown = _NONE if default is None else default
        parser.add_argument(
            flag,
            dest=name,
            metavar=_metavar(what),
            default=default,
            type=_reader(what),
            help=f"{what.help} (default: {shown})".replace("%", "%%"),
        )


def add_capture(commands: Any) -> None:
    """Give a command line, by its subparsers, the command ``capture``."""
    parser = commands.add_parser(
        "capture",
        help="train a small GPT-like model under DDP on this machine and record it",
        description=(
            "Train a small GPT-like model under DDP on this machine, one process per GPU or on the "
            "CPU, and write one trace per rank for `stepviz explain`."
        ),
    )
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="a folder that does not exist or is empty"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the traces that are in DIR"
    )
    parser.add_argument("--output", action="store_true", help="show what the ranks print")
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show a bar (default: in a terminal)",
    )
    add_flags(parser)


def options_of(parsed: argparse.Namespace) -> Options:
    """Return the options that were given as flags."""
    return Options(**{name: getattr(parsed, name) for name in told()})


def as_flags(options: Options) -> list[str]:
    """Return the command line that says these options."""
    found = []
    for name, (what, default) in told().items():
        value = getattr(options, name)
        if value == default:
            continue
        flag = name.replace("_", "-")
        if what.kind == "flag":
            found.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, tuple):
            found.append(f"--{flag}=" + ",".join(map(repr, value)))
        else:
            found.append(f"--{flag}={_NONE if value is None else value}")
    return found


def _metavar(what: Told) -> str:
    if what.words:
        return "|".join(what.words)
    return {"count": "N", "rank": "RANK", "caps": "MIB[,MIB…]", "share": "SHARE"}.get(
        what.kind, "X"
    )


def _reader(what: Told) -> Any:
    """Return what makes a value of a flag's text; what is no number is refused later, by name."""

    def read(text: str) -> Any:
        if what.optional and text.lower() == _NONE:
            return None
        if what.kind == "word":
            return text
        parts = text.split(",") if what.kind == "caps" else [text]
        numbers = [_number(part) for part in parts]
        return tuple(numbers) if len(numbers) > 1 else numbers[0]

    return read


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parsed_options(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> LaunchedOptions:
    """Return the options of ranks that are started, or end the program with what is wrong.

    Raises
    ------
    SystemExit
        With status 2, as argparse ends it.
    """
    try:
        return LaunchedOptions(**{name: getattr(parsed, name) for name in told()})
    except CaptureError as error:
        parser.error(str(error))
