#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/sentence-modules.json: vectors that sentence-transformers makes of folders with every
kind of module. Needs what scripts/goldens.py needs.

The folders are micro/bert with other modules. The golden holds their small files, so that the test puts them together.
"""

import base64
import json
import pathlib
import shutil
import tempfile

import torch
from sentence_transformers import SentenceTransformer, __version__
from safetensors.torch import save as safetensors_bytes

from goldens import FIXTURES, MICRO, NEW, OLD, numbers

TEXTS = ["The king is dead.", "  My Lord, the QUEEN hath left the castle! ", "What news from Rome? " * 8]
KINDS = {**OLD, **{kind: f"sentence_transformers.models.{kind}" for kind in ("Dense", "LayerNorm", "Dropout")}}
NEWEST = {**NEW, "Dense": "sentence_transformers.base.modules.dense.Dense",
          "LayerNorm": "sentence_transformers.sentence_transformer.modules.layer_norm.LayerNorm"}
TANH, IDENTITY = "torch.nn.modules.activation.Tanh", "torch.nn.modules.linear.Identity"


def legacy(*modes, **settings):
    keys = ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
    return {"word_embedding_dimension": 32, **{f"pooling_mode_{key}": key in modes for key in keys}, **settings}


def tensors(seed, **shapes):
    source = torch.Generator().manual_seed(seed)
    return {name.replace("__", "."): torch.randn(shape, generator=source) * 0.5 + (1 if "norm__weight" in name else 0)
            for name, shape in shapes.items()}


def dense(inputs, outputs, seed, bias=True, activation=TANH, residual=False):
    settings = {"in_features": inputs, "out_features": outputs, "bias": bias, "activation_function": activation}
    shapes = {"linear__weight": (outputs, inputs)}
    if bias:
        shapes["linear__bias"] = (outputs,)
    if residual:
        settings["use_residual"] = True
        if inputs != outputs:
            shapes["residual__weight"] = (outputs, inputs)
    return settings, tensors(seed, **shapes)


def rows():
    norm = ("LayerNorm", ({"dimension": 24}, tensors(1, norm__weight=(24,), norm__bias=(24,))))
    yield "dense", OLD, [("Pooling", legacy("mean_tokens")), ("Dense", dense(32, 24, 2)), ("Normalize", None)], {}
    yield "two-dense", NEW, [("Pooling", {"embedding_dimension": 32, "pooling_mode": "cls", "include_prompt": True}),
                             ("Dense", dense(32, 48, 3, bias=False, activation=IDENTITY)),
                             ("Dense", dense(48, 20, 4, activation="torch.nn.modules.activation.GELU"))], {}
    yield "concatenated", OLD, [("Pooling", legacy("mean_tokens", "cls_token", "max_tokens", "lasttoken")),
                                ("Dropout", {"dropout": 0.2}), ("Dense", dense(128, 24, 5)), norm], {"torch": True}
    yield "all-named", NEW, [("Pooling", {"embedding_dimension": 32, "pooling_mode": ["weightedmean", "mean_sqrt_len_tokens", "max"]})], {}
    yield "residual", NEW, [("Pooling", legacy("mean_sqrt_len_tokens")), ("Dense", dense(32, 32, 6, residual=True)),
                            ("Dense", dense(32, 24, 7, activation=IDENTITY, residual=True)), ("Normalize", None)], {}
    prompts = {"prompts": {"query": "What news: ", "passage": "The king! "}, "default_prompt_name": None, "similarity_fn_name": "dot"}
    yield "prompts", OLD, [("Pooling", legacy("weightedmean_tokens", include_prompt=False)), ("Normalize", None)], {
        "config_sentence_transformers.json": prompts, "names": [None, "query", "passage", "document"]}
    for mode in ["cls_token", "mean_tokens", "max_tokens", "lasttoken"]:
        yield f"prompts-{mode}", OLD, [("Pooling", legacy(mode, include_prompt=False))], {
            "config_sentence_transformers.json": {**prompts, "default_prompt_name": "query"}, "names": [None, "passage"]}
    yield "prompts-pooled", OLD, [("Pooling", legacy("mean_tokens"))], {
        "config_sentence_transformers.json": prompts, "names": [None, "query"]}
    yield "lower-case", OLD, [("Pooling", legacy("mean_tokens"))], {
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20, "pad_token": "[PAD]"},
        "cased": True, "sentence_bert_config.json": {"do_lower_case": True}}
    yield "cased", OLD, [("Pooling", legacy("mean_tokens"))], {
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20, "pad_token": "[PAD]"}, "cased": True}
    yield "short", OLD, [("Pooling", legacy("lasttoken"))], {"sentence_roberta_config.json": {"max_seq_length": 12}}


def files(kinds, modules, settings):
    result = {}
    listed = [{"idx": 0, "name": "0", "path": "", "type": kinds["Transformer"]}]
    names = NEWEST if kinds is NEW else KINDS
    for index, (kind, content) in enumerate(modules, 1):
        place = f"{index}_{kind}"
        listed.append({"idx": index, "name": str(index), "path": place, "type": names[kind]})
        if isinstance(content, dict):
            result[f"{place}/config.json"] = json.dumps(content).encode()
        elif content:
            result[f"{place}/config.json"] = json.dumps(content[0]).encode()
            if settings.get("torch"):
                with tempfile.NamedTemporaryFile() as file:
                    torch.save(content[1], file.name)
                    result[f"{place}/pytorch_model.bin"] = pathlib.Path(file.name).read_bytes()
            else:
                result[f"{place}/model.safetensors"] = safetensors_bytes(content[1], {"format": "pt"})
    result["modules.json"] = json.dumps(listed).encode()
    result.update({name: json.dumps(value).encode() for name, value in settings.items() if name.endswith(".json")})
    if settings.get("cased"):
        tokenizer = json.loads((MICRO / "bert/tokenizer.json").read_text())
        tokenizer["normalizer"]["lowercase"] = False
        tokenizer["normalizer"]["strip_accents"] = False
        result["tokenizer.json"] = json.dumps(tokenizer).encode()
    return result


def main():
    out = []
    for name, kinds, modules, settings in rows():
        content = files(kinds, modules, settings)
        with tempfile.TemporaryDirectory() as path:
            folder = pathlib.Path(path)
            for file in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]:
                shutil.copy(MICRO / "bert" / file, folder)
            for file, data in content.items():
                (folder / file).parent.mkdir(exist_ok=True)
                (folder / file).write_bytes(data)
            cases = []
            for prompt in settings.get("names", [None]):
                for dimensions, normalize in [(None, False), (7, False), (7, True)]:
                    model = SentenceTransformer(path, device="cpu", truncate_dim=dimensions, model_kwargs={
                        "attn_implementation": "eager", "dtype": torch.float32})
                    vectors = [model.encode(text, prompt_name=prompt, normalize_embeddings=normalize) for text in TEXTS]
                    cases.append({"prompt": prompt, "dimensions": dimensions, "normalizes": normalize,
                                  "vectors": [numbers(vector) for vector in vectors]})
        small = {file: base64.b64encode(data).decode() for file, data in content.items() if file != "tokenizer.json"}
        out.append({"name": name, "cased": bool(settings.get("cased")), "files": small,
                    "similarity": model.similarity_fn_name, "cases": cases})
        print(name, len(cases[0]["vectors"][0]))
    def first(name, prompt=None):
        cases = next(row["cases"] for row in out if row["name"] == name)
        return torch.tensor(next(case for case in cases if case["prompt"] == prompt)["vectors"])
    # Each of these must matter.
    for one, other in [(first("prompts", "query"), first("prompts")), (first("prompts-mean_tokens"), first("prompts-pooled", "query")),
                       (first("lower-case"), first("cased")), (first("short"), first("prompts-lasttoken"))]:
        assert (one - other).abs().max() > 0.01
    path = FIXTURES / "goldens/sentence-modules.json"
    path.write_text(json.dumps({"reference": f"sentence-transformers {__version__}", "texts": TEXTS, "folders": out},
                               separators=(",", ":")) + "\n")
    print(path, path.stat().st_size)


main()
