#!/usr/bin/env python3
"""Writes down what PyPI's gguf makes of random blocks of GGUF's types, and makes small models of such blocks.

    venv/bin/pip install gguf==0.19.0
    venv/bin/python scripts/goldens_blocks.py            # Tests/Fixtures/formats/blocks.json
    venv/bin/python scripts/goldens_blocks.py models     # needs what scripts/goldens_gguf.py needs, llama-cpp-python or not

The bytes are those of a linear congruential generator, so that a test makes them again; what has to be a finite half float gets a
small exponent. A digest is SHA-256 of the numbers as little-endian float32, with 0 for -0.

The models are Llamas as in Tests/Fixtures/micro-llama-quant-gguf, for types that llama.cpp does not quantise to without an
importance matrix, or at all: their matrices are random blocks, scaled to what random weights are. A golden is what transformers
says of the dequantised weights; llama.cpp has to come near it where it is installed.
"""

import hashlib
import importlib.util
import json
import pathlib
import sys
import unittest.mock

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures"
BLOCKS = 64
HAS_LLAMA_CPP = importlib.util.find_spec("llama_cpp") is not None
# The upper bytes of a block's half floats.
UPPER = {
    "Q4_0": [1], "Q4_1": [1, 3], "Q5_0": [1], "Q5_1": [1, 3], "Q8_0": [1], "Q2_K": [81, 83], "Q3_K": [109], "Q4_K": [1, 3],
    "Q5_K": [1, 3], "Q6_K": [209], "IQ4_NL": [1], "IQ4_XS": [1], "MXFP4": [], "IQ1_S": [1], "IQ1_M": [55], "IQ2_XXS": [1],
    "IQ2_XS": [1], "IQ2_S": [1], "IQ3_XXS": [1], "IQ3_S": [1], "TQ1_0": [53], "TQ2_0": [65], "NVFP4": [],
}


class Bytes:
    def __init__(self, state):
        self.state = state

    def take(self, count):
        out = bytearray()
        for _ in range(count):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            out.append(self.state >> 56)
        return np.frombuffer(bytes(out), np.uint8)


def blocks(name, count, source):
    """Random ones, whose half floats are below 2 and not NaN."""
    out = source.take(count * gguf.GGML_QUANT_SIZES[Type[name]][1]).reshape(count, -1).copy()
    for place in UPPER[name]:
        out[:, place] &= 0xBF
    return out


def write_digests():
    out = {}
    for seed, (name, upper) in enumerate(UPPER.items()):
        values = dequantize(blocks(name, BLOCKS, Bytes(seed)).reshape(-1), Type[name]).astype("<f4").reshape(-1)
        values = np.where(values == 0, np.float32(0), values)
        assert np.isfinite(values).all(), name
        out[name] = {"seed": seed, "upper": upper, "first": [float(value) for value in values[:8]],
                     "sha256": hashlib.sha256(values.tobytes()).hexdigest()}
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in out.items()]
    (FIXTURES / "formats/blocks.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


# Models

def with_scale(name, out, scale):
    """Blocks whose weights are `scale` times as large; their half floats are 1 before."""
    half = np.float16(scale).view(np.uint16)
    if name == "IQ1_M":
        for i in range(4):
            out[:, 49 + 2 * i] = (out[:, 49 + 2 * i] & 0x0F) | (int(half) >> 4 * i & 15) << 4
    for place in UPPER[name] if name != "IQ1_M" else []:
        out[:, place - 1], out[:, place] = half & 255, half >> 8
    return out


def random_matrix(name, values, source):
    """Blocks of a matrix's size whose weights are about as large; of NVFP4 the number that they are to be multiplied with, too."""
    size = gguf.GGML_QUANT_SIZES[Type[name]][0]
    out = blocks(name, values.size // size, source)
    if name == "NVFP4":
        out[:, :4] = 0x28 + out[:, :4] % 0x18
    out = with_scale(name, out, 1)
    factor = values.std() / dequantize(out.reshape(-1), Type[name]).std()
    if name != "NVFP4":
        out = with_scale(name, out, factor)
    return out.reshape(values.shape[0], -1), np.float32(factor)


KINDS = {"iq2_xxs": 1, "iq1_m": 2, "iq3_s": 3, "tq1_0": 4, "nvfp4": 5}


def write_model(kind, seed):
    import torch

    import goldens
    if not HAS_LLAMA_CPP:
        sys.modules["llama_cpp"] = unittest.mock.MagicMock()
    import goldens_gguf as base

    folder, name, source = base.short_folder(), kind.upper(), Bytes(seed)
    path = FIXTURES / f"micro-llama-quant-gguf/model-{kind}.gguf"
    model = base.random_llama(256)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random blocks")
    writer.add_file_type(int(gguf.LlamaFileType["MOSTLY_" + name]))
    writer.add_quantization_version(2)
    base.add_settings(writer, "llama", model.config)
    base.add_vocabulary(writer, folder)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for own, target in base.names("llama", model).items():
            values = base.changed("llama", model.config, own, parameters[own].detach().numpy())
            if values.ndim == 1:
                writer.add_tensor(target, np.ascontiguousarray(values))
                continue
            if target.startswith("token_embd"):
                writer.add_tensor(target, values.astype(np.float16))
                parameters[own].copy_(torch.from_numpy(values.astype(np.float16).astype(np.float32)))
                continue
            packed, factor = random_matrix(name, values, source)
            wide = dequantize(packed, Type[name]).reshape(values.shape)
            writer.add_tensor(target, packed, raw_dtype=Type[name])
            if name == "NVFP4":
                writer.add_tensor(target.removesuffix("weight") + "scale", np.array([factor], np.float32))
                wide = wide * factor
            wide = base.changed("llama", model.config, own, wide, back=True)
            parameters[own].copy_(torch.from_numpy(np.ascontiguousarray(wide)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    result = base.one_answer(lambda: model, folder, base.CHOICE)
    given = torch.tensor(result["logits"]["values"])
    print(f"{kind}: logits reach {float(given.abs().max()):.1f}", flush=True)
    if HAS_LLAMA_CPP:
        apart = float((base.llama_cpp_logits(path, result["prompts"][0]["ids"], 256) - given).abs().max())
        print(f"    llama.cpp is {apart:.4f} away")
        assert apart < 0.05 * float(given.abs().max()), kind
    base.write(f"micro-llama-quant-gguf-{kind}", path, f"GGUF {kind}, random blocks, dequantised to float32 with gguf-py",
               goldens.NOTES, result)


if __name__ == "__main__":
    if sys.argv[1:] == ["models"]:
        for kind, seed in KINDS.items():
            write_model(kind, seed)
    else:
        write_digests()
