"""Starting the ranks of one machine, watching them, and ending every one of them.

Between this process and the ranks stands an agent (see `agent`): when this process is gone, however
it went, the agent's input closes and it takes the ranks with it.
"""

from __future__ import annotations

import os
import signal
import site
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from stepviz.core.checks import count_text
from stepviz.errors import CaptureError
from stepviz.recording.failures import (
    crash_message,
    first_failure,
    hang_message,
    port_is_taken,
    quoted,
    stillness,
    tail_of,
)
from stepviz.recording.flags import as_flags
from stepviz.recording.options import Options
from stepviz.recording.progress_bars import Bar
from stepviz.recording.standing import PLACES, Standing, lines_said, standing
from stepviz.recording.tethers import end_group

#: How often to look, s.
LOOK: Final = 0.1
#: How long others may take to say that they failed first, s.
SETTLE: Final = 3.0
#: Before a rank has begun it imports torch, which takes a while from a network's disk, s.
START: Final = 120.0
#: Nobody moved for so long, s: the bar says who is behind, long before it counts as hanging.
STILL: Final = 3.0
#: A pause so much longer than the longest so far is no slow step any more.
_TIMES_LONGEST: Final = 5
#: The share of the bar that starting takes, and that writing takes.
_STARTING: Final = 0.15
_WRITING: Final = 0.05
#: What a job that this process is part of says to its own ranks.
_NOT_INHERITED: Final = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "ROLE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "OMP_NUM_THREADS",
)
#: Of torchrun's agents, and flags of torchrun that a cluster sets.
_NOR_THESE: Final = ("TORCHELASTIC_", "PET_")


class PortTaken(CaptureError):  # noqa: N818  # a reason to try again, never seen outside
    """The port to meet at is in use."""


class Launch:
    """All ranks of one machine, from start to end; leaving the ``with`` block ends them."""

    def __init__(self, options: Options, folder: Path, bar: Bar, *, output: bool) -> None:
        self._options, self._folder, self._bar, self._output = options, folder, bar, output
        self._shown: dict[Path, int] = {}
        self.placement: dict[str, Any] | None = None
        self._agent_log = folder / "agent.log"
        with self._agent_log.open("wb") as log:
            self._agent = subprocess.Popen(  # noqa: S603  # our own module
                [
                    *(sys.executable, "-m", "stepviz.recording.agent", str(folder)),
                    *(str(options.ranks), str(options.port), *as_flags(options)),
                ],
                stdin=subprocess.PIPE,  # closes when this process is gone
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(),
                start_new_session=True,  # an interrupt is for us alone
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process."""
        self.end()

    def end(self) -> None:
        """End the ranks and the agent, and wait until they are gone."""
        for stood in self._standings().values():
            end_group(stood.pid)
        if self._agent.stdin is not None:
            with suppress(OSError):
                self._agent.stdin.write(b"x")
                self._agent.stdin.close()
        try:
            self._agent.wait(3)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(self._agent.pid, signal.SIGKILL)
            self._agent.wait()
        # A rank may have begun in between.
        for stood in self._standings().values():
            end_group(stood.pid)

    def wait(self) -> None:
        """Wait until all ranks are done.

        Raises
        ------
        CaptureError
            Where one failed, hangs, or all take too long.
        """
        began = moved = time.monotonic()
        longest = 0.0
        before: dict[int, Standing] = {}
        while True:
            over = self._agent.poll() is not None
            self._say_placement()
            self._print()
            said = self._said()
            if any("failed" in one or one.get("exitcode") for one in said):
                self._raise_failure()
            stood = self._standings()
            done = [one for one in said if one.get("done")]
            if len(done) == self._options.ranks:
                self._bar.show(1.0, "done")
                return
            if over:
                self._raise_failure()
            now = time.monotonic()
            if stood != before:
                if all(one.passes for one in stood.values()):
                    longest = max(longest, now - moved)
                moved, before = now, stood
            self._show(stood, now - moved if now - moved > max(STILL, 2 * longest) else 0.0)
            if now - moved > self._patience(stood, longest):
                still = now - moved
                raise CaptureError(hang_message(stood, self._options.ranks, still, self._folder))
            if now - began > self._options.timeout_s:
                msg = (
                    f"the capture took longer than timeout_s={self._options.timeout_s:g}: "
                    f"{self._where(stood)}; all were ended. Allow more, or ask for less"
                )
                raise CaptureError(msg)
            time.sleep(LOOK)

    def _patience(self, stood: dict[int, Standing], longest: float) -> float:
        """Return how long nothing may move, s; `longest` is how long nothing did and all was well.

        Nobody moves while a large trace is written; then only the time for all of it counts.
        """
        least = max(self._options.patience_s, _TIMES_LONGEST * longest)
        if any(PLACES[one.place] == "writing its trace" for one in stood.values()):
            return self._options.timeout_s
        begun = len(stood) == self._options.ranks and all(one.passes for one in stood.values())
        return least if begun else max(START, least)

    def _where(self, stood: dict[int, Standing]) -> str:
        return ", ".join(f"rank {rank} {one.words}" for rank, one in sorted(stood.items()))

    def _standings(self) -> dict[int, Standing]:
        found = {rank: standing(self._folder, rank) for rank in range(self._options.ranks)}
        return {rank: one for rank, one in found.items() if one is not None}

    def _said(self) -> list[dict[str, Any]]:
        found = lines_said(self._folder / "agent.said")
        for rank in range(self._options.ranks):
            found += lines_said(self._folder / f"rank{rank}.said")
        return found

    def _say_placement(self) -> None:
        if self.placement is None:
            for one in lines_said(self._folder / "agent.said"):
                self.placement = one.get("placement", self.placement)

    def _show(self, stood: dict[int, Standing], still: float) -> None:
        slowest = min(stood.values(), key=lambda one: one.progress, default=None)
        if self.placement is None:
            self._bar.show(0.02, "loading torch")
            return
        words = f"{self.placement['backend']} on {self.placement['device']}"
        if slowest is None or len(stood) < self._options.ranks or not slowest.total:
            self._bar.show(
                _STARTING / 2, f"starting {count_text(self._options.ranks, 'rank')}, {words}"
            )
            return
        share = slowest.passes / slowest.total
        at = f"pass {min(slowest.passes + 1, slowest.total)} of {slowest.total}"
        if slowest.passes >= slowest.total:
            at = "writing traces"
        elif still:
            at = stillness(stood, still)
        self._bar.show(_STARTING + (1 - _STARTING - _WRITING) * share, f"{at}, {words}")

    def _print(self) -> None:
        """Show what ranks wrote since, where somebody asked for it."""
        if not self._output:
            return
        for path in sorted(self._folder.glob("logs/**/std*.log")):
            with path.open("rb") as file:
                file.seek(self._shown.get(path, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self._shown[path] = self._shown.get(path, 0) + len(whole)
            for line in whole.decode(errors="replace").splitlines():
                if not line.startswith("USDT:"):
                    self._bar.line(f"[rank {path.parent.name}] {line}")

    def _raise_failure(self) -> NoReturn:
        """Wait a little for who failed first, then say it."""
        until = time.monotonic() + SETTLE
        while True:
            said = self._said()
            first = first_failure(said)
            over = any("ended" in one for one in said) or self._agent.poll() is not None
            if first is not None or over or time.monotonic() > until:
                break
            time.sleep(LOOK)
        self._print()
        failed = [one for one in said if "failed" in one]
        first = first or (failed[0] if failed else None)
        agent = self._agent_log.read_text(errors="replace")
        if first is None:
            if port_is_taken(agent):
                raise PortTaken(taken(self._options.port))
            lines = [line for line in agent.splitlines() if line.strip()][-8:]
            msg = f"the ranks could not be started (status {self._agent.poll()})"
            raise CaptureError(msg + "".join(f"\n    {line[:200]}" for line in lines))
        if "rank" not in first:  # the agent's own
            if port_is_taken(str(first["failed"])):
                raise PortTaken(taken(self._options.port))
            if first.get("kind") == "CaptureError":
                raise CaptureError(str(first["failed"]))
            msg = f"the ranks could not be started: {first.get('kind')}: {first['failed']}"
            raise CaptureError(msg)
        rank = int(first["rank"])
        if first.get("space"):
            msg = (
                f"no space is left where rank {rank} writes its trace; free some, or choose "
                "another folder. Nothing was kept of this capture"
            )
            raise CaptureError(msg)
        stood = self._standings().get(rank)
        tail = tail_of(self._folder, rank)
        if port_is_taken(str(first.get("failed"))):
            raise PortTaken(taken(self._options.port) + quoted(rank, tail))
        raise CaptureError(crash_message(first, stood, self._options.ranks, tail))


def taken(port: int) -> str:
    """Say that the port to meet at is in use; 0 for one that was to be free."""
    if port:
        return f"port {port} is in use by another program; leave port out and a free one is chosen"
    return "the ports that were free were taken before the ranks could use them; try again"


def environment() -> dict[str, str]:
    """Return what the agent's environment is: ours, without what another job says to its ranks."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_INHERITED and not name.startswith(_NOR_THESE)
    }
    # Its ranks are all here, whatever network the user's own jobs are told to take.
    kept["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
    kept.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    home = str(Path(__file__).resolve().parents[2])
    if home not in {*site.getsitepackages(), site.getusersitepackages()}:
        # stepviz runs from a checkout, which ranks would find only in its own folder.
        path = [kept["PYTHONPATH"]] if kept.get("PYTHONPATH") else []
        kept["PYTHONPATH"] = os.pathsep.join([home, *path])
    return kept
