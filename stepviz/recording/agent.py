"""Between a capture and its ranks: decides where they run, then is torchrun.

    python -m stepviz.recording.agent FOLDER RANKS PORT FLAGS…

It ends, with all ranks, when the process that started it does: its standard input is a pipe that
closes then.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from stepviz.recording.standing import AGENT, FOLDER, say, standing
from stepviz.recording.tethers import end_group, end_own_group, end_with_parent, remove


def main() -> None:
    """Start the ranks and wait for them; what went wrong is said in the folder."""
    folder, ranks, port = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    flags = sys.argv[4:]

    launcher = os.getppid()
    cleaning = threading.Lock()

    def clean() -> None:
        # Two watchers may notice at once: whoever ends this process has cleaned up to the end.
        with cleaning:
            for rank in range(ranks):
                # A file half written, or a rank just gone, must not keep the rest from going.
                with suppress(Exception):
                    stood = standing(folder, rank)
                    if stood is not None:
                        end_group(stood.pid)
            remove(folder.parent)

    def until_closed() -> None:
        # A byte says that the launcher is there and will clean up; an end, that it is gone.
        if os.read(0, 1):
            _outlive(launcher, folder.parent)
        else:
            clean()
        end_own_group()

    threading.Thread(target=until_closed, daemon=True).start()
    end_with_parent(clean)
    said = folder / "agent.said"
    failed: dict[str, str] = {}
    try:
        code = _run(folder, ranks, port, flags, said)
    except Exception as error:  # noqa: BLE001  # whatever it is, the launcher says it
        code = 1
        failed = {"failed": f"{error}", "kind": type(error).__name__}
    with cleaning:
        # The ranks may have ended because a watcher is cleaning up, which must come to its end.
        if folder.exists():
            if failed:
                say(said, failed)
            say(said, {"ended": code})
    sys.exit(code)


def _outlive(launcher: int, folder: Path) -> None:
    """Leave a process that takes the folder away where the launcher dies before it does."""
    if os.fork():
        return
    os.setsid()
    until = time.monotonic() + 60
    with suppress(Exception):
        while folder.exists() and time.monotonic() < until:
            try:
                os.kill(launcher, 0)
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.02)
    os._exit(0)


def _run(folder: Path, ranks: int, port: int, flags: list[str], said: Path) -> int:
    import argparse

    from stepviz.recording.flags import add_flags, options_of
    from stepviz.recording.placement import placed_here

    parser = argparse.ArgumentParser()
    add_flags(parser)
    options = options_of(parser.parse_args(flags))
    placement = placed_here(
        ranks,
        asked=options.device,
        emulated=options.emulated,
        threads=options.threads,
        workers=options.workers,
    )
    say(said, {"placement": placement.as_dict()})
    os.environ["OMP_NUM_THREADS"] = str(placement.threads)
    os.environ[FOLDER], os.environ[AGENT] = str(folder), str(os.getpid())

    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    command = ["--nproc-per-node", str(ranks), "--rdzv-backend", "c10d"]
    command += ["--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1"]
    command += ["--log-dir", str(folder / "logs"), "--redirects", "3"]
    command += ["-m", "stepviz.recording.benchmark", "--out", str(folder.parent / "files"), *flags]
    try:
        torchrun(command)
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            say(said, {"rank": rank, "exitcode": failure.exitcode, "since": failure.timestamp})
        return 1
    return 0


if __name__ == "__main__":
    main()
