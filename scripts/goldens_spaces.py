#!/usr/bin/env python3
"""Makes small random models of state spaces, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0
    venv/bin/python scripts/goldens_spaces.py [NAME...]

As goldens.py does, which has the conventions. Without names it makes all.
"""

import sys

import goldens
from goldens_mixtures import golden, make, ones, zeroed

BASE = dict(
    vocab_size=320, hidden_size=32, layer_norm_epsilon=1e-05, hidden_act="silu", tie_word_embeddings=False, bos_token_id=0,
    eos_token_id=1, pad_token_id=4, use_cache=True, torch_dtype="bfloat16", conv_kernel=4, expand=2, use_conv_bias=True,
    use_bias=False,
)
SCALES = {"embeddings": 2.0, "conv1d": 2.0, "x_proj": 2.0, "dt_proj": 2.0, "out_proj": 3.0, "D": 10.0, "lm_head": 4.0}


def shared(folder):
    """What every state space has."""
    return {
        "skip": goldens.weights(folder, zeroed("mixer.D")),
        "convolution": goldens.weights(folder, zeroed("conv1d.weight")),
        "convolution's bias": goldens.weights(folder, zeroed("conv1d.bias")),
        "rates": goldens.weights(folder, zeroed("A_log")),
        "final norm": goldens.weights(folder, ones("norm_f.weight")),
    }


def mamba():
    """A state for each channel, whose steps are made of fewer numbers; a tied head."""
    folder = make(
        "mamba", "mamba", 71, base=BASE, scales=SCALES, num_hidden_layers=3, state_size=6, time_step_rank=5,
        tie_word_embeddings=True, intermediate_size=64)
    golden("mamba", folder, shared(folder) | {"step's bias": goldens.weights(folder, zeroed("dt_proj.bias"))})


def falcon_mamba():
    """The same with norms without weights, biases of its matrices, and a head of its own."""
    folder = make(
        "falcon_mamba", "falcon_mamba", 75, base=BASE, scales=SCALES, num_hidden_layers=2, state_size=6,
        time_step_rank="auto", mixer_rms_eps=0.01, intermediate_size=64, use_bias=True)
    golden("falcon_mamba", folder, shared(folder) | {
        "step's bias": goldens.weights(folder, zeroed("dt_proj.bias")),
        "input bias": goldens.weights(folder, zeroed("in_proj.bias")),
        "output bias": goldens.weights(folder, zeroed("out_proj.bias")),
        "epsilon of the parts": goldens.settings(folder, mixer_rms_eps=3.0),
    })


def mamba2():
    """Heads in groups that share what writes and reads, and a norm of each group after the gate."""
    folder = make(
        "mamba2", "mamba2", 73, base=BASE, scales=SCALES, num_hidden_layers=3, state_size=10, num_heads=8, head_dim=8,
        n_groups=2, chunk_size=16, time_step_limit=[0.0, float("inf")], rms_norm=True, norm_before_gate=True)
    golden("mamba2", folder, shared(folder) | {
        "step's bias": goldens.weights(folder, zeroed("dt_bias")),
        "least step": goldens.settings(folder, time_step_limit=(0.5, float("inf"))),
        "norm of groups": goldens.weights(folder, ones("mixer.norm.weight")),
    })


#: State spaces beside or between layers of attention.
HYBRID = dict(
    head_dim=8, mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=2, mamba_d_state=10, mamba_d_conv=4, mamba_expand=2,
    mamba_conv_bias=True, mamba_proj_bias=False, mamba_chunk_size=16, attention_bias=False, mlp_bias=False, rope_theta=10000.0)


def mixed(folder):
    """What every such state space has."""
    return {
        "skip": goldens.weights(folder, zeroed("mamba.D")),
        "convolution": goldens.weights(folder, zeroed("conv1d.weight")),
        "convolution's bias": goldens.weights(folder, zeroed("conv1d.bias")),
        "rates": goldens.weights(folder, zeroed("A_log")),
        "attention": goldens.weights(folder, zeroed("o_proj")),
        "state spaces": goldens.weights(folder, zeroed("mamba.out_proj")),
    }


def granite4():
    """Granite 4 as published: Mamba 2, experts and what every row goes through, factors, attention without rotation."""
    folder = make(
        "granite4-mamba", "granitemoehybrid", 81, scales=SCALES, **HYBRID, num_hidden_layers=3, intermediate_size=16,
        shared_intermediate_size=24, num_local_experts=4, num_experts_per_tok=2, layer_types=["mamba", "attention", "mamba"],
        position_embedding_type="nope", embedding_multiplier=3.0, logits_scaling=0.5, residual_multiplier=0.7,
        attention_multiplier=0.2, rope_scaling=None, mamba_d_ssm=None, normalization_function="rmsnorm")
    golden("granite4-mamba", folder, mixed(folder) | {
        "step's bias": goldens.weights(folder, zeroed("dt_bias")),
        "norm of groups": goldens.weights(folder, ones("mamba.norm.weight")),
        "residual_multiplier": goldens.settings(folder, residual_multiplier=1.0),
    })


def bamba():
    """Mamba 2 but for some layers, whose attention rotates half of a head."""
    folder = make(
        "bamba", "bamba", 92, scales=SCALES, **HYBRID, num_hidden_layers=3, intermediate_size=48, attn_layer_indices=[1])
    golden("bamba", folder, mixed(folder) | {
        "step's bias": goldens.weights(folder, zeroed("dt_bias")),
        "norm of groups": goldens.weights(folder, ones("mamba.norm.weight")),
    })


FACTORS = dict(
    embedding_multiplier=3.0, lm_head_multiplier=2.0, mlp_multipliers=[1.5, 0.6], key_multiplier=0.5, attention_in_multiplier=1.4,
    attention_out_multiplier=0.8, ssm_in_multiplier=1.25, ssm_out_multiplier=0.5, ssm_multipliers=[0.7, 1.3, 0.6, 1.6, 0.8])


def falcon_h1():
    """Mamba 2 beside attention in each layer, and a factor for everything; gated alone, as most published ones are."""
    folder = make("falcon_h1", "falcon_h1", 83, scales=SCALES, **HYBRID, **FACTORS, num_hidden_layers=2, intermediate_size=48,
                  mamba_d_ssm=64, mamba_rms_norm=False, mamba_norm_before_gate=False, projectors_bias=False)
    without = {name: goldens.settings(folder, **{name: [1.0] * len(value) if isinstance(value, list) else 1.0})
               for name, value in FACTORS.items()}
    golden("falcon_h1", folder, mixed(folder) | without)
    for name, number, is_first in (("falcon_h1-normed", 84, False), ("falcon_h1-normed-first", 85, True)):
        folder = make(
            name, "falcon_h1", number, scales=SCALES, **HYBRID, num_hidden_layers=2, intermediate_size=48, mamba_d_ssm=None,
            mamba_rms_norm=True, mamba_norm_before_gate=is_first, projectors_bias=False)
        golden(name, folder, mixed(folder) | {
            "norm of groups": goldens.weights(folder, ones("mamba.norm.weight")),
            "order of norm and gate": goldens.settings(folder, mamba_norm_before_gate=not is_first),
        })


def jamba():
    """Mamba with norms of its parts, every second layer attention without rotation, every second one experts."""
    folder = make(
        "jamba", "jamba", 86, scales=SCALES, num_hidden_layers=4, intermediate_size=24, num_experts=4, num_experts_per_tok=2,
        expert_layer_period=2, expert_layer_offset=1, attn_layer_period=2, attn_layer_offset=0, mamba_d_state=6, mamba_d_conv=4,
        mamba_expand=2, mamba_dt_rank=5, mamba_conv_bias=True, mamba_proj_bias=False)
    golden("jamba", folder, mixed(folder) | {
        "step's bias": goldens.weights(folder, zeroed("dt_proj.bias")),
        "norm of steps": goldens.weights(folder, ones("dt_layernorm")),
        "norm of writes": goldens.weights(folder, ones("b_layernorm")),
        "norm of reads": goldens.weights(folder, ones("c_layernorm")),
        "experts": goldens.weights(folder, zeroed("experts.down_proj")),
    })


FAMILIES = [mamba, falcon_mamba, mamba2, granite4, bamba, falcon_h1, jamba]

if __name__ == "__main__":
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
