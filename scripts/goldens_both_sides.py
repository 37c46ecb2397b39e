#!/usr/bin/env python3
"""Writes down the vectors of decoders that see both sides: `is_causal: false` in config.json, the mean of all tokens.

    python3 -m venv venv
    venv/bin/pip install transformers==5.24.0 torch==2.15.0
    venv/bin/python scripts/goldens_both_sides.py

Reads folders of Tests/Fixtures/micro; writes Tests/Fixtures/goldens/both-sides.json.
"""

import json
import shutil
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import AutoModel, AutoTokenizer

FIXTURES = Path(__file__).resolve().parent.parent / "Tests" / "Fixtures"
# Windows of 8 in all layers of mistral and in half of those of gemma2: longer than they are.
TEXT = "Hello king of the words, and a good day to you all"
MODELS = ["llama", "qwen3", "mistral", "gemma2"]


def vector(name, work):
    folder = Path(work) / name
    shutil.copytree(FIXTURES / "micro" / name, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"is_causal": False}))
    model = AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        rows = model(ids).last_hidden_state[0]
    return {"ids": ids[0].tolist(), "vector": [round(float(x), 6) for x in rows.mean(0)]}


with tempfile.TemporaryDirectory() as work:
    golden = {
        "reference": f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, float32",
        "text": TEXT, "models": {name: vector(name, work) for name in MODELS},
    }
(FIXTURES / "goldens" / "both-sides.json").write_text(json.dumps(golden, indent=1) + "\n")
