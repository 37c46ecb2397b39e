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


# AWQ and GPTQ

def words(codes, bits, order=range(8)):
    """Codes of the last dimension as a little-endian stream of bits in words of 32; `order` has the place of each of eight."""
    if bits == 4:
        codes = codes.unflatten(-1, (-1, 8))[..., list(order)].flatten(-2)
    streams = ((codes.long().unsqueeze(-1) >> torch.arange(bits)) & 1).flatten(-2).unflatten(-1, (-1, 32))
    return (streams << torch.arange(32)).sum(-1).to(torch.int64).bitwise_and(0xFFFFFFFF).to(torch.uint32).view(torch.int32)


def codes_of(packed, bits, order=range(8)):
    """The reverse of `words`."""
    stream = ((packed.long().unsqueeze(-1) >> torch.arange(32)) & 1).flatten(-2).unflatten(-1, (-1, bits))
    codes = (stream << torch.arange(bits)).sum(-1)
    if bits == 4:
        codes = codes.unflatten(-1, (-1, 8))[..., torch.tensor(list(order)).argsort()].flatten(-2)
    return codes


def quantise(weight, bits, groups, symmetric):
    """Scales and zeros, [outputs, groups], and the codes; `groups` is the group of each column."""
    count, most = int(groups.max()) + 1, 2 ** bits - 1
    scales, zeros = torch.zeros(len(weight), count), torch.zeros(len(weight), count, dtype=torch.long)
    for group in range(count):
        part = weight[:, groups == group]
        if symmetric:
            scales[:, group] = part.abs().amax(1) * 2 / most
            zeros[:, group] = (most + 1) // 2
        else:
            low, high = part.amin(1).clamp(max=0), part.amax(1).clamp(min=0)
            scales[:, group] = (high - low) / most
            # At least 1: GPTQ's first format cannot store another.
            zeros[:, group] = (-low / scales[:, group]).round().clamp(1, most).long()
    scales = scales.half()
    codes = ((weight / scales.float()[:, groups]).round() + zeros[:, groups]).clamp(0, most).long()
    return scales, zeros, codes


AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def awq_pack(size):
    def pack(stem, weight):
        groups = torch.arange(weight.shape[1]) // size
        scales, zeros, codes = quantise(weight, 4, groups, False)
        return {"qweight": words(codes.T, 4, AWQ_ORDER), "qzeros": words(zeros.T, 4, AWQ_ORDER), "scales": scales.T}
    return pack


def awq_unpack(size, order=AWQ_ORDER, change=lambda scales: scales, zero=lambda zeros: zeros):
    def unpack(own):
        codes, zeros = codes_of(own["qweight"], 4, order), zero(codes_of(own["qzeros"], 4, order))
        groups = torch.arange(len(codes)) // size
        return ((codes - zeros[groups]) * change(own["scales"].float())[groups]).T
    return unpack


def gptq_pack(bits, size, symmetric, less, ordered=False, listed=True):
    def pack(stem, weight):
        groups = torch.arange(weight.shape[1]) // (size or weight.shape[1])
        if ordered:
            # Each matrix has an order of its own.
            groups = groups[torch.randperm(len(groups), generator=torch.Generator().manual_seed(sum(stem.encode())))]
        scales, zeros, codes = quantise(weight, bits, groups, symmetric)
        return {"qweight": words(codes, bits).T, "qzeros": words(zeros.T - less, bits), "scales": scales.T} | ({"g_idx": groups.int()} if listed else {})
    return pack


def gptq_unpack(bits, size, less, order=lambda groups: groups, change=lambda scales: scales):
    def unpack(own):
        codes, zeros = codes_of(own["qweight"].T, bits), codes_of(own["qzeros"], bits) + less
        groups = order(own["g_idx"].long()) if "g_idx" in own else torch.arange(codes.shape[1]) // (size or codes.shape[1])
        return (codes.T - zeros[groups]).T * change(own["scales"].float())[groups].T
    return unpack


def awq():
    settings = dict(quant_method="awq", bits=4, group_size=32, version="gemm", zero_point=True, modules_to_not_convert=["k_proj"])
    make("awq", settings, awq_pack(32), awq_unpack(32), {
        "order of outputs": awq_unpack(32, order=range(8)),
        "scales": awq_unpack(32, change=lambda scales: scales.roll(1, 0)),
        "zeros": awq_unpack(32, zero=lambda zeros: zeros * 0 + 8),
    }, skip=("lm_head", "k_proj"), notes="k_proj is not packed")


def gptq():
    def settings(bits, size, symmetric, form, ordered=False):
        return dict(quant_method="gptq", bits=bits, group_size=size, sym=symmetric, desc_act=ordered, checkpoint_format=form,
                    true_sequential=True, damp_percent=0.01)

    def moves(bits, size, less, **more):
        return {"zeros": gptq_unpack(bits, size, 1 - less), "scales": gptq_unpack(bits, size, less, change=lambda s: s.roll(1, int(len(s) == 1)))} | more

    make("gptq", settings(4, 32, True, "gptq"), gptq_pack(4, 32, True, 1), gptq_unpack(4, 32, 1), moves(4, 32, 1))
    make("gptq-order", settings(4, 32, False, "gptq", True), gptq_pack(4, 32, False, 1, True), gptq_unpack(4, 32, 1),
         moves(4, 32, 1, order=gptq_unpack(4, 32, 1, order=lambda groups: groups.sort().values)))
    make("gptq-v2", settings(4, 64, False, "gptq_v2"), gptq_pack(4, 64, False, 0, listed=False), gptq_unpack(4, 64, 0), moves(4, 64, 0),
         notes="the last group of 96 and 160 columns has 32")
    make("gptq-8bit", settings(8, -1, False, "gptq_v2"), gptq_pack(8, None, False, 0), gptq_unpack(8, None, 0), moves(8, None, 0))
    make("gptq-3bit", settings(3, 48, False, "gptq"), gptq_pack(3, 48, False, 1), gptq_unpack(3, 48, 1), moves(3, 48, 1))


KINDS = {"fp8": fp8, "awq": awq, "gptq": gptq}

if __name__ == "__main__":
    for kind in sys.argv[1:] or KINDS:
        KINDS[kind]()
