"""The handed scheduling cases, to 1e-9."""

from __future__ import annotations

import pytest

from tests.core.cases import CASES, Case

EXACT = 1e-9


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_case(case: Case) -> None:
    schedule = case.timeline().schedule()
    table = schedule.table
    assert schedule.completion == pytest.approx(case.completion, abs=EXACT)
    assert set(table.index[table["critical"]]) == set(case.critical.split())
    for phase, (start, finish) in case.spans.items():
        assert table.loc[phase, "start"] == pytest.approx(start, abs=EXACT)
        assert table.loc[phase, "finish"] == pytest.approx(finish, abs=EXACT)
    for phase, (start, finish) in case.late.items():
        assert table.loc[phase, "latest_start"] == pytest.approx(start, abs=EXACT)
        assert table.loc[phase, "latest_finish"] == pytest.approx(finish, abs=EXACT)
    for column in ("total_float", "free_float", "drag"):
        for phase, value in getattr(case, column).items():
            assert table.loc[phase, column] == pytest.approx(value, abs=EXACT), (phase, column)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_relabelling_and_order_do_not_matter(case: Case) -> None:
    timeline = case.timeline()
    phases, dependencies = timeline.phases, timeline.dependencies
    backwards = type(timeline)(phases.iloc[::-1], dependencies.iloc[::-1].reset_index(drop=True))
    expected = timeline.schedule().table.drop(columns="binding_dependency")
    found = backwards.schedule().table.drop(columns="binding_dependency").loc[expected.index]
    assert found.equals(expected)
