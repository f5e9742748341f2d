"""Families of models: parameters that transformers makes of them, and counts that are published."""

from __future__ import annotations

import pytest

import stepviz as sv

PLAIN = {
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "num_attention_heads": 8,
    "vocab_size": 1000,
}
GROUPED = {**PLAIN, "num_key_value_heads": 2, "intermediate_size": 300}
GPT = {"n_layer": 4, "n_embd": 256, "n_head": 8, "n_positions": 128, "vocab_size": 1000}
ROUTED = {"num_local_experts": 4, "num_experts_per_tok": 2}
LLAMA4 = {
    **GROUPED,
    "intermediate_size_mlp": 400,
    "num_local_experts": 4,
    "num_experts_per_tok": 1,
    "attention_chunk_size": 64,
}

# Parameters that transformers 5.24.0 made of each, on the meta device.
COUNTED = [
    ("falcon", {**PLAIN, "multi_query": True, "parallel_attn": True, "bias": False}, 2_945_536),
    (
        "falcon",
        {
            **PLAIN,
            "new_decoder_architecture": True,
            "num_kv_heads": 2,
            "bias": True,
            "ffn_hidden_size": 300,
        },
        1_535_152,
    ),
    (
        "falcon",
        {**PLAIN, "multi_query": False, "parallel_attn": False, "bias": True},
        3_415_552,
    ),
    ("olmoe", {**GROUPED, "num_experts": 6, "num_experts_per_tok": 2}, 6_706_688),
    ("olmo3", {**GROUPED, "sliding_window": 64}, 2_092_544),
    ("cohere", {**GROUPED, "use_qk_norm": False}, 1_834_240),
    ("cohere", {**GROUPED, "use_qk_norm": True, "attention_bias": True}, 1_838_080),
    ("cohere2", {**GROUPED, "head_dim": 32, "sliding_window": 64}, 1_834_240),
    ("glm", {**GROUPED, "head_dim": 32}, 2_092_800),
    ("glm", {**GROUPED, "head_dim": 64, "attention_bias": False}, 2_746_624),
    ("glm4", {**GROUPED, "head_dim": 32}, 2_094_848),
    (
        "glm4_moe",
        {
            **GROUPED,
            "head_dim": 32,
            "attention_bias": True,
            "use_qk_norm": True,
            "n_routed_experts": 8,
            "n_shared_experts": 2,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 80,
            "first_k_dense_replace": 1,
        },
        3_251_200,
    ),
    ("llama4_text", {**LLAMA4, "interleave_moe_layer_step": 2}, 4_090_112),
    ("llama4_text", {**LLAMA4, "interleave_moe_layer_step": 1}, 5_781_760),
    ("llama4_text", {**LLAMA4, "moe_layers": [1, 3]}, 4_090_112),
    ("bloom", {"n_layer": 4, "n_embed": 256, "n_head": 8, "vocab_size": 1000}, 3_416_064),
    ("mpt", {"n_layers": 4, "d_model": 256, "n_heads": 8, "vocab_size": 1000}, 3_404_032),
    (
        "dbrx",
        {
            "n_layers": 4,
            "d_model": 256,
            "n_heads": 8,
            "vocab_size": 1000,
            "ffn_config": {"ffn_hidden_size": 300, "moe_num_experts": 4, "moe_top_k": 2},
            "attn_config": {"kv_n_heads": 2},
        },
        4_860_160,
    ),
    ("stablelm", {**GROUPED, "use_qkv_bias": True}, 2_095_104),
    ("stablelm", {**GROUPED, "qk_layernorm": True, "use_parallel_residual": True}, 2_092_800),
    ("nemotron", GROUPED, 1_786_368),
    ("nemotron", {**GROUPED, "attention_bias": True, "mlp_bias": True}, 1_791_152),
    ("phimoe", {**GROUPED, **ROUTED, "attention_bias": True, "lm_head_bias": True}, 4_866_024),
    ("granitemoe", {**GROUPED, "num_local_experts": 6, "num_experts_per_tok": 2}, 6_705_408),
    ("seed_oss", {**GROUPED, "head_dim": 32}, 2_092_800),
    ("gpt_bigcode", {**GPT, "multi_query": True}, 2_987_776),
    ("gpt_bigcode", {**GPT, "multi_query": False}, 3_448_320),
    (
        "gpt_neo",
        {
            "num_layers": 4,
            "hidden_size": 256,
            "num_heads": 8,
            "max_position_embeddings": 128,
            "vocab_size": 1000,
            "attention_types": [[["global", "local"], 2]],
            "window_size": 16,
        },
        3_445_248,
    ),
    ("gptj", GPT, 3_666_408),
    (
        "qwen2_moe",
        {
            **GROUPED,
            "num_experts": 6,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 80,
            "shared_expert_intermediate_size": 160,
            "qkv_bias": False,
        },
        3_142_912,
    ),
    ("gpt_neox", {**PLAIN, "intermediate_size": 300, "attention_bias": False}, 2_181_808),
    ("opt", {**PLAIN, "max_position_embeddings": 128, "ffn_dim": 300}, 1_963_184),
    ("arcee", GROUPED, 1_784_064),
    ("arcee", {**GROUPED, "mlp_bias": True}, 1_786_288),
    ("ernie4_5", GROUPED, 3_801_344),
    ("ernie4_5", {**GROUPED, "use_bias": True}, 3_811_936),
    ("exaone4", GROUPED, 2_091_520),
    ("hunyuan_v1_dense", {**GROUPED, "head_dim": 32}, 2_091_520),
    (
        "dots1",
        {
            **GROUPED,
            "head_dim": 32,
            "n_routed_experts": 8,
            "n_shared_experts": 1,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 80,
            "first_k_dense_replace": 1,
        },
        3_065_344,
    ),
    ("minimax_m2", {**GROUPED, **ROUTED, "head_dim": 32}, 4_861_440),
    ("granitemoeshared", {**GROUPED, **ROUTED, "shared_intermediate_size": 100}, 5_167_360),
    ("helium", {**GROUPED, "head_dim": 32}, 2_091_264),
    ("ministral", {**GROUPED, "head_dim": 32}, 2_091_264),
    ("ministral3", {**GROUPED, "head_dim": 32}, 2_091_264),
    ("nanochat", GROUPED, 1_781_760),
    ("codegen", {"n_layer": 4, "n_embd": 256, "n_head": 8, "vocab_size": 1000}, 3_666_408),
]


@pytest.mark.parametrize(("kind", "config", "parameters"), COUNTED)
def test_a_config_has_the_parameters_that_transformers_makes(kind, config, parameters):
    assert sv.ModelShape.from_config({"model_type": kind, **config}).parameters == parameters


# All weights of each, as its page at Hugging Face totals the stored tensors, the tied ones once.
PUBLISHED = {
    "tiiuae/falcon-7b": (
        6_921_720_704,
        {"model_type": "falcon", "num_hidden_layers": 32, "num_attention_heads": 71}
        | {"hidden_size": 4544, "vocab_size": 65024, "multi_query": True, "parallel_attn": True},
    ),
    "allenai/OLMoE-1B-7B-0924": (
        6_919_161_856,
        {"model_type": "olmoe", "num_hidden_layers": 16, "num_attention_heads": 16}
        | {"hidden_size": 2048, "vocab_size": 50304, "intermediate_size": 1024}
        | {"num_experts": 64, "num_experts_per_tok": 8, "tie_word_embeddings": False},
    ),
    "THUDM/glm-4-9b": (
        9_399_951_360,
        {"model_type": "glm", "num_hidden_layers": 40, "num_attention_heads": 32}
        | {"hidden_size": 4096, "vocab_size": 151552, "intermediate_size": 13696}
        | {"num_key_value_heads": 2, "head_dim": 128, "attention_bias": True},
    ),
    "CohereForAI/c4ai-command-r-v01": (
        34_980_831_232,
        {"model_type": "cohere", "num_hidden_layers": 40, "num_attention_heads": 64}
        | {"hidden_size": 8192, "vocab_size": 256000, "intermediate_size": 22528},
    ),
    "CohereForAI/c4ai-command-r-plus": (
        103_810_674_688,
        {"model_type": "cohere", "num_hidden_layers": 64, "num_attention_heads": 96}
        | {"hidden_size": 12288, "vocab_size": 256000, "intermediate_size": 33792}
        | {"num_key_value_heads": 8, "use_qk_norm": True},
    ),
    "EleutherAI/gpt-j-6b": (
        6_050_882_784,
        {"model_type": "gptj", "n_layer": 28, "n_head": 16, "n_embd": 4096, "vocab_size": 50400},
    ),
    "EleutherAI/gpt-neo-2.7B": (
        2_651_307_520,
        {"model_type": "gpt_neo", "num_layers": 32, "num_heads": 20, "hidden_size": 2560}
        | {"max_position_embeddings": 2048, "vocab_size": 50257, "window_size": 256},
    ),
    "mosaicml/mpt-7b": (
        6_649_286_656,
        {"model_type": "mpt", "n_layers": 32, "n_heads": 32, "d_model": 4096}
        | {"expansion_ratio": 4, "vocab_size": 50432},
    ),
    "bigscience/bloom": (
        176_247_271_424,
        {"model_type": "bloom", "n_layer": 70, "num_attention_heads": 112, "n_embed": 14336}
        | {"vocab_size": 250880},
    ),
    "bigcode/starcoder": (
        15_517_456_384,
        {"model_type": "gpt_bigcode", "n_layer": 40, "n_head": 48, "n_embd": 6144}
        | {"n_inner": 24576, "n_positions": 8192, "vocab_size": 49152, "multi_query": True},
    ),
    "databricks/dbrx-base": (
        131_596_523_520,
        {"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144}
        | {"vocab_size": 100352, "attn_config": {"kv_n_heads": 8}}
        | {"ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}},
    ),
    "microsoft/Phi-3.5-MoE-instruct": (
        41_873_153_344,
        {"model_type": "phimoe", "num_hidden_layers": 32, "num_attention_heads": 32}
        | {"hidden_size": 4096, "vocab_size": 32064, "intermediate_size": 6400}
        | {"num_key_value_heads": 8, "num_local_experts": 16, "num_experts_per_tok": 2}
        | {"attention_bias": True, "lm_head_bias": True},
    ),
    "stabilityai/stablelm-3b-4e1t": (
        2_795_443_200,
        {"model_type": "stablelm", "num_hidden_layers": 32, "num_attention_heads": 32}
        | {"hidden_size": 2560, "vocab_size": 50304, "intermediate_size": 6912},
    ),
    "deepseek-ai/DeepSeek-V3, without its prediction of a second token": (
        671_026_404_352,
        {"model_type": "deepseek_v3", "num_hidden_layers": 61, "num_attention_heads": 128}
        | {"hidden_size": 7168, "vocab_size": 129280, "intermediate_size": 18432}
        | {"moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1}
        | {"num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536}
        | {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
        | {"v_head_dim": 128},
    ),
    "openai/gpt-oss-120b": (
        116_829_156_672,
        {"model_type": "gpt_oss", "num_hidden_layers": 36, "num_attention_heads": 64}
        | {"hidden_size": 2880, "vocab_size": 201088, "intermediate_size": 2880}
        | {"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128}
        | {"num_local_experts": 128, "num_experts_per_tok": 4},
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_model_has_the_weights_it_is_stored_with(name):
    parameters, config = PUBLISHED[name]
    assert sv.ModelShape.from_config(config).parameters == parameters


def test_llama_4_has_the_parameters_its_authors_say():
    scout = {
        "model_type": "llama4_text",
        "num_hidden_layers": 48,
        "num_attention_heads": 40,
        "hidden_size": 5120,
        "vocab_size": 202048,
        "intermediate_size": 8192,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size_mlp": 16384,
        "num_local_experts": 16,
        "num_experts_per_tok": 1,
        "attention_chunk_size": 8192,
    }
    found = sv.ModelShape.from_config(scout)
    # model card: 17B active, 109B in all, of which 107.77B are the language model's
    assert round(found.parameters / 1e9, 2) == 107.77
    assert round(found.active_parameters / 1e9) == 17
    assert found.windows == (8192, 8192, 8192, None) * 12
    maverick = {**scout, "num_local_experts": 128, "interleave_moe_layer_step": 2}
    found = sv.ModelShape.from_config(maverick)  # model card: 17B active, 400B in all
    assert (round(found.parameters / 1e10), round(found.active_parameters / 1e9)) == (40, 17)


def test_layers_that_attend_to_near_keys_only():
    local = {**PLAIN, "attention_types": [[["global", "local"], 2]], "window_size": 16}
    local |= {"model_type": "gpt_neo", "max_position_embeddings": 64}
    assert sv.ModelShape.from_config(local).windows == (None, 16, None, 16)
    near = {**GROUPED, "sliding_window": 64}
    exaone = {"model_type": "exaone4", **near, "sliding_window_pattern": "LLLG"}
    assert sv.ModelShape.from_config(exaone).windows == (64, 64, 64, None)
    for kind in ("cohere2", "olmo3"):
        found = sv.ModelShape.from_config({"model_type": kind, **near})
        assert found.windows == (64, 64, 64, None)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "qwen3_next", **GROUPED}, "some of its layers carry a state"),
        ({"model_type": "qwen3_next", **GROUPED}, "torch.utils.flop_counter"),
        ({"model_type": "mamba2"}, "its number of parameters to the convention '6N_all'"),
        ({"model_type": "t5"}, "an encoder and a decoder"),
        ({"model_type": "llama4", "text_config": {}}, "under 'text_config': give that"),
        ({"model_type": "mpt", "n_layers": 2, "n_heads": 2, "vocab_size": 9}, "has no d_model"),
        (
            {"model_type": "gpt_neo", **PLAIN, "attention_types": 5, "max_position_embeddings": 8},
            "attention_types of this config is 5: give a list",
        ),
        ({"model_type": "mixtral", **GROUPED}, "mixtral config has no num_local_experts or"),
        (
            {"model_type": "dbrx", "n_layers": 1, "n_heads": 2, "vocab_size": 9, "d_model": 8},
            "dbrx config has no num_local_experts or",
        ),
    ],
)
def test_what_is_not_counted_is_refused_by_name(config, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.ModelShape.from_config(config)


def test_a_mixture_that_says_it_has_no_expert_is_dense():
    config = {"model_type": "deepseek_v2", **GROUPED, "n_routed_experts": None}
    assert sv.ModelShape.from_config(config).experts == 0
