"""Pipelines: the facts' rows, published bubbles, and a brute force over the rules."""

from __future__ import annotations

import time
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders

ROWS = [
    # p, m, v, time, bubble / ideal, bubble / total (t_f 1, t_b 2)
    (4, 4, 1, 21, 0.7500, 0.4286),
    (4, 8, 1, 33, 0.3750, 0.2727),
    (8, 8, 1, 45, 0.8750, 0.4667),
    (8, 32, 1, 117, 0.2188, 0.1795),
    (2, 3, 1, 12, 0.3333, 0.2500),
    (4, 8, 2, 28.5, 0.1875, None),
    (4, 16, 2, 52.5, 0.0938, None),
    (4, 4, 2, 16.5, 0.3750, None),
]


@pytest.mark.parametrize(("p", "m", "v", "ms", "over_ideal", "over_total"), ROWS)
def test_rows_of_the_table(p, m, v, ms, over_ideal, over_total):
    for schedule in ("gpipe", "1f1b") if v == 1 else ("interleaved",):
        step = B.pipeline(
            schedule=schedule, stages=p, microbatches=m, forward=1, backward=2, chunks=v, p2p=0
        )
        assert step.completion == ms
        bubble = B.pipeline_bubble(step)
        assert (bubble["over_ideal"].round(4) == over_ideal).all()
        assert (bubble["bubble"] == (p - 1) * 3 / v).all()
        if over_total is not None:
            assert (bubble["over_total"].round(4) == over_total).all()


@pytest.mark.parametrize(
    ("p", "m", "ms", "bubble", "of_1f1b"),
    [(4, 8, 27, 3, 9), (8, 16, 55, 7, 21), (4, 12, 39, 3, 9)],
)
def test_zero_bubble_rows_of_unit_costs(p, m, ms, bubble, of_1f1b):
    """T_F = T_B = T_W = 1: the whole backward is 2."""
    step = B.pipeline("zb-h1", p, m, forward=1, backward=2)
    assert step.completion == ms
    assert B.pipeline_bubble(step).loc[0, "bubble"] == bubble
    plain = B.pipeline("1f1b", p, m, forward=1, backward=2)
    assert B.pipeline_bubble(plain).loc[0, "bubble"] == of_1f1b


def test_deepseeks_notation_of_the_same_bubble():
    """PP 8, F 1, whole B 2, W 1: 1F1B (PP − 1)(F + B) = 21, ZB1P (PP − 1)(F + B − 2W) = 7."""
    for schedule, bubble in (("1f1b", 21), ("zb-h1", 7)):
        step = B.pipeline(schedule, 8, 20, forward=1, backward=2)
        assert (B.pipeline_bubble(step)["bubble"] == bubble).all()


@given(
    st.integers(1, 6), st.integers(0, 8), st.integers(1, 20), st.integers(1, 20), st.integers(0, 20)
)
def test_formulas_of_equal_stages(p, more, f, b, w):
    m = p + more
    for schedule in ("gpipe", "1f1b"):
        step = B.pipeline(schedule, p, m, forward=f, backward=b + w)
        assert step.completion == (m + p - 1) * (f + b + w)
    if w <= min(f, b):  # else the bubble is larger than the formula's, whatever the order
        step = B.pipeline("zb-h1", p, m, forward=f, backward=b + w, weight=w)
        assert step.completion == m * (f + b + w) + (p - 1) * (f + b - w)


@given(
    st.integers(1, 5), st.integers(1, 3), st.integers(2, 4), st.integers(1, 9), st.integers(1, 9)
)
def test_formula_of_interleaved(p, times, v, f, b):
    m = p * times
    step = B.pipeline("interleaved", p, m, forward=f * v, backward=b * v, chunks=v)
    assert step.completion == m * v * (f + b) + (p - 1) * (f + b)


def device_lists(schedule, p, m, v):
    """The order of each device from the rules, as (op, microbatch, chunk)."""
    lists = []
    for s in range(p):
        if schedule == "gpipe":
            ops = "F" * m + "B" * m
        elif schedule == "1f1b":
            w = min(p - s - 1, m)
            ops = "F" * w + "FB" * (m - w) + "B" * w
        elif schedule == "interleaved":
            w = m * v if m == p else min((p - s - 1) * 2 + (v - 1) * p, m * v)
            ops = "F" * w + "FB" * (m * v - w) + "B" * w
        seen = {"F": 0, "B": 0}
        tasks = []
        for op in ops:
            k = seen[op]
            seen[op] += 1
            if schedule == "interleaved":
                chunk = (k % (p * v)) // p
                micro = (k // (p * v)) * p + k % p
                tasks.append((op, micro, chunk if op == "F" else v - 1 - chunk))
            else:
                tasks.append((op, k, 0))
        lists.append(tasks)
    return lists


def brute_force(lists, lasts, p, v, p2p):
    """The end of the last task by recursion: each after its device's last and what it needs."""
    place = {(s, *task): k for s, tasks in enumerate(lists) for k, task in enumerate(tasks)}

    @cache
    def end(s, op, i, c):
        k = place[s, op, i, c]
        start = end(s, *lists[s][k - 1]) if k else 0.0
        stage = c * p + s  # virtual stage
        if op == "F" and stage > 0:
            hop = p2p if p > 1 else 0
            start = max(start, end((stage - 1) % p, "F", i, (stage - 1) // p) + hop)
        if op == "B":
            start = max(start, end(s, "F", i, c))
            if stage < p * v - 1:
                hop = p2p if p > 1 else 0
                start = max(start, end((stage + 1) % p, "B", i, (stage + 1) // p) + hop)
        if op == "W":
            start = max(start, end(s, "B", i, c))
        return start + lasts[op][s] / v

    return max(end(s, *tasks[-1]) for s, tasks in enumerate(lists))


stage_times = st.floats(0, 10, allow_subnormal=False)


@st.composite
def pipelines(draw, schedule):
    p = draw(st.integers(1, 5))
    v = draw(st.integers(2, 3)) if schedule == "interleaved" else 1
    m = p * draw(st.integers(1, 3)) if schedule == "interleaved" else draw(st.integers(1, 8))
    times = {op: [draw(stage_times) for _ in range(p)] for op in "FBW"}
    return p, m, v, times, draw(st.one_of(st.just(0.0), stage_times))


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved"])
@given(st.data())
def test_uneven_stages_against_brute_force(schedule, data):
    p, m, v, times, p2p = data.draw(pipelines(schedule))
    step = B.pipeline(schedule, p, m, forward=times["F"], backward=times["B"], chunks=v, p2p=p2p)
    expected = brute_force(device_lists(schedule, p, m, v), times, p, v, p2p)
    assert step.completion == pytest.approx(expected, rel=1e-12, abs=1e-12)


def lists_of(step, p):
    """What each device runs, read from the timeline's rows."""
    code = {"forward": "F", "backward": "B", "weight gradient": "W"}
    lists = [[] for _ in range(p)]
    for name, rank in zip(step.phases.index, step.phases["rank"], strict=True):
        said, _, number = name.partition(" ")[2].rpartition(" ")
        lists[rank].append((code[said], int(number) - 1, 0))
    return lists


@given(pipelines("zb-h1"))
def test_zb_h1_against_brute_force_and_its_memory(given_):
    p, m, v, times, p2p = given_
    whole = [b + w for b, w in zip(times["B"], times["W"], strict=True)]
    step = B.pipeline("zb-h1", p, m, forward=times["F"], backward=whole, weight=times["W"], p2p=p2p)
    lists = lists_of(step, p)
    split = {**times, "B": [b - w for b, w in zip(whole, times["W"], strict=True)]}
    assert step.completion == pytest.approx(brute_force(lists, split, p, v, p2p))
    for s, tasks in enumerate(lists):
        for op in "FBW":
            assert [i for o, i, _ in tasks if o == op] == list(range(m))
        # Without the weight gradients it is 1F1B.
        assert [t for t in tasks if t[0] != "W"] == device_lists("1f1b", p, m, 1)[s]
        held = np.cumsum([{"F": 1, "B": 0, "W": -1}[o] for o, _, _ in tasks])
        assert held.max() == min(m, p) == step.memory["count"][s]


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved"])
@given(st.data())
def test_memory_is_the_peak_of_what_the_order_holds(schedule, data):
    p, m, v, _, _ = data.draw(pipelines(schedule))
    step = B.pipeline(schedule, p, m, 1, 2, chunks=v, activation_bytes=10)
    for s, tasks in enumerate(device_lists(schedule, p, m, v)):
        held = np.cumsum([1 if op == "F" else -1 for op, _, _ in tasks]).max() / v
        assert step.memory.loc[s, ["count", "bytes"]].tolist() == pytest.approx([held, held * 10])


@given(pipelines("1f1b"))
def test_longest_path_by_networkx_and_bounds(given_):
    p, m, _, times, p2p = given_
    step = B.pipeline("1f1b", p, m, forward=times["F"], backward=times["B"], p2p=p2p, optimizer=1)
    lasts = step.phases["duration"]
    graph = nx.DiGraph()
    graph.add_nodes_from(step.phases.index)
    for link in step.schedule().dependencies.itertuples():
        weight = lasts[link.source] + link.lag
        known = graph.get_edge_data(link.source, link.target, {"weight": 0})["weight"]
        graph.add_edge(link.source, link.target, weight=max(weight, known))
    for name in step.phases.index:
        graph.add_edge(name, "end", weight=lasts[name])
    longest = nx.dag_longest_path_length(graph)
    assert step.completion == pytest.approx(longest)
    busiest = max(m * (f + b) for f, b in zip(times["F"], times["B"], strict=True)) + 1
    through = sum(times["F"]) + sum(times["B"]) + 2 * (p - 1) * p2p + 1
    assert step.completion >= max(busiest, through) - 1e-9


@given(pipelines("1f1b"), st.integers(0, 4))
def test_a_slower_stage_or_link_is_never_sooner(given_, stage):
    p, m, _, times, p2p = given_
    base = B.pipeline("1f1b", p, m, times["F"], times["B"], p2p=p2p).completion
    slower = list(times["F"])
    slower[stage % p] += 1
    assert B.pipeline("1f1b", p, m, slower, times["B"], p2p=p2p).completion >= base - 1e-9
    assert B.pipeline("1f1b", p, m, times["F"], times["B"], p2p=p2p + 1).completion >= base - 1e-9


@pytest.mark.alone
def test_64_stages_of_512_microbatches_schedule_in_a_second():
    for schedule in ("gpipe", "1f1b", "zb-h1"):
        began = time.perf_counter()
        step = B.pipeline(schedule, 64, 512, forward=1, backward=2)
        assert step.completion == {"zb-h1": 1536 + 63}.get(schedule, (512 + 63) * 3)
        assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"schedule": "1f1"}, "did you mean '1f1b'"),
        ({"stages": 0}, "stages is 0"),
        ({"microbatches": 2.5}, "microbatches"),
        ({"forward": [1, 2]}, "forward has 2 values for 4 stages"),
        ({"backward": [1, 2, 3, -4]}, r"backward\[3\]"),
        ({"chunks": 2}, "use 'interleaved'"),
        ({"schedule": "interleaved"}, "chunks is 1"),
        ({"schedule": "interleaved", "chunks": 2, "microbatches": 6}, "such as 4 or 8"),
        ({"p2p": -1}, "p2p"),
        ({"weight": 1}, "leave it out"),
        ({"schedule": "zb-h1", "weight": 3}, "part of it"),
        ({"activation_bytes": [1]}, "activation_bytes"),
    ],
)
def test_bad_input_names_the_argument(options, said):
    good = {"schedule": "1f1b", "stages": 4, "microbatches": 8, "forward": 1, "backward": 2}
    with pytest.raises(sv.TimelineError, match=said):
        B.pipeline(**{**good, **options})
    with pytest.raises(sv.TimelineError, match="timeline is int"):
        B.pipeline_bubble(5)
