"""Record the small run that ships with stepviz as `sv.sample_run()`.

    python tools/make_sample_run.py [--out stepviz/data/sample_run]

Two ranks on this machine's CPU train a small GPT-like model with PyTorch's DDP over gloo. The
network is emulated: one thread does the real all-reduce of a bucket, then sleeps until a slow
link would have been done, so that exchange takes visible time and part of it stays exposed.
Traces say so (`ddp_exchange#…#emulated=1`). Host, paths, process ids and job names are taken
out, and arguments that nothing reads are dropped to keep the files small.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

RANKS = 2
WARM_STEPS = 6
STEPS = 3
LAYERS, WIDTH, HEADS, LENGTH, BATCH, WORDS = 3, 192, 4, 64, 4, 1024
BUCKET_MB = 0.9
#: The emulated link: so long per message, and per mebibyte.
LATENCY_S, PER_MIB_S = 0.003, 0.004

#: Arguments of events that a reader of the sample needs.
KEPT = (
    "External id",
    "Sequence number",
    "Fwd thread id",
    "Input Dims",
    "Input type",
    "name",
    "labels",
    "sort_index",
)
#: The same ids in every sample, however the machine numbered its processes.
FIRST_ID = 1000


def main() -> None:
    """Launch two ranks, record them, and write scrubbed traces."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("stepviz/data/sample_run"))
    arguments = parser.parse_args()
    if "STEPVIZ_SAMPLE_INTO" in os.environ:
        record(Path(os.environ["STEPVIZ_SAMPLE_INTO"]))
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "torch.distributed.run"]
        command += ["--nproc-per-node", str(RANKS), "--rdzv-backend", "c10d"]
        command += ["--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1", __file__]
        loopback = "lo0" if sys.platform == "darwin" else "lo"
        environment = {
            **os.environ,
            "STEPVIZ_SAMPLE_INTO": folder,
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": loopback,
        }
        subprocess.run(command, check=True, env=environment)
        arguments.out.mkdir(parents=True, exist_ok=True)
        for rank in range(RANKS):
            trace = json.loads((Path(folder) / f"rank{rank}.json").read_text(), parse_float=_Text)
            path = arguments.out / f"rank{rank}.json.gz"
            text = json.dumps(scrubbed(trace, rank), separators=(",", ":"), default=str)
            path.write_bytes(gzip.compress(_bare(text).encode(), compresslevel=9, mtime=0))
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


class _Text(str):
    """A number kept as it was written, so that no time is rounded."""

    __slots__ = ()


def _bare(text: str) -> str:
    """Undo the quotes that `json.dumps` puts around numbers kept as text."""
    return text.replace('"\\u0000', "").replace('\\u0000"', "")


def scrubbed(trace: dict[str, Any], rank: int) -> dict[str, Any]:
    """Return a trace without names of hosts, paths and processes, and without dead weight."""
    ids: dict[Any, int] = {}
    events = []
    for event in trace["traceEvents"]:
        if event.get("ph") == "M" and event.get("name") not in ("thread_name", "process_labels"):
            continue
        clean = {key: value for key, value in event.items() if key != "args"}
        for key in ("pid", "tid"):
            if isinstance(clean.get(key), int):
                clean[key] = ids.setdefault(clean[key], FIRST_ID + len(ids))
        args = {k: v for k, v in event.get("args", {}).items() if k in KEPT}
        if "name" in args:
            kind = "pt_gloo_runloop" if "pt_gloo" in str(args["name"]) else "python"
            args["name"] = f"thread {clean['tid']} ({kind})"
        if args.get("Input Dims") is not None and not _sized(str(event.get("name"))):
            args.pop("Input Dims")
            args.pop("Input type", None)
        if args:
            clean["args"] = args
        events.append(clean)
    kept = ("schemaVersion", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds")
    document = {key: trace[key] for key in kept if key in trace}
    document["stepviz"] = {
        "sample": "2 ranks on one CPU, gloo, emulated link",
        "emulated": {"latency_ms": LATENCY_S * 1e3, "ms_per_mib": PER_MIB_S * 1e3},
        "rank": rank,
    }
    document["traceEvents"] = events
    marked: dict[str, Any] = _marked(document)
    return marked


def _sized(name: str) -> bool:
    """Say whether a reader needs to know how large an event's tensors are."""
    return name.startswith(("c10d::", "gloo:")) or "AccumulateGrad" in name


def _marked(value: Any) -> Any:
    if isinstance(value, _Text):
        return f"\0{value}\0"
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return value


def record(folder: Path) -> None:
    """Train on one rank and write its trace into `folder`."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.profiler import ProfilerActivity, profile, record_function, schedule

    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(
        _model(torch), bucket_cap_mb=BUCKET_MB, gradient_as_bucket_view=False
    )
    fabric = Fabric(dist, record_function)
    # DDP inspects annotations of a hook; a lambda has none.
    model.register_comm_hook(None, lambda _, bucket: fabric.hook(bucket))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batches = iter(_batches(torch, rank))
    loss_of = torch.nn.CrossEntropyLoss()
    config = torch._C._profiler._ExperimentalConfig(  # noqa: SLF001 - the only way to follow
        profile_all_threads=True  # threads that are not torch's own
    )
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WARM_STEPS - 1, warmup=1, active=STEPS, repeat=1),
        record_shapes=True,
        experimental_config=config,
        on_trace_ready=lambda p: p.export_chrome_trace(str(folder / f"rank{rank}.json")),
    ) as profiler:
        for _ in range(WARM_STEPS + STEPS):
            with record_function("input"):
                tokens = next(batches)
            with record_function("forward"):
                logits = model(tokens[:, :-1])
                loss = loss_of(logits.flatten(0, 1), tokens[:, 1:].flatten())
            with record_function("backward"):
                loss.backward()
            with record_function("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            profiler.step()
    dist.barrier()
    fabric.close()
    dist.destroy_process_group()


class Fabric:
    """An emulated link: buckets queue for one thread, which takes as long as a slow network."""

    def __init__(self, dist: Any, record_function: Any) -> None:
        self._dist = dist
        self._record = record_function
        self._queue: queue.Queue[Any] = queue.Queue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def hook(self, bucket: Any) -> Any:
        """Queue one bucket of gradients; DDP waits for the future it gets."""
        import torch

        buffer = bucket.buffer()
        size = buffer.numel() * buffer.element_size()
        future: Any = torch.futures.Future()
        name = f"ddp_bucket#{bucket.index()}#bytes={size}#last={int(bucket.is_last())}"
        with self._record(name):
            buffer.div_(self._dist.get_world_size())
            self._queue.put((bucket.index(), size, buffer, future))
        return future

    def close(self) -> None:
        """End the thread."""
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        import torch

        while (item := self._queue.get()) is not None:
            index, size, buffer, future = item
            with self._record(f"ddp_exchange#{index}#bytes={size}#emulated=1"):
                self._dist.all_reduce(torch.zeros(1))  # both ranks have arrived
                done = time.perf_counter() + LATENCY_S + PER_MIB_S * size / 2**20
                self._dist.all_reduce(buffer)
                time.sleep(max(0.0, done - time.perf_counter()))
            future.set_result(buffer)


def _model(torch: Any) -> Any:
    nn: Any = torch.nn

    class Block(nn.Module):  # type: ignore[misc]  # torch is imported late
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).flatten(2))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):  # type: ignore[misc]  # as above
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

        def forward(self, tokens: Any) -> Any:
            places = torch.arange(tokens.shape[1])
            return self.head(self.norm(self.blocks(self.words(tokens) + self.places(places))))

    return Model()


def _batches(torch: Any, rank: int) -> Any:
    generator = torch.Generator().manual_seed(rank)
    size = (4 * BATCH * (WARM_STEPS + STEPS), LENGTH + 1)
    tokens = torch.randint(0, WORDS, size, generator=generator)
    return torch.utils.data.DataLoader(tokens, batch_size=BATCH)


if __name__ == "__main__":
    main()
