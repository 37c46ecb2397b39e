#!/usr/bin/env python3
"""Makes small random models of open_clip, and writes down what open_clip makes of pictures and texts with them.

    venv/bin/pip install open_clip_torch==3.3.0 torchvision==0.28.0
    venv/bin/python scripts/goldens_contrastive.py clip    # for the tokenizer
    venv/bin/python scripts/goldens_open_clip.py [NAME]...

See scripts/goldens_towers.py: the form, the pictures and `without` are the same.
"""

import json
import shutil
import sys

import safetensors.torch
import tokenizers
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; open_clip needs none of it, but it registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        try:
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import open_clip

from goldens import FIXTURES, MICRO, numbers, write
from goldens_encoders import Same, module, zero
from goldens_towers import pixels

REFERENCE = f"open_clip {open_clip.__version__}, torch {torch.__version__}, float32, CPU"
TEXTS = ["a photo of a cat", "The King's DOG,   it is #1!"]
VISION = dict(layers=2, width=24, head_width=8, patch_size=8, image_size=32, mlp_ratio=2.0)
TEXT = dict(context_length=16, width=24, heads=4, layers=2, mlp_ratio=2.0)

WITHOUT = {
    "norm before the first layer": module("visual.ln_pre", Same()), "final norm": module("visual.ln_post", Same()),
    "class embedding": zero("visual.class_embedding"), "positions": zero("visual.positional_embedding"),
    "biases": zero("visual.transformer.resblocks.0.attn.in_proj_bias"),
}
TEXT_WITHOUT = {"positions": zero("positional_embedding"), "final norm of texts": lambda model: setattr(
    getattr(model, "text", model), "ln_final", Same())}
#: Classes, whether weights are a pickle, members of model_cfg, and changes of these that must matter.
MODELS = {
    "open-clip": (open_clip.CLIP, False, {}, {"exact gelu": dict(quick_gelu=True)}),
    "open-clip-custom": (open_clip.CustomTextCLIP, True, dict(quick_gelu=True), {"quick gelu": dict(quick_gelu=False)}),
}


def outputs(model, ids):
    values = ((pixels(32, 32).double() / 255 - 0.5) / 0.5).float().permute(2, 0, 1)[None]
    with torch.no_grad():
        return model.encode_image(values)[0], model.encode_text(ids, normalize=True)


def make(name, kind, is_pickle, members, changes):
    torch.manual_seed(sum(map(ord, name)))
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("tokenizer.json", "tokenizer_config.json"):
        if not (folder / part).exists():
            shutil.copy(MICRO / "clip" / part, folder / part)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    settings = dict(embed_dim=16, vision_cfg=VISION, text_cfg=TEXT | dict(vocab_size=tokenizer.get_vocab_size()), **members)
    ids = torch.zeros(len(TEXTS), TEXT["context_length"], dtype=torch.long)
    for row, text in zip(ids, TEXTS):
        found = tokenizer.encode(text).ids
        row[:len(found)] = torch.tensor(found)

    def create(**other):
        return kind(**(settings | other)).eval().float()

    model = create()
    with torch.no_grad():
        for part, value in model.named_parameters():
            norm = "ln_" in part and part.endswith("weight")
            value.copy_(torch.randn_like(value) * (0.3 if value.dim() > 1 else 0.2) + (1 if norm else 0))
            # As the file has it.
            value.copy_(value.bfloat16().float())
    stored = {key: value.bfloat16().contiguous() for key, value in model.state_dict().items()}
    if is_pickle:
        torch.save(stored, folder / "open_clip_pytorch_model.bin")
    else:
        safetensors.torch.save_file(stored, folder / "open_clip_model.safetensors", metadata={"format": "pt"})
        (folder / "open_clip_model.safetensors").chmod(0o644)
    custom = {"custom_text": True} if kind is open_clip.CustomTextCLIP else {}
    (folder / "open_clip_config.json").write_text(json.dumps({
        "model_cfg": settings | custom,
        "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "shortest"},
    }, indent=1, sort_keys=True) + "\n")

    def load(**other):
        model = create(**other)
        model.load_state_dict({key: value.float() for key, value in stored.items()})
        return model

    picture, texts = outputs(load(), ids)
    moves = {}
    for what, change in (WITHOUT | TEXT_WITHOUT | changes).items():
        model = load(**change) if isinstance(change, dict) else load()
        with torch.no_grad():
            if not isinstance(change, dict):
                change(model)
        one, other = outputs(model, ids)
        move = (other - texts).abs().max().item() if "texts" in what else (one - picture).abs().max().item()
        assert move > 0.001, f"{name}: without {what} the vectors move by {move} only"
        moves[what] = round(move, 4)
    write(FIXTURES / "goldens" / f"tower-{name}.json", {
        "model": f"micro/{name}", "reference": REFERENCE, "size": [32, 32], "vector": numbers(picture / picture.norm()),
        "logits": numbers(picture), "texts": TEXTS, "text_vectors": [numbers(vector) for vector in texts], "without": moves,
    })


if __name__ == "__main__":
    for name, case in MODELS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, *case)
            print(name)
