"""The verdict in a shell: formats and exit status."""

from __future__ import annotations

import json

import pytest
from planted import planted_run

import stepviz as sv
from stepviz.cli import main


@pytest.fixture
def pair(tmp_path):
    planted_run(tmp_path / "before", 12, seed=1)
    planted_run(tmp_path / "after", 12, seed=2, tail=5.0, backward=130.0)
    return str(tmp_path / "before"), str(tmp_path / "after")


def test_a_step_that_grew_does_not_pass(pair, capsys):
    assert main(["verdict", *pair]) == 1
    text = capsys.readouterr().out
    assert text.startswith("REVERT: The step grew from 1")
    assert "Trap avoided: the tail fell by 2" in text
    assert main(["verdict", *reversed(pair)]) == 0
    assert capsys.readouterr().out.startswith("KEEP")


@pytest.mark.parametrize(("gate", "status"), [("30", 0), ("5", 1), ("-5", 1)])
def test_the_gate_is_what_the_interval_may_reach(pair, capsys, gate, status):
    assert main(["verdict", *pair, "--gate", gate, "--format", "json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] == (status == 0)
    assert found["gate"] == float(gate)
    assert found["decision"] == "revert"
    rows = {row["measure"]: row for row in found["table"]}
    assert rows["step time"]["low"] == found["low"]
    assert main(["verdict", *pair[::-1], "--gate", "-5"]) == 0


@pytest.mark.parametrize("gate", ["inf", "-inf", "nan", "x", "3%", ""])
def test_a_gate_without_a_number_is_no_answer(pair, capsys, gate):
    with pytest.raises(SystemExit) as ended:
        main(["verdict", *pair, f"--gate={gate}", "--format", "json"])
    assert ended.value.code == 2
    assert "is no percentage" in capsys.readouterr().err
    found = sv.verdict(*map(sv.load_run, pair))
    with pytest.raises(sv.ThroughputError, match="gate is nan"):
        found.passes(float("nan"))


def test_markdown_is_a_table_that_adds_up(pair, capsys):
    main(["verdict", *pair, "--format", "markdown", "--gate", "0"])
    text = capsys.readouterr().out
    assert text.startswith("**Revert.** ")
    assert "Gate not passed" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1


def test_what_cannot_be_compared_does_not_pass(pair, tmp_path, capsys):
    planted_run(tmp_path / "one", 12, ranks=1)
    assert main(["verdict", pair[0], str(tmp_path / "one")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("stepviz: the useful work of an update differs (2,048 → 1,024 sc")
    assert main(["verdict", pair[0], str(tmp_path / "missing"), "--gate", "50"]) == 2
    capsys.readouterr()
    status = main(["verdict", pair[0], str(tmp_path / "one"), "--convention", "updates"])
    assert status == 0
