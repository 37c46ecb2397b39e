#!/usr/bin/env python3
"""Makes small random models that forecast series, and writes down what chronos-forecasting says of them.

    python3 -m venv venv
    venv/bin/pip install transformers==5.23.0 torch==2.13.0 chronos-forecasting==2.3.2
    venv/bin/python scripts/goldens_series.py

Writes folders of Tests/Fixtures/micro and Tests/Fixtures/goldens/micro-*.json, as goldens.py does.
"""

import json
import math

import chronos
import torch
from chronos.chronos2.config import Chronos2CoreConfig
from chronos.chronos2.model import Chronos2Model
from chronos.chronos_bolt import ChronosBoltModelForForecasting

import goldens
from goldens import FIXTURES, MICRO

REFERENCE = f"chronos-forecasting {chronos.__version__}, torch {torch.__version__}, weights bfloat16, computed in float32"
LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9]
# Longer than what the models read, with values that are missing, and one short series.
LONG = [round(20 + 0.3 * t + 6 * math.sin(t / 3) + (t * 7919 % 13) / 5, 2) for t in range(75)]
GAPS = [None if t in (20, 21, 40, 41, 42, 43, 44, 45, 46, 60, 74) else value for t, value in enumerate(LONG)]
SHORT = [3.0, -1.5, 4.25, 0.5, 2.0]
FLAT = [7.5] * 19


def tensor(series):
    return torch.tensor([[float("nan") if value is None else value for value in series]])


def bolt_config(**changes):
    return dict(
        architectures=["ChronosBoltModelForForecasting"], model_type="t5", d_ff=48, d_kv=16, d_model=32,
        decoder_start_token_id=0, dropout_rate=0.0, eos_token_id=1, feed_forward_proj="relu", initializer_factor=0.05,
        is_encoder_decoder=True, layer_norm_epsilon=1e-06, n_positions=512, num_decoder_layers=2, num_heads=4,
        num_layers=2, pad_token_id=0, reg_token_id=1, relative_attention_max_distance=20,
        relative_attention_num_buckets=8, torch_dtype="bfloat16", use_cache=True, vocab_size=2,
        chronos_config=dict(
            context_length=64, input_patch_size=8, input_patch_stride=8, prediction_length=12, quantiles=LEVELS,
            use_reg_token=True)) | changes


def chronos2_config(**changes):
    return dict(
        architectures=["Chronos2Model"], chronos_pipeline_class="Chronos2Pipeline", model_type="t5", d_ff=48, d_kv=16,
        d_model=32, dense_act_fn="relu", dropout_rate=0.0, feed_forward_proj="relu", initializer_factor=0.05,
        is_encoder_decoder=False, is_gated_act=False, layer_norm_epsilon=1e-06, num_heads=4, num_layers=2,
        pad_token_id=0, reg_token_id=1, rope_theta=100.0, torch_dtype="bfloat16", vocab_size=2,
        chronos_config=dict(
            context_length=64, input_patch_size=8, input_patch_stride=8, max_output_patches=3, output_patch_size=8,
            quantiles=LEVELS, time_encoding_scale=50, use_arcsinh=True, use_reg_token=True)) | changes


def load(folder, **changes):
    told = json.loads((folder / "config.json").read_text())
    told["chronos_config"] = told["chronos_config"] | changes.pop("chronos", {})
    told |= changes
    kind = told["architectures"][0]
    if kind == "Chronos2Model":
        config, make = Chronos2CoreConfig(**told, attn_implementation="eager"), Chronos2Model
    else:
        import transformers
        config, make = transformers.T5Config(**told, attn_implementation="eager"), ChronosBoltModelForForecasting
    model = make(config)
    missing = model.load_state_dict(goldens.safetensors.torch.load_file(folder / "model.safetensors"), strict=False)
    assert not missing.unexpected_keys and all("embed_tokens" in key for key in missing.missing_keys), missing
    # In transformers 5 the stacks have tables of their own until they are tied.
    for half in ("encoder", "decoder"):
        if hasattr(getattr(model, half, None), "embed_tokens"):
            getattr(model, half).embed_tokens = model.shared
    return model.eval()


@torch.no_grad()
def forecast(model, series, horizon):
    settings = model.chronos_config
    more = {}
    if isinstance(model, Chronos2Model):
        more["num_output_patches"] = math.ceil(horizon / settings.output_patch_size)
    context = tensor(series)[:, -settings.context_length:]
    return model(context=context, **more).quantile_preds[0, :, :horizon].double()


def make(name, config, seed):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if config["architectures"][0] == "Chronos2Model":
        model = Chronos2Model(Chronos2CoreConfig(**json.loads(json.dumps(config))))
    else:
        import transformers
        model = ChronosBoltModelForForecasting(transformers.T5Config(**json.loads(json.dumps(config))))
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, value in model.named_parameters():
        if "embed_tokens" in key:
            continue
        made = torch.randn(value.shape, generator=generator)
        if "layer_norm" in key:
            made = 1 + 0.3 * made
        elif key.endswith("bias"):
            made = 0.3 * made
        elif "relative" not in key and "shared" not in key:
            made = 1.5 * made / math.sqrt(value.shape[-1])
        if "output_patch_embedding" in key:
            made = 0.25 * made
        tensors[key] = made.bfloat16().contiguous()
    goldens.safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def golden(name, folder, horizon, without):
    cases = []
    for series, length in [(LONG, horizon), (GAPS, horizon), (SHORT, 5), (FLAT, horizon)]:
        values = forecast(load(folder), series, length)
        assert values.isfinite().all()
        cases.append({"series": series, "horizon": length, "values": [goldens.numbers(row) for row in values.tolist()]})
    given = forecast(load(folder), LONG, horizon)
    moves = {what: float((given - forecast(other(), LONG, horizon)).abs().max()) for what, other in without.items()}
    for what, move in moves.items():
        assert move > 0.05, f"{name}: without {what} the forecast moves by {move} only"
    goldens.write(FIXTURES / f"goldens/micro-{name}.json", {
        "name": f"micro-{name}", "fixture": f"micro/{folder.name}", "reference": REFERENCE,
        "notes": "values = [quantile][step]; null in a series is a missing value",
        "without": {what: round(move, 4) for what, move in moves.items()}, "levels": LEVELS, "cases": cases,
    })
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for what, move in moves.items()))


def changed(folder, change):
    def other():
        model = load(folder)
        with torch.no_grad():
            for key, value in model.named_parameters():
                change(key, value)
        return model
    return other


def zero(*parts):
    return lambda key, value: value.zero_() if any(part in key for part in parts) else None


def one(*parts):
    return lambda key, value: value.fill_(1) if any(part in key for part in parts) else None


def bolt():
    folder = make("chronos-bolt", bolt_config(), 31)
    golden("chronos-bolt", folder, 12, {
        "the register": changed(folder, zero("shared")),
        "distances": changed(folder, zero("encoder.block.0.layer.0.SelfAttention.relative")),
        "cross attention": changed(folder, zero("EncDecAttention.o")),
        "the residual of patches": changed(folder, zero("input_patch_embedding.residual")),
        "the residual of values": changed(folder, zero("output_patch_embedding.residual")),
        "norms' weights": changed(folder, one("layer_norm")),
    })


def chronos2():
    folder = make("chronos-2", chronos2_config(), 32)
    golden("chronos-2", folder, 20, {
        "times": lambda: load(folder, chronos={"time_encoding_scale": 200}),
        "arcsinh": lambda: load(folder, chronos={"use_arcsinh": False}),
        "the base of rotary embeddings": lambda: load(folder, rope_theta=10000.0),
        "group attention": changed(folder, zero("layer.1.self_attention.o")),
        "the register": changed(folder, zero("shared")),
        "norms' weights": changed(folder, one("layer_norm")),
    })


if __name__ == "__main__":
    bolt()
    chronos2()
