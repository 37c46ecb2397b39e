#!/usr/bin/env python3
"""Makes small random models of decoders that change little of Llama, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0
    venv/bin/python scripts/goldens_kin.py [NAME...]

As goldens_decoders.py does, whose tokenizer and conventions they have.
"""

import json
import sys

import safetensors.torch
import torch
import transformers

import goldens
import goldens_decoders
from goldens import NOTES, settings, weights
from goldens_decoders import IDS, LLAMA, filled, golden, make, rope, without_biases

PLAIN = {key: value for key, value in LLAMA.items() if key not in ("rms_norm_eps", "hidden_act")}


def choosing(name):
    """Gives the bias of the choice numbers, which make() leaves 0, in the file."""
    folder = goldens.MICRO / name
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    generator = torch.Generator().manual_seed(5)
    for key, values in tensors.items():
        if key.endswith("expert_bias"):
            tensors[key] = (torch.randn(values.shape, generator=generator) * 0.3).bfloat16()
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def buffers(ending, change):
    """A function of a model for `weights`."""
    def all_of(model):
        found = [values for name, values in model.named_buffers() if name.endswith(ending)]
        assert found, ending
        for values in found:
            change(values)
    return all_of


def each(word, change):
    """A function of a model for `weights`: changes parameters with a word in their names."""
    def all_of(model):
        found = [values for name, values in model.named_parameters() if word in name]
        assert found, word
        for values in found:
            change(values)
    return all_of


# Short convolutions

LFM2 = PLAIN | dict(
    num_hidden_layers=4, norm_eps=1e-4, conv_L_cache=3, conv_bias=False, rope_theta=500.0, tie_word_embeddings=True)
CONVOLVES = {
    "what came before": each("conv.conv.weight", lambda values: values[..., :-1].zero_()),
    "the last but one": each("conv.conv.weight", lambda values: values[..., 0].zero_()),
    "gate before": each("conv.in_proj.weight", lambda values: values[: values.shape[0] // 3].zero_()),
    "gate after": each("conv.in_proj.weight", lambda values: values[values.shape[0] // 3 : 2 * values.shape[0] // 3].zero_()),
    "query norm": filled("q_layernorm", 1), "key norm": filled("k_layernorm", 1),
}


def lfm2():
    del (config := dict(LFM2))["tie_word_embeddings"]
    del config["intermediate_size"]
    folder = make("lfm2", "lfm2", 31, scales={"conv.conv": 1.0}, full_attn_idxs=[1], block_ff_dim=72, tie_embedding=True,
                  block_auto_adjust_ff_dim=True, block_ffn_dim_multiplier=0.9, block_multiple_of=4, **config)
    golden("lfm2", folder, {what: weights(folder, change) for what, change in CONVOLVES.items()} | {
        "rope base": settings(folder, **rope()), "epsilon": settings(folder, norm_eps=0.1),
    }, notes=NOTES + "; with the settings of the published files")
    folder = make("lfm2-biases", "lfm2", 32, scales={"conv.conv": 1.0}, **LFM2 | dict(
        num_hidden_layers=3, layer_types=["conv", "full_attention", "conv"], conv_bias=True, conv_L_cache=4, intermediate_size=48,
        block_auto_adjust_ff_dim=False, tie_word_embeddings=False))
    golden("lfm2-biases", folder, {
        "bias before": weights(folder, without_biases("conv.in_proj")),
        "bias within": weights(folder, without_biases("conv.conv")),
        "bias after": weights(folder, without_biases("conv.out_proj")),
        "the oldest": weights(folder, CONVOLVES["the last but one"]),
    })


def lfm2_moe():
    def again(tries):
        choosing("lfm2-moe")
    config = LFM2 | dict(
        num_hidden_layers=3, layer_types=["conv", "full_attention", "conv"], num_dense_layers=1, num_experts=6,
        num_experts_per_tok=2, moe_intermediate_size=24, intermediate_size=40, norm_topk_prob=True, use_expert_bias=True,
        routed_scaling_factor=1.5)
    folder = make("lfm2-moe", "lfm2_moe", 33, scales={"conv.conv": 1.0, "gate.weight": 2.0}, **config)
    choosing("lfm2-moe")
    made = goldens_decoders.AGAIN["lfm2-moe"]
    goldens_decoders.AGAIN["lfm2-moe"] = lambda tries: (made(tries), again(tries))
    golden("lfm2-moe", folder, {
        "bias of the choice": weights(folder, buffers("expert_bias", lambda values: values.zero_())),
        "factor": settings(folder, routed_scaling_factor=1.0),
        "weights add up to 1": settings(folder, norm_topk_prob=False),
        "two of six": settings(folder, num_experts_per_tok=1),
        "what came before": weights(folder, CONVOLVES["what came before"]),
    })


# Factors

GRANITE = LLAMA | dict(
    embedding_multiplier=3.0, residual_multiplier=0.7, attention_multiplier=0.15, logits_scaling=2.5, rope_theta=10000.0,
    attention_bias=False)


def factors(folder):
    names = ("embedding_multiplier", "residual_multiplier", "logits_scaling")
    return {name: settings(folder, **{name: 1.0}) for name in names} | {
        "attention_multiplier": settings(folder, attention_multiplier=8 ** -0.5)}


def granite():
    folder = make("granite", "granite", 34, mlp_bias=True, **GRANITE | dict(attention_bias=True))
    golden("granite", folder, factors(folder) | {
        "biases": weights(folder, without_biases("q_proj")), "biases of the other half": weights(folder, without_biases("mlp"))})


def granitemoe():
    config = GRANITE | dict(num_local_experts=5, num_experts_per_tok=2, intermediate_size=32)
    scales = {"router": 2.0}
    folder = make("granitemoe", "granitemoe", 35, scales=scales, **config)
    golden("granitemoe", folder, factors(folder) | {"two of five": settings(folder, num_experts_per_tok=1)})
    folder = make("granitemoe-shared", "granitemoeshared", 36, scales=scales, shared_intermediate_size=24, **config)
    golden("granitemoe-shared", folder, factors(folder) | {
        "what every row goes through": weights(folder, filled("shared_mlp.output_linear", 0))})


def granite4():
    config = GRANITE | dict(shared_intermediate_size=40, layer_types=["attention"] * 2, num_local_experts=0,
                            num_experts_per_tok=0, position_embedding_type="rope",
                            mamba_n_heads=8)
    folder = make("granite4", "granitemoehybrid", 37, **config)
    golden("granite4", folder, factors(folder) | {"positions": settings(folder, position_embedding_type="nope")})
    folder = make("granite4-moe", "granitemoehybrid", 38, scales={"router": 2.0}, **config | dict(
        num_local_experts=5, num_experts_per_tok=2, intermediate_size=32, position_embedding_type="nope"))
    golden("granite4-moe", folder, {
        "no positions": settings(folder, position_embedding_type="rope"),
        "what every row goes through": weights(folder, filled("shared_mlp.output_linear", 0))})


# Others

def smollm3():
    config = LLAMA | dict(num_hidden_layers=4, intermediate_size=32, rope_theta=500.0, tie_word_embeddings=True)
    folder = make("smollm3", "smollm3", 39, **config)
    golden("smollm3", folder, {
        "layer that does not rotate": settings(folder, no_rope_layers=[1] * 4), "rope base": settings(folder, **rope())})
    folder = make("smollm3-windows", "smollm3", 40, no_rope_layers=[0, 1, 1], use_sliding_window=True, sliding_window=8,
                  attention_bias=True, mlp_bias=True, **config | dict(num_hidden_layers=3, tie_word_embeddings=False))
    golden("smollm3-windows", folder, {
        "window": settings(folder, sliding_window=200), "layers that do not rotate": settings(
            folder, no_rope_layers=[1] * 3, layer_types=["sliding_attention", "full_attention", "full_attention"]),
        "biases": weights(folder, without_biases("q_proj"))})


def olmoe():
    folder = make("olmoe", "olmoe", 41, scales={"mlp.gate.": 2.0}, num_experts=6, num_experts_per_tok=2, clip_qkv=1.0,
                  norm_topk_prob=False, rope_theta=10000.0, **LLAMA | dict(intermediate_size=32))
    golden("olmoe", folder, {
        "query norm": weights(folder, filled("q_norm", 1)), "key norm": weights(folder, filled("k_norm", 1)),
        "clip_qkv": settings(folder, clip_qkv=None), "two of six": settings(folder, num_experts_per_tok=1),
        "weights that do not add up to 1": settings(folder, norm_topk_prob=True)})


def phimoe():
    config = LLAMA | dict(num_local_experts=6, num_experts_per_tok=2, attention_bias=True, lm_head_bias=True,
                          router_jitter_noise=0.3, intermediate_size=32, rope_theta=10000.0)
    scales = {"router": 2.0, "gate.": 2.0}
    folder = make("phimoe", "phimoe", 42, scales=scales, **config)
    golden("phimoe", folder, {
        "margin of the choice": settings(folder, router_jitter_noise=0.01),
        "biases": weights(folder, without_biases("q_proj")), "biases of norms": weights(folder, without_biases("norm")),
        "bias of the head": weights(folder, without_biases("lm_head"))})
    scaling = dict(type="longrope", short_factor=[1.0, 1.1, 1.5, 2.0], long_factor=[1.2, 2.0, 5.0, 9.0], short_mscale=1.25,
                   long_mscale=1.25, original_max_position_embeddings=128)
    folder = make("phimoe-long", "phimoe", 43, scales=scales, sliding_window=24, rope_scaling=scaling,
                  original_max_position_embeddings=128, **config | dict(num_hidden_layers=1, lm_head_bias=False, attention_bias=False))
    given = dict(rope_scaling=None, rope_parameters={key: value for key, value in scaling.items() if key != "type"}
                 | dict(rope_type="longrope", rope_theta=10000.0))
    golden("phimoe-long", folder, {
        "factors": settings(folder, **json.loads(json.dumps(given).replace("[1.0, 1.1, 1.5, 2.0]", "[1.0, 1.0, 1.0, 1.0]"))),
        "mscale": settings(folder, **json.loads(json.dumps(given).replace('"short_mscale": 1.25', '"short_mscale": 1.0'))),
        "window": settings(folder, sliding_window=200)})


def adjacent(folder, kind):
    """The logits with halves of a head as pairs."""
    def halves(ids):
        made = getattr(transformers.models, kind)
        made = getattr(made, f"modeling_{kind}")
        kept, turned = made.apply_rotary_pos_emb, transformers.models.llama.modeling_llama.apply_rotary_pos_emb

        def other(q, k, cos, sin):
            size = cos.shape[-1]
            q_turned, k_turned = turned(q[..., :size], k[..., :size], cos, sin)
            return torch.cat([q_turned, q[..., size:]], -1), torch.cat([k_turned, k[..., size:]], -1)

        made.apply_rotary_pos_emb = other
        try:
            return goldens.logits(goldens.load(folder), ids)
        finally:
            made.apply_rotary_pos_emb = kept
    return halves


def glm():
    config = LLAMA | dict(head_dim=16, rope_theta=10000.0, partial_rotary_factor=0.5, attention_bias=True)
    folder = make("glm", "glm", 44, **config)
    golden("glm", folder, {
        "half of the head rotates": settings(folder, **rope(partial_rotary_factor=1.0)),
        "adjacent pairs": adjacent(folder, "glm"), "biases": weights(folder, without_biases("q_proj"))})
    del (config := dict(config))["partial_rotary_factor"]
    folder = make("glm4", "glm4", 45, **config | dict(attention_bias=False, tie_word_embeddings=True))
    golden("glm4", folder, {
        "half of the head rotates": settings(folder, **rope(partial_rotary_factor=1.0)),
        "adjacent pairs": adjacent(folder, "glm4"), "norm of attention": weights(folder, filled("post_self_attn_layernorm", 1)),
        "norm of the other half": weights(folder, filled("post_mlp_layernorm", 1))})


def ernie():
    config = LLAMA | dict(head_dim=16, rope_theta=500.0, tie_word_embeddings=True, use_bias=True)
    folder = make("ernie4_5", "ernie4_5", 46, **config)
    golden("ernie4_5", folder, {
        "adjacent pairs": adjacent(folder, "ernie4_5"), "rope base": settings(folder, **rope()),
        "biases": weights(folder, without_biases("q_proj")), "biases of the other half": weights(folder, without_biases("mlp"))})
    folder = make("ernie4_5-moe", "ernie4_5_moe", 47, scales={"gate.weight": 2.0}, moe_num_experts=6, moe_k=2,
                  moe_num_shared_experts=2, moe_intermediate_size=24, moe_layer_start_index=1, moe_layer_end_index=2,
                  moe_layer_interval=1, **config | dict(num_hidden_layers=4, use_bias=False, intermediate_size=40, head_dim=8))
    golden("ernie4_5-moe", folder, {
        "bias of the choice": weights(folder, each("e_score_correction_bias", lambda values: values.zero_())),
        "two of six": settings(folder, moe_k=1),
        "what every row goes through": weights(folder, filled("shared_experts.down_proj", 0))})


def seed_oss():
    folder = make("seed-oss", "seed_oss", 48, head_dim=16, rope_theta=500.0, attention_bias=True, attention_out_bias=True,
                  mlp_bias=True, **LLAMA)
    golden("seed-oss", folder, {word: weights(folder, without_biases(word)) for word in ("q_proj", "o_proj", "mlp")} | {
        "rope base": settings(folder, **rope())})


def hunyuan():
    alpha = dict(type="dynamic", alpha=50.0, beta_fast=32, beta_slow=1, factor=1.0, mscale=1.0, mscale_all_dim=1.0)
    folder = make("hunyuan", "hunyuan_v1_dense", 49, head_dim=16, rope_theta=10000.0, rope_scaling=alpha,
                  **LLAMA | dict(tie_word_embeddings=True))

    def first(model):
        made = transformers.models.hunyuan_v1_dense.modeling_hunyuan_v1_dense
        for layer in model.model.layers:
            attention = layer.self_attn
            for name, proj in (("query_layernorm", attention.q_proj), ("key_layernorm", attention.k_proj)):
                norm = getattr(attention, name)
                setattr(attention, name, torch.nn.Identity())
                proj.register_forward_hook(lambda module, x, y, norm=norm: norm(y.unflatten(-1, (-1, 16))).flatten(-2))

    golden("hunyuan", folder, {
        "query norm": weights(folder, filled("query_layernorm", 1)), "norms after the rotation": weights(folder, first),
        "alpha": settings(folder, rope_scaling=None, **rope())})


def nemotron():
    folder = make("nemotron", "nemotron", 50, norm_eps=1e-4, partial_rotary_factor=0.5, rope_theta=10000.0,
                  attention_bias=True, mlp_bias=True, scales={"up_proj": 0.7},
                  **{key: value for key, value in PLAIN.items()} | dict(hidden_act="relu2"))

    def norms(model):
        for name, values in model.named_parameters():
            if "norm" in name and name.endswith("weight"):
                values -= 1

    golden("nemotron", folder, {
        "1 + weight in norms": weights(folder, norms), "squares": settings(folder, hidden_act="relu"),
        "half of the head rotates": settings(folder, **rope(partial_rotary_factor=1.0)),
        "biases of norms": weights(folder, without_biases("norm")), "biases": weights(folder, without_biases("mlp")),
        "epsilon": settings(folder, norm_eps=0.5)})


def ministral():
    config = LLAMA | dict(head_dim=16)
    folder = make("ministral", "ministral", 51, sliding_window=8, rope_theta=500.0,
                  layer_types=["full_attention", "sliding_attention"], **config)
    golden("ministral", folder, {
        "window": settings(folder, sliding_window=200), "layer without": settings(folder, layer_types=["sliding_attention"] * 2)})
    yarn = dict(rope_type="yarn", rope_theta=1000.0, factor=8.0, original_max_position_embeddings=16, beta_fast=8.0, beta_slow=1.0,
                mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.2)
    folder = make("ministral3", "ministral3", 54, scale=1.2, rope_parameters=yarn, **config)
    golden("ministral3", folder, {
        "larger queries": settings(folder, rope_parameters=yarn | {"llama_4_scaling_beta": 0.0}),
        "scaling": settings(folder, rope_parameters=yarn | {"rope_type": "default"}),
        "mscale": settings(folder, rope_parameters=yarn | {"mscale_all_dim": 0.0})})


def apertus():
    scaling = dict(rope_type="llama3", factor=8.0, original_max_position_embeddings=32, low_freq_factor=1.0, high_freq_factor=4.0)
    folder = make("apertus", "apertus", 55, scales={"up_proj": 0.8, "alpha": 1.0}, rope_theta=10000.0, rope_scaling=scaling,
                  head_dim=16, **LLAMA | dict(hidden_act="xielu"))

    def plain(model):
        for layer in model.model.layers:
            layer.mlp.act_fn = torch.nn.SiLU()

    golden("apertus", folder, {
        "activation": weights(folder, plain), "slope above 0": weights(folder, each("alpha_p", lambda values: values.add_(1))),
        "slope below 0": weights(folder, each("alpha_n", lambda values: values.add_(1))),
        "common slope": weights(folder, buffers("act_fn.beta", lambda values: values.fill_(0.1))),
        "query norm": weights(folder, filled("q_norm", 1)), "scaling": settings(folder, rope_scaling=None, **rope())})


def arcee():
    yarn = dict(rope_type="yarn", rope_theta=1000.0, factor=8.0, original_max_position_embeddings=16, beta_fast=8.0, beta_slow=1.0)
    folder = make("arcee", "arcee", 56, scales={"up_proj": 0.7}, head_dim=16, rope_parameters=yarn, **LLAMA | dict(hidden_act="relu2"))

    def gates(model):
        for layer in model.model.layers:
            layer.mlp.up_proj.register_forward_hook(lambda module, x, y: torch.nn.functional.silu(y) * y)

    golden("arcee", folder, {
        "squares": settings(folder, hidden_act="relu"), "no gates": weights(folder, gates),
        "scaling": settings(folder, rope_parameters=yarn | {"rope_type": "default"})})


FAMILIES = [lfm2, lfm2_moe, granite, granitemoe, granite4, smollm3, olmoe, phimoe, glm, ernie, seed_oss, hunyuan, nemotron,
            ministral, apertus, arcee]

if __name__ == "__main__":
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
