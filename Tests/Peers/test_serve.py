"""`hub serve FOLDER` as the Hub: the real Python client downloads from it, and so does hub."""

import shutil
import tempfile
import unittest
from pathlib import Path

from peers import MODELS, HubServe, PeerTest, contents, write_awkward, write_models

DATASET = "hub-demo/verses"


class ServeTest(PeerTest):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        home = Path(tempfile.mkdtemp(prefix="hub-peers-server."))
        cls.addClassCleanup(shutil.rmtree, home, True)
        write_models(cls.root)
        write_awkward(cls.root / "datasets" / DATASET)
        cls.server = HubServe(cls.root, home)
        cls.addClassCleanup(cls.server.stop)
        cls.address = cls.server.address


class Models(ServeTest):
    def test_python_downloads_from_hub_serve(self):
        for model, folder in self.box.snapshots(MODELS).items():
            with self.subTest(model):
                self.assertEqual(contents(folder), contents(self.root / model))

    def test_python_first_then_hub_fetches_nothing(self):
        for model, folder in self.box.snapshots(MODELS).items():
            with self.subTest(model):
                [pulled] = self.box.hub("pull", model)["models"]
                self.assertEqual(pulled["downloaded_bytes"], 0)
                self.assert_same_folder(pulled["path"], folder)

    def test_hub_first_then_python_finds_it_offline(self):
        pulled = {model: self.box.hub("pull", model)["models"][0] for model in MODELS}
        for model, folder in self.box.snapshots(MODELS, local_files_only=True).items():
            with self.subTest(model):
                self.assert_same_folder(folder, pulled[model]["path"])
                self.assertEqual(contents(folder), contents(self.root / model))
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": sorted(MODELS)})

    def test_hf_cache_verify_agrees_with_hub_serve(self):
        self.box.snapshots(MODELS)
        for model in MODELS:
            with self.subTest(model):
                self.box.hf("cache", "verify", model, "--fail-on-missing-files", "--fail-on-extra-files")

    def test_python_reads_the_model_info(self):
        for model in MODELS:
            with self.subTest(model):
                info = self.box.python(
                    f"(lambda i: [i.id, i.sha, sorted(s.rfilename for s in i.siblings)])"
                    f"(h.HfApi().model_info({model!r}, files_metadata=True))")
                self.assertEqual(info[0], model)
                self.assertRegex(info[1], "^[0-9a-f]{40}$")
                self.assertEqual(info[2], sorted(contents(self.root / model)))

    def test_python_lists_the_models(self):
        listed = self.box.python("sorted(m.id for m in h.list_models(author='hub-demo'))")
        self.assertEqual(listed, sorted(MODELS))


class Datasets(ServeTest):
    def test_python_downloads_a_dataset(self):
        folder = self.box.snapshot(DATASET, repo_type="dataset")
        self.assertEqual(contents(folder), contents(self.root / "datasets" / DATASET))
        self.box.hf("cache", "verify", DATASET, "--type", "dataset", "--fail-on-missing-files")

    def test_hub_pulls_a_dataset_that_python_finds(self):
        [pulled] = self.box.hub("pull", f"datasets/{DATASET}")["models"]
        folder = self.box.snapshot(DATASET, repo_type="dataset", local_files_only=True)
        self.assert_same_folder(folder, pulled["path"])
        self.assertEqual(contents(folder), contents(self.root / "datasets" / DATASET))
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": [DATASET]})

    def test_python_first_then_hub_fetches_no_dataset_file(self):
        self.box.snapshot(DATASET, repo_type="dataset")
        [pulled] = self.box.hub("pull", f"datasets/{DATASET}")["models"]
        self.assertEqual(pulled["downloaded_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
