"""What the story says of a path's causes, by hand (rows in `synthetic`)."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.traces.story import explain
from tests.traces.synthetic import document, gloo_step, host, note, two_ranks


@pytest.fixture
def told(write_trace):
    """Explain documents by rank, as one line."""

    def tell(documents):
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return " ".join(explain(sv.load_run(path.parent)).split())

    return tell


def test_an_idle_device_has_a_cause_where_the_host_ran(told):
    """Of 900 µs, 100 in which the host launched, and lags of 5 and 10 µs beside the exchange."""
    text = told(two_ranks().values())
    assert "In 11.1 % of it a device stood idle while the host ran operators" in text
    assert "For 1.7 % of it the trace shows no cause (gaps between bars 0.02 ms)" in text
    assert "host 0.05 ms" in text


def test_a_late_start_has_no_cause(told):
    """Rank 1 starts 4 ms late and holds all: 4 of 18 ms are outside the trace."""
    documents = [gloo_step(0), gloo_step(1)]
    for event in documents[1]["traceEvents"]:
        event["ts"] += 4000
    for event in documents[0]["traceEvents"]:
        # Rank 0 waits for it, and works as much.
        if event["name"] == "gloo:all_reduce":
            event["dur"] += 4000
        elif event["ts"] >= 12000:
            event["ts"] += 4000
        elif event["name"].startswith("ProfilerStep"):
            event["dur"] += 4000
    text = told(documents)
    assert "late starts of ranks 4.00 ms" in text
    assert "last most often: rank 1 (1 of 1)" in text


def test_a_host_that_stood_still_is_no_cause_and_says_so(told):
    """5 of 10 ms without any row: halving it is no advice, and the story says why."""
    trace = document(0, [
        note("ProfilerStep#1", 0, 10_000),
        host("aten::mm", 0, 2000),
        host("aten::mm", 7000, 3000),
    ], world=1)  # fmt: skip
    text = told([trace])
    assert "For 50.0 % of it the trace shows no cause (host bars without operators 5.00 ms)" in text
    assert "host (mostly without a known cause) 2.50 ms" in text
    assert "stood idle while the host ran" not in text
