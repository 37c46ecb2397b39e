"""What the peer tests share: a cache of one's own, the two clients on it, and the two Hubs they ask."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "Fixtures"
HUB = os.environ.get("HUB_BINARY", "hub")
SECONDS = 120  # for any one command; only a hang comes near it

ODD = "hub-demo/odd-names"
MODELS = sorted(f"hub-demo/{folder.name}" for folder in FIXTURES.glob("tiny-shakespeare*") if folder.is_dir())
MODELS.append(ODD)


def write_models(root: Path) -> Path:
    """Every tiny-shakespeare fixture, and one repository whose names and sizes are awkward."""
    for model in MODELS:
        if model != ODD:
            shutil.copytree(FIXTURES / model.split("/")[1], root / model)
    write_awkward(root / ODD)
    return root


def write_awkward(folder: Path) -> None:
    files = {
        "config.json": b'{"model_type":"tiny"}\n',
        "empty.txt": b"",
        "a b/\u00e7#.txt": b"a space, a letter beyond ASCII and a number sign\n",
        "one/two/three/deep.txt": b"deep\n",
        "one/same.txt": b"deep\n",  # the same bytes twice are one blob
        "100%.txt": b"a per cent sign\n",
        "weights.bin": bytes(range(256)) * 12_288,  # 3 MiB, so LFS
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def contents(folder: Path) -> dict:
    """Relative path to bytes, links followed."""
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


class Server:
    """A child process whose first line of output ends in its address."""

    def __init__(self, command, env, stdin=None):
        self.stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=self.stderr, env=env,
                                        text=True)
        line = self.process.stdout.readline().strip()
        self.address = line.split(" ")[-1]
        if not self.address.startswith("http://127.0.0.1:"):
            self.stop()
            self.stderr.seek(0)
            raise AssertionError(f"{command} began with {line!r}: {self.stderr.read().decode()}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Hubsim(Server):
    def __init__(self, root: Path, *flags):
        super().__init__([sys.executable, str(HERE / "hubsim.py"), "--root", str(root), *flags], environment())

    def control(self, verb, body=None):
        data = None if body is None else json.dumps(body).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.address}/__sim/{verb}", data, timeout=SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def forget(self):
        self.control("reset", {})

    def file_requests(self):
        """The requests for the content of a file since `forget`."""
        return [
            entry for entry in self.control("log")
            if entry["method"] == "GET"
            and (entry["listener"] == "cdn" or "/resolve/" in entry["path"] or "/resolve-cache/" in entry["path"])
        ]


class HubServe(Server):
    """`hub serve FOLDER`, with a home of its own so that it shares nothing with the client under test."""

    def __init__(self, root: Path, home: Path):
        super().__init__([HUB, "serve", str(root)], environment() | homes(home))


class Mirror(Server):
    """`hub serve mirror` of a Hub, with a cache of its own."""

    def __init__(self, upstream: str, home: Path, *flags, **variables):
        self.home = home
        self.cache = home / "huggingface" / "hub"
        super().__init__([HUB, "serve", "mirror", "--upstream", upstream, *flags],
                         environment() | homes(home) | variables)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def messages(self) -> str:
        self.stderr.seek(0)
        return self.stderr.read().decode()

    def metrics(self) -> dict:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.address + "/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if not line.startswith("#")}


def environment() -> dict:
    """This process's environment without anything that steers a Hub client."""
    steering = ("HF_", "HUB_", "HUGGING", "TRANSFORMERS_", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return kept | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "NO_COLOR": "1", "HUB_SERVE_PORT": "0"}


def homes(home: Path) -> dict:
    return {"HOME": str(home), "HF_HOME": str(home / "huggingface"), "HUB_HOME": str(home / "state")}


class Sandbox:
    """One home folder with one cache, and both clients set to use it against one Hub."""

    def __init__(self, address: str):
        self.home = Path(tempfile.mkdtemp(prefix="hub-peers.")).resolve()
        self.cache = self.home / "huggingface" / "hub"
        self.env = environment() | homes(self.home) | {
            "HF_ENDPOINT": address,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }

    def remove(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, command):
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=SECONDS,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def hub(self, *words):
        """`hub WORDS --json`, parsed; anything but exit 0 is a failure."""
        return json.loads(self.run([HUB, *words, "--json"]).stdout)

    def hf(self, *words):
        """Python's `hf WORDS`: the finished process; anything but exit 0 is a failure."""
        return self.run([str(Path(sys.executable).parent / "hf"), *words])

    def python(self, expression: str):
        """The value of one expression over `huggingface_hub`, in a Python that reads this environment afresh."""
        script = f"import json, huggingface_hub as h; print(json.dumps({expression}))"
        return json.loads(self.run([sys.executable, "-c", script]).stdout.splitlines()[-1])

    def snapshot(self, repository: str, **options) -> str:
        """Python's snapshot_download: the folder."""
        return self.python(f"h.snapshot_download({repository!r}, **{options!r})")

    def snapshots(self, repositories, **options) -> dict:
        """The same of several, in one process: each folder by its id."""
        return self.python(f"{{m: h.snapshot_download(m, **{options!r}) for m in {list(repositories)!r}}}")

    def scan(self) -> dict:
        """Python's view of the cache: its warnings, and the ids it lists."""
        return self.python(
            "(lambda s: {'warnings': [str(w) for w in s.warnings],"
            " 'repos': sorted(r.repo_id for r in s.repos)})(h.scan_cache_dir())")


def until(condition, what, seconds=SECONDS):
    """Waits for a condition. Past the limit: a failure that names `what`, or just the end of the wait where it is None."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > limit:
            if what is None:
                return None
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.005)
    return value


class PeerTest(unittest.TestCase):
    """A test with a sandbox; classes below it set `address` once for all their tests."""

    address = ""

    def setUp(self):
        self.box = Sandbox(self.address)
        self.addCleanup(self.box.remove)

    def start(self, command, **options):
        process = subprocess.Popen(command, env=self.box.env, text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_pull(self, model):
        """`hub pull` in the background, and where its output goes."""
        output = self.box.home / "pull.log"
        with open(output, "w") as log:
            command = [HUB, "pull", model, "--verbose"]
            return self.start(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL), output

    def assert_same_folder(self, left, right):
        self.assertEqual(os.path.realpath(left), os.path.realpath(right))


class HubsimTest(PeerTest):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.sim = Hubsim(write_models(cls.root))
        cls.addClassCleanup(cls.sim.stop)
        cls.address = cls.sim.address

    def setUp(self):
        super().setUp()
        self.sim.forget()
