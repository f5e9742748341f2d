"""Run the front end's TypeScript from Python tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import stepviz.widgets

FRONTEND = Path(stepviz.widgets.__file__).parent / "frontend"
STATIC = FRONTEND.parent / "static"


def build(*arguments: str, text: str | None = None, **environment: str) -> str:
    """Run ``build.mjs`` with these arguments; its output, or what went wrong as a failure."""
    return _node("build.mjs", *arguments, text=text, **environment)


def check_types() -> str:
    """Run the TypeScript compiler over all sources, as ``npm run check`` does."""
    return _node("node_modules/typescript/bin/tsc", "--noEmit")


def _node(*arguments: str, text: str | None = None, **environment: str) -> str:
    node = shutil.which("node")
    assert node is not None, "no node on PATH: `make test` sets one up"
    assert (FRONTEND / "node_modules").is_dir(), f"run `npm ci` in {FRONTEND}, or `make test`"
    done = subprocess.run(
        [node, *arguments],
        check=False,  # its output says more than the exception would
        cwd=FRONTEND,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return done.stdout


def ask(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Apply edits to timelines in the front end; see ``model/crosscheck.ts``."""
    said = build("--run", "model/crosscheck.ts", text=json.dumps(questions, allow_nan=False))
    answers: list[dict[str, Any]] = json.loads(said)
    return answers
