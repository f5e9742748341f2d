"""Parameters of model shapes against models that transformers built, and published counts."""

from __future__ import annotations

import json

import pytest

import stepviz as sv
from tests.throughput.models import LLAMA_8B, gpt

SMALL = {
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 300,
    "vocab_size": 1000,
}
MIXTURE = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 80}
LATENT = {
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 24,
}

# Parameters that transformers 5.24.0 made of each, on the meta device.
COUNTED = [
    ("llama", {"num_hidden_layers": 3, "intermediate_size": 688}, 2_590_464),
    (
        "llama",
        {
            "num_hidden_layers": 3,
            "intermediate_size": 688,
            "head_dim": 48,
            "attention_bias": True,
            "mlp_bias": True,
            "tie_word_embeddings": True,
        },
        2_587_616,
    ),
    ("mistral", {"num_hidden_layers": 3, "intermediate_size": 688}, 2_590_464),
    (
        "mixtral",
        {"num_hidden_layers": 3, "num_local_experts": 4, "num_experts_per_tok": 2},
        3_773_184,
    ),
    ("granite", {"num_hidden_layers": 3}, 1_696_512),
    ("smollm3", {}, 1_835_264),
    ("phi3", {}, 2_091_264),
    ("qwen2", {}, 2_092_800),
    (
        "qwen2_moe",
        {
            **MIXTURE,
            "shared_expert_intermediate_size": 160,
            "decoder_sparse_step": 2,
            "mlp_only_layers": [3],
        },
        2_355_712,
    ),
    ("qwen3", {"head_dim": 64}, 2_747_136),
    (
        "qwen3_moe",
        {**MIXTURE, "head_dim": 64, "decoder_sparse_step": 1, "mlp_only_layers": [0]},
        3_166_464,
    ),
    ("gemma", {"num_key_value_heads": 1, "head_dim": 64}, 2_359_552),
    ("gemma2", {"head_dim": 64}, 2_492_672),
    ("gemma3_text", {"num_hidden_layers": 8, "head_dim": 64}, 4_730_112),
    ("olmo", {}, 2_088_960),
    ("olmo2", {}, 2_092_544),
    ("gpt_neox", {"num_key_value_heads": None}, 2_185_904),
    (
        "opt",
        {"num_key_value_heads": None, "max_position_embeddings": 128, "word_embed_proj_dim": 256},
        1_963_184,
    ),
    ("phi", {"num_key_value_heads": None}, 2_184_856),
    ("starcoder2", {"use_bias": True}, 1_535_152),
    (
        "deepseek_v2",
        {
            **LATENT,
            "num_key_value_heads": 8,
            "n_routed_experts": 6,
            "n_shared_experts": 2,
            "moe_intermediate_size": 80,
            "num_experts_per_tok": 2,
            "first_k_dense_replace": 1,
            "q_lora_rank": None,
        },
        3_010_560,
    ),
    (
        "deepseek_v3",
        {
            **LATENT,
            "num_key_value_heads": 8,
            "n_routed_experts": 8,
            "n_shared_experts": 1,
            "moe_intermediate_size": 80,
            "num_experts_per_tok": 2,
            "first_k_dense_replace": 2,
            "q_lora_rank": 48,
        },
        2_601_664,
    ),
    (
        "gpt_oss",
        {"head_dim": 64, "num_local_experts": 6, "num_experts_per_tok": 2, "sliding_window": 64},
        7_385_464,
    ),
]


@pytest.mark.parametrize(("kind", "entries", "parameters"), COUNTED)
def test_a_config_has_the_parameters_that_transformers_makes(kind, entries, parameters):
    shape = sv.ModelShape.from_config({"model_type": kind, **SMALL, **entries})
    assert shape.parameters == parameters


ENTRY = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "vocab": "vocab_size",
    "ffn": "intermediate_size",
    "tied": "tie_word_embeddings",
}


@pytest.mark.parametrize(
    "changes", [{"layers": 3}, {"hidden": 512}, {"vocab": 50}, {"ffn": 99}, {"tied": True}]
)
@pytest.mark.parametrize(("kind", "entries", "parameters"), COUNTED)
def test_a_changed_field_counts_as_if_the_config_had_it(kind, entries, parameters, changes):
    config = {"model_type": kind, **SMALL, **entries}
    if kind == "opt":
        config.pop("word_embed_proj_dim")
    written = {**config, **{ENTRY[name]: value for name, value in changes.items()}}
    found = sv.ModelShape.from_config(config, **changes)
    assert found == sv.ModelShape.from_config(written)


def test_windows_are_taken_of_the_layers_there_are():
    kinds = ["full_attention", *["sliding_attention"] * 3]
    config = {**SMALL, "model_type": "qwen3", "sliding_window": 64, "layer_types": kinds}
    assert sv.ModelShape.from_config(config, layers=2).windows == (None, 64)
    with pytest.raises(sv.ThroughputError, match="names the kind of 4 layers and has 5: give win"):
        sv.ModelShape.from_config(config, layers=5)
    with pytest.raises(sv.ThroughputError, match="give kv_heads, a divisor of 7"):
        sv.ModelShape.from_config(config, heads=7, head_dim=8)


def test_gpt2_has_names_of_its_own():
    config = {"n_layer": 4, "n_embd": 256, "n_head": 8, "n_positions": 128, "vocab_size": 1000}
    shape = sv.ModelShape.from_config({"model_type": "gpt2", **config})
    assert shape.parameters == 3_448_320
    assert (shape.ffn, shape.tied) == (1024, True)
    fewer = sv.ModelShape.from_config({"model_type": "gpt2", **config}, layers=2)
    assert shape.parameters - fewer.parameters == 2 * (12 * 256 * 256 + 13 * 256)


@pytest.mark.parametrize(
    ("entries", "windows"),
    [
        ({"model_type": "mistral", "sliding_window": 64}, (64, 64, 64, 64)),
        ({"model_type": "mistral", "sliding_window": None}, None),
        ({"model_type": "gemma2", "sliding_window": 64, "head_dim": 64}, (64, None, 64, None)),
        ({"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": False}, None),
        ({"model_type": "qwen2", "sliding_window": 64}, None),
        (
            {
                "model_type": "qwen2",
                "sliding_window": 64,
                "use_sliding_window": True,
                "max_window_layers": 3,
            },
            (None, None, None, 64),
        ),
        (
            {
                "model_type": "qwen3",
                "sliding_window": 64,
                "layer_types": ["full_attention", *["sliding_attention"] * 3],
            },
            (None, 64, 64, 64),
        ),
    ],
)
def test_windows_of_a_config(entries, windows):
    assert sv.ModelShape.from_config({**SMALL, **entries}).windows == windows


def test_llama_3_8b():
    assert LLAMA_8B.parameters == 8_030_261_248
    assert LLAMA_8B.parameters - LLAMA_8B.embedding_parameters == 7_504_924_672
    blocks = sum(w.parameters for w in LLAMA_8B.weights if w.part != "head")
    assert blocks == 6_979_321_856


# Narayanan et al. 2021, table 1: layers, hidden, heads, billions of parameters; V 51200, s 2048
MEGATRON = [
    (24, 2304, 24, 1.7),
    (30, 3072, 32, 3.6),
    (40, 6144, 48, 18.4),
    (60, 10240, 80, 76.1),
    (80, 12288, 96, 145.6),
    (105, 20480, 128, 529.6),
    (128, 25600, 160, 1008.0),
]


@pytest.mark.parametrize(("layers", "hidden", "heads", "billions"), MEGATRON)
def test_parameters_of_megatron_2021(layers, hidden, heads, billions):
    shape = gpt(layers, hidden, heads, 51200, 2048)
    formula = 12 * layers * hidden**2 + 13 * layers * hidden + (51200 + 2048) * hidden
    assert shape.parameters == formula
    assert shape.parameters / 1e9 == pytest.approx(billions, rel=0.003 if billions > 10 else 0.03)


def test_a_config_is_read_from_a_file_a_folder_or_an_object(tmp_path):
    config = {"model_type": "llama", **SMALL}
    (tmp_path / "config.json").write_text(json.dumps(config))

    class Config:
        def to_dict(self):
            return config

    right = sv.ModelShape.from_config(config)
    for given in (tmp_path, tmp_path / "config.json", str(tmp_path), Config()):
        assert sv.ModelShape.from_config(given) == right
    assert sv.ModelShape.from_config(config, vocab=1024).vocab == 1024


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [("LlamaForCausalLM", "llama"), ("Qwen3MoeForCausalLM", "qwen3_moe")],
)
def test_a_config_without_its_type_is_known_by_its_class(architecture, kind):
    config = {**SMALL, **MIXTURE, "architectures": [architecture]}
    if kind == "llama":
        config = {**SMALL, "architectures": [architecture]}
    found = sv.ModelShape.from_config(config)
    assert found == sv.ModelShape.from_config({**config, "model_type": kind})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "lama", **SMALL}, "did you mean 'llama'"),
        ({"model_type": "mamba", **SMALL}, "so there is no MFU of it"),
        ({"model_type": "gemma3", "text_config": {}}, "under 'text_config'"),
        ({"model_type": "llama", "hidden_size": 8}, "has no num_hidden_layers"),
        (
            {"model_type": "gpt2", "n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 9},
            "has no n_positions",
        ),
        ({**SMALL, "model_type": "opt", "word_embed_proj_dim": 99}, "another width"),
        ("no/such/config.json", "cannot be read as a config"),
        (3, "a config is a dict or the path"),
    ],
)
def test_a_config_that_cannot_be_read_is_refused(config, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.ModelShape.from_config(config)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"layers": 0}, "layers is 0"),
        ({"heads": 3}, "no multiple of 3 heads"),
        ({"kv_heads": 3}, "cannot share 3 kv_heads"),
        ({"experts": 4}, "top_k is 0 of 4"),
        ({"top_k": 2}, "belong to a mixture"),
        ({"windows": [1]}, "names 1 layers of 2"),
        ({"vocab": 10.5}, "vocab is 10.5"),
    ],
)
def test_a_shape_that_contradicts_itself_is_refused(fields, message):
    plain = {"layers": 2, "hidden": 64, "heads": 4, "vocab": 10}
    with pytest.raises(sv.ThroughputError, match=message):
        sv.ModelShape(**{**plain, **fields})


def test_a_published_count_replaces_the_computed_one():
    shape = sv.ModelShape(
        layers=118, hidden=18432, heads=48, head_dim=256, vocab=256000, stated_parameters=540.35e9
    )
    assert shape.parameters == 540_350_000_000


def test_adapters_of_a_rank():
    shape = LLAMA_8B.with_lora(16)
    per_layer = 16 * (4096 + 4096) + 16 * (4096 + 1024)
    assert shape.lora_parameters == 32 * per_layer
    with pytest.raises(sv.ThroughputError, match="did you mean 'query'"):
        LLAMA_8B.with_lora(16, ["querry"])


LATENT = {"model_type": "deepseek_v3", "kv_lora_rank": 64, "n_routed_experts": 4}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"num_hidden_layers": "4"}, "layers of this llama config is '4'"),
        ({"num_attention_heads": 0}, "heads of this llama config is 0"),
        ({"hidden_size": "256"}, "hidden of this llama config is '256'"),
        ({"model_type": "mixtral", "num_local_experts": "a"}, "num_local_experts .* is 'a'"),
        ({"model_type": "mixtral", "num_local_experts": 8}, "has no num_experts_per_tok"),
        (
            {"model_type": "mixtral", "num_local_experts": 4, "mlp_only_layers": 5},
            "mlp_only_layers",
        ),
        ({**LATENT, "num_experts_per_tok": 2}, "has no qk_rope_head_dim"),
        ({**LATENT, "num_experts_per_tok": 2, "qk_rope_head_dim": 1.5}, "qk_rope_head_dim .* 1.5"),
        ({"model_type": "mistral", "sliding_window": "abc"}, "sliding_window of this config"),
        (
            {"model_type": "gemma3_text", "sliding_window": 64, "sliding_window_pattern": 0},
            "sliding_window_pattern of this config is 0",
        ),
        ({"model_type": "mistral", "sliding_window": 64, "layer_types": 5}, "layer_types"),
    ],
)
def test_an_entry_without_meaning_is_named(entries, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.ModelShape.from_config({"model_type": "llama", **SMALL, **entries})


def test_a_shape_is_asked_for_what_it_has():
    shape = sv.ModelShape(layers=2, hidden=8, heads=2, vocab=16)
    with pytest.raises(sv.ThroughputError, match=r"such as \['query'\]"):
        shape.with_lora(8, "query")
    with pytest.raises(sv.ThroughputError, match="sequence is 'a'"):
        shape.attended("a")
