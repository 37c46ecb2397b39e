#!/usr/bin/env python3
"""Makes small random models of timm, and writes down what timm says of pictures with them.

    venv/bin/pip install timm==1.0.31 torchvision==0.28.0
    venv/bin/python scripts/goldens_timm.py [NAME]...

See scripts/goldens_towers.py: the form, the pictures and `without` are the same.
"""

import json
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; timm needs none of it, but it registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        try:
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import timm
from timm.models._hub import save_config_for_hf

from goldens import FIXTURES, MICRO, numbers, write
from goldens_encoders import Same, module, zero
from goldens_towers import pixels

SIZES = dict(embed_dim=32, depth=2, num_heads=4, mlp_ratio=2, patch_size=8, img_size=(32, 32), num_classes=3)
REFERENCE = f"timm {timm.__version__}, torch {torch.__version__}, float32, CPU"


@dataclass
class Model:
    architecture: str
    without: dict
    arguments: dict = field(default_factory=dict)
    #: Members of config.json, on top of what timm writes.
    settings: dict = field(default_factory=dict)
    #: How large weights of the head are.
    head: float = 1.2
    #: Before the names of tensors.
    prefix: str = ""


def attribute(name, value):
    return lambda model: setattr(model, name, value)


def all_rows(model):
    """The mean of all rows in place of that of squares."""
    model.pool_include_prefix = True


def swapped_norms(model):
    model.norm, model.fc_norm = model.fc_norm, model.norm


def mean_instead(model):
    model.attn_pool, model.global_pool = None, "avg"


COMMON = {
    "positions": zero("pos_embed"), "norm before attention": module("blocks.*.norm1", Same()),
    "biases": zero("qkv.bias"), "bias of the head": zero("head.bias"),
}
SCALE = {"layer scale": zero("gamma", to=1.0)}
MODELS = {
    "timm-vit": Model(
        "vit_base_patch16_224", COMMON | {
            "class token": zero("cls_token"), "final norm": module("norm", Same()), "exact gelu": dict(act_layer="gelu_tanh"),
        }, settings={"label_names": ["n01", "n02", "n03"], "label_descriptions": {"n01": "cat", "n02": "dog, hound"}}),
    "timm-vit-wide": Model(
        "vit_base_patch16_224", COMMON, arguments=dict(img_size=(32, 48), qkv_bias=False, qk_norm=True), settings={}),
    "timm-vit-registers": Model(
        "vit_medium_patch16_reg4_gap_256", COMMON | SCALE | {
            "registers": zero("reg_token"), "norm of the mean": swapped_norms, "mean of squares": all_rows,
        }),
    "timm-vit-gap": Model(
        "vit_base_patch16_siglip_gap_224", COMMON | {"mean of normalised rows": swapped_norms}, arguments=dict(reg_tokens=2)),
    "timm-vit-dinov2": Model(
        "vit_small_patch14_reg4_dinov2", {
            "positions": zero("pos_embed"), "registers": zero("reg_token"), "final norm": module("norm", Same()),
        } | SCALE, arguments=dict(num_classes=0)),
    "timm-vit-clip": Model(
        "vit_base_patch16_clip_quickgelu_224", COMMON | {
            "norm before the first layer": module("norm_pre", Same()), "quick gelu": dict(act_layer="gelu"),
        }),
    "timm-vit-siglip": Model(
        "vit_so400m_patch16_siglip_256", COMMON | {
            "pooling": mean_instead, "query": zero("attn_pool.q.bias", "attn_pool.latent"),
            "norm of pooling": module("attn_pool.norm", Same()),
        }, head=0.2),
    "timm-deit3": Model("deit3_small_patch16_224", COMMON | SCALE | {"class token": zero("cls_token")}),
    "timm-wrapper": Model(
        "vit_medium_patch16_gap_240", COMMON | SCALE, settings={
            "model_type": "timm_wrapper", "architectures": ["TimmWrapperForImageClassification"], "do_pooling": True,
            "label_names": ["cat", "dog", "owl"],
        }, arguments=dict(qkv_bias=True), prefix="timm_model."),
}
# There is no bias of queries.
del MODELS["timm-vit-wide"].without["biases"]
MODELS["timm-vit-wide"].without["norms of queries and keys"] = module("blocks.*.attn.q_norm", Same())


def outputs(model, size):
    values = ((pixels(*size).double() / 255 - 0.5) / 0.5).float().permute(2, 0, 1)[None]
    with torch.no_grad():
        rows = model.forward_features(values)
        vector = model.forward_head(rows, pre_logits=True)[0]
        return vector / vector.norm(), model.forward_head(rows)[0]


def make(name, case):
    torch.manual_seed(sum(map(ord, name)))
    arguments = SIZES | case.arguments
    size = arguments["img_size"]

    def create(**changes):
        return timm.create_model(
            case.architecture, **(arguments | changes), pretrained_cfg_overlay=dict(
                input_size=(3, *size), mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5), crop_pct=1.0, fixed_input_size=True,
                num_classes=arguments["num_classes"]),
        ).eval().float()

    model = create()
    with torch.no_grad():
        for part, value in model.named_parameters():
            norm = ("norm" in part and part.endswith("weight")) or "gamma" in part
            scale = case.head if part == "head.weight" else 0.3 if value.dim() > 1 else 0.2
            value.copy_(torch.randn_like(value) * scale + (1 if norm else 0))
            # As the file has it.
            value.copy_(value.bfloat16().float())
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    stored = model.state_dict()
    safetensors.torch.save_file(
        {case.prefix + key: value.bfloat16().contiguous() for key, value in stored.items()}, folder / "model.safetensors",
        metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    save_config_for_hf(model, folder / "config.json")
    settings = json.loads((folder / "config.json").read_text()) | case.settings
    (folder / "config.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")

    def load(**changes):
        model = create(**changes)
        model.load_state_dict(stored)
        return model

    vector, logits = outputs(load(), size)
    moves = {}
    for what, change in case.without.items():
        if isinstance(change, dict):
            model = load(**change)
        else:
            model = load()
            with torch.no_grad():
                change(model)
        move = (outputs(model, size)[1] - logits).abs().max().item()
        assert move > 0.001, f"{name}: without {what} the logits move by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"tower-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "size": list(size), "vector": numbers(vector),
        "logits": numbers(logits), "without": moves,
    })


if __name__ == "__main__":
    for name, case in MODELS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, case)
            print(name)
