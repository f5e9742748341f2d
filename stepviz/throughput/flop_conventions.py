"""FLOPs per token, forward and backward, as the field counts them: a catalogue of conventions.

Each is a small function of one model description and a length; none is right for all purposes, so
a number without the name of its convention says nothing. `L` layers, `H` heads, `Q` width of a
head, `T` sequence length, `h` hidden, `V` vocab, `N` parameters, `N_matmul` weights that a token
is multiplied with. 12·L·H·Q·T, all keys, is written 6·L·H·(Q_key + Q_value)·T, which is the same
where both widths are, and right where they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

import pandas as pd

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import real
from stepviz.throughput.figures import Quantity
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.sequence_lengths import NO_LENGTH, length_for


@dataclass(frozen=True)
class Convention:
    """One way to count.

    Parameters
    ----------
    name : str
        Its id.
    formula : str
        FLOPs per token, forward and backward.
    includes : str
        What is in it and what is not.
    source : str
        Who counts like that.
    count : callable
        FLOPs per token of a shape at a length.
    hardware : bool
        Whether recomputation is counted, so that the quotient is a hardware utilization (HFU).
    """

    name: str
    formula: str
    includes: str
    source: str
    count: Callable[[ModelShape, float], float]
    hardware: bool = False


def _matrices(shape: ModelShape) -> float:
    return 6.0 * shape.active_matmul_parameters


def _no_router(shape: ModelShape) -> float:
    routers = sum(w.active_parameters for w in shape.weights if w.part == "router")
    return 6.0 * (shape.active_matmul_parameters - routers)


def _without_table(shape: ModelShape, parameters: int) -> int:
    """Leave the embedding table out, unless it serves as the head."""
    return parameters if shape.tied else parameters - shape.embedding_parameters


def _titan(shape: ModelShape, t: float, *, windowed: bool = False) -> float:
    counted = 6.0 * _without_table(shape, shape.active_parameters)
    return counted + 3 * shape.attention_flops(t, windowed=windowed)


def _causal(shape: ModelShape, t: float) -> float:
    return _matrices(shape) + 1.5 * shape.attention_flops(t)


def _adapted(shape: ModelShape, t: float) -> float:
    matrices = 4.0 * shape.active_matmul_parameters + 6.0 * shape.lora_parameters
    return matrices + 1.5 * shape.attention_flops(t)


def _of_blocks(shape: ModelShape, factor: float, attention: float, logits: float) -> float:
    """Write a paper's form: factor·L·h²·(1 + attention + logits)."""
    return factor * shape.layers * shape.hidden**2 * (1 + attention + logits)


def _selective(s: ModelShape, t: float) -> float:
    return _of_blocks(s, 72, t / (3 * s.hidden), s.vocab / (12 * s.hidden * s.layers))


def _megatron_2021(s: ModelShape, t: float) -> float:
    return _of_blocks(s, 96, t / (6 * s.hidden), s.vocab / (16 * s.hidden * s.layers))


_CATALOGUE: Final = (
    Convention(
        "6N_all",
        "6·N",
        "every parameter, embedding table and all experts too; no attention",
        "Kaplan et al. 2020; Hoffmann et al. 2022 (the C of C = 6·N·D)",
        lambda s, _: 6.0 * s.parameters,
    ),
    Convention(
        "6N_noemb",
        "6·(N − V·h), the head counted once",
        "no input embedding, no attention",
        "Hugging Face floating_point_ops, where the embedding is untied",
        lambda s, _: 6.0 * _without_table(s, s.parameters),
    ),
    Convention(
        "palm",
        "6·N + 12·L·H·Q·T",
        "every parameter; attention over all keys, no causal mask",
        "Chowdhery et al. 2022, appendix B; nanoGPT; LLM-Foundry",
        lambda s, t: 6.0 * s.parameters + 3 * s.attention_flops(t),
    ),
    Convention(
        "titan",
        "6·(N_active − V·h unless tied) + 12·L·H·Q·T",
        "no input embedding, a token's own experts; attention over all keys",
        "torchtitan to August 2026",
        _titan,
    ),
    Convention(
        "titan_window",
        "6·(N_active − V·h unless tied) + 12·H·Q·Σ min(window, T)",
        "as titan; attention over the keys that a layer's window lets in",
        "torchtitan from #4300 on, August 2026",
        lambda s, t: _titan(s, t, windowed=True),
    ),
    Convention(
        "matmul",
        "6·N_matmul + 12·L·H·Q·T",
        "exactly the matrix multiplications, attention over all keys",
        "what torch.utils.flop_counter measures",
        lambda s, t: _matrices(s) + 3 * s.attention_flops(t),
    ),
    Convention(
        "causal",
        "6·N_matmul + 6·L·H·Q·T",
        "exactly the matrix multiplications, half of attention for the causal mask",
        "Megatron-LM from March 2025, MaxText from July 2025, NeMo",
        _causal,
    ),
    Convention(
        "llmc",
        "6·N + 6·L·h·T",
        "every parameter; half of attention",
        "llm.c",
        lambda s, t: 6.0 * s.parameters + 6.0 * s.layers * s.hidden * t,
    ),
    Convention(
        "fa",
        "6·N_matmul + 7·L·H·Q·T",
        "as causal, and the scores that FlashAttention computes again in backward",
        "torchtitan #280: 2 + 5 matrix multiplications, half of each",
        lambda s, t: _matrices(s) + 1.75 * s.attention_flops(t),
    ),
    Convention(
        "window",
        "6·N_matmul + 12·H·Q·Σ min(window, T)",
        "attention over the keys that a layer's window lets in, no causal mask",
        "nanochat",
        lambda s, t: _matrices(s) + 3 * s.attention_flops(t, windowed=True),
    ),
    Convention(
        "packed",
        "6·N_matmul + 6·L·H·Q·ΣLᵢ²/ΣLᵢ",
        "as causal, attention inside the boundaries of packed sequences; ΣLᵢ with padding that ran",
        "Megatron-LM for packed (THD) batches from May 2026",
        _causal,
    ),
    Convention(
        "moe",
        "6·(dense + shared + router + k/E × routed) + 6·L·H·Q·T",
        "as causal, of the experts only those that a token runs through, the router too",
        "MaxText, torchtitan (with attention over all keys)",
        _causal,
    ),
    Convention(
        "moe_norouter",
        "6·(dense + shared + k/E × routed) + 6·L·H·Q·T",
        "as moe, without the router",
        "NeMo for Mixtral",
        lambda s, t: _no_router(s) + 1.5 * s.attention_flops(t),
    ),
    Convention(
        "lora",
        "4·N_frozen + 6·N_lora + 6·L·H·Q·T",
        "no gradients of frozen weights; all of attention's backward, half for the causal mask",
        "NeMo Automodel: (2 + N_lora/N_frozen)/3 of a full fine-tune's matrices",
        _adapted,
    ),
    Convention(
        "hfu_full",
        "8·N_matmul + 8·L·H·Q·T",
        "as causal, and one more forward; strictly, the head is not computed again",
        "hardware FLOPs with full recomputation",
        lambda s, t: (8 / 6) * _causal(s, t),
        hardware=True,
    ),
    Convention(
        "hfu_foundry",
        "8·N + 16·L·h·T",
        "4/3 of palm",
        "LLM-Foundry with activation checkpointing",
        lambda s, t: 8.0 * s.parameters + 16.0 * s.layers * s.hidden * t,
        hardware=True,
    ),
    Convention(
        "hfu_selective",
        "72·L·h²·(1 + T/3h + V/12hL)",
        "attention computed again; 4·h wide feed-forward of two matrices, no grouped keys",
        "Korthikanti et al. 2022 (arXiv 2205.05198)",
        _selective,
        hardware=True,
    ),
    Convention(
        "meg21",
        "96·L·h²·(1 + T/6h + V/16Lh)",
        "everything computed again; 4·h wide feed-forward of two matrices, no grouped keys",
        "Narayanan et al. 2021 (arXiv 2104.04473)",
        _megatron_2021,
        hardware=True,
    ),
)

CONVENTIONS: Final = {convention.name: convention for convention in _CATALOGUE}
#: These can only count blocks of the plain kind.
_PLAIN_BLOCKS: Final = ("hfu_selective", "meg21")
#: These count every parameter, whoever uses it.
ALL_PARAMETERS: Final = ("6N_all", "6N_noemb", "palm", "llmc", "hfu_foundry")


def conventions() -> pd.DataFrame:
    """Return the catalogue of what an MFU may count.

    Returns
    -------
    DataFrame
        Indexed by id: `formula`, `includes`, `source`, `hardware` (whether it counts what the
        device does again).

    Examples
    --------
    >>> conventions().loc["causal", "formula"]
    '6·N_matmul + 6·L·H·Q·T'
    """
    return pd.DataFrame(
        {
            "formula": [c.formula for c in _CATALOGUE],
            "includes": [c.includes for c in _CATALOGUE],
            "source": [c.source for c in _CATALOGUE],
            "hardware": [c.hardware for c in _CATALOGUE],
        },
        index=pd.Index([c.name for c in _CATALOGUE], name="convention"),
    )


def known_convention(name: object) -> Convention:
    """Return a convention by its id, or say which there are."""
    found = CONVENTIONS.get(name) if isinstance(name, str) else None
    if found is None:
        msg = f"there is no FLOP convention {name!r}: {near(name, CONVENTIONS, most=20)}"
        raise ThroughputError(msg)
    return found


def flops_per_token(
    shape: Any, convention: str, sequence: Any = None, *, of: str = "executed"
) -> Quantity:
    """Return the FLOPs of one token, forward and backward, under a named convention.

    Parameters
    ----------
    shape : ModelShape, or a number of parameters for `6N_all`
    convention : str
        An id of `conventions`.
    sequence : int, iterable of int, or TokenCounts
        Length of the sequences; for `packed` the lengths of the segments in a row, or counts.
        Not needed where attention is not counted.
    of : {"executed", "real", "allocated"}
        Which positions of counts are the tokens. Of a padded batch Σ L² is shared by more of
        those that ran than of the real ones.

    Returns
    -------
    Quantity
        In FLOP/token.

    Raises
    ------
    ThroughputError
        An unknown convention, or a length it cannot use.

    Examples
    --------
    >>> llama = ModelShape(
    ...     layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    ... )
    >>> flops_per_token(llama, "causal", 8192)
    51,470,401,536 FLOP/token (causal)
    """
    chosen = known_convention(convention)
    if isinstance(shape, Real) and convention == "6N_all":
        value = 6.0 * real(shape, "the number of parameters", above=0)
        return Quantity(value, "FLOP/token", convention, chosen.formula)
    if not isinstance(shape, ModelShape):
        msg = (
            f"{convention!r} is a function of a ModelShape, not of {type(shape).__name__}: give "
            "one, such as ModelShape.from_config(path), or count as '6N_all', which takes a number"
        )
        raise ThroughputError(msg)
    length = 1.0
    if convention not in NO_LENGTH:
        length = length_for(convention, sequence, of)
    return Quantity(chosen.count(shape, length), "FLOP/token", convention, chosen.formula)


def caveats(shape: Any, convention: str) -> list[str]:
    """Say where a convention's formula does not describe this model."""
    said: list[str] = []
    if not isinstance(shape, ModelShape):
        return said
    plain = (
        shape.ffn == 4 * shape.hidden
        and not shape.gated
        and not shape.experts
        and shape.kv_heads == shape.heads
        and shape.heads * shape.head_dim == shape.hidden
    )
    if convention in _PLAIN_BLOCKS and not plain:
        said.append(
            f"{convention} takes every block for 12·h² weights (a feed-forward of two 4·h wide "
            "matrices, as many key heads as heads), and this model's are others"
        )
    if convention in ALL_PARAMETERS and shape.experts:
        ratio = shape.parameters / shape.active_parameters
        said.append(
            f"{convention} counts all {shape.experts} experts of a layer, and a token runs through "
            f"{shape.top_k}: its parameters are {ratio:.3g} times the active ones"
        )
    if shape.windows and convention not in (*NO_LENGTH, "window", "titan_window"):
        said.append(f"{convention} ignores this model's sliding windows")
    if shape.lora_parameters and convention != "lora":
        said.append(f"{convention} counts gradients of the frozen weights too; lora does not")
    return said
