"""Record the sample runs that ship beside the base one, with stepviz's own `capture`.

    python -m tools.make_sample_runs ["slow rank"]

On a machine that does other things too, give it priority (``chrt -r 50`` on Linux): what is
recorded is what a class will look at. `tools/make_sample_run.py` makes the base run.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import stepviz as sv
from stepviz.traces.samples import FOLDERS

INTO = Path("stepviz/data")

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
}


def main() -> None:
    """Record the samples that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SAMPLES), metavar="NAME")
    for name in parser.parse_args().names:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "capture"
            print(sv.capture(out=out, progress=False, **(_BASE | SAMPLES[name])))
            into = INTO / FOLDERS[name]
            into.mkdir(parents=True, exist_ok=True)
            for path in sorted(out.glob("rank*.json.gz")):
                shutil.copyfile(path, into / path.name)
                print(f"{into / path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
