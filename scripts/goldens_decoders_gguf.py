#!/usr/bin/env python3
"""Makes GGUF files of the small dense decoders, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0
    venv/bin/python scripts/goldens_decoders_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf from models of goldens_decoders.py as llama.cpp's converter would, with the names
of gguf-py. A golden is what transformers says of the weights in the file, dequantised to float32.
"""

import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type

import goldens
from goldens import FIXTURES, MICRO, NOTES, PROMPTS, REFERENCE, SENTENCES
from goldens_mixtures_gguf import add_vocabulary, permuted


# What the converter changes; `back` undoes it.

def as_it_is(config, name, values, back):
    return values


def by_head(config, name, values, back):
    """Queries, keys and values head by head, to one above the other."""
    if "query_key_value" not in name:
        return values
    heads, rest = config.num_attention_heads, values.shape[1:]
    shape = (3, heads, -1) if back else (heads, 3, -1)
    return values.reshape(*shape, *rest).swapaxes(0, 1).reshape(values.shape)


def by_group(config, name, values, back):
    """The same where some queries share a key."""
    if "query_key_value" not in name:
        return values
    heads = config.num_attention_heads
    groups = config.num_kv_heads if config.new_decoder_architecture else 1
    share, size = heads // groups, config.hidden_size // heads
    if not back:
        grouped = values.reshape(groups, share + 2, size, -1)
        parts = (grouped[:, :share], grouped[:, share:-1], grouped[:, -1:])
        return np.concatenate([part.reshape(-1, values.shape[1]) for part in parts])
    cuts = np.split(values, [heads * size, (heads + groups) * size])
    return np.concatenate([cut.reshape(groups, -1, size, values.shape[1]) for cut in cuts], axis=1).reshape(values.shape)


def turned(config, name, values, back):
    """Neighbours turn there, halves of a head here."""
    if "q_proj" in name:
        return permuted(values, config.num_attention_heads, back)
    return permuted(values, config.num_key_value_heads, back) if "k_proj" in name else values


# What the converter says

def usual(writer, config):
    writer.add_context_length(getattr(config, "max_position_embeddings", 2048))
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)


def gpt(writer, config, inner=None, kv=None):
    usual(writer, config)
    writer.add_feed_forward_length(inner or 4 * config.hidden_size)
    if kv:
        writer.add_head_count_kv(kv)
    names = ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon")
    writer.add_layer_norm_eps(next(getattr(config, name) for name in names if hasattr(config, name)))


def rotated(writer, config):
    share = config.rope_parameters["partial_rotary_factor"]
    writer.add_rope_dimension_count(int(share * config.hidden_size) // config.num_attention_heads)


def gptneox(writer, config):
    gpt(writer, config, config.intermediate_size)
    rotated(writer, config)
    writer.add_parallel_residual(config.use_parallel_residual)


def phi2(writer, config):
    gpt(writer, config, config.intermediate_size, config.num_key_value_heads)
    rotated(writer, config)


def falcon(writer, config):
    gpt(writer, config, kv=config.num_kv_heads if config.new_decoder_architecture else 1)
    writer.add_tensor_data_layout("jploski")


def stablelm(writer, config):
    gpt(writer, config, config.intermediate_size, config.num_key_value_heads)
    rotated(writer, config)
    writer.add_parallel_residual(config.use_parallel_residual)


def bloom(writer, config):
    gpt(writer, config, kv=config.num_attention_heads)


def starcoder(writer, config):
    gpt(writer, config, config.n_inner, 1)


def base(writer, config):
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])


def starcoder2(writer, config):
    gpt(writer, config, config.intermediate_size, config.num_key_value_heads)
    base(writer, config)


def llama(writer, config, epsilon=True):
    usual(writer, config)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count_kv(config.num_key_value_heads)
    if epsilon:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    base(writer, config)
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)


def olmo(writer, config):
    llama(writer, config, epsilon=False)
    writer.add_layer_norm_eps(1e-5)
    writer.add_clamp_kqv(config.clip_qkv)


def windows(writer, config):
    llama(writer, config)
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])


def olmo3(writer, config):
    windows(writer, config)
    rope = config.rope_parameters["full_attention"]
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope["factor"])
    writer.add_rope_scaling_attn_factors(rope["attention_factor"])
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def cohere(writer, config):
    llama(writer, config, epsilon=False)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_logit_scale(config.logit_scale)
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)


def cohere2(writer, config):
    cohere(writer, config)
    writer.add_sliding_window(config.sliding_window)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)


#: The model, the name in GGUF, the metadata, and what changes.
FAMILIES = {
    "gpt-neox": ("gptneox", gptneox, by_head),
    "phi": ("phi2", phi2, as_it_is),
    "falcon": ("falcon", falcon, by_group),
    "falcon-groups": ("falcon", falcon, by_group),
    "stablelm": ("stablelm", stablelm, as_it_is),
    "stablelm-parallel": ("stablelm", stablelm, as_it_is),
    "bloom": ("bloom", bloom, by_head),
    "gpt-bigcode": ("starcoder", starcoder, as_it_is),
    "starcoder2": ("starcoder2", starcoder2, as_it_is),
    "olmo": ("olmo", olmo, turned),
    "olmo2": ("olmo2", llama, as_it_is),
    "olmo3": ("olmo2", olmo3, as_it_is),
    "exaone4": ("exaone4", windows, as_it_is),
    "cohere": ("command-r", cohere, as_it_is),
    "cohere-norms": ("command-r", cohere, as_it_is),
    "cohere2": ("cohere2", cohere2, as_it_is),
}


def names(arch, model):
    """transformers' name of each tensor in the file, with llama.cpp's."""
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == arch)
    table = gguf.get_tensor_name_map(number, model.config.num_hidden_layers)
    out = {}
    for name, _ in model.named_parameters():
        names = (name, name.removeprefix("transformer."))  # the converter of Bloom cuts it
        out[name] = next(filter(None, (table.get_name(each, try_suffixes=(".weight", ".bias")) for each in names)), None)
        assert out[name], name
    return out


def convert(path, arch, model, folder, say, change):
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name("random weights")
    writer.add_file_type(7)
    writer.add_quantization_version(2)
    say(writer, model.config)
    add_vocabulary(writer, folder)
    parameters = dict(model.named_parameters())
    for name, target in names(arch, model).items():
        values = np.ascontiguousarray(change(model.config, name, parameters[name].detach().numpy(), False))
        type = Type.Q8_0 if values.shape[-1] % 32 == 0 else Type.F16
        if values.ndim == 1 or "norm" in target or "position_embd" in target:
            type = Type.F32
        writer.add_tensor(target, gguf.quants.quantize(values, type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fill(model, arch, path, change):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, target in names(arch, model).items():
            tensor = tensors.pop(target)
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            values = change(model.config, name, values.reshape(parameters[name].shape), True)
            parameters[name].copy_(torch.from_numpy(np.ascontiguousarray(values)))
    assert not tensors, tensors.keys()
    return model


def main():
    for name, (arch, say, change) in FAMILIES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        # What the file does not say.
        changes = {"sliding_window": None} if name == "starcoder2" else {}
        path, folder = FIXTURES / f"micro-gguf/{name}-q8_0.gguf", MICRO / name

        def load():
            return goldens.load(folder, **changes)

        convert(path, arch, load(), folder, say, change)
        path.chmod(0o644)
        result = None
        for prompts in (PROMPTS, PROMPTS[:1], PROMPTS[1:], *([text] for text in SENTENCES)):
            try:
                result = goldens.answers(lambda: fill(load(), arch, path, change), folder, prompts)
                break
            except goldens.NearTie as tie:
                print(tie)
        assert result, f"{name}: each prompt comes near a tie"
        goldens.write(FIXTURES / f"goldens/micro-gguf-{name}.json", {
            "name": f"micro-gguf-{name}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
            "weights": "GGUF q8_0 as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
        } | result)
        print(name, path.stat().st_size)


if __name__ == "__main__":
    main()
