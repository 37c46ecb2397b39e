"""Folders of one's own: what hub leaves in one Python goes on with, and the other way round."""

import unittest

from peers import MODELS, HubsimTest, contents


class LocalFolder(HubsimTest):
    def folder(self, model):
        return self.box.home / "folders" / model

    def files(self, model):
        found = contents(self.folder(model))
        return {path: content for path, content in found.items() if not str(path).startswith(".cache")}

    def pull(self, model):
        [pulled] = self.box.hub("pull", model, "--local-dir", str(self.folder(model)))["models"]
        return pulled

    def test_python_downloads_nothing_again(self):
        for model in MODELS:
            with self.subTest(model):
                self.pull(model)
                self.sim.forget()
                self.box.snapshot(model, local_dir=str(self.folder(model)))
                self.assertEqual(self.sim.file_requests(), [])
                self.assertEqual(self.files(model), contents(self.root / model))

    def test_hub_downloads_nothing_again(self):
        for model in MODELS:
            with self.subTest(model):
                self.box.snapshot(model, local_dir=str(self.folder(model)))
                self.sim.forget()
                pulled = self.pull(model)
                self.assertEqual({file["status"] for file in pulled["files"]}, {"cached"})
                self.assertEqual(self.sim.file_requests(), [])
                self.assertEqual(self.files(model), contents(self.root / model))

    def test_hf_cache_verify_finds_nothing(self):
        for model in MODELS:
            with self.subTest(model):
                self.pull(model)
                self.box.hf("cache", "verify", model, "--local-dir", str(self.folder(model)), "--fail-on-missing-files")


if __name__ == "__main__":
    unittest.main()
