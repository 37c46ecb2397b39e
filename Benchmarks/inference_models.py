#!/usr/bin/env python3
"""Random Llamas of 0.36 billion parameters for timing, the same size in each form: inference_models.py FOLDER [FORM...]

    pip install numpy gguf==0.19.0 llama-cpp-python==0.3.36

FORM is q4_0, q8_0, q4_k_m (GGUF, quantised by llama.cpp), bf16 (safetensors), mlx (4 bits in groups of 64, as mlx_lm
writes it) or repeats (Q4_0); without one, all of them. They need 2.2 GB, and 2.2 GB more meanwhile. A form that is there
already is left alone.

What such a model says means nothing. Every byte is a token of its own, so a prompt of 256 characters has 256 tokens.
K-quants need rows of a multiple of 256, so q4_k_m is a little wider and has fewer layers. What repeats says comes round
every 64 tokens: its embedding outweighs its layers, and its head is the embedding, each row one further.
"""

import ctypes
import json
import pathlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

VOCABULARY = 32000
NARROW = dict(hidden_size=896, num_hidden_layers=24, intermediate_size=4864, num_attention_heads=14, num_key_value_heads=2)
WIDE = dict(hidden_size=1024, num_hidden_layers=21, intermediate_size=4096, num_attention_heads=16, num_key_value_heads=4)
HEAD = 64


# The model

def matrices(size):
    """llama.cpp's name, transformers' name and the shape of each matrix."""
    hidden, inner = size["hidden_size"], size["intermediate_size"]
    keys = size["num_key_value_heads"] * HEAD
    yield "token_embd", "model.embed_tokens", (VOCABULARY, hidden)
    for layer in range(size["num_hidden_layers"]):
        theirs, ours = f"blk.{layer}", f"model.layers.{layer}"
        yield f"{theirs}.attn_q", f"{ours}.self_attn.q_proj", (hidden, hidden)
        yield f"{theirs}.attn_k", f"{ours}.self_attn.k_proj", (keys, hidden)
        yield f"{theirs}.attn_v", f"{ours}.self_attn.v_proj", (keys, hidden)
        yield f"{theirs}.attn_output", f"{ours}.self_attn.o_proj", (hidden, hidden)
        yield f"{theirs}.ffn_gate", f"{ours}.mlp.gate_proj", (inner, hidden)
        yield f"{theirs}.ffn_up", f"{ours}.mlp.up_proj", (inner, hidden)
        yield f"{theirs}.ffn_down", f"{ours}.mlp.down_proj", (hidden, inner)


def norms(size):
    for layer in range(size["num_hidden_layers"]):
        yield f"blk.{layer}.attn_norm", f"model.layers.{layer}.input_layernorm"
        yield f"blk.{layer}.ffn_norm", f"model.layers.{layer}.post_attention_layernorm"
    yield "output_norm", "model.norm"


ROUND = 64


def values(index, shape):
    """The matrix of this number, the same in every form."""
    return np.random.default_rng(index).standard_normal(shape, dtype=np.float32) * np.float32(0.02)


def tokens():
    """<s>, </s>, the 256 bytes as byte-level BPE spells them, one merge, and words that no text becomes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    spelled = dict(zip(plain, map(chr, plain))) | {byte: chr(256 + place) for place, byte in enumerate(rest)}
    words = ["<s>", "</s>"] + [spelled[byte] for byte in range(256)] + ["QQ"]
    return words + [f"[unused{number}]" for number in range(VOCABULARY - len(words))]


# GGUF

def gguf_writer(path, size, architecture="llama", rotated=HEAD):
    """A model of this size, a Llama if not told otherwise, without its tensors."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("random weights for timing")
    writer.add_context_length(32768)
    writer.add_embedding_length(size["hidden_size"])
    writer.add_block_count(size["num_hidden_layers"])
    writer.add_feed_forward_length(size["intermediate_size"])
    writer.add_head_count(size["num_attention_heads"])
    writer.add_head_count_kv(size["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(rotated)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens())
    writer.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * (VOCABULARY - 2))
    writer.add_token_merges(["Q Q"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    return writer


def write_gguf(path, size, repeats=False):
    writer = gguf_writer(path, size)
    for index, (name, _, shape) in enumerate(matrices(size)):
        matrix = values(index, shape)
        if repeats and name == "token_embd":
            matrix *= 100
            head = np.roll(matrix.reshape(-1, ROUND, shape[1]), 1, axis=1).reshape(shape)
            writer.add_tensor("output.weight", head.astype(np.float16))
        writer.add_tensor(f"{name}.weight", matrix.astype(np.float16))
    for name, _ in norms(size):
        writer.add_tensor(f"{name}.weight", np.ones(size["hidden_size"], np.float32))
    close(writer)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantise(source, target, form):
    """llama.cpp's quantiser. Q4_0 and Q8_0 get every matrix in that type, Q4_K_M the mixture that it chooses."""
    from llama_cpp import llama_cpp as low

    quiet = low.llama_log_callback(lambda level, text, data: None)
    low.llama_log_set(quiet, ctypes.c_void_p(0))
    settings = low.llama_model_quantize_default_params()
    settings.ftype = {
        "q8_0": low.LLAMA_FTYPE_MOSTLY_Q8_0, "q4_k_m": low.LLAMA_FTYPE_MOSTLY_Q4_K_M,
    }.get(form, low.LLAMA_FTYPE_MOSTLY_Q4_0)
    settings.pure = form != "q4_k_m"
    if low.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(settings)) != 0:
        sys.exit(f"llama.cpp cannot write {target}")


# Safetensors

def bf16(array):
    return gguf.quants.quantize(array, Type.BF16)


def packed(array, group=64):
    """A matrix as MLX packs it: words of eight numbers of 4 bits, the first lowest, and a scale and a bias for each group.

    A weight is number * scale + bias. The end of the range that is further from zero is hit exactly.
    """
    groups = array.reshape(array.shape[0], -1, group)
    low, high = groups.min(-1, keepdims=True), groups.max(-1, keepdims=True)
    below = np.abs(low) > np.abs(high)
    scale = np.maximum((high - low) / 15, 1e-7) * np.where(below, 1, -1)
    edge = np.where(below, low, high)
    steps = np.round(edge / scale)
    scale = np.where(steps != 0, edge / np.where(steps != 0, steps, 1), scale)
    bias = np.where(steps != 0, edge, 0)
    numbers = np.clip(np.round((groups - bias) / scale), 0, 15).astype(np.uint32).reshape(array.shape[0], -1, 8)
    words = (numbers << np.arange(0, 32, 4, dtype=np.uint32)).sum(-1, dtype=np.uint32)
    return {
        "weight": ("U32", words), "scales": ("BF16", bf16(scale[..., 0].astype(np.float32))),
        "biases": ("BF16", bf16(bias[..., 0].astype(np.float32))),
    }


def write_safetensors(path, size, pack):
    """Tensors one after the other, so that no more than one is in memory; the header is written last, in room left for it."""
    header, room, end = {"__metadata__": {"format": "mlx" if pack else "pt"}}, 1 << 17, 0
    with open(path, "wb") as file:
        file.seek(8 + room)

        def add(name, kind, array):
            nonlocal end
            shape = list(array.shape[:-1]) + [array.shape[-1] // (2 if kind == "BF16" else 1)]
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + array.nbytes]}
            file.write(array.tobytes())
            end += array.nbytes

        for index, (_, name, shape) in enumerate(matrices(size)):
            matrix = values(index, shape)
            for part, (kind, array) in (packed(matrix) if pack else {"weight": ("BF16", bf16(matrix))}).items():
                add(f"{name}.{part}", kind, array)
        for _, name in norms(size):
            add(f"{name}.weight", "BF16", bf16(np.ones(size["hidden_size"], np.float32)))
        text = json.dumps(header).encode()
        assert len(text) <= room
        file.seek(0)
        file.write(room.to_bytes(8, "little") + text.ljust(room))


def write_folder(folder, size, pack):
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", **size, head_dim=HEAD, vocab_size=VOCABULARY,
        max_position_embeddings=32768, rms_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None, hidden_act="silu",
        attention_bias=False, mlp_bias=False, tie_word_embeddings=True, torch_dtype="bfloat16", bos_token_id=0, eos_token_id=1,
    )
    if pack:
        config["quantization"] = config["quantization_config"] = {"group_size": 64, "bits": 4, "mode": "affine"}
    write_folder_files(folder, config, tokens())
    write_safetensors(folder / "model.safetensors", size, pack)


def write_folder_files(folder, config, spellings):
    """config.json, and a tokenizer of bytes with these tokens."""
    special = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": number, "content": token, **special} for number, token in enumerate(("<s>", "</s>"))],
        "pre_tokenizer": byte_level, "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(spellings)}, "merges": [["Q", "Q"]],
        },
    }
    settings = {"bos_token": "<s>", "eos_token": "</s>", "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 32768}
    for name, value in (
        ("config.json", config), ("tokenizer.json", tokenizer), ("tokenizer_config.json", settings),
        ("generation_config.json", {"bos_token_id": 0, "eos_token_id": 1}),
    ):
        (folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def make(folder, form):
    if form in ("bf16", "mlx"):
        target = folder / form
        if not (target / "model.safetensors").exists():
            write_folder(target, NARROW, form == "mlx")
        return target
    target = folder / f"{form}.gguf"
    if not target.exists():
        source = folder / SOURCES.get(form, "f16.gguf")
        if not source.exists():
            write_gguf(source, WIDE if form == "q4_k_m" else NARROW, form == "repeats")
        quantise(source, target, form)
    return target


FORMS = ["q4_0", "q8_0", "q4_k_m", "bf16", "mlx", "repeats"]
SOURCES = {"q4_k_m": "wide-f16.gguf", "repeats": "repeats-f16.gguf"}

if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(FORMS):
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for form in sys.argv[2:] or FORMS:
        print(make(place, form), flush=True)
    for source in ("f16.gguf", *SOURCES.values()):
        (place / source).unlink(missing_ok=True)
