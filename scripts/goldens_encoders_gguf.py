#!/usr/bin/env python3
"""Makes GGUF files of small encoders, and writes down what transformers says of them.

    venv/bin/python scripts/goldens_encoders_gguf.py

See scripts/goldens_gguf.py for the environment. The files are what llama.cpp's converter makes of models that
scripts/goldens_encoders.py wrote: Tests/Fixtures/micro-gguf/NAME-f16.gguf, goldens/micro-gguf-NAME.json. llama.cpp, whose
activations and gelu are float16, has to come within 0.001; it cannot open a gemma-embedding without a buffer for its cache.
"""

import re

import gguf
import numpy as np
import safetensors.torch
import torch
import transformers

import goldens
from goldens import FIXTURES, MICRO, REFERENCE, SENTENCES
from goldens_gguf import add_vocabulary, llama_cpp_model

QKV = (["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "attn_qkv")
POST = {"post_attention_layernorm": "attn_output_norm", "post_mlp_layernorm": "layer_output_norm"}
EMBEDDINGS = {
    "embeddings.word_embeddings": "token_embd", "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
LLAMA = {
    "embed_tokens": "token_embd", "^norm": "output_norm", "input_layernorm": "attn_norm", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
#: By the fixture: llama.cpp's name, tensors that become one, other names.
FAMILIES = {
    "nomic-bert": ("nomic-bert", [QKV], EMBEDDINGS | POST | {
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}),
    "jina-v3": ("jina-bert-v3", [QKV], EMBEDDINGS | POST | {
        "self_attn.o_proj": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down"}),
    "modernbert": ("modern-bert", [], {
        "embeddings.tok_embeddings": "token_embd", "embeddings.norm": "token_embd_norm", "final_norm": "output_norm",
        "attn.Wqkv": "attn_qkv", "attn.Wo": "attn_output", "mlp_norm": "ffn_norm", "mlp.Wi": "ffn_up", "mlp.Wo": "ffn_down"}),
    "eurobert": ("eurobert", [], LLAMA | {"post_attention_layernorm": "ffn_norm"}),
    "embeddinggemma": ("gemma-embedding", [], LLAMA | {
        "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
        "post_feedforward_layernorm": "post_ffw_norm"}),
}


def convert(path, family, model, folder):
    arch, packs, names = FAMILIES[family]
    config = model.config
    writer = gguf.GGUFWriter(str(path), arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    if hasattr(config, "rms_norm_eps"):
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    else:
        writer.add_layer_norm_eps(getattr(config, "layer_norm_eps", None) or config.norm_eps)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if family == "modernbert":
        writer.add_sliding_window(config.local_attention)
        writer.add_float32("modern-bert.rope.freq_base_swa", rope["sliding_attention"]["rope_theta"])
        writer.add_vocab_size(config.vocab_size)
    if family == "embeddinggemma":
        writer.add_sliding_window(2 * (config.sliding_window - 1))
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    if getattr(config, "type_vocab_size", 0) and family != "modernbert":
        writer.add_token_type_count(config.type_vocab_size)
    add_vocabulary(writer, folder)
    tensors = {name: value.detach() for name, value in model.named_parameters() if "pooler" not in name}
    for parts, whole in packs:
        for first in [name for name in tensors if parts[0] in name]:
            tensors[first.replace(parts[0], whole)] = torch.cat([tensors.pop(first.replace(parts[0], part)) for part in parts])
    for name, value in tensors.items():
        name = re.sub(r"^layers\.", "blk.", name)
        for theirs, ours in names.items():
            name = re.sub(rf"(^|\.){theirs.removeprefix('^')}\.", rf"\g<1>{ours}.", name)
        if family == "embeddinggemma" and name.endswith("norm.weight"):
            value = value + 1
        values = value.numpy().astype(np.float32 if value.dim() == 1 or "token_types" in name else np.float16)
        writer.add_tensor(name, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@torch.no_grad()
def vector(model, ids):
    return torch.nn.functional.normalize(model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0), dim=0)


def golden(family):
    folder = MICRO / family
    path = FIXTURES / f"micro-gguf/{family}-f16.gguf"
    # The file does not say how scores are scaled: by the head's size.
    scale = {"query_pre_attn_scalar": 8} if family == "embeddinggemma" else {}
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **scale)
    model = transformers.AutoModel.from_config(config, dtype=torch.float32).eval()
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    base = model.base_model_prefix + "."
    weights = {name.removeprefix(base): value.float() for name, value in weights.items()}
    missing = model.load_state_dict(weights, strict=False).missing_keys
    assert all("pooler" in name for name in missing), missing
    # The file's own numbers: bfloat16 does not fit into float16.
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() > 1 and "token_type" not in name:
                value.copy_(value.half().float())
    convert(path, family, model, folder)
    out = []
    for text in SENTENCES:
        ids = goldens.ids_of(folder, text)
        assert len(ids) <= 40, text
        ours = vector(model, ids)
        if family != "embeddinggemma":
            theirs = torch.tensor(llama_cpp_model(path, 40, embedding=True).embed(text, normalize=True))
            apart = float((theirs - ours).abs().max())
            print(f"{family}: llama.cpp is {apart:.7f} away")
            assert apart < 0.001
        out.append({"text": text, "ids": ids, "embedding_mean_l2": goldens.numbers(ours)})
    goldens.write(FIXTURES / f"goldens/micro-gguf-{family}.json", {
        "name": f"micro-gguf-{family}", "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE,
        "weights": "GGUF f16 as llama.cpp's converter writes it, computed in float32",
        "notes": "mean over all tokens, then L2 normalise", "sentences": out,
    })


if __name__ == "__main__":
    for family in FAMILIES:
        golden(family)
