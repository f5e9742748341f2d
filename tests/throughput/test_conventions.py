"""FLOPs per token under every convention, against figures that their own code or papers print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.throughput.models import LLAMA_8B, LLAMA_70B, LLAMA_405B, gpt

# Llama-3-8B, 8192 tokens/s per GPU, sequence 8192, peak 989.5e12: GFLOP/token and MFU in percent
ONE_STEP = {
    "lora": (36.461, 30.19),
    "6N_noemb": (45.030, 37.28),
    "6N_all": (48.182, 39.89),
    "causal": (51.470, 42.61),
    "titan": (57.914, 47.95),
    "palm": (61.066, 50.56),
    "hfu_full": (68.627, 56.82),
}
EVERY = list(sv.conventions().index)


@pytest.mark.parametrize(("convention", "right"), ONE_STEP.items())
def test_one_step_under_each_convention(convention, right):
    found = sv.mfu(
        LLAMA_8B, convention=convention, tokens_per_second=8192, sequence=8192, peak=989.5e12
    )
    assert found.flops_per_token / 1e9 == pytest.approx(right[0], abs=0.001)
    assert 100 * found.value == pytest.approx(right[1], abs=0.005)
    assert found.convention == convention


def test_one_step_packed_of_four_segments():
    found = sv.mfu(
        LLAMA_8B,
        convention="packed",
        tokens_per_second=8192,
        sequence=[2048] * 4,
        peak=989.5e12,
    )
    assert found.flops_per_token / 1e9 == pytest.approx(46.639, abs=0.001)
    assert 100 * found.value == pytest.approx(38.61, abs=0.005)


def test_the_issue_names_these_conventions():
    asked = (
        "palm titan causal llmc fa window packed moe lora hfu_full hfu_selective meg21 6N_all "
        "6N_noemb"
    )
    assert set(asked.split()) <= set(EVERY)


# Megatron-Bridge docs/performance-summary.md: GFLOP/token of `causal` at 8192
@pytest.mark.parametrize(
    ("shape", "gigaflops"),
    [(LLAMA_8B, 51.470), (LLAMA_70B, 449.223), (LLAMA_405B, 2523.956)],
)
def test_causal_is_what_megatron_bridge_reports(shape, gigaflops):
    found = sv.flops_per_token(shape, "causal", 8192)
    assert found / 1e9 == pytest.approx(gigaflops, abs=0.001)


# the same page: tokens/s/GPU → TFLOP/s/GPU, rounded there
@pytest.mark.parametrize(
    ("shape", "rates"),
    [
        (LLAMA_8B, [(14451, 744), (37556, 1933), (31508, 1622), (30624, 1576), (14079, 725)]),
        (LLAMA_70B, [(1602, 719), (4520, 2030), (4312, 1937), (1619, 727)]),
        (LLAMA_405B, [(326, 822), (292, 737), (999, 2522), (813, 2053), (302, 763)]),
    ],
)
def test_rates_of_megatron_bridge(shape, rates):
    per_token = sv.flops_per_token(shape, "causal", 8192)
    for tokens, teraflops in rates:
        assert tokens * per_token / 1e12 == pytest.approx(teraflops, rel=0.0015)


# NeMo tests/utils/test_flops_formulas.py: 1 sequence of 128, h 768, L 12, ffn 3072, 12 heads; each
# family with the vocabulary that NeMo hard-codes for it
NEMO = {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072}


@pytest.mark.parametrize(
    ("family", "convention", "flops"),
    [
        ({"vocab": 51200}, "causal", 96_334_774_272),
        ({"vocab": 32000, "gated": True}, "causal", 106_753_425_408),
        ({"vocab": 128256, "gated": True}, "causal", 163_527_524_352),
        ({"vocab": 256000}, "causal", 217_130_729_472),
        (
            {"vocab": 32000, "gated": True, "experts": 8, "top_k": 2},
            "moe_norouter",
            171_983_241_216,
        ),
    ],
    ids=["gpt3", "llama2", "llama3", "nemotron", "mixtral"],
)
def test_formulas_of_nemo(family, convention, flops):
    shape = sv.ModelShape(**NEMO, **family)
    assert 128 * sv.flops_per_token(shape, convention, 128) == flops


def test_maxtext_before_and_after_it_went_causal():
    # MaxText #1988: Llama-2-7B, 4 sequences per device, TFLOP
    shape = sv.ModelShape(layers=32, hidden=4096, heads=32, ffn=11008, gated=True, vocab=32000)
    for length, before, after in ((8192, 1721.22, 1510.11), (129024, 125194.40, 72826.86)):
        scale = 4 * length / 1e12
        assert scale * sv.flops_per_token(shape, "matmul", length) == pytest.approx(
            before, rel=1e-4
        )
        assert scale * sv.flops_per_token(shape, "causal", length) == pytest.approx(after, rel=1e-4)


def test_nanogpt_sizing_notebook():
    # one sequence of 1024 through GPT-2 without biases: PaLM's form and the per-matmul one
    shape = sv.ModelShape(
        layers=12, hidden=768, heads=12, vocab=50257, tied=True, other_parameters=25 * 768
    )
    assert 1024 * sv.flops_per_token(shape, "palm", 1024) == 875_062_886_400
    assert 1024 * sv.flops_per_token(shape, "matmul", 1024) == 874_944_921_600


def test_nanochat_d20():
    shape = sv.ModelShape(layers=20, hidden=1280, heads=10, vocab=65536)
    assert sv.flops_per_token(shape, "window", 2048) == 3_491_758_080
    # 529,882 tokens/s on 8 × A100: nanochat #147
    found = sv.mfu(
        shape,
        convention="window",
        tokens_per_second=529_882,
        sequence=2048,
        peak=sv.peak("A100", "bf16"),
        devices=8,
    )
    assert 100 * found.value == pytest.approx(74.13, abs=0.01)


def test_qwen3_mixture_counted_dense_and_right():
    # torchtitan #4300: 192,856,412,160 and 37,578,559,488 FLOP/token, ratio 5.13
    shape = sv.ModelShape.from_config(
        {
            "model_type": "qwen3_moe",
            "num_hidden_layers": 48,
            "hidden_size": 2048,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "intermediate_size": 6144,
            "moe_intermediate_size": 768,
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "vocab_size": 151936,
            "tie_word_embeddings": False,
        }
    )
    dense = sv.flops_per_token(shape, "palm", 4096)
    right = sv.flops_per_token(shape, "titan", 8192)
    assert (dense, right) == (192_856_412_160, 37_578_559_488)
    found = sv.mfu(shape, convention="palm", tokens_per_second=1, sequence=4096, peak=1e15)
    assert "counts all 128 experts" in found.guards[0]


@pytest.mark.parametrize(
    ("layers", "experts", "full", "windowed"),
    [
        (36, 128, 38_044_854_144, 34_534_221_696),
        (24, 32, 26_481_681_792, 24_141_260_160),
    ],
    ids=["gpt_oss 120b", "gpt_oss 20b"],
)
def test_sliding_windows_of_gpt_oss(layers, experts, full, windowed):
    # torchtitan #4300, before and after; sequence 4096
    shape = sv.ModelShape.from_config(
        {
            "model_type": "gpt_oss",
            "num_hidden_layers": layers,
            "hidden_size": 2880,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "head_dim": 64,
            "intermediate_size": 2880,
            "num_local_experts": experts,
            "num_experts_per_tok": 4,
            "vocab_size": 201088,
            "sliding_window": 128,
        }
    )
    assert sv.flops_per_token(shape, "titan", 4096) == full
    assert sv.flops_per_token(shape, "titan_window", 4096) == windowed


def test_frozen_70b_is_two_thirds():
    # Megatron-Bridge, LoRA on H100: 278.1 GFLOP/token of matrices, 2/3 of 417.0
    frozen = 4 * LLAMA_70B.matmul_parameters / 1e9
    assert frozen == pytest.approx(278.1, rel=0.001)
    assert sv.flops_per_token(LLAMA_70B, "lora", 1e-9) / 1e9 == pytest.approx(frozen)


# What every implementation must satisfy, whatever the shape
@st.composite
def shapes(draw):
    kv = draw(st.integers(1, 4))
    heads = kv * draw(st.integers(1, 4))
    experts = draw(st.sampled_from([0, 0, 4, 8]))
    layers = draw(st.integers(1, 6))
    return sv.ModelShape(
        layers=layers,
        hidden=draw(st.integers(1, 8)) * 16,
        heads=heads,
        kv_heads=kv,
        head_dim=draw(st.sampled_from([8, 16])),
        ffn=draw(st.integers(1, 200)),
        gated=draw(st.booleans()),
        tied=draw(st.booleans()),
        vocab=draw(st.integers(1, 500)),
        experts=experts,
        top_k=draw(st.integers(1, experts)) if experts else 0,
        moe_layers=draw(st.integers(1, layers)) if experts else -1,
    )


@given(shapes(), st.integers(1, 5000))
def test_causal_is_least_and_all_keys_most(shape, length):
    causal, fa, full = (
        sv.flops_per_token(shape, convention, length) for convention in ("causal", "fa", "matmul")
    )
    assert causal <= fa <= full


@given(shapes(), st.integers(1, 5000))
def test_one_packed_segment_is_causal(shape, length):
    causal = sv.flops_per_token(shape, "causal", length)
    assert sv.flops_per_token(shape, "packed", [length]) == causal
    counts = sv.TokenCounts(real=length, squared_lengths=length**2)
    assert sv.flops_per_token(shape, "packed", counts) == causal


@given(shapes(), st.lists(st.integers(1, 900), min_size=1, max_size=6))
def test_packed_never_costs_more_than_one_sequence(shape, segments):
    packed = sv.flops_per_token(shape, "packed", segments)
    assert packed <= sv.flops_per_token(shape, "causal", sum(segments))


@given(shapes(), st.integers(1, 5000))
def test_full_recomputation_is_four_thirds(shape, length):
    causal = sv.flops_per_token(shape, "causal", length)
    assert sv.flops_per_token(shape, "hfu_full", length) == pytest.approx(4 / 3 * causal)


@given(shapes(), st.integers(1, 5000))
def test_no_adapter_is_two_thirds_of_the_matrices(shape, length):
    attention = 1.5 * shape.attention_flops(length)
    matrices = sv.flops_per_token(shape, "causal", length) - attention
    lora = sv.flops_per_token(shape.with_lora(0), "lora", length)
    assert lora - attention == pytest.approx(2 / 3 * matrices)


@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 300), st.booleans())
def test_all_experts_active_is_a_dense_model(layers, experts, width, gated):
    plain = {"layers": layers, "hidden": 32, "heads": 4, "vocab": 10, "gated": gated}
    mixture = sv.ModelShape(**plain, experts=experts, top_k=experts, expert_ffn=width)
    dense = sv.ModelShape(**plain, ffn=experts * width)
    found = sv.flops_per_token(mixture, "moe_norouter", 64)
    assert found == sv.flops_per_token(dense, "causal", 64)
    assert mixture.active_parameters == mixture.parameters


@given(shapes(), st.integers(1, 300), st.integers(1, 300))
def test_a_window_counts_its_keys_and_no_more(shape, length, window):
    from dataclasses import replace

    windowed = replace(shape, windows=window)
    as_short = sv.flops_per_token(shape, "window", min(length, window))
    assert sv.flops_per_token(windowed, "window", length) == as_short


@given(shapes(), st.sampled_from(EVERY), st.sampled_from(EVERY), st.integers(1, 5000))
def test_translation_goes_to_and_fro_without_loss(shape, first, second, length):
    found = sv.mfu(shape, convention=first, tokens_per_second=3e5, sequence=length, peak=1e12)
    there = sv.translate(found, first, second)
    assert there.convention == second
    assert sv.translate(there, second, first) == found
    bare = sv.translate(found.value, first, second, shape=shape, sequence=length)
    assert bare == pytest.approx(there.value, rel=1e-12)
    back = sv.translate(bare, second, first, shape=shape, sequence=length)
    assert back == pytest.approx(found.value, rel=1e-12)


@given(shapes(), st.integers(1, 5000), st.integers(1, 64))
def test_utilization_scales_as_it_must(shape, length, devices):
    one = sv.mfu(shape, convention="causal", tokens_per_second=1e4, sequence=length, peak=1e12)
    many = sv.mfu(
        shape,
        convention="causal",
        tokens_per_second=1e4 * devices,
        sequence=length,
        peak=1e12,
        devices=devices,
    )
    assert many.value == pytest.approx(one.value)


def test_megatron_2021_says_hfu_where_the_model_share_is_less():
    # Narayanan et al. 2021, table 1, the trillion row: 52 % of peak is 39 % MFU
    shape = gpt(128, 25600, 160, 51200, 2048)
    hfu = 163 / 312
    found = sv.translate(hfu, "meg21", "matmul", shape=shape, sequence=2048)
    assert 100 * found == pytest.approx(39.2, abs=0.1)


def test_a_formula_of_plain_blocks_says_so_of_others():
    found = sv.mfu(
        LLAMA_8B, convention="meg21", tokens_per_second=8192, sequence=8192, peak=989.5e12
    )
    assert "12·h² weights" in found.guards[0]
    assert found.kind == "HFU"


def test_a_bare_number_of_parameters_is_enough_for_six_n():
    assert sv.flops_per_token(7e9, "6N_all") == 4.2e10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LLAMA_8B, "plam", 8192), "did you mean 'palm'"),
        ((LLAMA_8B, "causal", [2048, 2048]), "convention='packed'"),
        ((LLAMA_8B, "causal", None), "give sequence="),
        ((LLAMA_8B, "causal", 0), "sequence is 0"),
        ((LLAMA_8B, "packed", []), "hold no position"),
        ((LLAMA_8B, "packed", sv.TokenCounts(allocated=8)), "know no lengths"),
        ((7e9, "causal", 8192), "is a function of a ModelShape"),
    ],
)
def test_what_has_no_flops_is_refused(arguments, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.flops_per_token(*arguments)


def test_the_per_matmul_list_adds_up_to_the_closed_form():
    table = sv.matmuls(LLAMA_8B, 8192)
    total = table[["forward", "backward"]].to_numpy().sum()
    assert total == sv.flops_per_token(LLAMA_8B, "matmul", 8192)
    assert int(table["parameters"].sum()) == LLAMA_8B.matmul_parameters == 7_504_658_432


def test_what_cannot_be_is_said_at_once():
    """A peak in TFLOP/s makes a utilization of many millions."""
    used = sv.mfu(7e9, convention="6N_all", tokens_per_second=1e4, peak=989)
    assert repr(used).endswith("% MFU (6N_all), which cannot be: see .guards")
