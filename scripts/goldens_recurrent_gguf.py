#!/usr/bin/env python3
"""Makes GGUF files of small models with recurrent layers, and writes down what transformers says of them.

    venv/bin/python scripts/goldens_recurrent_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf as llama.cpp's converter would (conversion/qwen.py): value heads that read
the same key head stand as many apart as there are key heads, the rates of decay are stored instead of their logarithms,
norms have their 1 added, and a layer that guesses further tokens counts as one. A golden is what transformers says of the
weights in the file, dequantised to float32.
"""

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
from goldens_mixtures_gguf import STEMS, add_vocabulary, parts
from goldens_recurrent import QWEN35, QWEN35_ROPE, delta_weights

STEMS.update({
    "post_attention_layernorm": "post_attention_norm", "linear_attn.in_proj_qkv": "attn_qkv",
    "linear_attn.in_proj_z": "attn_gate", "linear_attn.in_proj_a": "ssm_alpha", "linear_attn.in_proj_b": "ssm_beta",
    "linear_attn.conv1d": "ssm_conv1d", "linear_attn.norm": "ssm_norm", "linear_attn.out_proj": "ssm_out",
})
PLAIN = {"linear_attn.A_log": "ssm_a", "linear_attn.dt_bias": "ssm_dt.bias"}


def places(name, values):
    for ending, target in PLAIN.items():
        if name.endswith(ending):
            return [(f"blk.{name.split('.')[2]}.{target}", values)]
    return parts(name, values)


def reordered(values, axis, config, size, back):
    """Value heads by key head, or the key heads' first ones, then their second ones."""
    groups = config.linear_num_key_heads
    shares = config.linear_num_value_heads // groups
    inner = (shares, groups) if back else (groups, shares)
    shape = values.shape[:axis] + (*inner, size) + values.shape[axis + 1:]
    return values.reshape(shape).swapaxes(axis, axis + 1).reshape(values.shape)


def changed(config, name, values, back):
    keys = 2 * config.linear_num_key_heads * config.linear_key_head_dim
    size = config.linear_value_head_dim
    if name.endswith(("in_proj_qkv.weight", "conv1d.weight")):
        head, rest = values[:keys], reordered(values[keys:], 0, config, size, back)
        values = np.concatenate([head, rest])
        return values if back or values.ndim == 2 else values[:, 0]
    if name.endswith("in_proj_z.weight"):
        return reordered(values, 0, config, size, back)
    if name.endswith(("in_proj_a.weight", "in_proj_b.weight", "dt_bias")):
        return reordered(values, 0, config, 1, back)
    if name.endswith("out_proj.weight"):
        return reordered(values, 1, config, size, back)
    if name.endswith("A_log"):
        return np.log(-reordered(values, 0, config, 1, back)) if back else -np.exp(reordered(values, 0, config, 1, back))
    if name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
        return values - np.float32(1) if back else values + np.float32(1)
    return values


def settings(writer, config, guesses):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers + guesses)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters["partial_rotary_factor"]))
    writer.add_rope_dimension_sections([1, 1, 0, 0])
    writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
    writer.add_ssm_state_size(config.linear_key_head_dim)
    writer.add_ssm_group_count(config.linear_num_key_heads)
    writer.add_ssm_time_step_rank(config.linear_num_value_heads)
    writer.add_ssm_inner_size(config.linear_num_value_heads * config.linear_value_head_dim)
    writer.add_full_attention_interval(2)
    if guesses:
        writer.add_nextn_predict_layers(guesses)
    if config.model_type == "qwen3_5_moe_text":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    else:
        writer.add_feed_forward_length(config.intermediate_size)


SIZES = QWEN35 | dict(linear_key_head_dim=16, linear_value_head_dim=16, intermediate_size=64, num_hidden_layers=3,
                      full_attention_interval=2, rope_parameters=QWEN35_ROPE | {"partial_rotary_factor": 0.5})
EXPERTS = dict(moe_intermediate_size=32, shared_expert_intermediate_size=32, num_experts=4, num_experts_per_tok=2)
#: The name in GGUF, the seed, the number of layers that guess, and the configuration.
FAMILIES = {
    "qwen3_5": ("qwen35", 61, 1, transformers.Qwen3_5TextConfig, SIZES | {"tie_word_embeddings": True}),
    "qwen3_5-moe": ("qwen35moe", 62, 0, transformers.Qwen3_5MoeTextConfig, SIZES | EXPERTS | {"num_hidden_layers": 2}),
}


def make(seed, kind, sizes):
    config = kind(**sizes)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).float().eval()
    delta_weights(model, seed)
    return model


def convert(path, arch, model, folder, guesses):
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name("random weights")
    writer.add_file_type(7)
    writer.add_quantization_version(2)
    settings(writer, model.config, guesses)
    add_vocabulary(writer, folder)
    for name, values in model.named_parameters():
        for target, value in places(name, changed(model.config, name, values.detach().numpy(), False)):
            plain = value.ndim == 1 or any(mark in target for mark in ("ffn_gate_inp", "ssm_conv1d"))
            type = Type.F32 if plain else Type.Q8_0
            writer.add_tensor(target, gguf.quants.quantize(np.ascontiguousarray(value), type), raw_dtype=type)
    for layer in range(model.config.num_hidden_layers, model.config.num_hidden_layers + guesses):
        writer.add_tensor(f"blk.{layer}.nextn.eh_proj.weight", np.zeros((2, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fill(model, path):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            found = [tensors.pop(target) for target, _ in places(name, parameter.numpy())]
            stored = [gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in found]
            values = np.concatenate(stored, axis=1) if len(stored) > 1 else stored[0]
            values = changed(model.config, name, values.reshape(parameter.shape), True)
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
    assert all(".nextn." in name for name in tensors), tensors.keys()
    return model


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        goldens.short_tokenizer(folder, links=False)
        for name, (arch, seed, guesses, kind, sizes) in FAMILIES.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            path = FIXTURES / f"micro-gguf/{name}-q8_0.gguf"
            convert(path, arch, make(seed, kind, sizes), folder, guesses)
            path.chmod(0o644)
            result = goldens.answers(lambda: fill(make(seed, kind, sizes), path), folder, PROMPTS)
            goldens.write(FIXTURES / f"goldens/micro-gguf-{name}.json", {
                "name": f"micro-gguf-{name}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
                "weights": "GGUF q8_0 as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
            } | result)
            print(name, path.stat().st_size)


if __name__ == "__main__":
    main()
