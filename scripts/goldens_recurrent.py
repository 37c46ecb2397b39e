#!/usr/bin/env python3
"""Makes small random models whose layers remember a text in states of fixed size, as goldens.py does.

    venv/bin/python scripts/goldens_recurrent.py [NAME...]

Without names it makes all of them.
"""

import json
import sys

import safetensors.torch
import torch
import transformers
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen35_code
from transformers.models.qwen3_5_moe import modeling_qwen3_5_moe as qwen35_moe_code
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next_code

from goldens import MICRO, golden, load, logits, random_weights, settings, short_tokenizer, weights

BFLOAT = "bfloat16, random, computed in float32"


def tensors_of(model, names=lambda name: name):
    """In bfloat16, those that are tied only once."""
    return {names(name): value.detach().bfloat16().contiguous() for name, value in model.named_parameters()}


def store(folder, tensors):
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def configure(folder, config):
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def patched(folder, code, **functions):
    """A function for `without`: the logits with other functions in a module of transformers."""
    def other(ids):
        kept = {name: getattr(code, name) for name in functions}
        try:
            for name, function in functions.items():
                setattr(code, name, function)
            return logits(load(folder), ids)
        finally:
            for name, function in kept.items():
                setattr(code, name, function)
    return other


def changed(folder, ending, change):
    """A function for `without`: the logits with other weights of all tensors whose names end so."""
    def apply(model):
        found = [value for name, value in model.named_parameters() if name.endswith(ending)]
        assert found, ending
        for value in found:
            change(value)
    return weights(folder, apply)


def last_tap(value):
    value[..., :-1] = 0


# Qwen 3.5

QWEN35 = dict(
    attention_bias=False, attention_dropout=0.0, bos_token_id=0, eos_token_id=1, pad_token_id=4, head_dim=16, hidden_act="silu",
    hidden_size=32, intermediate_size=48, linear_conv_kernel_dim=4, linear_key_head_dim=12, linear_num_key_heads=2,
    linear_num_value_heads=4, linear_value_head_dim=10, max_position_embeddings=1024, num_attention_heads=4,
    num_key_value_heads=2, rms_norm_eps=1e-06, use_cache=True, vocab_size=320,
)
QWEN35_ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 0], "mrope_interleaved": True}


def delta_weights(model, seed):
    """Every part shows: decays between nearly nothing and nearly all, norms with an offset but for the gated one."""
    scales = {"embed_tokens": 3.0, "in_proj_a": 2.0, "in_proj_b": 2.0, "conv1d": 2.0, "out_proj": 3.0, "lm_head": 2.0}
    random_weights(model, seed, lambda name: scales.get(name.split(".")[-2], 1.5), gemma=True)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("linear_attn.norm.weight"):
                value += 1
            if name.endswith("A_log"):
                value.copy_(torch.linspace(-3.0, 1.0, value.numel()).bfloat16().float())


def without_delta(folder, code):
    chunk = code.torch_chunk_gated_delta_rule
    return {
        "convolution": changed(folder, "conv1d.weight", last_tap),
        "decay": changed(folder, "A_log", lambda value: value.fill_(-30)),
        "time step": changed(folder, "in_proj_a.weight", lambda value: value.zero_()),
        "time bias": changed(folder, "dt_bias", lambda value: value.zero_()),
        "beta": changed(folder, "in_proj_b.weight", lambda value: value.zero_()),
        "gate": changed(folder, "in_proj_z.weight", lambda value: value.mul_(0.5)),
        "gated norm": changed(folder, "linear_attn.norm.weight", lambda value: value.fill_(1)),
        "length of keys": patched(
            folder, code, torch_chunk_gated_delta_rule=lambda *a, **k: chunk(*a, **k | {"use_qk_l2norm_in_kernel": False})),
        "grouped heads": patched(
            folder, code, torch_chunk_gated_delta_rule=lambda q, k, v, **rest: chunk(
                q.repeat(1, 1, v.shape[2] // q.shape[2], 1), k.repeat(1, 1, v.shape[2] // k.shape[2], 1), v, **rest)),
    }


def without_gated_attention(folder, code, **section):
    def rope(**values):
        return {key: value | {"rope_parameters": value["rope_parameters"] | values} for key, value in section.items()}

    def norms(model):
        for name, parameter in model.named_parameters():
            if "norm" in name and not name.endswith("linear_attn.norm.weight"):
                parameter -= 1

    def gates(model):
        for name, value in model.named_parameters():
            if name.endswith("q_proj.weight"):
                size = model.config.get_text_config().head_dim
                value.view(-1, 2, size, value.shape[1])[:, 1] = 0

    return {
        "1 + weight in norms": weights(folder, norms),
        "output gate": weights(folder, gates),
        "norm of queries": changed(folder, "q_norm.weight", lambda value: value.zero_()),
        "norm of keys": changed(folder, "k_norm.weight", lambda value: value.zero_()),
    }


def qwen35_text():
    """The text part alone, its layers in a list, with a head of its own."""
    folder = MICRO / "qwen3_5-text"
    short_tokenizer(folder)
    rope = QWEN35_ROPE | {"partial_rotary_factor": 0.5}
    config = QWEN35 | dict(
        architectures=["Qwen3_5ForCausalLM"], model_type="qwen3_5_text", num_hidden_layers=3, tie_word_embeddings=False,
        layer_types=["linear_attention", "full_attention", "linear_attention"], rope_parameters=rope, dtype="bfloat16",
    )
    configure(folder, config)
    model = transformers.Qwen3_5ForCausalLM(transformers.Qwen3_5TextConfig(**config))
    delta_weights(model, 11)
    store(folder, tensors_of(model))
    golden("qwen3_5-text", folder, without_delta(folder, qwen35_code) | without_gated_attention(folder, qwen35_code) | {
        "partial_rotary_factor": settings(folder, rope_parameters=rope | {"partial_rotary_factor": 1.0}),
    }, weights=BFLOAT)


def qwen35():
    """The names of the whole model, with images and a layer that guesses further tokens; layers by an interval."""
    folder = MICRO / "qwen3_5"
    short_tokenizer(folder)
    text = QWEN35 | dict(
        model_type="qwen3_5_text", num_hidden_layers=4, full_attention_interval=2, rope_parameters=QWEN35_ROPE,
        tie_word_embeddings=True, dtype="bfloat16",
    )
    vision = dict(
        model_type="qwen3_5", depth=1, hidden_size=8, intermediate_size=8, num_heads=2, out_hidden_size=32, patch_size=2,
        num_position_embeddings=4,
    )
    configure(folder, dict(
        architectures=["Qwen3_5ForConditionalGeneration"], model_type="qwen3_5", text_config=text, vision_config=vision,
        tie_word_embeddings=True, image_token_id=5, video_token_id=6, vision_start_token_id=7, vision_end_token_id=8,
    ))
    model = transformers.Qwen3_5ForConditionalGeneration(transformers.AutoConfig.from_pretrained(folder))
    delta_weights(model, 12)
    tensors = tensors_of(model)
    assert any(name.startswith("model.visual.") for name in tensors)
    store(folder, tensors | {"mtp.fc.weight": torch.zeros(2, 2, dtype=torch.bfloat16)})
    golden("qwen3_5", folder, without_delta(folder, qwen35_code) | without_gated_attention(folder, qwen35_code), weights=BFLOAT,
           notes="ids include the leading <|bos|> (id 0); greedy = plain argmax, never stopped at eos; a quarter of a head "
           "rotates, which its config.json does not say")


def qwen35_moe():
    """Experts in every layer, chosen after a softmax over all, their weights made to add up to 1, and a shared one."""
    folder = MICRO / "qwen3_5-moe"
    short_tokenizer(folder)
    config = QWEN35 | dict(
        architectures=["Qwen3_5MoeForCausalLM"], model_type="qwen3_5_moe_text", num_hidden_layers=4, full_attention_interval=2,
        tie_word_embeddings=False, rope_parameters=QWEN35_ROPE | {"partial_rotary_factor": 0.25}, dtype="bfloat16",
        moe_intermediate_size=12, shared_expert_intermediate_size=20, num_experts=8, num_experts_per_tok=3,
    )
    del config["intermediate_size"]
    configure(folder, config)
    model = transformers.Qwen3_5MoeForCausalLM(transformers.Qwen3_5MoeTextConfig(**config))
    delta_weights(model, 14)
    store(folder, tensors_of(model))

    code = qwen35_moe_code
    golden("qwen3_5-moe", folder, without_delta(folder, code) | without_gated_attention(folder, code)
           | without_experts(folder, code, "Qwen3_5MoeTopKRouter"), weights=BFLOAT)


def without_experts(folder, code, name):
    def router(change):
        class Router(getattr(code, name)):
            def forward(self, hidden):
                scores, weights, chosen = super().forward(hidden)
                return change(scores, weights, chosen)
        return patched(folder, code, **{name: Router})

    return {
        "choice": router(lambda scores, weights, chosen: (scores, weights, (chosen + 1) % 8)),
        "weights": router(lambda scores, weights, chosen: (scores, torch.full_like(weights, 1 / 3), chosen)),
        "weights add up to 1": router(lambda scores, weights, chosen: (
            scores, torch.softmax(scores, -1).gather(-1, chosen), chosen)),
        "shared expert": changed(folder, "shared_expert.down_proj.weight", lambda value: value.zero_()),
        "its gate": changed(folder, "shared_expert_gate.weight", lambda value: value.zero_()),
    }


def qwen3_next():
    """Matrices of the delta rule packed by key head; a layer without experts; the older names of rope."""
    folder = MICRO / "qwen3-next"
    short_tokenizer(folder)
    config = QWEN35 | dict(
        architectures=["Qwen3NextForCausalLM"], model_type="qwen3_next", num_hidden_layers=4, full_attention_interval=3,
        tie_word_embeddings=False, rope_theta=10000.0, rope_scaling=None, partial_rotary_factor=0.25, torch_dtype="bfloat16",
        moe_intermediate_size=12, shared_expert_intermediate_size=20, num_experts=8, num_experts_per_tok=3,
        norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[1],
    )
    configure(folder, config)
    model = transformers.Qwen3NextForCausalLM(transformers.Qwen3NextConfig(**config))
    delta_weights(model, 23)
    store(folder, tensors_of(model))
    code = qwen3_next_code
    without = without_delta(folder, code)
    for name in "time step", "beta", "gate":  # they are in packed matrices
        del without[name]

    def packed(ending, places, value):
        def change(matrix):
            matrix.view(QWEN35["linear_num_key_heads"], -1, matrix.shape[1])[:, places] *= value
        return changed(folder, ending, change)

    keys, values = 2 * QWEN35["linear_key_head_dim"], 2 * QWEN35["linear_value_head_dim"]
    golden("qwen3-next", folder, without | without_gated_attention(folder, code) | {
        "time step": packed("in_proj_ba.weight", slice(2, 4), 0), "beta": packed("in_proj_ba.weight", slice(0, 2), 0),
        "gate": packed("in_proj_qkvz.weight", slice(keys + values, None), 0.5),
    } | without_experts(folder, code, "Qwen3NextTopKRouter"), weights=BFLOAT)


MODELS = {"qwen3_5-text": qwen35_text, "qwen3_5": qwen35, "qwen3_5-moe": qwen35_moe, "qwen3-next": qwen3_next}

if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        MODELS[name]()
