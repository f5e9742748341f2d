"""Which rank this process is, and what its neighbours have: under torchrun, Slurm or by hand."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from stepviz.recording.placement import Placement, core_numbers, placed_here

#: What Slurm calls the things that torchrun sets: those of the step before those of the job.
_SLURM: Final = {
    "RANK": ("SLURM_PROCID",),
    "WORLD_SIZE": ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
}
_NODES: Final = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
_NEEDED: Final = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
#: Several jobs may meet on one node: each at a port of its own.
_FIRST_PORT: Final = 15_000
_PORTS: Final = 10_000


def told_place(environment: MutableMapping[str, str]) -> list[str]:
    """Put what Slurm says where torch looks for it, and return what nobody says.

    What a launcher set already stays. Under Slurm the ranks meet on the first node of the step.

    Examples
    --------
    >>> place = {
    ...     "SLURM_PROCID": "3",
    ...     "SLURM_NTASKS": "8",
    ...     "SLURM_JOB_NODELIST": "gpu[07-08]",
    ...     "SLURM_JOB_ID": "41",
    ... }
    >>> told_place(place)
    []
    >>> place["RANK"], place["WORLD_SIZE"], place["MASTER_ADDR"], place["MASTER_PORT"]
    ('3', '8', 'gpu07', '15041')
    """
    if "RANK" not in environment and "SLURM_PROCID" in environment:
        for ours, theirs in _SLURM.items():
            said = next((environment[name] for name in theirs if name in environment), None)
            if said is not None:
                environment.setdefault(ours, said)
        nodes = next((environment[name] for name in _NODES if environment.get(name)), "")
        if nodes:
            environment.setdefault("MASTER_ADDR", first_node(nodes))
        job = environment.get("SLURM_JOB_ID", "")
        number = int(job) % _PORTS if job.isdecimal() else 0
        environment.setdefault("MASTER_PORT", str(_FIRST_PORT + number))
    environment.setdefault("MASTER_PORT", "29500")
    return [name for name in _NEEDED if not environment.get(name)]


def first_node(nodes: str) -> str:
    """Return the first of Slurm's list of nodes.

    Examples
    --------
    >>> [first_node(nodes) for nodes in ("a1", "n[003-007,9],m1", "rack1-n[2,5]", "a,b[1-2]")]
    ['a1', 'n003', 'rack1-n2', 'a']
    """
    found = re.match(r"([^\[,]+)(?:\[(\w+)[^\]]*\])?", nodes)
    return "".join(part or "" for part in found.groups()) if found else nodes


@dataclass(frozen=True)
class Sight:
    """What one rank sees: its machine, that machine's GPUs as it can tell them apart, its cores."""

    machine: str
    gpus: tuple[str, ...]
    cores: tuple[int, ...]


@dataclass(frozen=True)
class Neighbours:
    """What all ranks see together, from the side of one of them.

    `here` and `gpus` are ranks and GPUs of its machine, `cores` what its ranks share, `own` its
    place among those GPUs as it sees them, None where there is not one for each rank. `scarce` is
    another machine's ranks and GPUs, where that has too few.
    """

    here: int
    gpus: int
    cores: int
    own: int | None
    scarce: tuple[int, int] | None


def neighbours(sights: Sequence[Sight], rank: int) -> Neighbours:
    """Return what a rank's neighbours have, from what all ranks see.

    Ranks of a machine may all see all of its GPUs, as under torchrun, or each its own, as where
    Slurm binds them.
    """
    machines: dict[str, list[int]] = {}
    for place, sight in enumerate(sights):
        machines.setdefault(sight.machine, []).append(place)
    own: dict[int, int] = {}
    counts: dict[str, tuple[int, int]] = {}
    for machine, ranks in machines.items():
        taken: set[str] = set()
        for place in ranks:
            free = [k for k, gpu in enumerate(sights[place].gpus) if gpu not in taken]
            if free:
                own[place] = free[0]
                taken.add(sights[place].gpus[free[0]])
        everything = {gpu for place in ranks for gpu in sights[place].gpus}
        counts[machine] = (len(ranks), len(everything))
    mine = sights[rank].machine
    here = machines[mine]
    scarce = [count for machine, count in counts.items() if machine != mine and count[1] < count[0]]
    return Neighbours(
        here=len(here),
        gpus=counts[mine][1],
        cores=len({core for place in here for core in sights[place].cores}),
        own=own.get(rank),
        scarce=min(scarce, key=lambda count: count[1] - count[0]) if scarce else None,
    )


def met(rank: int, ranks: int, patience_s: float) -> tuple[Any, Neighbours]:
    """Meet the other ranks, and return the store they share and what they have.

    Nothing has been started then but the store: where ranks run is decided on counts.
    """
    import torch.distributed as dist

    untyped: Any = dist
    patience = timedelta(seconds=patience_s)
    store, _, _ = next(untyped.rendezvous("env://", rank, ranks, timeout=patience))
    store.set_timeout(patience)
    mine = untyped.PrefixStore("stepviz", store)
    machine, count = this_machine(), gpus_here()
    machines = _told(mine, "machine", rank, ranks, machine)
    local = machines.count(machine)
    # Those who see fewer than there are ranks may see others each: only then they are asked for.
    gpus = [str(k) for k in range(count)] if count >= local else gpu_names(count)
    sight = Sight(machine, tuple(gpus), tuple(core_numbers()))
    seen = _told(mine, "sight", rank, ranks, json.dumps(asdict(sight)))
    sights = [_sight(json.loads(text)) for text in seen]
    return untyped.PrefixStore("ranks", store), neighbours(sights, rank)


def placed_among(found: Neighbours, options: Any) -> Placement:
    """Choose backend and device for a rank with such neighbours (see `placement.placed`)."""
    return placed_here(
        found.here,
        asked=options.device,
        emulated=options.emulated,
        threads=options.threads,
        workers=options.workers,
        gpus=found.gpus,
        cores_here=found.cores,
        scarce=found.scarce,
        ranks=options.ranks,
    )


def _told(store: Any, what: str, rank: int, ranks: int, text: str) -> list[str]:
    """Tell all ranks something, and return what each told."""
    store.set(f"{what}{rank}", text)
    return [store.get(f"{what}{other}").decode() for other in range(ranks)]


def _sight(said: Mapping[str, Any]) -> Sight:
    return Sight(said["machine"], tuple(said["gpus"]), tuple(said["cores"]))


def this_machine() -> str:
    """Return what tells this machine from others; it is never written into a trace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    return f"{platform.node()}/{boot}"


def gpus_here() -> int:
    """Return how many CUDA (or ROCm) devices this process can see."""
    import torch

    untyped: Any = torch
    return int(untyped.cuda.device_count()) if untyped.cuda.is_available() else 0


def gpu_names(count: int) -> list[str]:
    """Return what tells the GPUs of a machine apart, whoever sees which."""
    import torch

    untyped: Any = torch
    visible = os.environ.get("CUDA_VISIBLE_DEVICES") or os.environ.get("HIP_VISIBLE_DEVICES", "")
    found = []
    for place in range(count):
        uuid = getattr(untyped.cuda.get_device_properties(place), "uuid", None)
        found.append(str(uuid) if uuid is not None else f"{visible}/{place}")
    return found
