"""`hub sync` against hubsim: the catalog holds what a plain reading of the Hub's metadata gives, field by field."""

import json
import signal
import sqlite3
import subprocess
import tempfile
import unittest
from datetime import datetime, timezone
from pathlib import Path

from peers import FIXTURES, HUB, Hubsim, PeerTest, until

T0 = FIXTURES / "hub-metadata" / "sync-t0.ndjson"
T1 = FIXTURES / "hub-metadata" / "sync-t1.ndjson"
PAGE = 40


def read(path):
    return {model["id"]: model for model in map(json.loads, path.read_text().splitlines())}


def seconds(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


def plain(model):
    """What the catalog should hold of a line of the file."""
    license = next((tag[len("license:"):] for tag in model["tags"] if tag.startswith("license:")), None)
    return {
        "author": model["author"], "task": model.get("pipeline_tag"), "library": model.get("library_name"),
        "license": license, "downloads": model["downloads"], "likes": model["likes"],
        "trending": model.get("trendingScore"), "used_storage": model.get("usedStorage"),
        "gated": "open" if model.get("gated") is False else None, "created_at": seconds(model["createdAt"]),
        "updated_at": seconds(model["lastModified"]), "tags": model["tags"],
    }


def packed(data):
    """The numbers of a packed list: seven bits a byte, the lowest first, the eighth bit where more follow."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


class Sync(PeerTest):
    def serve(self, models):
        """A Hub of these models; always at the same address, or it would be another Hub."""
        if hasattr(self, "sim"):
            self.sim.stop()
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        port = ["--port", self.address.rsplit(":", 1)[1]] if self.address else []
        self.sim = Hubsim(Path(root.name), "--models", str(models), "--page", str(PAGE), *port)
        self.addCleanup(self.sim.stop)
        self.address = self.box.env["HF_ENDPOINT"] = self.sim.address

    def catalog(self):
        """The models that are there, and the ids of those that are marked as vanished."""
        database = sqlite3.connect(self.box.home / "state" / "catalog.sqlite3")
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        names = dict(database.execute("SELECT tag, name FROM tags").fetchall())
        models, vanished = {}, set()
        for row in database.execute("SELECT * FROM models"):
            if row["vanished_at"] is not None:
                vanished.add(row["id"])
                continue
            model = dict(row)
            for key in ("task", "library", "license"):
                model[key] = names.get(model[key])
            # The empty text stands for the owner in the id.
            if model["author"] == "":
                model["author"] = model["id"].split("/")[0]
            model["tags"] = [names[number] for number in packed(row["tags"] or b"")]
            keys = plain(next(iter(read(T1).values()))) if not models else next(iter(models.values()))
            models[row["id"]] = {key: model[key] for key in keys}
        return models, vanished

    def expect(self, models, vanished=frozenset()):
        there, gone = self.catalog()
        self.assertEqual(there, {model: plain(entry) for model, entry in models.items()})
        self.assertEqual(gone, vanished)

    def figures(self, document):
        return tuple(document[key] for key in ("models_seen", "added", "changed", "unchanged", "vanished", "complete"))

    def test_three_days_of_the_hub(self):
        old, new = read(T0), read(T1)
        self.serve(T0)
        self.assertEqual(self.figures(self.box.hub("sync", "--all")), (192, 192, 0, 0, 0, True))
        self.expect(old)
        self.serve(T1)
        self.assertEqual(self.figures(self.box.hub("sync", "--all")), (233, 81, 111, 41, 40, True))
        self.expect(new, old.keys() - new.keys())
        self.serve(T0)
        back = self.box.hub("sync", "--all")
        # What came back counts as changed.
        self.assertEqual(self.figures(back), (192, 0, 151, 41, 81, True))
        self.expect(old, new.keys() - old.keys())

    def test_the_short_way_stops_at_what_is_known(self):
        self.serve(T0)
        self.assertEqual(self.figures(self.box.hub("sync")), (192, 192, 0, 0, 0, True))
        self.expect(read(T0))
        self.serve(T1)
        short = self.box.hub("sync")
        self.assertTrue(short["complete"])
        self.assertEqual(short["pages"], 3)
        newest = max(model["lastModified"] for model in read(T0).values())
        there, gone = self.catalog()
        self.assertEqual(gone, set())
        for name, model in read(T1).items():
            if model["lastModified"] >= newest:
                self.assertEqual(there[name], plain(model))
        self.assertEqual(self.box.hub("sync")["pages"], 1)

    def test_kills_lose_nothing(self):
        self.serve(T1)
        for page in range(1, 5):
            self.sim.forget()
            # Page after page, one each time: the next is held until hub is killed.
            self.sim.control("faults", [
                {"match": "^GET /api/models", "kind": "delay", "seconds": 0, "times": 2 if page == 1 else 1},
                {"match": "^GET /api/models", "kind": "delay", "seconds": 600, "times": -1}])
            expected = 3 if page == 1 else 2
            sync = self.start([HUB, "sync", "--all"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: len(self.sim.control("log")) == expected, "the request for the next page")
            sync.send_signal(signal.SIGKILL)
            sync.wait()
            self.assertEqual(len(self.catalog()[0]), PAGE * page)
        self.sim.forget()
        last = self.box.hub("sync", "--all")
        self.assertEqual((last["complete"], last["pages"], last["vanished"]), (True, 2, 0))
        self.expect(read(T1))


if __name__ == "__main__":
    unittest.main()
