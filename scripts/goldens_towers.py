#!/usr/bin/env python3
"""Makes small random models of pictures, and writes down what transformers says of pictures with them.

    venv/bin/python scripts/goldens_towers.py [NAME]...

See scripts/goldens.py for the environment. Writes Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/tower-NAME.json for
each line of TOWERS, or for those named. A picture is made by `pixels`, which the tests make too, in the size that the model
takes, so that nothing is resized; the processor's own steps have goldens of their own.

Each mechanism matters: `without` names changes that must move the outputs by ten times what a test tolerates. The golden
says how far each moves them.
"""

import json
import sys
from dataclasses import dataclass, field

import safetensors.torch
import torch
import transformers

from goldens import MICRO, FIXTURES, REFERENCE, numbers, write
from goldens_encoders import Same, module, zero

LABELS = {"id2label": {"0": "cat", "1": "dog", "2": "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}
SIZES = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8, num_channels=3,
    hidden_act="gelu", qkv_bias=True,
)


def pixels(height, width):
    """Levels of a picture, `[height, width, 3]`."""
    return torch.tensor([
        [[(7 * x + 13 * y + 50 * c + x * y * (c + 1)) % 256 for c in range(3)] for x in range(width)] for y in range(height)
    ])


@dataclass
class Tower:
    #: The class's name without its end.
    stem: str
    config: dict
    #: Of the pictures: height and width.
    size: tuple = (32, 32)
    #: Factors of weights whose names hold a part.
    scales: dict = field(default_factory=dict)
    without: dict = field(default_factory=dict)
    drop: tuple = ()
    #: The rest of the class's name. A model without labels has its vector in their place.
    kind: str = "ForImageClassification"
    #: Whether labels are made of the pooler's output, which is then the vector; otherwise that is the first row.
    pools: bool = False


VIT = {
    "positions": zero("position_embeddings"), "class token": zero("cls_token"),
    "epsilon": dict(layer_norm_eps=1e-12), "exact gelu": dict(hidden_act="gelu_new"),
    "norm before attention": module("vit.layers.*.layernorm_before", Same()),
    "norm before the feed-forward block": module("vit.layers.*.layernorm_after", Same()),
    "final norm": module("vit.layernorm", Same()), "biases of queries": zero("query.bias", "q_proj.bias"),
    "bias of patches": zero("projection.bias"), "bias of the head": zero("classifier.bias"),
}


def swapped_positions(model):
    """Places of squares down and across exchanged: seen where the grid is not square, or positions are interpolated."""
    for name, value in model.named_parameters():
        if "position_embeddings" in name:
            first = value.shape[1] - 16
            grid = value[:, first:].reshape(1, 4, 4, -1)
            value[:, first:] = grid.transpose(1, 2).reshape(1, 16, -1)


DINO = {
    "positions": zero("position_embeddings"), "order of positions": swapped_positions, "class token": zero("cls_token"),
    "layer scale": zero("lambda1", to=1.0), "bias of the head": zero("classifier.bias"),
}

def swapped_directions(model):
    """Down and across exchanged in what turns."""
    rope = model.rope_embeddings
    forward = rope.forward
    rope.forward = lambda values: forward(values.transpose(2, 3))


def without_turns(model):
    rope = model.rope_embeddings
    forward = rope.forward
    rope.forward = lambda values: tuple(x * 0 + one for x, one in zip(forward(values), (1, 0)))


# Without a setting for all biases of inputs.
PLAIN = {key: value for key, value in SIZES.items() if key != "qkv_bias"} | dict(intermediate_size=64, layer_norm_eps=0.01)
DINO3 = dict(num_register_tokens=2, rope_theta=100.0, **PLAIN)
DINO3_WITHOUT = {
    "turns": without_turns, "directions": swapped_directions, "base": dict(rope_theta=10.0),
    "registers": zero("register_tokens"), "layer scale": zero("lambda1", to=1.0),
}
BEIT = dict(layer_scale_init_value=0.1, **PLAIN)


def swapped_distances(model):
    """Distances down and across exchanged."""
    for name, value in model.named_parameters():
        if "relative_position_bias_table" in name:
            value[:49] = value[:49].reshape(7, 7, -1).transpose(0, 1).reshape(49, -1)


def last_distances(model):
    """Those of the first row."""
    for name, value in model.named_parameters():
        if "relative_position_bias_table" in name:
            value[49:] = 0


BEIT_WITHOUT = {
    "distances": zero("relative_position_bias_table"), "order of distances": swapped_distances,
    "distances of the first row": last_distances, "layer scale": zero("lambda_", to=1.0),
    "norm of the mean": module("beit.pooler.layernorm", Same()), "bias of the head": zero("classifier.bias"),
}

TOWERS = {
    "vit": Tower("ViT", dict(intermediate_size=64, layer_norm_eps=0.01, **SIZES), scales={"classifier": 4}, without=VIT),
    "vit-without-bias": Tower(
        "ViT", dict(SIZES, intermediate_size=64, layer_norm_eps=0.01, qkv_bias=False, image_size=[32, 48]), size=(32, 48),
        without={"positions": zero("position_embeddings")}),
    "deit": Tower(
        "DeiT", dict(intermediate_size=64, layer_norm_eps=0.01, **SIZES),
        without={"positions": zero("position_embeddings"), "distillation token": zero("distillation_token")}),
    "dinov2": Tower("Dinov2", dict(mlp_ratio=2, layer_norm_eps=0.01, **SIZES), size=(40, 48), without=DINO),
    "dinov2-gated": Tower(
        "Dinov2", dict(mlp_ratio=2, use_swiglu_ffn=True, layer_norm_eps=0.01, **SIZES), without={
            "layer scale": zero("lambda1", to=1.0), "form of the feed-forward block": zero("up_proj.weight", "weights_in.weight"),
        }),
    "dinov2-registers": Tower(
        "Dinov2WithRegisters", dict(mlp_ratio=2, num_register_tokens=3, layer_norm_eps=0.01, **SIZES), size=(24, 24),
        without=DINO | {"registers": zero("register_tokens")}),
    "dinov3": Tower("DINOv3ViT", DINO3, size=(32, 48), without=DINO3_WITHOUT, kind="Model"),
    "dinov3-gated": Tower(
        "DINOv3ViT", dict(DINO3, use_gated_mlp=True, hidden_act="silu", num_register_tokens=0, key_bias=True),
        without={"base": dict(rope_theta=10.0), "biases of keys": zero("k_proj.bias"),
                 "form of the feed-forward block": zero("up_proj.weight")}, kind="Model"),
    "beit": Tower("Beit", dict(BEIT, use_relative_position_bias=True), without=BEIT_WITHOUT, pools=True),
    "beit-larger": Tower(
        "Beit", dict(BEIT, use_relative_position_bias=True, use_absolute_position_embeddings=True), size=(40, 32),
        without=BEIT_WITHOUT | {"positions": zero("position_embeddings")}, pools=True),
    "beit-shared": Tower(
        "Beit", dict(BEIT, use_shared_relative_position_bias=True, use_mean_pooling=False, layer_scale_init_value=0.0), without={
            "distances": zero("relative_position_bias_table"), "class token": zero("cls_token"),
            "final norm": module("beit.layernorm", Same()),
        }),
    "beit-vectors": Tower(
        "Beit", dict(BEIT, use_relative_position_bias=True), kind="Model", pools=True,
        without={"norm of the mean": module("pooler.layernorm", Same())}),
    "data2vec-vision": Tower(
        "Data2VecVision", dict(BEIT, use_relative_position_bias=True, use_absolute_position_embeddings=True), pools=True,
        without={"distances": zero("relative_position_bias_table"), "positions": zero("position_embeddings")}),
    "vit-mae": Tower(
        "ViTMAE", dict(intermediate_size=64, layer_norm_eps=0.01, mask_ratio=0.0, **SIZES), kind="Model",
        without={"positions": zero("position_embeddings"), "final norm": module("layernorm", Same())}),
    "vit-msn": Tower(
        "ViTMSN", dict(intermediate_size=64, layer_norm_eps=0.01, **SIZES), kind="Model",
        without={"positions": zero("position_embeddings"), "final norm": module("layernorm", Same())}),
}


def outputs(model, size, tower):
    levels = pixels(*size).double()
    values = ((levels / 255 - 0.5) / 0.5).float().permute(2, 0, 1)[None]
    arguments = {}
    bare = tower.kind == "Model"
    body = model if bare else next(model.children())
    with torch.no_grad():
        made = body(values, **arguments)
        vector = made.pooler_output[0] if tower.pools else made.last_hidden_state[0, 0]
        logits = vector if bare else model(values, **arguments).logits[0]
    return vector / vector.norm(), logits


def make(name, tower):
    torch.manual_seed(sum(map(ord, name)))
    kind = getattr(transformers, tower.stem + tower.kind)
    config = kind.config_class(**tower.config, **LABELS, attn_implementation="eager")
    model = kind(config).eval().float()
    with torch.no_grad():
        for part, value in model.named_parameters():
            scale = next((s for key, s in tower.scales.items() if key in part), 1)
            norm = "norm" in part and part.endswith("weight")
            value.copy_(torch.randn_like(value) * (0.3 if value.dim() > 1 else 0.2) * scale + (1 if norm or "lambda" in part else 0))
            # As the file has it.
            value.copy_(value.bfloat16().float())
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file(
        {key: value.bfloat16() for key, value in stored.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text())
    for key in ("_attn_implementation_autoset", "transformers_version", "dtype", *tower.drop):
        settings.pop(key, None)
    (folder / "config.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
    height, width = tower.size
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_resize": True, "size": {"height": height, "width": width}, "resample": 2, "do_rescale": True,
        "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "image_processor_type": "ViTImageProcessor",
    }, indent=1) + "\n")

    def load(**changes):
        config = kind.config_class.from_pretrained(folder, attn_implementation="eager", **changes)
        return kind.from_pretrained(folder, config=config, dtype=torch.float32).eval()

    vector, logits = outputs(load(), tower.size, tower)
    moves = {}
    for what, change in tower.without.items():
        if isinstance(change, dict):
            model = load(**change)
        else:
            model = load()
            with torch.no_grad():
                change(model)
        move = (outputs(model, tower.size, tower)[1] - logits).abs().max().item()
        assert move > 0.001, f"{name}: without {what} the logits move by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"tower-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "size": [height, width], "vector": numbers(vector),
        "logits": numbers(logits), "without": moves,
    })


if __name__ == "__main__":
    for name, tower in TOWERS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, tower)
            print(name)
