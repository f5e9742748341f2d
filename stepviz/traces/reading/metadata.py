"""What a file says about the job it is from: base time, world, process groups, its system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepviz.traces.reading.exact import LARGEST_NS
from stepviz.traces.reading.ranks import LARGEST_WORLD
from stepviz.traces.reading.repairs import Repairs
from stepviz.traces.reading.words import whole

#: Versions that a file may say of itself, by its words for them, and ours.
_VERSIONS: Final = {
    "schemaVersion": "trace format",
    "cuda_driver_version": "CUDA driver",
    "cuda_runtime_version": "CUDA runtime",
    "hip_driver_version": "HIP driver",
    "hip_runtime_version": "HIP runtime",
}
#: No name or version of a system is longer.
_LONGEST: Final = 80


def base_ns(metadata: Mapping[str, Any], repairs: Repairs) -> int:
    """Return what to add to a file's times, ns."""
    base = metadata.get("baseTimeNanoseconds", 0)
    number = whole(base)
    if number is None or not 0 <= number < LARGEST_NS:
        shown = str(base)[:40]
        repairs.mend(1, f"baseTimeNanoseconds {shown!r} is no time and was left out")
        return 0
    return number


def info_of(metadata: Mapping[str, Any], rank: int) -> Mapping[str, Any]:
    """Return a file's distributedInfo, that of one rank where it has one for each."""
    info = metadata.get("distributedInfo")
    if isinstance(info, list):
        entries = [entry for entry in info if isinstance(entry, dict)]
        mine = [entry for entry in entries if whole(entry.get("rank")) == rank]
        return (mine or entries or [{}])[0]
    return info if isinstance(info, dict) else {}


def world_size(info: Mapping[str, Any], rank: int, repairs: Repairs) -> int | None:
    """Return how many ranks the job has, None where nothing says it."""
    said = info.get("world_size")
    size = whole(said)
    if said is not None and (size is None or not rank < size <= LARGEST_WORLD):
        sentence = f"world_size {str(said)[:40]!r} with rank {rank} is no world and left out"
        repairs.mend(1, sentence)
        return None
    return size


def groups_of(info: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return process groups by name: their description and their ranks."""
    config = info.get("pg_config")
    groups: dict[str, tuple[str, tuple[int, ...]]] = {}
    for entry in config if isinstance(config, list) else []:
        if not isinstance(entry, dict) or "pg_name" not in entry:
            continue
        ranks = entry.get("ranks")
        members = tuple(r for r in (ranks if isinstance(ranks, list) else []) if isinstance(r, int))
        groups[str(entry["pg_name"])] = (str(entry.get("pg_desc", "")), members)
    return groups


def devices_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the devices that the machine of a file has, in order of their ids."""
    said = metadata.get("deviceProperties")
    entries = [one for one in (said if isinstance(said, list) else []) if isinstance(one, dict)]
    return tuple(str(one["name"])[:_LONGEST] for one in entries if one.get("name"))


def versions_of(metadata: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, str]:
    """Return versions of what a file was recorded with, by name, as far as it says them."""
    said = {ours: metadata.get(theirs) for theirs, ours in _VERSIONS.items()}
    said["NCCL"] = info.get("nccl_version")
    known = {name: value for name, value in said.items() if isinstance(value, (str, int, float))}
    return {name: str(value)[:_LONGEST] for name, value in known.items()}
