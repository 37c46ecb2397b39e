#!/usr/bin/env python3
"""Writes down the numbers that transformers, timm and open_clip make of pictures, by the settings of many families.

    python3 -m venv venv
    venv/bin/pip install pillow==12.3.0 numpy==2.4.6 torch==2.13.0 torchvision==0.28.0 transformers==5.23.0 timm==1.0.31 \
        open-clip-torch==3.3.0
    venv/bin/python scripts/goldens_picture_inputs.py

Writes Tests/Fixtures/goldens/picture-inputs.json. A picture's bytes come from SplitMix64 by a seed, smoothed by the sum with its
neighbours; of the numbers every 3989th is kept, their sum, and a digest of the
levels behind them.

Transformers has two ways: with Pillow, which hub follows, and with torchvision, whose levels differ by one here and there. What has
no way with Pillow is kept from torchvision, as floats (DINOv3, OWLv2).
"""

import base64
import hashlib
import json
import logging
import pathlib
import warnings

import numpy
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; its resizing does not, but registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        try:
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import open_clip
import timm.data
import transformers
from goldens_resizing import words
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
TARGET = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures/goldens/picture-inputs.json"
PICTURES = [(1, 301, 211), (2, 150, 333), (3, 64, 48)]
# Only the smallest picture, for time; and those that are tried with all.
LARGE = ("siglip", "segformer", "rt-detr", "detr", "owlvit", "blip", "llava", "depth-anything")
ODD = ("clip", "siglip2-naflex", "dpt", "grounding-dino", "within", "table-transformer", "timm-border", "mobilevit")
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}


def picture(seed, width, height):
    levels = (words(seed, 3 * width * height) >> numpy.uint64(56)).astype(numpy.int64).reshape(height, width, 3)
    smooth = sum(numpy.roll(levels, (y, x), (0, 1)) for y in range(3) for x in range(3)) // 9
    return Image.fromarray(((levels + 3 * smooth) // 4).astype(numpy.uint8))


def settings():
    """Names, and the files that a folder has."""
    def plain(kind, **values):
        return {"preprocessor_config.json": {"image_processor_type": kind, **values}}

    def nested(kind, **values):
        return {"processor_config.json": {"image_processor": {"image_processor_type": kind, **values}},
                "preprocessor_config.json": {"image_processor_type": kind, "size": {"height": 9, "width": 9}}}

    box = {"height": 224, "width": 224}
    yield "clip", plain("CLIPImageProcessor", size={"shortest_edge": 224}, crop_size=box, resample=3, **CLIP)
    yield "clip-old", {"preprocessor_config.json": {
        "feature_extractor_type": "CLIPFeatureExtractor", "crop_size": 224, "do_center_crop": True, "do_normalize": True,
        "do_resize": True, "resample": 3, "size": 224, **CLIP}}
    yield "clip-small", plain("CLIPImageProcessorFast", size={"shortest_edge": 61}, crop_size={"height": 96, "width": 85})
    yield "llava", nested("CLIPImageProcessor", size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336})
    yield "siglip", plain("SiglipImageProcessor", size={"height": 384, "width": 384}, resample=3, do_convert_rgb=None, **HALF)
    yield "siglip-bilinear", plain("SiglipImageProcessor", size=box, resample=2, **HALF)
    yield "siglip2-naflex", plain("Siglip2ImageProcessor", patch_size=16, max_num_patches=256, resample=2)
    yield "vit", plain("ViTImageProcessor", size=box, resample=2)
    yield "vit-old", {"preprocessor_config.json": {
        "do_normalize": True, "do_resize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "size": 224,
        "feature_extractor_type": "ViTFeatureExtractor"}}
    yield "deit", plain("DeiTFeatureExtractor", size=256, crop_size=224, resample=3, **IMAGENET)
    yield "beit", plain("BeitImageProcessor", do_center_crop=False, size=box, reduce_labels=False)
    yield "dinov2", plain("BitImageProcessor", size={"shortest_edge": 256}, crop_size=box, resample=3, **IMAGENET)
    yield "dinov3", plain("DINOv3ViTImageProcessorFast", size=box, resample=2, do_convert_rgb=None, **IMAGENET)
    yield "convnext-224", plain("ConvNextImageProcessor", size={"shortest_edge": 224}, crop_pct=0.875, **IMAGENET)
    yield "convnext-384", plain("ConvNextFeatureExtractor", size=384, resample=3, crop_pct=None, **IMAGENET)
    yield "mobilevit", plain("MobileViTImageProcessor", size={"shortest_edge": 288},
                             crop_size={"height": 256, "width": 256}, do_flip_channel_order=True)
    yield "efficientnet", plain("EfficientNetImageProcessor", size={"height": 91, "width": 91}, resample=0, include_top=True,
                                image_mean=IMAGENET["image_mean"], image_std=[0.47853944, 0.4732864, 0.47434163])
    yield "efficientnet-offset", plain("EfficientNetImageProcessor", size=box, crop_size={"height": 201, "width": 190},
                                       do_center_crop=True, rescale_offset=True, rescale_factor=1 / 127.5, include_top=False)
    yield "mobilenet", plain("MobileNetV2ImageProcessor", size={"shortest_edge": 256}, crop_size=box, resample=2)
    yield "segformer", plain("SegformerImageProcessor", size={"height": 128, "width": 128}, do_reduce_labels=False)
    yield "rt-detr", plain("RTDetrImageProcessor", size={"height": 160, "width": 160}, do_normalize=False, do_pad=False,
                           format="coco_detection", do_convert_annotations=True)
    yield "detr", plain("DetrImageProcessor", size={"shortest_edge": 800, "longest_edge": 1333})
    yield "table-transformer", plain("DetrFeatureExtractor", size=300, max_size=400, format="coco_detection")
    yield "grounding-dino", plain("GroundingDinoImageProcessor", size={"shortest_edge": 200, "longest_edge": 333},
                                  pad_size={"height": 340, "width": 336})
    yield "within", plain("DetrImageProcessor", size={"max_height": 181, "max_width": 97})
    yield "depth-anything", plain("DPTImageProcessor", size={"height": 518, "width": 518}, ensure_multiple_of=14,
                                  keep_aspect_ratio=True, resample=3, **IMAGENET)
    yield "dpt", plain("DPTImageProcessor", size={"height": 384, "width": 384}, resample=2)
    yield "dpt-padded", plain("DPTImageProcessor", size={"height": 101, "width": 75}, do_pad=True, size_divisor=16)
    yield "owlv2", plain("Owlv2ImageProcessor", size={"height": 96, "width": 96})
    yield "owlvit", plain("OwlViTImageProcessor", size={"height": 100, "width": 120}, do_center_crop=False)
    yield "blip", plain("BlipImageProcessor", size={"height": 384, "width": 384}, **CLIP)
    yield "lanczos", plain("ViTImageProcessor", size={"height": 50, "width": 70}, resample=1)
    yield "levels", plain("ViTImageProcessor", size=box, do_rescale=False, do_normalize=False)
    for mode in ("center", "squash", "border"):
        yield f"timm-{mode}", {"config.json": {"architecture": "x", "pretrained_cfg": {
            "tag": "in1k", "input_size": [3, 96, 96], "fixed_input_size": False, "interpolation": "bicubic", "crop_pct": 0.9,
            "crop_mode": mode, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "num_classes": 10}}}
    yield "timm-oblong", {"config.json": {"pretrained_cfg": {
        "input_size": [3, 64, 96], "interpolation": "bilinear", "crop_pct": 0.95, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}}}
    for mode, size in (("shortest", 97), ("squash", 64), ("longest", 80), ("shortest", [64, 90])):
        yield f"open-clip-{mode}-{size}", {"open_clip_config.json": {
            "model_cfg": {"vision_cfg": {"image_size": size}},
            "preprocess_cfg": {"mean": CLIP["image_mean"], "std": CLIP["image_std"], "interpolation": "bicubic",
                               "resize_mode": mode, "fill_color": 7 if mode == "longest" else 0}}}


def kept(values, numbers=None):
    """The shape, every 3989th number, and what all of them come to."""
    values = numpy.ascontiguousarray(numpy.asarray(values, dtype=numpy.float32))
    planes = values if values.ndim == 2 else values.reshape(3, *values.shape[-2:])
    every = base64.b64encode(planes.reshape(-1)[::3989].astype("<f4").tobytes()).decode()
    made = {"shape": list(planes.shape), "every": every, "sum": float(planes.astype(numpy.float64).sum())}
    if numbers is not None:
        means, deviations, factor = (numpy.asarray(number, dtype=numpy.float64) for number in numbers)
        levels = numpy.round((planes * deviations.reshape(3, 1, 1) + means.reshape(3, 1, 1)) / factor)
        # Zeros of padding may lie below.
        levels = numpy.clip(levels, 0, 255).astype(numpy.uint8)
        made["levels"] = hashlib.sha256(levels.tobytes()).hexdigest()[:16]
    return made


def by_transformers(files, ending):
    members = {**files["preprocessor_config.json"], **files.get("processor_config.json", {}).get("image_processor", {})}
    name = members.pop("image_processor_type", None) or members.pop("feature_extractor_type")
    kind = name.removesuffix("Fast").replace("FeatureExtractor", "ImageProcessor") + ending
    processor = getattr(transformers, kind).from_dict(members)

    def process(opened):
        made = processor(opened, return_tensors="np")
        if "spatial_shapes" in made:
            height, width = made["spatial_shapes"][0]
            return made["pixel_values"][0][:height * width]
        return made["pixel_values"][0]

    # Means, deviations and the factor of levels; MobileViT's are of blue first, and there are none.
    is_normalized = processor.do_normalize
    process.numbers = (processor.image_mean if is_normalized else [0, 0, 0], processor.image_std if is_normalized else [1, 1, 1],
                       processor.rescale_factor if processor.do_rescale else 1)
    if name.startswith("EfficientNet"):
        means, deviations, factor = process.numbers
        process.numbers = ([mean + processor.rescale_offset for mean in means],
                           [part ** 2 if processor.include_top else part for part in deviations], factor)
    return process


def processors(name, files):
    """The reference's ways with a picture, the first the one to be equal to."""
    if "config.json" in files:
        config = timm.data.resolve_data_config(pretrained_cfg=files["config.json"]["pretrained_cfg"])
        return {"pillow": timm.data.create_transform(**config, is_training=False)}
    if "open_clip_config.json" in files:
        file = files["open_clip_config.json"]
        config = PreprocessCfg(**file["preprocess_cfg"], size=file["model_cfg"]["vision_cfg"]["image_size"])
        return {"pillow": image_transform_v2(config, is_train=False)}
    if name in ("dinov3", "owlv2"):
        return {"torchvision": by_transformers(files, "")}
    return {"pillow": by_transformers(files, "Pil"), "torchvision": by_transformers(files, "")}


def main():
    cases = []
    for name, files in settings():
        case = {"name": name, "files": files, "pictures": []}
        for seed, width, height in PICTURES:
            if name in LARGE and seed != 3 or name not in LARGE and name not in ODD and seed == 2:
                continue
            entry = {"seed": seed, "from": [width, height]}
            for way, process in processors(name, files).items():
                # Where half a pixel is left over for padding, the way with Pillow puts it on the other side.
                if name == "clip-small" and way == "pillow":
                    continue
                numbers = getattr(process, "numbers", None) if way == "pillow" and name != "siglip2-naflex" else None
                entry[way] = kept(process(picture(seed, width, height)), numbers)
            case["pictures"].append(entry)
        cases.append(case)
    made_by = (f"transformers {transformers.__version__}, timm {timm.__version__}, open_clip {open_clip.__version__}, "
               f"Pillow {Image.__version__}, torch {torch.__version__}")
    lines = ",\n".join(json.dumps(case) for case in cases)
    TARGET.write_text(f'{{"made_by": {json.dumps(made_by)}, "cases": [\n{lines}\n]}}\n')
    print(len(cases), TARGET.stat().st_size)


if __name__ == "__main__":
    main()
