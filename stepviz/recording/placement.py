"""Where ranks run: decided on counts alone, before any of them starts."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Final

from stepviz.errors import CaptureError

CPU: Final = "cpu"
CUDA: Final = "cuda"


@dataclass(frozen=True)
class Placement:
    """Backend and device of all ranks of a machine, and why."""

    backend: str
    device: str
    why: str
    threads: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for the record."""
        return asdict(self)


def core_numbers() -> list[int]:
    """Return the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return sorted(affinity(0)) if affinity is not None else list(range(os.cpu_count() or 1))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(core_numbers())


def placed(
    *,
    ranks_here: int,
    gpus: int,
    asked: str = "auto",
    emulated: bool = False,
    nccl: bool = True,
    mps: bool = False,
    cores_here: int,
    threads: int | None = None,
    workers: int = 0,
    scarce: tuple[int, int] | None = None,
    ranks: int | None = None,
) -> Placement:
    """Choose backend and device.

    Parameters
    ----------
    ranks_here : int
        Ranks on this machine.
    gpus : int
        CUDA (or ROCm) devices that this process can see.
    asked : {"auto", "cpu", "cuda"}
        What the user wants.
    emulated : bool
        Whether the network is to be emulated, which works on the CPU only.
    nccl, mps : bool
        Whether this torch has NCCL; whether this is a Mac with a GPU of its own.
    cores_here : int
        Cores that all ranks share.
    threads : int, optional
        Threads of each rank.
    workers : int
        Loader processes of each rank, which take cores as well.
    scarce : tuple of int, optional
        Ranks and GPUs of another machine that has too few of these: all ranks exchange the same
        way.
    ranks : int, optional
        Ranks of all machines; by default those here are all.

    Returns
    -------
    Placement

    Raises
    ------
    CaptureError
        Where the user insists on GPUs that are not there.
    """
    enough = gpus >= ranks_here and nccl and scarce is None
    if asked == CUDA and not enough:
        lacking = "this torch has no NCCL" if gpus >= ranks_here else f"{_gpus(gpus)} here"
        crew = ranks_here
        if gpus >= ranks_here and nccl and scarce is not None:
            crew, lacking = scarce[0], f"{_gpus(scarce[1])} on another machine"
        msg = (
            f"device='cuda' needs one GPU per rank, and for {crew} {_ranks(crew)} {lacking}; "
            "leave device out for gloo on the CPU, or ask for fewer ranks"
        )
        raise CaptureError(msg)
    own = threads or max(1, cores_here // ranks_here)
    alone = (ranks_here if ranks is None else ranks) == 1
    if asked != CPU and enough and not emulated:
        why = f"{_gpus(gpus)} for {ranks_here} {_ranks(ranks_here)}: one each, exchange by NCCL"
        if alone:
            why += "; a single rank exchanges nothing, so no exchange kernel runs"
        return Placement("nccl", CUDA, why, own)
    if asked == CPU:
        why = "device='cpu' was asked for"
    elif emulated:
        why = "the emulated fabric works on the CPU"
    elif gpus >= ranks_here and nccl and scarce is not None:
        why = (
            f"{_gpus(scarce[1])} on another machine for its {scarce[0]} {_ranks(scarce[0])}, and "
            "all exchange the same way"
        )
    elif gpus >= ranks_here:
        why = f"this torch has no NCCL, though {_gpus(gpus)} here"
    elif gpus:
        why = f"{_gpus(gpus)} for {ranks_here} ranks: NCCL wants one each"
    elif mps:
        why = "no backend of torch exchanges tensors of a Mac's GPU"
    else:
        why = "no GPU here"
    crowd = ranks_here * (own + workers)
    loaders = f" and {workers} loader {_processes(workers)}" if workers else ""
    each = f"{own} {_threads(own)}{loaders}"
    why += f"; {ranks_here} {_ranks(ranks_here)} of {each} on {cores_here} cores"
    if crowd > cores_here:
        why += ", which they share: exchange slows compute"
    if alone:
        why += "; a single rank exchanges nothing"
    return Placement("gloo", CPU, why, own)


def _gpus(count: int) -> str:
    return {0: "no GPU is", 1: "1 GPU"}.get(count, f"{count} GPUs")


def _ranks(count: int) -> str:
    return "rank" if count == 1 else "ranks"


def _threads(count: int) -> str:
    return "thread" if count == 1 else "threads"


def _processes(count: int) -> str:
    return "process" if count == 1 else "processes"


def placed_here(
    ranks_here: int,
    *,
    asked: str,
    emulated: bool,
    threads: int | None,
    workers: int = 0,
    gpus: int | None = None,
    cores_here: int | None = None,
    scarce: tuple[int, int] | None = None,
    ranks: int | None = None,
) -> Placement:
    """Count what is here, unless it was counted, and choose (see `placed`)."""
    import torch
    import torch.distributed as dist

    if not dist.is_available():
        msg = "this torch was built without torch.distributed; install one that has it"
        raise CaptureError(msg)
    mps = getattr(torch.backends, "mps", None)
    if gpus is None:
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return placed(
        ranks_here=ranks_here,
        gpus=gpus,
        asked=asked,
        emulated=emulated,
        nccl=dist.is_nccl_available(),
        mps=mps is not None and mps.is_available(),
        cores_here=cores() if cores_here is None else cores_here,
        threads=threads,
        workers=workers,
        scarce=scarce,
        ranks=ranks,
    )
