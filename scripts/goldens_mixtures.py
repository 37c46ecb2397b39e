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


def make(name, model_type, seed, scales=None, published=True, scale=1.5, base=BASE, **config):
    """A folder with a random model in bfloat16: under the names that published files have, or those of the class."""
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    goldens.short_tokenizer(folder)
    config = dict(model_type=model_type) | base | config
    config = {key: value for key, value in config.items() if key != "torch_dtype" or value}
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


LATENT = dict(
    num_key_value_heads=4, num_hidden_layers=3, intermediate_size=48, moe_intermediate_size=16, n_routed_experts=8,
    num_experts_per_tok=3, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10,
    rms_norm_eps=1e-05, max_position_embeddings=512, first_k_dense_replace=1, moe_layer_freq=1, attention_bias=False)
LATENT_YARN = {
    "type": "yarn", "factor": 8.0, "beta_fast": 4.0, "beta_slow": 1.0, "mscale": 0.707, "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 64,
}


def deepseek_v2():
    """Groups by their best expert, weights that do not sum to one, two shared experts, queries of the rows themselves."""
    folder = make(
        "deepseek_v2", "deepseek_v2", 61, **LATENT | dict(
            q_lora_rank=None, n_shared_experts=2, topk_method="group_limited_greedy", n_group=4, topk_group=2,
            norm_topk_prob=False, routed_scaling_factor=1.5, scoring_func="softmax", rope_theta=10000.0,
            rope_scaling=LATENT_YARN), scales={"kv_b_proj": 2.5})
    rope = {"rope_theta": 10000.0, "rope_type": "yarn"} | {k: v for k, v in LATENT_YARN.items() if k != "type"}
    golden("deepseek_v2", folder, {
        "groups": goldens.settings(folder, topk_method="greedy"),
        "routed_scaling_factor": goldens.settings(folder, routed_scaling_factor=1.0),
        "rope scaling": goldens.settings(folder, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}),
        "mscale": goldens.settings(folder, rope_parameters=rope | {"mscale": 1.0}),
        "mscale_all_dim": goldens.settings(folder, rope_parameters=rope | {"mscale_all_dim": 0.707}),
        "shared experts": goldens.weights(folder, zeroed("shared_experts.down_proj")),
        "norm of latents": goldens.weights(folder, ones("kv_a_layernorm")),
        "dense layer": goldens.weights(folder, zeroed("layers.0.mlp.down_proj")),
    })


def deepseek_v3():
    """Sigmoids that a bias corrects, groups by their best two, narrow queries, biases; a layer behind the last one."""
    config = LATENT | dict(
        q_lora_rank=20, n_shared_experts=1, n_group=4, topk_group=2, topk_method="noaux_tc", norm_topk_prob=True,
        routed_scaling_factor=2.5, scoring_func="sigmoid", rope_theta=10000.0,
        rope_scaling=LATENT_YARN | {"mscale": 1.0}, attention_bias=True, num_nextn_predict_layers=1)
    folder = make("deepseek_v3", "deepseek_v3", 62, scales={"kv_b_proj": 2.5}, **config)
    rope = {"rope_theta": 10000.0, "rope_type": "yarn"} | {k: v for k, v in LATENT_YARN.items() if k != "type"}
    path = folder / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    tensors["model.layers.3.eh_proj.weight"] = tensors["model.layers.2.self_attn.o_proj.weight"].clone()
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    path.chmod(0o644)
    golden("deepseek_v3", folder, {
        "groups": goldens.settings(folder, n_group=1, topk_group=1),
        "norm_topk_prob": goldens.settings(folder, norm_topk_prob=False),
        "routed_scaling_factor": goldens.settings(folder, routed_scaling_factor=1.0),
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "rope_interleave": goldens.settings(folder, rope_interleave=False),
        "mscale_all_dim": goldens.settings(folder, rope_parameters=rope | {"mscale": 0.0, "mscale_all_dim": 0.0}),
        "biases": goldens.weights(folder, zeroed("_proj.bias")),
        "norm of queries": goldens.weights(folder, ones("q_a_layernorm")),
        "experts": goldens.weights(folder, zeroed("mlp.experts.down_proj")),
    })


def kimi_k2():
    """DeepSeek 3's code under a name that transformers does not know: one group, and a yarn with both ends the same."""
    yarn = {
        "type": "yarn", "factor": 32.0, "beta_fast": 1.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
    }
    folder = make(
        "kimi_k2", "deepseek_v3", 67, scales={"kv_b_proj": 2.5}, **LATENT | dict(
            num_hidden_layers=2, q_lora_rank=20, n_shared_experts=1, n_group=1, topk_group=1, topk_method="noaux_tc",
            norm_topk_prob=True, routed_scaling_factor=2.827, scoring_func="sigmoid", rope_theta=50000.0,
            rope_scaling=yarn, max_position_embeddings=131072, num_nextn_predict_layers=0, aux_loss_alpha=0.001, seq_aux=True,
            ep_size=1, rms_norm_eps=1e-06))
    rope = {"rope_theta": 50000.0, "rope_type": "yarn"} | {k: v for k, v in yarn.items() if k != "type"}
    golden("kimi_k2", folder, {
        "one group": goldens.settings(folder, n_group=4, topk_group=2),
        "norm_topk_prob": goldens.settings(folder, norm_topk_prob=False),
        "routed_scaling_factor": goldens.settings(folder, routed_scaling_factor=2.5),
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "rope base": goldens.settings(folder, rope_parameters=rope | {"rope_theta": 10000.0}),
        "beta_fast": goldens.settings(folder, rope_parameters=rope | {"beta_fast": 32.0}),
        "mscale_all_dim": goldens.settings(folder, rope_parameters=rope | {"mscale": 0.0, "mscale_all_dim": 0.0}),
        "first dense layer": goldens.settings(folder, first_k_dense_replace=0),
        "shared expert": goldens.weights(folder, zeroed("shared_experts.down_proj")),
        "norm of queries": goldens.weights(folder, ones("q_a_layernorm")),
    })
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "kimi_k2"}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def hunyuan_moe():
    """Norms of queries and keys after the rotation, whose base grows by alpha, and a shared expert as wide as one of many.
    Lists of one number for each layer, as published."""
    rope = {
        "type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0,
        "mscale_all_dim": 0.0}
    folder = make(
        "hunyuan-moe", "hunyuan_v1_moe", 68, head_dim=16, attention_head_dim=16, num_hidden_layers=2, intermediate_size=24,
        num_experts=6, moe_topk=[2, 2], moe_intermediate_size=[24, 24], num_shared_expert=[1, 1], rope_theta=10000.0,
        rope_scaling=rope, attention_bias=False, mlp_bias=False, use_qk_norm=True, use_mixed_mlp_moe=True, use_cla=False,
        moe_layer_num_skipped=0, rms_norm_eps=1e-05, scales={"wg": 3.0})
    plain = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 1.0}
    golden("hunyuan-moe", folder, {
        "alpha": goldens.settings(folder, rope_parameters=plain | {"alpha": 10.0}),
        "second expert": goldens.settings(folder, moe_topk=[1, 1]),
        "weights add up to 1": goldens.weights(folder, unnormed),
        "norm of queries": goldens.weights(folder, ones("query_layernorm")),
        "norm of keys": goldens.weights(folder, ones("key_layernorm")),
        "shared expert": goldens.weights(folder, zeroed("shared_mlp.down_proj")),
        "experts": goldens.weights(folder, zeroed("experts.down_proj")),
        "router": goldens.weights(folder, zeroed("gate.wg")),
    })


def unnormed(model):
    for gate in each(model, "Gate"):
        def forward(hidden, gate=gate):
            scores = gate.wg(hidden.reshape(-1, hidden.shape[-1]))
            weights, chosen = scores.softmax(-1).topk(gate.top_k, -1)
            return scores, weights, chosen
        gate.forward = forward


def glm4_moe_lite():
    """The same under the settings of transformers 5, with a list of layers and halves that rotate."""
    config = {key: value for key, value in LATENT.items() if key not in ("first_k_dense_replace", "moe_layer_freq")}
    folder = make(
        "glm4_moe_lite", "glm4_moe_lite", 63, published=False, hidden_size=40, num_attention_heads=3, **config | dict(
            num_key_value_heads=3, q_lora_rank=20, n_shared_experts=1, n_group=1, topk_group=1,
            norm_topk_prob=True, routed_scaling_factor=1.8, rope_interleave=False, torch_dtype=None, dtype="bfloat16",
            rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
            mlp_layer_types=["sparse", "dense", "sparse"], tie_word_embeddings=True), scales={"kv_b_proj": 2.5})
    golden("glm4_moe_lite", folder, {
        "routed_scaling_factor": goldens.settings(folder, routed_scaling_factor=1.0),
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "rope_interleave": goldens.settings(folder, rope_interleave=True),
        "shared expert": goldens.weights(folder, zeroed("shared_experts.down_proj")),
    })


def glm4_moe():
    """DeepSeek 3's routing; half of a head rotates; norms of heads, and biases of all but the output."""
    folder = make(
        "glm4_moe", "glm4_moe", 64, num_hidden_layers=2, intermediate_size=48, moe_intermediate_size=16, head_dim=16,
        n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3, n_group=4, topk_group=2, norm_topk_prob=True,
        routed_scaling_factor=1.7, first_k_dense_replace=1, use_qk_norm=True, attention_bias=True,
        partial_rotary_factor=0.5, rope_theta=10000.0, rope_scaling=None, num_nextn_predict_layers=1)
    golden("glm4_moe", folder, {
        "groups": goldens.settings(folder, n_group=1, topk_group=1),
        "routed_scaling_factor": goldens.settings(folder, routed_scaling_factor=1.0),
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "partial rotation": goldens.settings(folder, rope_parameters=PLAIN | {"partial_rotary_factor": 1.0}),
        "query and key norms": goldens.weights(folder, ones("q_norm")),
        "biases": goldens.weights(folder, zeroed("_proj.bias")),
    })


def minimax_m2():
    """Norms of all heads at once, sigmoids with a correction, a part of a head that rotates."""
    folder = make(
        "minimax_m2", "minimax_m2", 65, num_hidden_layers=2, intermediate_size=24, head_dim=16, num_local_experts=6,
        num_experts_per_tok=2, rotary_dim=8, rope_theta=5000.0, scoring_func="sigmoid", use_qk_norm=True)
    golden("minimax_m2", folder, {
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "partial rotation": goldens.settings(folder, rope_parameters={
            "rope_type": "default", "rope_theta": 5000.0, "partial_rotary_factor": 1.0}),
        "query and key norms": goldens.weights(folder, ones("q_norm")),
        "experts": goldens.weights(folder, zeroed("experts.down_proj")),
    })


def nemotron_h():
    """Layers of one half: Mamba 2 in groups, a block and experts of squared ReLU, attention without rotation."""
    folder = make(
        "nemotron_h", "nemotron_h", 66, num_hidden_layers=5, hybrid_override_pattern="ME*-M", head_dim=8,
        intermediate_size=48, moe_intermediate_size=16, moe_shared_expert_intermediate_size=24, n_routed_experts=6,
        n_shared_experts=1, num_experts_per_tok=2, n_group=1, topk_group=1, norm_topk_prob=True,
        routed_scaling_factor=1.5, mlp_hidden_act="relu2", mamba_num_heads=6, mamba_head_dim=8, n_groups=2,
        ssm_state_size=12, conv_kernel=4, use_conv_bias=True, mamba_hidden_act="silu", layer_norm_epsilon=1e-05,
        time_step_min=0.001, chunk_size=16, attention_bias=False, mlp_bias=False, use_bias=False,
        scales={"embeddings": 2.0})
    golden("nemotron_h", folder, {
        "skip": goldens.weights(folder, zeroed("mixer.D")),
        "convolution's bias": goldens.weights(folder, zeroed("conv1d.bias")),
        "step's bias": goldens.weights(folder, zeroed("dt_bias")),
        "correction": goldens.weights(folder, zeroed("correction_bias")),
        "shared expert": goldens.weights(folder, zeroed("shared_experts.down_proj")),
        "attention": goldens.weights(folder, zeroed("o_proj")),
    })


FAMILIES = [nemotron_h, glm4_moe, minimax_m2, qwen3_moe, qwen2_moe, mixtral, gpt_oss, gpt_oss_mxfp4, deepseek_v2, deepseek_v3, kimi_k2,
            glm4_moe_lite, hunyuan_moe]

if __name__ == "__main__":
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
