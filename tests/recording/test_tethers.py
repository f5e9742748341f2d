"""Folders of captures go, whatever is still being written into them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from stepviz.recording.standing import AGENT, FOLDER
from stepviz.recording.tethers import remove
from tests.recording.helpers import ROOT


def test_a_folder_goes_though_files_are_still_made_in_it(tmp_path, monkeypatch):
    folder = tmp_path / ".run-1-abc"
    folder.mkdir()
    take_away, times = shutil.rmtree, []

    def while_a_rank_ends(path, **options):
        take_away(path, **options)
        times.append(path)
        if len(times) < 3:
            (folder / "ranks-1").mkdir(parents=True)

    monkeypatch.setattr("stepviz.recording.tethers.shutil.rmtree", while_a_rank_ends)
    remove(folder)
    assert not folder.exists()
    assert times == [folder] * 3


def test_what_cannot_be_taken_away_is_not_tried_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("stepviz.recording.tethers._CLEANING_S", 0.1)
    monkeypatch.setattr("stepviz.recording.tethers.shutil.rmtree", lambda *_, **__: None)
    folder = tmp_path / "kept"
    folder.mkdir()
    began = time.monotonic()
    remove(folder)
    assert time.monotonic() - began < 5
    assert folder.exists()


def test_a_rank_that_starts_when_its_agent_is_gone_ends_and_leaves_nothing(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    place = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29400"}  # fmt: skip
    told = {FOLDER: str(tmp_path / "ranks-1"), AGENT: str(gone.pid), "PYTHONPATH": str(ROOT)}
    rank = subprocess.run(
        [sys.executable, "-m", "stepviz.recording.benchmark", "--out", str(tmp_path / "files")],
        env={**os.environ, **place, **told},
        timeout=60,
        check=False,
    )
    assert rank.returncode == 1
    assert list(tmp_path.iterdir()) == []
