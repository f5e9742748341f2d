"""The length that attention is counted for: kept by a translation, and refused where it is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import stepviz as sv

LLAMA_8B = sv.ModelShape(
    layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
)
STEP = {"tokens_per_second": 8192, "peak": 989.5e12}
SEGMENTS = [2048] * 4


def test_packed_segments_translate_to_the_whole_row_and_back():
    packed = sv.mfu(LLAMA_8B, convention="packed", sequence=SEGMENTS, **STEP)
    assert packed.value == pytest.approx(0.3861, abs=5e-5)
    causal = sv.translate(packed, "packed", "causal")
    assert causal.value == pytest.approx(0.4261, abs=5e-5)
    palm = sv.translate(causal, "causal", "palm")
    assert palm.value == pytest.approx(0.5056, abs=5e-5)
    assert sv.translate(palm, "palm", "packed").value == packed.value
    bare = sv.translate(packed.value, "packed", "causal", shape=LLAMA_8B, sequence=SEGMENTS)
    assert bare == pytest.approx(causal.value, rel=1e-12)
    back = sv.translate(bare, "causal", "packed", shape=LLAMA_8B, sequence=SEGMENTS)
    assert back == pytest.approx(packed.value, rel=1e-12)


def test_segments_out_of_a_generator_are_read_once():
    found = sv.mfu(LLAMA_8B, convention="packed", sequence=iter(SEGMENTS), **STEP)
    assert found.sequence == (2048, 2048, 2048, 2048)
    assert sv.translate(found, "packed", "packed").value == found.value
    table = sv.mfu_table(LLAMA_8B, sequence=iter(SEGMENTS), **STEP)
    assert table.loc["packed", "mfu"] == found.value
    assert table.loc["causal", "mfu"] == pytest.approx(0.4261, abs=5e-5)


def test_one_length_of_an_array_library_is_a_length():
    right = sv.flops_per_token(LLAMA_8B, "causal", 8192)
    assert sv.flops_per_token(LLAMA_8B, "causal", np.array(8192)) == right
    of_torch = SimpleNamespace(ndim=0, item=lambda: 8192)
    assert sv.flops_per_token(LLAMA_8B, "causal", of_torch) == right


@pytest.mark.parametrize("sequence", ["8192", object(), 5j])
@pytest.mark.parametrize("convention", ["6N_all", "causal", "packed"])
def test_what_is_no_length_is_refused(convention, sequence):
    with pytest.raises(sv.ThroughputError, match=r"sequence is .*: give a length"):
        sv.mfu(LLAMA_8B, convention=convention, sequence=sequence, **STEP)
    with pytest.raises(sv.ThroughputError, match=r"sequence is .*: give a length"):
        sv.mfu_table(LLAMA_8B, sequence=sequence, **STEP)


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        (None, "no sequence to count attention for"),
        ([1, "a"], "a segment's length is 'a'"),
        (sv.TokenCounts(allocated=8), "counts of many rows"),
    ],
)
def test_a_table_needs_a_row(sequence, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.mfu_table(LLAMA_8B, sequence=sequence, **STEP)


@pytest.mark.parametrize("written", ["bf16", "bfloat16", "torch.bfloat16", "BF16"])
def test_a_precision_is_the_same_however_it_is_written(written):
    step = {**STEP, "peak": sv.peak("H100 SXM", "bf16"), "sequence": 8192}
    assert sv.mfu(LLAMA_8B, convention="causal", precision=written, **step).guards == ()
    with pytest.raises(sv.ThroughputError, match="there is no precision 'bf17'"):
        sv.mfu(LLAMA_8B, convention="causal", precision="bf17", **step)
    other = sv.mfu(LLAMA_8B, convention="causal", precision="float8_e4m3fn", **step)
    assert other.guards[0].startswith("the work ran in fp8 and the peak is of bf16")


@pytest.mark.parametrize("of", ["executed", "real", "allocated"])
def test_padding_shares_the_attention_of_packed_sequences(of):
    """FLOPs of an update: matrices for what the rate counts, attention for just Σ L²."""
    counts = sv.TokenCounts(
        allocated=16, real=10, executed=12, squared_lengths=4**2 + 6**2, scope="update", seconds=2
    )
    found = sv.mfu(
        LLAMA_8B, convention="packed", tokens_per_second=counts.rate(of), sequence=counts, peak=1e15
    )
    assert any("kernels ran over 12" in said for said in found.guards) == (of == "allocated")
    matrices = 6 * LLAMA_8B.matmul_parameters * getattr(counts, of)
    attention = 6 * 32 * 32 * 128 * (4**2 + 6**2)
    assert found.flops_per_second == pytest.approx((matrices + attention) / 2, rel=1e-12)
    bare = sv.mfu(LLAMA_8B, convention="packed", tokens_per_second=6, sequence=counts, peak=1e15)
    ran = 6 * LLAMA_8B.matmul_parameters * 12 + attention
    assert bare.flops_per_second == pytest.approx(ran / 2, rel=1e-12)
    there = sv.translate(found, "packed", "6N_all")
    assert sv.translate(there, "6N_all", "packed") == found
