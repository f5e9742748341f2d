"""A capture from a notebook, a script or a shell: from options to a run that is loaded."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import os
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stepviz.core.checks import count_text
from stepviz.errors import CaptureError, near
from stepviz.recording.flags import options_of
from stepviz.recording.launching import Launch, PortTaken, taken
from stepviz.recording.options import Options, documented, told
from stepviz.recording.progress_bars import Bar, bar_here
from stepviz.recording.tethers import remove
from stepviz.traces import Run, load_run
from stepviz.traces.notes import about_recording

#: Less than this and not even a small capture fits, bytes.
LEAST_SPACE: Final = 32 * 2**20
_TRIES: Final = 3
_OWN: Final = ("out", "overwrite", "progress", "output")


def capture(
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
    output: bool = False,
    **options: Any,
) -> Run:
    """Train a small GPT-like model under DDP on this machine, record it, and load the run.

    One process per GPU with NCCL where there are enough GPUs, else gloo on the CPU; which, and why,
    stands in ``run.recorded["placement"]``. Step times without hook and profiler, and what these
    cost, stand in ``run.recorded["costs"]``.

    Parameters
    ----------
    out : path, optional
        A folder that does not exist or is empty. By default a new one below
        ``~/.cache/stepviz/captures``; ``run.files`` says which. The files stay there.
    overwrite : bool
        Replace the traces that are in `out`, once the new ones are complete.
    progress : bool, optional
        Show a bar; by default where somebody would see it.
    output : bool
        Show what the ranks print.
    **options
        How the benchmark is built, run and recorded:

    {options}

    Returns
    -------
    Run
        As `load_run` gives it; `Run.buckets` and `Run.recorded` are filled.

    Raises
    ------
    CaptureError
        An option that cannot be, no torch, no space, a rank that failed or hangs (named, with its
        last lines). No process is left, no half a capture, and earlier ones are as they were.

    Examples
    --------
    >>> import stepviz as sv
    >>> run = sv.capture(ranks=2, bucket_cap_mb=4)  # doctest: +SKIP
    >>> run.buckets.head()  # doctest: +SKIP
    """
    _known(options)
    asked = Options.of(options)
    target = _target(out, overwrite=overwrite)
    bar = bar_here(wanted=progress)
    return _captured(asked, target, bar, output=output, overwrite=overwrite)


capture.__doc__ = documented(capture.__doc__ or "")


def _captured(
    asked: Options, target: Path, bar: Bar, *, output: bool, overwrite: bool = False
) -> Run:
    _needs_torch()
    if asked.port:
        _needs_port(asked.port)
    work = _begun(target)
    began = time.monotonic()
    try:
        _run(asked, work, bar, output=output)
        target = _keep(work / "files", target, overwrite=overwrite)
    except BaseException as error:
        bar.close("interrupted" if isinstance(error, KeyboardInterrupt) else "capture failed")
        raise
    finally:
        remove(work)
    took = time.monotonic() - began
    bar.close(f"captured {count_text(asked.ranks, 'rank')} in {took:.0f} s: {target}")
    return load_run(target)


def capture_and_tell(parsed: argparse.Namespace) -> str:
    """Run ``stepviz capture`` with its flags, and return what to print."""
    options = options_of(parsed)
    run = capture(
        out=parsed.out,
        overwrite=parsed.overwrite,
        progress=parsed.progress,
        output=parsed.output,
        **{name: getattr(options, name) for name in told()},
    )
    files = [Path(file) for file in run.files["file"]]
    # What was asked for, unless another capture filled it meanwhile.
    same = files[0].parent == Path(os.path.abspath(Path(parsed.out).expanduser()))  # noqa: PTH100  # as _target
    folder = parsed.out if same else str(files[0].parent)
    largest = max(file.stat().st_size for file in files)
    held = f"{count_text(len(run.ranks), 'rank')}, {count_text(len(run.steps), 'step')}"
    held += f", at most {largest / 1e3:.0f} kB a rank"
    lines = [
        f"{folder}: {held}",
        *(f"  {note}" for note in about_recording(run.recorded)),
        f"next: stepviz explain {shlex.quote(folder)}",
    ]
    return "\n".join(lines)


def _known(options: Mapping[str, Any]) -> None:
    names = [*_OWN, *told()]
    for name in options:
        if name not in names:
            msg = f"capture has no option {name!r}; {near(name, names)}"
            raise CaptureError(msg)


def _target(out: str | os.PathLike[str] | None, *, overwrite: bool) -> Path:
    if out is None:
        return _new_folder()
    target = Path(os.path.abspath(Path(out).expanduser()))  # noqa: PTH100  # keeps links as given
    try:
        if target.is_symlink():
            target = target.resolve()  # a folder takes the place of a folder, not of a link
        if target.exists() and not target.is_dir():
            msg = f"{target} is a file; out is a folder for one trace per rank"
            raise CaptureError(msg)
        held = sorted(path.name for path in target.iterdir()) if target.exists() else []
    except OSError as error:
        msg = f"{target} can't be read ({error.strerror}); choose another folder"
        raise CaptureError(msg) from None
    foreign = [name for name in held if not _is_trace(name)]
    if held and not overwrite:
        few = ", ".join(held[:3]) + (", …" if len(held) > 3 else "")
        msg = (
            f"{target} is not empty ({few}); choose another folder, or replace the traces in it "
            "with overwrite=True (--overwrite)"
        )
        raise CaptureError(msg)
    if foreign:
        msg = (
            f"{target} holds more than traces ({', '.join(foreign[:3])}); choose a folder of its "
            "own for a capture"
        )
        raise CaptureError(msg)
    return target


def _is_trace(name: str) -> bool:
    return name.startswith("rank") and name.endswith(".json.gz")


def _new_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    cache = Path(home) if home else Path.home() / ".cache"
    folder = cache / "stepviz" / "captures"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        folder = Path(tempfile.mkdtemp(prefix="stepviz-captures-"))
    name = time.strftime("%Y-%m-%d-%H%M%S")
    target = folder / name
    count = 1
    while target.exists():
        count += 1
        target = folder / f"{name}-{count}"
    return target


def _needs_torch() -> None:
    if os.name != "posix":
        msg = "capture runs on Linux and macOS; on Windows use it inside WSL"
        raise CaptureError(msg)
    if importlib.util.find_spec("torch") is None:
        msg = (
            "capture needs torch, which is not installed for "
            f"{Path(sys.executable).name}: pip install 'stepviz[capture]'. Reading traces needs "
            "none"
        )
        raise CaptureError(msg)


def _begun(target: Path) -> Path:
    """Make a folder to work in, beside the target, so that its files need only be renamed.

    Raises
    ------
    CaptureError
        Where nothing can be written there, or too little.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _needs_space(target.parent)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise CaptureError(cannot_write(target.parent, error)) from None


def cannot_write(folder: Path, error: OSError) -> str:
    """Say that a capture can't be kept in a folder, and why."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        file = next((one for one in (folder, *folder.parents) if one.is_file()), folder)
        return f"{file} is a file, so no capture can be kept in {folder}; choose another folder"
    reason = error.strerror or type(error).__name__
    return f"no capture can be kept in {folder} ({reason}); choose another folder"


def _needs_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < LEAST_SPACE:
        msg = (
            f"{folder} has {free / 2**20:.0f} MiB left, too little for a capture; free some, or "
            "choose another folder with out="
        )
        raise CaptureError(msg)


def _needs_port(port: int) -> None:
    """Refuse a port in use; a rank would wait for a minute at a door that another holds."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise PortTaken(taken(port)) from None


def _run(options: Options, work: Path, bar: Bar, *, output: bool) -> None:
    for left in reversed(range(_TRIES)):
        folder = Path(tempfile.mkdtemp(prefix="ranks-", dir=work))
        (work / "files").mkdir(exist_ok=True)
        try:
            with Launch(options, folder, bar, output=output) as launch:
                launch.wait()
        except PortTaken:
            if options.port or not left:
                raise
        else:
            return


def _keep(files: Path, target: Path, *, overwrite: bool = False) -> Path:
    """Give the files their place, all at once where nothing is there yet; return it.

    Where another capture filled it meanwhile, the place is a new folder beside it.
    """
    if overwrite and target.exists() and any(target.iterdir()):
        fresh = {path.name for path in files.iterdir()}
        for name in sorted(fresh):
            (files / name).replace(target / name)
        for path in target.iterdir():
            if path.name not in fresh and _is_trace(path.name):
                path.unlink()
        return target
    place, count = target, 1
    while True:
        try:
            # Takes the place of an empty folder, and of nothing else.
            return files.rename(place)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        count += 1
        place = target.with_name(f"{target.name}-{count}")
