"""Models that travelled as archives: Python finds them as if hub had pulled them there."""

import unittest

from peers import MODELS, HubsimTest, Sandbox, contents


class Imported(HubsimTest):
    def setUp(self):
        super().setUp()
        self.there = Sandbox("http://127.0.0.1:9")
        self.addCleanup(self.there.remove)
        for model in MODELS:
            self.box.hub("pull", model)

    def carry(self, *flags):
        archive = str(self.box.home / "models.tar")
        self.box.hub("export", *MODELS, "-o", archive, *flags)
        self.there.hub("import", archive)

    def test_python_finds_them_offline(self):
        self.carry()
        for model, folder in self.there.snapshots(MODELS, local_files_only=True).items():
            with self.subTest(model):
                self.assertEqual(contents(folder), contents(self.root / model))
        self.assertEqual(self.there.scan(), {"warnings": [], "repos": sorted(MODELS)})

    def test_hf_cache_verify_is_content(self):
        self.carry("--split", "1MB")
        # It asks the Hub for the digests.
        self.there.env["HF_ENDPOINT"] = self.address
        for model in MODELS:
            with self.subTest(model):
                self.there.hf("cache", "verify", model, "--fail-on-missing-files", "--fail-on-extra-files")
        self.sim.forget()
        self.there.snapshots(MODELS)
        self.assertEqual(self.sim.file_requests(), [])


if __name__ == "__main__":
    unittest.main()
