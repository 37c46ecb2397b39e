"""Somebody else who may write in the cache swaps one of its folders for a link, over and over, while hub deletes there:
nothing behind the link may change. No client of Python's takes part."""

import ctypes
import hashlib
import os
import random
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from peers import HUB, SECONDS, environment, homes

# scripts/soak asks for so many rounds of everything; a run of the tests draws one folder for each command.
ROUNDS = int(os.environ.get("HUB_SWAPS", 0))
FILES = 24
ONE, TWO, GONE = "1" * 40, "2" * 40, "9" * 40
LONG_AGO = 1_600_000_000
AT_FDCWD, RENAME_EXCHANGE = -100, 2

REPOSITORY = "hub/models--org--m"
FOLDERS = [f"{REPOSITORY}{rest}" for rest in (
    "", "/refs", "/blobs", "/snapshots", f"/snapshots/{ONE}", f"/snapshots/{ONE}/sub", f"/.no_exist/{ONE}", "/trees")]
LOCAL = ["sub", ".cache", ".cache/huggingface", ".cache/huggingface/download", ".cache/huggingface/download/sub"]
TO_TRASH = ["rm", f"org/m@{ONE[:8]}", "--trash", "--yes"]

# What is run, what is run before it, and the folders that are swapped meanwhile, below HF_HOME.
WAYS = [
    (["rm", "org/m", "--yes"], [], FOLDERS),
    (["rm", f"org/m@{ONE[:8]}", "--yes"], [], FOLDERS),
    (["rm", "org/m:sub/*", "--yes"], [], FOLDERS[:6]),
    (["gc", "--unused-for", "0d", "--orphans", "--partials", "--yes"], [], FOLDERS),
    (TO_TRASH, [], FOLDERS),
    (["rm", "org/m", "--trash", "--yes"], [], FOLDERS),
    (["trash", "restore", "org/m"], [TO_TRASH], [*FOLDERS[:4], "hub-trash/ENTRY"]),
    (["trash", "empty", "--yes"], [TO_TRASH], ["hub-trash/ENTRY", "hub-trash/ENTRY/SNAPSHOT/sub"]),
    (["rm", "LOCAL", "--yes"], [], [f"local/{name}" for name in LOCAL]),
    (["doctor", "fix"], [], [*FOLDERS[1:3], FOLDERS[7], "xet/server", "xet/server/chunk_cache"]),
]


def write(path, text, old=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if old:
        os.utime(path, (LONG_AGO, LONG_AGO))


def fill(home: Path):
    """A cache, a folder of --local-dir, and everything that doctor deletes."""
    folder = home / REPOSITORY
    for commit, ref in ((ONE, "main"), (TWO, "v2")):
        for number in range(FILES):
            content = f"{commit if number % 2 else ''} {number}"
            etag = hashlib.sha1(b"blob %d\0%b" % (len(content), content.encode())).hexdigest()
            write(folder / "blobs" / etag, content)
            link = folder / "snapshots" / commit / ("sub" if number % 3 else ".") / f"f{number}"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(folder / "blobs" / etag, link.parent))
        write(folder / "refs" / ref, commit)
    for number in range(FILES):
        write(folder / ".no_exist" / ONE / f"f{number}", "")
        write(folder / "refs" / f"gone{number}", GONE, old=True)
        write(folder / "refs" / f"line{number}", TWO + "\n")
        write(folder / "blobs" / f"{number:064}.hub.incomplete", "partial", old=True)
        write(folder / "trees" / f"{number:040}.json", "{}", old=True)
        write(home / "xet/server/chunk_cache" / str(number), "chunk", old=True)
        name = f"{'sub/' if number % 2 else ''}f{number}"
        content = str(number).encode()
        etag = hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()
        write(home / "local" / name, str(number), old=True)
        write(home / "local/.cache/huggingface/download" / f"{name}.metadata", f"{ONE}\n{etag}\n9999999999\n")


def listing(folder: Path):
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_text()
            for path in folder.rglob("*")}


class Swapper(threading.Thread):
    """Exchanges a folder and a link: both names are there at every moment."""

    def __init__(self, folder, link):
        super().__init__(daemon=True)
        self.names = os.fsencode(folder), os.fsencode(link)
        self.ended = threading.Event()
        self.swaps = 0

    def run(self):
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
        while not self.ended.is_set():
            self.swaps += exchange(AT_FDCWD, self.names[0], AT_FDCWD, self.names[1], RENAME_EXCHANGE) == 0

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def __enter__(self):
        self.start()
        return self


@unittest.skipUnless(hasattr(ctypes.CDLL(None), "renameat2"), "the system cannot exchange two names")
class SwappedFolders(unittest.TestCase):
    def attack(self, words, before, name):
        home = Path(tempfile.mkdtemp(prefix="hub-swaps.")).resolve()
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        env = environment() | homes(home) | {"HF_HOME": str(home / "hf"), "HF_HUB_OFFLINE": "1"}

        def hub(*words):
            return subprocess.run([HUB, *words], env=env, capture_output=True, text=True, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL)

        fill(home / "hf")
        for first in before:
            self.assertEqual(hub(*first).returncode, 0)
        if "ENTRY" in name:
            [entry] = (home / "hf/hub-trash").iterdir()
            snapshot = next(child.name for child in entry.iterdir() if (child / "sub").is_dir())
            name = name.replace("ENTRY", entry.name).replace("SNAPSHOT", snapshot)
        folder, victim, link = home / "hf" / name, home / "victim", home / "link"
        self.assertTrue(folder.is_dir(), folder)
        # The same names, so that a deletion that is led there finds what it wants.
        shutil.copytree(folder, victim, symlinks=True)
        link.symlink_to(victim)
        kept = listing(victim)
        with Swapper(folder, link) as swapper:
            done = hub(*(str(home / "hf/local") if word == "LOCAL" else word for word in words))
        self.assertEqual(listing(victim), kept, done.stderr)
        self.assertIn(done.returncode, range(128), done.stderr)
        self.assertGreater(swapper.swaps, 0)
        shutil.rmtree(home)

    def test_nothing_behind_a_link_changes(self):
        for words, before, names in WAYS:
            for name in names if ROUNDS else [random.choice(names)]:
                with self.subTest(command=" ".join(words), folder=name):
                    for _ in range(max(ROUNDS, 1)):
                        self.attack(words, before, name)


if __name__ == "__main__":
    unittest.main()
