"""Random caches, cleaned by hub: what it says is what the disk has back, what stays is whole, and Python agrees."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from huggingface_hub import scan_cache_dir
from peers import HUB, ODD, SECONDS, HubsimTest, environment, homes, until

# Some in every run of the tests; scripts/soak asks for all.
SEEDS = range(int(os.environ.get("HUB_CACHES", 24)))
MARKER = ".huggingface-shared-blobs"
DAY = 86_400


class RandomCache:
    """A cache with what real ones hold: blobs that revisions and repositories share, the store, hard links, snapshots
    without links, broken links, damage, partials and orphans. Blobs are named by what they hold."""

    def __init__(self, rng: random.Random, cache: Path):
        self.rng, self.cache = rng, cache
        self.revisions = []  # (repository folder's name, commit)
        self.unwanted = set()  # (commit, path) of files that are to go
        self.written = {}  # content to a path that holds it as a file
        self.pool = [rng.randbytes(rng.randrange(3000)) for _ in range(8)]
        cache.mkdir(parents=True)
        if rng.random() < 0.6:
            (cache / "blobs").mkdir()
            (cache / "blobs" / MARKER).write_text("1\n")
        commits = []
        names = ["models--org--a", "models--org--b", "models--gpt2", "datasets--org--a"]
        for name in rng.sample(names, rng.randrange(2, 5)):
            self.repository(name, commits)

    def repository(self, name, commits):
        rng, folder = self.rng, self.cache / name
        is_plain = rng.random() < 0.2
        (folder / "blobs").mkdir(parents=True)
        blobs = [self.blob(name) for _ in range(rng.randrange(1, 9))]
        for _ in range(rng.randrange(1, 4)):
            # The same commit in two repositories is two things.
            commit = rng.choice(commits) if commits and rng.random() < 0.15 else rng.randbytes(20).hex()
            if (name, commit) in self.revisions:
                continue
            commits.append(commit)
            self.revisions.append((name, commit))
            snapshot = folder / "snapshots" / commit
            snapshot.mkdir(parents=True)
            files = {}
            for number in range(rng.randrange(1, 6)):
                place = snapshot / rng.choice(["", "sub", "sub/dir"]) / f"f{number}.bin"
                place.parent.mkdir(parents=True, exist_ok=True)
                if is_plain or rng.random() < 0.1:
                    etag, content = self.file(place)
                else:
                    etag, content = rng.choice(blobs)
                    depth = len(place.relative_to(snapshot).parts) + 1
                    place.symlink_to("../" * depth + f"blobs/{etag}")
                files[place.relative_to(snapshot).as_posix()] = self.entry(etag, content)
            if rng.random() < 0.1:
                (snapshot / "broken.bin").symlink_to("../../blobs/" + rng.randbytes(20).hex())
            if rng.random() < 0.9:
                (folder / "trees").mkdir(exist_ok=True)
                tree = {"format_version": 1, "files": dict(sorted(files.items()))}
                (folder / "trees" / f"{commit}.json").write_text(json.dumps(tree, indent=1))
            for ref in ["main", "v1", "refs/pr/1"]:
                if rng.random() < 0.3:
                    (folder / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
                    (folder / "refs" / ref).write_text(commit)
            if rng.random() < 0.3:
                (folder / ".no_exist" / commit).mkdir(parents=True)
                (folder / ".no_exist" / commit / "x.json").touch()
        if rng.random() < 0.3:
            (folder / "blobs" / (rng.randbytes(32).hex() + ".incomplete")).write_bytes(rng.randbytes(500))

    def blob(self, name):
        rng = self.rng
        content = rng.choice(self.pool) if rng.random() < 0.4 else rng.randbytes(rng.randrange(2000))
        etag = hashlib.sha256(content).hexdigest() if rng.random() < 0.5 else git_id(content)
        place = self.cache / name / "blobs" / etag
        if place.exists():
            return etag, content
        if (self.cache / "blobs" / MARKER).exists() and rng.random() < 0.3:
            # Payloads have names of their own: Xet's.
            hash = hashlib.sha256(b"xet" + content).hexdigest()
            payload = self.cache / "blobs" / hash[:2] / hash
            payload.parent.mkdir(exist_ok=True)
            payload.write_bytes(content)
            Path(f"{payload}.lock").touch()
            with open(f"{payload}.refs", "a") as manifest:
                manifest.write(f"{name}/blobs/{etag}\n")
            place.symlink_to(f"../../blobs/{hash[:2]}/{hash}")
        elif content in self.written and rng.random() < 0.5:
            os.link(self.written[content], place)
        else:
            damaged = rng.random() < 0.05
            place.write_bytes(content[: len(content) // 2] if damaged else content)
            if not damaged:
                self.written[content] = place
        return etag, content

    def file(self, place):
        content = self.rng.choice(self.pool)
        if content in self.written and self.rng.random() < 0.4:
            os.link(self.written[content], place)
        else:
            place.write_bytes(content)
        return git_id(content), content

    def files(self, name, commit):
        """The files of a revision, broken links among them."""
        snapshot = self.cache / name / "snapshots" / commit
        return sorted(path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if not path.is_dir())

    @staticmethod
    def entry(etag, content):
        """A file as Python's record of a tree has it."""
        entry = {"size": len(content), "blob_id": git_id(content)}
        return entry | ({"lfs_sha256": etag, "lfs_size": len(content)} if len(etag) == 64 else {})

    def words(self):
        """A random choice of what is to go, and the revisions that Python would be asked for, if it can be."""
        rng = self.rng
        if rng.random() < 0.3:
            words = ["gc"] + [flag for flag in ("--detached", "--partials", "--orphans") if rng.random() < 0.5]
            if len(words) == 1 or rng.random() < 0.3:
                age, size = f"{rng.randrange(100)}d", f"{rng.randrange(9)}kB"
                words += rng.choice([["--unused-for", age], ["--max-size", size, "--best-effort"]])
            return words, None
        chosen = rng.sample(self.revisions, rng.randrange(1, len(self.revisions) + 1))
        words = ["rm"]
        revisions = []
        for name, commit in chosen:
            kind, _, rest = name.partition("--")
            id = ("datasets/" if kind == "datasets" else "") + rest.replace("--", "/")
            if rng.random() < 0.2:
                words.append(id)
                revisions += [revision for revision in self.revisions if revision[0] == name]
            elif rng.random() < 0.2 and (files := self.files(name, commit)):
                path = rng.choice(files)
                words.append(f"{id}@{commit}:{path}")
                self.unwanted.add((commit, path))
                revisions.append(None)
            else:
                words.append(f"{id}@{commit}")
                revisions.append((name, commit))
        return words, None if None in revisions else sorted(set(revisions))


def git_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def ages(cache: Path, rng: random.Random):
    """Gives everything times of its own, the same in each copy."""
    now = time.time() - DAY / 2
    for path in sorted(cache.rglob("*")):
        moment = now - DAY * rng.randrange(100)
        os.utime(path, (moment, moment), follow_symlinks=False)


def listing(cache: Path):
    """What there is, without what belongs to nobody: locks, and hub's own bookkeeping of deletions."""
    out = {}
    for path in sorted(cache.rglob("*")):
        name = path.relative_to(cache).as_posix()
        if name.split("/")[0] == ".locks" or name.endswith(".lock"):
            continue
        if path.is_symlink():
            out[name] = os.readlink(path)
        elif path.suffix == ".refs":
            # Whoever reads a manifest of the store looks which of its lines are true; a kill may leave one that is not.
            out[name] = {line for line in path.read_text().split() if os.path.lexists(cache / line)}
        elif path.is_file():
            out[name] = path.read_bytes()
        else:
            out[name] = "folder"
    return out


def difference(one, other):
    return {key: (one.get(key), other.get(key)) for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def inodes(cache: Path):
    """The size of each file that holds a model's bytes, once however many names it has."""
    out = {}
    for path in cache.rglob("*"):
        parts = path.relative_to(cache).parts
        if not {"snapshots", "blobs"} & set(parts) or path.suffix in (".refs", ".lock") or path.name == MARKER:
            continue
        if path.is_file() and not path.is_symlink():
            out[path.stat().st_ino] = path.stat().st_size
    return out


class RandomCaches(unittest.TestCase):
    maxDiff = None

    def hub(self, home, *words, statuses=(0,)):
        done = subprocess.run([HUB, *words, "--json"], env=self.environment(home), capture_output=True, text=True,
                              timeout=SECONDS, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, statuses, f"{words}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def environment(self, home):
        return environment() | homes(home) | {"HF_HUB_OFFLINE": "1"}

    def problems(self, cache, home):
        """What `hub verify` finds in a copy, which it may not change, by revision."""
        copied = self.copy(cache, home)
        before = listing(copied)
        report = self.hub(home, "verify", "--full", statuses=(0, 1, 5))
        self.assertEqual(listing(copied), before)
        return {
            (model["id"], model.get("commit"), problem["path"], problem["problem"])
            for model in report["models"] for problem in model["problems"]
        }

    @staticmethod
    def hidden(cache):
        """The repositories that Python warns of, and so does not list, by their folders' names."""
        warnings = [str(warning) for warning in scan_cache_dir(cache).warnings]
        return {name for name in os.listdir(cache) if any(f"/{name}/" in f"{warning}/" for warning in warnings)}

    def copy(self, cache, home):
        """The same cache in another home, with its hard links."""
        place = home / "huggingface" / "hub"
        place.parent.mkdir(parents=True)
        subprocess.run(["cp", "-a", str(cache), str(place)], check=True)
        return place

    def check(self, seed):
        root = Path(tempfile.mkdtemp(prefix=f"hub-cleaning-{seed}.")).resolve()
        try:
            self.clean(random.Random(seed), root)
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def clean(self, rng, root):
        original = root / "original"
        made = RandomCache(rng, original)
        words, revisions = made.words()
        shown = " ".join(words)
        homes = {name: root / name for name in ("first", "killed", "python", "verified", "left")}
        moments = rng.getrandbits(64)
        caches = {name: self.copy(original, homes[name]) for name in ("first", "killed", "python")}
        for cache in caches.values():
            ages(cache, random.Random(moments))
        first = caches["first"]
        hidden = self.hidden(first)
        problems = self.problems(original, homes["verified"])

        # What is said is what is done, and what the disk has back.
        planned = self.hub(homes["first"], *words, "--dry-run")
        before = inodes(first)
        began = time.monotonic()
        done = self.hub(homes["first"], *words, "--yes")
        duration = time.monotonic() - began
        after = inodes(first)
        self.assertEqual(done["freed_bytes"], planned["freed_bytes"], shown)
        self.assertEqual(done["freed_bytes"], sum(size for inode, size in before.items() if inode not in after), shown)
        self.assertEqual([after[inode] for inode in after], [before[inode] for inode in after], shown)

        # Python and hub find nothing in what remains that was not there before.
        self.assertLessEqual(self.hidden(first), hidden, shown)
        left = {
            problem for problem in self.problems(first, homes["left"])
            if problem[3] != "missing" or (problem[1], problem[2]) not in made.unwanted
        }
        self.assertLessEqual(left, problems, shown)

        # Killed at any moment, and asked again.
        process = subprocess.Popen([HUB, *words, "--yes"], env=self.environment(homes["killed"]),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(duration * rng.random())
        process.kill()
        process.wait()
        killed = caches["killed"]
        self.assertLessEqual(self.hidden(killed), hidden, shown)
        self.hub(homes["killed"], *words, "--yes", statuses=(0, 3))
        self.assertEqual(difference(listing(killed), listing(first)), {}, f"killed: {shown}")
        if revisions is not None:
            self.compare(revisions, caches["python"], first, done["freed_bytes"], made, shown)

    def compare(self, revisions, theirs, ours, freed, made, shown):
        """Python's own deletion of the same, where it can be asked for it and is right.

        It is not where it leaves what it knows of a revision that has gone (trees, .no_exist, empty folders of refs);
        nor in its figure for files with several names, which it counts though one of them stays, and for blobs
        without a revision that go with a whole repository, which it does not count.
        """
        commits = {commit for _, commit in revisions}
        if sum(commit in commits for _, commit in made.revisions) > len(commits):
            return  # It takes a commit from any one repository that has it.
        if {name for name, _ in revisions} & self.hidden(theirs):
            return  # It does not see a repository with a broken link.
        strategy = scan_cache_dir(theirs).delete_revisions(*commits)
        strategy.execute()
        different = {
            name: pair for name, pair in difference(listing(theirs), listing(ours)).items()
            if not {"trees", ".no_exist"} & set(name.split("/")) and (pair[0] != "folder" or "/refs" not in name)
        }
        self.assertEqual(different, {}, f"Python's: {shown}")
        if any(path.lstat().st_nlink > 1 for path in made.cache.rglob("*") if not path.is_dir()):
            return
        staying = {name for name, commit in made.revisions if (name, commit) not in revisions}
        whole = {name for name, _ in revisions} - staying
        check = self.assertLessEqual if whole else self.assertEqual
        check(strategy.expected_freed_size, freed, shown)

    def test_random_caches(self):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for seed, result in [(seed, pool.submit(self.check, seed)) for seed in SEEDS]:
                with self.subTest(seed=seed):
                    result.result()

    def test_the_same_commit_in_two_repositories_is_two_things(self):
        root = Path(tempfile.mkdtemp(prefix="hub-cleaning.")).resolve()
        self.addCleanup(shutil.rmtree, root)
        cache, commit = root / "huggingface" / "hub", "a" * 40
        for name in ("models--org--a", "models--org--b"):
            snapshot = cache / name / "snapshots" / commit
            snapshot.mkdir(parents=True)
            (snapshot / "f.bin").write_bytes(b"1234")
        # Python cannot be told which.
        self.assertEqual(len(scan_cache_dir(cache).delete_revisions(commit).repos), 1)
        self.assertEqual(self.hub(root, "rm", f"org/a@{commit}", "--yes")["freed_bytes"], 4)
        self.assertEqual([repository.repo_id for repository in scan_cache_dir(cache).repos], ["org/b"])


@unittest.skipUnless(Path("/proc/self/maps").exists(), "needs /proc, which says what a program has open")
class InUse(HubsimTest):
    """A pull, a `hub try` and a Python process at work on one cache, and someone who wants all of it gone."""

    read = "hub-demo/tiny-shakespeare-mlx-4bit"
    tried = "hub-demo/tiny-shakespeare"
    idle = "hub-demo/tiny-shakespeare-gguf"

    def test_gc_takes_none_of_what_is_at_work_and_says_why(self):
        for model in (self.read, self.tried, self.idle):
            self.box.hub("pull", model)
        snapshot = next(self.box.cache.glob("models--*mlx-4bit/snapshots/*"))
        script = "import sys; f = open(sys.argv[1], 'rb'); print('reading', flush=True); sys.stdin.read()"
        reader = self.start(
            [sys.executable, "-c", script,
             str(snapshot / "model.safetensors")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(reader.stdout.close)
        self.addCleanup(reader.stdin.close)
        self.assertEqual(reader.stdout.readline(), "reading\n")

        self.sim.control("faults", [{"match": r"^GET .*weights\.bin", "kind": "trickle", "rate": 200_000, "times": -1}])
        pull, output = self.start_pull(ODD)
        partials = "models--*odd-names/blobs/*.incomplete"
        # Bytes in it say that the pull holds what it locks.
        until(lambda: pull.poll() is not None
              or any(path.stat().st_blocks for path in self.box.cache.glob(partials)), "a partial")
        # What is stopped is at work for as long as we like.
        pull.send_signal(signal.SIGSTOP)
        self.assertIsNone(pull.poll(), output.read_text())

        trying = self.start([HUB, "try", self.tried, "Who goes there?", "--max-tokens", "400"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        snapshot = next(self.box.cache.glob("models--hub-demo--tiny-shakespeare/snapshots/*"))
        weights = (snapshot / "model.safetensors").resolve()
        maps = Path(f"/proc/{trying.pid}/maps")
        until(lambda: trying.poll() is not None or str(weights) in maps.read_text(), "the weights are mapped")
        trying.send_signal(signal.SIGSTOP)
        self.assertIsNone(trying.poll())
        self.assertIn(str(weights), maps.read_text())

        done = self.box.run([HUB, "gc", "--max-size", "0", "--best-effort", "--yes", "--json"])
        plan = json.loads(done.stdout)
        self.assertEqual([row["id"] for row in plan["plan"]], [self.idle])
        self.assertEqual({row["id"]: row["reason"] for row in plan["protected"]},
                         {self.read: "in use", self.tried: "in use", ODD: "in use"})
        said = self.box.run([HUB, "gc", "--max-size", "0", "--best-effort", "--yes"])
        reasons = {
            self.read: rf"\w+ \({reader.pid}\) has model.safetensors open", ODD: "it is being downloaded",
            self.tried: rf"hub \({trying.pid}\) has model.safetensors open",
        }
        for model, reason in reasons.items():
            self.assertRegex(said.stdout, rf"(?m)^stays: {model}@[0-9a-f]{{8}}: in use: {reason}$")

        # Each of them ends as if nothing had been.
        trying.send_signal(signal.SIGCONT)
        self.assertEqual(trying.wait(SECONDS), 0)
        reader.stdin.close()
        self.assertEqual(reader.wait(SECONDS), 0)
        self.sim.control("faults", [])
        pull.send_signal(signal.SIGCONT)
        pull.wait(SECONDS)
        self.assertEqual(pull.returncode, 0, output.read_text())
        self.box.hub("verify", "--full")
        self.assertEqual(self.box.scan(), {"warnings": [], "repos": sorted([self.read, self.tried, ODD])})


if __name__ == "__main__":
    unittest.main()
