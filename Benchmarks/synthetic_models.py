#!/usr/bin/env python3
"""Makes as many models as the Hub has, from real ones: synthetic, always the same for the same seed.

    synthetic_models.py REAL.ndjson.gz COUNT [SEED]

Writes an entry of the Hub's /api/models a line. Each takes everything but its name from one real model, its downloads
and dates moved a little; the name is put together from those of two others, as the names of derived models are.
"""

import datetime
import gzip
import json
import random
import re
import sys


def moved(stamp, seconds):
    time = datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    time += datetime.timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def main():
    source, count = sys.argv[1], int(sys.argv[2])
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with gzip.open(source, "rt") as lines:
        real = [json.loads(line) for line in lines]
    owners = [model["id"].split("/")[0] for model in real]
    names = [re.split(r"(?<=[-_.])", model["id"].split("/")[-1]) for model in real]
    seen = set()
    for number in range(count):
        base = dict(dice.choice(real))
        while True:
            head, tail = dice.choice(names), dice.choice(names)
            name = "".join(head[: dice.randint(1, len(head))] + tail[dice.randint(0, len(tail) - 1) :])
            # The Hub has no name with two marks in a row, nor one that begins or ends with one.
            name = re.sub(r"([-.])[-.]+", r"\1", name)[:90].strip("-_.")
            identifier = dice.choice(owners) + "/" + name
            if name and identifier not in seen:
                break
        seen.add(identifier)
        owner = identifier.split("/")[0]
        base.update(id=identifier, author=owner, downloads=int(base["downloads"] * dice.uniform(0.5, 1.5)))
        shift = dice.randint(-86400 * 300, 0)
        for key in ("lastModified", "createdAt"):
            base[key] = moved(base[key], shift)
        parameters = base.pop("_radar", {}).get("parameters")
        if parameters:
            base["safetensors"] = {"total": parameters}
        print(json.dumps(base, separators=(",", ":")))


if __name__ == "__main__":
    main()
