#!/usr/bin/env python3
"""Makes small random models with packed weights, and writes down what transformers says of their dequantised twins.

Needs what goldens.py needs, and
    venv/bin/pip install compressed-tensors==0.20.0 hqq==0.2.8.post1
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
    kind = transformers.AutoConfig.for_model(**settings)
    out = transformers.AutoModelForCausalLM.from_config(kind, attn_implementation="eager").float().eval()
    if settings["model_type"] == "deepseek_v3":
        goldens.random_weights(out, 12, lambda name: 3.0 if "embed" in name else 2.0)
        return out
    scales = {"embed_tokens": 3.0, "q_proj": 2.5, "k_proj": 2.5}
    goldens.random_weights(out, 11, lambda name: scales.get(name.split(".")[-2], 1.5))
    return out


def linears(key, value):
    """A parameter as the Linear modules of published files: experts have their own, gates beside the other matrices."""
    if value.dim() != 3 or ".experts." not in key:
        return [(key, value)]
    base, kind = key.rsplit(".", 1)
    parts = []
    for expert, matrix in enumerate(value):
        halves = zip(("gate_proj", "up_proj"), matrix.chunk(2)) if kind == "gate_up_proj" else [(kind, matrix)]
        parts += [(f"{base}.{expert}.{name}.weight", half) for name, half in halves]
    return parts


def filled(settings, tensors, unpack):
    """The model with what the stored tensors mean."""
    twin = model(settings)
    with torch.no_grad():
        for key, parameter in twin.named_parameters():
            for name, part in linears(key, parameter):
                stem = name.removesuffix(".weight")
                own = {key[len(stem) + 1:]: value for key, value in tensors.items() if key.startswith(stem + ".")} or {"weight": tensors[name]}
                part.copy_(own["weight"].float() if list(own) == ["weight"] and own["weight"].dtype == torch.bfloat16 else unpack(own))
    return twin


def make(name, quantization, pack, unpack, without, skip=("lm_head",), changes=None, notes=""):
    """
    - quantization: of config.json, or the content of hf_quant_config.json.
    - pack: from a name and a matrix to the tensors that are stored, by what follows the matrix's name.
    - unpack: from them to the matrix.
    - without: what each part is, with `unpack` that leaves it out.
    """
    folder = MICRO / f"packed-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"):
        goldens.link(folder, file, f"../gemma/{file}")
    settings = config(**(changes or {}))
    is_beside = "quantization" in quantization
    (folder / "config.json").write_text(json.dumps(settings | ({} if is_beside else {"quantization_config": quantization}), indent=2) + "\n")
    if is_beside:
        (folder / "hf_quant_config.json").write_text(json.dumps(quantization, indent=2) + "\n")
    tensors = {}
    for key, value in [part for named in model(settings).named_parameters() for part in linears(*named)]:
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


# Rows end in the midst of a block of the kernels, and of a group of 64.
ODD = dict(hidden_size=80, intermediate_size=112)

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
    # A head of keys or values is no whole block.
    settings = dict(quant_method="fp8", fmt="e4m3", activation_scheme="dynamic", weight_block_size=[32, 32])
    make("fp8-latent", settings, float8((32, 32)), unpack_float8((32, 32)), {
        "blocks of rows": unpack_float8((32, 32), change=lambda scales: scales.roll(1, 0)),
        "blocks of columns": unpack_float8((32, 32), change=lambda scales: scales.roll(1, 1)),
    }, changes=dict(
        architectures=["DeepseekV3ForCausalLM"], model_type="deepseek_v3", num_key_value_heads=4, q_lora_rank=40, kv_lora_rank=48,
        qk_nope_head_dim=20, qk_rope_head_dim=8, v_head_dim=24, n_routed_experts=2, n_shared_experts=1, n_group=1, topk_group=1,
        num_experts_per_tok=1, moe_intermediate_size=32, first_k_dense_replace=1, routed_scaling_factor=1.0, head_dim=8),
        notes="kv_b_proj's heads of keys and values are no whole blocks")
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


# Four bits of floating point

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def nibbles(codes):
    """Two neighbouring codes in a byte, the first below."""
    return (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8)


def split(packed):
    return torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()


def e2m1(values):
    codes = (values.abs().unsqueeze(-1) - E2M1).abs().argmin(-1)
    return codes + 8 * (values < 0)


def from_e2m1(codes):
    return E2M1[codes % 8] * (1 - 2.0 * (codes // 8))


def nvfp4_pack(compressed):
    def pack(stem, weight):
        parts = weight.unflatten(1, (-1, 16))
        largest = parts.abs().amax(-1)
        # What ModelOpt multiplies by; compressed-tensors divides by its reciprocal.
        whole = largest.max() / (6 * 448) * 1.3
        scales = (largest / 6 / whole).clamp(max=448).to(E4M3)
        stored = nibbles(e2m1(parts / (scales.float() * whole).clamp(min=1e-12).unsqueeze(-1)).flatten(1))
        if compressed:
            return {"weight_packed": stored, "weight_scale": scales, "weight_global_scale": (1 / whole).reshape(1), "input_global_scale": torch.tensor([40.0])}
        # Scales of the cache lie beside these two, whether they are packed or not.
        cache = {f"{kind}_scale": torch.tensor(1.5) for kind in "kv" if stem.endswith(f"{kind}_proj")}
        return {"weight": stored, "weight_scale": scales, "weight_scale_2": whole, "input_scale": torch.tensor(0.02)} | cache
    return pack


def nvfp4_unpack(change=lambda scales: scales, factor=1, codes=lambda codes: codes):
    def unpack(own):
        stored = own["weight_packed"] if "weight_packed" in own else own["weight"]
        whole = 1 / own["weight_global_scale"] if "weight_packed" in own else own["weight_scale_2"]
        scales = change(own["weight_scale"].float()) * whole * factor
        return from_e2m1(codes(split(stored))) * scales.repeat_interleave(16, 1)
    return unpack


def nvfp4():
    without = {
        "order of nibbles": nvfp4_unpack(codes=lambda codes: codes.unflatten(1, (-1, 2)).flip(-1).flatten(1)),
        "scales": nvfp4_unpack(lambda scales: scales.roll(1, 1)),
        "the scale of all": nvfp4_unpack(factor=1.2),
    }
    settings = dict(quant_method="modelopt", quant_algo="NVFP4", producer=dict(name="modelopt", version="0.29.0"), ignore=["lm_head"],
                    config_groups={"group_0": dict(targets=["Linear"], weights=dict(num_bits=4, type="float", group_size=16))})
    make("nvfp4", settings, nvfp4_pack(False), nvfp4_unpack(), without)
    weights = dict(num_bits=4, type="float", strategy="tensor_group", group_size=16, symmetric=True)
    settings = dict(quant_method="compressed-tensors", format="nvfp4-pack-quantized", quantization_status="compressed", ignore=["lm_head"],
                    config_groups={"group_0": dict(targets=["Linear"], weights=weights, format="nvfp4-pack-quantized")})
    make("nvfp4-compressed", settings, nvfp4_pack(True), nvfp4_unpack(), without, changes=ODD)
    # Each expert is a Linear of its own, as published, not a slice of one tensor as transformers keeps them.
    settings = dict(quantization=dict(quant_algo="NVFP4", kv_cache_quant_algo=None, group_size=16, exclude_modules=["lm_head"]))
    make("nvfp4-experts", settings, nvfp4_pack(False), nvfp4_unpack(), without, changes=mixture(), skip=("lm_head", ".gate.", "shared_expert_gate", "conv1d"),
         notes="hf_quant_config.json alone says how the weights are packed")


def mixture():
    """Qwen 3.5's mixture with a layer of each kind."""
    return dict(
        architectures=["Qwen3_5MoeForCausalLM"], model_type="qwen3_5_moe_text", num_hidden_layers=2, layer_types=["linear_attention", "full_attention"],
        hidden_size=64, head_dim=32, num_attention_heads=2, num_key_value_heads=1, linear_num_key_heads=2, linear_num_value_heads=4,
        linear_key_head_dim=16, linear_value_head_dim=16, linear_conv_kernel_dim=4, num_experts=4, num_experts_per_tok=2,
        moe_intermediate_size=32, shared_expert_intermediate_size=32, mlp_only_layers=[], tie_word_embeddings=False,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25))


# Integers of compressed-tensors

def integers_pack(bits, size, symmetric, ordered=False):
    def pack(stem, weight):
        groups = torch.arange(weight.shape[1]) // (size or weight.shape[1])
        if ordered:
            groups = groups[torch.randperm(len(groups), generator=torch.Generator().manual_seed(sum(stem.encode())))]
        scales, zeros, codes = quantise(weight, bits, groups, symmetric)
        own = {"weight_packed": words(codes, bits), "weight_scale": scales.bfloat16(), "weight_shape": torch.tensor(weight.shape)}
        if ordered:
            # Older files have zeros as bytes.
            return own | {"weight_zero_point": (zeros - 2 ** (bits - 1)).to(torch.int8), "weight_g_idx": groups.int()}
        return own if symmetric else own | {"weight_zero_point": words(zeros.T, bits).T}
    return pack


def integers_unpack(bits, size, change=lambda scales: scales, zero=lambda zeros: zeros, order=lambda groups: groups):
    def unpack(own):
        codes, scales = codes_of(own["weight_packed"], bits), change(own["weight_scale"].float())
        groups = order(own["weight_g_idx"].long()) if "weight_g_idx" in own else torch.arange(codes.shape[1]) // (size or codes.shape[1])
        zeros = own.get("weight_zero_point")
        if zeros is None or zeros.dtype == torch.int8:
            zeros = (torch.zeros_like(scales) if zeros is None else zeros) + 2.0 ** (bits - 1)
        else:
            zeros = codes_of(zeros.T, bits).T
        return (codes - zero(zeros)[:, groups]) * scales[:, groups]
    return unpack


def bytes_pack(name, largest):
    def pack(stem, weight):
        # A little above the largest number, which brings the greedy path away from ties.
        scales = weight.abs().amax(1, keepdim=True) / 127 * (1.02 if largest else 1)
        stored = (weight / scales).round().to(torch.int8)
        return {"weight": stored, "SCB": scales[:, 0] * 127, "weight_format": torch.tensor(0, dtype=torch.uint8)} if largest else {
            "weight": stored, name: scales.bfloat16()}
    return pack


def bytes_unpack(name, factor=1, change=lambda scales: scales):
    return lambda own: own["weight"].float() * change(own[name].float().reshape(-1, 1)) * factor


def compressed():
    def settings(form, bits, size, symmetric, **more):
        strategy = "channel" if size is None else "group"
        weights = dict(num_bits=bits, type="int", strategy=strategy, group_size=size, symmetric=symmetric, actorder=None)
        return dict(quant_method="compressed-tensors", format=form, quantization_status="compressed", ignore=["lm_head"],
                    config_groups={"group_0": dict(targets=["Linear"], weights=weights, **more)})

    def moves(bits, size):
        return {"scales": integers_unpack(bits, size, lambda scales: scales.roll(1, 0)), "zeros": integers_unpack(bits, size, zero=lambda zeros: zeros + 1)}

    make("int4", settings("pack-quantized", 4, 32, False), integers_pack(4, 32, False), integers_unpack(4, 32), moves(4, 32))
    make("int4-channel", settings("pack-quantized", 4, None, True), integers_pack(4, None, True), integers_unpack(4, None), moves(4, None), changes=ODD)
    make("int4-order", settings("pack-quantized", 4, 32, False), integers_pack(4, 32, False, True), integers_unpack(4, 32),
         moves(4, 32) | {"order": integers_unpack(4, 32, order=lambda groups: groups.sort().values)})
    activations = dict(num_bits=8, type="int", strategy="token", dynamic=True, symmetric=True)
    name = "weight_scale"
    make("int8", settings("int-quantized", 8, None, True, input_activations=activations), bytes_pack(name, False), bytes_unpack(name),
         {"scales": bytes_unpack(name, change=lambda scales: scales.roll(1, 0))}, changes=ODD, notes="activations stay in float32")


# bitsandbytes

# The quantiles of a normal distribution (https://arxiv.org/abs/2305.14314, appendix E).
NF4 = torch.tensor([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495,
    0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0])


def state(**values):
    return torch.tensor(list(json.dumps(values).encode()), dtype=torch.uint8)


def nf4_pack(size, nested):
    def pack(stem, weight):
        flat = torch.nn.functional.pad(weight.flatten(), (0, -weight.numel() % size)).reshape(-1, size)
        scales = flat.abs().amax(1)
        codes = ((flat / scales.clamp(min=1e-12).unsqueeze(1)).unsqueeze(-1) - NF4).abs().argmin(-1).flatten()[:weight.numel()]
        own = {"weight": (codes[::2] << 4 | codes[1::2]).to(torch.uint8).unsqueeze(1), "weight.quant_map": NF4.clone()}
        about = dict(quant_type="nf4", blocksize=size, dtype="bfloat16", shape=list(weight.shape))
        if not nested:
            return own | {"weight.absmax": scales, "weight.quant_state.bitsandbytes__nf4": state(**about)}
        # Not bitsandbytes' own table of 256, but one like it: what counts is the file's.
        table, offset = torch.linspace(-1, 1, 256) ** 3, float(scales.mean())
        groups = torch.arange(len(scales)) // 256
        coarse = torch.stack([(scales - offset)[groups == group].abs().max() for group in range(int(groups.max()) + 1)])
        small = ((scales - offset) / coarse[groups]).unsqueeze(-1)
        return own | {
            "weight.absmax": (small - table).abs().argmin(-1).to(torch.uint8), "weight.nested_absmax": coarse, "weight.nested_quant_map": table.clone(),
            "weight.quant_state.bitsandbytes__nf4": state(**about, nested_blocksize=256, nested_dtype="float32", nested_offset=offset)}
    return pack


def nf4_unpack(size, change=lambda scales: scales, codes=lambda stored: torch.stack([stored >> 4, stored & 15], -1).flatten()):
    def unpack(own):
        about = json.loads(bytes(own["weight.quant_state.bitsandbytes__nf4"].tolist()))
        scales = own["weight.absmax"]
        if "weight.nested_absmax" in own:
            coarse = own["weight.nested_absmax"][torch.arange(len(scales)) // 256]
            scales = own["weight.nested_quant_map"][scales.long()] * coarse + about["nested_offset"]
        values = own["weight.quant_map"][codes(own["weight"].flatten().long())]
        return (values * change(scales)[torch.arange(len(values)) // size]).reshape(about["shape"])
    return unpack


def bitsandbytes():
    settings = dict(quant_method="bitsandbytes", load_in_4bit=True, load_in_8bit=False, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="bfloat16",
                    bnb_4bit_use_double_quant=True, bnb_4bit_quant_storage="uint8", llm_int8_skip_modules=None, llm_int8_threshold=6.0)
    without = {
        "order of nibbles": nf4_unpack(64, codes=lambda stored: torch.stack([stored & 15, stored >> 4], -1).flatten()),
        "scales": nf4_unpack(64, lambda scales: scales.roll(1, 0)),
    }
    make("nf4", settings | dict(bnb_4bit_use_double_quant=False), nf4_pack(64, False), nf4_unpack(64), without, changes=ODD)
    # Rows of 96 have one and a half groups.
    make("nf4-nested", settings, nf4_pack(64, True), nf4_unpack(64), without)
    make("llm-int8", settings | dict(load_in_4bit=False, load_in_8bit=True), bytes_pack("SCB", True), bytes_unpack("SCB", 1 / 127),
         {"scales": bytes_unpack("SCB", 1 / 127, lambda scales: scales.roll(1, 0))}, notes="activations stay in float32")


# HQQ

def hqq_pack(bits, group, axis, dtype=torch.bfloat16):
    """As a layer of hqq 0.2.8 says its state, encoded for safetensors."""
    from hqq.core.quantize import Quantizer
    from hqq.core.utils import encode_safetensor_type

    def pack(stem, weight):
        codes, meta = Quantizer.quantize(weight, nbits=bits, group_size=group, axis=axis, optimize=False, device="cpu", compute_dtype=dtype)
        meta |= dict(scale=meta["scale"].to(dtype), zero=meta["zero"].to(dtype), compute_dtype=dtype, quant_scale=False, quant_zero=False)
        state = {key: encode_safetensor_type(value) for key, value in meta.items()}
        own = dict(offload_meta=False, encoded_state_dict=True, stores_quant_config=True, channel_wise=True, optimize=True, round_zero=bits == 4)
        return {"W_q": codes} | state | {key: encode_safetensor_type(value) for key, value in own.items()}
    return pack


def hqq_unpack(change=lambda codes: codes, zero=1):
    """By hqq's own code, in float32."""
    from hqq.core.quantize import Quantizer

    def unpack(own):
        packing = "".join(map(chr, own["packing"].tolist()))
        meta = dict(
            packing=packing, view_as_float=False, compute_dtype=torch.float32, nbits=int(own["nbits"]), axis=int(own["axis"]),
            group_size=int(own["group_size"]), shape=torch.Size(own["shape"].tolist()), scale=own["scale"].float(), zero=own["zero"].float() * zero)
        return Quantizer.dequantize(change(own["W_q"]), meta)
    return unpack


def hqq():
    def settings(bits, group, axis):
        own = dict(nbits=bits, channel_wise=True, group_size=group, optimize=True, round_zero=bits == 4, axis=axis, view_as_float=False)
        return dict(quant_method="hqq", skip_modules=["lm_head"], quant_config=dict(
            weight_quant_params=own, scale_quant_params=None, zero_quant_params=None, offload_meta=False))

    def without(bits):
        return {"zeros": hqq_unpack(zero=0.9), "order of places": hqq_unpack(lambda codes: codes.roll(1, 0))}
    notes = "packed and dequantised by hqq 0.2.8.post1"
    for name, bits, group, axis, changes in (
            ("hqq", 4, 32, 1, None), ("hqq-8bit", 8, 32, 1, None), ("hqq-3bit", 3, 32, 1, None), ("hqq-2bit", 2, 16, 1, None),
            ("hqq-1bit", 1, 8, 1, None), ("hqq-axis0", 4, 64, 0, None), ("hqq-odd", 4, 32, 1, ODD)):
        make(name, settings(bits, group, axis), hqq_pack(bits, group, axis), hqq_unpack(), without(bits), changes=changes, notes=notes)


# All of them

def fused():
    """Phi-3, whose queries, keys and values are one matrix, and gates and the matrices beside them another; each is packed another way."""
    kinds = {
        "0.self_attn.qkv": (integers_pack(4, 32, False), integers_unpack(4, 32)), "0.mlp.gate_up": (bytes_pack("weight_scale", False), bytes_unpack("weight_scale")),
        "1.self_attn.qkv": (nvfp4_pack(False), nvfp4_unpack()), "1.mlp.gate_up": (nf4_pack(64, True), nf4_unpack(64)),
        "2.self_attn.qkv": (gptq_pack(4, 32, False, 1, True), gptq_unpack(4, 32, 1)), "2.mlp.gate_up": (awq_pack(32), awq_unpack(32)),
        "3.self_attn.qkv": (float8((32, 32), "weight_scale"), unpack_float8((32, 32), "weight_scale")),
        "3.mlp.gate_up": (gptq_pack(3, 32, False, 1), gptq_unpack(3, 32, 1)),
    }

    def pack(stem, weight):
        return next(pack for kind, (pack, _) in kinds.items() if kind in stem)(stem, weight)

    def unpack(change=lambda kind, weight: weight):
        marks = {"weight_packed": "0.self_attn.qkv", "weight_scale_2": "1.self_attn.qkv", "weight.absmax": "1.mlp.gate_up"}

        def other(own):
            kind = next((marks[key] for key in own if key in marks), None)
            if kind is None and "qweight" in own:
                rows, turned = own["scales"].shape[1], own["qweight"].shape[1] == own["scales"].shape[1]
                kind = "2.mlp.gate_up" if not turned else "2.self_attn.qkv" if own["qweight"].shape[0] == 8 else "3.mlp.gate_up"
            if kind is None:
                kind = "0.mlp.gate_up" if own["weight"].dtype == torch.int8 else "3.self_attn.qkv"
            return change(kind, kinds[kind][1](own))
        return other

    def moved(kind):
        return unpack(lambda own, weight: weight.roll(8, 0) if own == kind else weight)

    weights = dict(num_bits=4, type="int", strategy="group", group_size=32, symmetric=False)
    settings = dict(quant_method="compressed-tensors", format="mixed-precision", config_groups={"group_0": dict(targets=["Linear"], weights=weights)})
    make("fused", settings, pack, unpack(), {kind: moved(kind) for kind in kinds}, skip=("lm_head", "o_proj", "down_proj"),
         changes=dict(architectures=["Phi3ForCausalLM"], model_type="phi3", num_hidden_layers=4, hidden_size=64, intermediate_size=64,
                      original_max_position_embeddings=256),
         notes="no program wrote such a file: it has every packing in matrices that are several")


KINDS = {"fused": fused, "hqq": hqq, "compressed": compressed, "bitsandbytes": bitsandbytes, "nvfp4": nvfp4, "fp8": fp8, "awq": awq, "gptq": gptq}

if __name__ == "__main__":
    for kind in sys.argv[1:] or KINDS:
        KINDS[kind]()
