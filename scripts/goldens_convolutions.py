#!/usr/bin/env python3
"""Makes small random convolutional nets, and writes down what timm and transformers say of pictures with them.

    venv/bin/python scripts/goldens_convolutions.py [NAME]...

See scripts/goldens_picture_inputs.py for the environment. Writes Tests/Fixtures/micro/NAME and
Tests/Fixtures/goldens/convolution-NAME.json for each line of NETS, or for those named, and
Tests/Fixtures/goldens/convolution-plans.json: of each net of PLANS how many lines describe its layers, and a digest of
them, so that the tables of published nets are compared without their weights. A picture is made by `pixels`, which the
tests make too, in the size that the net takes, so that nothing is resized.

Each mechanism matters: `without` names changes that must move the outputs by ten times what a test tolerates. The golden
says how far each moves them.
"""

import json
import math
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; what timm takes from it does not, but registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        try:
            operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import timm
import transformers
from timm.layers import BatchNormAct2d, Conv2dSame
from timm.models._hub import save_config_for_hf

from goldens import MICRO, FIXTURES, link, numbers, write
from goldens_towers import pixels

REFERENCE = f"timm {timm.__version__}, transformers {transformers.__version__}, torch {torch.__version__}, float32, CPU"
LABELS = {"id2label": {"0": "cat", "1": "dog", "2": "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}
NAMES = ["cat", "dog", "owl"]


# Changes for `without`: functions of a model in place.

class Same(torch.nn.Module):
    def forward(self, x, *_):
        return x


def replaced(kind, replacement, path=""):
    """Puts another module in the place of those of a kind, by the names of their classes."""
    def change(model):
        found = 0
        for name, module in list(model.named_modules()):
            for part, child in list(module.named_children()):
                if type(child).__name__ == kind and path in f"{name}.{part}":
                    setattr(module, part, replacement())
                    found += 1
        assert found, kind
    return change


def norms(part, value):
    """Sets a part of all batch norms."""
    def change(model):
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                if part == "eps":
                    module.eps = value
                else:
                    getattr(module, part).fill_(value)
    return change


def parameters(*parts):
    def change(model):
        found = [value for name, value in model.named_parameters() if any(part in name for part in parts)]
        assert found, parts
        for value in found:
            value.zero_()
    return change


def no_shortcuts(model):
    found = [module for module in model.modules() if getattr(module, "has_skip", False)]
    assert found
    for module in found:
        module.has_skip = False


def symmetric(model):
    """Padding as much before as behind."""
    for module in list(model.modules()):
        for part, child in list(module.named_children()):
            if isinstance(child, Conv2dSame):
                plain = torch.nn.Conv2d(
                    child.in_channels, child.out_channels, child.kernel_size, child.stride,
                    tuple(side // 2 for side in child.kernel_size), groups=child.groups, bias=child.bias is not None)
                plain.load_state_dict(child.state_dict())
                setattr(module, part, plain)


def ungrouped(model):
    """Groups that read the inputs of the next one."""
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d) and module.groups > 1:
            module.weight.copy_(module.weight.roll(module.weight.shape[0] // module.groups, 0))


def early_stride(model):
    for block in (b for stage in (model.layer2, model.layer3, model.layer4) for b in stage):
        if block.conv2.stride == (2, 2):
            block.conv1.stride, block.conv2.stride = (2, 2), (1, 1)


def layer_norms(part, value):
    """The same of all norms of places."""
    def change(model):
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                if part == "eps":
                    module.eps = value
                else:
                    getattr(module, part).fill_(value)
    return change


def filled(part, value):
    """Sets all parameters whose names end so."""
    def change(model):
        found = [parameter for name, parameter in model.named_parameters() if name.endswith(part)]
        assert found, part
        for parameter in found:
            parameter.fill_(value)
    return change


BATCH = {
    "running means": norms("running_mean", 0), "running variances": norms("running_var", 1),
    "weights of norms": norms("weight", 1), "biases of norms": norms("bias", 0),
}
MOBILE = BATCH | {
    "epsilon": norms("eps", 0.01), "squeezing": replaced("SqueezeExcite", Same),
    "bias of the classifier": parameters("classifier.bias"),
}
RESNET = BATCH | {
    "epsilon": norms("eps", 0.01), "bias of the classifier": parameters("fc.bias"),
    "way around": parameters("downsample"), "largest of a window": replaced("MaxPool2d", lambda: torch.nn.AvgPool2d(3, 2, 1)),
}

LAYERS = {
    "epsilon": layer_norms("eps", 0.1), "weights of norms": layer_norms("weight", 1), "biases of norms": layer_norms("bias", 0),
}
CONVNEXT = LAYERS | {"bias of the classifier": parameters("head.fc.bias"), "biases of channels": parameters("conv_dw.bias")}

VIT = BATCH | {
    "weights of norms of places": layer_norms("weight", 1), "biases of norms of places": layer_norms("bias", 0),
    "epsilon of norms of places": layer_norms("eps", 0.1), "SiLU": replaced("SiLUActivation", torch.nn.ReLU),
}


def one_head(model):
    for module in model.modules():
        if hasattr(module, "num_attention_heads"):
            module.attention_head_size *= module.num_attention_heads


def swapped(*names):
    """The weights of two parts in each other's places."""
    def change(model):
        parts = dict(model.named_modules())
        first = [name for name in parts if name.endswith(names[0])]
        assert first, names
        for name in first:
            one, other = parts[name], parts[name[:-len(names[0])] + names[1]]
            one.weight.data, other.weight.data = other.weight.data.clone(), one.weight.data.clone()
    return change


def symmetric_later(model):
    """The same padding, as much before as behind, where the configuration is read at every step."""
    model.config.tf_padding = False
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.padding = tuple(side // 2 for side in module.kernel_size)


def no_residuals(model):
    found = 0
    for module in model.modules():
        for part in ("use_residual", "apply_dropout"):
            if getattr(module, part, False):
                setattr(module, part, False)
                found += 1
    assert found


def even_padding(model):
    for module in model.modules():
        if isinstance(module, torch.nn.ZeroPad2d):
            module.padding = tuple(max(module.padding) for _ in module.padding)


@dataclass
class Net:
    #: timm's name, or transformers' class without its end.
    name: str
    #: `model_args` of timm, or the configuration of transformers.
    arguments: dict = field(default_factory=dict)
    #: Of the pictures: height and width.
    size: tuple = (48, 80)
    without: dict = field(default_factory=dict)
    #: A net whose weights it shares.
    weights: str = ""
    #: Whether it has no labels.
    is_bare: bool = False


NETS = {
    "mobilenetv3": Net("mobilenetv3_small_050", size=(70, 90), without=MOBILE | {
        "shortcuts": no_shortcuts, "hard swish": replaced("Hardswish", torch.nn.ReLU), "ReLU": replaced("ReLU", torch.nn.Hardswish, "blocks.1"),
        "hard sigmoid": replaced("Hardsigmoid", torch.nn.Sigmoid), "bias of the head": parameters("conv_head.bias"),
        "activation of the head": lambda model: setattr(model, "act2", Same()),
    }),
    "efficientnet": Net("test_efficientnet", without=MOBILE | {
        "SiLU": replaced("SiLU", torch.nn.ReLU), "gate": replaced("Sigmoid", torch.nn.Hardsigmoid),
    }),
    "efficientnet-same": Net(
        "test_efficientnet", dict(pad_type="same", bn_eps=0.02), weights="efficientnet",
        without=dict(MOBILE, epsilon=norms("eps", 1e-5)) | {"padding": symmetric}),
    "resnet-timm": Net(
        "resnet50", dict(layers=[1, 2, 1, 1], channels=[8, 8, 16, 16]), without=RESNET | {"stride": early_stride}),
    "resnet-deep": Net("resnet18d", dict(layers=[2, 1, 1, 1], channels=[8, 8, 16, 16]), size=(50, 70), without=RESNET | {
        "means of the way around": replaced("AvgPool2d", lambda: torch.nn.MaxPool2d(2, 2, ceil_mode=True)),
    }),
    "resnext": Net(
        "resnext50_32x4d", dict(layers=[1, 1, 1, 1], channels=[32, 32, 32, 32]), without=RESNET | {"groups": ungrouped}),
    "resnet": Net("ResNet", dict(
        embedding_size=8, hidden_sizes=[16, 24, 32], depths=[1, 2, 1], layer_type="bottleneck"), without=BATCH),
    "resnet-basic": Net("ResNet", dict(
        embedding_size=8, hidden_sizes=[8, 16], depths=[2, 1], layer_type="basic", downsample_in_first_stage=True),
        without=BATCH),
    "resnet-early": Net("ResNet", dict(
        embedding_size=8, hidden_sizes=[16, 32], depths=[1, 1], downsample_in_bottleneck=True, hidden_act="silu"),
        without=BATCH),
    "convnext-timm": Net("test_convnext", dict(depths=[1, 1, 2, 1], dims=[8, 8, 16, 16]), size=(70, 90), without=CONVNEXT | {
        "factors": filled("gamma", 1), "GELU": replaced("GELUTanh", torch.nn.SiLU),
    }),
    "convnext-tiered": Net("convnext_atto_ols", dict(depths=[1, 1, 1, 1], dims=[16, 16, 24, 24]), without=CONVNEXT | {
        "factors": filled("gamma", 1), "GELU": replaced("GELU", torch.nn.SiLU),
    }),
    "convnext-first": Net("convnext_tiny_hnf", dict(depths=[1, 1, 1, 1], dims=[8, 8, 16, 16], norm_eps=0.02), without=CONVNEXT | {
        "norm of the plane": replaced("LayerNorm2d", Same, "norm_pre"),
    }),
    "convnext-hidden": Net(
        "convnext_large_mlp", dict(depths=[1, 1, 1, 1], dims=[8, 8, 16, 16], head_hidden_size=12), without=CONVNEXT | {
            "hidden layer": replaced("GELU", Same, "head"), "norm of the mean": replaced("LayerNorm2d", Same, "head"),
        }),
    "convnextv2-timm": Net("convnextv2_atto", dict(depths=[1, 1, 2, 1], dims=[8, 8, 16, 16]), size=(70, 90), without=CONVNEXT | {
        "responses": replaced("GlobalResponseNorm", Same), "biases of responses": parameters("grn.bias"),
    }),
    "convnext": Net("ConvNext", dict(
        hidden_sizes=[8, 16, 24], depths=[1, 2, 1], num_stages=3, layer_norm_eps=0.02), size=(50, 70), without=LAYERS | {
            "factors": filled("layer_scale_parameter", 1), "GELU": replaced("GELUActivation", torch.nn.SiLU),
        }),
    "convnextv2": Net("ConvNextV2", dict(
        hidden_sizes=[8, 16], depths=[1, 2], num_stages=2, patch_size=2), without=LAYERS | {
            "responses": replaced("ConvNextV2GRN", Same), "biases of responses": parameters("grn.bias"),
        }),
    "mobilevit": Net("MobileViT", dict(
        hidden_sizes=[8, 12, 16], neck_hidden_sizes=[8, 8, 8, 8, 12, 12, 16], num_attention_heads=2, expand_ratio=2.0),
        size=(96, 128), without=VIT | {
            "heads": one_head, "keys": parameters("key.weight"), "keys and values apart": swapped("query", "value"),
            "the other channels of what is joined": parameters("conv_projection"),
        }),
    "mobilevit-resized": Net("MobileViT", dict(
        hidden_sizes=[8, 12, 16], neck_hidden_sizes=[8, 8, 8, 8, 12, 12, 16], expand_ratio=2.0, qkv_bias=False, mlp_ratio=1.5,
        conv_kernel_size=5, patch_size=3, hidden_act="gelu"), size=(70, 90), without=BATCH | {"keys": parameters("key.weight")}),
    "mobilenet-v1": Net("MobileNetV1", dict(depth_multiplier=0.03), size=(70, 90), without=BATCH | {
        "epsilon": norms("eps", 0.1), "six": replaced("ReLU6", torch.nn.SiLU), "padding": symmetric_later,
    }),
    "mobilenet-v2": Net("MobileNetV2", dict(
        depth_multiplier=0.05, finegrained_output=False, expand_ratio=2.0, first_layer_is_expansion=False), size=(70, 90),
        without=BATCH | {
            "epsilon": norms("eps", 0.1), "six": replaced("ReLU6", torch.nn.SiLU), "padding": symmetric_later,
            "shortcuts": no_residuals,
        }),
    "mobilenet-v2-even": Net("MobileNetV2", dict(
        depth_multiplier=0.05, depth_divisible_by=4, min_depth=12, expand_ratio=2.0, tf_padding=False, hidden_act="sigmoid",
        finegrained_output=False), size=(70, 90), without=BATCH | {"shortcuts": no_residuals}),
    "efficientnet-keras": Net("EfficientNet", dict(
        width_coefficient=0.25, depth_coefficient=0.8, hidden_dim=320, kernel_sizes=[3, 5, 3, 5], in_channels=[32, 16, 24, 48],
        out_channels=[16, 24, 48, 48], strides=[1, 2, 2, 2], num_block_repeats=[1, 2, 2, 1], expand_ratios=[1, 6, 4, 2],
        depthwise_padding=[5], depth_divisor=4), size=(70, 90), without=BATCH | {
            "epsilon": norms("eps", 0.1), "squeezing": replaced("EfficientNetSqueezeExciteLayer", Same),
            "SiLU": replaced("SiLU", torch.nn.ReLU), "even padding": even_padding, "shortcuts": no_residuals,
        }),
    "regnet": Net("RegNet", dict(
        embedding_size=8, hidden_sizes=[8, 16, 24], depths=[1, 2, 1], groups_width=4, downsample_in_first_stage=False),
        size=(50, 70), without=BATCH | {"groups": ungrouped, "squeezing": replaced("RegNetSELayer", Same)}),
    "regnet-x": Net("RegNet", dict(
        embedding_size=8, hidden_sizes=[8, 16, 24], depths=[1, 2, 1], groups_width=8, layer_type="x", hidden_act="silu"),
        size=(50, 70), without=BATCH | {"groups": ungrouped, "SiLU": replaced("SiLUActivation", torch.nn.ReLU)}),
    "edgenext": Net("edgenext_xx_small", dict(depths=[1, 1, 2, 1], dims=[8, 12, 20, 28], heads=[2, 2, 4, 4]), size=(70, 90),
        without=LAYERS | {
            "factors": filled("gamma", 1), "factors of attention": filled("gamma_xca", 0), "GELU": replaced("GELU", torch.nn.SiLU),
            "factors of scores": filled("temperature", 1), "places": parameters("token_projection"),
            "directions of keys": parameters("qkv.bias"), "shares": parameters("convs.1"),
        }),
    "edgenext-overlapping": Net("edgenext_small_rw", dict(depths=[1, 2, 2, 2], dims=[8, 8, 16, 32], heads=[2, 2, 4, 4]),
        size=(96, 128), without=LAYERS | {"factors": filled("gamma", 1), "shares": parameters("convs.2")}),
    "dinov3-convnext": Net("DINOv3ConvNext", dict(
        hidden_sizes=[8, 16, 24], depths=[1, 2, 1], layer_norm_eps=0.001), size=(50, 70), is_bare=True,
        without=LAYERS | {"factors": filled("gamma", 1)}),
}


def randomise(model):
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            if not value.is_floating_point():
                continue
            if value.dim() > 1:
                value.copy_(torch.randn_like(value) * math.sqrt(2 / value[0].numel()))
            elif name.endswith("running_var"):
                value.copy_(torch.rand_like(value) + 0.5)
            else:
                value.copy_(torch.randn_like(value) * 0.2)
        for module in model.modules():
            if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.LayerNorm)):
                module.weight.add_(1)
        for value in model.state_dict().values():
            if value.is_floating_point():
                # As the file has it.
                value.copy_(value.bfloat16().float())


def save(model, folder):
    state = {key: value.bfloat16() if value.is_floating_point() else value for key, value in model.state_dict().items()}
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def values(size):
    return ((pixels(*size).double() / 255 - 0.5) / 0.5).float().permute(2, 0, 1)[None]


def outputs(model, size):
    """The vector before the classifier, of length 1, and the logits, which a net without labels does not have."""
    with torch.no_grad():
        if hasattr(model, "forward_head"):
            features = model.forward_features(values(size))
            vector = model.forward_head(features, pre_logits=True)[0]
            logits = model(values(size))[0]
        elif type(model).__name__.endswith("Model"):
            vector = model(values(size)).pooler_output[0].flatten()
            return vector / vector.norm(), None
        else:
            vector = next(model.children())(values(size)).pooler_output[0].flatten()
            logits = model(values(size)).logits[0]
    return vector / vector.norm(), logits


def timm_folder(folder, net, model):
    """As timm writes it, but for the size of pictures and for what makes them: nothing is resized."""
    save_config_for_hf(model, folder / "config.json")
    config = json.loads((folder / "config.json").read_text())
    config["model_args"] = net.arguments or None
    config = {key: value for key, value in config.items() if value is not None}
    config["label_names"] = NAMES
    settings = config["pretrained_cfg"]
    settings.update(
        input_size=[3, *net.size], crop_pct=1.0, mean=[0.5] * 3, std=[0.5] * 3, num_classes=3, interpolation="bilinear",
        crop_mode="center")
    for key in ("test_input_size", "test_crop_pct", "pool_size", "test_pool_size", "min_input_size"):
        settings.pop(key, None)
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")


def transformers_folder(folder, net, model):
    model.config.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    for key in ("transformers_version", "dtype"):
        config.pop(key, None)
    config["architectures"] = [type(model).__name__]
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    height, width = net.size
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_resize": True, "size": {"height": height, "width": width}, "resample": 2, "do_rescale": True,
        "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "image_processor_type": "ViTImageProcessor",
    }, indent=1) + "\n")


def make(name, net):
    torch.manual_seed(sum(map(ord, name)))
    is_timm = net.name.islower()

    def build():
        if is_timm:
            return timm.create_model(net.name, num_classes=3, **net.arguments).eval()
        if net.is_bare:
            kind = getattr(transformers, net.name + "Model")
            return kind(kind.config_class(**net.arguments)).eval().float()
        kind = getattr(transformers, net.name + "ForImageClassification")
        return kind(kind.config_class(**net.arguments, **LABELS)).eval().float()

    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    model = build()
    if net.weights:
        link(folder, "model.safetensors", f"../{net.weights}/model.safetensors")
    else:
        randomise(model)
        save(model, folder)
    (timm_folder if is_timm else transformers_folder)(folder, net, model)
    stored = {key: value.float() for key, value in safetensors.torch.load_file(folder / "model.safetensors").items()}

    def load():
        model = build()
        model.load_state_dict(stored)
        return model

    vector, logits = outputs(load(), net.size)
    moves = {}
    for what, change in net.without.items():
        model = load()
        with torch.no_grad():
            change(model)
        other = outputs(model, net.size)
        move = (other[0] - vector if net.is_bare else other[1] - logits).abs().max().item()
        assert move > (0.0001 if net.is_bare else 0.001), f"{name}: without {what} the outputs move by {move} only"
        moves[what] = round(move, 4)
    golden = {"model": f"micro/{name}", "reference": REFERENCE, "size": list(net.size), "vector": numbers(vector)}
    if not net.is_bare:
        golden["logits"] = numbers(logits)
    write(FIXTURES / "goldens" / f"convolution-{name}.json", golden | {"without": moves})


# Plans of published nets

MOBILES = """mobilenetv3_large_075 mobilenetv3_large_100 mobilenetv3_large_150d mobilenetv3_small_050 mobilenetv3_small_075
mobilenetv3_small_100 mobilenetv3_rw tf_mobilenetv3_large_075 tf_mobilenetv3_large_100 tf_mobilenetv3_large_minimal_100
tf_mobilenetv3_small_075 tf_mobilenetv3_small_100 tf_mobilenetv3_small_minimal_100 mobilenetv2_035 mobilenetv2_050
mobilenetv2_075 mobilenetv2_100 mobilenetv2_140 mobilenetv2_110d mobilenetv2_120d efficientnet_b0 efficientnet_b1
efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnet_b5 efficientnet_lite0 efficientnet_lite4 tf_efficientnet_b0
tf_efficientnet_b1 tf_efficientnet_b2 tf_efficientnet_b3 tf_efficientnet_b4 tf_efficientnet_b7 tf_efficientnet_lite1
tf_efficientnetv2_b0 tf_efficientnetv2_b1 tf_efficientnetv2_b2 tf_efficientnetv2_b3 tf_efficientnetv2_s tf_efficientnetv2_m
efficientnetv2_rw_t efficientnetv2_rw_s efficientnetv2_rw_m efficientnetv2_s efficientnetv2_l test_efficientnet""".split()
CONVNEXTS = """convnext_atto convnext_atto_ols convnext_femto convnext_femto_ols convnext_pico convnext_pico_ols convnext_nano
convnext_nano_ols convnext_tiny_hnf convnext_tiny convnext_small convnext_base convnext_large convnext_large_mlp
convnext_xlarge convnext_xxlarge convnextv2_atto convnextv2_femto convnextv2_pico convnextv2_nano convnextv2_tiny
convnextv2_small convnextv2_base convnextv2_large convnextv2_huge test_convnext""".split()
VITS = "mobilevit_xxs mobilevit_xs mobilevit_s".split()
REGNETS = [
    f"regnetx_{size}" for size in "002 004 004_tv 006 008 016 032 040 064 080 120 160 320".split()] + [
    f"regnety_{size}" for size in "002 004 006 008 008_tv 016 032 040 064 080 080_tv 120 160 320 640 1280 2560".split()]
EDGES = "edgenext_xx_small edgenext_x_small edgenext_small edgenext_base edgenext_small_rw".split()
#: Nets whose classifiers are called alike.
ENDING_ALIKE = CONVNEXTS + VITS + REGNETS + EDGES
PLANS = MOBILES + ENDING_ALIKE + """resnet10t resnet14t resnet18 resnet18d resnet26 resnet26t resnet26d resnet34 resnet34d resnet50 resnet50c
resnet50d resnet50s resnet50t resnet101 resnet101d resnet152 resnet200d wide_resnet50_2 wide_resnet101_2 resnext50_32x4d
resnext50d_32x4d resnext101_32x4d resnext101_32x8d resnext101_32x16d resnext101_64x4d test_resnet""".split()
ACTIVATIONS = {
    "ReLU": "relu", "ReLU6": "relu6", "SiLU": "silu", "Hardswish": "hardSwish", "Sigmoid": "sigmoid",
    "Hardsigmoid": "hardSigmoid", "Identity": "none", "GELU": "gelu", "GELUTanh": "geluTanh",
}


def plan(name):
    """A line for each layer with weights, sorted."""
    with torch.device("meta"):
        model = timm.create_model(name)
    lines = []
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            padding = "same" if isinstance(module, Conv2dSame) else module.padding[0]
            shape = " ".join(map(str, module.weight.shape))
            lines.append(f"{path} {shape} s{module.stride[0]} p{padding} g{module.groups} b{int(module.bias is not None)}")
        elif isinstance(module, torch.nn.BatchNorm2d):
            activation = f" {ACTIVATIONS[type(module.act).__name__]}" if isinstance(module, BatchNormAct2d) else ""
            lines.append(f"{path} {module.num_features} e{module.eps:.0e}{activation}")
        elif isinstance(module, torch.nn.Linear):
            lines.append(f"{path} {module.out_features} {module.in_features}")
        elif isinstance(module, torch.nn.LayerNorm):
            lines.append(f"{path} {module.normalized_shape[0]} e{module.eps:.0e}")
        elif type(module).__name__ == "GlobalResponseNorm":
            lines.append(f"{path} {module.weight.numel()} e{module.eps:.0e} response")
        elif type(module).__name__ == "SqueezeExcite":
            lines.append(f"{path} {ACTIVATIONS[type(module.act1).__name__]} {ACTIVATIONS[type(module.gate).__name__]}")
        elif type(module).__name__ == "SEModule":
            lines.append(f"{path} {ACTIVATIONS[type(module.act).__name__]} {ACTIVATIONS[type(module.gate).__name__]}")
    lines += [f"{path} {value.numel()}" for path, value in model.named_parameters() if path.endswith((".gamma", ".gamma_xca"))]
    if name in ENDING_ALIKE:
        parents = {f"{path}.{part}": module for path, module in model.named_modules() for part, _ in module.named_children()}
        alone = [
            ACTIVATIONS[type(module).__name__] for path, module in model.named_modules()
            if type(module).__name__ in ACTIVATIONS and not isinstance(module, torch.nn.Identity)
            and not isinstance(parents[f".{path}" if "." not in path else path], BatchNormAct2d)
            and type(parents[f".{path}" if "." not in path else path]).__name__ not in ("SqueezeExcite", "SEModule")]
        lines += [f"{kind} {alone.count(kind)}" for kind in set(alone)]
        heads = [module.num_heads for module in model.modules() if hasattr(module, "num_heads")]
        lines += [f"{count} heads {heads.count(count)}" for count in set(heads)]
    if name in MOBILES:
        lines.append(f"shortcuts {sum(bool(getattr(module, 'has_skip', False)) for module in model.modules())}")
    return sorted(lines)


def digest(lines):
    """FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/)."""
    value = 0xCBF29CE484222325
    for byte in "\n".join(lines).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def make_plans():
    plans = {"reference": REFERENCE}
    for name in PLANS:
        lines = plan(name)
        plans[name] = {"lines": len(lines), "digest": digest(lines)}
    write(FIXTURES / "goldens" / "convolution-plans.json", plans)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plan"]:
        print("\n".join(plan(sys.argv[2])))
        sys.exit()
    for name, net in NETS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, net)
            print(name)
    if not sys.argv[1:] or "plans" in sys.argv[1:]:
        make_plans()
        print("plans")
