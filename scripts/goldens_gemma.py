#!/usr/bin/env python3
"""Makes small random models of Gemma 3n and 4, and writes down what transformers says of them.

    venv/bin/python scripts/goldens_gemma.py [NAME]...

See scripts/goldens.py for the environment and for what `without` means. Each model is made with the class that reads it,
text side only; tensors of the other sides are added by name where a published file has them.
"""

import json
import sys

import safetensors.torch
import torch
import transformers

from goldens import MICRO, golden, link, random_weights, settings, variant, weights

BFLOAT = "bfloat16, random, computed in float32"
SIZES = dict(
    vocab_size=320, hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
    max_position_embeddings=256, sliding_window=8, rms_norm_eps=1e-6, attention_bias=False, attention_dropout=0.0,
    hidden_activation="gelu_pytorch_tanh", bos_token_id=0, eos_token_id=1, pad_token_id=4, tie_word_embeddings=True,
)
ROPE = {
    "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"},
    "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"},
}
EVEN = ROPE | {"full_attention": {"rope_theta": 1000000.0, "rope_type": "default"}}


def made(name):
    """A new folder with the short tokenizer of micro/gemma."""
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"):
        link(folder, file, f"../gemma/{file}")
    return folder


def text(folder, **changes):
    """A function for `without`: the logits with other settings in the text side's part of config.json."""
    inner = json.loads((folder / "config.json").read_text())["text_config"]
    return settings(folder, text_config=inner | changes)


@torch.no_grad()
def random_factors(model):
    """Numbers for the factors of layers, which are buffers; those by name."""
    generator, found = torch.Generator().manual_seed(8), {}
    for name, buffer in model.named_buffers():
        if name.endswith("layer_scalar"):
            buffer.copy_((0.6 + 0.5 * torch.rand(buffer.shape, generator=generator)).bfloat16().float())
            found[name] = buffer
    return found


def fill(folder, model, scales, extra=None):
    """Random weights, saved in bfloat16."""
    random_weights(model, 7, lambda name: scales.get(name.split(".")[-2], 1.5))
    tensors = dict(model.named_parameters()) | random_factors(model)
    tensors = {name: value.detach().bfloat16().contiguous() for name, value in tensors.items()}
    safetensors.torch.save_file(tensors | (extra or {}), folder / "model.safetensors", metadata={"format": "pt"})


def layers(model):
    inner = model.model
    return getattr(inner, "language_model", inner).layers


def each_attention(change):
    """A function of a model for `weights`, by one of a layer's attention."""
    def changed(model):
        for layer in layers(model):
            change(layer.self_attn)
    return changed


def identity(*names):
    def change(attention):
        for name in names:
            if hasattr(attention, name):
                setattr(attention, name, torch.nn.Identity())
    return each_attention(change)


def scaled_scores(attention):
    attention.scaling = attention.head_dim ** -0.5


def keys_with_norm(attention):
    """Values of the keys after their norm."""
    if attention.v_proj is None:
        attention.v_norm = torch.nn.Sequential(attention.k_norm, attention.v_norm)


def factors(model):
    for layer in layers(model):
        layer.layer_scalar.fill_(1)


def earlier_source(model):
    """Reading the keys and values of the first layer of a kind instead of the last with its own."""
    for first, last in ((0, 2), (1, 3)):
        layers(model)[first].self_attn.store_full_length_kv = True
        layers(model)[last].self_attn.store_full_length_kv = False


def of_text(name, change):
    """A function of a model for `weights`: changes a module of the text side."""
    return lambda model: change(getattr(model.model.language_model, name))


def no_table(embedding):
    embedding.weight.zero_()


def plain_table(embedding):
    embedding.embed_scale.fill_(1)


def no_projection(norm):
    norm.weight.zero_()


def relu_gates(model):
    for layer in layers(model):
        layer.act_fn = torch.nn.ReLU()


def no_output_norm(model):
    for layer in layers(model):
        layer.post_per_layer_input_norm = torch.nn.Identity()


COMMON = {
    "value norm": identity("v_norm"), "query and key norms": identity("q_norm", "k_norm"),
    "scale 1": each_attention(scaled_scores), "layer factors": factors,
}


def small():
    """As E2B and E4B: rows of tokens for each layer, last layers that share keys and values, with wider halves."""
    folder = made("gemma4")
    inner = SIZES | dict(
        model_type="gemma4_text", num_hidden_layers=6, layer_types=["sliding_attention", "full_attention"] * 3,
        global_head_dim=16, num_global_key_value_heads=None, attention_k_eq_v=False, num_kv_shared_layers=2,
        use_double_wide_mlp=True, hidden_size_per_layer_input=8, vocab_size_per_layer_input=320, rope_parameters=ROPE,
        final_logit_softcapping=30.0, enable_moe_block=False, use_bidirectional_attention=None,
    )
    config = dict(
        architectures=["Gemma4ForConditionalGeneration"], model_type="gemma4", dtype="bfloat16", text_config=inner,
        vision_config=None, audio_config=None, tie_word_embeddings=True,
    )
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = transformers.Gemma4ForConditionalGeneration(transformers.AutoConfig.from_pretrained(folder))
    # Published files have keys and values of layers that do not use them.
    beside = {
        "model.vision_tower.std_bias": torch.zeros(4, dtype=torch.bfloat16),
        "model.embed_audio.embedding_projection.weight": torch.zeros(4, 4, dtype=torch.bfloat16),
        "model.language_model.layers.5.self_attn.k_proj.weight": torch.zeros(32, 32, dtype=torch.bfloat16),
        "model.language_model.layers.5.self_attn.k_norm.weight": torch.zeros(16, dtype=torch.bfloat16),
    }
    fill(folder, model, {"embed_tokens": 3.0, "embed_tokens_per_layer": 3.0}, extra=beside)
    golden("gemma4", folder, {what: weights(folder, change) for what, change in (COMMON | {
        "source of keys": earlier_source, "table of layers": of_text("embed_tokens_per_layer", no_table),
        "scale of the table": of_text("embed_tokens_per_layer", plain_table),
        "projection for layers": of_text("per_layer_projection_norm", no_projection),
        "activation of the gates": relu_gates, "norm after the gates": no_output_norm,
    }).items()} | {
        "window": text(folder, sliding_window=100), "cap": text(folder, final_logit_softcapping=None),
        "proportional rope": text(folder, rope_parameters=EVEN),
    }, weights=BFLOAT)


def large():
    """As 31B: values made of keys where layers see everything, and other heads there; no rows for layers."""
    folder = made("gemma4-large")
    config = transformers.Gemma4TextConfig(
        architectures=["Gemma4ForCausalLM"], dtype="bfloat16", num_hidden_layers=4,
        layer_types=["sliding_attention"] * 3 + ["full_attention"], global_head_dim=16, num_global_key_value_heads=1,
        attention_k_eq_v=True, hidden_size_per_layer_input=0, vocab_size_per_layer_input=320, rope_parameters=ROPE,
        final_logit_softcapping=20.0, **SIZES)
    (folder / "config.json").write_text(config.to_json_string(use_diff=False))
    model = transformers.Gemma4ForCausalLM(config)
    fill(folder, model, {"embed_tokens": 3.0})
    golden("gemma4-large", folder, {what: weights(folder, change) for what, change in (COMMON | {
        "keys before their norm": each_attention(keys_with_norm),
    }).items()} | {
        "window": settings(folder, sliding_window=100), "cap": settings(folder, final_logit_softcapping=None),
        "proportional rope": settings(folder, rope_parameters=EVEN),
    }, weights=BFLOAT)

    folder = variant(
        "gemma4-unified", "gemma4-large", model_type="gemma4_unified_text", architectures=["Gemma4UnifiedForCausalLM"],
        use_bidirectional_attention="vision",
        drop=("hidden_size_per_layer_input", "vocab_size_per_layer_input", "enable_moe_block", "num_experts",
              "top_k_experts", "moe_intermediate_size"))
    golden("gemma4-unified", folder, {"window": settings(folder, sliding_window=100)}, weights=BFLOAT)


def plain_router(model):
    for layer in layers(model):
        layer.router.scale.fill_(1)


def raw_router(model):
    for layer in layers(model):
        layer.router.norm = torch.nn.Identity()


def equal_experts(model):
    for layer in layers(model):
        layer.router.per_expert_scale.fill_(1)


def no_experts(model):
    for layer in layers(model):
        layer.post_feedforward_layernorm_2.weight.zero_()


def no_dense(model):
    for layer in layers(model):
        layer.post_feedforward_layernorm_1.weight.zero_()


def no_experts_norm(model):
    for layer in layers(model):
        layer.pre_feedforward_layernorm_2 = torch.nn.Identity()


def mixture():
    """As 26B-A4B: experts beside each feed-forward block."""
    folder = made("gemma4-mixture")
    config = transformers.Gemma4TextConfig(
        architectures=["Gemma4ForCausalLM"], dtype="bfloat16", num_hidden_layers=3,
        layer_types=["sliding_attention"] * 2 + ["full_attention"], global_head_dim=16, num_global_key_value_heads=1,
        attention_k_eq_v=True, hidden_size_per_layer_input=0, vocab_size_per_layer_input=320, rope_parameters=ROPE,
        final_logit_softcapping=30.0, enable_moe_block=True, num_experts=8, top_k_experts=3, moe_intermediate_size=24,
        **SIZES)
    (folder / "config.json").write_text(config.to_json_string(use_diff=False))
    model = transformers.Gemma4ForCausalLM(config)
    fill(folder, model, {"embed_tokens": 3.0, "proj": 6.0})
    golden("gemma4-mixture", folder, {what: weights(folder, change) for what, change in {
        "router's weight": plain_router, "router's norm": raw_router, "factors of experts": equal_experts,
        "experts": no_experts, "feed-forward block": no_dense, "experts' norm": no_experts_norm,
        "layer factors": factors,
    }.items()} | {"number of experts": settings(folder, top_k_experts=2)}, weights=BFLOAT)


def change_altup(change):
    """A function of a model for `weights`, by one of a layer's way of mixing streams."""
    def changed(model):
        for layer in layers(model):
            change(layer.altup)
    return changed


def zero(*path):
    def change(module):
        for name in path:
            module = getattr(module, name)
        module.weight.zero_()
    return change


def one_scale(altup):
    altup.correct_output_scale.fill_(1)


def raw_router_rows(altup):
    altup.router_norm = torch.nn.Identity()


def no_detour(model):
    for layer in layers(model):
        layer.laurel.post_laurel_norm.weight.zero_()


def other_streams(name):
    def change(model):
        for matrix in getattr(model.model, name):
            matrix.weight.copy_(matrix.weight.roll(1, 0))
    return change


def plain_inner_table(model):
    model.model.embed_tokens_per_layer.weight.zero_()


def e2b():
    """Gemma 3n."""
    folder = made("gemma3n")
    config = transformers.Gemma3nTextConfig(**(SIZES | dict(
        architectures=["Gemma3nForCausalLM"], dtype="bfloat16", num_hidden_layers=6,
        layer_types=["sliding_attention", "full_attention"] * 3, num_kv_shared_layers=2, laurel_rank=8,
        intermediate_size=[48, 48, 40, 40, 48, 48], activation_sparsity_pattern=[0.9, 0.6, 0.0, 0.0, 0.0, 0.0],
        hidden_size_per_layer_input=8, vocab_size_per_layer_input=310, final_logit_softcapping=30.0,
        rope_parameters={
            "full_attention": {"rope_theta": 1000000.0, "rope_type": "default"},
            "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
    )))
    (folder / "config.json").write_text(config.to_json_string(use_diff=False))
    model = transformers.Gemma3nForCausalLM(config)
    fill(folder, model, {
        "embed_tokens": 3.0, "embed_tokens_per_layer": 3.0, "modality_router": 40.0, "prediction_coefs": 1.0,
        "correction_coefs": 1.0, "altup": 6.0})
    flat = {kind: {"rope_theta": 1e12, "rope_type": "default"} for kind in ROPE}
    golden("gemma3n", folder, {what: weights(folder, change) for what, change in {
        "value norm": identity("v_norm"), "query and key norms": identity("q_norm", "k_norm"),
        "scale 1": each_attention(scaled_scores), "source of keys": earlier_source,
        "table of layers": plain_inner_table, "detour": no_detour,
        "prediction": change_altup(zero("prediction_coefs")), "correction": change_altup(zero("correction_coefs")),
        "scale of the corrected": change_altup(one_scale), "norm of the router": change_altup(raw_router_rows),
        "streams' matrices before": other_streams("altup_projections"),
        "streams' matrices after": other_streams("altup_unembed_projections"),
    }.items()} | {
        "window": settings(folder, sliding_window=100), "cap": settings(folder, final_logit_softcapping=1e6),
        "sparsity": settings(folder, activation_sparsity_pattern=[0.0] * 6),
        "rope": settings(folder, rope_parameters=flat),
    }, weights=BFLOAT)


MODELS = {"gemma3n": e2b, "gemma4": small, "gemma4-large": large, "gemma4-mixture": mixture}

if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        MODELS[name]()
