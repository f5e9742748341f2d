"""The parameters of GPT-2-124M, in registration order."""

from __future__ import annotations

WIDTH, LAYERS, VOCABULARY, POSITIONS = 768, 12, 50257, 1024


def shapes() -> list[tuple[str, tuple[int, ...]]]:
    d = WIDTH
    found: list[tuple[str, tuple[int, ...]]] = [("wte", (VOCABULARY, d)), ("wpe", (POSITIONS, d))]
    for layer in range(LAYERS):
        found += [
            (f"h{layer}.{name}", shape)
            for name, shape in [
                ("ln_1.weight", (d,)),
                ("ln_1.bias", (d,)),
                ("attn.weight", (d, 3 * d)),
                ("attn.bias", (3 * d,)),
                ("attn_proj.weight", (d, d)),
                ("attn_proj.bias", (d,)),
                ("ln_2.weight", (d,)),
                ("ln_2.bias", (d,)),
                ("fc.weight", (d, 4 * d)),
                ("fc.bias", (4 * d,)),
                ("mlp_proj.weight", (4 * d, d)),
                ("mlp_proj.bias", (d,)),
            ]
        ]
    return [*found, ("ln_f.weight", (d,)), ("ln_f.bias", (d,))]


def sizes() -> list[tuple[str, int]]:
    """(name, bytes) in float32."""
    found = []
    for name, shape in shapes():
        elements = 1
        for side in shape:
            elements *= side
        found.append((name, 4 * elements))
    return found
