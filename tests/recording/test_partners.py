"""Sends and receives over gloo are told their other rank by the calls that made them."""

from __future__ import annotations

from stepviz.recording.partners import partners


def call(name, ts, other):
    return {"name": name, "ts": ts, "args": {"Concrete Inputs": ["", "", str(other), "0"]}}


def row(name, ts):
    return {"name": name, "ts": ts, "args": {}}


EVENTS = [
    row("gloo:recv", 31),
    call("c10d::send", 10, 2),
    call("c10d::recv_", 30, 0),
    row("gloo:send", 21),
    call("c10d::send", 20, 3),
    row("gloo:send", 11),
]


def test_the_kth_call_made_the_kth_row():
    assert partners({"traceEvents": EVENTS}) == {
        5: {"Dst Rank": 2},
        3: {"Dst Rank": 3},
        0: {"Src Rank": 0},
    }


def test_what_is_uncertain_is_left_out():
    lacking = [event for event in EVENTS if event["ts"] != 11]
    assert partners({"traceEvents": lacking}) == {0: {"Src Rank": 0}}
    unsaid = [{**event, "args": {}} for event in EVENTS]
    assert partners({"traceEvents": unsaid}) == {}
    assert partners({"traceEvents": EVENTS, "distributedInfo": {"pg_count": 2}}) == {}
