"""Write the two runs in which a shorter tail comes with a slower step: the lesson's, as traces.

    python -m tools.make_lesson_runs

Nothing was recorded. Two ranks on one CPU take twelve steps: forward 0-200, backward 200-600,
exchange 300-650 and optimizer 650-750 ms ("long tail"); then the same with an exchange that ends
at 630 and slows the backward beside it, which takes 480 ms ("short tail"). Each length is off by a
little noise, the same in every making.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
from pathlib import Path
from typing import Any, Final

from stepviz.traces.samples import FOLDERS

INTO = Path("stepviz/data")
RANKS, STEPS, NOISE = 2, 12, 0.004
MAIN, LINK = 100, 200
BASE_NS = 1_750_000_000_000_000_000
#: Gradients of the whole model, of 4 bytes each.
ELEMENTS = 25_000_000
#: An update of a rank: 32 rows of 2,048 tokens, of which each predicts the next.
TOKENS: Final = {"allocated": 65_536, "real": 65_536, "executed": 65_536, "scored": 65_504,
                 "sequences": 32, "squared_lengths": 134_217_728}  # fmt: skip
#: Backward is so many matrix multiplications, whose lengths can be compared.
PIECES = 8

#: ms: how long backward takes, and when after its start the exchange ends.
SAMPLES: Final[dict[str, tuple[float, float]]] = {
    "long tail": (400.0, 450.0),
    "short tail": (480.0, 430.0),
}
FORWARD, READY, OPTIMIZER = 200.0, 100.0, 100.0


def row(cat: str, name: str, start: int, length: int, *, tid: int = MAIN, **args: Any) -> Any:
    """Return a row of a trace; times in µs."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
            "args": args}  # fmt: skip


def step_rows(number: int, start: int, lasts: dict[str, int]) -> tuple[list[Any], int]:
    """Return the rows of a step and when it ends."""
    begin = start + lasts["forward"]  # of backward
    ready, sent = begin + lasts["ready"], begin + lasts["sent"]
    update = max(begin + lasts["backward"], sent)
    end = update + lasts["optimizer"]
    mark = {"Sequence number": number, "Fwd thread id": 0}
    rows = [
        row("user_annotation", f"ProfilerStep#{number}", start, end - start),
        row("user_annotation", "DistributedDataParallel.forward", start, begin - start),
        row("cpu_op", "aten::mm", start + 10, begin - start - 20, **mark),
    ]
    mark = {"Sequence number": number, "Fwd thread id": 1}
    cuts = [begin + lasts["backward"] * k // PIECES for k in range(PIECES + 1)]
    for a, b in itertools.pairwise(cuts):
        node = "autograd::engine::evaluate_function: MmBackward0"
        rows.append(row("cpu_op", node, a, b - a, **mark))
        rows.append(row("cpu_op", "aten::mm", a + 5, b - a - 10))
    said: Any = {"Input Dims": [[ELEMENTS]], "Input type": ["float"]}
    asked: Any = {"Input Dims": [[[ELEMENTS]]]}
    rows += [
        row("cpu_op", "c10d::allreduce_", ready - 3, 2, **asked),
        row("user_annotation", "gloo:all_reduce", ready, sent - ready, tid=LINK, **said),
        row("user_annotation", "Optimizer.step#SGD.step", update, end - update),
        row("cpu_op", "aten::add_", update + 10, end - update - 20),
    ]
    return rows, end


def main() -> None:
    """Write both."""
    for name, (backward, sent) in SAMPLES.items():
        noise = random.Random(name)  # noqa: S311 - no secret, only the same noise every time
        usual = {"forward": FORWARD, "backward": backward, "ready": READY, "sent": sent,
                 "optimizer": OPTIMIZER}  # fmt: skip
        rows, now = [], 0
        for number in range(1, STEPS + 1):
            lasts = {key: round(1000 * ms * noise.gauss(1, NOISE)) for key, ms in usual.items()}
            found, now = step_rows(number, now, lasts)
            rows += found
        folder = INTO / FOLDERS[name]
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(RANKS):
            trace = {
                "schemaVersion": 1,
                "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": RANKS},
                "baseTimeNanoseconds": BASE_NS,
                "traceEvents": rows,
                "stepviz": {"tokens": TOKENS},
            }
            path = folder / f"rank{rank}.json.gz"
            path.write_bytes(gzip.compress(json.dumps(trace).encode(), mtime=0))
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
