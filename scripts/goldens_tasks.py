#!/usr/bin/env python3
"""Writes down what the pipelines of transformers and sentence-transformers' cross encoder say of texts.

    venv/bin/python scripts/goldens_tasks.py

See scripts/goldens.py for the environment, and scripts/goldens_encoders.py for the models. Writes
Tests/Fixtures/micro/bert-reranker, a folder as sentence-transformers saves a cross encoder, and
Tests/Fixtures/goldens/tasks.json.
"""

import json
import shutil
import tempfile
from pathlib import Path

import torch
import transformers
from sentence_transformers import CrossEncoder

from goldens import FIXTURES, MICRO, REFERENCE, write

MODEL = MICRO / "bert-heads"
RERANKER = MICRO / "bert-reranker"
LONGEST = 40
TEXTS = ["The king is dead.", "My lord, the queen hath left the castle!", "Café: what news from Rome, 13 😀?"]
LONG = "What light through yonder window breaks? It is the east, and Juliet is the sun, fair sun."
LABELS = ["love", "war", "the weather"]
MASKED = ["The [MASK] is dead.", "My [MASK], the [MASK] hath left."]
INFERENCE = ["contradiction", "neutral", "ENTAILMENT"]


def names(labels):
    return {"id2label": {str(i): label for i, label in enumerate(labels)}, "label2id": {l: i for i, l in enumerate(labels)}}


def folder(place, **changes):
    """The model with another config.json."""
    for file in MODEL.iterdir():
        shutil.copy(file, place / file.name)
    config = json.loads((MODEL / "config.json").read_text()) | changes
    (place / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((MODEL / "tokenizer_config.json").read_text()) | {"model_max_length": LONGEST}
    (place / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return place


def pipeline(task, **changes):
    with tempfile.TemporaryDirectory() as place:
        return transformers.pipeline(task, model=str(folder(Path(place), **changes)), dtype=torch.float32, device="cpu")


def rounded(value):
    return round(float(value), 7)


def classification():
    """Scores by the settings that choose their function; `logits` in the labels' order."""
    cases = []
    for changes in [{}, {"problem_type": "multi_label_classification"}, {"problem_type": "regression"}]:
        changes |= {"architectures": ["BertForSequenceClassification"]}
        pipe = pipeline("text-classification", **changes)
        for text, pair in [(TEXTS[0], None), (TEXTS[1], TEXTS[2]), (TEXTS[2], None), (LONG, LONG)]:
            said = pipe({"text": text, "text_pair": pair} if pair else text, top_k=None, truncation=True)
            raw = pipe({"text": text, "text_pair": pair} if pair else text, top_k=None, truncation=True, function_to_apply="none")
            logits = {entry["label"]: entry["score"] for entry in raw}
            cases.append({"config": changes, "text": text, "pair": pair, "labels": [
                {"label": entry["label"], "score": rounded(entry["score"]), "logit": rounded(logits[entry["label"]])}
                for entry in said]})
    return cases


def zero_shot():
    cases = []
    for order in [INFERENCE, INFERENCE[::-1]]:
        changes = {"architectures": ["BertForSequenceClassification"]} | names(order)
        pipe = pipeline("zero-shot-classification", **changes)
        for text in [TEXTS[0], LONG]:
            for isMultiple, labels in [(False, LABELS), (True, LABELS), (False, LABELS[:1])]:
                said = pipe(text, candidate_labels=labels, multi_label=isMultiple)
                cases.append({"config": changes, "text": text, "candidates": labels, "multiple": isMultiple, "labels": [
                    {"label": label, "score": rounded(score)} for label, score in zip(said["labels"], said["scores"])]})
    return cases


def tokens():
    pipe = pipeline("token-classification", architectures=["BertForTokenClassification"])
    return [{"text": text, "tokens": [
        {"token": entry["word"], "label": entry["entity"], "score": rounded(entry["score"]),
         "start": entry["start"], "end": entry["end"]} for entry in pipe(text, ignore_labels=[])]} for text in TEXTS]


def fill():
    pipe = pipeline("fill-mask", architectures=["BertForMaskedLM"])
    cases = []
    for text in MASKED:
        said = pipe(text)
        masks = said if isinstance(said[0], list) else [said]
        cases.append({"text": text, "fill": [[
            {"token": entry["token_str"], "id": entry["token"], "probability": rounded(entry["score"])}
            for entry in mask] for mask in masks]})
    return cases


def ranking():
    """A cross encoder of its own, for it has one label."""
    torch.manual_seed(7)
    changes = names(["LABEL_0"]) | {"architectures": ["BertForSequenceClassification"]}
    with tempfile.TemporaryDirectory() as place:
        source = folder(Path(place), **changes)
        config = transformers.AutoConfig.from_pretrained(source)
        model = transformers.BertForSequenceClassification.from_pretrained(
            source, config=config, ignore_mismatched_sizes=True, dtype=torch.float32)
        with torch.no_grad():
            model.classifier.weight.copy_(torch.randn(model.classifier.weight.shape) * 0.3)
            model.classifier.bias.fill_(0.5)
        model.bfloat16().save_pretrained(source)
        shutil.rmtree(RERANKER, ignore_errors=True)
        CrossEncoder(str(source), model_kwargs={"dtype": torch.bfloat16}).save_pretrained(str(RERANKER))
    (RERANKER / "model.safetensors").chmod(0o644)
    (RERANKER / "README.md").unlink()
    (RERANKER / "tokenizer.json").unlink()
    (RERANKER / "tokenizer.json").symlink_to("../bert-heads/tokenizer.json")
    encoder = CrossEncoder(str(RERANKER), model_kwargs={"dtype": torch.float32}, device="cpu")
    pairs = [(TEXTS[0], text) for text in TEXTS + [LONG]]
    logits = encoder.predict(pairs, activation_fn=torch.nn.Identity())
    return {
        "query": TEXTS[0], "texts": [text for _, text in pairs],
        "logits": [rounded(value) for value in logits], "scores": [rounded(value) for value in encoder.predict(pairs)],
    }


if __name__ == "__main__":
    write(FIXTURES / "goldens/tasks.json", {
        "reference": REFERENCE, "fixture": "micro/bert-heads", "classification": classification(),
        "zero_shot": zero_shot(), "tokens": tokens(), "fill": fill(), "reranker": "micro/bert-reranker",
        "ranking": ranking(),
    })
