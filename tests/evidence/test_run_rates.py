"""A run's throughput: every number from the same updates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import planted_run, recorded

import stepviz as sv

TOKENS = [{"step": 1, "allocated": 256, "real": 224, "executed": 256, "scored": 168,
           "sequences": 4, "squared_lengths": 12544}]  # fmt: skip
MODEL = {"layers": 4, "width": 256, "heads": 4, "vocabulary": 2048, "sequence": 64}


@pytest.fixture
def run(tmp_path):
    record = recorded(
        [100.0, 120.0, 80.0, 100.0],
        tokens=TOKENS,
        model=MODEL,
        device={"peak_flops": 1e12},
        parameters=[{"name": "w", "bytes": 4 * 4_232_000, "dtype": "float32"}],
    )
    return planted_run(tmp_path / "run", 3, record=record)


def test_all_rates_are_of_the_same_updates(run):
    found = sv.run_throughput(run)
    # Two ranks; four updates in 0.4 s.
    assert found.counts.seconds == pytest.approx(0.4)
    assert (found.counts.updates, found.counts.executed, found.counts.scored) == (4, 2048, 1344)
    value = found.table["value"]
    assert value["processed positions per second"] == pytest.approx(2048 / 0.4)
    assert value["scored targets per second"] == pytest.approx(1344 / 0.4)
    assert value["updates per second"] == pytest.approx(10)
    assert value["time per update"] == pytest.approx(100)
    assert value["wall time"] == pytest.approx(0.4)


def test_mfu_carries_its_convention(run):
    found = sv.run_throughput(run)
    assert found.mfu["6N_all"].value == pytest.approx(6 * 4_232_000 * 5120 / (2 * 1e12))
    shape = sv.ModelShape(layers=4, hidden=256, heads=4, vocab=2048)
    causal = sv.mfu(
        shape, convention="causal", tokens_per_second=5120, sequence=64, peak=1e12, devices=2
    )
    assert found.mfu["causal"].value == pytest.approx(causal.value)
    assert found.table.loc["MFU (causal)", "value"] == pytest.approx(causal.value)
    assert list(sv.run_throughput(run, convention="palm").mfu) == ["palm"]
    assert sv.run_throughput(run, peak=2e12).mfu["causal"].value == pytest.approx(causal.value / 2)


def test_what_is_not_known_is_said(tmp_path):
    run = planted_run(tmp_path / "run", 3)
    found = sv.run_throughput(run)
    assert found.mfu == {}
    assert "profiler" in found.notes[0]
    assert any("does not say its peak; give peak=" in note for note in found.notes)
    assert found.table.loc["updates per second", "value"] == pytest.approx(1 / 0.160, rel=0.02)
    given = sv.run_throughput(
        run,
        counts=sv.TokenCounts(executed=512, scored=100, scope="update"),
        shape=1e6,
        peak=1e12,
    )
    assert list(given.mfu) == ["6N_all"]
    with pytest.raises(sv.ThroughputError, match="does not say its model"):
        sv.run_throughput(run, convention="palm")
    with pytest.raises(sv.TraceError, match="run is int"):
        sv.run_throughput(5)


def test_notes_are_shown_as_they_are(run):
    found = replace(sv.run_throughput(run), notes=("the device 'X' & its peak",))
    assert "the device &#x27;X&#x27; &amp; its peak" in found._repr_html_()
    with pytest.raises(sv.ThroughputError, match="counts is 5: give the TokenCounts"):
        sv.run_throughput(run, counts=5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"peak": "H100"}, r"peak is 'H100': give peak\('H100', 'bf16'\)"),
        ({"peak": -1e12}, "peak is -1000000000000.0: give a number above 0"),
        ({"devices": 0}, "devices is 0: give a whole number of 1 or more"),
        ({"shape": "llama"}, "shape is 'llama': give a number above 0"),
    ],
)
def test_what_is_given_wrongly_is_refused_and_not_left_out(run, given, said):
    with pytest.raises(sv.ThroughputError, match=said):
        sv.run_throughput(run, **given)
