"""What went wrong in a capture, in one message: which rank, where, and its own last lines."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from stepviz.recording.standing import Standing

#: What a rank says because another one is gone.
_SECONDARY: Final = re.compile(
    r"closed by peer|connection reset|broken pipe|timed out waiting|socket closed|"
    r"connection refused|peer.*(gone|exited)|remote process exited|no longer connected",
    re.IGNORECASE,
)
#: What torch writes into everybody's output and says nothing about a failure.
_NOISE: Final = re.compile(r"^(USDT:|\*{5,}|\[W\d|W\d{4} |\s*$)|OMP_NUM_THREADS|NO_COLOR")
_PORT_TAKEN: Final = re.compile(r"EADDRINUSE|address already in use|errno: 98", re.IGNORECASE)
_LINES: Final = 8


def is_secondary(text: str) -> bool:
    """Say whether a rank failed only because another one had."""
    return bool(_SECONDARY.search(text))


def port_is_taken(text: str) -> bool:
    """Say whether a failure is that of a port in use."""
    return bool(_PORT_TAKEN.search(text))


def first_failure(said: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the failure that caused the others: the first that no other rank explains."""
    own = [one for one in said if "failed" in one and not is_secondary(str(one["failed"]))]
    killed = [one for one in said if one.get("exitcode", 0) < 0]
    # Who is ended because another failed gets a polite signal.
    hard = [one for one in killed if one["exitcode"] not in (-signal.SIGTERM, -signal.SIGINT)]
    if own or hard:
        return min(own + hard, key=lambda one: int(one["at_ns"]))
    return None


def crash_message(
    failure: Mapping[str, Any], stood: Standing | None, ranks: int, tail: Sequence[str]
) -> str:
    """Say which rank failed, where and how, with its last lines."""
    rank = failure.get("rank", 0)
    where = f" {stood.words}" if stood is not None else " before it began"
    how = str(failure.get("failed", ""))
    if failure.get("exitcode", 0) < 0:
        number = -int(failure["exitcode"])
        how = f"it was killed by {signal.Signals(number).name}"
        if number == signal.SIGKILL:
            how += ", as the kernel does where memory runs out"
    others = {1: "", 2: "; the other was ended"}.get(ranks, f"; the other {ranks - 1} were ended")
    return f"rank {rank} of {ranks} failed{where}: {how}{others}" + quoted(rank, tail)


def those_behind(stood: Mapping[int, Standing]) -> list[int]:
    """Return the ranks that others may be waiting for: all, where none is behind."""
    least = min(one.progress for one in stood.values())
    return sorted(rank for rank, one in stood.items() if one.progress == least)


def stillness(stood: Mapping[int, Standing], seconds: float) -> str:
    """Say, while one still waits, who stands still, where, and for how long."""
    behind = those_behind(stood)
    if len(behind) == len(stood) and len(stood) > 1:
        return f"no rank has moved for {seconds:.0f} s"
    return f"rank {', '.join(map(str, behind))} for {seconds:.0f} s {stood[behind[0]].words}"


def hang_message(stood: Mapping[int, Standing], ranks: int, seconds: float, folder: Path) -> str:
    """Say which rank is behind, and where; not who waits for it."""
    silent = sorted(set(range(ranks)) - set(stood))
    if silent:
        names = ", ".join(map(str, silent))
        return (
            f"no rank moved for {seconds:.0f} s: rank {names} of {ranks} never began; all were "
            "ended" + quoted(silent[0], tail_of(folder, silent[0]))
        )
    behind = those_behind(stood)
    if len(behind) == len(stood) and ranks > 1:
        places = "; ".join(f"rank {rank} is {one.words}" for rank, one in sorted(stood.items()))
        return f"no rank moved for {seconds:.0f} s, and none is behind: {places}; all were ended"
    rank = behind[0]
    waiting = [other for other in sorted(stood) if other not in behind]
    others = f"; rank {', '.join(map(str, waiting))} waited for it" if waiting else ""
    return (
        f"rank {', '.join(map(str, behind))} of {ranks} hangs: it stood still for {seconds:.0f} s "
        f"{stood[rank].words}{others}; all were ended" + quoted(rank, tail_of(folder, rank))
    )


def tail_of(folder: Path, rank: int) -> list[str]:
    """Return the last lines that a rank wrote itself."""
    found = []
    for name in ("stdout.log", "stderr.log"):
        for path in sorted(folder.glob(f"logs/**/{rank}/{name}"))[-1:]:
            text = path.read_text(errors="replace")[-20_000:]
            found += [line.rstrip() for line in text.splitlines() if not _NOISE.search(line)]
    return found[-_LINES:]


def quoted(rank: int, tail: Sequence[str]) -> str:
    """Return last lines below a message."""
    if not tail:
        return ""
    return f"\n  last lines of rank {rank}:" + "".join(f"\n    {line[:200]}" for line in tail)
