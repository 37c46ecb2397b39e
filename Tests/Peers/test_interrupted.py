"""A hub that is killed in the middle leaves nothing that troubles Python, and Python's cleaning nothing that troubles hub."""

import unittest

from peers import ODD, HubsimTest, contents, until


class Interrupted(HubsimTest):
    def kill_in_the_middle(self):
        """Kills `hub pull` without warning once its partial is there and part of the large file was sent."""
        # Slow enough to be met half-way: 3 MiB at 60 kB/s on each connection.
        self.sim.control("faults", [{"match": r"^GET .*weights\.bin", "kind": "trickle", "rate": 60_000, "times": -1}])
        pull, output = self.start_pull(ODD)

        def arriving():
            if pull.poll() is not None:
                return "ended"
            sent = sum(entry["sent"] for entry in self.sim.file_requests() if entry["listener"] == "cdn")
            return sent >= 200_000 and any(self.box.cache.glob("models--*/blobs/*.incomplete"))

        if until(arriving, "a partial, and bytes sent for it") == "ended":
            self.fail(f"hub ended before a part of a file was seen:\n{output.read_text()}")
        pull.kill()
        pull.wait()
        self.sim.forget()

    def finish(self):
        """Pulls again: the whole repository is there, and Python agrees."""
        self.box.hub("pull", ODD)
        folder = self.box.snapshots([ODD], local_files_only=True)[ODD]
        self.assertEqual(contents(folder), contents(self.root / ODD))
        self.box.hf("cache", "verify", ODD, "--fail-on-missing-files", "--fail-on-extra-files")
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": [ODD]})

    def test_hf_cache_ls_has_no_warning_after_a_kill(self):
        self.kill_in_the_middle()
        self.assertEqual(self.box.scan()["warnings"], [])
        self.finish()

    def test_hub_goes_on_after_hf_cache_prune(self):
        self.kill_in_the_middle()
        self.box.hf("cache", "prune", "--yes")
        self.assertEqual(list(self.box.cache.glob("models--*/blobs/*.incomplete")), [])
        self.finish()

    def test_python_downloads_past_a_partial_of_hub(self):
        self.kill_in_the_middle()
        folder = self.box.snapshots([ODD])[ODD]
        self.assertEqual(contents(folder), contents(self.root / ODD))
        self.finish()


if __name__ == "__main__":
    unittest.main()
