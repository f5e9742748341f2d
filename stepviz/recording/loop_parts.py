"""What a loop is made of: where its DDP, its parameters and its real optimizer are."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from stepviz.errors import CaptureError

_FSDP: Final = ("FullyShardedDataParallel", "FSDPModule")


@dataclass(frozen=True)
class Parts:
    """A loop's model and optimizer without their wrappers, and its place among the ranks."""

    model: Any  # as the loop calls it
    inner: Any  # what holds the parameters
    ddp: Any
    optimizer: Any
    what: str  # DDP, FSDP, one process
    rank: int
    ranks: int
    backend: str
    device: str
    dtype: str

    def watch(
        self, stepped: Callable[[], None], got: Callable[[tuple[Any, ...], dict[str, Any]], None]
    ) -> list[Callable[[], None]]:
        """Say when the optimizer steps and what the model gets; return what undoes it."""
        undo: list[Callable[[], None]] = []
        if self.optimizer is not None:
            handle = self.optimizer.register_step_post_hook(lambda *_: stepped())
            undo.append(handle.remove)
        if self.model is not None:
            undo += _watched_forward(self.model, got, named=self.ddp is None)
        return undo


def parts_of(model: Any, optimizer: Any) -> Parts:
    """Find a loop's parts.

    Raises
    ------
    CaptureError
        Where model or optimizer is neither torch's nor wraps one that is.
    """
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    untyped: Any = torch
    if model is not None and not isinstance(model, untyped.nn.Module):
        msg = f"model is a torch.nn.Module, wrapped or not, not {type(model).__name__}"
        raise CaptureError(msg)
    joined = dist.is_available() and dist.is_initialized()
    rank = dist.get_rank() if joined else int(os.environ.get("RANK", "0"))
    ranks = dist.get_world_size() if joined else int(os.environ.get("WORLD_SIZE", "1"))
    modules = [] if model is None else list(model.modules())
    ddp = next((one for one in modules if isinstance(one, DistributedDataParallel)), None)
    sharded = any(base.__name__ in _FSDP for one in modules for base in type(one).__mro__)
    what = "DDP" if ddp is not None else "FSDP" if sharded else "one process"
    if what == "one process" and ranks > 1:
        what = f"rank {rank} of {ranks}, neither DDP nor FSDP"
    parameter = None if model is None else next(iter(model.parameters()), None)
    cuda = bool(untyped.cuda.is_available() if parameter is None else parameter.is_cuda)
    return Parts(
        model=model,
        inner=model if ddp is None else ddp.module,
        ddp=ddp,
        optimizer=_real(optimizer),
        what=what,
        rank=rank,
        ranks=ranks,
        backend=str(dist.get_backend()) if joined else "none",
        device="cuda" if cuda else "cpu",
        dtype="float32" if parameter is None else str(parameter.dtype).removeprefix("torch."),
    )


def _real(optimizer: Any) -> Any:
    """Return the optimizer inside what Accelerate or Lightning wrapped around it."""
    if optimizer is None:
        return None
    from torch.optim import Optimizer

    # Wrappers pass for optimizers themselves, but never call what watches a step.
    while isinstance(getattr(optimizer, "optimizer", None), Optimizer):
        optimizer = optimizer.optimizer
    if not isinstance(optimizer, Optimizer):
        msg = f"optimizer is a torch.optim.Optimizer, or wraps one, not {type(optimizer).__name__}"
        raise CaptureError(msg)
    return optimizer


def _watched_forward(
    model: Any, got: Callable[[tuple[Any, ...], dict[str, Any]], None], *, named: bool
) -> list[Callable[[], None]]:
    """Name the model's forward in the trace where nothing else does, and say what it got."""
    from torch.profiler import record_function

    regions: list[Any] = []

    def before(_model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if _model.training:
            got(args, kwargs)
        if named:
            regions.append(record_function("forward"))
            regions[-1].__enter__()

    def after(*_: Any) -> None:
        if regions:
            regions.pop().__exit__(None, None, None)

    handles = [
        model.register_forward_pre_hook(before, with_kwargs=True),
        model.register_forward_hook(after, always_call=True),
    ]
    return [handle.remove for handle in handles]
