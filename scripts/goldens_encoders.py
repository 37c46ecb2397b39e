#!/usr/bin/env python3
"""Makes small random encoders, and writes down what transformers says of them with each of their heads.

    venv/bin/python scripts/goldens_encoders.py [NAME]...

See scripts/goldens.py for the environment. Writes Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/encoder-NAME.json
for each line of ENCODERS, or for those named. One file of weights holds the model and all of its heads; the golden says
which class takes which, and which settings of config.json belong to it.

Each mechanism matters: `without` of an encoder names, by class, changes that must move that class's outputs by ten times
what a test tolerates. The golden says how far each moves them.
"""

import json
import sys
import zlib
from dataclasses import dataclass, field

import safetensors.torch
import torch
import transformers

from goldens import FIXTURES, MICRO, REFERENCE, link, numbers, write

VOCABULARY = 320
LABELS = {"id2label": {"0": "cat", "1": "dog", "2": "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}
HEADS = ["Model", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM"]
TASKS = {
    "Model": "feature-extraction", "ForSequenceClassification": "text-classification",
    "ForTokenClassification": "token-classification", "ForMaskedLM": "fill-mask", "ForPreTraining": "fill-mask",
}


# Changes for `without`: functions of a model in place; a dict replaces settings of config.json instead.

def zero(*parts, to=0.0):
    """Sets parameters whose names hold one of these parts."""
    def change(model):
        found = [value for name, value in model.named_parameters() if any(part in name for part in parts)]
        assert found, parts
        for value in found:
            value.fill_(to)
    return change


def module(path, replacement):
    """Replaces a module by its path, in every layer where the path has a *."""
    def change(model):
        def place(target, steps):
            if steps[0] == "*":
                return [place(child, steps[1:]) for child in target]
            if len(steps) > 1:
                return place(getattr(target, steps[0]), steps[1:])
            assert hasattr(target, steps[0]), path
            setattr(target, steps[0], replacement)
        place(model, path.split("."))
    return change


def both(*changes):
    def change(model):
        for each in changes:
            each(model)
    return change


class Same(torch.nn.Module):
    def forward(self, x, *_):
        return x


TANH_GELU = torch.nn.GELU(approximate="tanh")


ROBERTA = {
    "Model": {
        "positions": zero("position_embeddings"), "type": zero("token_type_embeddings"),
        "first position": lambda model: setattr(model.embeddings, "padding_idx", -1),
    },
    "ForSequenceClassification": {
        "dense": module("classifier.dense", Same()), "biases": zero("classifier.dense.bias"),
    },
    "ForMaskedLM": {
        "dense": module("lm_head.dense", Same()), "norm": module("lm_head.layer_norm", Same()),
        "bias": zero("lm_head.bias", "lm_head.decoder.bias"),
    },
}


@dataclass
class Encoder:
    """A line of the table."""
    #: The classes' names without their ends: `Bert`.
    stem: str
    #: config.json as published repositories spell it, on top of COMMON.
    config: dict
    #: By the end of a class, then by the mechanism's name.
    without: dict = field(default_factory=dict)
    classes: list = field(default_factory=lambda: HEADS)
    #: Factor of the noise of a weight, by a part of its name; otherwise 1.
    scales: dict = field(default_factory=dict)
    #: Longest text; its positions are all that the model has.
    longest: int = 40
    #: Whether a pair's second text has the type 1.
    hasTypes: bool = True
    #: Names of settings that config.json of published repositories does not have.
    drop: tuple = ()

    def make(self, end, config):
        return getattr(transformers, self.stem + end)(config)


COMMON = dict(
    attention_probs_dropout_prob=0.0, hidden_act="gelu", hidden_dropout_prob=0.0, hidden_size=32, intermediate_size=64,
    max_position_embeddings=40, num_attention_heads=4, num_hidden_layers=2, pad_token_id=0, torch_dtype="bfloat16",
    vocab_size=VOCABULARY,
)
ABSOLUTE = dict(layer_norm_eps=0.01, position_embedding_type="absolute", type_vocab_size=2)

ENCODERS = {
    "bert-heads": Encoder("Bert", dict(model_type="bert", **ABSOLUTE), classes=HEADS + ["ForPreTraining"], scales={"intermediate.dense": 2}, without={
        "Model": {
            "positions": zero("position_embeddings"), "types": zero("token_type_embeddings"),
            "epsilon": dict(layer_norm_eps=1e-12),
            "norm of the embedding": module("embeddings.LayerNorm", Same()),
            "norm after attention": module("encoder.layer.*.attention.output.LayerNorm", Same()),
            "norm after the feed-forward block": module("encoder.layer.*.output.LayerNorm", Same()),
            "biases": zero("query.bias", "intermediate.dense.bias"), "gelu": dict(hidden_act="relu"),
            "exact gelu": dict(hidden_act="gelu_new"),
        },
        "ForSequenceClassification": {
            "pooler": module("bert.pooler.dense", Same()), "tanh": module("bert.pooler.activation", Same()),
            "bias": zero("classifier.bias"),
        },
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "dense": module("cls.predictions.transform.dense", Same()),
            "activation": module("cls.predictions.transform.transform_act_fn", Same()),
            "norm": module("cls.predictions.transform.LayerNorm", Same()), "bias": zero("cls.predictions.bias"),
        },
    }),
    "roberta": Encoder("Roberta", dict(model_type="roberta", **ABSOLUTE | dict(type_vocab_size=1)), longest=39,
                       hasTypes=False, without=ROBERTA),
    "xlm-roberta": Encoder(
        "XLMRoberta", dict(model_type="xlm-roberta", **ABSOLUTE | dict(type_vocab_size=1), pad_token_id=1), longest=38,
        hasTypes=False, without=ROBERTA),
    "camembert": Encoder(
        "Camembert", dict(model_type="camembert", **ABSOLUTE | dict(type_vocab_size=1), tie_word_embeddings=False),
        longest=38, hasTypes=False, drop=("pad_token_id",), without=ROBERTA),
    "distilbert": Encoder("DistilBert", dict(
        model_type="distilbert", activation="relu", attention_dropout=0.0, dim=32, dropout=0.0, hidden_dim=64,
        initializer_range=0.02, n_heads=4, n_layers=2, qa_dropout=0.1, seq_classif_dropout=0.2,
        sinusoidal_pos_embds=False, tie_weights_=True,
    ), hasTypes=False, drop=(
        "attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob", "hidden_size", "intermediate_size",
        "num_attention_heads", "num_hidden_layers",
    ), without={
        "Model": {
            "positions": zero("position_embeddings"), "activation": dict(activation="gelu"),
            "norm after attention": module("transformer.layer.*.sa_layer_norm", Same()),
            "norm after the feed-forward block": module("transformer.layer.*.output_layer_norm", Same()),
        },
        "ForSequenceClassification": {"dense": module("pre_classifier", Same()), "bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "dense": module("vocab_transform", Same()), "activation": dict(activation="gelu"),
            "norm": module("vocab_layer_norm", Same()), "bias": zero("vocab_projector.bias"),
        },
    }),
    "electra": Encoder(
        "Electra", dict(
            model_type="electra", embedding_size=16, **ABSOLUTE, summary_activation="gelu",
            summary_last_dropout=0.1, summary_type="first", summary_use_proj=True,
        ), without={
            "Model": {
                "projection's bias": zero("embeddings_project.bias"), "types": zero("token_type_embeddings"),
                "norm of the embedding": module("embeddings.LayerNorm", Same()),
            },
            "ForSequenceClassification": {
                "dense": module("classifier.dense", Same()), "gelu": module("classifier.activation", torch.nn.Tanh()),
            },
            "ForMaskedLM": {
                "activation": module("generator_predictions.activation", Same()),
                "norm": module("generator_predictions.LayerNorm", Same()), "bias": zero("generator_lm_head.bias"),
            },
        }),
    # As wide as the model, as electra-base is.
    "electra-wide": Encoder(
        "Electra", dict(model_type="electra", embedding_size=32, **ABSOLUTE | dict(layer_norm_eps=1e-12)),
        classes=["Model", "ForMaskedLM"], without={"Model": {"types": zero("token_type_embeddings")}}),
    "albert": Encoder(
        "Albert", dict(
            model_type="albert", classifier_dropout_prob=0.1, down_scale_factor=1, embedding_size=16, gap_size=0,
            hidden_act="gelu_new", inner_group_num=1, net_structure_type=0, num_hidden_groups=2, num_hidden_layers=5,
            num_memory_blocks=0, **ABSOLUTE,
        ), classes=HEADS + ["ForPreTraining"], scales={"ffn": 2}, without={
            "Model": {
                "projection's bias": zero("embedding_hidden_mapping_in.bias"),
                "second group": zero("albert_layer_groups.1"),
                "gelu": dict(hidden_act="gelu"), "layers": dict(num_hidden_layers=4),
            },
            "ForSequenceClassification": {
                "pooler": module("albert.pooler", Same()), "tanh": module("albert.pooler_activation", Same()),
            },
            "ForMaskedLM": {
                "activation": module("predictions.activation", Same()), "norm": module("predictions.LayerNorm", Same()),
                "bias": zero("predictions.bias"),
            },
        }),
}


# Weights

def random_weights(models, encoder):
    """One set of weights for all classes, by their names, rounded to bfloat16."""
    weights = {}
    for model in models:
        for name, parameter in model.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
            noise = torch.randn(parameter.shape, generator=generator)
            scale = next((value for part, value in encoder.scales.items() if part in name), 1.0)
            if name.endswith("bias"):
                values = noise * 0.5
            elif "norm" in name.lower() and noise.dim() == 1:
                values = noise * 0.3 + 1.0
            else:
                values = noise * 2 * scale / (1 if "embeddings" in name else parameter.shape[-1] ** 0.5)
            values = values.bfloat16().contiguous()
            assert name not in weights or torch.equal(weights[name], values), name
            weights[name] = values
    return weights


def texts(encoder):
    """A text, a pair, and one that takes all positions: [CLS] ... [SEP], as ids and types."""
    generator = torch.Generator().manual_seed(5)
    out = []
    for lengths in [(7,), (6, 12), (encoder.longest - 2,)]:
        ids, types = [2], [0]
        for place, length in enumerate(lengths):
            ids += torch.randint(5, VOCABULARY, (length,), generator=generator).tolist() + [3]
            types += [place] * (length + 1)
        ids[3] = 4
        out.append({"ids": ids, "types": types if encoder.hasTypes else [0] * len(ids)})
    return out


# Answers

@torch.no_grad()
def answer(model, end, text):
    """What a class says of a text: its rows, or the outputs of its head; of masked words those of one mask."""
    inputs = {"input_ids": torch.tensor([text["ids"]])}
    if any(text["types"]):
        inputs["token_type_ids"] = torch.tensor([text["types"]])
    result = model(**inputs)
    if end == "Model":
        return result.last_hidden_state[0].double()
    if end == "ForMaskedLM":
        return result.logits[0, 3:4].double()
    if end == "ForPreTraining":
        return result.prediction_logits[0, 3:4].double()
    return result.logits[0].double()


def load(encoder, end, folder, **changes):
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **changes)
    made = encoder.make(end, config)
    model, info = type(made).from_pretrained(
        folder, config=config, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    missing = [name for name in info["missing_keys"] if "pooler" not in name]
    assert not missing and not info["mismatched_keys"], info
    return model.eval()


def said(end, values):
    """Numbers of an answer that a golden keeps: of rows the first, the last and their mean."""
    if end == "Model":
        return {"first": numbers(values[0]), "last": numbers(values[-1]), "mean": numbers(values.mean(0))}
    return {"outputs": numbers(values.flatten())}


def golden(name, encoder):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
        if name != "bert-heads":
            link(folder, file, f"../bert-heads/{file}")
    config = {"architectures": [encoder.stem + "Model"]} | COMMON | encoder.config | LABELS
    for key in encoder.drop:
        del config[key]
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    read = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager")
    made = [encoder.make(end, read) for end in encoder.classes if end != "Model"]
    safetensors.torch.save_file(
        random_weights(made, encoder), folder / "model.safetensors", metadata={"format": "pt"})

    classes, moves = {}, {}
    for end in encoder.classes:
        model = load(encoder, end, folder)
        answers = [answer(model, end, text) for text in texts(encoder)]
        classes[encoder.stem + end] = {"task": TASKS[end], "texts": [said(end, values) for values in answers]}
        moves[end] = {}
        for what, change in encoder.without.get(end, {}).items():
            other = load(encoder, end, folder, **change) if isinstance(change, dict) else load(encoder, end, folder)
            if callable(change):
                with torch.no_grad():
                    change(other)
            move = max(
                float((answer(other, end, text) - values).abs().max()) for text, values in zip(texts(encoder), answers))
            assert move > (0.0001 if end == "Model" else 0.001), f"{name}, {end}: without {what} the outputs move by {move} only"
            moves[end][what] = round(move, 4)
    saved = json.loads(read.to_json_string(use_diff=True)) | {"architectures": config["architectures"]}
    write(FIXTURES / f"goldens/encoder-{name}.json", {
        "name": name, "fixture": f"micro/{name}", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32", "without": moves,
        "saved": saved, "mask": 3, "texts": texts(encoder), "classes": classes,
    })
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for each in moves.values() for what, move in each.items()))


def short_tokenizer():
    """The tokenizer of micro/bert with its first tokens."""
    folder = MICRO / "bert-heads"
    folder.mkdir(parents=True, exist_ok=True)
    value = json.loads((MICRO / "bert/tokenizer.json").read_text())
    vocabulary = value["model"]["vocab"]
    value["model"]["vocab"] = {token: number for token, number in vocabulary.items() if number < VOCABULARY}
    assert len(value["model"]["vocab"]) == VOCABULARY
    (folder / "tokenizer.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        link(folder, name, f"../bert/{name}")


if __name__ == "__main__":
    short_tokenizer()
    for name in sys.argv[1:] or ENCODERS:
        golden(name, ENCODERS[name])
