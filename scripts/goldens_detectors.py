#!/usr/bin/env python3
"""Makes small random models that find objects, and writes down what transformers finds in pictures with them.

    venv/bin/pip install timm==1.0.31
    venv/bin/python scripts/goldens_detectors.py [NAME]...

See scripts/goldens.py for the environment. Writes Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/detector-NAME.json for
each line of DETECTORS, or for those named. Pictures are made by `pixels`, which the tests make too, in sizes that the
processor changes, by Pillow as hub does it.

Each mechanism matters: `without` names changes that must move the boxes, in shares of the picture, or the logits. The golden
says how far each moves them.
"""

import json
import math
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; nothing here needs it, but it registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        try:
            operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import numpy
import transformers
from PIL import Image
from transformers.models.detr.image_processing_pil_detr import DetrImageProcessorPil
from transformers.models.yolos.image_processing_pil_yolos import YolosImageProcessorPil

from goldens import FIXTURES, MICRO, REFERENCE, numbers, write
from goldens_encoders import Same, module, zero
from goldens_towers import pixels

resize = Image.Image.resize


def across_first(picture, size, resample=None, **_):
    """Pillow 13 begins with the height where that shrinks more; hub begins with the width, as Pillow up to 12 does."""
    return resize(resize(picture, (size[0], picture.height), resample), size, resample)


Image.Image.resize = across_first
LABELS = {"id2label": {"0": "cat", "1": "dog", "2": "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}
#: Height and width: square, tall, wide, longer than the longer side may be.
PICTURES = [(60, 60), (75, 50), (41, 66), (30, 133)]


@dataclass
class Detector:
    kind: str
    config: dict
    size: dict
    without: dict
    scales: dict = field(default_factory=dict)
    #: Settings that are left out of config.json, and those that are put there as published files have them.
    drop: tuple = ()
    add: dict = field(default_factory=dict)


def rows(name, start, end):
    """Zeros in some rows of a table."""
    def change(model):
        found = [value for key, value in model.named_parameters() if key.endswith(name)]
        assert found, name
        for value in found:
            value[..., start:end, :] = 0
    return change


def without_places(model):
    model.model.encoder.register_forward_pre_hook(
        lambda _, arguments, named: (arguments, named | {key: named[key] * 0 for key in (
            "spatial_position_embeddings", "object_queries") if named.get(key) is not None}), with_kwargs=True)


def without_places_of_keys(model):
    model.model.decoder.register_forward_pre_hook(
        lambda _, arguments, named: (arguments, named | {key: named[key] * 0 for key in (
            "spatial_position_embeddings", "object_queries") if named.get(key) is not None}), with_kwargs=True)


def buffers(name, to):
    def change(model):
        found = [value for key, value in model.named_buffers() if key.endswith(name)]
        assert found, name
        for value in found:
            value.fill_(to)
    return change


YOLOS = dict(
    hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, image_size=[32, 48], patch_size=8,
    num_detection_tokens=6, layer_norm_eps=0.01, qkv_bias=True)
YOLOS_WITHOUT = {
    "positions": zero("vit.embeddings.position_embeddings"), "class token": zero("cls_token"),
    "detection tokens": zero("detection_tokens"), "positions of detection tokens": rows("embeddings.position_embeddings", -6, None),
    "final norm": module("vit.layernorm", Same()), "biases of labels": zero("class_labels_classifier.layers.2.bias"),
    "biases of boxes": zero("bbox_predictor.layers.2.bias"), "second layer of boxes": zero("bbox_predictor.layers.1.weight"),
}
DETR = dict(
    d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=48, decoder_ffn_dim=40, encoder_attention_heads=4,
    decoder_attention_heads=2, num_queries=7)
RESNET = dict(
    model_type="resnet", embedding_size=8, hidden_sizes=[16, 24], depths=[1, 2], layer_type="bottleneck", out_features=["stage2"])
DETR_WITHOUT = {
    "queries": zero("query_position_embeddings"), "places": without_places, "places of keys": without_places_of_keys,
    "last norm": module("model.decoder.layernorm", Same()), "means of batches": buffers("running_mean", 0),
    "variances of batches": buffers("running_var", 1), "biases of labels": zero("class_labels_classifier.bias"),
    "bias of the projection": zero("input_projection.bias"), "biases of boxes": zero("bbox_predictor.layers.2.bias"),
}
EDGES = {"shortest_edge": 40, "longest_edge": 80}
LARGER = {"shortest_edge": 150, "longest_edge": 230}

DETECTORS = {
    "yolos": Detector("Yolos", dict(YOLOS, use_mid_position_embeddings=True), EDGES, without=YOLOS_WITHOUT | {
        "positions between layers": zero("mid_position_embeddings"),
        "those of detection tokens": rows("mid_position_embeddings", -6, None),
    }),
    "yolos-plain": Detector(
        "Yolos", dict(YOLOS, use_mid_position_embeddings=False, qkv_bias=False, num_hidden_layers=2),
        {"height": 32, "width": 48}, without=YOLOS_WITHOUT),
    "detr": Detector(
        "Detr", dict(DETR, backbone="test_resnet", use_timm_backbone=True), LARGER, without=DETR_WITHOUT,
        drop=("backbone_config",), add=dict(backbone="test_resnet", use_timm_backbone=True, backbone_config=None)),
    "detr-resnet": Detector(
        "Detr", dict(DETR, backbone_config=RESNET, use_timm_backbone=False), EDGES, without=DETR_WITHOUT),
    "table-transformer": Detector(
        "TableTransformer", dict(DETR, backbone_config=RESNET | dict(layer_type="basic"), use_timm_backbone=False), EDGES,
        without=DETR_WITHOUT | {"norm of the encoder": module("model.encoder.layernorm", Same())}),
}


def processor(detector):
    kind = YolosImageProcessorPil if detector.kind == "Yolos" else DetrImageProcessorPil
    return kind(size=detector.size)


def outputs(model, detector, size):
    picture = Image.fromarray(pixels(*size).numpy().astype(numpy.uint8))
    made = processor(detector)(picture, return_tensors="pt")
    with torch.no_grad():
        found = model(pixel_values=made["pixel_values"])
    return found, processor(detector).post_process_object_detection(found, threshold=0.0, target_sizes=[size])[0]


def make(name, detector):
    torch.manual_seed(sum(map(ord, name)))
    kind = getattr(transformers, detector.kind + "ForObjectDetection")
    config = kind.config_class(**detector.config, **LABELS, attn_implementation="eager")
    model = kind(config).eval().float()
    with torch.no_grad():
        for part, value in model.state_dict().items():
            if not value.is_floating_point():
                continue
            norm = any(mark in part for mark in ("norm", "bn", ".downsample.2", ".downsample.1", "conv1.1", "conv1.4"))
            if part.endswith("running_var"):
                value.copy_(torch.rand_like(value) + 0.5)
            elif part.endswith("running_mean"):
                value.copy_(torch.randn_like(value) * 0.2)
            elif value.dim() == 4:
                value.copy_(torch.randn_like(value) * math.sqrt(2 / value[0].numel()))
            else:
                value.copy_(torch.randn_like(value) * (0.3 if value.dim() > 1 else 0.2) + (
                    1 if norm and part.endswith("weight") and value.dim() == 1 else 0))
            # As the file has it.
            value.copy_(value.bfloat16().float())
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file(
        {key: value.bfloat16() for key, value in stored.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text())
    for key in ("_attn_implementation_autoset", "transformers_version", "dtype", *detector.drop):
        settings.pop(key, None)
    settings |= detector.add
    (folder / "config.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_resize": True, "size": detector.size, "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255,
        "do_normalize": True, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "do_pad": True,
        "image_processor_type": "YolosImageProcessor" if detector.kind == "Yolos" else "DetrImageProcessor",
    }, indent=1) + "\n")

    def load():
        return kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

    entries, first = [], None
    for size in PICTURES:
        found, objects = outputs(load(), detector, size)
        first = first or found
        entries.append({
            "size": list(size), "logits": numbers(found.logits[0].flatten()), "boxes": numbers(found.pred_boxes[0].flatten()),
            "objects": [
                {"label": LABELS["id2label"][str(int(l))], "score": round(float(s), 6), "box": [round(float(v), 4) for v in b]}
                for s, l, b in zip(objects["scores"], objects["labels"], objects["boxes"])],
        })
    moves = {}
    for what, change in detector.without.items():
        model = load()
        with torch.no_grad():
            change(model)
        moved = outputs(model, detector, PICTURES[0])[0]
        move = max((moved.logits - first.logits).abs().max().item(), (moved.pred_boxes - first.pred_boxes).abs().max().item())
        assert move > 0.003, f"{name}: without {what} they move by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"detector-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "pictures": entries, "without": moves,
    })


if __name__ == "__main__":
    for name, detector in DETECTORS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, detector)
            print(name, flush=True)
