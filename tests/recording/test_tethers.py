"""Folders of captures go, whatever is still being written into them."""

from __future__ import annotations

import shutil
import time

from stepviz.recording.tethers import remove


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
