"""Model shapes that several tests need, from the numbers that their authors publish."""

from __future__ import annotations

import stepviz as sv

LLAMA_8B = sv.ModelShape(
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    ffn=14336,
    gated=True,
    vocab=128256,
    name="Llama-3-8B",
)
LLAMA_70B = sv.ModelShape(
    layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, gated=True, vocab=128256
)
LLAMA_405B = sv.ModelShape(
    layers=126, hidden=16384, heads=128, kv_heads=8, ffn=53248, gated=True, vocab=128256
)


def gpt(layers, hidden, heads, vocab, positions=0):
    """Make a plain GPT: learned positions, biases, a feed-forward of two matrices, 4·h wide."""
    vectors = layers * 13 * hidden + positions * hidden  # 4 norms' and 9 biases' worth of h
    return sv.ModelShape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        vocab=vocab,
        tied=True,
        other_parameters=vectors,
    )
