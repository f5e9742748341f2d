"""No verdict for, and no gate passed by, runs whose useful work is not known to be equal."""

from __future__ import annotations

import json
import re

import pytest
from planted import TOKENS, planted_run

import stepviz as sv
from stepviz.cli import main

SHORTER = {"tail": 10.0}
LONGER = {"tail": 90.0}


@pytest.fixture
def made(tmp_path):
    def make(name, **parts):
        return planted_run(tmp_path / name, 12, seed=len(name), **parts)

    return make


@pytest.mark.parametrize(
    ("before", "after", "who"),
    [
        (None, None, "no run says how many tokens"),
        (TOKENS, None, "not every run says how many tokens"),
        (None, TOKENS, "not every run says how many tokens"),
        ({"scored": 1024}, {"real": 1024}, "the runs count different things"),
        (TOKENS | {"sequences": 8}, {"sequences": 8}, "an update holds 16 rows, and nothing says"),
        ({"sequences": 8}, {"sequences": 8}, "an update holds 16 rows, and nothing says"),
    ],
)
@pytest.mark.parametrize("change", [SHORTER, LONGER])
def test_what_is_not_known_to_be_equal_is_not_decided(made, before, after, who, change):
    found = sv.verdict(made("a", tokens=before), made("bb", tokens=after, **change))
    assert found.decision == "can't tell"
    assert f"but the useful work is not known to be equal: {who}" in found.reason
    assert found.work == found.to_dict()["work"] == "not known"
    assert not found.passes()
    assert not found.passes(1000)
    # What was measured is told all the same.
    expected = 140 if change == SHORTER else 220
    assert found.table.loc["step time", "after"] == pytest.approx(expected, rel=0.02)


def test_noise_is_said_first_where_it_hides_the_change(made):
    found = sv.verdict(made("a", tokens=None), made("bb", tokens=None))
    assert "no difference is shown" in found.reason or "less than two captures" in found.reason
    assert not found.passes()
    assert any("--same-work" in note for note in found.notes)


def test_your_word_is_enough(made):
    found = sv.verdict(made("a", tokens=None), made("bb", tokens=None, **SHORTER), same_work=True)
    assert (found.decision, found.work) == ("keep", "stated")
    assert found.passes(-5)
    assert found.notes[0] == "useful work: an update holds the same on both sides, as you say"
    # Also where the structure differs: the batch was cut into more passes.
    passes = sv.verdict(made("c", tokens=None), made("dd", tokens=None, passes=2), same_work=True)
    assert passes.work == "stated"


def test_rows_that_differ_are_refused_and_may_be_what_counts(made):
    before, after = made("a", tokens={"sequences": 8}), made("bb", tokens={"sequences": 4})
    with pytest.raises(sv.ThroughputError, match="16 → 8 sequences"):
        sv.verdict(before, after)
    same = made("ccc", tokens={"sequences": 8}, **SHORTER)
    found = sv.verdict(before, same, convention="sequences")
    assert (found.decision, found.work) == ("keep", "counted")


def test_your_word_does_not_outdo_counts(made):
    half = TOKENS | {"scored": 512}
    with pytest.raises(sv.ThroughputError, match="2,048 → 1,024 scored"):
        sv.verdict(made("a"), made("bb", tokens=half), same_work=True)
    with pytest.raises(sv.ThroughputError, match="answer one question"):
        sv.verdict(made("c"), made("dd"), same_work=True, convention="scored")
    with pytest.raises(sv.ThroughputError, match="same_work is 'yes'"):
        sv.verdict(made("e"), made("ff"), same_work="yes")


def test_counts_that_you_give(made):
    runs = [made("a", tokens=None), made("bb", tokens=None, passes=2, **SHORTER)]
    same = tuple(sv.TokenCounts(executed=2048, scope="update") for _ in range(2))
    found = sv.verdict(*runs, counts=same)
    assert (found.decision, found.work, found.convention) == ("keep", "stated", "executed")
    fewer = (same[0], sv.TokenCounts(executed=1024, scope="update"))
    with pytest.raises(sv.ThroughputError, match="2,048 → 1,024 executed"):
        sv.verdict(*runs, counts=fewer)
    # Half of it in 140 of 160 ms.
    assert sv.verdict(*runs, counts=fewer, convention="executed").decision == "revert"


def test_counts_that_contradict_those_of_a_capture_are_noted(made):
    told = sv.TokenCounts(scored=100, scope="update")
    found = sv.verdict(made("a"), made("bb"), counts=(told, told))
    assert "a counted 2,048 scored in an update, and you say otherwise" in found.notes


def test_the_runs_of_one_side_are_of_one_configuration(made):
    sides = [made("a"), made("bb", tokens=TOKENS | {"scored": 512})], made("ccc")
    with pytest.raises(sv.ThroughputError, match=re.escape("(2,048, 1,024 scored)")):
        sv.verdict(*sides, convention="scored")
    with pytest.raises(sv.ThroughputError, match="2,048 → 1,024 scored"):
        sv.verdict(*sides)


@pytest.fixture
def uncounted(made, tmp_path):
    made("a", tokens=None)
    made("bb", tokens=None, **SHORTER)
    return str(tmp_path / "a"), str(tmp_path / "bb")


@pytest.mark.parametrize("gate", [[], ["--gate", "50"]])
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_the_command_does_not_pass_what_it_cannot_know(uncounted, capsys, gate, form):
    assert main(["verdict", *uncounted, *gate, "--format", form]) == 1
    text = capsys.readouterr().out
    if form == "json":
        found = json.loads(text)
        assert (found["passed"], found["work"]) == (False, "not known")
    else:
        start = "Gate not passed" if gate else "Not passed"
        assert f"{start}: the useful work is not known to be equal" in " ".join(text.split())
        assert "--same-work" in text


def test_the_command_takes_your_word_or_your_counts(uncounted, capsys):
    assert main(["verdict", *uncounted, "--same-work", "--gate", "-5"]) == 0
    assert capsys.readouterr().out.startswith("KEEP")
    assert main(["verdict", *uncounted, "--tokens", "2,048", "2048", "--gate", "-5"]) == 0
    assert "2,048 executed (as you counted)" in capsys.readouterr().out
    half = ["--tokens", "2048", "1024"]
    assert main(["verdict", *uncounted, *half]) == 2
    assert "2,048 → 1,024 executed" in capsys.readouterr().err
    assert main(["verdict", *uncounted, *half, "--convention", "scored"]) == 1
    assert capsys.readouterr().out.startswith("REVERT")
    assert main(["verdict", *uncounted, *half, "--convention", "updates"]) == 2
    assert "--tokens are no updates" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "-5", "1.5", "many", "1e5"])
def test_what_is_no_count_is_refused(uncounted, capsys, count):
    with pytest.raises(SystemExit) as ended:
        main(["verdict", *uncounted, f"--tokens={count}", "7"])
    assert ended.value.code == 2
    assert "--tokens" in capsys.readouterr().err
