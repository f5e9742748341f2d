"""A batch as it is and packed: counts by loops over the masks, and the lesson's two rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.throughput.layouts import made_batch, token_roles
from stepviz.throughput.packing_cases import packed_case, role_runs, slider_case, timed_case
from stepviz.throughput.repacking import repacked
from tests.throughput.by_hand import LESSON

LLAMA = sv.ModelShape(layers=32, hidden=4096, heads=32, ffn=11008, gated=True, vocab=32000)

sizes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9).filter(
    lambda pairs: all(sum(pair) for pair in pairs)
)


def test_the_sliders_begin_with_the_lesson():
    case = slider_case()
    assert (case.before, case.after) == (LESSON["padded"], LESSON["packed"])
    assert [(c.allocated, c.scored, c.ms_per_update) for c in case.counts] == [
        (8, 2, 4.0),
        (6, 2, 3.0),
    ]
    table = case.compared().table
    assert table.loc["processed positions per second", ["before", "after"]].tolist() == [2000, 2000]
    assert table.loc["scored targets per second", "after"] == pytest.approx(2000 / 3)


@given(sizes, st.integers(1, 5))
def test_repacking_keeps_sequences_and_drops_padding(pairs, per_row):
    prompts, completions = zip(*pairs, strict=True)
    batch = made_batch(prompts, completions, length=12)
    again = repacked(batch, per_row)
    groups = [pairs[k : k + per_row] for k in range(0, len(pairs), per_row)]
    width = max(sum(map(sum, group)) for group in groups)
    assert [len(row) for row in again["input_ids"]] == [width] * len(groups)
    kept = [
        i
        for row, mask in zip(again["input_ids"], again["attention_mask"], strict=True)
        for i, m in zip(row, mask, strict=True)
        if m
    ]
    assert kept == [i for row in batch["input_ids"] for i in row if i]
    counted, was = sv.count_tokens(again), sv.count_tokens(batch)
    assert (counted.real, counted.sequences, counted.squared_lengths) == (
        was.real,
        was.sequences,
        was.squared_lengths,
    )
    # what a sequence scores does not depend on its neighbours
    assert counted.scored == was.scored == sum(max(c - (p == 0), 0) for p, c in pairs)
    assert counted.notes == ()


@given(sizes)
def test_runs_are_the_roles_position_by_position(pairs):
    prompts, completions = zip(*pairs, strict=True)
    batch = repacked(made_batch(prompts, completions, length=10), len(prompts))
    roles = token_roles(batch)
    cells = [
        (row, start + k, what, sequence)
        for row, runs in enumerate(role_runs(roles))
        for start, length, what, sequence in runs
        for k in range(length)
    ]
    told = [
        (
            r.row,
            r.position,
            "target" if r.scored else r.role,
            -1 if r.role == "padding" else r.sequence,
        )
        for r in roles.itertuples()
    ]
    assert cells == told


@given(
    st.integers(1, 8),
    st.integers(2, 24),
    st.floats(0, 0.9),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 8),
    st.integers(1, 8),
    st.booleans(),
)
def test_any_setting_of_the_knobs_is_counted_as_loops_count_it(
    sequences, length, padding, spread, prompt, packing, accumulation, skips
):
    case = slider_case(
        sequences=sequences,
        length=length,
        padding=padding,
        spread=spread,
        prompt=prompt,
        packing=packing,
        accumulation=accumulation,
        skips_padding=skips,
    )
    for batch, counts in zip((case.before, case.after), case.counts, strict=True):
        allocated = sum(len(row) for row in batch["input_ids"])
        real = sum(sum(row) for row in batch["attention_mask"])
        scored = sum(label != -100 for row in batch["labels"] for label in row[1:])
        ran = real if skips else allocated
        assert (counts.allocated, counts.real, counts.scored, counts.executed) == tuple(
            accumulation * n for n in (allocated, real, scored, ran)
        )
        assert counts.ms_per_update == pytest.approx(0.5 * ran * accumulation, rel=1e-12)
    assert case.counts[0].scored == case.counts[1].scored


def test_the_trap_of_a_microbatchs_time_names_its_factor():
    assert slider_case().trap() == ""
    assert "8 times too high" in slider_case(accumulation=8).trap()


def test_utilizations_are_those_of_mfu():
    case = slider_case()
    table = case.utilizations(LLAMA, 300e12)
    for name, width in (("palm", 4), ("causal", 4), ("lora", 4)):
        one = sv.mfu(LLAMA, convention=name, tokens_per_second=2000, sequence=width, peak=300e12)
        assert table.loc[name, "before"] == one.value
    assert set(table.index) == set(sv.conventions().index)
    whole = sv.mfu(LLAMA, convention="causal", tokens_per_second=2000, sequence=6, peak=300e12)
    inside = sv.mfu(LLAMA, convention="packed", tokens_per_second=2000, sequence=3, peak=300e12)
    assert table["after"][["causal", "packed"]].tolist() == pytest.approx(
        [whole.value, inside.value]
    )


def test_measured_times_are_kept():
    case = timed_case(LESSON["padded"], LESSON["packed"], (0.004, 0.002), accumulation=2)
    assert [c.ms_per_update for c in case.counts] == [8, 4]


def test_padding_known_by_its_id_is_left_out():
    batch = {"input_ids": [[5, 6, 0, 0], [7, 8, 9, 0]], "labels": [[5, 6, -100, -100]] * 2}
    case = packed_case(batch, packing=2, pad_id=0)
    assert case.after["input_ids"] == [[5, 6, 7, 8, 9]]
    assert [c.real for c in case.counts] == [5, 5]


def test_a_batch_of_padding_alone_is_refused():
    with pytest.raises(sv.ThroughputError, match="every position of this batch is padding"):
        repacked({"input_ids": [[0, 0]], "attention_mask": [[0, 0]]}, 2)
