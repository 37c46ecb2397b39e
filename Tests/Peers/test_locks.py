"""Locks: hub and Python exclude each other on `.locks/<repository>/<etag>.lock`."""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

from peers import SECONDS, HubsimTest, until

MODEL = "hub-demo/tiny-shakespeare"
WEIGHTS = "model.safetensors"

HOLD = """
import sys
from huggingface_hub.utils import WeakFileLock
with WeakFileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


class Locks(HubsimTest):
    def setUp(self):
        super().setUp()
        self.etag = hashlib.sha256((self.root / MODEL / WEIGHTS).read_bytes()).hexdigest()
        folder = "models--" + MODEL.replace("/", "--")
        self.lock = self.box.cache / ".locks" / folder / f"{self.etag}.lock"
        self.blobs = self.box.cache / folder / "blobs"
        self.lock.parent.mkdir(parents=True)

    def has_open(self, pid):
        """Linux tells which files a process has open; elsewhere nothing does, and other signs must do."""
        for entry in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                if entry.readlink() == self.lock:
                    return True
            except OSError:
                continue  # closed meanwhile
        return False

    def test_hub_waits_for_a_lock_that_python_holds(self):
        holder = self.start([sys.executable, "-c", HOLD, str(self.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "held\n")

        pull, output = self.start_pull(MODEL)

        def waits():
            """A sign that hub has come to the lock (or has ended without waiting for it)."""
            said = re.search(r"\block", output.read_text(), re.IGNORECASE)
            return pull.poll() is not None or said or self.has_open(pull.pid)

        # The signs end the wait early. A hub that gives none is judged after ten seconds, for one that ignored the
        # lock would have fetched these two megabytes from loopback long before.
        until(waits, None, seconds=10)
        time.sleep(1)  # a hub that waits stays for ever; one that does not has the time to show it
        said = output.read_text()
        self.assertIsNone(pull.poll(), f"hub did not wait:\n{said}")
        self.assertFalse((self.blobs / self.etag).exists(), f"hub wrote the blob without the lock:\n{said}")

        holder.communicate("", timeout=SECONDS)
        self.assertEqual(pull.wait(SECONDS), 0)
        self.assertTrue((self.blobs / self.etag).exists())

    def test_python_cannot_take_a_lock_that_hub_holds(self):
        # Slow enough that the transfer outlasts many tries: 2.2 MB at 500 kB/s on each connection.
        self.sim.control("faults", [{"match": f"^GET .*{WEIGHTS}", "kind": "trickle", "rate": 500_000, "times": -1}])
        pull, output = self.start_pull(MODEL)

        def refused():
            """flock, which is what Python's lock comes down to, says that somebody has it."""
            if not self.lock.exists():
                return pull.poll() is not None
            descriptor = os.open(self.lock, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return pull.poll() is not None
            except BlockingIOError:
                return "refused"
            finally:
                os.close(descriptor)

        seen = until(refused, "hub holds the lock of the file it fetches")
        self.assertEqual(seen, "refused", f"hub ended without holding the lock:\n{output.read_text()}")
        self.assertEqual(pull.wait(SECONDS), 0)
        self.assertTrue((self.blobs / self.etag).exists())
        self.box.hf("cache", "verify", MODEL)


if __name__ == "__main__":
    unittest.main()
