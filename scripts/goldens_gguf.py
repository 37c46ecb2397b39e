#!/usr/bin/env python3
"""Makes small GGUF models of each family and of more quantisations, and writes down what transformers says of them.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gguf==0.19.0 llama-cpp-python==0.3.36
    venv/bin/python scripts/goldens_gguf.py

Writes Tests/Fixtures/micro-gguf, micro-llama-quant-gguf and micro-llama-kquant-gguf, and their goldens. The files are what llama.cpp's
converter makes of the models in Tests/Fixtures/micro, cut to 320 tokens. A golden is what transformers says of the weights
in the file, dequantised to float32. llama.cpp has to agree: the script compares the logits of both in float32, and
fails where they are further apart than 0.0001 (given llama.cpp's gelu, which comes from a table in float16).
"""

import ctypes
import json
import pathlib
import tempfile

import gguf
import llama_cpp
import numpy as np
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from llama_cpp import llama_cpp as low

import goldens
from goldens import FIXTURES, MICRO, NOTES, PROMPTS, REFERENCE, SENTENCES

VOCABULARY = 320
SCRATCH = tempfile.TemporaryDirectory()
CHOICE = PROMPTS[:1] + ["First Citizen:\nBefore we proceed any further, hear me", "My lord, the queen hath left the castle!"]
FILE_TYPES = {"f32": 0, "f16": 1, "q8_0": 7}
TYPES = {"f32": Type.F32, "f16": Type.F16, "q8_0": Type.Q8_0}
QUIET = low.llama_log_callback(lambda level, text, data: None)
low.llama_log_set(QUIET, ctypes.c_void_p(0))


# From transformers to llama.cpp and back

def permuted(rows, heads, back):
    """Rows of q or k: llama.cpp turns neighbours where transformers turns halves of a head."""
    size = rows.shape[0] // heads
    shape = (heads, size // 2, 2) if back else (heads, 2, size // 2)
    return rows.reshape(*shape, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def changed(family, config, name, values, back=False):
    """A tensor as the converter changes it, or as it was before."""
    if family in ("llama", "mistral") and "q_proj" in name:
        return permuted(values, config.num_attention_heads, back)
    if family in ("llama", "mistral") and "k_proj" in name:
        return permuted(values, config.num_key_value_heads, back)
    if family.startswith("gemma") and name.endswith("norm.weight"):
        return values - np.float32(1) if back else values + np.float32(1)
    if family == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        return values.T
    return values


ARCHITECTURES = {"mistral": "llama"}


def names(family, model):
    """transformers' name of each tensor in the file, with llama.cpp's."""
    arch = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == ARCHITECTURES.get(family, family))
    table = gguf.get_tensor_name_map(arch, model.config.num_hidden_layers)
    out = {}
    for name, _ in model.named_parameters():
        if not name.startswith("pooler."):
            out[name] = table.get_name(name, try_suffixes=(".weight", ".bias"))
            assert out[name], name
    return out


# The file

def add_vocabulary(writer, folder):
    value = json.loads((folder / "tokenizer.json").read_text())
    model, special = value["model"], {token["id"] for token in value["added_tokens"] if token["special"]}
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    kinds = [gguf.TokenType.CONTROL if number in special else gguf.TokenType.NORMAL for number in range(len(tokens))]
    if model["type"] == "WordPiece":
        def phantom(number, token):
            return token if number in special else token[2:] if token.startswith("##") else "\u2581" + token
        writer.add_tokenizer_model("bert")
        writer.add_tokenizer_pre("bert-bge")
        writer.add_token_list([phantom(number, token) for number, token in enumerate(tokens)])
        writer.add_token_types(kinds)
        for key, token in (("bos", "[CLS]"), ("unk", "[UNK]"), ("sep", "[SEP]"), ("pad", "[PAD]"), ("mask", "[MASK]")):
            getattr(writer, f"add_{key}_token_id")(model["vocab"][token])
        writer.add_uint32("tokenizer.ggml.cls_token_id", model["vocab"]["[CLS]"])  # as older converters wrote it
        return
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(4)
    writer.add_add_bos_token(True)


def add_settings(writer, family, config):
    rope = getattr(config, "rope_parameters", None) or {}
    full = rope.get("full_attention", rope)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(getattr(config, "intermediate_size", 4 * config.hidden_size))
    writer.add_head_count(config.num_attention_heads)
    if family in ("gpt2", "bert"):
        writer.add_layer_norm_eps(config.layer_norm_epsilon if family == "gpt2" else config.layer_norm_eps)
    else:
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if family == "bert":
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.MEAN)
        writer.add_token_type_count(config.type_vocab_size)
    if "rope_theta" in full and family not in ("gemma", "gemma2"):
        writer.add_rope_freq_base(full["rope_theta"])
    head = getattr(config, "head_dim", None)
    if head and family not in ("phi3", "qwen2"):
        writer.add_key_length(head)
        writer.add_value_length(head)
    if family in ("llama", "mistral"):
        writer.add_vocab_size(config.vocab_size)
        writer.add_rope_dimension_count(head)
    if family in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if family == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if full.get("rope_type") == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(full["factor"])
    if family == "phi3":
        writer.add_sliding_window(0)
        writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
        original = full["original_max_position_embeddings"]
        scale = config.max_position_embeddings / original
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors(float(np.sqrt(1 + np.log(scale) / np.log(original))))
        for key in ("long", "short"):
            writer.add_tensor(f"rope_factors_{key}.weight", np.array(full[f"{key}_factor"], np.float32))
    if full.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config))


def llama3_factors(config):
    """How much slower each pair of a head turns: the quotient of the plain frequency and the scaled one."""
    scaled, _ = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = 1 / config.rope_parameters["rope_theta"] ** (np.arange(0, config.head_dim, 2, dtype=np.float32) / config.head_dim)
    return (plain / scaled.numpy()).astype(np.float32)


def convert(path, family, model, folder, kind):
    writer = gguf.GGUFWriter(path, ARCHITECTURES.get(family, family))
    writer.add_name("random weights")  # llama.cpp expects certain tokens where this holds "phi3"
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_quantization_version(2)
    add_settings(writer, family, model.config)
    add_vocabulary(writer, folder)
    parameters = dict(model.named_parameters())
    for name, target in names(family, model).items():
        values = np.ascontiguousarray(changed(family, model.config, name, parameters[name].detach().numpy()))
        kept = values.ndim == 1 or target.startswith(("position_embd", "token_types"))
        type = Type.F32 if kept else TYPES[kind]
        writer.add_tensor(target, gguf.quants.quantize(values, type), raw_dtype=type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fill(model, family, path):
    """The model with the weights of a file, dequantised to float32."""
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, target in names(family, model).items():
            tensor = tensors[target]
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            values = changed(family, model.config, name, values, back=True)
            parameters[name].copy_(torch.from_numpy(np.ascontiguousarray(values)).reshape(parameters[name].shape))
    return model


# llama.cpp's answers

def llama_cpp_model(path, context, **settings):
    return llama_cpp.Llama(
        str(path), n_ctx=context, n_batch=512, n_threads=1, n_threads_batch=1, type_k=0, type_v=0, verbose=False, **settings)


def check_ids(path, texts, folder, context=256):
    model = llama_cpp_model(path, context, vocab_only=True)
    for text in texts:
        assert model.tokenize(text.encode(), add_bos=True, special=False) == goldens.ids_of(folder, text), text


def llama_cpp_logits(path, ids, context):
    model = llama_cpp_model(path, context)
    model.eval(ids)
    last = low.llama_get_logits_ith(model.ctx, -1)
    return torch.tensor(np.ctypeslib.as_array(last, (model.n_vocab(),)).astype(np.float64))


class CoarseGelu(torch.nn.Module):
    """gelu as llama.cpp looks it up: the table has float16 on both sides."""

    def forward(self, x):
        rounded = torch.nn.functional.gelu(x.half().float(), approximate="tanh").half().float()
        return torch.where(x <= -10, 0, torch.where(x >= 10, x, rounded))


def coarse_gelu(model):
    for module in model.modules():
        for name in ("act", "act_fn"):
            if "gelu" in type(getattr(module, name, None)).__name__.lower():
                setattr(module, name, CoarseGelu())
    return model


# Families

def one_answer(load, folder, prompts):
    """The answers to the first of the prompts whose greedy path comes near no tie."""
    for text in prompts:
        try:
            return goldens.answers(load, folder, [text])
        except goldens.NearTie as tie:
            print(tie)
    raise SystemExit("each prompt comes near a tie")


def short_folder():
    """A folder with the short tokenizer, and room for files that nobody keeps."""
    folder = pathlib.Path(SCRATCH.name)
    goldens.short_tokenizer(folder, VOCABULARY, links=False)
    return folder


def shortened(base, **changes):
    """A model of Tests/Fixtures/micro in float32 with the first tokens of its vocabulary."""
    model = goldens.load(MICRO / base, **changes)
    model.resize_token_embeddings(VOCABULARY, mean_resizing=False)
    return model


GEMMA3_ROPE = {
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
}
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}


def gemma3(**changes):
    """Six layers, so that one of them is a full one: the file does not say which, it is every sixth."""
    config = transformers.Gemma3TextConfig(**(dict(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=32, num_hidden_layers=6, num_attention_heads=4,
        num_key_value_heads=1, head_dim=16, query_pre_attn_scalar=16, sliding_window=8, max_position_embeddings=256,
        layer_types=["sliding_attention"] * 5 + ["full_attention"], pad_token_id=4, bos_token_id=0, eos_token_id=1,
        rope_parameters=GEMMA3_ROPE, attn_implementation="eager", tie_word_embeddings=True) | changes))
    model = transformers.Gemma3ForCausalLM(config).eval()
    goldens.random_weights(model, 3, lambda name: 2.0 if "embed" in name else 1.5, gemma=True)
    return model


def from_micro(base, **settings):
    return lambda **changes: shortened(base, **(settings | changes))


# Of each family: the type of its matrices, the model, what the file leaves out, and what must matter.
FAMILIES = {
    "llama": ("f16", from_micro("llama"), "rope_freqs holds the scaling", {"rope_freqs": dict(rope_parameters=PLAIN_ROPE)}),
    "mistral": ("f16", from_micro("mistral", sliding_window=None), "the file has no window, so none is applied", {}),
    "qwen2": ("q8_0", from_micro("qwen2"), "", {"rope base": dict(rope_parameters=PLAIN_ROPE)}),
    "qwen3": ("q8_0", from_micro("qwen3"), "", {"rope base": dict(rope_parameters=PLAIN_ROPE)}),
    "gemma": ("q8_0", lambda **changes: goldens.load(MICRO / "gemma", **changes), "", {}),
    "gemma2": ("q8_0", from_micro("gemma2", query_pre_attn_scalar=16),
               "the file has no query_pre_attn_scalar: it is the head's width", {
        "window": dict(sliding_window=200),
        "window on the first layer": dict(layer_types=["full_attention", "sliding_attention"]),
        "attention cap": dict(attn_logit_softcapping=None), "final cap": dict(final_logit_softcapping=None),
        "head's width": dict(query_pre_attn_scalar=8)}),
    "gemma3": ("q8_0", gemma3, "the file has neither the pattern of layers nor the local rope base: 6 and 10000", {
        "window": dict(sliding_window=200),
        "pattern": dict(layer_types=["sliding_attention"] * 6),
        "local rope base": dict(rope_parameters=GEMMA3_ROPE | {"sliding_attention": {"rope_type": "default", "rope_theta": 1e6}}),
        "linear scaling": dict(rope_parameters=GEMMA3_ROPE | {"full_attention": {"rope_type": "default", "rope_theta": 1e6}})}),
    "phi3": ("f16", from_micro("phi3-longrope"), "llama.cpp picks the long factors by the size of its context", {
        "long factors": dict(rope_parameters=PLAIN_ROPE)}),
    "gpt2": ("q8_0", from_micro("gpt2"), "", {}),
}


def families():
    folder = short_folder()
    out = FIXTURES / "micro-gguf"
    out.mkdir(exist_ok=True)
    heldout = (FIXTURES / "heldout.txt").read_text(encoding="utf-8")
    long = [heldout[start:start + 260] for start in (0, 300, 600)]
    for family, (kind, make, note, without) in FAMILIES.items():
        path, exact = out / f"{family}-{kind}.gguf", folder / f"{family}.gguf"
        model = make()
        convert(path, family, model, folder, kind)
        convert(exact, family, model, folder, "f32")
        prompts = long if family == "phi3" else CHOICE
        assert family != "phi3" or all(len(goldens.ids_of(folder, text)) > 80 for text in long)
        check_ids(path, PROMPTS, folder)
        result = one_answer(lambda: fill(make(), family, path), folder, prompts)
        ids = result["prompts"][0]["ids"]
        apart = float((llama_cpp_logits(exact, ids, 256) - goldens.logits(coarse_gelu(model), ids)).abs().max())
        given = torch.tensor(result["logits"]["values"])
        loosely = float((llama_cpp_logits(path, ids, 256) - given).abs().max())
        size = float(given.abs().max())
        print(f"{family}: llama.cpp is {apart:.6f} away in float32, {loosely:.4f} in {kind}, logits reach {size:.1f}", flush=True)
        assert apart < 0.0001, family
        for what, changes in without.items():
            move = float((goldens.logits(fill(make(**changes), family, path), ids) - given).abs().max())
            print(f"    without {what} {move:.3f}")
            assert move > 0.01, what
        notes = "; ".join(filter(None, [NOTES, note]))
        write(f"micro-gguf-{family}", path, f"GGUF {kind} as llama.cpp's converter writes it, dequantised to float32", notes, result)


def write(name, path, weights, notes, result):
    goldens.write(FIXTURES / f"goldens/{name}.json", {
        "name": name, "fixture": str(path.relative_to(FIXTURES)), "reference": REFERENCE, "weights": weights, "notes": notes,
    } | result)


def bert():
    folder = MICRO / "bert"
    path = FIXTURES / "micro-gguf/bert-q8_0.gguf"
    exact = pathlib.Path(SCRATCH.name) / "bert.gguf"

    def load():
        return transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

    convert(path, "bert", load(), folder, "q8_0")
    convert(exact, "bert", load(), folder, "f32")
    check_ids(path, SENTENCES, folder, 128)

    @torch.no_grad()
    def vector(model, ids):
        states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        return torch.nn.functional.normalize(states.mean(0), dim=0), states[0]

    model, whole, out = fill(load(), "bert", path), llama_cpp_model(exact, 128, embedding=True), []
    for text in SENTENCES:
        ids = goldens.ids_of(folder, text)
        theirs = torch.tensor(whole.embed(text, normalize=True))
        apart = float((theirs - vector(load(), ids)[0]).abs().max())
        print(f"bert: llama.cpp is {apart:.7f} away in float32")
        assert apart < 0.0001
        mean, first = vector(model, ids)
        out.append({"text": text, "ids": ids, "embedding_mean_l2": goldens.numbers(mean),
                    "last_hidden_cls": goldens.numbers(first)})
    write("micro-gguf-bert", path, "GGUF q8_0 as llama.cpp's converter writes it, dequantised to float32",
          "pooling: mean over all tokens incl. [CLS]/[SEP], then L2 normalise; token_type_ids all 0", {"sentences": out})


# Quantisations by llama.cpp

# Name: width of the model, llama.cpp's number. Those of 256 need rows of that many values.
PLAIN = {
    "q4_1": (64, low.LLAMA_FTYPE_MOSTLY_Q4_1), "q5_0": (64, low.LLAMA_FTYPE_MOSTLY_Q5_0),
    "q5_1": (64, low.LLAMA_FTYPE_MOSTLY_Q5_1), "bf16": (32, low.LLAMA_FTYPE_MOSTLY_BF16),
    "iq4_nl": (64, low.LLAMA_FTYPE_MOSTLY_IQ4_NL), "iq4_xs": (256, low.LLAMA_FTYPE_MOSTLY_IQ4_XS),
}
MIXED = {
    "q2_k": (256, low.LLAMA_FTYPE_MOSTLY_Q2_K), "q3_k_m": (256, low.LLAMA_FTYPE_MOSTLY_Q3_K_M),
    "q4_k_m": (256, low.LLAMA_FTYPE_MOSTLY_Q4_K_M), "q5_k_m": (256, low.LLAMA_FTYPE_MOSTLY_Q5_K_M),
}


def quantise(source, target, file_type, pure):
    """llama.cpp's own quantiser: every tensor in one type, or the mixture that it chooses."""
    settings = low.llama_model_quantize_default_params()
    settings.nthread, settings.ftype, settings.pure = 1, file_type, pure
    assert low.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(settings)) == 0


def random_llama(width):
    """Two layers of four heads; one layer where rows are wide."""
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=width, intermediate_size=2 * width if width < 256 else width,
        num_hidden_layers=2 if width < 256 else 1, num_attention_heads=4, num_key_value_heads=2 if width < 256 else 1,
        head_dim=width // 4, max_position_embeddings=512, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True,
        bos_token_id=0, eos_token_id=1, pad_token_id=4, attn_implementation="eager")
    model = transformers.LlamaForCausalLM(config).eval()
    goldens.random_weights(model, width, lambda name: 2.0)
    return model


def quantisations(name, kinds, pure):
    folder = short_folder()
    out = FIXTURES / name
    out.mkdir(exist_ok=True)
    for kind, (width, file_type) in kinds.items():
        exact, path = folder / f"{width}.gguf", out / f"model-{kind}.gguf"
        convert(exact, "llama", random_llama(width), folder, "f32")
        quantise(exact, path, file_type, pure)
        result = one_answer(lambda: fill(random_llama(width), "llama", path), folder, CHOICE)
        ids = result["prompts"][0]["ids"]
        given = torch.tensor(result["logits"]["values"])
        apart = float((llama_cpp_logits(exact, ids, 256) - goldens.logits(random_llama(width), ids)).abs().max())
        loosely = float((llama_cpp_logits(path, ids, 256) - given).abs().max())
        types = sorted({tensor.tensor_type.name for tensor in gguf.GGUFReader(path).tensors})
        print(f"{kind} ({' '.join(types)}): llama.cpp is {apart:.6f} away in float32, {loosely:.4f} in {kind}, "
              f"logits reach {float(given.abs().max()):.1f}", flush=True)
        assert apart < 0.0001, kind
        weights = f"GGUF {kind} by llama.cpp, dequantised to float32 with gguf-py"
        write(f"{name}-{kind}", path, weights, NOTES, result)


if __name__ == "__main__":
    families()
    bert()
    quantisations("micro-llama-quant-gguf", PLAIN, True)
    quantisations("micro-llama-kquant-gguf", MIXED, False)
