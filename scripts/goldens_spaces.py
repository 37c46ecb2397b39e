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


FAMILIES = [mamba, falcon_mamba, mamba2]

if __name__ == "__main__":
    for family in FAMILIES:
        if not sys.argv[1:] or family.__name__ in sys.argv[1:]:
            family()
