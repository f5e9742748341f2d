"""Ratios that users met, with the cause that was found, and others beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.throughput.models import LLAMA_8B


def named(found):
    return " | ".join(found.candidates["cause"])


# reported, expected, what is known, part of the cause's name; each from the thread it is named for
THREADS = [
    (70_000, 17_712, {"accumulation": 4}, "accumulation of 4"),  # NeMo #12727
    (1, 8, {"accumulation": 8}, "accumulation of 8"),  # nanochat #175
    (1.5618, 0.195, {"cp": 8}, "context parallelism of 8"),  # NeMo-RL #1015
    (8.0, 1.0, {"tp": 8}, "tensor parallelism of 8"),  # torchtune #2622
    (3.0, 1.0, {"vpp": 3}, "virtual pipeline"),  # Megatron-Bridge #4750
    (0.8832, 0.1225, {"device": "B300"}, "peak of B300"),  # OLMo-core #817
    (1.0570, 0.1466, {"device": "B300"}, "peak of B300"),
    (3.17, 1.0, {"device": "H200"}, "peak of H200 SXM"),
    (2.99, 1.0, {"device": "L40S"}, "peak of L40S"),  # Lightning's 'l4'
    (1.5, 1.0, {"device": "L40"}, "peak of L40"),
    (0.5687, 0.4265, {"convention": "causal"}, "recomputation counted"),  # 4/3
    (0.6675, 1.0, {"convention": "causal"}, "frozen weights"),  # Automodel #786
    (0.4245 / 2, 0.4245, {"peak": 1979e12}, "sparse peak"),  # Megatron-LM #1565
    (1000, 1, {}, "ms for s"),  # DeepSpeed #2090
    (1.009, 0.5045, {"device": "GB300", "precision": "fp8"}, "precision"),
    (512 / 511, 1, {"sequence": 512}, "unshifted labels"),  # transformers #46204
    (4 / 3, 1, {"padding": 0.25}, "padding"),  # transformers #29889
    (1.0417, 1, {"step_seconds": [1.0, 1.5]}, "mean of rates"),  # xtuner #977
]


@pytest.mark.parametrize(("reported", "expected", "setup", "cause"), THREADS)
def test_the_cause_that_was_found_is_among_the_candidates(reported, expected, setup, cause):
    near = 0.001 if cause == "unshifted labels" else 0.02
    found = sv.diagnose(reported=reported, expected=expected, setup=setup, tolerance=near)
    assert cause in named(found)
    assert (found.candidates["confirm"] != "").all()
    assert (found.candidates["evidence"] != "").all()


def test_no_cause_is_ever_certain():
    found = sv.diagnose(reported=8, expected=1, setup={"accumulation": 8, "tp": 8})
    causes = named(found)
    assert "accumulation of 8" in causes
    assert "tensor parallelism of 8" in causes
    assert "proves none" in found.words
    alone = sv.diagnose(reported=8, expected=1, setup={"accumulation": 8})
    assert "proves none" in alone.words
    assert len(alone.candidates) > 1


@given(st.integers(2, 64), st.integers(2, 64), st.floats(1e-3, 1e6), st.sampled_from(["dp", "tp"]))
def test_a_size_of_the_setup_is_found_wherever_it_was_lost(size, other, right, key):
    setup = {"accumulation": size, key: other}
    for reported in (right * size, right / size):
        found = sv.diagnose(reported=reported, expected=right, setup=setup)
        assert f"accumulation of {size}" in named(found)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_every_candidate_is_near_the_ratio(reported, expected):
    found = sv.diagnose(reported=reported, expected=expected, setup={"accumulation": 4, "dp": 8})
    assert found.ratio == reported / expected
    assert (found.candidates["off"] <= 0.02).all()
    off = (found.candidates["factor"] / found.ratio - 1).abs()
    assert off.tolist() == pytest.approx(found.candidates["off"].tolist())


def test_two_causes_together_are_named_where_none_fits_alone():
    found = sv.diagnose(reported=4.0, expected=1.0, setup={"accumulation": 8, "convention": "palm"})
    first = found.candidates.iloc[0]
    assert first["cause"] == "accumulation of 8 and sparse peak"
    assert first["factor"] == 4.0


def test_with_a_model_conventions_are_told_apart_exactly():
    setup = {"shape": LLAMA_8B, "sequence": 8192, "convention": "causal"}
    found = sv.diagnose(reported=0.5056, expected=0.4261, setup=setup, tolerance=0.001)
    assert named(found) == "FLOP convention palm"


def test_a_mixture_counted_dense():
    # torchtitan #4300: 5.13 with attention; by parameters alone it is more
    shape = sv.ModelShape(
        layers=2, hidden=64, heads=4, vocab=10, experts=16, top_k=2, expert_ffn=400
    )
    ratio = shape.parameters / shape.active_parameters
    found = sv.diagnose(reported=ratio, expected=1.0, setup={"shape": shape, "sequence": 64})
    assert "mixture counted dense" in named(found)


def test_numbers_that_agree_have_no_cause():
    found = sv.diagnose(reported=0.401, expected=0.40)
    assert found.candidates.empty
    assert "they agree" in found.words


def test_low_mfu_does_not_prove_missing_overlap():
    found = sv.diagnose(reported=0.2, setup={"convention": "causal"})
    assert "does not prove that communication or input failed to overlap" in found.does_not_prove
    assert "wrong denominator" in found.words
    assert sv.diagnose(reported=20_000.0, expected=10_000.0).does_not_prove == ""


COUNTS = sv.TokenCounts(allocated=64, real=64, scored=60, sequences=4, squared_lengths=1024)


@pytest.mark.parametrize(
    ("reported", "setup", "guard"),
    [
        (1.56, {"device": "H100 SXM"}, "cannot be reached"),
        (0.2, {"peak": 1979e12}, "the sparse bf16 figure of H100 SXM, and its dense fp8 peak"),
        (
            0.9,
            {"peak": sv.peak("GB300", "bf16"), "precision": "fp8"},
            "runs in fp8 and the peak is of bf16",
        ),
        (0.3, {"tokens": "scored", "convention": "causal"}, "counts scored positions"),
        (2.0, {"counts": COUNTS, "denominator": 64}, "labels before the shift"),
        (
            0.3,
            {"counts": COUNTS, "convention": "causal", "sequence": 64},
            "'packed' counts that",
        ),
    ],
)
def test_guards(reported, setup, guard):
    found = sv.diagnose(reported=reported, setup=setup)
    assert found.ratio is None
    assert any(guard in said for said in found.guards)


def test_conventions_and_numerators_that_do_not_match_are_said():
    run = {"tokens_per_second": 8192, "sequence": 8192, "peak": 989.5e12}
    palm, causal = (sv.mfu(LLAMA_8B, convention=c, **run) for c in ("palm", "causal"))
    assert "translate() one" in sv.diagnose(reported=palm, expected=causal).guards[0]
    counts = sv.TokenCounts(allocated=8, scored=2, seconds=1.0)
    found = sv.diagnose(reported=counts.rate("allocated"), expected=counts.rate("scored"))
    assert "two quantities" in found.guards[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reported": 1, "expected": 1, "setup": {"acumulation": 8}}, "'accumulation'"),
        ({"reported": "a", "expected": 1}, "reported is 'a'"),
        ({"reported": 1, "expected": 0}, "needs both above 0"),
        ({"reported": 1, "setup": {"padding": 1.0}}, "no position is real"),
        ({"reported": 1, "setup": {"device": "H101"}}, "no peak is known"),
        ({"reported": 1, "setup": {"convention": "plam"}}, "'palm'"),
    ],
)
def test_what_cannot_be_diagnosed_is_refused(arguments, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.diagnose(**arguments)


def test_a_diagnosis_shows_what_would_confirm_each():
    shown = sv.diagnose(reported=8, expected=1, setup={"accumulation": 8})._repr_html_()
    assert "accumulation of 8 ×8" in shown
    assert "NeMo #12727" in shown


def test_a_mixture_is_a_candidate_where_no_model_is_given():
    # torchtitan #4300: 192,856,412,160 for 37,578,559,488 FLOP/token
    found = sv.diagnose(reported=192_856_412_160, expected=37_578_559_488)
    assert "mixture counted dense, if 1 of 5.13 parameters is active" in named(found)
    assert "mixture" not in named(sv.diagnose(reported=1, expected=5.13))


def test_a_bare_fraction_may_be_a_utilization():
    assert "does not prove" in sv.diagnose(reported=0.2, expected=0.4).does_not_prove
    over = sv.diagnose(reported=1.5618, expected=0.195, setup={"cp": 8})
    assert over.guards[0].startswith("If this is a utilization: 156.18 % of a peak")
    assert sv.diagnose(reported=1.5, expected=3.0).guards == ()


def test_quantities_that_differ_are_refused_and_their_devices_named():
    counts = sv.TokenCounts(allocated=8, scored=2, seconds=1.0)
    rate = counts.rate("allocated")
    run = {"tokens_per_second": 8192, "sequence": 8192, "peak": 989.5e12}
    with pytest.raises(sv.ThroughputError, match="two quantities"):
        sv.diagnose(reported=rate, expected=sv.mfu(LLAMA_8B, convention="palm", **run))
    found = sv.diagnose(reported=rate, expected=rate.per_device(8), setup={"world": 8})
    assert found.guards == ("Reported is the rate of all devices, expected that of one device.",)
    assert "world size of 8" in named(found)


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        (5, "setup is 5: give a dict"),
        ({"counts": 5}, "counts is 5: give a TokenCounts"),
        ({"shape": 7e9}, "give a ModelShape"),
        ({"step_seconds": 5}, "step_seconds is 5: give a list"),
        ({"precision": "bf17"}, "there is no precision 'bf17'"),
        ({"tokens": "all"}, "a rate of 'all' is unknown"),
        ({"denominator": "x"}, "denominator is 'x'"),
        ({"sequence": "x"}, "sequence is 'x'"),
        ({"recompute": "yes"}, "give True or False"),
    ],
)
def test_what_is_no_setup_is_refused(setup, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.diagnose(reported=5, expected=2, setup=setup)


def test_a_precision_may_be_written_as_torch_does():
    setup = {"device": "GB300", "precision": "float8_e4m3fn"}
    assert "precision" in named(sv.diagnose(reported=1.009, expected=0.5045, setup=setup))


QWEN3_30B = sv.ModelShape.from_config(
    {"model_type": "qwen3_moe", "num_hidden_layers": 48, "num_attention_heads": 32}
    | {"hidden_size": 2048, "vocab_size": 151936, "head_dim": 128, "num_key_value_heads": 4}
    | {"moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8}
)


def test_a_mixture_counted_dense_is_told_with_attention():
    # torchtitan #4300: 37,578,559,488 FLOPs per token at 8,192
    right = float(sv.flops_per_token(QWEN3_30B, "titan", 8192))
    assert right == pytest.approx(37_578_559_488, rel=2e-4)
    idle = 48 * (128 - 8) * 3 * 2048 * 768  # weights of the experts that a token does not meet
    setup = {"shape": QWEN3_30B, "convention": "titan", "sequence": 8192}
    ratio = (right + 6 * idle) / right
    found = sv.diagnose(reported=0.15 * ratio, expected=0.15, setup=setup)
    assert found.candidates["cause"].iloc[0] == "mixture counted dense under titan"
    assert found.candidates["factor"].iloc[0] == pytest.approx(ratio, rel=1e-12)
    # Without a length, by parameters alone.
    del setup["sequence"]
    ratio = QWEN3_30B.parameters / QWEN3_30B.active_parameters
    found = sv.diagnose(reported=0.1 * ratio, expected=0.1, setup=setup)
    assert found.candidates["cause"].iloc[0] == "mixture counted dense, by parameters"
    # 6N of all parameters is dense by its own words.
    every = {**setup, "convention": "6N_all"}
    found = sv.diagnose(reported=0.1 * ratio, expected=0.1, setup=every)
    assert not found.candidates["cause"].str.startswith("mixture").any()


def test_a_number_of_which_nothing_is_odd_is_said_to_be_so():
    assert repr(sv.diagnose(reported=1.2)).startswith("Nothing about this number alone is odd;")
