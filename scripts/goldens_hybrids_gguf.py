#!/usr/bin/env python3
"""Makes GGUF files of small models with state spaces and attention, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0
    venv/bin/python scripts/goldens_hybrids_gguf.py [NAME...]

Writes Tests/Fixtures/micro-gguf/NAME-q8_0.gguf as llama.cpp's converter would (conversion/falcon_h1.py, granite.py, jamba.py,
nemotron.py): the rates of decay are stored instead of their logarithms, Falcon-H1's weights are multiplied by its factors,
layers without attention have no key heads, and those of Nemotron-H that have no block have no width. A golden is what
transformers says of the weights in the file, dequantised to float32.
"""

import pathlib
import sys
import tempfile

import numpy as np

import goldens
from goldens import MICRO
from goldens_decoders_gguf import llama, turned, usual
from goldens_kin_gguf import experts, granitemoe, make
from goldens_mixtures import make as make_mixture


# What the converter changes

def spaces(config, name, values, back):
    """Rates, skips and norms of state spaces."""
    if name.endswith("A_log"):
        values = np.log(-values) if back else -np.exp(values)
    if back:
        return values
    if name.endswith((".A_log", ".D")) and values.ndim == 1 and config.model_type != "jamba":
        return values.reshape(-1, 1)
    if name.endswith(("mamba.norm.weight", "mixer.norm.weight")):
        return values.reshape(getattr(config, "mamba_n_groups", None) or config.n_groups, -1)
    return values


def permuted(config, name, values, back):
    return spaces(config, name, turned(config, name, values, back), back)


def multiplied(config, name, values, back):
    """Falcon-H1's factors are in the weights."""
    values = spaces(config, name, values, back)
    block, entry = config.mlp_multipliers, config.attention_in_multiplier
    factor = {
        "down_proj": block[1], "gate_proj": block[0], "k_proj": config.key_multiplier * entry, "q_proj": entry, "v_proj": entry,
        "o_proj": config.attention_out_multiplier, "out_proj": config.ssm_out_multiplier, "lm_head": config.lm_head_multiplier,
        "embed_tokens": config.embedding_multiplier,
    }.get(name.split(".")[-2], 1.0)
    if name.endswith("in_proj.weight"):
        inner, shared = config.mamba_d_ssm or 2 * config.hidden_size, config.mamba_n_groups * config.mamba_d_state
        sizes = [inner, inner, shared, shared, config.mamba_n_heads]
        factor = config.ssm_in_multiplier * np.repeat(np.float32(config.ssm_multipliers), sizes)[:, None]
    return (values / factor if back else values * factor).astype(np.float32)


# What the converter says

def sizes(writer, config, inner, heads, groups, state, taps=4):
    writer.add_ssm_conv_kernel(taps)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(heads)
    if groups:
        writer.add_ssm_group_count(groups)


def mamba2_sizes(writer, config):
    inner = config.mamba_n_heads * config.mamba_d_head
    sizes(writer, config, inner, config.mamba_n_heads, config.mamba_n_groups, config.mamba_d_state)


def falcon_h1(writer, config):
    llama(writer, config)
    mamba2_sizes(writer, config)


def heads_by_layer(writer, config, arch, attends):
    writer.kv_data[0].pop(f"{arch}.attention.head_count_kv", None)
    writer.add_head_count_kv([config.num_key_value_heads if has else 0 for has in attends])


def granite_hybrid(writer, config):
    granitemoe(writer, config)
    mamba2_sizes(writer, config)
    heads_by_layer(writer, config, "granitehybrid", [kind not in ("mamba", "linear_attention") for kind in config.layer_types])
    writer.add_rope_scaling_finetuned(False)


def jamba(writer, config):
    usual(writer, config)
    writer.add_feed_forward_length(config.intermediate_size)
    offset, period = config.attn_layer_offset, config.attn_layer_period
    heads_by_layer(writer, config, "jamba", [i % period == offset for i in range(config.num_hidden_layers)])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    experts(writer, config)
    sizes(writer, config, config.mamba_expand * config.hidden_size, config.mamba_dt_rank, None, config.mamba_d_state)


def nemotron_h(writer, config):
    usual(writer, config)
    kinds = config.layers_block_type
    arch = "nemotron_h_moe" if "moe" in kinds else "nemotron_h"
    heads_by_layer(writer, config, arch, ["attention" in kind and "linear" not in kind for kind in kinds])
    width = config.moe_intermediate_size if "moe" in kinds else config.intermediate_size
    writer.add_feed_forward_length([width if kind in ("moe", "mlp") else 0 for kind in kinds])
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    inner = config.mamba_num_heads * config.mamba_head_dim
    sizes(writer, config, inner, config.mamba_num_heads, config.n_groups, config.ssm_state_size)
    writer.add_rope_scaling_finetuned(False)
    if "moe" in kinds:
        writer.add_expert_count(config.n_routed_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(width)
        writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
        writer.add_expert_shared_count(config.n_shared_experts)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_group_count(config.n_group)


NEMOTRON = dict(
    num_hidden_layers=4, head_dim=8, intermediate_size=48, moe_intermediate_size=16, moe_shared_expert_intermediate_size=24,
    n_routed_experts=6, n_shared_experts=1, num_experts_per_tok=2, n_group=1, topk_group=1, norm_topk_prob=True,
    routed_scaling_factor=1.5, mlp_hidden_act="relu2", mamba_num_heads=6, mamba_head_dim=8, n_groups=2, ssm_state_size=12,
    conv_kernel=4, use_conv_bias=True, mamba_hidden_act="silu", layer_norm_epsilon=1e-05, time_step_min=1e-06, chunk_size=16,
    attention_bias=False, mlp_bias=False, use_bias=False, scales={"embeddings": 2.0})


JAMBA = dict(
    num_hidden_layers=3, intermediate_size=32, num_experts=4, num_experts_per_tok=2, expert_layer_period=2, expert_layer_offset=1,
    attn_layer_period=2, attn_layer_offset=0, mamba_d_state=6, mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=5,
    mamba_conv_bias=True, mamba_proj_bias=False, scales={"conv1d": 2.0, "D": 4.0, "router": 3.0})


def own(name, model_type, seed, arch, say, change, dense=False, **config):
    """Of a model that is only made for this."""
    with tempfile.TemporaryDirectory(dir=MICRO) as scratch:
        folder = make_mixture(pathlib.Path(scratch).name, model_type, seed, **config)
        make(name, folder, arch, say, change, dense)


GRANITE = dict(
    num_hidden_layers=3, intermediate_size=32, shared_intermediate_size=32, num_local_experts=0, num_experts_per_tok=0,
    layer_types=["mamba", "attention", "mamba"], position_embedding_type="nope", embedding_multiplier=3.0, logits_scaling=0.5,
    residual_multiplier=0.7, attention_multiplier=0.2, rope_theta=10000.0, rope_scaling=None, mamba_n_heads=8, mamba_d_head=8,
    mamba_n_groups=2, mamba_d_state=10, mamba_d_conv=4, mamba_expand=2, mamba_conv_bias=True, mamba_proj_bias=False,
    mamba_chunk_size=16, attention_bias=False, scales={"conv1d": 2.0, "D": 4.0})


def nemotron(name, arch, pattern, seed):
    """Blocks and experts are not in one file: a mixture's blocks would look like state spaces."""
    own(name, "nemotron_h", seed, arch, nemotron_h, permuted, **NEMOTRON, hybrid_override_pattern=pattern)


FAMILIES = {
    "falcon-h1": lambda name: make(name, MICRO / "falcon_h1", "falcon-h1", falcon_h1, multiplied),
    "falcon-h1-normed": lambda name: make(name, MICRO / "falcon_h1-normed", "falcon-h1", falcon_h1, multiplied),
    "granite4-mamba": lambda name: make(name, MICRO / "granite4-mamba", "granitehybrid", granite_hybrid, permuted),
    "granite4-mamba-dense": lambda name: own(
        name, "granitemoehybrid", 94, "granitehybrid", granite_hybrid, permuted, dense=True, **GRANITE),
    "jamba": lambda name: own(name, "jamba", 95, "jamba", jamba, spaces, **JAMBA),
    "nemotron-h": lambda name: nemotron(name, "nemotron_h", "M*-M", 91),
    "nemotron-h-moe": lambda name: nemotron(name, "nemotron_h_moe", "ME*M", 92),
}

if __name__ == "__main__":
    for name, family in FAMILIES.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            family(name)
