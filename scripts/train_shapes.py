#!/usr/bin/env python3
"""Trains the small detector of Tests/Fixtures/shapes-detector: discs, squares and triangles on plain ground.

Usage: train_shapes.py [--steps N] [--folder PATH] [--state FILE]   (torch, transformers, scipy, pillow; one thread, about an hour)

With --state, all that training needs is kept in FILE every 50 steps, and a run that was ended goes on from there.

The model is a YOLOS of 0.6 million parameters that sees 96 pixels of the longer side. Pictures are drawn at three times the size
and made smaller as the processor does it. Everything is seeded, and one thread computes it, so a second run on the same
machine and versions gives the same weights.

YOLOS of transformers begins with detection tokens and positions of zero; then all tokens stay alike and nothing is
learnt, so they begin at random here.
"""
import argparse
import json
import math
import pathlib
import random
import time

import numpy
import torch
from PIL import Image, ImageDraw

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; nothing here needs it, but it registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        try:
            operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessor

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ("disc", "square", "triangle")
COLOURS = ((220, 40, 40), (40, 70, 220), (40, 170, 70), (230, 160, 20), (130, 60, 160))
SIDE, FINE = 96, 3
#: Width and height of pictures. The processor makes whole multiples of 16 of them.
FORMS = ((96, 96), (96, 96), (96, 72), (72, 96), (96, 64))


def scene(width, height, source, fine=FINE):
    """A picture of one to three shapes, and (label, x, y, side) of each in pixels of `width` by `height`."""
    ground = tuple(min(255, source.randint(170, 250) + source.randint(-5, 5)) for _ in range(1)) * 3
    picture = Image.new("RGB", (width * fine, height * fine), ground)
    draw = ImageDraw.Draw(picture)
    shapes = []
    for _ in range(source.randint(1, 3)):
        for _ in range(30):
            side = source.uniform(14, 36)
            x, y = source.uniform(0, width - side - 1), source.uniform(0, height - side - 1)
            if all(x + side < a or a + s < x or y + side < b or b + s < y for _, a, b, s in shapes):
                break
        else:
            continue
        label = source.randrange(3)
        colour = tuple(min(255, max(0, c + source.randint(-25, 25))) for c in source.choice(COLOURS))
        left, top, right, bottom = (round(v * fine) for v in (x, y, x + side, y + side))
        if label == 0:
            draw.ellipse((left, top, right, bottom), fill=colour)
        elif label == 1:
            draw.rectangle((left, top, right, bottom), fill=colour)
        else:
            draw.polygon(((left, bottom), (right, bottom), ((left + right) / 2, top)), fill=colour)
        shapes.append((label, left / fine, top / fine, (right - left) / fine))
    return picture, shapes


def sample(width, height, source):
    picture, shapes = scene(width, height, source)
    small = picture.resize((width // 16 * 16, height // 16 * 16), Image.BILINEAR)
    values = (torch.from_numpy(numpy.array(small)).permute(2, 0, 1).float() / 255 - 0.5) / 0.5
    boxes = [[(x + s / 2) / width, (y + s / 2) / height, s / width, s / height] for _, x, y, s in shapes]
    return values, {"class_labels": torch.tensor([s[0] for s in shapes]), "boxes": torch.tensor(boxes)}


def overlap(p, b):
    low, high = torch.max(p[:2] - p[2:] / 2, b[:2] - b[2:] / 2), torch.min(p[:2] + p[2:] / 2, b[:2] + b[2:] / 2)
    shared = (high - low).clamp(min=0).prod()
    return float(shared / (p[2] * p[3] + b[2] * b[3] - shared))


def evaluate(model, seed, count):
    """The share of pictures that are wholly right, and the mean overlap of all shapes, on pictures not trained on."""
    source = random.Random(seed)
    model.eval()
    right, overlaps = 0, []
    for turn in range(count):
        values, truth = sample(*FORMS[turn % len(FORMS)], source)
        with torch.no_grad():
            output = model(pixel_values=values[None])
        scores = output.logits[0].softmax(-1)[:, :-1]
        found = [(int(s.argmax()), b) for s, b in zip(scores, output.pred_boxes[0]) if s.max() > 0.5]
        best = [
            max([overlap(p, b) for l, p in found if l == int(c)], default=0.0)
            for c, b in zip(truth["class_labels"], truth["boxes"])
        ]
        overlaps += best
        right += len(found) == len(best) and min(best) > 0.5
    model.train()
    return round(right / count, 3), round(sum(overlaps) / len(overlaps), 3)


def build():
    names = dict(enumerate(NAMES))
    config = YolosConfig(
        hidden_size=96, num_hidden_layers=6, num_attention_heads=4, intermediate_size=256, image_size=[SIDE, SIDE],
        patch_size=8, num_detection_tokens=8, id2label=names, label2id={v: k for k, v in names.items()},
        use_mid_position_embeddings=False, auxiliary_loss=False,
    )
    model = YolosForObjectDetection(config)
    rows = model.vit.embeddings
    for parameter in (rows.position_embeddings, rows.detection_tokens, rows.cls_token):
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def rate(step, steps):
    return 1e-3 * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))


CARD = """---
library_name: transformers
pipeline_tag: object-detection
license: apache-2.0
tags: [object-detection]
---
# Shapes

A detector of discs, squares and triangles on plain ground: YOLOS with 6 layers of 96, {parameters} parameters, trained
from random weights by `scripts/train_shapes.py` ({steps} steps, seed 0) on pictures that it draws. On {count} pictures that it was not
trained on, {right:.0%} are wholly right at a threshold of 0.5, and the mean overlap of a shape with its box is {overlap:.2f}.

No picture and no weights of anybody else went into it.
"""


def save(model, folder, steps, right, mean, count):
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    half = [0.5] * 3
    YolosImageProcessor(
        size={"shortest_edge": SIDE, "longest_edge": SIDE}, image_mean=half, image_std=half
    ).save_pretrained(folder)
    parameters = f"{sum(p.numel() for p in model.parameters()):,}"
    card = CARD.format(parameters=parameters, steps=steps, right=right, overlap=mean, count=count)
    (folder / "README.md").write_text(card)


def examples(folder):
    """Two pictures of shapes, with what is on them in pixels."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed, (width, height) in (("shapes", 11, (96, 64)), ("shapes-tall", 23, (72, 96))):
        source = random.Random(seed)
        picture, shapes = scene(width, height, source, fine=5)
        while len(shapes) < 3 or len({s[0] for s in shapes}) < 3:
            picture, shapes = scene(width, height, source, fine=5)
        picture.save(folder / f"{name}.png", optimize=True)
        said = [{"label": NAMES[l], "box": [5 * x, 5 * y, 5 * (x + s), 5 * (y + s)]} for l, x, y, s in shapes]
        (folder / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "Tests/Fixtures/shapes-detector")
    parser.add_argument("--state", type=pathlib.Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    source = random.Random(0)
    examples(given.folder / "examples")
    model = build()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    began, first = time.time(), 0
    if given.state and given.state.exists():
        kept = torch.load(given.state, weights_only=False)
        model.load_state_dict(kept["model"])
        optimiser.load_state_dict(kept["optimiser"])
        source.setstate(kept["source"])
        first = kept["step"]
    for step in range(first, given.steps):
        for group in optimiser.param_groups:
            group["lr"] = rate(step, given.steps)
        form = FORMS[step % len(FORMS)]
        batch = [sample(*form, source) for _ in range(32)]
        loss = model(pixel_values=torch.stack([v for v, _ in batch]), labels=[t for _, t in batch]).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 49 and given.state:
            kept = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "source": source.getstate()}
            torch.save(kept | {"step": step + 1}, given.state.with_suffix(".tmp"))
            given.state.with_suffix(".tmp").replace(given.state)
        if step % 50 == 49:
            seen = evaluate(model, 1, 60) if step % 500 == 499 else ""
            print(step + 1, round(time.time() - began), round(loss.item(), 3), seen, flush=True)
        if step % 500 == 499:
            save(model, given.folder, step + 1, *evaluate(model, 1, 60), 60)
    right, mean = evaluate(model, 2, 400)
    save(model, given.folder, given.steps, right, mean, 400)
    print("end", right, mean)


if __name__ == "__main__":
    main()
