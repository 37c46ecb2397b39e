#!/usr/bin/env python3
"""Makes GGUF files of models of goldens_kin.py, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0
    venv/bin/python scripts/goldens_kin_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf as llama.cpp's converter would. A golden is what transformers says of the
weights in the file, dequantised to float32.
"""

import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type

import goldens
from goldens import FIXTURES, MICRO, NOTES, PROMPTS, REFERENCE, SENTENCES
from goldens_decoders_gguf import llama, turned, usual
from goldens_mixtures_gguf import add_vocabulary

#: What gguf-py has under other names, or as one tensor: the ends of transformers' names, and llama.cpp's.
OWN = {
    "experts.gate_up_proj": ["ffn_gate_exps.weight", "ffn_up_exps.weight"], "experts.down_proj": ["ffn_down_exps.weight"],
    "shared_mlp.input_linear.weight": ["ffn_gate_shexp.weight", "ffn_up_shexp.weight"],
    "shared_mlp.output_linear.weight": ["ffn_down_shexp.weight"], "router.weight": ["ffn_gate_inp.weight"],
    "expert_bias": ["exp_probs_b.bias"], "e_score_correction_bias": ["exp_probs_b.bias"], "operator_norm.weight": ["attn_norm.weight"],
    "embedding_norm.weight": ["token_embd_norm.weight"], "mlp.gate_up_proj.weight": ["ffn_up.weight"],
    "post_self_attn_layernorm.weight": ["post_attention_norm.weight"], "post_mlp_layernorm.weight": ["post_ffw_norm.weight"],
    "dt_bias": ["ssm_dt.bias"], "mixer.experts.up_proj": ["ffn_up_exps.weight"],
}


def names(arch, model, dense=False):
    """transformers' name of each tensor in the file, with those of llama.cpp."""
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == arch)
    table = gguf.get_tensor_name_map(number, model.config.num_hidden_layers)
    out = {}
    for name, _ in parameters(model).items():
        own = next((OWN[end] for end in OWN if name.endswith(end)), None)
        if own:
            layer = [part for part in name.split(".") if part.isdigit()]
            own = [end.replace("_shexp", "") if dense else end for end in own]
            out[name] = [f"blk.{layer[0]}.{end}" if layer else end for end in own]
        else:
            # Nemotron-H, as it is published.
            found = name.replace("model.", "backbone.", 1) if ".mixer." in name else name
            out[name] = [table.get_name(found, try_suffixes=(".weight", ".bias"))]
        assert out[name][0], name
    return out


def parameters(model):
    return dict(model.named_parameters()) | {
        name: value for name, value in model.named_buffers() if name.endswith(("expert_bias", "correction_bias"))}


def convert(path, arch, model, folder, say, change, dense):
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name("random weights")
    writer.add_file_type(7)
    writer.add_quantization_version(2)
    say(writer, model.config)
    add_vocabulary(writer, folder)
    found = parameters(model)
    for name, targets in names(arch, model, dense).items():
        values = change(model.config, name, found[name].detach().numpy(), False)
        if "conv" in name and values.ndim == 3:
            values = values[:, 0]
        if "e_score_correction_bias" in name and values.ndim == 2:
            values = values[0]
        for target, part in zip(targets, np.split(values, len(targets), axis=-2) if len(targets) > 1 else [values]):
            plain = part.ndim == 1 or part.shape[-1] % 32 or "norm" in target or "ffn_gate_inp" in target or "shortconv.conv" in target
            type = Type.F32 if plain else Type.Q8_0
            writer.add_tensor(target, gguf.quants.quantize(np.ascontiguousarray(part), type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fill(model, arch, path, change, dense):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    found = parameters(model)
    with torch.no_grad():
        for name, targets in names(arch, model, dense).items():
            stored = [tensors.pop(target) for target in targets]
            stored = [gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in stored]
            values = np.concatenate(stored, axis=-2) if len(stored) > 1 else stored[0]
            values = change(model.config, name, values.reshape(found[name].shape), True)
            found[name].copy_(torch.from_numpy(np.ascontiguousarray(values)))
    assert not tensors, tensors.keys()
    return model


# What the converter says

def as_it_is(config, name, values, back):
    return values


def lfm2(writer, config):
    usual(writer, config)
    width = config.intermediate_size
    if getattr(config, "block_auto_adjust_ff_dim", False):
        unit = config.block_multiple_of
        width = -(-int(config.block_ffn_dim_multiplier * int(2 * width / 3)) // unit) * unit
    writer.add_feed_forward_length(width)
    writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in config.layer_types])
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    writer.add_shortconv_l_cache(config.conv_L_cache)


def experts(writer, config):
    writer.add_expert_count(getattr(config, "num_experts", None) or config.num_local_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)


def lfm2moe(writer, config):
    lfm2(writer, config)
    experts(writer, config)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_leading_dense_block_count(config.num_dense_layers)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def granite(writer, config):
    if config.model_type == "granitemoehybrid" and not config.num_local_experts:
        config.intermediate_size = config.shared_intermediate_size
    llama(writer, config)
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)


def granitemoe(writer, config):
    granite(writer, config)
    experts(writer, config)
    if getattr(config, "shared_intermediate_size", 0):
        writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)


def granite4_moe(writer, config):
    granitemoe(writer, config)
    writer.add_rope_scaling_finetuned(False)


def olmoe(writer, config):
    llama(writer, config)
    experts(writer, config)
    writer.add_clamp_kqv(config.clip_qkv)


def half(writer, config):
    llama(writer, config)
    writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters["partial_rotary_factor"]))


def ernie_moe(writer, config):
    llama(writer, config)
    experts(writer, config)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.moe_num_shared_experts)
    writer.add_expert_shared_feed_forward_length(config.moe_num_shared_experts * config.moe_intermediate_size)
    writer.add_leading_dense_block_count(config.moe_layer_start_index)
    writer.add_interleave_moe_layer_step(config.moe_layer_interval)


def hunyuan(writer, config):
    rope = config.rope_parameters
    config.rope_parameters = rope | {
        "rope_theta": rope["rope_theta"] * rope["alpha"] ** (config.head_dim / (config.head_dim - 2))}
    llama(writer, config)
    config.rope_parameters = rope
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)


def hunyuan_moe(writer, config):
    hunyuan(writer, config)
    writer.add_expert_count(config.num_experts)
    writer.add_expert_used_count(config.moe_topk[0])
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_expert_shared_feed_forward_length(config.intermediate_size)
    writer.add_expert_shared_count(1)


def nemotron(writer, config):
    llama(writer, config, epsilon=False)
    writer.add_layer_norm_eps(config.norm_eps)
    writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters["partial_rotary_factor"]))


def one_more(config, name, values, back):
    if not name.endswith("norm.weight"):
        return values
    return values - np.float32(1) if back else values + np.float32(1)


def ministral3(writer, config):
    arcee(writer, config)
    rope = config.rope_parameters
    writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
    writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])


def arcee(writer, config):
    llama(writer, config)
    rope = config.rope_parameters
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
    writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])


#: The name in GGUF, the metadata, and what changes.
FAMILIES = {
    "lfm2": ("lfm2", lfm2, as_it_is),
    "lfm2-moe": ("lfm2moe", lfm2moe, as_it_is),
    "granite": ("granite", granite, turned),
    "granitemoe": ("granitemoe", granitemoe, turned),
    "granite4": ("granite", granite, turned),
    "granite4-moe": ("granitemoe", granite4_moe, turned),
    "smollm3": ("smollm3", llama, turned),
    "olmoe": ("olmoe", olmoe, as_it_is),
    "glm": ("chatglm", half, as_it_is),
    "glm4": ("glm4", half, as_it_is),
    "ernie4_5": ("ernie4_5", llama, as_it_is),
    "ernie4_5-moe": ("ernie4_5-moe", ernie_moe, as_it_is),
    "seed-oss": ("seed_oss", llama, as_it_is),
    "hunyuan": ("hunyuan-dense", hunyuan, as_it_is),
    "hunyuan-moe": ("hunyuan-moe", hunyuan_moe, as_it_is),
    "nemotron": ("nemotron", nemotron, one_more),
    "ministral3": ("mistral3", ministral3, turned),
    "arcee": ("arcee", arcee, turned),
}


def make(name, folder, arch, say, change, dense=False, **changes):
    """A file of the model in a folder, and its golden. `changes` are settings that the file does not say."""
    path = FIXTURES / f"micro-gguf/{name}-q8_0.gguf"

    def load():
        return goldens.load(folder, **changes)

    convert(path, arch, load(), folder, say, change, dense)
    path.chmod(0o644)
    result = None
    for prompts in (PROMPTS, PROMPTS[:1], PROMPTS[1:], *([text] for text in SENTENCES)):
        try:
            result = goldens.answers(lambda: fill(load(), arch, path, change, dense), folder, prompts)
            break
        except goldens.NearTie as tie:
            print(tie)
    assert result, f"{name}: each prompt comes near a tie"
    goldens.write(FIXTURES / f"goldens/micro-gguf-{name}.json", {
        "name": f"micro-gguf-{name}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
        "weights": "GGUF q8_0 as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
    } | result)
    print(name, path.stat().st_size)


UNSAID = {"lfm2-moe": {"routed_scaling_factor": 1.0}, "ernie4_5-moe": {"moe_layer_end_index": 3}}

if __name__ == "__main__":
    for name, (arch, say, change) in FAMILIES.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, MICRO / name, arch, say, change, dense=name == "granite4", **UNSAID.get(name, {}))
