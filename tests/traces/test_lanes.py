"""Lanes of a step: packed, merged below a pixel, searched, against brute force."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces.lanes.blocks import FOUND, merged
from stepviz.traces.lanes.packing import ROUNDING_NS, Lane, foremost, innermost, pack
from stepviz.traces.lanes.pathway import BESIDE, NOWHERE, placed
from stepviz.traces.lanes.questions import explain, search
from stepviz.traces.lanes.scene import CODE_OF, SHOWN_KINDS, Scene
from tests.traces.synthetic import two_ranks

SCALE = 10 * ROUNDING_NS  # so that nothing crosses by rounding alone


@st.composite
def nested(draw, low=0, high=60, depth=0):
    """Intervals that nest or follow, with the depth of each."""
    found = []
    at = low
    while at < high:
        start = draw(st.integers(at, high))
        finish = draw(st.integers(start, high))
        if draw(st.booleans()) or finish <= start:
            break
        found.append((start, finish, depth))
        if depth < 3:
            found += draw(nested(start, finish, depth + 1))
        at = finish
    return found


@st.composite
def intervals(draw):
    pairs = st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(0, 3), st.integers(0, 2))
    return [(s, s + d, k, n) for s, d, k, n in draw(st.lists(pairs, max_size=25))]


def lane_of(rows):
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    return Lane.of(
        table[:, 0] * SCALE, table[:, 1] * SCALE, table[:, 2], table[:, 3], np.arange(len(rows))
    )


def tuples(lane):
    return list(
        zip(lane.start.tolist(), lane.finish.tolist(), lane.kind.tolist(), lane.row.tolist(),
            strict=True)
    )  # fmt: skip


@given(nested())
def test_what_nests_is_packed_by_depth(rows):
    lane = lane_of([(a, b, 0, 0) for a, b, _ in rows])
    depth = {}
    for k, packed in enumerate(pack(lane)):
        depth |= dict.fromkeys(packed.row.tolist(), k)
    assert [depth[i] for i in range(len(rows))] == [d for _, _, d in rows]


@given(intervals())
def test_rows_hold_every_interval_once_and_none_overlap(rows):
    lane = lane_of(rows)
    packed = pack(lane)
    assert sorted(r for one in packed for r in one.row.tolist()) == list(range(len(rows)))
    for one in packed:
        assert (np.diff(one.start) >= 0).all()
        assert (one.start[1:] >= one.finish[:-1] - ROUNDING_NS).all()
        assert (np.diff(one.finish) >= 0).all()
    # No more rows than intervals that share an instant.
    most = max((sum(a <= t < b or t == a for a, b, _, _ in rows) for t in range(81)), default=0)
    assert len(packed) <= most


@given(intervals())
def test_the_innermost_row_shows_the_deepest_at_each_instant(rows):
    packed = pack(lane_of(rows))
    if not packed:
        return
    flat = innermost(packed)
    assert (flat.start[1:] >= flat.finish[:-1]).all()
    for t in range(81):
        at = t * SCALE + SCALE // 2
        holding = [
            (depth, row)
            for depth, lane in enumerate(packed)
            for a, b, _, row in tuples(lane)
            if a <= at < b
        ]
        shown = [row for a, b, _, row in tuples(flat) if a <= at < b]
        assert shown == ([max(holding)[1]] if holding else [])


@given(st.one_of(nested(), intervals()), st.integers(0, 2))
@example([(0, 2), (0, 2), (1, 3), (2, 2)], 0)
def test_rows_are_the_same_however_many_depths_are_taken_one_by_one(rows, passes):
    lane = lane_of([(a, b, 0, 0) for a, b, *_ in rows])
    usual = [tuples(one) for one in pack(lane)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("stepviz.traces.lanes.packing._MOST_PASSES", passes)
        assert [tuples(one) for one in pack(lane)] == usual


def test_calls_nested_thousands_deep():
    """Each holds the next one: row k holds the k-th, and is seen before and after what it holds."""
    deep = 20_000
    start = np.arange(deep) * SCALE
    finish = (2 * deep - np.arange(deep)) * SCALE
    packed = pack(Lane.of(start, finish, start * 0, start * 0, np.arange(deep)))
    assert [one.row.tolist() for one in packed] == [[k] for k in range(deep)]
    flat = innermost(packed)
    assert flat.row.tolist() == [*range(deep), *range(deep - 2, -1, -1)]
    assert (flat.start[1:] == flat.finish[:-1]).all()


@given(intervals(), st.permutations([0, 1, 2]))
def test_the_foremost_kind_is_shown_at_each_instant(rows, order):
    lane = foremost([lane_of(rows)], order, [10, 11, 12, 13])
    for t in range(81):
        at = t * SCALE + SCALE // 2
        running = {k for a, b, k, _ in rows if a * SCALE <= at < b * SCALE}
        first = next((k for k in order if k in running), None)
        shown = [k for a, b, k, _ in tuples(lane) if a <= at < b]
        assert shown == ([] if first is None else [first])
    assert lane.name.tolist() == [10 + k for k in lane.kind.tolist()]


def merged_by_hand(lane, start, finish, pixel, hidden, found):
    blocks, last = [], None
    for a, b, k, n in zip(lane.start.tolist(), lane.finish.tolist(), lane.kind.tolist(),
                          lane.name.tolist(), strict=True):  # fmt: skip
        if b < start or a > finish or k in hidden:
            continue
        key = None if b - a >= pixel else a // pixel
        if key is None or key != last:
            blocks.append([])
        blocks[-1].append((a, b, k, n))
        last = key
    rows = []
    for block in blocks:
        time = dict.fromkeys(sorted({k for _, _, k, _ in block}), 0.0)
        for a, b, k, _ in block:
            time[k] += max(b - a, 0.25)
        longest = max(block, key=lambda one: one[1] - one[0])
        rows.append(
            (
                block[0][0],
                max(b for _, b, _, _ in block),
                sum(b - a for a, b, _, _ in block),
                len(block),
                max(time, key=lambda k: time[k]),
                longest[3],
                int(any(n in found for _, _, _, n in block)),
            )
        )
    return rows


@given(
    intervals(), st.integers(0, 60), st.integers(0, 60), st.integers(1, 30),
    st.sets(st.integers(0, 3)), st.sets(st.integers(0, 2)),
)  # fmt: skip
def test_blocks_are_what_a_plain_loop_makes(rows, start, length, pixel, hidden, found):
    lanes = [*pack(lane_of(rows)), lane_of([])]
    blocks = merged(
        lanes, start * SCALE, (start + length) * SCALE, pixel * SCALE,
        hidden=np.isin(np.arange(4), list(hidden)), found=np.isin(np.arange(3), list(found)),
    )  # fmt: skip
    for k, lane in enumerate(lanes):
        mine = slice(blocks.bounds[k], blocks.bounds[k + 1])
        rows_found = zip(
            blocks.start[mine].tolist(), blocks.finish[mine].tolist(),
            blocks.busy_ns[mine].tolist(),
            blocks.count[mine].tolist(), blocks.kind[mine].tolist(), blocks.name[mine].tolist(),
            (blocks.flags[mine] & FOUND).tolist(), strict=True,
        )  # fmt: skip
        expected = merged_by_hand(
            lane, start * SCALE, (start + length) * SCALE, pixel * SCALE, hidden, found
        )
        assert list(rows_found) == expected


def test_blocks_of_no_lanes_are_none():
    assert len(merged([], 0, 100, 1)) == 0


def test_packed_blocks_are_read_back_as_they_were():
    lane = lane_of([(0, 5, 1, 0), (6, 7, 2, 1)])
    blocks = merged([lane], 0, 10 * SCALE, 1, found=np.array([False, True, False]))
    data = blocks.packed(SCALE, 2)
    words = np.frombuffer(data, "<i4", 5 * 2)
    assert words.tolist() == [0, 2, -SCALE // 2, 5 * SCALE // 2, 2 * SCALE, 3 * SCALE, 0, 1, 1, 1]
    assert list(data[-6:]) == [1, 2, 0, FOUND, 255, 255]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two-ranks")
    for rank, document in two_ranks().items():
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    return Scene(sv.load_run(folder).step(2))


def test_a_step_has_lanes_for_exchanges_streams_and_threads(scene):
    assert [rank.rank for rank in scene.ranks] == [0, 1]
    tracks = scene.ranks[0].tracks
    assert [(track.name, track.role) for track in tracks] == [
        ("exchanges", "exchange"),
        ("stream 7", "device"),
        ("stream 20", "device"),
        ("main thread", "host"),
        ("thread 101", "host"),
    ]
    # Step 1 ends at 900 µs, the host begins with step 2 at 500 µs: lanes begin there.
    assert scene.begin_ns == -400_000
    main = scene.lane(tracks[3].first)
    assert [scene.names[n] for n in main.name][-1] == "ProfilerStep#2"


def test_wait_and_transfer_of_an_exchange_are_apart(scene):
    # Worked out in `two_ranks`: rank 0 arrives 100 µs before rank 1, and they end together.
    first = scene.lane(scene.ranks[0].tracks[0].first)
    kinds = [SHOWN_KINDS[k] for k in first.kind]
    assert kinds == ["wait", "exchange"]
    assert (first.finish - first.start).tolist() == [100_000, 195_000]
    assert first.start[0] + 100_000 == first.start[1] == first.finish[0]
    second = scene.lane(scene.ranks[1].tracks[0].first)
    assert [SHOWN_KINDS[k] for k in second.kind] == ["exchange"]
    assert (second.finish - second.start).tolist() == [195_000]
    said = explain(scene, scene.ranks[0].tracks[0].first, int(first.start[0]), int(first.finish[0]))
    assert dict(said["more"])["waiting for"] == "rank 1"
    assert dict(said["more"])["wait"] == "0.1 ms"


def test_the_summary_shows_compute_before_exchange(scene):
    lane = scene.lane(scene.ranks[0].summary)
    assert (lane.start[1:] >= lane.finish[:-1]).all()
    shown = {SHOWN_KINDS[k] for k in lane.kind}
    assert {"forward", "backward", "exchange", "optimizer"} <= shown


def test_a_search_finds_every_interval_of_a_name_and_goes_around(scene):
    found = search(scene, "GEMM")
    # Three gemm kernels a step and a rank, and none of another name.
    inside = found.lane.tolist()
    assert all(scene.track_of(lane)[1].role == "device" for lane in inside)
    by_rank = [scene.track_of(lane)[0].rank for lane in inside]
    assert by_rank.count(0) == by_rank.count(1) >= 3
    place, visited = 0, []
    for _ in range(len(found)):
        visited.append(place)
        place = found.following(int(found.start[place]), int(found.lane[place]))
    assert visited == list(range(len(found)))
    assert place == 0
    assert found.following(int(found.start[0]), int(found.lane[0]), forward=False) == len(found) - 1


def test_a_search_passes_over_hidden_kinds(scene):
    hidden = np.zeros(len(SHOWN_KINDS), dtype=np.bool_)
    hidden[CODE_OF["backward"]] = True
    assert 0 < len(search(scene, "gemm", hidden)) < len(search(scene, "gemm"))


def test_pieces_of_a_path_are_placed_in_the_lane_of_their_name(scene):
    stream = next(track for track in scene.ranks[1].tracks if track.role == "device")
    lane = scene.lane(stream.first)
    a, b = int(lane.start[0]) + scene.origin_ns, int(lane.finish[0]) + scene.origin_ns
    frame = pd.DataFrame(
        [
            {"rank": 1, "kind": "forward", "name": "gemm", "start_ns": a, "finish_ns": b},
            {"rank": 1, "kind": "wait", "name": "nothing", "start_ns": b, "finish_ns": b + 5},
        ]
    )
    path = placed(scene, frame)
    assert path.at.tolist() == [stream.first, NOWHERE]
    # Where the graph says in which track, a gap lies beside that track's work.
    known = placed(scene, frame.assign(track=stream.number, row=-1))
    assert known.at.tolist() == [stream.first, BESIDE - stream.first]
    assert path.lane.start.tolist() == [a - scene.origin_ns, b - scene.origin_ns]
