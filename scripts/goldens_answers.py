#!/usr/bin/env python3
"""Makes small random models with an encoder and a decoder, and writes down what transformers says of them.

    python3 -m venv venv
    venv/bin/pip install transformers==5.23.0 torch==2.13.0
    venv/bin/python scripts/goldens_answers.py

Writes folders of Tests/Fixtures/micro and Tests/Fixtures/goldens/micro-*.json, as goldens.py does: the prompt goes to the
encoder, and the decoder begins with decoder_start_token_id.
"""

import json
import math
import sys

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

import goldens
from goldens import FIXTURES, MICRO, NearTie, PROMPTS, REFERENCE

START = 4
NOTES = (
    "ids are the encoder's, with the leading <|bos|> (id 0) added by tokenizer.json's post-processor; the decoder begins with "
    "decoder_start_token_id; greedy = plain argmax, never stopped at eos"
)


def load(folder, **changes):
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **changes)
    return AutoModelForSeq2SeqLM.from_pretrained(
        folder, config=config, dtype=torch.float32, attn_implementation="eager").eval()


@torch.no_grad()
def logits(model, ids, start=(START,)):
    return model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([start])).logits[0, -1].double()


@torch.no_grad()
def greedy(model, ids, count=32):
    """The most likely answer, computed anew for each token, and how near the second best came."""
    picked, gap = [], float("inf")
    for _ in range(count):
        best = logits(model, ids, [START] + picked).topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        picked.append(int(best.indices[0]))
    return picked, gap


def golden(name, folder, without):
    prompts = []
    for text in PROMPTS:
        ids = goldens.ids_of(folder, text)
        picked, gap = greedy(load(folder), ids)
        if gap <= 0.002:
            raise NearTie(f"{name}: the greedy path after {text!r} comes within {gap} of a tie")
        vocabulary = goldens.tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        answer = {"ids": picked, "text": vocabulary.decode(picked, skip_special_tokens=False)}
        prompts.append({"text": text, "ids": ids, "greedy_32": answer, "greedy_min_top2_gap_32": round(gap, 6)})
    ids = prompts[0]["ids"]
    # The last of some tokens of the answer: the first does not attend to others.
    start = [START] + prompts[0]["greedy_32"]["ids"][:24]
    given = logits(load(folder), ids, start)
    moves = {what: float((given - other(ids, start)).abs().max()) for what, other in without.items()}
    for what, move in moves.items():
        assert move > 0.01, f"{name}: without {what} the logits move by {move} only"
    goldens.write(FIXTURES / f"goldens/micro-{name}.json", {
        "name": f"micro-{name}", "fixture": f"micro/{folder.name}", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32", "notes": NOTES,
        "without": {what: round(move, 4) for what, move in moves.items()}, "prompts": prompts,
        "logits": {"prompt_index": 0, "position": "the answer's first token",
                   "values": goldens.numbers(logits(load(folder), ids))},
    })
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for what, move in moves.items()))


def settings(folder, **changes):
    return lambda ids, start: logits(load(folder, **changes), ids, start)


def weights(folder, change):
    def other(ids, start):
        model = load(folder)
        with torch.no_grad():
            change(model)
        return logits(model, ids, start)
    return other


def make(name, config, scale, seed, kind=AutoModelForSeq2SeqLM, gemma=False, **more):
    """A folder with random weights, and `more` tensors."""
    folder = MICRO / name
    goldens.short_tokenizer(folder)
    (folder / "generation_config.json").unlink()
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = kind.from_config(transformers.AutoConfig.from_pretrained(folder))
    goldens.random_weights(model, seed, scale, gemma)
    tensors = {key: value.detach() for key, value in model.named_parameters()} | more
    tensors = {key: value.bfloat16().contiguous() for key, value in tensors.items()}
    goldens.safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


# T5

def t5(name, seed, more={}, **changes):
    config = dict(
        architectures=["T5ForConditionalGeneration"], model_type="t5", d_ff=64, d_kv=16, d_model=32, decoder_start_token_id=START,
        dropout_rate=0.0, eos_token_id=1, feed_forward_proj="relu", initializer_factor=1.0, is_encoder_decoder=True,
        layer_norm_epsilon=1e-06, n_positions=128, num_decoder_layers=3, num_heads=4, num_layers=2, pad_token_id=START,
        relative_attention_max_distance=20, relative_attention_num_buckets=8, torch_dtype="bfloat16", use_cache=True,
        vocab_size=320,
    ) | changes

    def scale(name):
        if "relative" in name:
            return 1.5 * 2
        return 6.0 if "shared" in name else 2.2 if ".q." in name or ".k." in name else 2.0

    folder = make(name, config, scale, seed, **more)

    def no_distances(half):
        def change(model):
            getattr(model, half).block[0].layer[0].SelfAttention.relative_attention_bias.weight.zero_()
        return weights(folder, change)

    def norms(model):
        for key, parameter in model.named_parameters():
            if "layer_norm" in key:
                parameter.fill_(1)

    def no_cross(model):
        for block in model.decoder.block:
            block.layer[1].EncDecAttention.o.weight.zero_()

    return folder, {
        "the encoder's distances": no_distances("encoder"), "the decoder's distances": no_distances("decoder"),
        "logarithms of distances": settings(folder, relative_attention_max_distance=200), "norms' weights": weights(folder, norms),
        "cross attention": weights(folder, no_cross),
    }


# BART

def bart_config(kind, **changes):
    return dict(
        architectures=[kind], model_type="bart", activation_function="gelu", bos_token_id=0, classifier_dropout=0.0, d_model=32,
        decoder_attention_heads=4, decoder_ffn_dim=48, decoder_layers=3, decoder_start_token_id=START, dropout=0.0,
        encoder_attention_heads=2, encoder_ffn_dim=64, encoder_layers=2, eos_token_id=1, forced_bos_token_id=None,
        forced_eos_token_id=None, is_encoder_decoder=True, max_position_embeddings=128, pad_token_id=START, scale_embedding=True,
        torch_dtype="bfloat16", vocab_size=320,
    ) | changes


def zero(folder, part):
    """Without the numbers whose names `part` picks."""
    def change(model):
        for key, value in [*model.named_parameters(), *model.named_buffers()]:
            if part(key):
                value.zero_()
    return weights(folder, change)


def bart_scale(name):
    return 3.0 if "shared" in name or "positions" in name else 2.5


def bart():
    bias = torch.randn((1, 320), generator=torch.Generator().manual_seed(32))
    folder = make("bart", bart_config("BartForConditionalGeneration"), bart_scale, 31, final_logits_bias=bias)
    golden("bart", folder, {
        "the encoder's positions": zero(folder, lambda key: "encoder.embed_positions" in key),
        "the decoder's positions": zero(folder, lambda key: "decoder.embed_positions" in key),
        "biases": zero(folder, lambda key: key.endswith("proj.bias")), "bias of the logits": zero(folder, lambda key: key == "final_logits_bias"),
        "cross attention": zero(folder, lambda key: "encoder_attn.out_proj" in key),
        "scale of the embedding": settings(folder, scale_embedding=False),
        "norm of the embedding": zero(folder, lambda key: "layernorm_embedding" in key),
    })


# Pegasus

def pegasus():
    bias = torch.randn((1, 320), generator=torch.Generator().manual_seed(36))
    config = bart_config("PegasusForConditionalGeneration", model_type="pegasus", activation_function="relu",
                         add_final_layer_norm=True, normalize_before=True, normalize_embedding=False,
                         static_position_embeddings=True)
    folder = make("pegasus", config, bart_scale, 35, final_logits_bias=bias)
    # Positions are computed.
    path = folder / "model.safetensors"
    tensors = {key: value for key, value in goldens.safetensors.torch.load_file(path).items() if "positions" not in key}
    goldens.safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    golden("pegasus", folder, {
        "positions": zero(folder, lambda key: "embed_positions" in key),
        "biases": zero(folder, lambda key: key.endswith("proj.bias")),
        "bias of the logits": zero(folder, lambda key: key == "final_logits_bias"),
        "cross attention": zero(folder, lambda key: "encoder_attn.out_proj" in key),
        "scale of the embedding": settings(folder, scale_embedding=False),
        "the encoder's last norm": zero(folder, lambda key: key == "model.encoder.layer_norm.bias"),
        "ReLU": settings(folder, activation_function="gelu"),
    })


# T5Gemma

def t5gemma():
    """Encoder and decoder of different sizes, each with windows in every second layer, and no decoder_start_token_id."""
    half = dict(
        attention_bias=False, attention_dropout=0.0, attn_logit_softcapping=4.0, bos_token_id=START, eos_token_id=1,
        final_logit_softcapping=12.0, head_dim=16, hidden_activation="gelu_pytorch_tanh", max_position_embeddings=256,
        model_type="t5_gemma_module", num_hidden_layers=2, pad_token_id=319, query_pre_attn_scalar=24, rms_norm_eps=1e-06,
        rope_theta=10000.0, sliding_window=6, torch_dtype="bfloat16", use_cache=True, vocab_size=320,
        layer_types=["sliding_attention", "full_attention"])
    config = dict(
        architectures=["T5GemmaForConditionalGeneration"], model_type="t5gemma", is_encoder_decoder=True, dropout_rate=0.0,
        classifier_dropout_rate=0.0, attention_dropout=0.0, tie_word_embeddings=True, vocab_size=320, torch_dtype="bfloat16",
        eos_token_id=1, bos_token_id=START, pad_token_id=319,
        encoder=half | dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, is_decoder=False),
        decoder=half | dict(
            hidden_size=24, intermediate_size=40, num_attention_heads=2, num_key_value_heads=1, is_decoder=True, use_cache=True,
            cross_attention_hidden_size=32))
    scales = {"embed_tokens": 0.4, "q_proj": 2.5, "k_proj": 2.5}
    # The head is the table of tokens: so large that the logits differ.
    last = 12 + torch.randn(24, generator=torch.Generator().manual_seed(42))
    folder = make("t5gemma", config, lambda name: scales.get(name.split(".")[-2], 1.5), 41, gemma=True,
                  **{"model.decoder.norm.weight": last})

    def part(name, **changes):
        return settings(folder, **{name: config[name] | changes})

    def one_table(model):
        model.model.encoder.embed_tokens.weight[:, :24] = model.model.decoder.embed_tokens.weight

    def norms(ending):
        def change(model):
            for key, parameter in model.named_parameters():
                if key.endswith(ending + ".weight"):
                    parameter -= 1
        return weights(folder, change)

    def unscaled(name):
        def change(model):
            getattr(model.model, name).embed_tokens.weight /= config[name]["hidden_size"] ** 0.5
        return weights(folder, change)

    def no_rope(name):
        return part(name, rope_parameters={"rope_type": "linear", "factor": 1e9, "rope_theta": 10000.0})

    golden("t5gemma", folder, {
        "the encoder's own table": weights(folder, one_table),
        "the encoder's window": part("encoder", sliding_window=200),
        "the window's last position": part("encoder", sliding_window=5),
        "the decoder's window": part("decoder", sliding_window=200),
        "the encoder's cap of scores": part("encoder", attn_logit_softcapping=50.0),
        "the decoder's caps of scores": part("decoder", attn_logit_softcapping=50.0),
        "cap of logits": part("decoder", final_logit_softcapping=30.0),
        "the encoder's scale": part("encoder", query_pre_attn_scalar=16),
        "the decoder's scale": part("decoder", query_pre_attn_scalar=16),
        "the encoder's rotation": no_rope("encoder"), "the decoder's rotation": no_rope("decoder"),
        "the encoder's factor of the embedding": unscaled("encoder"),
        "cross attention": zero(folder, lambda key: "cross_attn.o_proj" in key),
        "1 + weight before cross attention": norms("pre_cross_attn_layernorm"),
        "1 + weight after cross attention": norms("post_cross_attn_layernorm"),
    })


@torch.no_grad()
def bart_labels():
    """A classifier: the decoder reads the text once more, and its row at the end of the text counts."""
    config = bart_config("BartForSequenceClassification", id2label={"0": "no", "1": "maybe", "2": "yes"},
                         label2id={"no": 0, "maybe": 1, "yes": 2})
    folder = make("bart-labels", config, bart_scale, 33, transformers.AutoModelForSequenceClassification)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()
    texts = []
    for text in goldens.SENTENCES:
        text += "<|eos|>"
        ids = goldens.ids_of(folder, text)
        assert ids[-1] == 1, ids
        texts.append({"text": text, "ids": ids, "outputs": goldens.numbers(model(input_ids=torch.tensor([ids])).logits[0])})
    goldens.write(FIXTURES / "goldens/micro-bart-labels.json", {
        "name": "micro-bart-labels", "fixture": "micro/bart-labels", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32", "texts": texts,
    })
    print("bart-labels")


def all_models():
    bart()
    bart_labels()
    pegasus()
    t5gemma()
    folder, without = t5("t5", 21)

    def unscaled(ids, start):
        return logits(load(folder), ids, start) * 32 ** 0.5

    golden("t5", folder, without | {"scale of the rows before the head": unscaled})

    head = torch.randn(320, 32, generator=torch.Generator().manual_seed(23)) * 0.5
    folder, without = t5("t5-gated", 22, {"lm_head.weight": head}, feed_forward_proj="gated-gelu", tie_word_embeddings=False)

    def exact_gelu(model):
        for block in [*model.encoder.block, *model.decoder.block]:
            block.layer[-1].DenseReluDense.act = torch.nn.GELU()

    def tied(model):
        model.lm_head.weight.copy_(model.shared.weight)

    golden("t5-gated", folder, without | {"tanh form of gelu": weights(folder, exact_gelu), "its own head": weights(folder, tied)})


# Chronos

SERIES = [round(40 + 1.3 * i + 17 * math.sin(i / 2.1), 2) for i in range(30)]


def bins_of(series, config):
    """Tokens and scale of a series: section 3.1 of https://arxiv.org/abs/2403.07815."""
    limits = config["tokenizer_kwargs"]
    centers = torch.linspace(
        limits["low_limit"], limits["high_limit"], config["n_tokens"] - config["n_special_tokens"] - 1)
    values = torch.tensor(series[-config["context_length"]:], dtype=torch.float32)
    scale = values.abs().mean()
    places = torch.bucketize(values / scale, (centers[1:] + centers[:-1]) / 2, right=True)
    ids = places + config["n_special_tokens"] + 1
    return [*ids.clamp(max=config["n_tokens"] - 1).tolist(), config["eos_token_id"]], scale, centers


@torch.no_grad()
def chronos():
    told = dict(
        tokenizer_class="MeanScaleUniformBins", tokenizer_kwargs=dict(low_limit=-2.0, high_limit=2.0), n_tokens=64,
        n_special_tokens=2, pad_token_id=0, eos_token_id=1, use_eos_token=True, model_type="seq2seq",
        context_length=24, prediction_length=16, num_samples=20, temperature=1.0, top_k=50, top_p=1.0)
    folder, _ = t5(
        "chronos", 24, vocab_size=64, decoder_start_token_id=0, pad_token_id=0, n_positions=16,
        num_decoder_layers=2, chronos_config=told)
    for path in folder.glob("*token*"):
        path.unlink()
    ids, scale, centers = bins_of(SERIES, told)
    answer = load(folder).generate(
        torch.tensor([ids]), num_beams=1, do_sample=False, min_new_tokens=16, max_new_tokens=16)[0, 1:].tolist()
    values = [float(centers[max(0, id - 3)] * scale) for id in answer]
    assert len(set(answer)) > 3, answer
    goldens.write(FIXTURES / "goldens/micro-chronos.json", {
        "name": "micro-chronos", "fixture": "micro/chronos", "reference": REFERENCE,
        "notes": "the likeliest path, and what its tokens stand for", "series": SERIES, "ids": ids,
        "greedy": answer, "values": goldens.numbers(values),
    })


if __name__ == "__main__":
    if sys.argv[1:] in (["chronos"], ["pegasus"], ["t5gemma"]):
        sys.exit({"chronos": chronos, "pegasus": pegasus, "t5gemma": t5gemma}[sys.argv[1]]())
    all_models()
    chronos()
