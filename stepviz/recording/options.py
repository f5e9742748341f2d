"""What a capture can be told: one list of options for Python, the shell and the record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Final, NamedTuple

from stepviz.errors import CaptureError, near

#: A rank of the DDP benchmark never holds more; the launcher is for one machine.
MOST_RANKS: Final = 64
#: DDP has one bucket in its first iteration and rebuilds them before the second.
LEAST_WARMUP: Final = 2
#: Beside the folder of the traces: what an experiment is to try.
PLAN: Final = "stepviz-rounds.json"


class Told(NamedTuple):
    """What an option is, for whoever reads or checks it."""

    help: str
    kind: str  # count, amount, share, flag, word, rank, caps
    least: float = 0
    words: tuple[str, ...] = ()
    optional: bool = False


def _told(default: Any, *told: Any, **more: Any) -> Any:
    return field(default=default, metadata={"told": Told(*told, **more)})


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the benchmark is built, run and recorded; checked as a whole before anything starts.

    Raises
    ------
    CaptureError
        Naming the option, what it may be, and what to do.
    """

    most_ranks: ClassVar[int] = MOST_RANKS

    ranks: int = _told(2, "processes, one per GPU where there are enough", "count", 1)
    device: str = _told(
        "auto", "auto: NCCL where each rank has a GPU, else gloo on the CPU", "word",
        words=("auto", "cpu", "cuda"),
    )  # fmt: skip

    layers: int = _told(4, "blocks of the GPT-like model", "count", 1)
    width: int = _told(256, "its width", "count", 1)
    heads: int = _told(4, "attention heads; they divide the width", "count", 1)
    vocabulary: int = _told(2048, "different tokens", "count", 2)
    sequence: int = _told(64, "positions in a row", "count", 4)
    microbatch: int = _told(4, "rows that a rank runs at a time", "count", 1)
    accumulation: int = _told(1, "microbatches in an update", "count", 1)
    no_sync: bool = _told(True, "exchange only in the last microbatch of an update", "flag")  # noqa: FBT003  # a default

    bucket_cap_mb: float | tuple[float, ...] | None = _told(
        4.0, "bucket cap, MiB; several, one per bucket; none for DDP's own 25 with a first of 1",
        "caps", optional=True,
    )  # fmt: skip
    static_graph: bool = _told(False, "as DDP's", "flag")  # noqa: FBT003
    find_unused_parameters: bool = _told(False, "as DDP's", "flag")  # noqa: FBT003
    gradient_as_bucket_view: bool = _told(False, "as DDP's", "flag")  # noqa: FBT003
    dtype: str = _told(
        "float32", "of parameters and gradients", "word", words=("float32", "bfloat16")
    )
    optimizer: str = _told("adamw", "which one", "word", words=("adamw", "sgd"))
    fused: bool = _told(True, "update all parameters in one kernel", "flag")  # noqa: FBT003
    checkpointing: bool = _told(False, "activation checkpointing of every block", "flag")  # noqa: FBT003

    workers: int = _told(0, "loader processes of each rank", "count", 0)
    prefetch: int = _told(2, "batches each loader process prepares ahead", "count", 1)
    input_delay_ms: float = _told(0.0, "added to making each batch, ms", "amount")
    prompt_fraction: float = _told(0.25, "of a row's tokens that are not scored", "share")
    padding_fraction: float = _told(0.125, "of a row's positions that are padding", "share")
    packing_fraction: float = _told(0.0, "of the rows, those that hold two documents", "share")

    slow_rank: int | None = _told(None, "the rank that is made slow", "rank", optional=True)
    slow_phase: str = _told(
        "backward", "where it sleeps", "word", words=("input", "forward", "backward", "optimizer")
    )
    slow_ms: float = _told(0.0, "for how long each update, ms", "amount")
    latency_ms: float = _told(0.0, "emulated fabric: per message, ms", "amount")
    ms_per_mib: float = _told(0.0, "emulated fabric: per MiB, ms", "amount")

    steps: int = _told(4, "updates to record", "count", 1)
    warmup: int = _told(3, "updates before anything counts", "count", LEAST_WARMUP)
    timed: int = _told(
        8, "updates timed without hook and profiler, and as many with the hook alone; 0 for none",
        "count", 0,
    )  # fmt: skip
    sweep: bool = _told(True, "time all-reduces of several sizes before the steps", "flag")  # noqa: FBT003
    threads: int | None = _told(
        None, "of each rank; by default cores ÷ ranks", "count", 1, optional=True
    )
    seed: int = _told(0, "of parameters and tokens", "count", 0)
    port: int = _told(0, "to meet at; 0 for a free one", "count", 0)
    patience_s: float = _told(30.0, "no rank moves for so long: it hangs, s", "amount", 1)
    timeout_s: float = _told(600.0, "longest run, s", "amount", 1)

    def __post_init__(self) -> None:
        """Check each option, then what they say together."""
        for one in fields(self):
            value = _checked(one.name, getattr(self, one.name), one.metadata["told"])
            object.__setattr__(self, one.name, value)
        for problem in self._problems():
            raise CaptureError(problem)

    def _problems(self) -> list[str]:
        said = []
        if self.ranks > self.most_ranks:
            said.append(
                f"ranks={self.ranks} is more than the {self.most_ranks} that one machine can "
                "start; for several machines run the benchmark under your own torchrun"
            )
        if self.width % self.heads:
            said.append(
                f"width={self.width} is not divisible by heads={self.heads}; choose heads that "
                "divide it"
            )
        if self.slow_rank is not None and self.slow_rank >= self.ranks:
            said.append(
                f"slow_rank={self.slow_rank} is not among {self.ranks} ranks; they count from 0"
            )
        if self.slow_rank is not None and not self.slow_ms:
            said.append(
                f"slow_rank={self.slow_rank} without slow_ms changes nothing; give slow_ms=20, say"
            )
        if self.slow_ms and self.slow_rank is None:
            said.append(
                f"slow_ms={self.slow_ms:g} without slow_rank slows nobody; give slow_rank=1, say"
            )
        if self.device == "cuda" and self.emulated:
            said.append(
                "the emulated fabric works on the CPU only; leave device='cuda' out, or latency_ms "
                "and ms_per_mib"
            )
        if self.static_graph and self.find_unused_parameters and self.checkpointing:
            said.append(
                "static_graph and find_unused_parameters together with checkpointing: a static "
                "graph knows its unused parameters; leave find_unused_parameters out"
            )
        if self.port and not 1024 <= self.port <= 65535:
            said.append(f"port={self.port} is none that a user may open; choose 1024–65535, or 0")
        if self.padding_fraction > 0.9:
            said.append(
                f"padding_fraction={self.padding_fraction:g} leaves hardly a token; stay below 0.9"
            )
        return said

    @property
    def emulated(self) -> bool:
        """Whether the network is an emulated one."""
        return bool(self.latency_ms or self.ms_per_mib)

    @property
    def cap_list(self) -> tuple[float, ...] | None:
        """The caps of single buckets, where there are several."""
        return self.bucket_cap_mb if isinstance(self.bucket_cap_mb, tuple) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the options as plain data, for the record."""
        found = dataclasses.asdict(self)
        if self.cap_list is not None:
            found["bucket_cap_mb"] = list(self.cap_list)
        return found

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Make options of what was given by name; an unknown name is refused with near ones."""
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                msg = f"capture has no option {name!r}; {near(name, known)}"
                raise CaptureError(msg)
        return cls(**given)


class LaunchedOptions(Options):
    """Options of ranks that are started already, by whoever started them: any number of them."""

    most_ranks: ClassVar[int] = 2**31


def told() -> dict[str, tuple[Told, Any]]:
    """Return what each option is, and its default, by name."""
    return {one.name: (one.metadata["told"], one.default) for one in fields(Options)}


def documented(docstring: str) -> str:
    """Return a docstring with the list of options put where it says ``{options}``."""
    lines = []
    for name, (what, default) in told().items():
        words = f" ({', '.join(what.words)})" if what.words else ""
        lines.append(f"    {name} : {what.help}{words}; default {default!r}.")
    return docstring.replace("    {options}", "\n".join(lines))


def _checked(name: str, value: Any, told: Told) -> Any:
    if value is None and told.optional:
        return None
    if told.kind == "flag":
        if not isinstance(value, bool):
            msg = f"{name} is True or False, not {value!r}"
            raise CaptureError(msg)
        return value
    if told.kind == "word":
        if value not in told.words:
            # All of them: near 'gpu' is 'cpu', which is not what was meant.
            msg = f"{name}={value!r} is unknown; {near('', told.words)}"
            raise CaptureError(msg)
        return value
    if told.kind == "caps":
        return _caps(name, value)
    if told.kind in ("count", "rank"):
        if isinstance(value, bool) or not isinstance(value, Integral):
            msg = f"{name} is a whole number, {_but(value)}"
            raise CaptureError(msg)
        return int(_least(name, value, told))
    number = _number(name, value)
    if told.kind == "share" and not 0 <= number <= 1:
        msg = f"{name}={value!r} is a share, from 0 to 1"
        raise CaptureError(msg)
    return float(_least(name, number, told))


def _least(name: str, value: Any, told: Told) -> Any:
    if value < told.least:
        why = ": DDP has one bucket in its first iteration" if name == "warmup" else ""
        msg = f"{name}={value!r} is too few; at least {told.least:g}{why}"
        if told.kind == "amount":
            msg = f"{name}={value!r} is too little; at least {told.least:g}"
        raise CaptureError(msg)
    return value


def _but(value: Any) -> str:
    """Say what stands in a number's place; a form leaves an empty field as None."""
    return "and none is given" if value is None else f"not {value!r}"


def _number(name: str, value: Any) -> float:
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value):
        msg = f"{name} is a finite number, {_but(value)}"
        raise CaptureError(msg)
    return float(value)


def _caps(name: str, value: Any) -> float | tuple[float, ...]:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    found = [_number(name, item) for item in value] if several else [_number(name, value)]
    if not found or min(found) <= 0:
        msg = f"{name}={value!r}: caps are MiB above 0, one or a list of one per bucket"
        raise CaptureError(msg)
    return tuple(found) if len(found) > 1 else found[0]
