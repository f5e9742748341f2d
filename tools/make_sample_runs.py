"""Record the sample runs that ship beside the base one, with stepviz's own `capture`.

    python -m tools.make_sample_runs ["slow rank"]

On a machine that does other things too, run it by `tools/undisturbed.py` (the pipeline, whose main
threads exchange, by ``chrt --rr 50``): what is recorded is what a class will look at.
`tools/make_sample_run.py` makes the base run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import stepviz as sv
from stepviz.evidence.change_predictions import ChangePredictor
from stepviz.traces.samples import FOLDERS

INTO = Path("stepviz/data")
#: What experiments found; not beside the traces, which are all that their folder holds.
FOUND = INTO / "experiments"

#: Two ranks of a small model whose buckets mostly hide behind backward.
_BASE: Final[dict[str, Any]] = {
    "ranks": 2,
    "layers": 3,
    "width": 128,
    "vocabulary": 1024,
    "bucket_cap_mb": 0.5,
    "latency_ms": 0.5,
    "ms_per_mib": 2.0,
    "steps": 3,
}

#: What is different in each.
SAMPLES: Final[dict[str, dict[str, Any]]] = {
    # It sleeps in the middle of its backward, so that everybody's backward is equally long.
    "slow rank": {"slow_rank": 1, "slow_ms": 15.0},
    # One worker that needs as long for a batch as two updates need without waiting.
    "late input": {"workers": 1, "input_delay_ms": 45.0},
    # Neither few buckets (the last one is long) nor many (each pays the latency) are best.
    # A real network on the cores that compute.
    "contention": {"sequence": 128, "bucket_cap_mb": 0.25, "latency_ms": 0.0, "ms_per_mib": 0.0},
    "bucket sweep": {"sequence": 128, "latency_ms": 2.5, "ms_per_mib": 4.0},
}

#: Loops of their own, four ranks each.
LOOPS: Final = {"pipeline": "tools.pipeline_loop", "FSDP": "tools.fsdp_loop"}

#: Changes that are made for real, in turns with a sample.
EXPERIMENTS: Final[dict[str, dict[str, Any]]] = {
    "bucket sweep": {"caps": [0.25, 1, 2, 25], "rounds": 8, "block": 3},
}
#: What is kept of them.
_KEPT: Final = ("predicted_ms", "low_ms", "high_ms", "measured_ms", "error", "base_ms", "noise_ms",
                "verdict")  # fmt: skip


def main() -> None:
    """Record the samples that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*SAMPLES, *LOOPS], metavar="NAME")
    parser.add_argument(
        "--predictions", action="store_true",
        help="record nothing: predict again, from the samples, what was measured with them",
    )  # fmt: skip
    given = parser.parse_args()
    if given.predictions:
        for name in EXPERIMENTS:
            path = FOUND / f"{FOLDERS[name]}.json"
            path.write_text(json.dumps(predicted_again(name), indent=1) + "\n")
        return
    for name in given.names:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "capture"
            into = INTO / FOLDERS[name]
            into.mkdir(parents=True, exist_ok=True)
            options = _BASE | SAMPLES.get(name, {})
            if name in LOOPS:
                _launch(LOOPS[name], out)
            elif name in EXPERIMENTS:
                found = sv.experiment(out=out, progress=False, **EXPERIMENTS[name], **options)
                print(found.to_string())
                FOUND.mkdir(exist_ok=True)
                told = _told(name, options, found)
                (FOUND / f"{FOLDERS[name]}.json").write_text(told)
            else:
                print(sv.capture(out=out, progress=False, **options))
            for path in sorted(out.glob("rank*.json.gz")):
                shutil.copyfile(path, into / path.name)
                print(f"{into / path.name}: {path.stat().st_size / 1000:.0f} kB")


def _launch(module: str, out: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "4"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    command += ["--local-addr", "127.0.0.1", "-m", module, str(out)]
    loopback = "lo0" if sys.platform == "darwin" else "lo"
    quiet = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": loopback}
    subprocess.run(command, check=True, env={**os.environ, **quiet}, timeout=120)


def predicted_again(name: str) -> dict[str, Any]:
    """Return what an experiment found, with what is predicted from its capture today."""
    told: dict[str, Any] = json.loads((FOUND / f"{FOLDERS[name]}.json").read_text())
    predictor = ChangePredictor(sv.sample_run(name))
    for change, row in told["rows"].items():
        effect = predictor.effect(change, {"bucket_cap_mb": float(change.removeprefix("cap "))})
        predicted = row["base_ms"] + effect.ms
        half = math.hypot(effect.half_ms, row["noise_ms"])
        row |= {
            "predicted_ms": round(predicted, 4),
            "low_ms": round(predicted - half, 4),
            "high_ms": round(predicted + half, 4),
            "error": round(predicted / row["measured_ms"] - 1, 4),
        }
    return told


def _told(name: str, options: dict[str, Any], found: Any) -> str:
    """Return what an experiment found and how it was made, as JSON."""
    told = {
        "made": time.strftime("%Y-%m-%d", time.gmtime()),
        "by": f"sv.experiment, tools/make_sample_runs.py {name!r}",
        "options": options,
        "turns": EXPERIMENTS[name],
        "rows": json.loads(found[list(_KEPT)].round(4).to_json(orient="index")),
    }
    return json.dumps(told, indent=1) + "\n"


if __name__ == "__main__":
    main()
