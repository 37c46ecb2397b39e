#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/tensors.json: which tensors transformers saves for small models of each architecture.

    python3 -m venv venv && venv/bin/pip install transformers==5.23.0 torch==2.13.0
    venv/bin/python Tests/Peers/make_tensor_goldens.py

Each model is made by from_config, saved, and its header read back; no weight is kept.
"""

import json
import logging
import pathlib
import struct
import tempfile

import transformers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

logging.disable(logging.WARNING)
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "Fixtures/goldens/tensors.json"
USUAL = dict(
    hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=32,
    intermediate_size=24, max_position_embeddings=20, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)
MIXTURE = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12)
LATENT = dict(
    kv_lora_rank=5, qk_rope_head_dim=2, qk_nope_head_dim=6, v_head_dim=3, n_routed_experts=4, num_experts_per_tok=2,
    moe_intermediate_size=12, n_shared_experts=2, first_k_dense_replace=1, n_group=1, topk_group=1, num_key_value_heads=4,
)
GEMMA = dict(
    num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=6, intermediate_size=24, vocab_size=32,
    max_position_embeddings=20)
GPT2 = dict(n_embd=16, n_layer=2, n_head=4, n_positions=20)
MODELS = {
    "llama": {}, "llama-biased": dict(attention_bias=True, mlp_bias=True), "mistral": dict(head_dim=6), "ministral": dict(head_dim=6),
    "smollm3": {}, "smollm3-untied": dict(tie_word_embeddings=False), "granite": {}, "qwen2": {}, "qwen3": dict(head_dim=6),
    "qwen3-biased": dict(attention_bias=True), "gemma": dict(head_dim=6), "gemma2": {}, "gemma2-biased": dict(attention_bias=True),
    "gemma3_text": dict(head_dim=6), "phi3": {}, "phi": {}, "phi-normed": dict(qk_layernorm=True), "cohere": {},
    "cohere-normed": dict(use_qk_norm=True), "cohere2": {}, "olmo": {}, "olmo2": {}, "olmo3": {}, "exaone4": {}, "glm": {},
    "glm4": dict(attention_bias=True), "seed_oss": {}, "hunyuan_v1_dense": dict(head_dim=6), "starcoder2": {},
    "starcoder2-unbiased": dict(use_bias=False), "nemotron": {}, "arcee": {}, "arcee-biased": dict(attention_bias=True, mlp_bias=True),
    "mixtral": dict(num_local_experts=3), "phimoe": dict(num_local_experts=3, attention_bias=True, lm_head_bias=True),
    "granitemoe": dict(num_local_experts=3), "olmoe": dict(num_experts=4, num_experts_per_tok=2),
    "qwen2_moe": dict(MIXTURE, shared_expert_intermediate_size=10, mlp_only_layers=[0]),
    "qwen3_moe": dict(MIXTURE, num_hidden_layers=4, decoder_sparse_step=2),
    "qwen3_next": dict(
        MIXTURE, num_hidden_layers=4, shared_expert_intermediate_size=10, head_dim=8, linear_num_key_heads=2,
        linear_num_value_heads=4, linear_key_head_dim=3, linear_value_head_dim=5),
    "deepseek_v2": dict(LATENT, q_lora_rank=None), "deepseek_v3": dict(LATENT, q_lora_rank=7),
    "deepseek_v3-biased": dict(LATENT, q_lora_rank=7, attention_bias=True),
    "glm4_moe": dict(
        head_dim=8, n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, first_k_dense_replace=1, n_group=1,
        topk_group=1, use_qk_norm=True),
    "lfm2": dict(layer_types=["conv", "full_attention"]), "lfm2-biased": dict(full_attn_idxs=[0], conv_bias=True, block_multiple_of=4),
    "lfm2_moe": dict(MIXTURE, layer_types=["full_attention", "conv"], num_dense_layers=1),
    "granitemoeshared": dict(num_local_experts=3, shared_intermediate_size=20),
    "granitemoehybrid": dict(
        num_local_experts=0, shared_intermediate_size=20, layer_types=["attention"] * 2, mamba_n_heads=4),
    "ernie4_5": dict(head_dim=6, use_bias=True),
    "ernie4_5_moe": dict(
        head_dim=6, num_hidden_layers=4, moe_num_experts=4, moe_k=2, moe_num_shared_experts=2, moe_intermediate_size=12),
    "ministral3": dict(head_dim=6), "apertus": dict(head_dim=6),
    "gpt_oss": dict(num_local_experts=3, num_experts_per_tok=2, head_dim=6),
    "llama4_text": dict(
        num_hidden_layers=4, head_dim=6, num_local_experts=3, intermediate_size_mlp=28, interleave_moe_layer_step=2),
    "gpt2": GPT2, "gpt2-inner": dict(GPT2, n_inner=40), "gptj": dict(GPT2, rotary_dim=2), "gpt_neox": dict(rotary_pct=0.5),
    "gpt_neox-unbiased": dict(rotary_pct=0.5, attention_bias=False), "falcon": dict(new_decoder_architecture=True, num_kv_heads=2),
    "falcon-multi": dict(multi_query=True),
    "falcon-serial": dict(multi_query=False, parallel_attn=False, bias=True, num_key_value_heads=4),
    "bloom": dict(n_layer=2, n_head=4), "opt": dict(ffn_dim=24, word_embed_proj_dim=16),
    "opt-unbiased": dict(ffn_dim=24, word_embed_proj_dim=16, enable_bias=False),
    "opt-projected": dict(ffn_dim=24, word_embed_proj_dim=8, do_layer_norm_before=False),
    "bert": {}, "roberta": dict(max_position_embeddings=22), "distilbert": dict(dim=16, n_layers=2, n_heads=4, hidden_dim=24),
    "t5": dict(d_model=16, d_kv=3, d_ff=24, num_layers=3, num_decoder_layers=2, num_heads=4),
    "t5-gated": dict(
        d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "hunyuan_v1_moe": dict(head_dim=6, num_experts=3, moe_topk=2),
    "mbart": dict(
        d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2, decoder_attention_heads=4, encoder_ffn_dim=20,
        decoder_ffn_dim=24),
    "t5gemma": dict(encoder=GEMMA | dict(hidden_size=20), decoder=GEMMA | dict(hidden_size=16, num_hidden_layers=3)),
    "mamba": dict(state_size=4), "mamba-biased": dict(state_size=4, use_bias=True, intermediate_size=32),
    "falcon_mamba": dict(state_size=4, intermediate_size=32),
    "mamba2": dict(num_heads=8, head_dim=4, state_size=4, n_groups=2),
}
# Of another family: where they are given, other names are not.
OWN_NAMES = ("n_embd", "d_model", "dim", "n_head", "encoder")


def header(folder):
    tensors = {}
    for path in sorted(pathlib.Path(folder).glob("*.safetensors")):
        data = path.read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        for name, tensor in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__":
                tensors[name] = tensor["shape"]
    return dict(sorted(tensors.items()))


def golden(name, settings):
    kind = name.split("-")[0]
    usual = dict(USUAL)
    if any(own in settings for own in OWN_NAMES):
        usual = {key: usual[key] for key in usual if key.endswith("_id") or key in ("vocab_size", "max_position_embeddings")}
        if kind == "bloom":
            usual["hidden_size"] = 16
    if kind.startswith(("mamba", "falcon_mamba")):
        usual = {key: usual[key] for key in usual if "head" not in key and key != "intermediate_size"}
    config = transformers.CONFIG_MAPPING[kind](**{**usual, **settings})
    maker = {"t5": AutoModelForSeq2SeqLM, "mbart": AutoModelForSeq2SeqLM, "t5gemma": AutoModelForSeq2SeqLM, "bert": AutoModel}.get(kind, AutoModelForCausalLM)
    try:
        model = maker.from_config(config)
    except ValueError:
        model = AutoModel.from_config(config)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        saved = json.loads((pathlib.Path(folder) / "config.json").read_text())
        return {"config": {key: saved[key] for key in sorted(saved)}, "tensors": header(folder)}


goldens = {name: golden(name, settings) for name, settings in MODELS.items()}
lines = [f"{json.dumps(name)}: {json.dumps(golden, separators=(',', ':'))}" for name, golden in goldens.items()]
GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
