"""One token file, two clients: who logs in with one is logged in with the other."""

import json
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers import HUB, SECONDS, Hubsim, PeerTest

# The module that keeps tokens, as an expression.
AUTH = "__import__('huggingface_hub.utils._auth', fromlist=['_auth'])"
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
            return self.file.read_bytes(), self.collection.read_bytes(), stat.S_IMODE(self.collection.stat().st_mode), stat.S_IMODE(self.file.stat().st_mode), \
                stat.S_IMODE(self.file.parent.stat().st_mode)

        self.hub_login()
        ours = look()
        shutil.rmtree(self.file.parent)
        self.hf_login()
        self.assertEqual(ours, look())

    def test_both_choose_from_the_same_tokens(self):
        odd = "zo\u00eb 100% [x] = #1"
        for name, token in (("other", "hf_%(other)s%%"), (odd, "hf_odd-0123456789")):
            self.box.python(f"{AUTH}._save_token({token!r}, {name!r})")
        self.hub_login()
        names = ["other", "sim", odd]
        self.assertEqual([row["name"] for row in self.box.hub("auth", "ls")["tokens"]], names)
        self.assertEqual(self.box.python(f"{AUTH}.get_stored_tokens()"),
                         {"other": "hf_%(other)s%%", "sim": TOKEN, odd: "hf_odd-0123456789"})
        self.box.hf("auth", "switch", "--token-name", odd)
        self.assertEqual([row["active"] for row in self.box.hub("auth", "ls")["tokens"]], [False, False, True])
        self.box.hub("auth", "switch", "sim")
        self.assertEqual(self.box.python("h.get_token()"), TOKEN)
        self.assertEqual(self.box.hub("auth", "logout")["names"], ["sim"])
        self.assertEqual(self.box.hub("auth", "logout", odd)["names"], [odd])
        self.assertEqual(self.box.python(f"{AUTH}.get_stored_tokens()"), {"other": "hf_%(other)s%%"})
        self.assertIsNone(self.box.python("h.get_token()"))

    def test_pythons_logout_is_hubs_too(self):
        self.hub_login()
        self.box.hf("auth", "logout")
        self.assertFalse(self.file.exists())
        done = subprocess.run([HUB, "auth", "whoami"], env=self.box.env, capture_output=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 4)


class OneSignIn(PeerTest):
    """Sign-ins: Python's client keeps what renews its own in its collection, hub keeps its own apart."""

    @classmethod
    def setUpClass(cls):
        root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, root)
        cls.sim = Hubsim(root, "--token", TOKEN, "--oauth", "peer-app")
        cls.addClassCleanup(cls.sim.stop)
        cls.address = cls.sim.address

    def setUp(self):
        super().setUp()
        self.sim.forget()
        self.box.env |= {"HF_DEVICE_CODE_OAUTH_CLIENT_ID": "peer-app", "HUB_NO_KEYRING": "1"}
        self.file = self.box.home / "huggingface" / "token"

    def sections(self):
        return self.box.python(f"{AUTH}._read_stored_tokens_full()")

    def grants(self):
        return [entry["grant_type"] for entry in self.sim.control("log") if entry.get("grant_type")]

    def test_python_reads_what_hub_signed_in(self):
        document = self.box.hub("auth", "login", "--device")
        token = self.file.read_text()
        self.assertEqual((document["user"], document["token_path"]), ("sim", str(self.file)))
        self.assertEqual(self.box.python("h.get_token()"), token)
        self.assertEqual(json.loads(self.box.hf("auth", "whoami", "--json").stdout)["user"], "sim")
        table = self.box.hf("auth", "list").stdout
        self.assertIn("oauth-sim", table)
        self.assertIn(f"{token[:3]}****{token[-4:]}", table)
        section = self.sections()["oauth-sim"]
        self.assertEqual(sorted(section), ["expires_at", "hf_token"])
        # Less than a day is left, and Python would renew what it could.
        self.assertNotIn("refresh_token", self.grants())

    def test_python_reads_what_hub_renewed(self):
        self.box.hub("auth", "login", "--device")
        before = self.file.read_text()
        state = self.box.home / "state" / "sign-ins.json"
        document = json.loads(state.read_text())
        document["sign_ins"][0]["expires_at"] = 1
        state.write_text(json.dumps(document))
        self.assertEqual(self.box.hub("auth", "whoami")["user"], "sim")
        after = self.file.read_text()
        self.assertNotEqual(after, before)
        self.assertEqual(self.box.python("h.get_token()"), after)
        self.assertEqual(self.sections()["oauth-sim"]["hf_token"], after)
        self.assertEqual(self.grants().count("refresh_token"), 1)

    def test_hub_reads_what_python_signed_in(self):
        self.box.hf("auth", "login")
        section = self.sections()["oauth-sim"]
        self.assertIn("refresh_token", section)
        self.assertEqual(self.box.hub("auth", "whoami")["user"], "sim")
        row = self.box.hub("auth", "ls")["tokens"][0]
        self.assertEqual((row["name"], row["active"], row["renewed"]), ("oauth-sim", True, False))
        self.assertIn("expires_at", row)
        # hub adds its own token and leaves that section as it is.
        done = subprocess.run([HUB, "auth", "login", "--token-stdin"], env=self.box.env, input=TOKEN,
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.sections()["oauth-sim"], section)
        self.box.hub("auth", "switch", "oauth-sim")
        self.assertEqual(self.file.read_text(), section["hf_token"])
        self.assertNotIn("refresh_token", self.grants())


if __name__ == "__main__":
    unittest.main()
