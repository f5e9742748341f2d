"""The benchmark, one process per rank: `python -m stepviz.recording.benchmark --out DIR`.

`stepviz capture` and `sv.capture` start it on one machine. On several it runs under your own
launcher, each rank writing its file into a folder that all of them see:

    torchrun --nnodes 2 --nproc-per-node 8 … -m stepviz.recording.benchmark --out DIR
    srun --ntasks 16 --gpus-per-task 1 python -m stepviz.recording.benchmark --out DIR

By any other launcher it needs RANK, WORLD_SIZE and MASTER_ADDR in each rank's environment.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from stepviz.errors import CaptureError
from stepviz.recording.flags import add_flags, parsed_options
from stepviz.recording.options import PLAN, Options
from stepviz.recording.own_place import met, placed_among, told_place
from stepviz.recording.standing import AGENT, FOLDER, Stamps
from stepviz.recording.tethers import end_with_parent

#: For tests: "crash:1:3" makes rank 1 fail in pass 3; also hang, kill, full.
PLANTED: Final = "STEPVIZ_PLANTED_FAILURE"


def main() -> None:
    """Run this rank, and say how it went."""
    folder = Path(os.environ[FOLDER]) if FOLDER in os.environ else None
    if folder is not None:
        end_with_parent(parent=int(os.environ[AGENT]))
    parser = argparse.ArgumentParser(
        prog="python -m stepviz.recording.benchmark",
        description="Train a small GPT-like model under DDP and record it; one process per rank.",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for one file per rank")
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    add_flags(parser)
    parsed = parser.parse_args()
    rank, parsed.ranks = _own_place(parser)
    options = parsed_options(parser, parsed)
    stamps = Stamps(folder, rank)
    try:
        target = _target(parsed.out, rank, overwrite=parsed.overwrite)
        size = _run(options, target, stamps, rank)
    except Exception as error:  # noqa: BLE001  # whatever it is, the launcher names it
        traceback.print_exc()
        sys.stderr.flush()
        text = f"{type(error).__name__}: {error}".strip()
        stamps.say(failed=text, rank=rank, space=_is_full(error))
        if isinstance(error, CaptureError) and folder is None:
            parser.exit(2, f"stepviz: {error}\n")
        sys.exit(1)
    stamps.at("done")
    stamps.say(done=True, rank=rank, bytes=size)


def _own_place(parser: argparse.ArgumentParser) -> tuple[int, int]:
    """Return the rank, and the ranks of all machines, as the launcher says them."""
    missing = told_place(os.environ)
    if missing:
        parser.error(
            f"{', '.join(missing)} not set: start it with torchrun or srun, or use `stepviz "
            "capture`, which starts all ranks of one machine"
        )
    place = os.environ["RANK"], os.environ["WORLD_SIZE"]
    if not all(one.isdecimal() for one in place) or int(place[0]) >= int(place[1]):
        parser.error(f"RANK={place[0]} of WORLD_SIZE={place[1]} is no rank; they count from 0")
    return int(place[0]), int(place[1])


def _target(out: Path, rank: int, *, overwrite: bool) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"rank{rank}.json.gz"
    if target.exists() and not overwrite:
        msg = f"{target} is there already; choose another folder, or --overwrite it"
        raise CaptureError(msg)
    return target


def _is_full(error: BaseException | None) -> bool:
    import errno

    while error is not None:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def _run(options: Options, target: Path, stamps: Stamps, rank: int) -> int:
    import torch
    import torch.distributed as dist

    from stepviz.recording.rounds import Rounds
    from stepviz.recording.sessions import Session

    # The launcher names the rank that is behind; torch would name the one that waits for it.
    patience = options.timeout_s if FOLDER in os.environ else 2 * options.patience_s
    store, found = met(rank, options.ranks, patience)
    placement = placed_among(found, options)
    untyped: Any = torch
    torch.set_num_threads(placement.threads)
    device = untyped.device("cpu")
    if placement.device == "cuda":
        device = untyped.device("cuda", found.own)
        untyped.cuda.set_device(device)
    several = {"device_id": device} if placement.device == "cuda" else {}
    dist.init_process_group(
        placement.backend, store=store, rank=rank, world_size=options.ranks,
        timeout=timedelta(seconds=patience), **several,
    )  # fmt: skip
    session = Session(options, placement, device, target, stamps, os.environ.get(PLANTED, ""))
    try:
        size = session.run()
        plan = target.parent.parent / PLAN
        if plan.exists():  # an experiment goes on from here
            pinned = placement.device == "cuda"
            Rounds(plan, dist.get_rank(), device, stamps, session.clock, pinned=pinned).run()
        return size
    finally:
        session.close()
        # After a failure others may be gone, and nobody would answer.
        if sys.exc_info()[0] is None:
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
