#!/usr/bin/env python3
"""Makes small random models, and writes down what transformers says of them.

    python3 -m venv venv
    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0
    venv/bin/python scripts/goldens.py

Writes folders of Tests/Fixtures/micro and Tests/Fixtures/goldens/micro-*.json. Everything is seeded: a second run
writes the same bytes. A model that differs from another only by its config.json shares its weights by a symbolic link.

Each mechanism matters: the script fails where switching one off moves no logit by more than 0.01. The golden's `without`
says how far each moves them.
"""

import inspect
import json
import logging
import pathlib
import warnings

import safetensors.torch
import tokenizers
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM

logging.disable(logging.WARNING)
transformers.utils.logging.disable_progress_bar()
warnings.filterwarnings("ignore")
torch.set_num_threads(1)

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures"
MICRO = FIXTURES / "micro"
REFERENCE = (
    f"transformers {transformers.__version__}, torch {torch.__version__}, tokenizers {tokenizers.__version__}, "
    "float32, CPU, eager attention"
)
NOTES = (
    "ids include the leading <|bos|> (id 0) added by tokenizer.json's post-processor; "
    "greedy = plain argmax, never stopped at eos"
)
PROMPTS = [
    "ROMEO:\nBut, soft! what light through yonder window breaks?\nIt is the east,",
    "The quick brown fox jumps over 13 lazy dogs; café 😀",
]
SENTENCES = ["The king is dead.", "My lord, the queen hath left the castle!", "What news from Rome?"]


# Files

def write(path, value):
    """One line for each key, so that a golden stays small and a diff stays readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f" {json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in value.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def link(folder, name, target):
    path = folder / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def variant(name, base, drop=(), **changes):
    """A folder with the weights and the tokenizer of another model and a config.json of its own."""
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in (MICRO / base).iterdir():
        if file.is_file() and file.name not in ("config.json", "modules.json"):
            link(folder, file.name, f"../{base}/{file.name}")
    config = json.loads((MICRO / base / "config.json").read_text()) | changes
    for key in drop:
        del config[key]
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return folder


def short_tokenizer(folder, size=320, links=True):
    """The tokenizer of micro/llama with its first `size` tokens: the special ones, every byte, and a few merges."""
    value = json.loads((MICRO / "llama/tokenizer.json").read_text())
    model = value["model"]
    model["vocab"] = {token: number for token, number in model["vocab"].items() if number < size}
    model["merges"] = model["merges"][:size - 261]
    assert all("".join(pair).replace(" ", "") in model["vocab"] for pair in model["merges"])
    assert len(model["vocab"]) == size
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    for name in ("tokenizer_config.json", "special_tokens_map.json", "generation_config.json") if links else ():
        link(folder, name, f"../llama/{name}")


def ids_of(folder, text):
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids


# Answers

def load(folder, **changes):
    """The model in float32 with eager attention; `changes` replace settings of its config.json."""
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **changes)
    return AutoModelForCausalLM.from_pretrained(folder, config=config, dtype=torch.float32, attn_implementation="eager").eval()


@torch.no_grad()
def logits(model, ids, **inputs):
    return model(input_ids=torch.tensor([ids]), use_cache=False, **inputs).logits[0, -1].double()


@torch.no_grad()
def greedy(model, ids, count=32):
    """The most likely continuation with a cache, and how near the second best came."""
    step, cache, picked, gap = ids, None, [], float("inf")
    takes = inspect.signature(model.forward).parameters
    # State spaces alone have another name for it.
    name = "past_key_values" if "past_key_values" in takes else "cache_params"
    for _ in range(count):
        inputs = {name: cache}
        if "position_ids" in takes:
            # Bamba asks its first layer how many positions there are, and a state space knows of none.
            end = len(ids) + len(picked)
            inputs["position_ids"] = torch.arange(end - len(step), end)[None]
        answer = model(input_ids=torch.tensor([step]), **inputs, use_cache=True)
        cache = answer[name]
        best = answer.logits[0, -1].double().topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        step = [int(best.indices[0])]
        picked += step
    return picked, gap


def numbers(values):
    return [round(float(value), 6) for value in values]


class NearTie(Exception):
    """A greedy path that rounding could turn."""


def answers(load, folder, prompts, least_gap=0.002):
    """What a golden says of prompts. Each gets a model of its own: dynamic rope remembers the longest text it saw."""
    vocabulary = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    out = []
    for text in prompts:
        ids = vocabulary.encode(text).ids
        picked, gap = greedy(load(), ids)
        if gap <= least_gap:
            raise NearTie(f"{folder.name}: the greedy path after {text!r} comes within {gap} of a tie")
        continuation = {"ids": picked, "text": vocabulary.decode(picked, skip_special_tokens=False)}
        out.append({"text": text, "ids": ids, "greedy_32": continuation, "greedy_min_top2_gap_32": round(gap, 6)})
    values = logits(load(), out[0]["ids"])
    return {
        "prompts": out,
        "logits": {"prompt_index": 0, "position": "last prompt token", "values": numbers(values)},
    }


def golden(name, folder, without, prompts=PROMPTS, weights="float32, random", notes=NOTES):
    """Writes a golden. `without` names each mechanism with a function that makes the logits without it."""
    result = answers(lambda: load(folder), folder, prompts)
    ids = result["prompts"][0]["ids"]
    given = logits(load(folder), ids)
    moves = {what: float((given - other(ids)).abs().max()) for what, other in without.items()}
    for what, move in moves.items():
        assert move > 0.01, f"{name}: without {what} the logits move by {move} only"
    write(FIXTURES / f"goldens/micro-{name}.json", {
        "name": f"micro-{name}", "fixture": f"micro/{folder.name}", "reference": REFERENCE, "weights": weights,
        "notes": notes, "without": {what: round(move, 4) for what, move in moves.items()},
    } | result)
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for what, move in moves.items()))


def settings(folder, **changes):
    """A function for `without`: the logits with other settings in config.json."""
    return lambda ids: logits(load(folder, **changes), ids)


def weights(folder, change):
    """A function for `without`: the logits with other weights."""
    def other(ids):
        model = load(folder)
        with torch.no_grad():
            change(model)
        return logits(model, ids)
    return other


# Rope

def rope_models():
    def passage(start):
        return [(FIXTURES / "heldout.txt").read_text(encoding="utf-8")[start:start + 320]]

    def rope(**values):
        return dict(rope_parameters={"rope_theta": 10000.0, **values})

    plain = rope(rope_type="default")

    folder = variant("llama-linear", "llama", rope_scaling={"type": "linear", "factor": 4.0})
    golden("llama-linear", folder, {"scaling": settings(folder, **plain)})

    folder = variant("llama-dynamic", "llama", max_position_embeddings=80, rope_scaling={"type": "dynamic", "factor": 2.0})
    prompts = passage(1200) + ["First Citizen:\nBefore we proceed any further, hear me"]
    assert len(ids_of(folder, prompts[0])) > 80 > len(ids_of(folder, prompts[1])) + 32
    golden("llama-dynamic", folder, {"scaling": settings(folder, **plain)}, prompts, notes=NOTES + (
        "; the first prompt is longer than max_position_embeddings, the other never reaches it; the base follows the length "
        "at the time, and the keys in the cache keep the turn that they got"))

    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256}
    folder = variant("llama-yarn", "llama", rope_scaling=scaling)
    yarn = rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=256)["rope_parameters"]
    golden("llama-yarn", folder, {
        "scaling": settings(folder, **plain),
        "ramp": settings(folder, **rope(rope_type="linear", factor=4.0)),
        "attention factor": settings(folder, rope_parameters=yarn | {"attention_factor": 1.0}),
    })

    yarn = {
        "rope_theta": 10000.0, "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 128,
        "beta_fast": 8.0, "beta_slow": 2.0, "attention_factor": 0.8, "truncate": False,
    }
    folder = variant("llama-yarn-explicit", "llama", drop=("rope_scaling", "rope_theta", "torch_dtype"),
                     rope_parameters=yarn, dtype="float32")
    golden("llama-yarn-explicit", folder, {
        "scaling": settings(folder, **plain),
        "beta_fast": settings(folder, rope_parameters=yarn | {"beta_fast": 32.0}),
        "beta_slow": settings(folder, rope_parameters=yarn | {"beta_slow": 1.0}),
        "attention_factor": settings(folder, rope_parameters=yarn | {"attention_factor": None}),
        "truncate false": settings(folder, rope_parameters=yarn | {"truncate": True}),
    })

    lists = {"short_factor": [1.0, 1.1, 1.5, 2.0], "long_factor": [1.2, 2.0, 5.0, 9.0]}
    folder = variant("phi3-longrope", "phi3", max_position_embeddings=640, original_max_position_embeddings=80,
                     rope_scaling={"type": "longrope", **lists})
    given = rope(rope_type="longrope", original_max_position_embeddings=80, **lists)["rope_parameters"]
    without = {
        "scaling": settings(folder, **plain),
        "attention factor": settings(folder, rope_parameters=given | {"attention_factor": 1.0}),
    }
    golden("phi3-longrope-short", folder, without | {
        "short_factor": settings(folder, rope_parameters=given | {"short_factor": lists["long_factor"]}),
    }, notes=NOTES + "; no text reaches original_max_position_embeddings")
    golden("phi3-longrope-long", folder, without | {
        "long_factor": settings(folder, rope_parameters=given | {"long_factor": lists["short_factor"]}),
    }, passage(0), notes=NOTES + "; the prompt is longer than original_max_position_embeddings")

    lists = {"short_factor": [1.0, 1.1, 1.5], "long_factor": [1.2, 2.0, 5.0]}
    folder = variant("phi3-partial", "phi3", max_position_embeddings=640, original_max_position_embeddings=80,
                     partial_rotary_factor=0.75, rope_scaling={"type": "longrope", **lists})
    given = rope(rope_type="longrope", original_max_position_embeddings=80, **lists)["rope_parameters"]
    golden("phi3-partial", folder, {
        "scaling": settings(folder, rope_parameters=plain["rope_parameters"] | {"partial_rotary_factor": 0.75}),
        "partial_rotary_factor": settings(folder, rope_parameters=given | {
            "partial_rotary_factor": 1.0, "long_factor": [1.2, 2.0, 5.0, 9.0], "short_factor": [1.0, 1.1, 1.5, 2.0]}),
    }, passage(0))


# Families

def random_weights(model, seed, scale, gemma=False):
    """Weights so large that every part of the model shows in the logits, rounded to bfloat16."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("bias"):
                values = noise * 0.5
            elif "norm" in name:
                values = noise * 0.3 + (0.0 if gemma else 1.0)
            else:
                values = noise * scale(name) / parameter.shape[-1] ** 0.5
            parameter.copy_(values.bfloat16().float())


def save(folder, model, names=lambda name: name):
    """The weights in bfloat16, those that are tied only once."""
    tensors = {names(name): value.detach().bfloat16().contiguous() for name, value in model.named_parameters()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def gemma():
    """Gemma 1. Its config.json says `gelu` and means the tanh form, as the published ones do."""
    folder = MICRO / "gemma"
    short_tokenizer(folder)
    config = dict(
        architectures=["GemmaForCausalLM"], model_type="gemma", attention_bias=False, attention_dropout=0.0, bos_token_id=0,
        eos_token_id=1, pad_token_id=4, head_dim=16, hidden_act="gelu", hidden_activation=None, hidden_size=32, intermediate_size=64,
        max_position_embeddings=256, num_attention_heads=4, num_hidden_layers=2, num_key_value_heads=1,
        rms_norm_eps=1e-06, rope_theta=10000.0, torch_dtype="bfloat16", use_cache=True, vocab_size=320,
    )
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = transformers.GemmaForCausalLM(transformers.GemmaConfig(**config))
    scales = {"embed_tokens": 3.0, "gate_proj": 1.0, "up_proj": 8.0, "down_proj": 3.0}
    random_weights(model, 1, lambda name: scales.get(name.split(".")[-2], 1.5), gemma=True)
    with torch.no_grad():  # the two forms of gelu differ most for their size near -2.5: push the gates there
        model.model.embed_tokens.weight[:, 0] = 3.0
        for layer in model.model.layers:
            layer.mlp.gate_proj.weight[:, 0] = -1.0
    save(folder, model)

    def norms(model):
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter -= 1

    def exact_gelu(model):
        for layer in model.model.layers:
            layer.mlp.act_fn = torch.nn.GELU()

    golden("gemma", folder, {
        "1 + weight in norms": weights(folder, norms),
        "embedding scale": weights(folder, lambda model: setattr(model.model.embed_tokens, "embed_scale", torch.tensor(1.0))),
        "tanh form of gelu": weights(folder, exact_gelu),
        "rope": settings(folder, rope_parameters={"rope_type": "linear", "factor": 1e9, "rope_theta": 10000.0}),
    }, weights="bfloat16, random, computed in float32",
       notes=NOTES + "; hidden_act gelu means the tanh form here")


def opt():
    """OPT: learned positions behind two rows that no position has, ReLU, biases. All but OPT-350m look like this."""
    folder = MICRO / "opt"
    short_tokenizer(folder)
    config = dict(
        architectures=["OPTForCausalLM"], model_type="opt", _remove_final_layer_norm=False, activation_function="relu",
        attention_dropout=0.0, bos_token_id=0, do_layer_norm_before=True, dropout=0.0, eos_token_id=1, ffn_dim=64,
        hidden_size=32, layerdrop=0.0, max_position_embeddings=128, num_attention_heads=4, num_hidden_layers=2,
        pad_token_id=4, torch_dtype="bfloat16", use_cache=True, vocab_size=320, word_embed_proj_dim=32,
    )
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = transformers.OPTForCausalLM(transformers.OPTConfig(**config))
    random_weights(model, 4, lambda name: 1.5 if "embed_tokens" in name else 3.0)
    save(folder, model)

    def offset(model):
        model.model.decoder.embed_positions.offset = 0

    def positions(model):
        model.model.decoder.embed_positions.weight.zero_()

    def norm_biases(model):
        for name, parameter in model.named_parameters():
            if name.endswith("norm.bias"):
                parameter.zero_()

    def matrix_biases(model):
        for name, parameter in model.named_parameters():
            if name.endswith("bias") and "norm" not in name:
                parameter.zero_()

    golden("opt", folder, {
        "positions": weights(folder, positions), "position offset": weights(folder, offset),
        "norm biases": weights(folder, norm_biases), "matrix biases": weights(folder, matrix_biases),
        "relu": settings(folder, activation_function="gelu_new"),
    }, weights="bfloat16, random, computed in float32")


# Sentences

OLD = {kind: f"sentence_transformers.models.{kind}" for kind in ("Transformer", "Pooling", "Normalize")}
NEW = {
    "Transformer": "sentence_transformers.base.modules.transformer.Transformer",
    "Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    "Normalize": "sentence_transformers.base.modules.normalize.Normalize",
}


def modules(folder, mode, normalized, new=False):
    """modules.json and 1_Pooling/config.json as sentence-transformers wrote them for years, or as its version 6 does."""
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")] + [("2_Normalize", "Normalize")] * normalized
    names = NEW if new else OLD
    value = [{"idx": i, "name": str(i), "path": path, "type": names[kind]} for i, (path, kind) in enumerate(kinds)]
    (folder / "modules.json").unlink(missing_ok=True)
    (folder / "modules.json").write_text(json.dumps(value, indent=2) + "\n")
    keys = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
    pooling = {"word_embedding_dimension": 32} | {f"pooling_mode_{key}": key == mode for key in keys} | {"include_prompt": True}
    if new:
        pooling = {"embedding_dimension": 32, "pooling_mode": mode.removesuffix("_token"), "include_prompt": True}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling, indent=2) + "\n")


def sentences(name, folder, pooling, weights="float32, random"):
    """Writes a golden of sentence vectors, as sentence-transformers makes them from the folder one by one."""
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager", "dtype": torch.float32})
    inner = AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    out, mean_moves = [], []
    for text in SENTENCES:
        ids = ids_of(folder, text)
        assert ids == whole.tokenize([text])["input_ids"][0].tolist()
        vector = torch.tensor(whole.encode(text))
        with torch.no_grad():
            states = inner(input_ids=torch.tensor([ids])).last_hidden_state[0]
        out.append({"text": text, "ids": ids, "embedding": numbers(vector), "last_hidden_cls": numbers(states[0])})
        mean = torch.nn.functional.normalize(states.mean(0), dim=0)
        mean_moves.append(float((mean - vector).abs().max()))
    assert min(mean_moves) > 0.01, f"{name}: the normalised mean is the same"
    write(FIXTURES / f"goldens/micro-{name}.json", {
        "name": f"micro-{name}", "fixture": f"micro/{folder.name}", "reference": REFERENCE, "weights": weights,
        "pooling": pooling, "sentences": out,
    })
    print(f"{name}: {pooling}, {min(mean_moves):.3f} from the normalised mean")


def poolings():
    for name, mode, normalized, new in [
        ("bert-cls", "cls_token", True, False), ("bert-cls-plain", "cls_token", False, True),
        ("bert-mean-plain", "mean_tokens", False, False), ("bert-max", "max_tokens", True, False),
        ("bert-lasttoken", "lasttoken", True, False), ("bert-lasttoken-plain", "lasttoken", False, True),
    ]:
        folder = variant(name, "bert")
        modules(folder, mode, normalized, new)
        sentences(name, folder, f"{mode}, {'then L2 normalise' if normalized else 'not normalised'}; token_type_ids all 0")


def decoder_embedding():
    """A decoder that makes sentence vectors, as Qwen3-Embedding: tensor names without `model.`, the last token's state."""
    folder = MICRO / "qwen3-embedding"
    short_tokenizer(folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<|eos|>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<|eos|>": {"id": "<|eos|>", "ids": [1], "tokens": ["<|eos|>"]}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    config = json.loads((MICRO / "qwen3/config.json").read_text()) | {"vocab_size": 320, "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**config))
    random_weights(model, 2, lambda name: 1.0)
    save(folder, model, lambda name: name.removeprefix("model."))
    modules(folder, "lasttoken", True)
    sentences("qwen3-embedding", folder, "lasttoken (the <|eos|> that the tokenizer adds), then L2 normalise",
              weights="bfloat16, random, computed in float32")


if __name__ == "__main__":
    rope_models()
    gemma()
    opt()
    poolings()
    decoder_embedding()
