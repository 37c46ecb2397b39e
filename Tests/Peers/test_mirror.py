"""`hub serve mirror` between real clients and a Hub: what clients see, and what the Hub is asked."""

import hashlib
import http.client
import importlib.util
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

from peers import HUB, MODELS, ODD, HubServe, Hubsim, Mirror, PeerTest, Sandbox, contents, until, write_models

BIG = "hub-demo/big"
GATED = "hub-demo/gated"
TOKEN = "hf_" + "a" * 34
BIG_BYTES = 24 << 20


def write_hub(root: Path) -> Path:
    write_models(root)
    (root / BIG).mkdir()
    (root / BIG / "config.json").write_text('{"model_type":"tiny"}\n')
    (root / BIG / "weights.bin").write_bytes(random.Random(1).randbytes(BIG_BYTES))
    (root / GATED).mkdir()
    (root / GATED / ".sim.json").write_text('{"gated": "auto"}')
    (root / GATED / "config.json").write_text('{"model_type":"secret"}\n')
    return root


class MirrorTest(PeerTest):
    hub_flags = ()
    flags = ()
    variables = {}

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        self.addCleanup(shutil.rmtree, self.root)
        write_hub(self.root)
        self.upstream = Hubsim(self.root, *self.hub_flags)
        self.addCleanup(self.upstream.stop)
        self.home = Path(tempfile.mkdtemp(prefix="hub-peers-mirror."))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.mirror = self.start_mirror(*self.flags, **self.variables)
        self.address = self.mirror.address
        super().setUp()
        del self.box.env["HF_HUB_DISABLE_XET"]

    def restart_upstream(self, *flags):
        """Reads the folder of models anew, at the same address."""
        self.upstream.stop()
        self.upstream = Hubsim(self.root, "--port", self.upstream.address.rsplit(":", 1)[1], *flags)
        self.addCleanup(self.upstream.stop)

    def start_mirror(self, *flags, **variables):
        mirror = Mirror(self.upstream.address, self.home, *flags, **variables)
        self.addCleanup(lambda: mirror.process.poll() is None and mirror.stop())
        return mirror

    def ask(self, path, method="GET", headers=None, body=None, mirror=None):
        """Status, headers in lower case, and body; a body that ends short is an IncompleteRead."""
        connection = http.client.HTTPConnection((mirror or self.mirror).address.removeprefix("http://"), timeout=120)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def another_box(self):
        box = Sandbox(self.mirror.address)
        self.addCleanup(box.remove)
        del box.env["HF_HUB_DISABLE_XET"]
        return box

    def asked(self, *parts):
        """The paths that upstream was asked for since `forget`, those that hold every part."""
        return [entry["path"] for entry in self.upstream.control("log") if all(part in entry["path"] for part in parts)]

    def sent(self):
        """Bytes of files that upstream sent."""
        return sum(entry["sent"] for entry in self.upstream.control("log") if entry["listener"] == "cdn")

    def big(self):
        return (self.root / BIG / "weights.bin").read_bytes()

    def assert_no_partials(self):
        left = [path for path in self.mirror.cache.rglob("*.incomplete")]
        self.assertEqual(left, [])


class Clients(MirrorTest):
    def test_python_downloads_and_the_second_client_costs_nothing(self):
        for model, folder in self.box.snapshots(MODELS).items():
            self.assertEqual(contents(folder), contents(self.root / model), model)
        self.upstream.forget()
        for model, folder in self.another_box().snapshots(MODELS).items():
            self.assertEqual(contents(folder), contents(self.root / model), model)
        self.assertEqual(self.upstream.control("log"), [])

    def test_python_to_a_local_folder_and_a_single_file(self):
        target = self.box.home / "local"
        self.box.snapshot(ODD, local_dir=str(target))
        self.assertEqual({k: v for k, v in contents(target).items() if not k.startswith(".cache/")},
                         contents(self.root / ODD))
        path = self.box.python(f"h.hf_hub_download({ODD!r}, 'a b/\u00e7#.txt')")
        self.assertEqual(Path(path).read_bytes(), (self.root / ODD / "a b/\u00e7#.txt").read_bytes())

    def test_hub_pulls_and_verifies(self):
        for model in MODELS + [BIG]:
            [pulled] = self.box.hub("pull", model)["models"]
            self.assertEqual(contents(pulled["path"]), contents(self.root / model))
        self.box.hub("verify")

    def test_hub_and_python_see_the_mirrors_cache_as_a_cache(self):
        self.box.snapshots(MODELS)
        for model in MODELS:
            folder = self.mirror.cache / ("models--" + model.replace("/", "--"))
            commit = (folder / "refs" / "main").read_text()
            # Python makes empty files, and a second file of the same content, without a question.
            here = contents(folder / "snapshots" / commit)
            expected = contents(self.root / model)
            self.assertEqual(here, {path: content for path, content in expected.items() if path in here})
            self.assertEqual({content for content in expected.values() if content}, set(here.values()))
        self.assert_no_partials()

    def test_clients_share_the_mirrors_cache(self):
        # Such a client holds the lock of what the mirror fetches for it.
        self.box.env |= {"HF_HOME": str(self.mirror.cache.parent)}
        folder = self.box.snapshot(BIG)
        self.assertTrue(Path(folder).is_relative_to(self.mirror.cache))
        self.assertEqual(contents(folder), contents(self.root / BIG))
        [pulled] = self.box.hub("pull", MODELS[0])["models"]
        self.assertEqual(contents(pulled["path"]), contents(self.root / MODELS[0]))
        self.box.hub("verify")
        self.assert_no_partials()

    def test_curl_resumes(self):
        address = f"{self.mirror.address}/{BIG}/resolve/main/weights.bin"
        target = self.box.home / "weights.bin"
        for have, what in [(0, "cold"), (1 << 20, "growing or cached"), (BIG_BYTES - 3, "nearly whole")]:
            target.write_bytes(self.big()[:have])
            self.box.run(["curl", "-sfC", "-", "-o", str(target), address])
            self.assertEqual(target.read_bytes(), self.big(), what)
        status = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": f"bytes={BIG_BYTES}-"})
        self.assertEqual((status[0], status[1]["content-range"]), (416, f"bytes */{BIG_BYTES}"))
        self.box.run(["curl", "-sC", "-", "-o", str(target), address])

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "needs transformers")
    def test_transformers_loads_a_model_also_while_the_hub_is_away(self):
        model = "hub-demo/tiny-shakespeare"
        weights = "t.AutoModel.from_pretrained(sys.argv[1]); " if importlib.util.find_spec("torch") else ""
        script = ("import sys, time, transformers as t; a = time.time(); "
                  f"{weights}c = t.AutoConfig.from_pretrained(sys.argv[1]); k = t.AutoTokenizer.from_pretrained(sys.argv[1]); "
                  "print(c.model_type, len(k('to be or not')['input_ids']), time.time() - a)")
        first = self.box.run([sys.executable, "-c", script, model]).stdout.split()
        self.upstream.stop()
        second = self.another_box().run([sys.executable, "-c", script, model]).stdout.split()
        self.assertEqual(first[:2], second[:2])

    def test_an_old_rust_client_asks_with_a_range_of_one_byte(self):
        status, headers, body = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": "bytes=0-0"})
        self.assertEqual((status, len(body)), (206, 1))
        self.assertEqual(headers["content-range"], f"bytes 0-0/{BIG_BYTES}")
        self.assertEqual(len(headers["x-repo-commit"]), 40)
        self.assertIn("etag", headers)
        status, headers, body = self.ask(f"/{ODD}/resolve/main/empty.txt")
        self.assertEqual((status, body), (200, b""))

    def test_llama_cpp_sends_names_as_they_are(self):
        for name in ["a b/\u00e7#.txt", "100%.txt"]:
            target = f"/{ODD}/resolve/main/{name}".encode().decode("latin-1")
            connection = http.client.HTTPConnection(self.mirror.address.removeprefix("http://"))
            connection._validate_path = lambda _: None
            connection._encode_request = lambda request: request.encode("latin-1")
            connection.request("HEAD" if "#" in name else "GET", target.replace(" ", "%20"))
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200, name)
            connection.close()


class Xet(MirrorTest):
    hub_flags = ("--xet",)

    def test_a_client_with_xet_never_asks_for_its_token(self):
        folder = self.box.snapshot(BIG)
        self.assertEqual(contents(folder), contents(self.root / BIG))
        self.assertEqual(self.asked("xet"), [])
        _, headers, _ = self.ask(f"/{BIG}/resolve/main/weights.bin", "HEAD")
        self.assertFalse([name for name in headers if "xet" in name or name == "link"])
        commit = headers["x-repo-commit"]
        for path in [f"/api/models/{BIG}/tree/main?expand=true", f"/api/models/{BIG}/tree/main",
                     f"/api/models/{BIG}?blobs=true"]:
            self.assertNotIn(b"xet", self.ask(path)[2])
        self.assertEqual(self.ask(f"/api/models/{BIG}/xet-read-token/{commit}")[0], 404)


class Pages(MirrorTest):
    hub_flags = ("--page", "7")

    def test_every_link_leads_to_the_mirror(self):
        path, seen = "/api/models?limit=3", []
        while path:
            status, headers, body = self.ask(path)
            self.assertEqual(status, 200)
            seen += [model["id"] for model in json.loads(body)]
            link = headers.get("link")
            if link:
                self.assertTrue(link.startswith(f"<{self.mirror.address}/"), link)
            path = link and link[1:].split(">")[0].removeprefix(self.mirror.address)
        self.assertEqual(sorted(seen), sorted(MODELS + [BIG, GATED]))

    def test_a_tree_of_1001_files_has_its_second_page_here(self):
        many = self.root / "hub-demo" / "many"
        many.mkdir()
        for number in range(1001):
            (many / f"{number}.txt").write_text(str(number))
        self.restart_upstream()
        status, headers, body = self.ask("/api/models/hub-demo/many/tree/main?recursive=true&expand=false")
        self.assertEqual(len(json.loads(body)), 1000)
        self.assertTrue(headers["link"].startswith(f"<{self.mirror.address}/api/models/hub-demo/many/tree/main?"))


class OneFetch(MirrorTest):
    def get(self, results, key, headers=None):
        try:
            results[key] = self.ask(f"/{BIG}/resolve/main/weights.bin", headers=headers)[2]
        except Exception as error:
            results[key] = error

    def test_twenty_clients_cause_one_fetch(self):
        results = {}
        threads = [threading.Thread(target=self.get, args=(results, n)) for n in range(20)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual({hashlib.sha256(results[n]).hexdigest() for n in range(20)},
                         {hashlib.sha256(self.big()).hexdigest()})
        self.assertEqual(self.sent(), BIG_BYTES)
        self.assert_no_partials()

    def test_a_client_that_leaves_does_not_end_the_others(self):
        self.upstream.control("faults", [{"match": "weights", "kind": "trickle", "rate": 4 << 20, "times": -1}])
        first = http.client.HTTPConnection(self.mirror.address.removeprefix("http://"))
        first.request("GET", f"/{BIG}/resolve/main/weights.bin")
        first.getresponse().read(100_000)
        results = {}
        second = threading.Thread(target=self.get, args=(results, 0))
        second.start()
        first.sock.close() if first.sock else None
        first.close()
        second.join()
        self.assertEqual(results[0], self.big())
        self.assertEqual(self.sent(), BIG_BYTES)

    def test_curl_goes_on_with_a_file_that_is_still_coming(self):
        self.upstream.control("faults", [{"match": "weights", "kind": "trickle", "rate": 6 << 20, "times": -1}])
        whole = {}
        thread = threading.Thread(target=self.get, args=(whole, 0))
        thread.start()
        until(lambda: self.sent() > 2 << 20, "the fetch is under way")
        target = self.box.home / "weights.bin"
        target.write_bytes(self.big()[:1 << 20])
        said = self.box.run(["curl", "-sfC", "-", "-w", "%{http_code}", "-o", str(target),
                             f"{self.mirror.address}/{BIG}/resolve/main/weights.bin"]).stdout
        thread.join()
        self.assertEqual((said, target.read_bytes() == self.big(), whole[0] == self.big()), ("206", True, True))
        self.assertEqual(self.sent(), BIG_BYTES)

    def test_the_last_bytes_of_a_cold_file_come_first(self):
        self.upstream.control("faults", [{"match": "weights", "kind": "trickle", "rate": 1 << 20, "times": -1}])
        whole = {}
        thread = threading.Thread(target=self.get, args=(whole, 0))
        thread.start()
        until(lambda: self.sent() > 0, "the fetch begins")
        began = time.monotonic()
        status, headers, body = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": "bytes=-8"})
        self.assertEqual((status, body), (206, self.big()[-8:]))
        self.assertLess(time.monotonic() - began, 10)
        self.upstream.control("faults", [])
        thread.join()
        self.assertEqual(whole[0], self.big())

    def test_a_glance_fetches_no_more_than_it_needs(self):
        status, _, body = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": "bytes=100-299"})
        self.assertEqual((status, body), (206, self.big()[100:300]))
        until(lambda: self.mirror.metrics()["hub_fetches_in_flight"] == 0, "the fetch ends")
        self.assertEqual(self.sent(), 200)
        # What was fetched is kept, and the rest comes when it is wanted.
        self.assertEqual(self.ask(f"/{BIG}/resolve/main/weights.bin")[2], self.big())
        self.assertEqual(self.sent(), BIG_BYTES)

    def test_the_rest_of_a_file_whose_beginning_is_not_here(self):
        start = BIG_BYTES - 500_000
        status, _, body = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": f"bytes={start}-"})
        self.assertEqual((status, body), (206, self.big()[start:]))

    def test_a_wrong_byte_ends_the_body_short_and_the_next_try_is_right(self):
        self.upstream.control("faults", [{"match": "GET /hub-demo/big/weights", "kind": "corrupt", "bytes": 1000}])
        with self.assertRaises(http.client.IncompleteRead):
            self.ask(f"/{BIG}/resolve/main/weights.bin")
        # What the client has may be wrong, so it gets everything anew, not the rest.
        status, _, body = self.ask(f"/{BIG}/resolve/main/weights.bin", headers={"Range": "bytes=2000000-"})
        self.assertEqual((status, body), (200, self.big()))

    def test_python_gets_no_file_from_a_hub_that_changes_bytes(self):
        self.upstream.control("faults", [{"match": "GET /hub-demo/big/weights", "kind": "corrupt", "bytes": 1000, "times": -1}])
        with self.assertRaises(AssertionError):
            self.box.python(f"h.hf_hub_download({BIG!r}, 'weights.bin')")
        self.assertEqual(list(self.box.home.rglob("snapshots/*/weights.bin")), [])
        self.upstream.control("faults", [])
        path = self.box.python(f"h.hf_hub_download({BIG!r}, 'weights.bin')")
        self.assertEqual(Path(path).read_bytes(), self.big())


class Hostile(MirrorTest):
    """An upstream that means harm, or a client that does."""

    def upstream_says(self, match, status=200, body=None, **headers):
        self.upstream.control("faults", [{
            "match": match, "kind": "status", "status": status, "body": json.dumps(body), "times": -1,
            "headers": {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}}])

    def test_names_that_climb_reach_nothing(self):
        for name in ["../../../evil", "/evil", "a/../../evil", "a//b", "a\u0000b", "blobs/.."]:
            entry = {"type": "file", "path": name, "size": 4, "oid": "0" * 40}
            self.upstream_says(f"GET /api/models/{BIG}/tree", body=[entry])
            self.assertEqual(self.ask(f"/{BIG}/resolve/main/config.json")[0], 502, name)
        for path in [f"/{BIG}/resolve/main/../../../secret", f"/{BIG}/resolve/main/..%2F..%2Fsecret", "/..%2fsecret"]:
            self.assertEqual(self.ask(path)[0], 400, path)
        self.assertEqual([p for p in self.home.rglob("*") if p.name == "evil"], [])

    def test_a_link_or_redirect_elsewhere_takes_nobody_and_no_token_along(self):
        elsewhere = Hubsim(self.root)
        self.addCleanup(elsewhere.stop)
        self.mirror.stop()
        self.mirror = self.start_mirror("--auth", "forward")
        mine = {"Authorization": f"Bearer {TOKEN}"}
        self.upstream_says("GET /api/models", body=[], Link=f'<{elsewhere.address}/api/models?cursor=1>; rel="next"')
        self.assertNotIn("link", self.ask("/api/models?limit=3", headers=mine)[1])
        self.upstream_says("GET /api/models", 307, Location=f"{elsewhere.address}/api/models/{BIG}/revision/main")
        status, headers, _ = self.ask(f"/api/models/{BIG}", headers=mine)
        self.assertEqual((status, headers.get("location")), (200, None))
        seen = elsewhere.control("log")
        self.assertEqual([entry["authorization"] for entry in seen], [False] * len(seen))
        self.assertTrue(seen)

    def test_what_upstream_sends_is_no_page_of_this_origin(self):
        self.upstream_says("GET /api/models", body="<script>", Content_Type="text/html", Set_Cookie="a=b",
                           Access_Control_Allow_Origin="*")
        _, headers, _ = self.ask("/api/models?limit=2")
        self.assertEqual((headers["x-content-type-options"], headers["content-security-policy"]),
                         ("nosniff", "default-src 'none'; sandbox"))
        self.assertFalse({"set-cookie", "access-control-allow-origin"} & set(headers))
        # Headers without end.
        self.upstream_says("GET /api/models", 500, X_Error_Message="x" * 60_000)
        self.assertEqual(self.ask("/api/models?limit=1")[0], 502)
        self.assertEqual(self.ask("/health")[0], 200)

    def test_a_wrong_size_never_becomes_a_file(self):
        commit = json.loads(self.ask(f"/api/models/{BIG}/revision/main")[2])["sha"]
        digest = hashlib.sha256(self.big()).hexdigest()
        entry = {"type": "file", "path": "weights.bin", "size": BIG_BYTES + 5, "oid": "1" * 40,
                 "lfs": {"oid": digest, "size": BIG_BYTES + 5, "pointerSize": 134}}
        self.upstream_says(f"GET /api/models/{BIG}/tree", body=[entry])
        try:
            status, _, body = self.ask(f"/{BIG}/resolve/{commit}/weights.bin")
            self.assertEqual(status, 502, body[:80])
        except http.client.IncompleteRead:
            pass
        until(lambda: self.mirror.metrics()["hub_fetches_in_flight"] == 0, "the fetch ends")
        self.assertEqual([p for p in self.mirror.cache.rglob("blobs/*") if not p.name.endswith(".incomplete")], [])

    def test_many_ranges_are_one_answer(self):
        path = f"/{ODD}/resolve/main/weights.bin"
        whole = (self.root / ODD / "weights.bin").read_bytes()
        for ranges in ["bytes=" + ",".join(f"{n}-{n}" for n in range(700)), "bytes=5-2", "lines=1-2", "bytes=--1"]:
            status, _, body = self.ask(path, headers={"Range": ranges})
            self.assertEqual((status, body), (200, whole), ranges[:20])
        status, headers, _ = self.ask(path, headers={"Range": f"bytes={10 ** 30}-"})
        self.assertEqual((status, headers["content-range"]), (416, f"bytes */{len(whole)}"))


class Names(MirrorTest):
    def test_a_pull_request_by_its_escaped_name(self):
        (self.root / f"{BIG}@pr1").mkdir()
        (self.root / f"{BIG}@pr1" / "config.json").write_text("of the request")
        self.restart_upstream()
        for path in [f"/{BIG}/resolve/refs%2Fpr%2F1/config.json", f"/{BIG}/resolve/refs/pr/1/config.json"]:
            self.assertEqual(self.ask(path)[2], b"of the request", path)
        paths = {e["path"] for e in json.loads(self.ask(f"/api/models/{BIG}/tree/refs%2Fpr%2F1")[2])}
        self.assertEqual(paths, {"config.json"})

    def test_an_id_without_an_owner(self):
        single = self.home / "models"
        (single / "single").mkdir(parents=True)
        (single / "single" / "config.json").write_text("{}")
        server = HubServe(single, self.home / "served")
        self.addCleanup(server.stop)
        self.mirror.stop()
        self.mirror = Mirror(server.address, self.home)
        self.addCleanup(self.mirror.stop)
        self.assertEqual(self.ask("/single/resolve/main/config.json")[2], b"{}")
        self.assertEqual(json.loads(self.ask("/api/models/single")[2])["id"], "single")
        self.assertEqual([e["path"] for e in json.loads(self.ask("/api/models/single/tree/main")[2])], ["config.json"])


class Registry(MirrorTest):
    """What `ollama pull HOST/org/name:QUANT` asks for, in its order, without a token."""

    model = "hub-demo/for-ollama"

    def setUp(self):
        super().setUp()
        self.weights = random.Random(2).randbytes(3 << 20)
        folder = self.root / self.model
        folder.mkdir()
        for name, content in {"tiny.Q4_K_M.gguf": self.weights, "tiny.Q8_0.gguf": b"other" * 300_000,
                              "mmproj-tiny.gguf": b"eye" * 400_000, "template": b"{{ .Prompt }}",
                              "system": b"Be brief.", "params": b'{"stop":["x"]}'}.items():
            (folder / name).write_bytes(content)
        self.restart_upstream()

    def pull(self, tag, mirror=None):
        """The layers by media type, each checked, fetched in two parts."""
        status, _, body = self.ask(f"/v2/{self.model}/manifests/{tag}", mirror=mirror)
        self.assertEqual(status, 200, body)
        manifest = json.loads(body)
        layers = {}
        for layer in [manifest["config"]] + manifest["layers"]:
            path, size = f"/v2/{self.model}/blobs/{layer['digest']}", layer["size"]
            status, headers, _ = self.ask(path, "HEAD", mirror=mirror)
            self.assertEqual((status, int(headers["content-length"])), (200, size))
            status, headers, whole = self.ask(path, mirror=mirror)
            self.assertEqual((status, headers["location"].endswith(path)), (200, True))
            half = size // 2
            parts = [self.ask(path, headers={"Range": f"bytes={a}-{b}"}, mirror=mirror)
                     for a, b in [(0, half - 1), (half, size - 1)]]
            self.assertEqual([part[0] for part in parts], [206, 206])
            content = parts[0][2] + parts[1][2]
            self.assertEqual(content, whole)
            self.assertEqual(layer["digest"], "sha256:" + hashlib.sha256(content).hexdigest())
            layers[layer["mediaType"].rsplit(".", 1)[-1]] = content
        return layers

    def test_a_quantisation_is_pulled_with_its_texts(self):
        layers = self.pull("q4_k_m")
        self.assertEqual(layers["model"], self.weights)
        self.assertEqual((layers["template"], layers["system"]), (b"{{ .Prompt }}", b"Be brief."))
        self.assertEqual(layers["projector"], b"eye" * 400_000)
        self.assertEqual(self.pull("latest")["model"], self.weights)
        self.assertEqual(self.pull("tiny.Q8_0.gguf")["model"], b"other" * 300_000)
        self.assertEqual(json.loads(layers["v1+json"])["model_format"], "gguf")
        status, _, body = self.ask(f"/v2/{self.model}/manifests/Q3_K_S")
        self.assertEqual((status, b"Q3_K_S" in body), (404, True))
        # Each content came once, and all of it is there without the Hub.
        self.upstream.stop()
        self.mirror.stop()
        self.assertEqual(self.pull("q4_k_m", self.start_mirror("--offline"))["model"], self.weights)

    def test_the_hubs_own_manifest_is_passed_on(self):
        text = b"a template of the Hub"
        digest = "sha256:" + hashlib.sha256(text).hexdigest()
        weights = "sha256:" + hashlib.sha256(self.weights).hexdigest()
        manifest = {"schemaVersion": 2, "config": {"mediaType": "x", "digest": digest, "size": len(text)},
                    "layers": [{"mediaType": "model", "digest": weights, "size": len(self.weights)}]}
        self.upstream.control("faults", [
            {"match": "GET /v2/.*/manifests/Q4_K_M", "kind": "status", "status": 200, "body": json.dumps(manifest)},
            {"match": f"GET /v2/.*/blobs/{digest}", "kind": "status", "status": 200, "body": "another content"},
            {"match": f"GET /v2/.*/blobs/{digest}", "kind": "status", "status": 200, "body": text.decode()}])
        # What does not have its digest is not passed on.
        self.assertEqual(json.loads(self.ask(f"/v2/{self.model}/manifests/Q4_K_M")[2]), manifest)
        self.assertEqual(self.ask(f"/v2/{self.model}/blobs/{digest}")[0], 502)
        self.assertEqual(self.pull("Q4_K_M"), {"x": text, "model": self.weights})
        self.assertEqual(self.ask(f"/v2/{self.model}/blobs/sha256:{'0' * 64}")[0], 404)


class Revisions(MirrorTest):
    flags = ("--ttl", "1s")

    def test_a_branch_that_moves_is_seen_and_the_old_commit_stays(self):
        old = json.loads(self.ask(f"/api/models/{BIG}/revision/main")[2])["sha"]
        self.assertEqual(self.ask(f"/{BIG}/resolve/main/config.json")[2], b'{"model_type":"tiny"}\n')
        (self.root / BIG / "config.json").write_text('{"model_type":"new"}\n')
        self.restart_upstream()

        def moved():
            status, headers, body = self.ask(f"/{BIG}/resolve/main/config.json")
            return status == 200 and body == b'{"model_type":"new"}\n' and headers
        headers = until(moved, "the new commit is served")
        self.assertNotEqual(headers["x-repo-commit"], old)
        self.assertEqual(self.ask(f"/{BIG}/resolve/{old}/config.json")[2], b'{"model_type":"tiny"}\n')

    def test_head_and_get_agree(self):
        for model, name in [(BIG, "weights.bin"), (BIG, "config.json"), (ODD, "empty.txt")]:
            for _ in range(2):  # cold and warm
                _, head, _ = self.ask(f"/{model}/resolve/main/{name}", "HEAD")
                _, got, body = self.ask(f"/{model}/resolve/main/{name}")
                for field in ["content-length", "etag", "x-repo-commit", "accept-ranges", "content-type"]:
                    self.assertEqual(head[field], got[field], (name, field))
                self.assertEqual(head.get("x-linked-size"), got.get("x-linked-size"))
                self.assertEqual(int(head["content-length"]), len(body))

    def test_what_is_missing_is_missing_here_too(self):
        for path, code in [(f"/{BIG}/resolve/main/nothing.txt", "EntryNotFound"),
                           (f"/{BIG}/resolve/nowhere/config.json", "RevisionNotFound"),
                           (f"/api/models/{BIG}/tree/main/nothing", "EntryNotFound")]:
            status, headers, _ = self.ask(path)
            self.assertEqual((status, headers["x-error-code"]), (404, code), path)
        status, headers, _ = self.ask("/hub-demo/none/resolve/main/config.json")
        self.assertEqual((status, headers["x-error-code"]), (401, "RepoNotFound"))


class Away(MirrorTest):
    flags = ("--ttl", "0s")

    def test_what_is_known_is_served_with_a_warning(self):
        self.box.snapshot(BIG)
        self.ask("/api/models?search=big")
        self.ask(f"/{BIG}/resolve/main/nothing.txt")
        self.upstream.stop()
        began = time.monotonic()
        for path, expected in [(f"/{BIG}/resolve/main/config.json", 200), (f"/api/models/{BIG}/revision/main", 200),
                               ("/api/models?search=big", 200)]:
            status, headers, _ = self.ask(path)
            self.assertEqual(status, expected, path)
            self.assertIn("Revalidation Failed", headers["warning"], path)
        self.assertEqual(self.ask(f"/{BIG}/resolve/main/nothing.txt")[0], 404)
        self.assertEqual(self.ask(f"/{MODELS[0]}/resolve/main/config.json")[0], 504)
        self.assertLess(time.monotonic() - began, 5)
        self.assertIn("upstream is away", self.mirror.messages())
        self.assertEqual(contents(self.another_box().snapshot(BIG)), contents(self.root / BIG))

    def test_offline_serves_the_cache_alone(self):
        self.box.snapshot(BIG)
        self.mirror.stop()
        self.upstream.forget()
        offline = self.start_mirror("--offline")
        self.mirror = offline
        self.assertEqual(contents(self.another_box().snapshot(BIG)), contents(self.root / BIG))
        self.assertEqual(self.ask(f"/{ODD}/resolve/main/config.json")[0], 504)
        self.assertEqual(self.upstream.control("log"), [])

    def test_a_limit_of_the_hub_is_passed_on(self):
        self.upstream.control("faults", [
            {"match": "/api/models/", "kind": "status", "status": 429, "headers": {"Retry-After": "77"}, "times": -1}])
        status, headers, _ = self.ask(f"/api/models/{BIG}/revision/main")
        self.assertEqual((status, headers["retry-after"]), (429, "77"))


class Gates(MirrorTest):
    hub_flags = ("--token", TOKEN)
    flags = ("--auth", "forward")
    path = f"/{GATED}/resolve/main/config.json"

    def test_a_gated_file_is_only_for_who_may_have_it(self):
        mine = {"Authorization": f"Bearer {TOKEN}"}
        self.assertEqual(self.ask(self.path, headers=mine)[0], 200)
        status, headers, _ = self.ask(self.path)
        self.assertEqual((status, headers["x-error-code"]), (401, "GatedRepo"))
        self.assertEqual(self.ask(self.path, headers={"Authorization": "Bearer hf_other"})[0], 401)
        self.assertEqual(self.ask(self.path, headers=mine)[0], 200)
        # What is open needs nobody's token.
        self.assertEqual(self.ask(f"/{BIG}/resolve/main/config.json")[0], 200)

    def test_each_client_sees_what_its_own_token_may(self):
        mine, other = "hf_" + "m" * 34, "hf_" + "o" * 34
        self.upstream.control("known", [mine, other])
        self.upstream.control("entitled", [mine])

        def status(token):
            status, headers, _ = self.ask(self.path, headers={"Authorization": f"Bearer {token}"})
            return status, headers.get("x-error-code")
        self.assertEqual(status(mine), (200, None))
        self.assertEqual(status(other), (403, "GatedRepo"))
        # A refusal is not remembered.
        self.upstream.control("entitled", [mine, other])
        self.assertEqual(status(other), (200, None))
        # A grant is forgotten after a minute, or here with a new process; then it is asked for anew.
        self.upstream.control("entitled", [other])
        self.mirror.stop()
        self.mirror = self.start_mirror(*self.flags)
        self.assertEqual(status(mine), (403, "GatedRepo"))
        self.assertEqual(status(other), (200, None))

    def test_nothing_gated_is_served_while_access_cannot_be_checked(self):
        self.assertEqual(self.ask(self.path, headers={"Authorization": f"Bearer {TOKEN}"})[0], 200)
        self.upstream.stop()
        self.assertNotEqual(self.ask(self.path)[0], 200)


class DiskFull(MirrorTest):
    """The cache is on a disk of 16 MB."""

    def start_mirror(self, *flags, **variables):
        disk = self.home / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], capture_output=True)
        if mounted.returncode:
            self.skipTest("needs the right to mount a disk")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
        return super().start_mirror(*flags, HF_HUB_CACHE=str(disk), **variables)

    def test_clients_fail_cleanly_and_small_files_still_pass(self):
        path = f"/{BIG}/resolve/main/weights.bin"
        status, _, body = self.ask(path)
        self.assertEqual((status, b"error" in body), (507, True))
        with self.assertRaises(AssertionError):
            self.box.python(f"h.hf_hub_download({BIG!r}, 'weights.bin')")
        self.assertEqual(self.ask(f"/{BIG}/resolve/main/config.json")[0], 200)
        self.assertEqual(self.ask(f"/{ODD}/resolve/main/weights.bin")[2], (self.root / ODD / "weights.bin").read_bytes())
        blobs = [blob for blob in (self.home / "disk").rglob("blobs/*") if not blob.name.endswith(".incomplete")]
        sizes = {(self.root / BIG / "config.json").stat().st_size, (self.root / ODD / "weights.bin").stat().st_size}
        self.assertEqual({blob.stat().st_size for blob in blobs}, sizes)

    def test_a_disk_that_fills_up_while_a_file_comes_ends_the_body_short(self):
        (self.home / "disk" / "other").write_bytes(bytes(1 << 20))
        many = self.root / "hub-demo" / "two"
        many.mkdir()
        for number in range(2):
            (many / f"{number}.bin").write_bytes(random.Random(number).randbytes(10 << 20))
        self.restart_upstream()
        self.upstream.control("faults", [{"match": "GET /hub-demo/two", "kind": "trickle", "rate": 8 << 20, "times": -1}])
        results = {}

        def get(number):
            try:
                results[number] = self.ask(f"/hub-demo/two/resolve/main/{number}.bin")
            except http.client.IncompleteRead:
                results[number] = None
        threads = [threading.Thread(target=get, args=(number,)) for number in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        whole = [number for number, result in results.items() if result and result[0] == 200]
        self.assertLessEqual(len(whole), 1)
        for number in whole:
            self.assertEqual(results[number][2], (many / f"{number}.bin").read_bytes())
        for result in results.values():
            self.assertIn(result and result[0], [None, 200, 507])
        for blob in (self.home / "disk").rglob("blobs/*"):
            if not blob.name.endswith(".incomplete"):
                self.assertEqual(blob.stat().st_size, 10 << 20)


class Own(MirrorTest):
    hub_flags = ("--token", TOKEN)
    flags = ("--auth", "own")
    variables = {"HUB_SERVE_TOKEN": "the-teams-token", "HF_TOKEN": TOKEN}

    def test_clients_need_the_mirrors_token_and_upstream_gets_this_machines(self):
        self.assertEqual(self.ask(Gates.path)[0], 401)
        self.assertEqual(self.ask(Gates.path, headers={"Authorization": f"Bearer {TOKEN}"})[0], 401)
        self.assertEqual(self.upstream.control("log"), [])
        self.box.env["HF_TOKEN"] = "the-teams-token"
        path = self.box.python(f"h.hf_hub_download({GATED!r}, 'config.json')")
        self.assertEqual(Path(path).read_text(), '{"model_type":"secret"}\n')
        self.assertEqual(self.ask("/health")[0], 200)


    def test_the_account_of_the_mirror_is_not_for_its_clients(self):
        headers = {"Authorization": "Bearer the-teams-token"}
        for path in ["/api/whoami-v2/x", "/api/settings/tokens", "/api/organizations/o/members",
                     f"/api/models/{GATED}/settings", f"/api/models/{GATED}/xet-read-token/main", "/settings/tokens"]:
            self.assertEqual(self.ask(path, headers=headers)[0], 404, path)
        self.assertEqual(self.upstream.control("log"), [])
        self.assertNotIn(b"sim@example.com", self.ask("/api/whoami-v2", headers=headers)[2])


class Anonymous(MirrorTest):
    hub_flags = ("--token", TOKEN)
    variables = {"HF_TOKEN": TOKEN}

    def test_without_tokens_nothing_gated_comes_through(self):
        self.assertEqual(self.ask(Gates.path, headers={"Authorization": f"Bearer {TOKEN}"})[0], 401)
        self.assertFalse([entry for entry in self.upstream.control("log") if entry["authorization"]])


class Running(MirrorTest):
    def test_the_cache_stays_within_its_limit_and_pins_stay(self):
        self.mirror.stop()
        self.mirror = self.start_mirror("--max-size", "10MB")
        self.ask(f"/{ODD}/resolve/main/weights.bin")
        env = dict(self.box.env) | {"HOME": str(self.home), "HF_HOME": str(self.home / "huggingface"),
                                    "HUB_HOME": str(self.home / "state")}
        subprocess.run([HUB, "pin", ODD], env=env, check=True, capture_output=True)
        self.assertEqual(len(self.ask(f"/{BIG}/resolve/main/weights.bin")[2]), BIG_BYTES)
        until(lambda: self.mirror.metrics()["hub_evicted_bytes_total"] >= BIG_BYTES, "the big model goes")
        self.upstream.forget()
        self.assertEqual(self.ask(f"/{ODD}/resolve/main/weights.bin")[0], 200)
        self.assertEqual(self.sent(), 0)

    def test_a_stop_finishes_answers(self):
        self.upstream.control("faults", [{"match": "weights", "kind": "trickle", "rate": 4 << 20, "times": -1}])
        connection = http.client.HTTPConnection(self.mirror.address.removeprefix("http://"))
        connection.request("GET", f"/{BIG}/resolve/main/weights.bin")
        answer = connection.getresponse()
        head = answer.read(100_000)
        self.mirror.process.send_signal(signal.SIGTERM)
        self.assertEqual(head + answer.read(), self.big())
        self.assertEqual(self.mirror.process.wait(60), 0)

    def test_a_socket_of_systemd_is_taken_over(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(16)
            port = listener.getsockname()[1]
            script = 'exec 3<&"$1"; export LISTEN_PID=$$ LISTEN_FDS=1; shift; exec "$@"'
            process = subprocess.Popen(
                ["bash", "-c", script, "bash", str(listener.fileno()), HUB, "serve", "--offline"],
                pass_fds=[listener.fileno()], env=self.box.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline().strip(), f"http://127.0.0.1:{port}")
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def test_status_says_what_the_server_has_done(self):
        self.ask(f"/{BIG}/resolve/main/weights.bin")
        self.ask(f"/{BIG}/resolve/main/weights.bin")
        report = self.box.hub("serve", "status", self.mirror.address)
        self.assertEqual(report["status"], "ok")
        self.assertEqual(report["metrics"]["hub_cache_miss_bytes_total"], BIG_BYTES)
        self.assertEqual(report["metrics"]["hub_cache_hit_bytes_total"], BIG_BYTES)
        self.assertEqual(report["metrics"]["hub_fetches_in_flight"], 0)

    def test_another_host_name_is_refused_unless_it_is_allowed(self):
        self.assertEqual(self.ask("/health", headers={"Host": "evil.test"})[0], 421)
        self.mirror.stop()
        self.mirror = self.start_mirror("--allow-host", "mirror.test")
        self.assertEqual(self.ask("/health", headers={"Host": "mirror.test:80"})[0], 200)

    def test_what_a_proxy_says_counts_only_if_it_is_named(self):
        said = {"X-Forwarded-For": "203.0.113.9, 10.1.2.3", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "mirror.test"}
        said["Authorization"] = "Bearer the-teams-token"
        path = "/api/models?limit=1"
        self.assertIn(self.mirror.address, self.ask(path, headers=said)[1]["link"])
        self.mirror.stop()
        log = self.home / "log"
        self.mirror = self.start_mirror("--trust-proxy", "127.0.0.1", "--trust-proxy", "10.0.0.0/8", "--log", str(log),
                                        "--allow-host", "mirror.test", "--auth", "own", HUB_SERVE_TOKEN="the-teams-token")
        self.assertTrue(self.ask(path, headers=said)[1]["link"].startswith("<https://mirror.test/api/models?"))
        self.assertEqual(self.ask(path, headers=said | {"X-Forwarded-Host": "evil.test"})[0], 421)
        self.assertEqual([line.split(" ")[1] for line in log.read_text().splitlines()], ["203.0.113.9"] * 2)

    def test_the_metrics_are_those_of_the_contract(self):
        self.ask(f"/{BIG}/resolve/main/weights.bin")
        until(lambda: self.mirror.metrics()["hub_fetches_in_flight"] == 0, "the fetch ends")
        metrics = self.mirror.metrics()
        self.assertTrue(BIG_BYTES <= metrics["hub_disk_bytes"] < BIG_BYTES + 1000)
        self.assertGreaterEqual(metrics["hub_upstream_bytes_total"], BIG_BYTES)
        self.assertEqual(metrics["hub_upstream_errors_total"], 0)
        self.assertEqual(metrics['hub_http_requests_total{route="resolve",code="200"}'], 1)
        for name in ["process_cpu_seconds_total", "process_start_time_seconds", "process_resident_memory_bytes",
                     "process_virtual_memory_bytes", "process_open_fds", "process_max_fds"]:
            self.assertGreater(metrics[name], 0, name)

    def test_a_file_above_50_gb_is_on_a_second_server(self):
        size = 50_000_000_001
        folder = self.mirror.cache / "models--hub-demo--huge"
        commit, digest = "c" * 40, "d" * 64
        (folder / "blobs").mkdir(parents=True)
        (folder / "snapshots" / commit).mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)
        with open(folder / "blobs" / digest, "wb") as blob:
            blob.truncate(size)
        os.symlink(f"../../blobs/{digest}", folder / "snapshots" / commit / "huge.bin")
        self.mirror.stop()
        self.mirror = self.start_mirror("--offline")
        status, headers, _ = self.ask(f"/hub-demo/huge/resolve/main/huge.bin", "HEAD")
        self.assertEqual(status, 302)
        self.assertNotIn("x-linked-size", headers)
        self.assertEqual(headers["x-repo-commit"], commit)
        there = urllib.parse.urlsplit(headers["location"])
        self.assertNotEqual(there.netloc, self.mirror.address.removeprefix("http://"))
        connection = http.client.HTTPConnection(there.netloc)
        connection.request("GET", there.path, headers={"Range": f"bytes={size - 4}-"})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()), (206, bytes(4)))
        connection.request("GET", "/" + "0" * 32)
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()


class Kills(MirrorTest):
    """kill -9 at random moments while clients fetch; they try again until they have everything. scripts/soak kills it 200 times."""

    kills = int(os.environ.get("HUB_MIRROR_KILLS", "2"))
    hub_flags = ("--total-rate", "12000000", "--sndbuf", "65536")

    def setUp(self):
        super().setUp()
        chance = random.Random(3)
        self.files = {}
        for number in range(4 + self.kills * 3 // 2):
            folder = self.root / "kills" / f"model-{number}"
            folder.mkdir(parents=True)
            for name, size in [("weights.bin", 4 << 20), ("config.json", 500)]:
                (folder / name).write_bytes(chance.randbytes(size))
                self.files[f"/kills/{folder.name}/resolve/main/{name}"] = folder / name
        self.restart_upstream(*self.hub_flags)

    def client(self, seed, found):
        """Fetches everything in an order of its own, as a client that goes on where it was cut off."""
        address = self.mirror.address.removeprefix("http://")
        paths = sorted(self.files)
        random.Random(seed).shuffle(paths)
        for path in paths:
            size, have = self.files[path].stat().st_size, b""
            while len(have) < size:
                connection = http.client.HTTPConnection(address, timeout=60)
                try:
                    connection.request("GET", path, headers={"Range": f"bytes={len(have)}-"} if have else {})
                    answer = connection.getresponse()
                    if answer.status == 200:
                        have = b""
                    if answer.status in (200, 206):
                        while block := answer.read1(65_536):
                            have += block
                        if len(have) < size:
                            self.cut += 1
                except (OSError, http.client.HTTPException):
                    time.sleep(0.02)
                finally:
                    connection.close()
            found.append((path, hashlib.sha256(have).hexdigest()))

    def test_clients_end_with_verified_files_and_nothing_is_left_over(self):
        seed = int(os.environ.get("HUB_SOAK_SEED", "0")) or random.randrange(1, 1_000_000)
        chance = random.Random(seed)
        port = self.mirror.address.rsplit(":", 1)[1]
        self.cut, found = 0, [[] for _ in range(4)]
        threads = [threading.Thread(target=self.client, args=(seed + n, found[n])) for n in range(4)]
        [thread.start() for thread in threads]
        in_time = 0
        for _ in range(self.kills):
            time.sleep(chance.uniform(0, 0.5))
            in_time += any(thread.is_alive() for thread in threads)
            self.mirror.kill()
            self.mirror = self.start_mirror("--port", port)
        [thread.join() for thread in threads]
        until(lambda: self.mirror.metrics()["hub_fetches_in_flight"] == 0, "the fetches end")
        self.assertEqual(in_time, self.kills, f"seed {seed}: the work was over before the last kill")
        right = {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in self.files.items()}
        for one in found:
            self.assertEqual(dict(one), right, f"seed {seed}")
        # What had reached the disk was not fetched again.
        again = self.sent() - sum(file.stat().st_size for file in self.files.values() if file.name == "weights.bin")
        self.assertLessEqual(again, self.kills * (16 << 20))
        self.assert_no_partials()
        env = dict(self.box.env) | {"HOME": str(self.home), "HF_HOME": str(self.home / "huggingface"),
                                    "HUB_HOME": str(self.home / "state")}

        def hub(*words):
            ran = subprocess.run([HUB, *words, "--json"], env=env, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            return json.loads(ran.stdout)
        hub("verify")
        self.assertEqual(hub("gc", "--orphans", "--partials", "-n")["plan"], [])
        print(f"\nseed {seed}: {self.kills} kills, {sum(map(len, found))} files whole, {self.cut} answers cut off, "
              f"{again / 2**20:.1f} MiB sent again", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
