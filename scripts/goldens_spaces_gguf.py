#!/usr/bin/env python3
"""Makes GGUF files of small state spaces, and writes down what transformers says of them.

    venv/bin/python scripts/goldens_spaces_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf as llama.cpp's converter would (conversion/mamba.py): the rates of decay are
stored instead of their logarithms, Falcon Mamba is a Mamba with a flag. A golden is what transformers says of the weights
in the file, dequantised to float32.
"""

import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type

import goldens
from goldens import FIXTURES, MICRO, NOTES, PROMPTS, REFERENCE
from goldens_mixtures_gguf import add_vocabulary

STEMS = {
    "backbone.embeddings": "token_embd", "backbone.norm_f": "output_norm", "lm_head": "output", "norm": "attn_norm",
    "mixer.in_proj": "ssm_in", "mixer.conv1d": "ssm_conv1d", "mixer.x_proj": "ssm_x", "mixer.dt_proj": "ssm_dt",
    "mixer.norm": "ssm_norm", "mixer.out_proj": "ssm_out",
}
PLAIN = {"mixer.A_log": "ssm_a", "mixer.D": "ssm_d", "mixer.dt_bias": "ssm_dt.bias"}
#: The fixture in safetensors, and the name of the architecture.
FAMILIES = {"mamba": "mamba", "falcon_mamba": "mamba", "mamba2": "mamba2"}


def place(name):
    start = ""
    if name.startswith("backbone.layers."):
        _, _, layer, name = name.split(".", 3)
        start = f"blk.{layer}."
    if name in PLAIN:
        return start + PLAIN[name]
    stem, ending = name.rsplit(".", 1)
    return f"{start}{STEMS[stem]}.{ending}"


def stored(config, name, values):
    if name.endswith("A_log"):
        values = -np.exp(values)
    if config.model_type == "mamba2" and name.endswith(("A_log", ".D")):
        return values.reshape(-1, 1)
    if name.endswith("mixer.norm.weight"):
        return values.reshape(config.n_groups, -1)
    return values[:, 0] if name.endswith("conv1d.weight") else values


def restored(name, values, shape):
    return (np.log(-values) if name.endswith("A_log") else values).reshape(shape)


def write(name):
    model = goldens.load(MICRO / name)
    config = model.config
    path = FIXTURES / f"micro-gguf/{name.replace('_', '-')}-q8_0.gguf"
    writer = gguf.GGUFWriter(path, FAMILIES[name])
    writer.add_name(f"micro {name}")
    writer.add_context_length(1 << 20)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_ssm_conv_kernel(config.conv_kernel)
    writer.add_ssm_inner_size(int(config.expand * config.hidden_size))
    writer.add_ssm_state_size(config.state_size)
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    if config.model_type == "mamba2":
        writer.add_ssm_time_step_rank(config.num_heads)
        writer.add_ssm_group_count(config.n_groups)
    else:
        writer.add_ssm_time_step_rank(config.time_step_rank)
        writer.add_ssm_dt_b_c_rms(config.model_type == "falcon_mamba")
    writer.add_file_type(7)
    add_vocabulary(writer, MICRO / name)
    weights, tied = {}, getattr(config, "tie_word_embeddings", False)
    for parameter, value in model.state_dict().items():
        if parameter == "lm_head.weight" and tied:
            continue
        values = stored(config, parameter, value.float().numpy())
        # The quantiser leaves alone what has few numbers in a row, and what a convolution multiplies.
        is_matrix = values.ndim == 2 and values.shape[-1] % 32 == 0 and "conv1d" not in parameter and "norm" not in parameter
        kind = Type.Q8_0 if is_matrix else Type.F32
        packed = gguf.quants.quantize(np.ascontiguousarray(values), kind)
        writer.add_tensor(place(parameter), packed, raw_dtype=kind)
        read = gguf.quants.dequantize(packed, kind).reshape(values.shape)
        weights[parameter] = torch.from_numpy(restored(parameter, read, value.shape))
    if tied:
        weights["lm_head.weight"] = weights["backbone.embeddings.weight"]
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, weights


def make(name):
    path, weights = write(name)
    path.chmod(0o644)
    # Falcon Mamba's file has one epsilon.
    changes = {"mixer_rms_eps": 1e-05} if name == "falcon_mamba" else {}

    def load():
        model = goldens.load(MICRO / name, **changes)
        model.load_state_dict(weights)
        return model.eval()

    title = f"micro-gguf-{name.replace('_', '-')}"
    goldens.write(FIXTURES / f"goldens/{title}.json", {
        "name": title, "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
        "weights": "GGUF q8_0 as llama.cpp's converter writes it, dequantised to float32", "notes": NOTES,
    } | goldens.answers(load, MICRO / name, PROMPTS))
    print(name, path.stat().st_size)


if __name__ == "__main__":
    for name in FAMILIES:
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name)
