#!/usr/bin/env python3
"""Makes GGUF files of small models of Gemma 4, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0
    venv/bin/python scripts/goldens_gemma_gguf.py [NAME]...

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf as llama.cpp's converter would (`Gemma4Model` in its
convert_hf_to_gguf.py). A golden is what transformers says of the weights in the file, dequantised to float32.
"""

import sys

import gguf
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type

import goldens
from goldens import FIXTURES, MICRO, NOTES, PROMPTS, REFERENCE
from goldens_gemma import ROPE, SIZES, random_factors
from goldens_mixtures_gguf import add_vocabulary

STEMS = {
    "embed_tokens": "token_embd", "norm": "output_norm", "embed_tokens_per_layer": "per_layer_token_embd",
    "per_layer_model_projection": "per_layer_model_proj", "per_layer_projection_norm": "per_layer_proj_norm",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm",
    "layer_scalar": "layer_output_scale", "post_feedforward_layernorm_1": "post_ffw_norm_1",
    "pre_feedforward_layernorm_2": "pre_ffw_norm_2", "post_feedforward_layernorm_2": "post_ffw_norm_2",
    "router.proj": "ffn_gate_inp", "experts.gate_up_proj": "ffn_gate_up_exps", "experts.down_proj": "ffn_down_exps",
}
SCALES = {"router.scale": "ffn_gate_inp.scale", "router.per_expert_scale": "ffn_down_exps.scale"}

#: What differs: the first has everything but experts.
MODELS = {
    "gemma4": dict(num_kv_shared_layers=2, use_double_wide_mlp=True, hidden_size_per_layer_input=16),
    "gemma4-mixture": dict(
        num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"], hidden_size_per_layer_input=0,
        enable_moe_block=True, num_experts=8, top_k_experts=3, moe_intermediate_size=32),
}


def config(**changes):
    return transformers.Gemma4TextConfig(**(SIZES | dict(
        num_hidden_layers=6, layer_types=["sliding_attention", "full_attention"] * 3, intermediate_size=32,
        global_head_dim=16, num_global_key_value_heads=1, attention_k_eq_v=True, vocab_size_per_layer_input=320,
        rope_parameters=ROPE, final_logit_softcapping=30.0, attn_implementation="eager") | changes))


def make(**changes):
    model = transformers.Gemma4ForCausalLM(config(**changes)).eval()
    goldens.random_weights(model, 9, lambda name: 6.0 if "router.proj" in name else 3.0 if "embed_tokens" in name else 1.5)
    random_factors(model)
    return model


def named(model):
    """Parameters and factors of layers, by llama.cpp's names."""
    for name, values in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        name = name.removeprefix("model.")
        start = ""
        if name.startswith("layers."):
            _, layer, name = name.split(".", 2)
            start = f"blk.{layer}."
        yield start + (SCALES.get(name) or STEMS[name.removesuffix(".weight")] + ".weight"), values


def add_settings(writer, c):
    windowed = [kind == "sliding_attention" for kind in c.layer_types]
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    shared = [layer >= c.num_hidden_layers - c.num_kv_shared_layers for layer in range(c.num_hidden_layers)]
    writer.add_feed_forward_length([c.intermediate_size * (2 if is_shared else 1) for is_shared in shared])
    writer.add_head_count(SIZES["num_attention_heads"])
    writer.add_head_count_kv([2 if is_windowed else 1 for is_windowed in windowed])
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_key_length(16)
    writer.add_value_length(16)
    writer.add_key_length_swa(SIZES["head_dim"])
    writer.add_value_length_swa(SIZES["head_dim"])
    writer.add_rope_dimension_count(16)
    writer.add_rope_dimension_count_swa(SIZES["head_dim"])
    writer.add_rope_freq_base(ROPE["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(ROPE["sliding_attention"]["rope_theta"])
    writer.add_sliding_window(c.sliding_window)
    writer.add_sliding_window_pattern(windowed)
    if c.enable_moe_block:
        writer.add_expert_count(c.num_experts)
        writer.add_expert_used_count(c.top_k_experts)
        writer.add_expert_feed_forward_length(c.moe_intermediate_size)
    writer.add_shared_kv_layers(c.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(c.hidden_size_per_layer_input)
    writer.add_final_logit_softcapping(c.final_logit_softcapping)
    # A quarter of the pairs turns.
    writer.add_tensor("rope_freqs.weight", np.array([1.0] * 2 + [1e30] * 6, np.float32))


def convert(path, model, folder):
    writer = gguf.GGUFWriter(path, "gemma4")
    writer.add_name("random weights")
    writer.add_file_type(7)
    writer.add_quantization_version(2)
    add_settings(writer, model.config)
    add_vocabulary(writer, folder)
    for name, values in named(model):
        values = np.ascontiguousarray(values.numpy())
        type = Type.F32 if values.ndim == 1 or "gate_inp" in name else Type.Q8_0 if values.shape[-1] % 32 == 0 else Type.F16
        writer.add_tensor(name, gguf.quants.quantize(values, type), raw_dtype=type)
    # The converter keeps what published files have beside: keys of a layer that reads those of another.
    if model.config.num_kv_shared_layers:
        writer.add_tensor("blk.5.attn_k.weight", np.zeros((16, 32), np.float32))
        writer.add_tensor("blk.5.attn_k_norm.weight", np.ones(16, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@torch.no_grad()
def fill(model, path):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    for name, values in named(model):
        stored = gguf.quants.dequantize(tensors[name].data, tensors[name].tensor_type).astype(np.float32)
        values.copy_(torch.from_numpy(stored).reshape(values.shape))
    return model


def golden(name):
    folder, path, own = MICRO / "gemma", FIXTURES / f"micro-gguf/{name}-q8_0.gguf", MODELS[name]
    convert(path, make(**own), folder)
    path.chmod(0o644)
    result = goldens.answers(lambda: fill(make(**own), path), folder, PROMPTS)
    ids, given = result["prompts"][0]["ids"], torch.tensor(result["logits"]["values"])
    turning = ROPE | {"full_attention": {"rope_theta": 1000000.0, "rope_type": "default"}}
    slow = ROPE | {"sliding_attention": {"rope_theta": 1000000.0, "rope_type": "default"}}
    for what, changes in {
        "window": dict(sliding_window=200), "rope_freqs": dict(rope_parameters=turning),
        "rope base of windows": dict(rope_parameters=slow), "cap": dict(final_logit_softcapping=None),
    }.items():
        move = float((goldens.logits(fill(make(**(own | changes)), path), ids) - given).abs().max())
        print(f"{name} without {what} {move:.3f}")
        assert move > 0.01, what
    goldens.write(FIXTURES / f"goldens/micro-gguf-{name}.json", {
        "name": f"micro-gguf-{name}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
        "weights": "GGUF q8_0 and f16 as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
    } | result)


if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        golden(name)
