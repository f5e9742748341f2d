"""The per-matmul count of a step: what the closed forms approximate, written out."""

from __future__ import annotations

from typing import Any

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import real
from stepviz.throughput.model_shapes import ModelShape


def matmuls(shape: ModelShape, sequence: float) -> pd.DataFrame:
    """Return every matrix multiplication of a token, forward and backward.

    Parameters
    ----------
    shape : ModelShape
    sequence : float
        Length of the sequences; attention is over all of it, without a causal mask, as
        `torch.utils.flop_counter` counts it.

    Returns
    -------
    DataFrame
        Indexed by matrix multiplication: `part`; `into` × `out`, the matrix; `times`, how many of
        its kind a token runs through; `parameters` that are stored; `forward` and `backward`,
        FLOP/token. Their sum is the convention `matmul`; with frozen weights and adapters, it is
        `lora` with attention over all keys.

    Examples
    --------
    >>> gpt2 = ModelShape(layers=12, hidden=768, heads=12, vocab=50257, tied=True)
    >>> table = matmuls(gpt2, 1024)
    >>> int(table[["forward", "backward"]].sum().sum()) * 1024
    874944921600
    """
    if not isinstance(shape, ModelShape):
        msg = f"give a ModelShape, not {type(shape).__name__}"
        raise ThroughputError(msg)
    length = real(sequence, "sequence", above=0)
    # gradients of frozen weights are not computed, those of what goes into them are
    backward = 1 if shape.lora_parameters else 2
    rows: list[dict[str, Any]] = []
    for weight in shape.weights:
        forward = 2.0 * weight.active_parameters
        rows.append(
            {
                "matmul": weight.name,
                "part": weight.part,
                "into": weight.into,
                "out": weight.out,
                "times": weight.active,
                "parameters": weight.parameters,
                "forward": forward,
                "backward": backward * forward,
            }
        )
    if shape.lora_parameters:
        forward = 2.0 * shape.lora_parameters
        rows.append(
            {
                "matmul": "adapters",
                "part": "adapters",
                "times": 1,
                "parameters": shape.lora_parameters,
                "forward": forward,
                "backward": 2 * forward,
            }
        )
    for name, width in (("scores", shape.head_dim), ("weighted values", shape.value_dim)):
        forward = 2.0 * shape.heads * width * shape.layers * length
        rows.append(
            {
                "matmul": name,
                "part": "attention",
                "into": width if name == "scores" else length,
                "out": length if name == "scores" else width,
                "times": shape.layers * shape.heads,
                "parameters": 0,
                "forward": forward,
                "backward": 2 * forward,
            }
        )
    return pd.DataFrame(rows).set_index("matmul")
