#!/usr/bin/env python3
"""Writes down what Pillow and PyTorch make of pictures and grids in other sizes.

    python3 -m venv venv
    venv/bin/pip install pillow==12.3.0 numpy==2.4.6 torch==2.13.0
    venv/bin/python scripts/goldens_resizing.py

Writes Tests/Fixtures/goldens/resizing.json. A picture's bytes come from SplitMix64 by a seed, so only digests are kept.
Pillow 13 begins with the height where that shrinks much more than the width, which moves some levels by one; hub begins with the
width always, as Pillow up to 12, pillow-simd and torchvision do.
"""

import base64
import hashlib
import json
import pathlib

import numpy
import torch
from PIL import Image

TARGET = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures/goldens/resizing.json"
torch.set_num_threads(1)


def words(seed, count):
    """Tests/Support/SeededRandom.swift."""
    step = 0x9E3779B97F4A7C15
    start = seed * step % 2**64
    state = numpy.uint64(start) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(step)
    state = (state ^ (state >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return state ^ (state >> numpy.uint64(31))


def picture(seed, width, height):
    levels = (words(seed, 3 * width * height) >> numpy.uint64(56)).astype(numpy.uint8)
    return Image.fromarray(levels.reshape(height, width, 3))


def picture_cases():
    """Small and large, to smaller and larger, square and long, with and without a box."""
    random = numpy.random.default_rng(11)
    sizes = [(1, 1, 5, 7), (1, 9, 3, 3), (2, 2, 1, 1), (640, 480, 224, 224), (97, 61, 97, 20), (97, 61, 31, 61),
             (33, 33, 33, 33), (300, 7, 20, 90), (5, 400, 64, 3), (12, 12, 700, 9)]
    while len(sizes) < 60:
        sizes.append(tuple(int(v) for v in random.integers(1, 120, 4)))
    for number, (width, height, to_width, to_height) in enumerate(sizes):
        for filter in range(6):
            box = None
            if (number + filter) % 3 == 0 and width > 2 and height > 2:
                left, top = random.uniform(0, width / 2), random.uniform(0, height / 2)
                box = [left, top, random.uniform(left + 1, width), random.uniform(top + 1, height)]
            yield number, width, height, to_width, to_height, filter, box


def pictures():
    for seed, width, height, to_width, to_height, filter, box in picture_cases():
        made = picture(seed, width, height).resize((to_width, to_height), filter, box=box)
        digest = hashlib.sha256(made.tobytes()).hexdigest()[:16]
        yield {"seed": seed, "from": [width, height], "to": [to_width, to_height], "filter": filter, "box": box,
               "sha256": digest}


def grids():
    sizes = [(37, 37, 16, 16), (16, 16, 37, 21), (7, 5, 7, 5), (4, 6, 9, 3), (24, 24, 32, 18), (1, 3, 4, 1)]
    for number, (height, width, to_height, to_width) in enumerate(sizes):
        channels = 3
        levels = (words(number, height * width * channels) >> numpy.uint64(40)).astype(numpy.float32) / 2**24 - 0.5
        grid = torch.from_numpy(levels.reshape(1, height, width, channels)).permute(0, 3, 1, 2)
        for mode in ("bilinear", "bicubic"):
            for antialias in (False, True):
                for corners in (False, True):
                    made = torch.nn.functional.interpolate(
                        grid, size=(to_height, to_width), mode=mode, antialias=antialias, align_corners=corners)
                    # Enough of a large one: numbers spread over all of it.
                    values = made[0].permute(1, 2, 0).contiguous().numpy().reshape(-1)[::7]
                    yield {"seed": number, "from": [height, width], "to": [to_height, to_width], "mode": mode,
                           "antialias": antialias, "corners": corners,
                           "every_seventh": base64.b64encode(values.astype("<f4").tobytes()).decode()}


def main():
    goldens = {"made_by": f"Pillow {Image.__version__}, torch {torch.__version__}", "pictures": list(pictures()),
               "grids": list(grids())}
    rows = [f'"{key}": ' + (json.dumps(value) if isinstance(value, str) else
                            "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]")
            for key, value in goldens.items()]
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(len(goldens["pictures"]), len(goldens["grids"]), TARGET.stat().st_size)


if __name__ == "__main__":
    main()
