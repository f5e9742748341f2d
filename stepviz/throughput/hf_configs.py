"""Reading a Hugging Face `config.json`: what it calls things, and what it leaves unsaid."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import listed, whole
from stepviz.throughput.hf_families import FAMILIES, UNCOUNTED, Config, Family, entry_count, says

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
_SLIDING: Final = "sliding_attention"
#: One layer in so many sees all keys, where the config does not say which.
_FULL_EVERY: Final = {"gemma2": 2, "gpt_oss": 2, "cohere2": 4, "olmo3": 4, "gemma3_text": 6}


def read_config(
    config: Config | str | os.PathLike[str], changes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the arguments of `ModelShape` that a config stands for.

    Parameters
    ----------
    config : mapping or path
    changes : mapping, optional
        Fields of the shape to read as if the config had them, so that what follows from them
        (norms, biases, windows, mixtures) does too.

    Raises
    ------
    ThroughputError
        Where the family is not known, an entry is missing, or the file cannot be read.
    """
    held = dict(config if isinstance(config, Mapping) else _from_file(Path(config)))
    kind, family = _family_of(held)
    told = {name: value for name, value in (changes or {}).items() if value is not None}
    _replace(held, told)
    if family.common is not None:
        own = {name: value for name, value in family.common(held).items() if value is not None}
        held.update(own)
        _replace(held, told)
    shape = _plain_fields(held, kind)
    shape["gated"] = family.gated
    tied = held.get("tie_word_embeddings")
    shape["tied"] = family.tied if tied is None else bool(tied)
    shape["windows"] = _windows(held, kind, shape["layers"])
    shape.update(_mixture(held, kind, shape, routed=family.routed))
    shape.update(_latent(held, shape))
    shape.update(told)
    shape.update({**_vectors(held, kind, family, shape), **told})
    shape.setdefault("name", str(held.get("_name_or_path") or kind))
    return shape


def _family_of(held: Config) -> tuple[str, Family]:
    kind = held.get("model_type") or _kind_of(held.get("architectures"))
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if isinstance(kind, str) and family is not None:
        return kind, family
    if "text_config" in held:
        why = (
            f"{near(kind, FAMILIES)}. Its language model is under 'text_config': give that, and "
            "know that the other parts' FLOPs are not in it"
        )
    elif isinstance(kind, str) and kind in UNCOUNTED:
        why = (
            f"{UNCOUNTED[kind]}. Count it with torch.utils.flop_counter, or give its number of "
            "parameters to the convention '6N_all'"
        )
    else:
        why = f"{near(kind, FAMILIES)}. Otherwise describe it as ModelShape(layers=…, hidden=…, …)"
    msg = f"no formula is known for model_type {kind!r}, so there is no MFU of it: {why}"
    raise ThroughputError(msg)


def _replace(held: dict[str, Any], told: Mapping[str, Any]) -> None:
    """Write changed fields into a config, under its own names for them."""
    for field, names in _NAMES.items():
        if field not in told:
            continue
        for name in names:
            held.pop(name, None)
        held[names[0]] = told[field]
    if "tied" in told:
        held["tie_word_embeddings"] = told["tied"]


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
        msg = (
            f"{path} holds {type(held).__name__}, not an object of entries: give a model's "
            "config.json"
        )
        raise ThroughputError(msg)
    return held


def _plain_fields(held: Config, kind: str) -> dict[str, Any]:
    shape = {}
    for field, names in _NAMES.items():
        given = [held[name] for name in names if held.get(name) is not None]
        if given:
            shape[field] = whole(given[0], f"{field} of this {kind} config", least=1)
        elif field in _REQUIRED:
            msg = (
                f"this {kind} config has no {' or '.join(names)}, which its {field} is read from: "
                "add it"
            )
            raise ThroughputError(msg)
    if held.get("word_embed_proj_dim", shape["hidden"]) != shape["hidden"]:
        msg = (
            "word_embed_proj_dim is another width than the model's, so its embedding is projected, "
            "which no formula here has: count it with torch.utils.flop_counter"
        )
        raise ThroughputError(msg)
    shape.setdefault("head_dim", shape["hidden"] // shape["heads"])
    shape.setdefault("kv_heads", shape["heads"])
    shape.setdefault("ffn", 4 * shape["hidden"])
    return shape


def _windows(held: Config, kind: str, layers: int) -> list[int | None] | None:
    window = entry_count(held, "sliding_window", unsaid=0)
    types = held.get("layer_types")
    # Qwen's configs name a window that their models do not use unless they say so
    unsaid = types is not None or not kind.startswith("qwen")
    if not window or not held.get("use_sliding_window", unsaid):
        return None
    if types is None and kind in _FULL_EVERY:
        every = entry_count(held, "sliding_window_pattern", unsaid=_FULL_EVERY[kind], least=1)
        types = ["full_attention" if (i + 1) % every == 0 else _SLIDING for i in range(layers)]
    if types is None:
        first = entry_count(held, "max_window_layers", unsaid=0) if kind.startswith("qwen") else 0
        return [None if i < first else window for i in range(layers)]
    each = listed(types, "layer_types of this config")
    if len(each) < layers:
        msg = (
            f"this config names the kind of {len(each)} layers and has {layers}: give windows=, "
            "the keys that a position sees, of each layer or of all"
        )
        raise ThroughputError(msg)
    return [window if name in (_SLIDING, "chunked_attention") else None for name in each[:layers]]


def _mixture(held: Config, kind: str, shape: dict[str, Any], *, routed: bool) -> dict[str, Any]:
    names = ("num_local_experts", "n_routed_experts", "num_experts")
    experts = next((entry_count(held, name) for name in names if held.get(name)), 0)
    if not experts:
        if routed and not any(name in held for name in names):
            msg = f"this {kind} config has no {' or '.join(names)}: give it, 0 where all is dense"
            raise ThroughputError(msg)
        return {}
    layers = range(shape["layers"])
    first = entry_count(held, "first_k_dense_replace", unsaid=0)
    every = "decoder_sparse_step" if held.get("decoder_sparse_step") else "moe_layer_freq"
    step = entry_count(held, every, unsaid=1, least=1)
    dense = listed(held.get("mlp_only_layers") or (), "mlp_only_layers of this config")
    named = held.get("moe_layers")
    if named is not None:
        mixtures = [i for i in layers if i in listed(named, "moe_layers of this config")]
    elif held.get("first_k_dense_replace") is not None:
        mixtures = [i for i in layers if i >= first and i % step == 0]
    else:
        mixtures = [i for i in layers if i not in dense and (i + 1) % step == 0]
    width = entry_count(held, "moe_intermediate_size", unsaid=shape["ffn"], least=1)
    shared = entry_count(held, "shared_expert_intermediate_size", unsaid=0)
    chosen = "experts_per_token" if held.get("experts_per_token") else "num_experts_per_tok"
    return {
        "experts": experts,
        "top_k": entry_count(held, chosen),
        "expert_ffn": width,
        "shared_ffn": shared or width * entry_count(held, "n_shared_experts", unsaid=0),
        "shared_gate": kind == "qwen2_moe",
        "moe_layers": len(mixtures),
    }


def _latent(held: Config, shape: dict[str, Any]) -> dict[str, Any]:
    if not held.get("kv_lora_rank"):
        return {}
    rotary = entry_count(held, "qk_rope_head_dim")
    return {
        "query_rank": entry_count(held, "q_lora_rank", unsaid=0),
        "kv_rank": entry_count(held, "kv_lora_rank"),
        "rope_dim": rotary,
        "head_dim": entry_count(held, "qk_nope_head_dim") + rotary,
        "value_dim": entry_count(held, "v_head_dim", least=1),
        "kv_heads": shape["heads"],
    }


def _vectors(held: Config, kind: str, family: Family, shape: dict[str, Any]) -> dict[str, int]:
    """Count what no matrix multiplication uses: norms, biases, positions."""
    layers, hidden, heads = shape["layers"], shape["hidden"], shape["heads"]
    queries = heads * shape["head_dim"]
    keys = shape["kv_heads"] * shape["head_dim"]
    norms = family.norms if isinstance(family.norms, int) else family.norms(held)
    in_layer = norms * family.norm_vectors * hidden
    if says(held, family.qkv_bias):
        in_layer += queries + 2 * keys
    if says(held, family.out_bias):
        in_layer += hidden
    if says(held, family.ffn_bias):
        in_layer += shape["ffn"] * (2 if shape["gated"] else 1) + hidden
    if not family.head_norms_if or held.get(family.head_norms_if):
        in_layer += {"each": 2 * shape["head_dim"], "all": queries + keys}.get(family.head_norms, 0)
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
