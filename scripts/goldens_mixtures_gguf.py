#!/usr/bin/env python3
"""Makes GGUF files of small mixtures of experts, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0
    venv/bin/python scripts/goldens_mixtures_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf (gpt-oss-mxfp4.gguf) as llama.cpp's converter would: the experts of a layer are one tensor. A
golden is what transformers says of the weights in the file, dequantised to float32.
"""

import json
import pathlib
import sys
import tempfile

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type

import goldens
from goldens import FIXTURES, NOTES, PROMPTS, REFERENCE
from goldens_mixtures import BASE, numbers_that_choose

STEMS = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate": "ffn_gate_inp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.router": "ffn_gate_inp", "mlp.shared_expert.down_proj": "ffn_down_shexp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp", "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp", "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b",
}
#: What a head of latent attention has: numbers of a key that stand still, and of a value.
PLAIN, VALUE = 32, 32


def open_parts(start, name, values):
    """Those of gpt-oss: inputs before outputs, gates in the even places."""
    ending = "bias" if name.endswith("_bias") else "weight"
    if ending == "weight":
        values = values.swapaxes(1, 2)
    if "gate_up_proj" in name:
        return [(f"{start}ffn_gate_exps.{ending}", values[:, ::2]), (f"{start}ffn_up_exps.{ending}", values[:, 1::2])]
    return [(f"{start}ffn_down_exps.{ending}", values)]


def joined(arch, name, stored):
    """A parameter from its stored tensors."""
    if arch == "deepseek2" and "kv_b_proj" in name:
        return np.concatenate([stored[0].swapaxes(1, 2), stored[1]], axis=1)
    if arch != "gpt-oss" or "mlp.experts" not in name:
        return np.concatenate(stored, axis=1) if len(stored) > 1 else stored[0]
    values = stored[0]
    if len(stored) > 1:
        values = np.empty((values.shape[0], 2 * values.shape[1], *values.shape[2:]), np.float32)
        values[:, ::2], values[:, 1::2] = stored
    return values if name.endswith("_bias") else values.swapaxes(1, 2)


def parts(arch, name, values):
    """The stored tensors of a parameter: llama.cpp's names, and what they hold of it."""
    if name.startswith("model.layers."):
        _, _, layer, name = name.split(".", 3)
        start = f"blk.{layer}."
    else:
        start = ""
    if arch == "gpt-oss" and name.startswith("mlp.experts."):
        return open_parts(start, name, values)
    if arch == "gpt-oss" and name == "self_attn.sinks":
        return [(start + "attn_sinks.weight", values)]
    if arch == "gpt-oss" and name == "post_attention_layernorm.weight":
        return [(start + "post_attention_norm.weight", values)]
    if name == "mlp.gate.e_score_correction_bias":
        return [(start + "exp_probs_b.bias", values)]
    if arch == "deepseek2" and name == "self_attn.kv_b_proj.weight":
        heads = values.reshape(-1, PLAIN + VALUE, values.shape[-1])
        return [(start + "attn_k_b.weight", heads[:, :PLAIN].swapaxes(1, 2)), (start + "attn_v_b.weight", heads[:, PLAIN:])]
    if name == "mlp.experts.gate_up_proj":
        half = values.shape[1] // 2
        return [(start + "ffn_gate_exps.weight", values[:, :half]), (start + "ffn_up_exps.weight", values[:, half:])]
    if name == "mlp.experts.down_proj":
        return [(start + "ffn_down_exps.weight", values)]
    stem, ending = name.rsplit(".", 1)
    if stem == "mlp.shared_expert_gate":
        values = values[0]
    return [(f"{start}{STEMS[stem]}.{ending}", values)]


def permuted(rows, heads, back):
    """Rows of q or k of a Llama: llama.cpp turns neighbours where transformers turns halves of a head."""
    size = rows.shape[0] // heads
    shape = (heads, size // 2, 2) if back else (heads, 2, size // 2)
    return rows.reshape(*shape, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def changed(arch, config, name, values, back):
    if arch == "llama" and ("q_proj" in name or "k_proj" in name):
        heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
        return permuted(values, heads, back)
    return values


def add_vocabulary(writer, folder):
    value = json.loads((folder / "tokenizer.json").read_text())
    model, special = value["model"], {token["id"] for token in value["added_tokens"] if token["special"]}
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(len(tokens))])
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(4)
    writer.add_add_bos_token(True)


def usual_settings(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_expert_count(
        getattr(config, "num_experts", None) or getattr(config, "n_routed_experts", None) or config.num_local_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)


def qwen3_settings(writer, config):
    usual_settings(writer, config)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_expert_feed_forward_length(getattr(config, "moe_intermediate_size", config.intermediate_size))


def qwen2_settings(writer, config):
    usual_settings(writer, config)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)


def gpt_oss_settings(writer, config):
    qwen3_settings(writer, config)
    writer.add_sliding_window(config.sliding_window)
    rope = config.rope_parameters
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def latent_settings(writer, config):
    """As converters wrote it before keys and values lay apart."""
    usual_settings(writer, config)
    writer.add_leading_dense_block_count(config.first_k_dense_replace)
    if config.q_lora_rank:
        writer.add_q_lora_rank(config.q_lora_rank)
    writer.add_kv_lora_rank(config.kv_lora_rank)
    writer.add_key_length(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_value_length(config.v_head_dim)
    writer.add_rope_dimension_count(config.qk_rope_head_dim)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    rope = config.rope_parameters
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


def split_settings(writer, config):
    latent_settings(writer, config)
    for key in ("attention.head_count_kv", "attention.key_length", "attention.value_length"):
        writer.kv_data[0].pop(f"deepseek2.{key}")
    writer.add_head_count_kv(1)
    writer.add_key_length(config.kv_lora_rank + config.qk_rope_head_dim)
    writer.add_value_length(config.kv_lora_rank)
    writer.add_key_length_mla(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_value_length_mla(config.v_head_dim)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    writer.add_expert_group_count(config.n_group)
    writer.add_expert_group_used_count(config.topk_group)


LATENT = dict(
    num_key_value_heads=4, intermediate_size=64, moe_intermediate_size=32, num_experts_per_tok=2,
    kv_lora_rank=32, qk_nope_head_dim=PLAIN, qk_rope_head_dim=8, v_head_dim=VALUE, first_k_dense_replace=1,
    num_hidden_layers=2, max_position_embeddings=512, rope_parameters={
        "rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 0.7, "mscale_all_dim": 0.7,
        "original_max_position_embeddings": 64, "rope_theta": 10000.0})

#: The name in GGUF, the seed, what writes the metadata, and the configuration.
FAMILIES = {
    "qwen3-moe": ("qwen3moe", 51, qwen3_settings, dict(
        model_type="qwen3_moe", head_dim=16, num_hidden_layers=2, intermediate_size=48, moe_intermediate_size=32,
        num_experts=4, num_experts_per_tok=2, norm_topk_prob=True, rope_theta=1000000.0)),
    "qwen2-moe": ("qwen2moe", 52, qwen2_settings, dict(
        model_type="qwen2_moe", num_hidden_layers=1, intermediate_size=64, moe_intermediate_size=32,
        shared_expert_intermediate_size=64, num_experts=4, num_experts_per_tok=2, norm_topk_prob=False,
        rope_theta=10000.0)),
    "mixtral": ("llama", 54, usual_settings, dict(
        model_type="mixtral", num_hidden_layers=2, intermediate_size=32, num_local_experts=4, num_experts_per_tok=2,
        rope_theta=1000000.0)),
    "gpt-oss": ("gpt-oss", 56, gpt_oss_settings, dict(
        model_type="gpt_oss", head_dim=16, num_hidden_layers=2, intermediate_size=32, num_local_experts=4,
        num_experts_per_tok=2, sliding_window=8, rms_norm_eps=1e-05, rope_parameters={
            "rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
            "original_max_position_embeddings": 32, "rope_theta": 150000.0})),
    "deepseek-v3": ("deepseek2", 57, split_settings, LATENT | dict(
        model_type="deepseek_v3", q_lora_rank=32, n_routed_experts=8, n_shared_experts=1, n_group=4, topk_group=2,
        routed_scaling_factor=2.5, norm_topk_prob=True)),
    # Before keys and values lay apart.
    "deepseek-v2": ("deepseek2-whole", 58, latent_settings, LATENT | dict(
        model_type="deepseek_v2", q_lora_rank=None, n_routed_experts=4, n_shared_experts=2, topk_method="greedy",
        routed_scaling_factor=1.0, norm_topk_prob=False)),
}


def make(arch, seed, config):
    settings = BASE | config
    kind = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    kind._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(kind).float().eval()
    goldens.random_weights(model, seed, lambda name: 3.0 if ".gate." in name else 2.0)
    numbers_that_choose(model, seed)
    return model


def tensors_of(arch, model):
    for name, values in model.state_dict().items():
        yield from parts(arch, name, changed(arch, model.config, name, values.numpy(), False))


def convert(path, arch, model, folder, settings):
    writer = gguf.GGUFWriter(path, arch.removesuffix("-whole"))
    writer.add_name("random weights")
    writer.add_file_type(7)
    writer.add_quantization_version(2)
    settings(writer, model.config)
    add_vocabulary(writer, folder)
    for target, values in tensors_of(arch, model):
        kept = values.ndim == 1 or "ffn_gate_inp" in target or target.endswith("bias")
        type = Type.F32 if kept else Type.MXFP4 if arch == "gpt-oss" and "_exps" in target else Type.Q8_0
        writer.add_tensor(target, gguf.quants.quantize(np.ascontiguousarray(values), type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fill(model, arch, path):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    state = model.state_dict()
    for name, old in state.items():
        found = [tensors.pop(target) for target, _ in parts(arch, name, old.numpy())]
        stored = [gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in found]
        values = joined(arch, name, stored).reshape(old.shape)
        values = changed(arch, model.config, name, values, True)
        state[name] = torch.from_numpy(np.ascontiguousarray(values))
    assert not tensors, tensors.keys()
    model.load_state_dict(state)
    return model


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        goldens.short_tokenizer(folder, links=False)
        for name, (arch, seed, settings, config) in FAMILIES.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            kind = "mxfp4" if arch == "gpt-oss" else "q8_0"
            path = FIXTURES / f"micro-gguf/{name}-{kind}.gguf"
            convert(path, arch, make(arch, seed, config), folder, settings)
            path.chmod(0o644)
            result = goldens.answers(lambda: fill(make(arch, seed, config), arch, path), folder, PROMPTS)
            goldens.write(FIXTURES / f"goldens/micro-gguf-{name}.json", {
                "name": f"micro-gguf-{name}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
                "weights": f"GGUF {kind} as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
            } | result)
            print(name, path.stat().st_size)


if __name__ == "__main__":
    main()
