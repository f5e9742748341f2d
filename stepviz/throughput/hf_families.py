"""Families of models with a `config.json`: how each differs from the plain case.

A family's own entries, defaults and vectors are those of its modelling code in transformers; the
tests hold parameter counts of models that it built, and those of published models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import listed, whole

Config = Mapping[str, Any]
#: Whether there are vectors: always or never, an entry that says so, or that and its default.
Rule = bool | str | tuple[str, bool]


@dataclass(frozen=True)
class Family:
    """How models of one `model_type` differ from the plain case.

    Parameters
    ----------
    gated : bool
        Three feed-forward matrices.
    tied : bool
        Whether head and embedding are one where the config does not say.
    norm_vectors : int
        Vectors in a norm: 1 for a scale, 2 for scale and shift, 0 where it has no weights.
    norms : int or callable
        Norms of hidden width in a layer.
    qkv_bias, out_bias, ffn_bias : bool, str or (str, bool)
        Whether there are biases, or the entry of the config that says so and its default.
    head_norms : {"", "each", "all"}
        Norms of queries and keys: of the width of a head, or of all heads together.
    head_norms_if : str
        The entry that says whether there are such norms; always unless named.
    routed : bool
        A mixture, whose config must say how many experts it has.
    common : callable, optional
        What the config says under names of its own, under the common ones.
    more : callable, optional
        Other vectors, from the config and the fields read so far.
    """

    gated: bool = True
    tied: bool = False
    norm_vectors: int = 1
    norms: int | Callable[[Config], int] = 2
    qkv_bias: Rule = False
    out_bias: Rule = False
    ffn_bias: Rule = False
    head_norms: str = ""
    head_norms_if: str = ""
    routed: bool = False
    common: Callable[[Config], Config] | None = None
    more: Callable[[Config, dict[str, Any]], int] | None = None


def says(held: Config, rule: Rule) -> bool:
    """Return whether a config has what a rule is about."""
    if isinstance(rule, bool):
        return rule
    entry, unsaid = (rule, False) if isinstance(rule, str) else rule
    value = held.get(entry)
    return unsaid if value is None else bool(value)


def entry_count(held: Config, name: str, *, unsaid: int | None = None, least: int = 0) -> int:
    """Return a whole number of a config; `unsaid` where it has none, if that has a meaning.

    Raises
    ------
    ThroughputError
        Where it is missing and has to be said, or is no such number.
    """
    value = held.get(name)
    if value is None:
        if unsaid is None:
            msg = f"this config has no {name}, which its kind of model needs"
            raise ThroughputError(msg)
        return unsaid
    return whole(value, f"{name} of this config", least=least)


def _positions(entry: str, spare: int = 0) -> Callable[[Config, dict[str, Any]], int]:
    def count(config: Config, shape: dict[str, Any]) -> int:
        return (entry_count(config, entry) + spare) * int(shape["hidden"])

    return count


def _nested(config: Config, name: str) -> Config:
    held = config.get(name)
    return held if isinstance(held, Mapping) else {}


# What some families call by names of their own


def _falcon(config: Config) -> Config:
    one = config.get("multi_query", True) and not config.get("new_decoder_architecture")
    keys = config.get("num_kv_heads", config.get("n_head_kv"))
    wide = config.get("ffn_hidden_size") or 4 * entry_count(config, "hidden_size", least=1)
    return {"num_key_value_heads": 1 if one else keys, "intermediate_size": wide}


def _falcon_norms(config: Config) -> int:
    if not config.get("parallel_attn", True):
        return 2
    unsaid = 2 if config.get("new_decoder_architecture") else 1
    return entry_count(config, "num_ln_in_parallel_attn", unsaid=unsaid)


def _mpt(config: Config) -> Config:
    ratio = entry_count(config, "expansion_ratio", unsaid=4, least=1)
    return {"n_inner": ratio * entry_count(config, "d_model", least=1)}


def _dbrx(config: Config) -> Config:
    ffn, attention = _nested(config, "ffn_config"), _nested(config, "attn_config")
    return {
        "intermediate_size": ffn.get("ffn_hidden_size"),
        "num_local_experts": ffn.get("moe_num_experts"),
        "num_experts_per_tok": ffn.get("moe_top_k"),
        "num_key_value_heads": attention.get("kv_n_heads"),
    }


def _llama4(config: Config) -> Config:
    every = entry_count(config, "no_rope_layer_interval", unsaid=4, least=1)
    layers = entry_count(config, "num_hidden_layers", least=1)
    rotary = config.get("no_rope_layers") or [(i + 1) % every for i in range(layers)]
    rotary = listed(rotary, "no_rope_layers of this config")
    types = ["chunked_attention" if rotates else "full_attention" for rotates in rotary]
    return {
        "moe_intermediate_size": config.get("intermediate_size"),
        "intermediate_size": config.get("intermediate_size_mlp"),
        "n_shared_experts": 1,
        "decoder_sparse_step": config.get("interleave_moe_layer_step", 1),
        "sliding_window": config.get("attention_chunk_size"),
        "layer_types": config.get("layer_types") or types,
    }


def _gpt_neo(config: Config) -> Config:
    kinds: list[str] = []
    for pair in listed(config.get("attention_types") or (), "attention_types of this config"):
        names, repeats = listed(pair, "attention_types of this config")
        kinds += listed(names, "attention_types of this config") * whole(repeats, "a repeat")
    return {
        "num_attention_heads": config.get("num_heads"),
        "sliding_window": config.get("window_size"),
        "layer_types": ["sliding_attention" if k == "local" else k for k in kinds] or None,
    }


def _exaone4(config: Config) -> Config:
    pattern, layers = config.get("sliding_window_pattern"), config.get("num_hidden_layers")
    if config.get("layer_types") is not None or not isinstance(pattern, str) or not pattern:
        return {}
    each = [pattern[i % len(pattern)] for i in range(whole(layers, "num_hidden_layers"))]
    return {"layer_types": ["sliding_attention" if k == "L" else "full_attention" for k in each]}


def _one_key_head(config: Config) -> Config:
    return {"num_key_value_heads": 1} if config.get("multi_query", True) else {}


def _head_bias(_: Config, shape: dict[str, Any]) -> int:
    return int(shape["vocab"])


_LLAMA: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias", ffn_bias="mlp_bias")
_PLAIN_BIASED: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias")
_QWEN3: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias", head_norms="each")
_OLMO2: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias", head_norms="all")
_GPT2: Final = Family(
    gated=False,
    tied=True,
    norm_vectors=2,
    qkv_bias=True,
    out_bias=True,
    ffn_bias=True,
    more=_positions("n_positions"),
)
_COHERE: Final = Family(
    tied=True,
    norms=1,
    qkv_bias="attention_bias",
    out_bias="attention_bias",
    head_norms="all",
    head_norms_if="use_qk_norm",
)

FAMILIES: Final[dict[str, Family]] = {
    "llama": _LLAMA,
    "arcee": replace(_LLAMA, gated=False),
    "mistral": Family(),
    "ministral": Family(),
    "ministral3": Family(),
    "mixtral": Family(routed=True),
    "granite": _LLAMA,
    "granitemoe": replace(_PLAIN_BIASED, routed=True),
    "granitemoeshared": replace(
        _PLAIN_BIASED,
        routed=True,
        common=lambda held: {
            "shared_expert_intermediate_size": held.get("shared_intermediate_size")
        },
    ),
    "smollm3": Family(tied=True, qkv_bias="attention_bias", out_bias="attention_bias"),
    "seed_oss": Family(
        qkv_bias=("attention_bias", True), out_bias="attention_out_bias", ffn_bias="mlp_bias"
    ),
    "helium": _PLAIN_BIASED,
    "ernie4_5": Family(
        tied=True,
        qkv_bias="use_bias",
        out_bias="use_bias",
        ffn_bias="use_bias",
        common=lambda held: {"head_dim": held.get("head_dim") or 128},
    ),
    "exaone4": Family(head_norms="each", common=_exaone4),
    "hunyuan_v1_dense": replace(_PLAIN_BIASED, head_norms="each"),
    "minimax_m2": Family(head_norms="all", routed=True),
    "nanochat": Family(gated=False, norm_vectors=0),
    "phi3": Family(),
    "phimoe": Family(
        routed=True,
        norm_vectors=2,
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        more=lambda held, shape: shape["vocab"] if held.get("lm_head_bias") else 0,
    ),
    "qwen2": Family(qkv_bias=True),
    "qwen2_moe": Family(qkv_bias=("qkv_bias", True), routed=True),
    "qwen3": _QWEN3,
    "qwen3_moe": replace(_QWEN3, routed=True),
    "gemma": Family(tied=True, qkv_bias="attention_bias", out_bias="attention_bias"),
    "gemma2": Family(tied=True, norms=4, qkv_bias="attention_bias", out_bias="attention_bias"),
    "gemma3_text": Family(
        tied=True,
        norms=4,
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        head_norms="each",
    ),
    "olmo": Family(norm_vectors=0, qkv_bias="attention_bias", out_bias="attention_bias"),
    "olmo2": _OLMO2,
    "olmo3": _OLMO2,
    "olmoe": replace(_OLMO2, routed=True),
    "cohere": _COHERE,
    "cohere2": _COHERE,
    "glm": Family(qkv_bias=("attention_bias", True)),
    "glm4": Family(norms=4, qkv_bias=("attention_bias", True)),
    "glm4_moe": Family(
        routed=True,
        qkv_bias="attention_bias",
        head_norms="each",
        head_norms_if="use_qk_norm",
    ),
    "llama4_text": replace(_PLAIN_BIASED, routed=True, common=_llama4),
    "falcon": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        norms=_falcon_norms,
        qkv_bias="bias",
        out_bias="bias",
        ffn_bias="bias",
        common=_falcon,
    ),
    "bloom": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        more=lambda _, shape: 2 * int(shape["hidden"]),  # a norm behind the embedding
    ),
    "mpt": Family(gated=False, tied=True, common=_mpt),
    "dbrx": Family(routed=True, common=_dbrx),
    "stablelm": Family(
        norm_vectors=2,
        norms=lambda held: 1 if held.get("use_parallel_residual") else 2,
        qkv_bias="use_qkv_bias",
        head_norms="all",
        head_norms_if="qk_layernorm",
    ),
    "nemotron": Family(
        gated=False,
        norm_vectors=2,
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        ffn_bias="mlp_bias",
    ),
    "gpt2": _GPT2,
    "gpt_bigcode": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        common=_one_key_head,
        more=_positions("n_positions"),
    ),
    "gpt_neo": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        out_bias=True,
        ffn_bias=True,
        common=_gpt_neo,
        more=_positions("max_position_embeddings"),
    ),
    "codegen": Family(gated=False, norm_vectors=2, norms=1, ffn_bias=True, more=_head_bias),
    "gptj": Family(gated=False, norm_vectors=2, norms=1, ffn_bias=True, more=_head_bias),
    "gpt_neox": Family(
        gated=False,
        norm_vectors=2,
        qkv_bias=("attention_bias", True),
        out_bias=("attention_bias", True),
        ffn_bias=True,
    ),
    "opt": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        common=lambda held: {"intermediate_size": held.get("ffn_dim")},
        more=_positions("max_position_embeddings", 2),
    ),
    "phi": Family(
        gated=False,
        norm_vectors=2,
        norms=1,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        more=_head_bias,
    ),
    "starcoder2": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias="use_bias",
        out_bias="use_bias",
        ffn_bias="use_bias",
    ),
    "deepseek_v2": Family(routed=True),
    "deepseek_v3": Family(routed=True),
    "kimi_k2": Family(routed=True),
    "dots1": replace(_PLAIN_BIASED, head_norms="each", routed=True),
    "gpt_oss": Family(qkv_bias=True, out_bias=True, routed=True),
}

_STATES: Final = "some of its layers carry a state instead of attending"
#: Well known, and not counted: what their FLOPs are depends on more than a shape says.
UNCOUNTED: Final[dict[str, str]] = {
    "qwen3_next": _STATES,
    "qwen3_5": _STATES,
    "kimi_linear": _STATES,
    "minimax": _STATES,
    "mamba": _STATES,
    "mamba2": _STATES,
    "falcon_mamba": _STATES,
    "falcon_h1": _STATES,
    "jamba": _STATES,
    "bamba": _STATES,
    "zamba2": _STATES,
    "nemotron_h": _STATES,
    "granitemoehybrid": _STATES,
    "lfm2": _STATES,
    "recurrent_gemma": _STATES,
    "rwkv": _STATES,
    "deepseek_v32": "its indexer chooses which keys a position meets, which is not in a shape",
    "gemma3n": "its embeddings by layer and its shared keys are not in a shape",
    "t5": "it has an encoder and a decoder",
    "bert": "it is an encoder, which has no causal form",
}
