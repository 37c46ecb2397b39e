"""One token file, two clients: who logs in with one is logged in with the other."""

import json
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import HUB, SECONDS, Hubsim, PeerTest

TOKEN = "hf_PeersOfOneTokenFile0123456789abcd"


class OneTokenFile(PeerTest):
    @classmethod
    def setUpClass(cls):
        root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, root)
        cls.sim = Hubsim(root, "--token", TOKEN)
        cls.addClassCleanup(cls.sim.stop)
        cls.address = cls.sim.address

    def setUp(self):
        super().setUp()
        self.file = self.box.home / "huggingface" / "token"
        self.collection = self.file.parent / "stored_tokens"

    def hub_login(self):
        done = subprocess.run([HUB, "auth", "login", "--json"], env=self.box.env, input=TOKEN, capture_output=True,
                              text=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["user"], "sim")

    def hf_login(self):
        self.box.hf("auth", "login", "--token", TOKEN)

    def hf_user(self):
        return json.loads(self.box.hf("auth", "whoami", "--json").stdout)["user"]

    def test_python_is_logged_in_by_hub(self):
        self.hub_login()
        self.assertEqual(self.hf_user(), "sim")
        self.assertEqual(self.box.python("h.get_token()"), TOKEN)

    def test_hub_is_logged_in_by_python(self):
        self.hf_login()
        done = self.box.run([HUB, "auth", "whoami", "--json"])
        self.assertEqual(done.stderr, "", "Python's file is for its owner alone, so there is nothing to warn of")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["user"], answer["token_source"], answer["token_path"]),
                         ("sim", "file", str(self.file)))

    def test_both_write_the_same_file(self):
        def look():
            return self.file.read_bytes(), stat.S_IMODE(self.file.stat().st_mode), \
                stat.S_IMODE(self.file.parent.stat().st_mode)

        self.hub_login()
        ours = look()
        shutil.rmtree(self.file.parent)
        self.hf_login()
        self.assertEqual(ours, look())

    def test_hub_leaves_pythons_collection_alone(self):
        self.hf_login()
        before = self.collection.read_bytes()
        self.hub_login()
        self.box.hub("auth", "logout")
        self.assertFalse(self.file.exists())
        self.assertEqual(self.collection.read_bytes(), before)
        # What it holds is still good for Python.
        self.box.hf("auth", "switch", "--token-name", "sim")
        self.assertEqual(self.box.hub("auth", "whoami")["user"], "sim")

    def test_pythons_logout_is_hubs_too(self):
        self.hub_login()
        self.box.hf("auth", "logout")
        self.assertFalse(self.file.exists())
        done = subprocess.run([HUB, "auth", "whoami"], env=self.box.env, capture_output=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 4)


if __name__ == "__main__":
    unittest.main()
