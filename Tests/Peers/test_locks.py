"""Locks: hub and Python exclude each other on `.locks/<repository>/<etag>.lock`."""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from peers import HUB, SECONDS, HubsimTest

MODEL = "hub-demo/tiny-shakespeare"
WEIGHTS = "model.safetensors"

HOLD = """
import sys
from huggingface_hub.utils import WeakFileLock
with WeakFileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def until(condition, what):
    """Waits for what must come to pass; the limit is there only to end a hang."""
    limit = time.monotonic() + SECONDS
    while not (value := condition()):
        if time.monotonic() > limit:
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.005)
    return value


class Locks(HubsimTest):
    def setUp(self):
        super().setUp()
        self.etag = hashlib.sha256((self.root / MODEL / WEIGHTS).read_bytes()).hexdigest()
        folder = "models--" + MODEL.replace("/", "--")
        self.lock = self.box.cache / ".locks" / folder / f"{self.etag}.lock"
        self.blobs = self.box.cache / folder / "blobs"
        self.lock.parent.mkdir(parents=True)

    def start(self, command, **options):
        process = subprocess.Popen(command, env=self.box.env, text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_pull(self):
        log = open(self.box.home / "pull.log", "w+")
        self.addCleanup(log.close)
        return self.start([HUB, "pull", MODEL, "--verbose"], stdout=log, stderr=log, stdin=subprocess.DEVNULL), log

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "sees that hub waits through /proc")
    def test_hub_waits_for_a_lock_that_python_holds(self):
        holder = self.start([sys.executable, "-c", HOLD, str(self.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "held\n")

        pull, log = self.start_pull()

        def opened():
            """hub has the lock's file open, or has ended without ever waiting for it."""
            if pull.poll() is not None:
                return True
            for entry in Path(f"/proc/{pull.pid}/fd").iterdir():
                try:
                    if entry.readlink() == self.lock:
                        return True
                except OSError:
                    continue  # closed meanwhile
            return False

        try:
            until(opened, "hub opens the lock that Python holds")
            # A hub that waits stays here for ever; the second only gives one that does not the time to show it.
            time.sleep(1)
        finally:
            log.seek(0)
            said = log.read()
        self.assertIsNone(pull.poll(), f"hub did not wait:\n{said}")
        self.assertFalse((self.blobs / self.etag).exists(), f"hub wrote the blob without the lock:\n{said}")

        holder.communicate("", timeout=SECONDS)
        self.assertEqual(pull.wait(SECONDS), 0)
        self.assertTrue((self.blobs / self.etag).exists())

    def test_python_cannot_take_a_lock_that_hub_holds(self):
        # Slow enough that the transfer outlasts many tries: 2.2 MB at 200 kB/s on each connection.
        self.sim.control("faults", [{"match": f"^GET .*{WEIGHTS}", "kind": "trickle", "rate": 200_000, "times": -1}])
        pull, log = self.start_pull()

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
        log.seek(0)
        self.assertEqual(seen, "refused", f"hub ended without holding the lock:\n{log.read()}")
        self.assertEqual(pull.wait(SECONDS), 0)
        self.assertTrue((self.blobs / self.etag).exists())
        self.box.hf("cache", "verify", MODEL)


if __name__ == "__main__":
    unittest.main()
