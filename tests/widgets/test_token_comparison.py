"""The token comparison's Python side: settings, own batches, refusals, what the page is told."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

import stepviz as sv
from stepviz.throughput.packing_cases import slider_case
from tests.throughput.by_hand import LESSON

OWN = {
    "input_ids": [[5, 6, 7, 8, 0, 0], [9, 10, 0, 0, 0, 0], [11, 12, 13, 0, 0, 0]],
    "attention_mask": [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]],
    "labels": [
        [-100, -100, 7, 8, -100, -100],
        [-100, 10] + [-100] * 4,
        [-100, 12, 13] + [-100] * 3,
    ],
}


def rows(widget):
    return {row["name"]: row for row in widget._shown["picture"]["rows"]}


def test_it_opens_with_the_lesson():
    tokens = sv.TokenComparison()
    shown = rows(tokens)
    assert shown["processed positions per second"]["beforeText"] == "2,000"
    assert shown["processed positions per second"]["change"] == "unchanged"
    assert shown["scored targets per second"]["beforeText"] == "500"
    assert shown["scored targets per second"]["afterText"] == "667"
    assert shown["time per update"]["afterText"] == "3 ms"
    headline = tokens._shown["picture"]["headline"]
    assert "2,000 before and after, unchanged" in headline
    assert "from 500 to 667" in headline
    assert tokens.batches == (LESSON["padded"], LESSON["packed"])


def test_the_losses_stand_beside_it():
    (first, means, ranks, unshifted) = sv.TokenComparison()._shown["picture"]["losses"]["rows"][:4]
    assert (first["value"], first["quotient"]) == (22 / 9, "22 ÷ 9")
    assert means["value"] == 3.5
    assert ranks["value"] == pytest.approx(2.4)
    assert (unshifted["value"], unshifted["quotient"]) == (22 / 13, "22 ÷ 13")


def test_every_convention_is_shown_with_the_numbers_of_throughput():
    tokens = sv.TokenComparison(padding=0.5, length=8, packing=3, sequences=4)
    case = slider_case(padding=0.5, length=8, packing=3, sequences=4)
    expected = case.compared().table
    shown = rows(tokens)
    for name, row in expected.iterrows():
        assert (shown[name]["before"], shown[name]["after"]) == (row["before"], row["after"])
    assert {
        f"{kind} ({name})"
        for name, kind in zip(
            sv.conventions().index,
            ["HFU" if hardware else "MFU" for hardware in sv.conventions()["hardware"]],
            strict=True,
        )
    } < set(shown)
    assert len(tokens.table) == len(shown)


def test_settings_given_in_part_keep_the_rest_and_are_observed():
    tokens = sv.TokenComparison()
    seen = []
    tokens.observe(lambda change: seen.append(change["new"]["accumulation"]), names="value")
    tokens.value = {"accumulation": 8}
    assert tokens.value["packing"] == 2
    assert seen == [8]
    assert [c.microbatches for c in tokens.counts] == [8, 8]
    assert "8 times too high" in tokens._shown["picture"]["trap"]


def test_kernels_that_skip_padding_gain_nothing():
    tokens = sv.TokenComparison(skips_padding=True)
    assert rows(tokens)["time per update"]["change"] == "unchanged"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"padding": 40}, "padding is 40, and a fraction is at most 1: 40 % is 0.4"),
        ({"paddign": 0.4}, "did you mean 'padding'"),
        ({"sequences": 0}, "sequences is 0: give a whole number of 1 or more"),
        ({"sequences": 1000}, "at most 64 can be drawn here"),
        ({"skips_padding": "no"}, "give True or False"),
        ([1], "give a mapping from settings to their values"),
    ],
)
def test_settings_without_meaning_are_refused_and_the_old_ones_stay(settings, words):
    tokens = sv.TokenComparison()
    before = dict(tokens.value)
    with pytest.raises(sv.ThroughputError, match=words):
        tokens.value = settings
    assert tokens.value == before
    assert tokens._shown["value"] == before
    # the same from the page is answered, not raised
    tokens.set_state({"value": settings})
    assert words in tokens._shown["problem"]
    assert tokens.value == before
    tokens.set_state({"value": before})
    assert tokens._shown["picture"]["rows"]


def test_unknown_arguments_are_refused_with_near_names():
    with pytest.raises(TypeError, match="no argument 'secnds' here: did you mean 'seconds'"):
        sv.TokenComparison(OWN, secnds=0.01)
    with pytest.raises(TypeError, match="no argument 'padding' here"):
        sv.TokenComparison(OWN, padding=0.1)


def test_a_batch_of_ones_own_with_its_time():
    tokens = sv.TokenComparison(OWN, seconds=0.009, packing=3)
    before, after = tokens.counts
    assert (before.allocated, before.real, before.scored) == (18, 9, 5)
    assert before.ms_per_update == pytest.approx(9)
    assert (after.allocated, after.scored) == (9, 5)
    assert after.ms_per_update == pytest.approx(4.5)
    assert tokens.batches[1]["input_ids"] == [[5, 6, 7, 8, 9, 10, 11, 12, 13]]
    # skipping padding, the measured time stays what was measured
    tokens.value = {"skips_padding": True}
    assert [c.ms_per_update for c in tokens.counts] == pytest.approx([9, 9])


def test_two_measured_layouts():
    tokens = sv.TokenComparison(
        LESSON["padded"], seconds=0.004, after=LESSON["packed"], after_seconds=0.0035
    )
    assert [c.ms_per_update for c in tokens.counts] == [4, 3.5]
    assert set(tokens.value) == {"accumulation", "skips_padding"}
    with pytest.raises(sv.ThroughputError, match="compared by their measured times"):
        sv.TokenComparison(LESSON["padded"], seconds=0.004, after=LESSON["packed"])
    with pytest.raises(sv.ThroughputError, match="there is no batch that these seconds belong to"):
        sv.TokenComparison(seconds=0.004)


def test_another_batch_is_loaded_in_place():
    tokens = sv.TokenComparison(accumulation=4)
    edition = tokens._shown["edition"]
    tokens.load(OWN, seconds=0.009)
    assert tokens._shown["edition"] > edition
    assert tokens.value == {"packing": 2, "accumulation": 4, "skips_padding": False}
    assert [knob["name"] for knob in tokens._form] == ["packing", "accumulation", "skips_padding"]
    with pytest.raises(sv.ThroughputError, match="no tokens to count"):
        tokens.load({"text": ["a"]})
    assert tokens.counts[0].allocated == 72
    tokens.load()
    assert "padding" in tokens.value


def test_a_track_holds_what_each_stop_would_show():
    tokens = sv.TokenComparison()
    sent = []
    tokens.send = sent.append
    tokens._asked(None, {"ask": "track", "id": "1", "knob": "padding", "value": tokens.value}, None)
    (answer,) = sent
    assert answer["id"] == "1"
    assert [value["padding"] for value, _ in answer["pictures"]] == [0, 0.25, 0.5, 0.75]
    for value, picture in answer["pictures"]:
        there = sv.TokenComparison(**value)
        assert picture == there._shown["picture"]
    json.dumps(answer, allow_nan=False)


def test_a_question_without_meaning_is_answered():
    tokens = sv.TokenComparison()
    sent = []
    tokens.send = sent.append
    tokens._asked(None, {"ask": "track", "id": "1", "knob": "padding", "value": {"x": 1}}, None)
    assert "there is no setting 'x'" in sent[0]["error"]
    tokens._asked(None, {"ask": "track", "id": "2", "knob": "x", "value": tokens.value}, None)
    assert "error" in sent[1]
    tokens._asked(None, "?", None)
    assert len(sent) == 2


def test_what_is_shown_is_plain_json_and_small():
    big = {"input_ids": [[1] * 4096] * 256, "attention_mask": [[1] * 3000 + [0] * 1096] * 256}
    shown = sv.TokenComparison(big)._shown
    assert len(json.dumps(shown, allow_nan=False)) < 60_000
    assert shown["picture"]["sides"][0]["hidden"] == 232


def test_it_says_what_it_is_without_a_page():
    tokens = sv.TokenComparison()
    assert "2,000 before and after, unchanged" in repr(tokens)
    assert "from 500 to 667" in tokens._repr_html_()


def test_it_is_freed_when_closed():
    tokens = sv.TokenComparison()
    ref = weakref.ref(tokens)
    tokens.close()
    del tokens
    gc.collect()
    assert ref() is None
