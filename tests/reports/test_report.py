"""A report says what Python says, to the ns, in tables that a screen reader can read."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

import stepviz as sv
from stepviz.traces import told
from stepviz.traces.story import explain
from tests.traces.synthetic import two_ranks


def ints(values):
    return [int(value) for value in values]


# What it says.
def test_a_step_worked_out_by_hand(synthetic, written):
    """Two ranks of 0.9 ms; rank 0 waits 0.1 ms for rank 1, and 0.1 ms of exchange is exposed."""
    said = written(synthetic(two_ranks().values()), step=2)
    assert said.figures["step"][0].ns == 900_000
    assert said.figures["step"][0].text == "0.900 ms"
    assert said.tables["breakdown"].ns("sum") == [900_000, 900_000]
    assert said.tables["collectives"].ns("wait, all ranks") == [100_000]
    assert said.tables["collectives"].ns("between them") == [100_000]
    assert said.tables["path"].body[-1][1].ns == 900_000
    assert said.tables["steps"].texts("step") == ["1", "2 (this one)"]


@pytest.mark.parametrize("name", ["base", "slow rank", "FSDP"])
def test_every_table_says_what_python_says(name, written):
    run = sv.sample_run(name)
    step = run.step()
    said = written(run)
    origin = int(step.windows["start_ns"].min())

    parts = step.breakdown("ns")
    for row, rank in zip(said.tables["breakdown"].body, step.ranks, strict=True):
        assert row[0].text == f"rank {rank}"
        shown = dict(zip(said.tables["breakdown"].heads, row, strict=True))
        for kind in parts.index:
            if kind in shown:
                assert shown[kind].ns == parts.at[kind, rank]
            else:
                assert parts.at[kind, rank] < 500
        assert shown["sum"].ns == step.windows.at[rank, "duration_ns"]

    exposed = said.tables["exposed"]
    assert exposed.ns("exposed") == ints(step.exposed(unit="ns"))
    assert exposed.ns("of it transfer") == ints(parts.loc["exchange"])
    assert exposed.ns("of it wait for the last to arrive") == ints(parts.loc["wait"])

    collectives = step.collectives
    table = said.tables["collectives"]
    assert len(table.body) == len(collectives)
    assert table.ns("last arrival") == ints(collectives["arrival_ns"] - origin)
    assert table.ns("transfer") == ints(collectives["transfer_ns"])
    assert table.ns("wait, all ranks") == ints(collectives["wait_ns"])

    own = said.tables["own-time"]
    assert own.ns("late start") == ints(step.own_time["late_ns"])
    assert own.ns("own time outside collectives") == ints(step.own_time["own_time_ns"])
    last = collectives["last_rank"].value_counts()
    assert own.texts("last to arrive") == [str(last.get(rank, 0)) for rank in step.ranks]

    path = step.critical_path
    total = said.tables["path"].body[-1]
    assert total[0].text == "sum"
    assert total[1].ns == step.completion_ns == path["duration_ns"].sum()
    stretches = said.tables["stretches"]
    kept = step.replay().owners
    if len(kept) <= 40:
        assert stretches.ns("length") == ints(kept["duration_ns"])
    owners = path["rank"].map("rank {}".format, na_action="ignore").fillna("transfer")
    named = path["name"].where(path["name"] != "", path["kind"])
    sums = path.groupby([named, path["kind"], owners])["duration_ns"].sum()
    for row in said.tables["names"].body:
        name, kind, who, _, together = row
        if not name.text.endswith("…"):
            assert together.ns == sums[name.text, kind.text, who.text]

    trust = step.replay().trust
    assert f"{100 * trust.residual_share:.1f} % of the path is delay" in said.text
    assert str(trust.thresholds) in said.text


@pytest.mark.parametrize("name", ["base", "slow rank", "late input"])
def test_its_best_changes_are_those_of_explain(name, written):
    run = sv.sample_run(name)
    text = " ".join(explain(run).split())
    table = written(run).tables["gains"]
    gains = table.ns("gain, ms")
    assert gains == sorted(gains, reverse=True)
    completion = run.step().completion_ns
    for row in table.body[:3]:
        what, gain, share, then = row[0].text, row[1].ns, row[2].text, row[3].ns
        assert f"{gain / 1e6:.2f} ms ({share}) {what}" in text
        assert then == completion - gain


def test_throughput_has_its_conventions(written):
    run = sv.sample_run("bucket sweep")
    found = sv.run_throughput(run)
    table = written(run).tables["throughput"]
    assert [row[0].text for row in table.body] == list(found.table.index)
    assert table.texts("what exactly is counted") == list(found.table["counts"])


def test_throughput_may_be_given(written):
    run = sv.sample_run("bucket sweep")
    found = sv.run_throughput(run, peak=1e12)
    table = written(run, throughput=found).tables["throughput"]
    assert [row[0].text for row in table.body] == list(found.table.index)
    used = [text for text in table.texts("value") if text.endswith(" %")]
    assert used == [f"{100 * one.value:.2f} %" for one in found.mfu.values()] != []
    with pytest.raises(sv.ThroughputError, match="give what run_throughput returns"):
        written(run, throughput=0.4)


def test_it_says_where_it_is_from(written):
    run = sv.sample_run("bucket sweep")
    said = written(run)
    assert said.tables["files"].texts("file") == ["rank0.json.gz", "rank1.json.gz"]
    assert said.tables["files"].texts("rank from") == ["distributedInfo", "distributedInfo"]
    assert "PyTorch 2.13.0" in said.text
    assert f"stepviz {sv.__version__}" in said.text or "stepviz not installed" in said.text
    assert f"{run.files['events'].sum():,} used, 0 dropped, 0 repaired" in said.text
    assert "as nccl-tests define it" in said.text


def test_a_step_stands_for_its_run(tmp_path):
    run = sv.sample_run()
    one = sv.report(run.step(7), tmp_path / "a.html").read_text(encoding="utf-8")
    two = sv.report(run, tmp_path / "b.html", step=7).read_text(encoding="utf-8")
    day = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.sub(day, "", one) == re.sub(day, "", two)
    assert run.step(7).run is run


def test_names_on_a_path_add_up_to_it():
    path = sv.sample_run().step().critical_path
    names = told.path_names(path)
    assert names["duration_ns"].sum() == path["duration_ns"].sum()
    assert names["pieces"].sum() == len(path)
    assert all(a >= b for a, b in pairwise(names["duration_ns"]))


# How it is built.
def test_tables_have_captions_and_headers_with_scope(written):
    said = written(sv.sample_run())
    assert len(said.tables) >= 12
    captions = [table.caption for table in said.tables.values()]
    assert all(captions)
    assert len(set(captions)) == len(captions)
    for table in said.tables.values():
        assert all(cell.tag == "th" and cell.attributes["scope"] == "col" for cell in table.rows[0])
        assert all(cell.text for cell in table.rows[0])
        for row in table.body:
            assert len(row) == len(table.rows[0])
            assert row[0].attributes["scope"] == "row"
            assert [cell.tag for cell in row] == ["th"] + ["td"] * (len(row) - 1)
    levels = [int(level[1]) for level, _ in said.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1


def test_ids_are_unique_and_links_lead_somewhere(written):
    said = written(sv.sample_run())
    ids = [value for _, name, value in said.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for tag, name, value in said.attributes:
        if tag == "a" and name == "href":
            assert value.removeprefix("#") in ids
        if name == "aria-labelledby":
            assert value in ids


def test_a_step_of_too_many_bars_is_reported_without_them(synthetic, written, monkeypatch):
    monkeypatch.setattr("stepviz.reports.picture.MOST_SHOWN", 3)
    run = synthetic(two_ranks().values())
    said = written(run, step=2)
    count = len(run.step(2).timeline().phases)
    assert f"The step folds into {count} bars, too many to draw or drag in a page" in said.text
    assert f"the timeline is left out: {count} bars" in said.text
    assert said.tables["path"].body[-1][1].ns == 900_000
