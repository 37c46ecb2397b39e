#!/usr/bin/env python3
"""Makes small random models that say something of each pixel, and writes down what transformers says with them.

    venv/bin/python scripts/goldens_maps.py [NAME]...

See scripts/goldens_picture_inputs.py for the environment. Writes Tests/Fixtures/micro/NAME and
Tests/Fixtures/goldens/map-NAME.json for each line of MAPS, or for those named: the map in the model's own size, and what
transformers makes of it in the picture's. A picture is made by `pixels`, which the tests make too, in the size that the
model takes, so that nothing is resized before.

Each mechanism matters: `without` names changes that must move the map by ten times what a test tolerates. The golden says
how far each moves it.
"""

import json
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch

# First: it makes torchvision's operators known.
from goldens_convolutions import Same, parameters, randomise, save, values
import transformers

from goldens import MICRO, FIXTURES, numbers, write

REFERENCE = f"transformers {transformers.__version__}, torch {torch.__version__}, float32, CPU"
NAMES = ["wall", "sky", "tree", "road", "cat"]
LABELS = {"id2label": dict(enumerate(NAMES)), "label2id": {name: index for index, name in enumerate(NAMES)}}
# What a test tolerates: of a map's range.
TOLERANCE = 1e-4


def interpolating(**settings):
    """Calls `interpolate` with other settings."""
    def change(model):
        real = torch.nn.functional.interpolate
        model.forward_real = model.forward

        def forward(*inputs, **named):
            def other(x, *plain, **named):
                named.update(zip(("size", "scale_factor", "mode", "align_corners"), plain))
                return real(x, **{**named, **settings})
            torch.nn.functional.interpolate = other
            try:
                return model.forward_real(*inputs, **named)
            finally:
                torch.nn.functional.interpolate = real
        model.forward = forward
    return change


def norms(kind, part, value):
    def change(model):
        found = [module for module in model.modules() if isinstance(module, kind)]
        assert found
        for module in found:
            if part == "eps":
                module.eps = value
            else:
                getattr(module, part).fill_(value)
    return change


def without_norms(part):
    def change(model):
        found = [(name, module) for name, module in model.named_modules() if name.endswith(part)]
        assert found, part
        for name, _ in found:
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], Same())
    return change


def other_order(model):
    """The planes side by side in the other order."""
    weight = model.decode_head.linear_fuse.weight
    parts = weight.chunk(model.config.num_encoder_blocks, dim=1)
    weight.copy_(torch.cat(parts[::-1], dim=1))


def turned(part):
    """Rows and columns of kernels exchanged."""
    def change(model):
        found = [value for name, value in model.named_parameters() if part in name and value.dim() == 4]
        assert found, part
        for value in found:
            value.copy_(value.transpose(2, 3).clone())
    return change


def without_activations(model):
    """Residuals that read the sum as it is."""
    found = [module for module in model.modules() if type(module).__name__.endswith("PreActResidualLayer")]
    assert found
    for module in found:
        module.activation1 = Same()


SEGFORMER = {
    "epsilon": norms(torch.nn.LayerNorm, "eps", 0.1), "bias of what is reduced": parameters("sequence_reduction.bias"),
    "norm of what is reduced": without_norms("sequence_reduction.layer_norm"),
    "convolution of channels": parameters("dwconv.weight"), "kernels of squares": turned("patch_embeddings.proj"),
    "kernels of channels": turned("dwconv"), "norm of squares": without_norms("patch_embeddings.layer_norm"),
    "norm of stages": without_norms(".layer_norm"),
}
HEAD = {
    "order of planes": other_order, "biases of projections": parameters("linear_projections"),
    "running means": norms(torch.nn.BatchNorm2d, "running_mean", 0), "corners": interpolating(align_corners=True),
    "bias of the classifier": parameters("classifier.bias"),
}
NECK = {
    "corners": interpolating(align_corners=False), "enlarged squares": turned("resize"),
    "bias of what is enlarged": parameters("resize.bias"), "activation before a residual": without_activations,
    "sides": parameters("residual_layer1.convolution2"), "biases of projections": parameters("projection.bias"),
    "kernels of stages": turned("neck.convs"),
}
DINO = dict(
    hidden_size=24, num_hidden_layers=4, num_attention_heads=3, image_size=28, patch_size=7, mlp_ratio=2,
    layer_norm_eps=0.01, out_indices=[1, 2, 3, 4], reshape_hidden_states=False, layerscale_value=1.0)
STAGES = dict(neck_hidden_sizes=[6, 8, 12, 16], fusion_hidden_size=12)
DPT = dict(
    hidden_size=24, num_hidden_layers=4, num_attention_heads=3, intermediate_size=48, image_size=32, patch_size=8,
    layer_norm_eps=0.01, backbone_out_indices=[0, 1, 2, 3], **STAGES)
SEGFORMER_SIZES = dict(
    num_encoder_blocks=3, depths=[1, 2, 1], hidden_sizes=[8, 16, 24], sr_ratios=[4, 2, 1], patch_sizes=[7, 3, 3],
    strides=[4, 2, 2], num_attention_heads=[1, 2, 3], mlp_ratios=[2, 2, 2], decoder_hidden_size=12, layer_norm_eps=0.1)


@dataclass
class Map:
    #: The class.
    name: str
    config: dict
    #: Of the pictures: height and width.
    size: tuple
    #: Of DINOv2 before it.
    backbone: dict = None
    without: dict = field(default_factory=dict)
    #: What prepares pictures, beside their size and numbers.
    processor: dict = field(default_factory=dict)


MAPS = {
    "segformer": Map("SegformerForSemanticSegmentation", dict(SEGFORMER_SIZES, **LABELS), (50, 70), without=SEGFORMER | HEAD),
    "segformer-labels": Map("SegformerForImageClassification", dict(SEGFORMER_SIZES, **LABELS), (32, 48), without=SEGFORMER),
    "depth-anything": Map(
        "DepthAnythingForDepthEstimation", dict(patch_size=7, reassemble_hidden_size=24, head_hidden_size=6, **STAGES),
        (35, 49), DINO, without=NECK | {
            "norm of layers": lambda model: setattr(model.backbone, "layernorm", Same()), "layer scale": parameters("lambda1"),
            "positions": parameters("position_embeddings"),
        }, processor=dict(keep_aspect_ratio=True, ensure_multiple_of=7)),
    "depth-anything-metric": Map(
        "DepthAnythingForDepthEstimation", dict(
            patch_size=7, reassemble_hidden_size=24, head_hidden_size=6, depth_estimation_type="metric", max_depth=20,
            reassemble_factors=[2, 1, 0.5, 0.25], **STAGES),
        (42, 28), dict(DINO, out_indices=[0, 1, 3, 4], apply_layernorm=False), without={
            "range": lambda model: setattr(model.head, "max_depth", 1), "bias of the head": parameters("conv3.bias"),
            "sides": parameters("residual_layer1.convolution2"),
        }, processor=dict(keep_aspect_ratio=True, ensure_multiple_of=7)),
    "dpt": Map("DPTForDepthEstimation", dict(DPT, add_projection=False), (40, 40), without=NECK | {
        "readout": parameters("readout_projects"), "positions": parameters("position_embeddings"),
        "class token": parameters("cls_token"),
    }),
    "dpt-dinov2": Map("DPTForDepthEstimation", dict(hidden_size=24, readout_type="add", **STAGES), (35, 56), DINO, without=NECK | {
        "readout": lambda model: setattr(model.neck.reassemble_stage.config, "readout_type", "ignore"),
    }),
    "dpt-labels": Map(
        "DPTForSemanticSegmentation", dict(DPT, use_batch_norm_in_fusion_residual=True, readout_type="ignore", **LABELS),
        (32, 32), without={
            "running means": norms(torch.nn.BatchNorm2d, "running_mean", 0), "epsilon": norms(torch.nn.LayerNorm, "eps", 1e-9),
            "corners": interpolating(align_corners=False), "bias of the classifier": parameters("head.head.4.bias"),
        }),
}


def build(entry):
    kind = getattr(transformers, entry.name)
    settings = dict(entry.config)
    if entry.backbone:
        settings["backbone_config"] = transformers.Dinov2Config(**entry.backbone)
    return kind(kind.config_class(**settings)).eval().float()


def output(model, size):
    with torch.no_grad():
        found = model(values(size))
    made = found.predicted_depth if hasattr(found, "predicted_depth") else found.logits
    return made[0]


def settle(model, entry):
    """Gives what comes out of the last convolution a mean and a deviation with which little is cut off."""
    names = ("head.conv3", "head.head.4", "decode_head.classifier")
    found = [module for name, module in model.named_modules() if name in names]
    if not found:
        return
    made = []
    hook = found[0].register_forward_hook(lambda module, inputs, output: made.append(output))
    output(model, entry.size)
    hook.remove()
    mean, deviation = made[0].mean((0, 2, 3)), made[0].std((0, 2, 3))
    with torch.no_grad():
        found[0].weight.div_(deviation[:, None, None, None])
        found[0].bias.copy_((found[0].bias - mean) / deviation + (0.8 if len(mean) == 1 else 0))


def folder_of(name, entry, model):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    randomise(model)
    for part, value in model.named_parameters():
        if "lambda1" in part:
            value.data.add_(1)
    settle(model, entry)
    model.save_pretrained(folder)
    state = safetensors.torch.load_file(folder / "model.safetensors")
    state = {key: value.bfloat16() if value.is_floating_point() else value for key, value in state.items()}
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    for key in ("transformers_version", "dtype"):
        config.pop(key, None)
    if entry.name.startswith("DPT") and entry.backbone:
        # As published: what the model itself does not have.
        for key in ("num_hidden_layers", "num_attention_heads", "intermediate_size", "image_size", "patch_size"):
            config[key] = None
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    kind = "Segformer" if entry.name.startswith("Segformer") else "DPT"
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_resize": True, "size": {"height": entry.size[0], "width": entry.size[1]}, "resample": 2, "do_rescale": True,
        "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "image_processor_type": f"{kind}ImageProcessor", **entry.processor,
    }, indent=1) + "\n")
    return folder


def finished(name, entry, made):
    """What transformers makes of a map in the picture's size."""
    interpolate = torch.nn.functional.interpolate
    if entry.name.endswith("DepthEstimation"):
        # post_process_depth_estimation
        depth = interpolate(made[None, None], size=entry.size, mode="bicubic", align_corners=False)[0, 0]
        return {"depth": numbers(depth.flatten())}
    if made.dim() == 1:
        return {}
    # post_process_semantic_segmentation
    logits = interpolate(made[None], size=entry.size, mode="bilinear", align_corners=False)[0]
    shares, labels = logits.softmax(0).max(0)
    segments = []
    for label in labels.unique().tolist():
        mask = labels == label
        segments.append({
            "label": NAMES[label], "pixels": int(mask.sum()), "score": round(shares[mask].double().mean().item(), 6)})
    segments.sort(key=lambda segment: -segment["pixels"])
    assert len(segments) > 2, segments
    return {"segments": segments, "labels": "".join(str(label) for label in labels.flatten().tolist())}


def make(name, entry):
    torch.manual_seed(sum(map(ord, name)))
    model = build(entry)
    folder = folder_of(name, entry, model)

    def load():
        return getattr(transformers, entry.name).from_pretrained(folder, dtype=torch.float32).eval()

    made = output(load(), entry.size)
    span = (made.max() - made.min()).item()
    if entry.name.endswith("DepthEstimation"):
        share = (made > 0).float().mean().item()
        assert share > 0.3 and span > 0.01, f"{name}: {share} of the map is above 0, its range is {span}"
    # Of a large map some numbers only.
    every = 1 + made.numel() // 2000
    moves = {}
    for what, change in entry.without.items():
        model = load()
        with torch.no_grad():
            change(model)
        move = (output(model, entry.size) - made).abs().max().item() / span
        assert move > 10 * TOLERANCE, f"{name}: without {what} the map moves by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"map-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "size": list(entry.size), "shape": list(made.shape),
        "every": every, "map": numbers(made.flatten()[::every]), **finished(name, entry, made), "without": moves,
    })
    print(name, tuple(made.shape), f"{made.min().item():.4f} to {made.max().item():.4f}", moves)


if __name__ == "__main__":
    for name in sys.argv[1:] or MAPS:
        make(name, MAPS[name])
