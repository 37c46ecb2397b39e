#!/usr/bin/env python3
"""Makes small random models with packed weights, and writes down what transformers says of their dequantised twins.

Needs what goldens.py needs, and
    venv/bin/pip install compressed-tensors==0.20.0
    venv/bin/python scripts/goldens_packed.py [NAME...]

Writes folders of Tests/Fixtures/micro and Tests/Fixtures/goldens/micro-packed-*.json. A packing is a function from a
matrix to the tensors that lie in the file and to what they mean, in float32; a second function unpacks the stored tensors
again by the method's own code where that runs here, else by its definition. The golden's `without` says how far each part
of a packing moves the logits.
"""

import json
import sys

import safetensors.torch
import torch
import transformers

import goldens
from goldens import MICRO, numbers

PROMPTS = goldens.PROMPTS
E4M3 = torch.float8_e4m3fn
WIDTH, INNER, VOCABULARY = 96, 160, 320


def config(**changes):
    return dict(
        architectures=["LlamaForCausalLM"], model_type="llama", attention_bias=False, bos_token_id=0, eos_token_id=1, pad_token_id=4,
        head_dim=16, hidden_act="silu", hidden_size=WIDTH, intermediate_size=INNER, max_position_embeddings=256, num_attention_heads=4,
        num_hidden_layers=1, num_key_value_heads=2, rms_norm_eps=1e-05, rope_theta=10000.0, tie_word_embeddings=True,
        torch_dtype="bfloat16", vocab_size=VOCABULARY) | changes


def model(settings):
    out = transformers.LlamaForCausalLM(transformers.LlamaConfig(**settings, attn_implementation="eager")).eval()
    scales = {"embed_tokens": 3.0, "q_proj": 2.5, "k_proj": 2.5}
    goldens.random_weights(out, 11, lambda name: scales.get(name.split(".")[-2], 1.5))
    return out


def filled(settings, tensors, unpack):
    """The model with what the stored tensors mean."""
    twin = model(settings)
    with torch.no_grad():
        for name, parameter in twin.named_parameters():
            stem = name.removesuffix(".weight")
            own = {key[len(stem) + 1:]: value for key, value in tensors.items() if key.startswith(stem + ".")}
            parameter.copy_(own["weight"].float() if list(own) == ["weight"] and own["weight"].dtype == torch.bfloat16 else unpack(own))
    return twin


def make(name, quantization, pack, unpack, without, skip=("lm_head",), changes=None, notes=""):
    """
    - pack: from a name and a matrix to the tensors that are stored, by what follows the matrix's name.
    - unpack: from them to the matrix.
    - without: what each part is, with `unpack` that leaves it out.
    """
    folder = MICRO / f"packed-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"):
        goldens.link(folder, file, f"../gemma/{file}")
    settings = config(**(changes or {}))
    (folder / "config.json").write_text(json.dumps(settings | {"quantization_config": quantization}, indent=2) + "\n")
    tensors = {}
    for key, value in model(settings).named_parameters():
        stem = key.removesuffix(".weight")
        if value.dim() == 2 and "embed" not in key and not any(part in key for part in skip):
            tensors |= {f"{stem}.{ending}": part.contiguous() for ending, part in pack(stem, value.detach()).items()}
        else:
            tensors[key] = value.detach().bfloat16()
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    result = goldens.answers(lambda: filled(settings, tensors, unpack), folder, PROMPTS)
    ids = result["prompts"][0]["ids"]
    given = goldens.logits(filled(settings, tensors, unpack), ids)
    moves = {what: float((given - goldens.logits(filled(settings, tensors, other), ids)).abs().max()) for what, other in without.items()}
    for what, move in moves.items():
        assert move > 0.01, f"{name}: without {what} the logits move by {move} only"
    goldens.write(goldens.FIXTURES / f"goldens/micro-packed-{name}.json", {
        "name": f"micro-packed-{name}", "fixture": f"micro/packed-{name}", "reference": goldens.REFERENCE,
        "weights": f"{name}, dequantised to float32", "notes": "; ".join(filter(None, [goldens.NOTES, notes])),
        "without": {what: round(move, 4) for what, move in moves.items()},
    } | result)
    print(f"{name}: {sum(file.stat().st_size for file in folder.iterdir() if not file.is_symlink())} bytes, "
          + ", ".join(f"{what} {move:.3f}" for what, move in moves.items()), flush=True)


# FP8

def blocks(shape, size):
    """For each weight the index of its scale."""
    return [torch.arange(count) // each for count, each in zip(shape, size)]


def spread(scales, shape, size):
    rows, columns = blocks(shape, size)
    return scales[rows][:, columns]


def float8(size=None, name="weight_scale_inv", dtype=torch.float32, flat=False):
    """e4m3 with a scale for each block; of other sizes than None for each row (1, all) or for all."""
    def pack(stem, weight):
        block = size or weight.shape
        block = [each or count for each, count in zip(block, weight.shape)]
        rows, columns = blocks(weight.shape, block)
        largest = torch.zeros(int(rows[-1]) + 1, int(columns[-1]) + 1)
        for i in range(largest.shape[0]):
            for j in range(largest.shape[1]):
                largest[i, j] = weight[rows == i][:, columns == j].abs().max()
        # Numbers that are no powers of two, and differ.
        scales = (largest / 448 * torch.linspace(1, 1.7, largest.numel()).reshape(largest.shape)).to(dtype)
        stored = (weight / spread(scales.float(), weight.shape, block)).to(E4M3)
        return {"weight": stored, name: scales.reshape(()) if flat else scales}
    return pack


def unpack_float8(size=None, name="weight_scale_inv", change=lambda scales: scales):
    def unpack(own):
        weight, scales = own["weight"].float(), change(own[name].float().reshape(own[name].shape or (1, 1)))
        block = [each or count for each, count in zip(size or weight.shape, weight.shape)]
        return weight * spread(scales, weight.shape, block)
    return unpack


def fp8():
    # Blocks of 64: one and a half in a row of 96, two and a half in one of 160, and one for 32 keys.
    size = (64, 64)
    settings = dict(quant_method="fp8", fmt="e4m3", activation_scheme="dynamic", weight_block_size=list(size))
    make("fp8", settings, float8(size), unpack_float8(size), {
        "scales": unpack_float8(size, change=lambda scales: scales.mean() + 0 * scales),
        "blocks of rows": unpack_float8(size, change=lambda scales: scales.roll(1, 0)),
        "blocks of columns": unpack_float8(size, change=lambda scales: scales.roll(1, 1)),
    }, skip=("lm_head", "k_proj"), notes="k_proj is not packed, which the file alone says")
    name = "weight_scale"
    settings = dict(quant_method="fp8", activation_scheme="static")
    make("fp8-tensor", settings, lambda stem, weight: float8(name=name, flat=True)(stem, weight) | {"input_scale": torch.tensor(0.02)},
         unpack_float8(name=name), {"scales": unpack_float8(name=name, change=lambda scales: scales * 1.1)})
    kind = dict(num_bits=8, type="float", strategy="channel", symmetric=True)
    settings = dict(quant_method="compressed-tensors", format="float-quantized", quantization_status="compressed", ignore=["lm_head"],
                    config_groups={"group_0": {"targets": ["Linear"], "weights": kind}})
    make("fp8-channel", settings, float8((1, None), name, torch.bfloat16), unpack_float8((1, None), name),
         {"scales": unpack_float8((1, None), name, change=lambda scales: scales.roll(1, 0))})


KINDS = {"fp8": fp8}

if __name__ == "__main__":
    for kind in sys.argv[1:] or KINDS:
        KINDS[kind]()
