"""Set up ``.venv`` for ``make lab`` or ``make test``; safe to repeat.

    python3 tools/setup_env.py lab
    python3 tools/setup_env.py test --torch torch==2.13.0

Runs on the Python that is to be used, before anything is installed, so it imports only the
standard library and stays readable to older Pythons, which are refused with a sentence.
A stamp in ``.venv/stamps`` remembers what was installed; nothing is done while it still fits.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
EXTRA = {"lab": "lab", "test": "dev"}

# JupyterLab would ask to fetch news and look for updates; offline that is an error in a pop-up.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
}


def say(text: str) -> None:
    """Tell the person what is being done."""
    print(f"-- {text}", flush=True)


def refuse(text: str) -> None:
    """Stop with a sentence that says what to do."""
    sys.exit(f"stepviz set-up: {text}")


def check_python() -> None:
    """Refuse a Python that is too old."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the reason for this function
        refuse(
            f"Python 3.11 or newer is needed, but {sys.executable} is {sys.version.split()[0]}. "
            "Name a newer one: make PYTHON=/path/to/python3.11 ..."
        )


def works(python: Path) -> bool:
    """Whether this interpreter starts, has pip and is new enough."""
    check = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    if not python.exists():
        return False
    return subprocess.run([python, "-c", check], check=False, capture_output=True).returncode == 0


def make_venv() -> None:
    """Create ``.venv`` unless a working one is there."""
    if works(VENV_PYTHON):
        return
    check_python()
    if VENV.exists():
        say(".venv is there but broken or too old; making it anew")
        shutil.rmtree(VENV)
    say(f"making .venv with Python {sys.version.split()[0]}")
    command = [sys.executable, "-m", "venv", str(VENV)]
    if subprocess.run(command, check=False).returncode != 0 or not works(VENV_PYTHON):
        shutil.rmtree(VENV, ignore_errors=True)
        refuse(
            f"`{shlex.join(command)}` failed. On Debian and Ubuntu the venv module is a package "
            "of its own: apt install python3-venv. Then run make again."
        )


def pip_install(*what: str) -> None:
    """Install into ``.venv``, or stop with a sentence."""
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *what]
    # quiet, but for errors: pip's own progress fills screens and CI logs
    if subprocess.run([*command, "--quiet"], check=False, cwd=ROOT).returncode != 0:
        refuse(
            f"`{shlex.join(command)}` failed; pip's message is above. Can the package index "
            "be reached? Mend that and run make again: what is installed is kept."
        )


def stamp_key(target: str, torch: str) -> str:
    """Digest of all that decides what has to be installed."""
    import tomllib  # absent before Python 3.11, and then check_python has to speak first

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = subprocess.run(
        [VENV_PYTHON, "-VV"], check=True, capture_output=True, text=True
    ).stdout
    # the root is part of it: the editable install points there, so a moved checkout starts over
    parts = [target, torch, str(ROOT), version, json.dumps(project, sort_keys=True)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def install(target: str, torch: str) -> None:
    """Install what ``make lab`` or ``make test`` needs, unless the stamp says it is there."""
    stamp = VENV / "stamps" / target
    key = stamp_key(target, torch)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == key:
        return
    say(f"installing what `make {target}` needs into .venv: this takes minutes the first time")
    if target == "test" and torch:
        # First and alone: whatever comes later finds torch there and pulls no other build.
        say(f"torch, as pinned: {torch} (choose another with `make test TORCH=...`)")
        pip_install(*shlex.split(torch))
    pip_install("--editable", f".[{EXTRA[target]}]")
    settings = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(LAB_SETTINGS, indent=2), encoding="utf-8")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(key, encoding="utf-8")
    say("installed")


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description="Set up .venv for `make lab` or `make test`.")
    parser.add_argument("target", choices=sorted(EXTRA))
    parser.add_argument("--torch", default="", help="what pip installs as torch")
    args = parser.parse_args()
    check_python()
    os.chdir(ROOT)
    make_venv()
    install(args.target, args.torch)


if __name__ == "__main__":
    main()
