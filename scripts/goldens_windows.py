#!/usr/bin/env python3
"""Makes small random transformers with windows, and writes down what timm and transformers say of pictures with them.

    venv/bin/python scripts/goldens_windows.py [NAME]...

See scripts/goldens_convolutions.py: the environment, the pictures and `without` are the same. Writes
Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/window-NAME.json for each line of NETS, or for those named, and
Tests/Fixtures/goldens/window-plans.json: of each published net of PLANS how many lines describe its tensors, windows and
shifts, and a digest of them.
"""

import json
import math
import re
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch

from goldens_convolutions import (
    FIXTURES, LABELS, MICRO, REFERENCE, Same, digest, numbers, outputs, parameters, replaced, timm, timm_folder, transformers,
    transformers_folder, write,
)


# Changes for `without`: functions of a model in place.

def epsilon(part, value=1e-5):
    def change(model):
        found = [module for name, module in model.named_modules() if isinstance(module, torch.nn.LayerNorm) and part in name]
        assert found, part
        for module in found:
            module.eps = value
    return change


def blocks(model):
    return [module for module in model.modules() if hasattr(module, "shift_size") and hasattr(module, "window_size")]


def unshifted(model):
    for block in blocks(model):
        block.shift_size = 0 if isinstance(block.shift_size, int) else (0, 0)
        if hasattr(block, "attn_mask"):
            block.attn_mask = None


def shifted_all(model):
    """Windows are shifted where there is no room, too."""
    for number, block in enumerate(blocks(model)):
        block.set_shift_and_window_size = lambda *_: None


def unmasked(model):
    for block in blocks(model):
        if hasattr(block, "attn_mask"):
            block.attn_mask, block.dynamic_mask = None, False
        else:
            block.get_attn_mask = lambda *_, **__: None


def turned_distances(model):
    """Distances the other way round."""
    found = 0
    for module in model.modules():
        index = getattr(module, "relative_position_index", None)
        if index is not None:
            side = math.isqrt(index.numel())
            module.relative_position_index = index.view(side, side).T.reshape(index.shape).contiguous()
            found += 1
    assert found


def merged_by_rows(model):
    """The two beside each other first."""
    for name, module in model.named_modules():
        if hasattr(module, "reduction"):
            parts = module.reduction.weight.shape[1] // 4
            order = torch.cat([torch.arange(part * parts, (part + 1) * parts) for part in (0, 2, 1, 3)])
            module.reduction.weight.copy_(module.reduction.weight[:, order])
            if module.norm.weight.numel() == 4 * parts:
                module.norm.weight.copy_(module.norm.weight[order])
                module.norm.bias.copy_(module.norm.bias[order])


def unlimited(model):
    for name, value in model.named_parameters():
        if name.endswith("logit_scale"):
            value.copy_(value.clamp(max=math.log(100) - 1))


def shift_order(model):
    """Rows are shifted and filled up in the other order."""
    for block in blocks(model):
        if hasattr(block, "cyclic_shift"):
            pad, shift, size = block.maybe_pad, block.cyclic_shift, {}
            def padded(states, height, width, pad=pad, shift=shift, size=size):
                size["of"] = (height, width)
                return pad(shift(states), height, width)
            def back(states, reverse=False, shift=shift, size=size):
                if not reverse:
                    return states
                height, width = size["of"]
                out = states.clone()
                out[:, :height, :width] = shift(states[:, :height, :width], reverse=True)
                return out
            block.maybe_pad, block.cyclic_shift = padded, back


def without_norm(*parts):
    """Leaves out the norms whose names end so."""
    def change(model):
        found = 0
        for name, module in list(model.named_modules()):
            for part, child in list(module.named_children()):
                if isinstance(child, torch.nn.LayerNorm) and f"{name}.{part}".endswith(parts):
                    setattr(module, part, Same())
                    found += 1
        assert found, parts
    return change


COMMON = {
    "shifts": unshifted, "mask": unmasked, "direction of distances": turned_distances, "order of merging": merged_by_rows,
    "norm of merging": without_norm("downsample.norm"),
}
TRANSFORMERS = COMMON | {
    "norm of squares": without_norm("embeddings.norm"), "last norm": without_norm(".layernorm"),
    "first norm": without_norm("layernorm_before"), "second norm": without_norm("layernorm_after"),
    "epsilon": epsilon("layernorm", 1e-5), "bias of the classifier": parameters("classifier.bias"),
}
FIRST = {"distances": parameters("relative_position_bias_table")}
SECOND = {
    "distances": parameters("bias_mlp.2"), "factors": parameters("logit_scale"), "limit of factors": unlimited,
}
TIMM = COMMON | {
    "norm of squares": without_norm("patch_embed.norm"), "last norm": lambda model: setattr(model, "norm", Same()),
    "first norm": without_norm("norm1"), "second norm": without_norm("norm2"), "bias of the classifier": parameters("head.fc.bias"),
}
SIZES = dict(embed_dim=8, depths=[2, 2], num_heads=[2, 4], mlp_ratio=2.0, patch_size=4)
EPSILON = dict(layer_norm_eps=0.01)


@dataclass
class Net:
    #: timm's name, or transformers' class without its end.
    name: str
    #: `model_args` of timm, or the configuration of transformers.
    arguments: dict
    #: Of the pictures: height and width.
    size: tuple = (70, 90)
    without: dict = field(default_factory=dict)
    #: What the file calls tensors, by patterns; None for what the reference calls them.
    names: tuple = None


#: As published.
OLD = (
    (r"attention\.q_proj", "attention.self.query"), (r"attention\.k_proj", "attention.self.key"),
    (r"attention\.v_proj", "attention.self.value"), (r"attention\.relative_position_bias\.", "attention.self."),
    (r"attention\.o_proj", "attention.output.dense"), (r"mlp\.fc1", "intermediate.dense"), (r"mlp\.fc2", "output.dense"),
)
#: As the authors' files have them.
ORIGINAL = ((r"^layers\.1\.downsample", "layers.0.downsample"), (r"^head\.fc", "head"))
NETS = {
    # Squares, windows and merging that are not whole.
    "swin": Net("Swin", dict(SIZES, **EPSILON, image_size=64, window_size=4), without=TRANSFORMERS | FIRST | {
        "biases of inputs": parameters("q_proj.bias", "v_proj.bias"), "order of filling up": shift_order,
    }, names=OLD),
    # As transformers calls tensors since 5. The last stage has no room for shifts.
    "swin-newer": Net(
        "Swin", dict(
            SIZES, **EPSILON, image_size=64, window_size=4, depths=[1, 2, 2], num_heads=[1, 2, 4], qkv_bias=False,
            hidden_act="gelu_new"),
        size=(64, 80), without=TRANSFORMERS | FIRST | {"room": shifted_all}),
    "swinv2": Net(
        "Swinv2", dict(SIZES, **EPSILON, image_size=64, window_size=4, pretrained_window_sizes=[6, 0]),
        without=TRANSFORMERS | SECOND | {"biases of inputs": parameters("query.bias", "value.bias")}),
    # Windows of the second stage are as large as the pictures allow that it was made for.
    "swinv2-fitted": Net(
        "Swinv2", dict(SIZES, **EPSILON, image_size=32, window_size=5, qkv_bias=False), size=(40, 56),
        without=TRANSFORMERS | SECOND),
    "timm-swin": Net(
        "swin_tiny_patch4_window7_224", dict(SIZES, window_size=4, img_size=[70, 90]), without=TIMM | FIRST | {
            "biases of inputs": parameters("qkv.bias"),
        }),
    "timm-swin-original": Net(
        "swin_tiny_patch4_window7_224", dict(SIZES, window_size=4, img_size=[48, 48]), size=(48, 48),
        without=TIMM | FIRST, names=ORIGINAL),
    "timm-swin-windows": Net(
        "swin_s3_tiny_224", dict(
            SIZES, window_size=[3, 5], img_size=[64, 64], always_partition=True, dynamic_img_size=True, qkv_bias=False),
        size=(36, 28), without=TIMM | FIRST),
    "timm-swinv2": Net(
        "swinv2_tiny_window8_256", dict(
            SIZES, window_size=8, img_size=[72, 48], pretrained_window_sizes=[6, 3], act_layer="gelu_tanh"),
        size=(72, 48), without=TIMM | {
            "distances": parameters("cpb_mlp.2"), "factors": parameters("logit_scale"), "limit of factors": unlimited,
            "biases of inputs": parameters("q_bias", "v_bias"),
        }),
}


def randomise(model):
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("logit_scale"):
                value.copy_(torch.randn_like(value) + 2)
                value[0] = 5.5
            elif "relative_position_bias_table" in name:
                value.copy_(torch.randn_like(value) * 2)
            elif value.dim() > 1:
                value.copy_(torch.randn_like(value) * math.sqrt(2 / value[0].numel()))
            else:
                value.copy_(torch.randn_like(value) * 0.3 + ("norm" in name and name.endswith("weight")))
            # As the file has it.
            value.copy_(value.bfloat16().float())


def make(name, net):
    torch.manual_seed(sum(map(ord, name)))
    is_timm = net.name.islower()

    def build():
        if is_timm:
            return timm.create_model(net.name, num_classes=3, **net.arguments).eval()
        kind = getattr(transformers, net.name + "ForImageClassification")
        return kind(kind.config_class(**net.arguments, **LABELS)).eval().float()

    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    model = build()
    randomise(model)
    kept = {key: value.clone() for key, value in model.named_parameters()}

    def stored_name(key):
        for pattern, replacement in net.names or ():
            key = re.sub(pattern, replacement, key)
        return key

    safetensors.torch.save_file(
        {stored_name(key): value.detach().bfloat16() for key, value in kept.items()}, folder / "model.safetensors",
        metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (timm_folder if is_timm else transformers_folder)(folder, net, model)

    def load():
        model = build()
        model.load_state_dict(kept, strict=False)
        return model

    vector, logits = outputs(load(), net.size)
    moves = {}
    for what, change in net.without.items():
        model = load()
        with torch.no_grad():
            change(model)
        move = (outputs(model, net.size)[1] - logits).abs().max().item()
        assert move > 0.001, f"{name}: without {what} the logits move by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"window-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "size": list(net.size), "vector": numbers(vector),
        "logits": numbers(logits), "without": moves,
    })


# Plans of published nets

PLANS = """swin_tiny_patch4_window7_224 swin_small_patch4_window7_224 swin_base_patch4_window7_224
swin_base_patch4_window12_384 swin_large_patch4_window7_224 swin_large_patch4_window12_384 swin_s3_tiny_224 swin_s3_small_224
swin_s3_base_224 swinv2_tiny_window16_256 swinv2_tiny_window8_256 swinv2_small_window16_256 swinv2_small_window8_256
swinv2_base_window16_256 swinv2_base_window8_256 swinv2_base_window12_192 swinv2_base_window12to16_192to256
swinv2_base_window12to24_192to384 swinv2_large_window12_192 swinv2_large_window12to16_192to256
swinv2_large_window12to24_192to384""".split()


def plan(name):
    """A line for each tensor, and for the windows of each layer, sorted; and the size of pictures."""
    with torch.device("meta"):
        model = timm.create_model(name)
    lines = [f"{key} {' '.join(map(str, value.shape))}" for key, value in model.named_parameters()]
    for path, module in model.named_modules():
        if type(module).__name__ in ("SwinTransformerBlock", "SwinTransformerV2Block"):
            counted = getattr(module.attn, "pretrained_window_size", (0, 0))
            sizes = [*module.window_size, *module.shift_size, *counted, module.attn.num_heads]
            lines.append(f"{path} {' '.join(map(str, sizes))}")
    return sorted(lines), model.pretrained_cfg["input_size"]


def make_plans():
    plans = {"reference": REFERENCE}
    for name in PLANS:
        lines, size = plan(name)
        plans[name] = {"lines": len(lines), "digest": digest(lines), "size": list(size)}
    write(FIXTURES / "goldens" / "window-plans.json", plans)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plan"]:
        print("\n".join(plan(sys.argv[2])[0]))
        sys.exit()
    for name, net in NETS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, net)
            print(name)
    if not sys.argv[1:] or "plans" in sys.argv[1:]:
        make_plans()
        print("plans")
