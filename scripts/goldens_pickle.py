#!/usr/bin/env python3
"""Makes small models whose weights are PyTorch's own files, and writes down what transformers says of them.

    venv/bin/python scripts/goldens_pickle.py

For the environment see scripts/goldens.py, whose models these are twins of. torch.save writes the files.

bert-legacy  the format before PyTorch 1.6, in float16, as a model converted from TensorFlow long ago: LayerNorms with gamma
             and beta, matrices that were transposed without a copy, numbers of positions, heads that share weights
opt-pickle   two archives with an index; the head is the embedding again
"""

import json

import safetensors.torch
import torch

from goldens import MICRO, golden, link, modules, sentences, settings


def folder_like(name, base):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in (MICRO / base).iterdir():
        if file.is_file() and file.suffix != ".safetensors" and file.name != "modules.json":
            link(folder, file.name, f"../{base}/{file.name}")
    return folder


def bert_legacy():
    folder = folder_like("bert-legacy", "bert")
    modules(folder, "cls_token", True)
    tensors = {}
    for name, value in safetensors.torch.load_file(MICRO / "bert/model.safetensors").items():
        value = value.half()
        if value.dim() == 2 and "embeddings" not in name:
            value = value.t().contiguous().t()
        for new, old in (("weight", "gamma"), ("bias", "beta")):
            name = name.replace(f"LayerNorm.{new}", f"LayerNorm.{old}")
        tensors["bert." + name.removeprefix("bert.")] = value
    tensors["bert.embeddings.position_ids"] = torch.arange(128).unsqueeze(0)
    tensors["cls.predictions.bias"] = torch.zeros(1024)
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
    assert not tensors["bert.encoder.layer.0.attention.self.query.weight"].is_contiguous()
    torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    sentences("bert-legacy", folder, "cls_token, then L2 normalise; token_type_ids all 0",
              weights="float16, random, computed in float32")


def opt_pickle():
    folder = folder_like("opt-pickle", "opt")
    tensors = safetensors.torch.load_file(MICRO / "opt/model.safetensors")
    tensors["lm_head.weight"] = next(value for name, value in tensors.items() if name.endswith("embed_tokens.weight"))
    tensors["lm_head.weight"].requires_grad_()
    names = sorted(tensors)
    shards = {
        "pytorch_model-00001-of-00002.bin": [name for name in names if "layers.1." not in name],
        "pytorch_model-00002-of-00002.bin": [name for name in names if "layers.1." in name],
    }
    for file, held in shards.items():
        values = {name: torch.nn.Parameter(tensors[name]) for name in held}
        if "lm_head.weight" in values:
            values["lm_head.weight"] = next(value for name, value in values.items() if "embed_tokens" in name)
        torch.save(values, folder / file)
    index = {"metadata": {"total_size": sum(tensors[name].nbytes for name in names if name != "lm_head.weight")},
             "weight_map": {name: file for file, held in shards.items() for name in held}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=1) + "\n")
    golden("opt-pickle", folder, {"relu": settings(folder, activation_function="gelu_new")},
           weights="bfloat16, random, computed in float32")


if __name__ == "__main__":
    bert_legacy()
    opt_pickle()
