#!/usr/bin/env python3
"""Random models of other families and packings for timing: family_models.py FOLDER [FORM...]

    pip install numpy gguf==0.19.0 llama-cpp-python==0.3.36 torch transformers

FORM is fp8, awq, gptq or nvfp4 (six layers in the shape of a Qwen 3 of 4 billion parameters, almost nothing else),
mixture-q4_0 (GGUF, 8 experts of which a row takes 2), latent-q4_0 (GGUF, DeepSeek 3's attention), space-q4_0 (GGUF, Mamba 2),
t5-base or gated-delta (Qwen 3.5's layers; both float32); without one, all of them. They need 5 GB. A form that is there already is left alone. As in inference_models.py, every byte is a token.
"""

import json
import pathlib
import sys

import gguf
import numpy as np

import inference_models as models

LAYERS = dict(hidden_size=2560, num_hidden_layers=6, intermediate_size=9728, num_attention_heads=32, num_key_value_heads=8)
HEAD, WORDS = 128, 512
MIXTURE = dict(hidden_size=1024, num_hidden_layers=12, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=4)
EXPERTS, USED = 8, 2
LATENT = dict(hidden_size=1024, num_hidden_layers=12, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=1)
QUERY_RANK, RANK, PLAIN, ROTATED, VALUE = 512, 512, 128, 64, 128
SPACE = dict(hidden_size=1024, num_hidden_layers=24, intermediate_size=0, num_attention_heads=0, num_key_value_heads=0)
STATE, TAPS = 128, 4


def linears():
    hidden, inner = LAYERS["hidden_size"], LAYERS["intermediate_size"]
    queries, keys = LAYERS["num_attention_heads"] * HEAD, LAYERS["num_key_value_heads"] * HEAD
    for layer in range(LAYERS["num_hidden_layers"]):
        for name, out, columns in (
            ("self_attn.q_proj", queries, hidden), ("self_attn.k_proj", keys, hidden), ("self_attn.v_proj", keys, hidden),
            ("self_attn.o_proj", hidden, queries), ("mlp.gate_proj", inner, hidden), ("mlp.up_proj", inner, hidden),
            ("mlp.down_proj", hidden, inner),
        ):
            yield f"model.layers.{layer}.{name}", out, columns


# A matrix of random numbers in each packing: name, type, array.

def half(random, shape):
    return (0.001 + 0.001 * random.random(shape, dtype=np.float32)).astype(np.float16)


def words(random, shape):
    return random.integers(0, 1 << 32, shape, dtype=np.uint32).view(np.int32)


def fp8(random, out, columns):
    codes = random.integers(0, 0x78, (out, columns), dtype=np.uint8) | random.integers(0, 2, (out, columns), dtype=np.uint8) << 7
    blocks = (-(-out // 128), -(-columns // 128))
    return {"weight": ("F8_E4M3", codes), "weight_scale_inv": ("F32", np.full(blocks, 1e-4, np.float32))}


def awq(random, out, columns):
    return {
        "qweight": ("I32", words(random, (columns, out // 8))), "qzeros": ("I32", words(random, (columns // 128, out // 8))),
        "scales": ("F16", half(random, (columns // 128, out))),
    }


def gptq(random, out, columns):
    return {
        "qweight": ("I32", words(random, (columns // 8, out))), "qzeros": ("I32", words(random, (columns // 128, out // 8))),
        "scales": ("F16", half(random, (columns // 128, out))),
        "g_idx": ("I32", (np.arange(columns) // 128).astype(np.int32)),
    }


def nvfp4(random, out, columns):
    return {
        "weight": ("U8", random.integers(0, 256, (out, columns // 2), dtype=np.uint8)),
        "weight_scale": ("F8_E4M3", random.integers(0x30, 0x40, (out, columns // 16), dtype=np.uint8)),
        "weight_scale_2": ("F32", np.float32(0.004)), "input_scale": ("F32", np.float32(0.004)),
    }


PACKINGS = {
    "fp8": (fp8, {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}),
    "awq": (awq, {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}),
    "gptq": (gptq, {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True, "checkpoint_format": "gptq"}),
    "nvfp4": (nvfp4, {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"], "producer": {"name": "modelopt"}}),
}


def write_packed(folder, form):
    pack, quantization = PACKINGS[form]
    random = np.random.default_rng(7)
    tensors = {}
    for name, out, columns in linears():
        tensors |= {f"{name}.{part}": value for part, value in pack(random, out, columns).items()}
    hidden = LAYERS["hidden_size"]
    one = np.full(hidden, 0x3F80, np.uint16)
    for layer in range(LAYERS["num_hidden_layers"]):
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{layer}.{norm}.weight"] = ("BF16", one)
    tensors["model.norm.weight"] = ("BF16", one)
    tensors["model.embed_tokens.weight"] = ("F32", random.standard_normal((WORDS, hidden), dtype=np.float32) * np.float32(0.02))
    write_common(folder, dict(
        architectures=["LlamaForCausalLM"], model_type="llama", **LAYERS, head_dim=HEAD, vocab_size=WORDS,
        max_position_embeddings=32768, rms_norm_eps=1e-5, rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=True,
        torch_dtype="bfloat16", bos_token_id=0, eos_token_id=1, quantization_config=quantization), WORDS)
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (kind, array) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in tensors.values():
            file.write(array.tobytes())


def write_common(folder, config, count):
    """config.json and a tokenizer of bytes."""
    models.write_folder_files(folder, config, models.tokens()[:count])


# A mixture of experts, as llama.cpp has it

def write_mixture(path):
    hidden, inner, keys = MIXTURE["hidden_size"], MIXTURE["intermediate_size"], MIXTURE["num_key_value_heads"] * models.HEAD
    writer = models.gguf_writer(path, MIXTURE)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(USED)
    random = np.random.default_rng(9)

    def add(name, *shape, kind=np.float16):
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)).astype(kind))

    add("token_embd", models.VOCABULARY, hidden)
    writer.add_tensor("output_norm.weight", np.ones(hidden, np.float32))
    for layer in range(MIXTURE["num_hidden_layers"]):
        place = f"blk.{layer}"
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{place}.{norm}.weight", np.ones(hidden, np.float32))
        for name, out, columns in (("attn_q", hidden, hidden), ("attn_k", keys, hidden), ("attn_v", keys, hidden), ("attn_output", hidden, hidden)):
            add(f"{place}.{name}", out, columns)
        add(f"{place}.ffn_gate_inp", EXPERTS, hidden, kind=np.float32)
        for name, out, columns in (("ffn_gate_exps", inner, hidden), ("ffn_up_exps", inner, hidden), ("ffn_down_exps", hidden, inner)):
            add(f"{place}.{name}", EXPERTS, out, columns)
    models.close(writer)


# Latent attention, as llama.cpp has it: keys and values apart, each of a head's matrices by itself

def write_latent(path):
    hidden, inner, heads = LATENT["hidden_size"], LATENT["intermediate_size"], LATENT["num_attention_heads"]
    writer = models.gguf_writer(path, LATENT, "deepseek2", ROTATED)
    writer.add_leading_dense_block_count(LATENT["num_hidden_layers"])
    writer.add_q_lora_rank(QUERY_RANK)
    writer.add_kv_lora_rank(RANK)
    writer.add_key_length(RANK + ROTATED)
    writer.add_value_length(RANK)
    writer.add_key_length_mla(PLAIN + ROTATED)
    writer.add_value_length_mla(VALUE)
    # No layer has experts, but llama.cpp wants their numbers.
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(USED)
    writer.add_expert_feed_forward_length(inner)
    writer.add_expert_shared_count(1)
    writer.add_expert_weights_scale(1.0)
    writer.add_expert_weights_norm(True)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    random = np.random.default_rng(11)

    def add(name, *shape):
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)).astype(np.float16))

    add("token_embd", models.VOCABULARY, hidden)
    writer.add_tensor("output_norm.weight", np.ones(hidden, np.float32))
    for layer in range(LATENT["num_hidden_layers"]):
        place = f"blk.{layer}"
        for norm, width in (("attn_norm", hidden), ("ffn_norm", hidden), ("attn_q_a_norm", QUERY_RANK), ("attn_kv_a_norm", RANK)):
            writer.add_tensor(f"{place}.{norm}.weight", np.ones(width, np.float32))
        for name, *shape in (
            ("attn_q_a", QUERY_RANK, hidden), ("attn_q_b", heads * (PLAIN + ROTATED), QUERY_RANK),
            ("attn_kv_a_mqa", RANK + ROTATED, hidden), ("attn_k_b", heads, RANK, PLAIN), ("attn_v_b", heads, VALUE, RANK),
            ("attn_output", hidden, heads * VALUE), ("ffn_gate", inner, hidden), ("ffn_up", inner, hidden), ("ffn_down", hidden, inner),
        ):
            add(f"{place}.{name}", *shape)
    models.close(writer)


# Mamba 2, as llama.cpp has it

def write_space(path):
    hidden, inner = SPACE["hidden_size"], 2 * SPACE["hidden_size"]
    heads, taken = inner // models.HEAD, inner + 2 * STATE
    writer = models.gguf_writer(path, SPACE, "mamba2")
    writer.add_ssm_conv_kernel(TAPS)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(heads)
    writer.add_ssm_group_count(1)
    random = np.random.default_rng(13)

    def add(name, *shape, kind=np.float16):
        writer.add_tensor(name, (random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)).astype(kind))

    add("token_embd.weight", models.VOCABULARY, hidden)
    writer.add_tensor("output_norm.weight", np.ones(hidden, np.float32))
    for layer in range(SPACE["num_hidden_layers"]):
        place = f"blk.{layer}"
        writer.add_tensor(f"{place}.attn_norm.weight", np.ones(hidden, np.float32))
        add(f"{place}.ssm_in.weight", inner + taken + heads, hidden)
        add(f"{place}.ssm_conv1d.weight", taken, TAPS, kind=np.float32)
        add(f"{place}.ssm_conv1d.bias", taken, kind=np.float32)
        writer.add_tensor(f"{place}.ssm_dt.bias", random.uniform(-6, -2, heads).astype(np.float32))
        writer.add_tensor(f"{place}.ssm_a", -random.uniform(1, 16, (heads, 1)).astype(np.float32))
        writer.add_tensor(f"{place}.ssm_d", np.ones((heads, 1), np.float32))
        writer.add_tensor(f"{place}.ssm_norm.weight", np.ones((1, inner), np.float32))
        add(f"{place}.ssm_out.weight", hidden, inner)
    models.close(writer)


# Models that transformers makes

def write_t5(folder):
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.T5Config(
        vocab_size=models.VOCABULARY, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    write_common(folder, json.loads((folder / "config.json").read_text()), models.VOCABULARY)


def write_gated_delta(folder):
    import torch
    import transformers

    torch.manual_seed(2)
    config = transformers.Qwen3_5TextConfig(
        vocab_size=models.VOCABULARY, hidden_size=1024, intermediate_size=3584, num_hidden_layers=12, num_attention_heads=8,
        num_key_value_heads=2, head_dim=256, linear_num_key_heads=16, linear_num_value_heads=16, linear_key_head_dim=128,
        linear_value_head_dim=128, tie_word_embeddings=True, bos_token_id=0, eos_token_id=1, pad_token_id=None)
    transformers.Qwen3_5ForCausalLM(config).save_pretrained(folder)
    write_common(folder, json.loads((folder / "config.json").read_text()), models.VOCABULARY)


def make(folder, form):
    if form in WRITERS:
        target = folder / f"{form}.gguf"
        if not target.exists():
            source = folder / f"{form}-source.gguf"
            WRITERS[form](source)
            models.quantise(source, target, "q4_0")
            source.unlink()
        return
    target = folder / form
    if (target / "done").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    if form in PACKINGS:
        write_packed(target, form)
    else:
        {"t5-base": write_t5, "gated-delta": write_gated_delta}[form](target)
    (target / "done").touch()


WRITERS = {"mixture-q4_0": write_mixture, "latent-q4_0": write_latent, "space-q4_0": write_space}
FORMS = [*PACKINGS, *WRITERS, "t5-base", "gated-delta"]

if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(FORMS):
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for form in sys.argv[2:] or FORMS:
        make(place, form)
