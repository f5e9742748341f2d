"""Reading a Hugging Face `config.json`: what each family calls things, and what it leaves unsaid.

A family's own entries, defaults and vectors are those of its modelling code in transformers;
the tests hold parameter counts of models built by it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import listed, whole

Config = Mapping[str, Any]

#: Entry of a config → names under which families have it.
_NAMES: Final = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocab": ("vocab_size",),
    "kv_heads": ("num_key_value_heads", "num_kv_heads"),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
}
_REQUIRED: Final = ("layers", "hidden", "heads", "vocab")


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
    norms : int
        Norms of hidden width in a layer.
    qkv_bias, out_bias, ffn_bias : bool or str
        Whether there are biases, or the entry of the config that says so.
    head_norms : {"", "each", "all"}
        Norms of queries and keys: of the width of a head, or of all heads together.
    more : callable, optional
        Other vectors, from the config and the fields read so far.
    """

    gated: bool = True
    tied: bool = False
    norm_vectors: int = 1
    norms: int = 2
    qkv_bias: bool | str = False
    out_bias: bool | str = False
    ffn_bias: bool | str = False
    head_norms: str = ""
    more: Callable[[Config, dict[str, Any]], int] | None = None


def _positions(entry: str, spare: int = 0) -> Callable[[Config, dict[str, Any]], int]:
    def count(config: Config, shape: dict[str, Any]) -> int:
        return (_count(config, entry) + spare) * int(shape["hidden"])

    return count


_LLAMA: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias", ffn_bias="mlp_bias")
_QWEN3: Final = Family(qkv_bias="attention_bias", out_bias="attention_bias", head_norms="each")
_GPT2: Final = Family(
    gated=False,
    tied=True,
    norm_vectors=2,
    qkv_bias=True,
    out_bias=True,
    ffn_bias=True,
    more=_positions("n_positions"),
)

FAMILIES: Final[dict[str, Family]] = {
    "llama": _LLAMA,
    "mistral": Family(),
    "mixtral": Family(),
    "granite": _LLAMA,
    "smollm3": Family(tied=True, qkv_bias="attention_bias", out_bias="attention_bias"),
    "phi3": Family(),
    "qwen2": Family(qkv_bias=True),
    "qwen2_moe": Family(qkv_bias=True),
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
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
    "olmo2": Family(qkv_bias="attention_bias", out_bias="attention_bias", head_norms="all"),
    "gpt2": _GPT2,
    "gpt_neox": Family(
        gated=False,
        norm_vectors=2,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
    ),
    "opt": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        more=_positions("max_position_embeddings", 2),
    ),
    "phi": Family(
        gated=False,
        norm_vectors=2,
        norms=1,
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        more=lambda _, shape: int(shape["vocab"]),  # a bias of the head
    ),
    "starcoder2": Family(
        gated=False,
        tied=True,
        norm_vectors=2,
        qkv_bias="use_bias",
        out_bias="use_bias",
        ffn_bias="use_bias",
    ),
    "deepseek_v2": Family(),
    "deepseek_v3": Family(),
    "gpt_oss": Family(qkv_bias=True, out_bias=True),
}


def read_config(config: Config | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the arguments of `ModelShape` that a config stands for.

    Raises
    ------
    ThroughputError
        Where the family is not known, an entry is missing, or the file cannot be read.
    """
    held = config if isinstance(config, Mapping) else _from_file(Path(config))
    kind = held.get("model_type") or _kind_of(held.get("architectures"))
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        where = ""
        if "text_config" in held:
            where = (
                ". Its language model is under 'text_config': give that, and know that the other "
                "parts' FLOPs are not in it"
            )
        msg = (
            f"no formula is known for model_type {kind!r}, so there is no MFU of it: "
            f"{near(kind, FAMILIES)}{where}"
        )
        raise ThroughputError(msg)
    shape = _plain_fields(held, str(kind))
    shape["gated"] = family.gated
    tied = held.get("tie_word_embeddings")
    shape["tied"] = family.tied if tied is None else bool(tied)
    shape["windows"] = _windows(held, str(kind), shape["layers"])
    shape.update(_mixture(held, str(kind), shape))
    shape.update(_latent(held, shape))
    shape.update(_vectors(held, str(kind), family, shape))
    shape["name"] = str(held.get("_name_or_path") or kind)
    return shape


def _kind_of(architectures: Any) -> str | None:
    """Return the model_type that a class such as Qwen3MoeForCausalLM belongs to."""
    first = str(architectures[0]) if architectures else ""
    stem = first.removesuffix("ForCausalLM").removesuffix("LMHeadModel").lower()
    return next((kind for kind in FAMILIES if kind.replace("_", "") == stem), None)


def _from_file(path: Path) -> Config:
    if path.is_dir():
        path /= "config.json"
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read as a config: {error}"
        raise ThroughputError(msg) from None
    if not isinstance(held, dict):
        msg = f"{path} holds {type(held).__name__}, not an object of entries"
        raise ThroughputError(msg)
    return held


def _plain_fields(held: Config, kind: str) -> dict[str, Any]:
    shape = {}
    for field, names in _NAMES.items():
        given = [held[name] for name in names if held.get(name) is not None]
        if given:
            shape[field] = whole(given[0], f"{field} of this {kind} config", least=1)
        elif field in _REQUIRED:
            msg = f"this {kind} config has no {' or '.join(names)}, which its {field} is read from"
            raise ThroughputError(msg)
    if held.get("word_embed_proj_dim", shape["hidden"]) != shape["hidden"]:
        msg = "an embedding of another width than the model's is projected: no formula here has it"
        raise ThroughputError(msg)
    shape.setdefault("head_dim", shape["hidden"] // shape["heads"])
    shape.setdefault("kv_heads", shape["heads"])
    shape.setdefault("ffn", 4 * shape["hidden"])
    return shape


def _count(held: Config, name: str, *, unsaid: int | None = None, least: int = 0) -> int:
    """Return a whole number of a config; `unsaid` where it has none, if that has a meaning."""
    value = held.get(name)
    if value is None:
        if unsaid is None:
            msg = f"this config has no {name}, which its kind of model needs"
            raise ThroughputError(msg)
        return unsaid
    return whole(value, f"{name} of this config", least=least)


def _windows(held: Config, kind: str, layers: int) -> list[int | None] | None:
    window = _count(held, "sliding_window", unsaid=0)
    types = held.get("layer_types")
    # Qwen's configs name a window that their models do not use unless they say so
    unsaid = types is not None or not kind.startswith("qwen")
    if not window or not held.get("use_sliding_window", unsaid):
        return None
    if types is None and kind in ("gemma2", "gpt_oss"):
        types = ["sliding_attention" if i % 2 == 0 else "full_attention" for i in range(layers)]
    if types is None and kind == "gemma3_text":
        every = _count(held, "sliding_window_pattern", unsaid=6, least=1)
        types = [
            "full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(layers)
        ]
    if types is None:
        first = _count(held, "max_window_layers", unsaid=0) if kind.startswith("qwen") else 0
        return [None if i < first else window for i in range(layers)]
    each = listed(types, "layer_types of this config")
    return [window if name == "sliding_attention" else None for name in each]


def _mixture(held: Config, kind: str, shape: dict[str, Any]) -> dict[str, Any]:
    names = ("num_local_experts", "n_routed_experts", "num_experts")
    experts = next((_count(held, name) for name in names if held.get(name)), 0)
    if not experts:
        return {}
    layers = range(shape["layers"])
    first = _count(held, "first_k_dense_replace", unsaid=0)
    every = "decoder_sparse_step" if held.get("decoder_sparse_step") else "moe_layer_freq"
    step = _count(held, every, unsaid=1, least=1)
    dense = listed(held.get("mlp_only_layers") or (), "mlp_only_layers of this config")
    if kind.startswith("deepseek"):
        mixtures = [i for i in layers if i >= first and i % step == 0]
    else:
        mixtures = [i for i in layers if i not in dense and (i + 1) % step == 0]
    width = _count(held, "moe_intermediate_size", unsaid=shape["ffn"], least=1)
    shared = _count(held, "shared_expert_intermediate_size", unsaid=0)
    chosen = "experts_per_token" if held.get("experts_per_token") else "num_experts_per_tok"
    return {
        "experts": experts,
        "top_k": _count(held, chosen),
        "expert_ffn": width,
        "shared_ffn": shared or width * _count(held, "n_shared_experts", unsaid=0),
        "shared_gate": kind == "qwen2_moe",
        "moe_layers": len(mixtures),
    }


def _latent(held: Config, shape: dict[str, Any]) -> dict[str, Any]:
    if not held.get("kv_lora_rank"):
        return {}
    rotary = _count(held, "qk_rope_head_dim")
    return {
        "query_rank": _count(held, "q_lora_rank", unsaid=0),
        "kv_rank": _count(held, "kv_lora_rank"),
        "rope_dim": rotary,
        "head_dim": _count(held, "qk_nope_head_dim") + rotary,
        "value_dim": _count(held, "v_head_dim", least=1),
        "kv_heads": shape["heads"],
    }


def _vectors(held: Config, kind: str, family: Family, shape: dict[str, Any]) -> dict[str, int]:
    """Count what no matrix multiplication uses: norms, biases, positions."""
    layers, hidden, heads = shape["layers"], shape["hidden"], shape["heads"]
    queries = heads * shape["head_dim"]
    keys = shape["kv_heads"] * shape["head_dim"]
    in_layer = family.norms * family.norm_vectors * hidden
    if _says(held, family.qkv_bias):
        in_layer += queries + 2 * keys
    if _says(held, family.out_bias):
        in_layer += hidden
    if _says(held, family.ffn_bias):
        in_layer += shape["ffn"] * (2 if family.gated else 1) + hidden
    if family.head_norms == "each":
        in_layer += 2 * shape["head_dim"]
    if family.head_norms == "all":
        in_layer += queries + keys
    if shape.get("kv_rank"):
        in_layer += shape["query_rank"] + shape["kv_rank"]  # a norm at each compressed vector
    of_experts = 0
    if kind == "gpt_oss":
        in_layer += heads + shape["experts"]  # a sink per head, a bias of the router
        of_experts = layers * shape["experts"] * (2 * shape["expert_ffn"] + hidden)
    total = layers * in_layer + family.norm_vectors * hidden + of_experts
    if family.more is not None:
        total += family.more(held, shape)
    return {"other_parameters": total, "other_expert_parameters": of_experts}


def _says(held: Config, rule: object) -> bool:
    return bool(held.get(rule, False) if isinstance(rule, str) else rule)
