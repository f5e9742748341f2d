"""What a rank says about itself in its trace, under the key ``stepviz``; see docs/record.md."""

from __future__ import annotations

import math
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

#: Of the form described in docs/record.md.
VERSION: Final = 1


def made_with() -> dict[str, Any]:
    """Return the versions of what made a record."""
    import torch

    untyped: Any = torch
    nccl = None
    if untyped.cuda.is_available() and untyped.distributed.is_nccl_available():
        nccl = ".".join(map(str, untyped.cuda.nccl.version()))
    return {
        # Asked of the loaded package: importing it from here would be importing upwards.
        "stepviz": getattr(sys.modules.get("stepviz"), "__version__", None),
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cuda": untyped.version.cuda,
        "hip": getattr(untyped.version, "hip", None),
        "nccl": nccl,
    }


def device_of(device: str, dtype: str) -> dict[str, Any]:
    """Return what a rank runs on, and its peak where one is known."""
    import torch

    untyped: Any = torch
    found: dict[str, Any] = {"type": device, "threads": torch.get_num_threads()}
    if device == "cuda":
        found["name"] = str(untyped.cuda.get_device_name())
        here = untyped.cuda.current_device()
        found["memory_bytes"] = int(untyped.cuda.get_device_properties(here).total_memory)
        found.update(_peak(found["name"], dtype))
    else:
        found["name"] = _cpu_name()
        found["peak_flops"] = None
        found["peak_why"] = "no sheet says what this CPU reaches"
    return found


def _peak(name: str, dtype: str) -> dict[str, Any]:
    from stepviz.errors import ThroughputError
    from stepviz.throughput.peak_catalogue import peak

    try:
        found = peak(name, "bf16" if dtype == "bfloat16" else "fp32")
    except ThroughputError as error:
        return {"peak_flops": None, "peak_why": str(error)}
    return {"peak_flops": found.flops, "peak_why": f"{found}"}


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def peak_memory(device: str) -> int:
    """Return the most memory that this rank took, bytes: of the GPU, else of the process."""
    if device == "cuda":
        import torch

        untyped: Any = torch
        return int(untyped.cuda.max_memory_allocated())
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def parameters_of(model: Any) -> list[dict[str, Any]]:
    """Return the parameters that want gradients, in the order of registration."""
    return [
        {
            "name": name,
            "bytes": p.numel() * p.element_size(),
            "dtype": str(p.dtype).removeprefix("torch."),
        }
        for name, p in model.named_parameters()
        if p.requires_grad
    ]


#: Names of a record, and what torch calls them.
_DDP: Final = {
    "bucket_cap_bytes": "bucket_cap_bytes",
    "rebuilt": "has_rebuilt_buckets",
    "bucket_bytes": "rebuilt_bucket_sizes",
    "assignment": "rebuilt_per_bucket_param_indices",
    "ready_order": "prev_iteration_grad_ready_order_indices",
    "initial_bucket_bytes": "initial_bucket_sizes",
    "find_unused_parameters": "find_unused_parameters",
    "static_graph": "static_graph",
    "gradient_as_bucket_view": "gradient_as_bucket_view",
}
_FLAGS: Final = ("rebuilt", "find_unused_parameters", "static_graph", "gradient_as_bucket_view")


def ddp_said(ddp: Any, buckets: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return what DDP did with its parameters: buckets as they were after the rebuild.

    Parameters
    ----------
    ddp
        The wrapped model.
    buckets
        As a hook noted them (see `BucketLog.rows`): the assignment where DDP itself says none.
    """
    logged = getattr(ddp, "_get_ddp_logging_data", None)  # torch has no public name for it
    said = dict(logged()) if logged is not None else {}
    found: dict[str, Any] = {
        name: _plain(name, said[theirs]) for name, theirs in _DDP.items() if theirs in said
    }
    seen = {bucket["index"]: bucket for bucket in buckets}
    if not found.get("assignment") and seen:
        found["assignment"] = [seen[index]["parameters"] for index in sorted(seen)]
        found["bucket_bytes"] = [seen[index]["bytes"] for index in sorted(seen)]
    return found


def _plain(name: str, value: Any) -> Any:
    """Return numbers of what torch writes as text: "1 2, 3 4" for buckets, "1, 2" for a list."""
    if not isinstance(value, str):
        return bool(value) if name in _FLAGS else value
    if name == "assignment":
        return [[int(word) for word in part.split()] for part in value.split(",") if part.strip()]
    if name in _FLAGS:
        return value not in ("0", "", "False")
    numbers = [int(word) for word in value.replace(",", " ").split()]
    return numbers[0] if name == "bucket_cap_bytes" and numbers else numbers


def costs_of(timings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return typical lengths of steps by mode, ms, and what the hook and the profiler cost.

    Each is a median with its quartiles and how many steps it is of; a cost within its noise is
    none that was seen. A mode without steps is left out, and so is what would follow from it.
    """
    found: dict[str, Any] = {}
    for mode in dict.fromkeys(str(one["mode"]) for one in timings):
        lengths = sorted(one["step_ns"] / 1e6 for one in timings if one["mode"] == mode)
        quarter = len(lengths) // 4
        found[mode] = {
            "median_ms": statistics.median(lengths),
            "low_ms": lengths[quarter],
            "high_ms": lengths[-1 - quarter],
            "steps": len(lengths),
        }
    for name, more, less in (("hook", "hooked", "bare"), ("profiler", "profiled", "hooked")):
        if more in found and less in found:
            found[f"{name}_ms"] = found[more]["median_ms"] - found[less]["median_ms"]
            found[f"{name}_noise_ms"] = math.hypot(_noise(found[more]), _noise(found[less]))
    return found


def _noise(one: Mapping[str, Any]) -> float:
    """Return how far a median is off by chance, ms: its quartiles' spread, less for many steps."""
    return float(one["high_ms"] - one["low_ms"]) / math.sqrt(one["steps"])
