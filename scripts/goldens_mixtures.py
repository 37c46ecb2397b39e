#!/usr/bin/env python3
"""Makes small random mixtures of experts, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0
    venv/bin/python scripts/goldens_mixtures.py [NAME...]

As goldens.py does, which has the conventions. Without names it makes all.
"""

import json
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
import transformers

import goldens
from goldens import MICRO, NOTES

BASE = dict(
    vocab_size=320, hidden_size=32, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
    rms_norm_eps=1e-06, hidden_act="silu", tie_word_embeddings=False, bos_token_id=0, eos_token_id=1, pad_token_id=4,
    use_cache=True, torch_dtype="bfloat16",
)
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}


@torch.no_grad()
def numbers_that_choose(model, seed):
    """Fills the buffers that count when experts are chosen, and only then."""
    generator = torch.Generator().manual_seed(seed + 100)
    for key, buffer in model.named_buffers():
        if "correction_bias" in key or "moe_statics" in key:
            buffer.copy_((torch.randn(buffer.shape, generator=generator) * 0.3).bfloat16())


def make(name, model_type, seed, scales=None, published=True, scale=1.5, **config):
    """A folder with a random model in bfloat16: under the names that published files have, or those of the class."""
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    goldens.short_tokenizer(folder)
    config = dict(model_type=model_type) | BASE | config
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    made = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager")
    model = transformers.AutoModelForCausalLM.from_config(made).float()
    config = dict(architectures=[type(model).__name__]) | config
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    scales = {"embed_tokens": 2.0, "gate": 3.0} | (scales or {})

    def scale_of(parameter):
        parts = parameter.split(".")
        return next((scales[part] for part in reversed(parts) if part in scales), scale)

    goldens.random_weights(model, seed, scale_of)
    numbers_that_choose(model, seed)
    if published:
        with tempfile.TemporaryDirectory() as scratch:
            model.save_pretrained(scratch)
            tensors = safetensors.torch.load_file(pathlib.Path(scratch) / "model.safetensors")
    else:
        tensors = model.state_dict()
    tensors = {key: value.bfloat16().contiguous() for key, value in tensors.items()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    return folder


def each(model, kind):
    return [module for name, module in model.named_modules() if type(module).__name__.endswith(kind)]


def golden(name, folder, without, **more):
    goldens.golden(name, folder, without, weights="bfloat16, random, computed in float32", **more)


def zeroed(part):
    def change(model):
        found = [parameter for name, parameter in model.named_parameters() if part in name]
        found += [buffer for name, buffer in model.named_buffers() if part in name]
        assert found, part
        for parameter in found:
            parameter.zero_()
    return change


def ones(part):
    def change(model):
        for name, parameter in model.named_parameters():
            if part in name:
                parameter.fill_(1)
    return change


QWEN3 = dict(
    head_dim=16, num_hidden_layers=3, intermediate_size=48, moe_intermediate_size=16, num_experts=8,
    num_experts_per_tok=3, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[1], rope_theta=1000000.0,
    rope_scaling=None, attention_bias=False, use_sliding_window=False, sliding_window=None, max_window_layers=3,
)


def qwen3_moe():
    """Three experts of eight, a dense layer between. Experts one by one, as published, and together, as transformers 5."""
    folder = make("qwen3-moe", "qwen3_moe", 31, **QWEN3)
    golden("qwen3-moe", folder, {
        "norm_topk_prob": goldens.settings(folder, norm_topk_prob=False),
        "third expert": goldens.settings(folder, num_experts_per_tok=2),
        "query and key norms": goldens.weights(folder, ones("q_norm")),
        "experts": goldens.weights(folder, zeroed("experts.down_proj")),
        "dense layer": goldens.weights(folder, zeroed("mlp.down_proj")),
    })
    folder = make("qwen3-moe-together", "qwen3_moe", 42, published=False, **QWEN3 | dict(
        num_hidden_layers=2, mlp_only_layers=[], decoder_sparse_step=2))
    golden("qwen3-moe-together", folder, {
        "norm_topk_prob": goldens.settings(folder, norm_topk_prob=False),
        "experts": goldens.weights(folder, zeroed("experts.down_proj")),
    }, notes=NOTES + "; decoder_sparse_step is 2: only the second layer has experts")


def qwen2_moe():
    """A shared expert times a sigmoid, and weights that do not sum to one."""
    folder = make(
        "qwen2-moe", "qwen2_moe", 33, num_hidden_layers=2, intermediate_size=48, moe_intermediate_size=16,
        shared_expert_intermediate_size=40, num_experts=6, num_experts_per_tok=2, norm_topk_prob=False,
        decoder_sparse_step=1, mlp_only_layers=[], rope_theta=10000.0, use_sliding_window=False, sliding_window=None,
        max_window_layers=2)
    golden("qwen2-moe", folder, {
        "weights as they are": goldens.settings(folder, norm_topk_prob=True),
        "shared expert": goldens.weights(folder, zeroed("shared_expert.down_proj")),
        "its gate": goldens.weights(folder, zeroed("shared_expert_gate")),
        "biases": goldens.weights(folder, zeroed("_proj.bias")),
    })


def mixtral():
    folder = make(
        "mixtral", "mixtral", 34, num_hidden_layers=2, intermediate_size=24, num_local_experts=4,
        num_experts_per_tok=2, rope_theta=1000000.0, rms_norm_eps=1e-05, sliding_window=None)
    golden("mixtral", folder, {
        "second expert": goldens.settings(folder, num_experts_per_tok=1),
        "rope base": goldens.settings(folder, rope_parameters=PLAIN),
        "router": goldens.weights(folder, zeroed("mlp.gate")),
    })


def filled(part, value):
    def change(model):
        for name, parameter in model.named_parameters():
            if part in name:
                parameter.fill_(value)
    return change


def gpt_oss():
    """Windows in every second layer, sinks, biases, gates that reach their limit, and a yarn that rounds nothing."""
    yarn = {
        "rope_type": "yarn", "factor": 4.0, "beta_fast": 8.0, "beta_slow": 1.0, "truncate": False,
        "original_max_position_embeddings": 64,
    }
    folder = make(
        "gpt-oss", "gpt_oss", 37, head_dim=16, num_hidden_layers=3, intermediate_size=24, num_local_experts=4,
        num_experts_per_tok=2, sliding_window=8, rope_theta=150000.0, rope_scaling=yarn, attention_bias=True,
        swiglu_limit=7.0, rms_norm_eps=1e-05, scales={"sinks": 4.0, "gate_up_proj": 12.0, "down_proj": 2.0, "router": 3.0},
        layer_types=["sliding_attention", "full_attention", "sliding_attention"])
    rope = yarn | {"rope_theta": 150000.0}
    golden("gpt-oss", folder, {
        "sinks": goldens.weights(folder, filled("sinks", -100)),
        "window": goldens.settings(folder, sliding_window=200),
        "limit": goldens.settings(folder, swiglu_limit=1000.0),
        "alpha": goldens.settings(folder, swiglu_alpha=1.0),
        "router's bias": goldens.weights(folder, zeroed("router.bias")),
        "experts' biases": goldens.weights(folder, zeroed("proj_bias")),
        "attention's biases": goldens.weights(folder, zeroed("self_attn.o_proj.bias")),
        "truncate": goldens.settings(folder, rope_parameters=rope | {"truncate": True}),
        "rope scaling": goldens.settings(folder, rope_parameters={"rope_type": "default", "rope_theta": 150000.0}),
    })


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def mxfp4(values):
    """[experts][outputs][inputs] as MXFP4: blocks of two numbers a byte, exponents, and the numbers that they mean."""
    parts = values.reshape(*values.shape[:2], -1, 32)
    exponents = parts.abs().amax(-1).clamp_min(1e-30).log2().floor() - 2
    scaled = parts / exponents.exp2()[..., None]
    codes = (scaled[..., None] - E2M1).abs().argmin(-1)
    blocks = (codes[..., ::2] | codes[..., 1::2] << 4).to(torch.uint8)
    return blocks, (exponents + 127).to(torch.uint8), (E2M1[codes] * exponents.exp2()[..., None]).reshape(values.shape)


def gpt_oss_mxfp4():
    """gpt-oss as it is published: its experts are MXFP4."""
    with tempfile.TemporaryDirectory(dir=MICRO) as scratch:
        plain = make(pathlib.Path(scratch).name, "gpt_oss", 39, head_dim=16, num_hidden_layers=2, intermediate_size=32,
                     num_local_experts=4, num_experts_per_tok=2, sliding_window=8, rope_theta=150000.0,
                     rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
                     attention_bias=True, scales={"sinks": 4.0, "gate_up_proj": 8.0, "router": 3.0})
        tensors = safetensors.torch.load_file(plain / "model.safetensors")
        packed = dict(tensors)
        for name in tensors:
            if name.endswith(("gate_up_proj", "down_proj")):
                blocks, scales, meant = mxfp4(packed.pop(name).float().swapaxes(1, 2))
                packed[name + "_blocks"], packed[name + "_scales"] = blocks, scales
                tensors[name] = meant.swapaxes(1, 2).bfloat16().contiguous()
        safetensors.torch.save_file(tensors, plain / "model.safetensors", metadata={"format": "pt"})
        folder = MICRO / "gpt-oss-mxfp4"
        folder.mkdir(exist_ok=True)
        goldens.short_tokenizer(folder)
        config = json.loads((plain / "config.json").read_text()) | {"quantization_config": {
            "quant_method": "mxfp4", "modules_to_not_convert": [
                "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}}
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        safetensors.torch.save_file(packed, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "model.safetensors").chmod(0o644)
        result = goldens.answers(lambda: goldens.load(plain), folder, goldens.PROMPTS)
    goldens.write(goldens.FIXTURES / "goldens/micro-gpt-oss-mxfp4.json", {
        "name": "micro-gpt-oss-mxfp4", "fixture": "micro/gpt-oss-mxfp4", "reference": goldens.REFERENCE,
        "weights": "bfloat16 and MXFP4, random, computed in float32", "notes": NOTES} | result)
    print("gpt-oss-mxfp4")


FAMILIES = [qwen3_moe, qwen2_moe, mixtral, gpt_oss, gpt_oss_mxfp4]

if __name__ == "__main__":
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
