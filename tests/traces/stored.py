"""One run of two ranks as files, to be put wherever a test reads it from."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

from tests.traces.synthetic import two_ranks

FILES = {f"rank{rank}.json": json.dumps(trace).encode() for rank, trace in two_ranks().items()}


def same_run(run):
    """Say what must not depend on where files lie."""
    assert run.ranks == [0, 1]
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]
    assert run.step(2).collectives["skew_ns"].tolist() == [100_000]
    assert run.files["status"].tolist() == ["read", "read"]
    return run


def put(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def zipped(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()
