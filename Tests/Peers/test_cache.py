"""One cache, two clients: what hub leaves there is Python's own, and the other way round."""

import stat
import unittest
from pathlib import Path

from peers import MODELS, HubsimTest, contents


class HubFirst(HubsimTest):
    """hub pulls, Python looks."""

    def pull(self, model):
        [pulled] = self.box.hub("pull", model)["models"]
        return pulled

    def test_python_finds_the_same_folder_offline(self):
        pulled = {model: self.pull(model) for model in MODELS}
        for model, folder in self.box.snapshots(MODELS, local_files_only=True).items():
            with self.subTest(model):
                self.assert_same_folder(folder, pulled[model]["path"])
                self.assertEqual(contents(folder), contents(self.root / model))

    def test_python_downloads_nothing_again(self):
        pulled = {model: self.pull(model) for model in MODELS}
        self.sim.forget()
        for model, folder in self.box.snapshots(MODELS).items():
            self.assert_same_folder(folder, pulled[model]["path"])
        self.assertEqual(self.sim.file_requests(), [])

    def test_hf_cache_verify_finds_nothing(self):
        for model in MODELS:
            with self.subTest(model):
                self.pull(model)
                self.box.hf("cache", "verify", model, "--fail-on-missing-files", "--fail-on-extra-files")

    def test_hf_cache_ls_has_no_warning(self):
        for model in MODELS:
            self.pull(model)
        listed = self.box.hf("cache", "ls", "--show-warnings")
        self.assertNotIn("warning", (listed.stdout + listed.stderr).lower())
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": sorted(MODELS)})

    def test_everybody_may_read_what_the_umask_allows(self):
        for model in MODELS:
            self.pull(model)
        for path in self.box.cache.rglob("*"):
            if path.is_symlink() or ".locks" in path.parts:
                continue
            with self.subTest(path.relative_to(self.box.cache).as_posix()):
                wanted = 0o755 if path.is_dir() else 0o644
                self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode) & wanted), oct(wanted))

    def test_links_and_refs_are_as_python_writes_them(self):
        for model in MODELS:
            with self.subTest(model):
                pulled = self.pull(model)
                snapshot = Path(pulled["path"])
                for link in (path for path in snapshot.rglob("*") if not path.is_dir()):
                    self.assertTrue(link.is_symlink(), link)
                    depth = len(link.relative_to(snapshot).parts)
                    self.assertRegex(str(link.readlink()), rf"^(\.\./){{{depth + 1}}}blobs/[0-9a-f]{{40,64}}$")
                self.assertEqual((snapshot.parents[1] / "refs" / "main").read_bytes(), pulled["commit"].encode())

    def test_after_hub_rm_python_sees_the_others_and_no_warning(self):
        for model in MODELS:
            self.pull(model)
        self.box.hub("rm", "--yes", MODELS[0])
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": sorted(MODELS[1:])})
        listed = self.box.hf("cache", "ls", "--show-warnings")
        self.assertNotIn("warning", (listed.stdout + listed.stderr).lower())


class PythonFirst(HubsimTest):
    """Python downloads, hub looks."""

    def test_hub_ls_lists_it_complete(self):
        folders = self.box.snapshots(MODELS)
        listed = {model["id"]: model for model in self.box.hub("ls")["models"]}
        self.assertEqual(sorted(listed), sorted(MODELS))
        for model, folder in folders.items():
            with self.subTest(model):
                self.assertIs(listed[model]["complete"], True)
                files = contents(folder)
                blobs = {Path(folder, name).resolve() for name in files}
                self.assertEqual(listed[model]["size_bytes"], sum(blob.stat().st_size for blob in blobs))

    def test_hub_pull_fetches_nothing(self):
        folders = self.box.snapshots(MODELS)
        self.sim.forget()
        for model, folder in folders.items():
            with self.subTest(model):
                [pulled] = self.box.hub("pull", model)["models"]
                self.assertEqual(pulled["downloaded_bytes"], 0)
                self.assert_same_folder(pulled["path"], folder)
                self.assertEqual(self.sim.file_requests(), [])

    def test_hub_pull_completes_what_python_began(self):
        self.box.snapshots(MODELS, allow_patterns=["*.json"])
        self.sim.forget()
        for model in MODELS:
            self.box.hub("pull", model)
        fetched = [entry["path"] for entry in self.sim.file_requests() if entry["path"].endswith(".json")]
        self.assertEqual(fetched, [])
        for model, folder in self.box.snapshots(MODELS, local_files_only=True).items():
            with self.subTest(model):
                self.assertEqual(contents(folder), contents(self.root / model))

    def test_python_accepts_what_hub_rm_leaves(self):
        self.box.snapshots(MODELS)
        self.box.hub("rm", "--yes", MODELS[-1])
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": sorted(MODELS[:-1])})


if __name__ == "__main__":
    unittest.main()
