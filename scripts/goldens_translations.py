#!/usr/bin/env python3
"""Makes small random models for translations, and writes down what transformers says of them.

    python3 -m venv venv
    venv/bin/pip install transformers==5.23.0 torch==2.13.0 sentencepiece==0.2.1
    venv/bin/python scripts/goldens_translations.py [NAME...]

Writes folders of Tests/Fixtures/micro and Tests/Fixtures/goldens/micro-*.json, as goldens.py does.
"""

import io
import json
import pathlib
import sys

import sentencepiece
import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

import goldens
from goldens import FIXTURES, MICRO, NearTie, REFERENCE

TEXTS = ["The ship sails at dawn.", " two  spaces, a ligature \ufb01 and \u00e9t\u00e9", "x\u4e16y", "Anna lives in Lisbon; she likes it."]
# What the pieces are learned from.
LEARNED = [
    "the ship sails at dawn and comes back in the evening", "anna lives in lisbon and likes the sea", "two ships, a harbour",
    "The weather is fine.", "She likes it; he does not.", "what is in the box?", "Lisbon lies at the river, and the river at the sea",
    "a e i o u b c d f g h j k l m n p q r s t v w x y z A L S T W , . ; ? 0 1 2 3",
] * 4


def pieces(folder, name, seed_size, **more):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LEARNED), model_writer=out, vocab_size=seed_size, character_coverage=0.99, minloglevel=2,
        hard_vocab_limit=False, normalization_rule_name="identity", **more)
    (folder / name).write_bytes(out.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def random_order(tokens, seed):
    places = torch.randperm(len(tokens), generator=torch.Generator().manual_seed(seed)).tolist()
    return [tokens[place] for place in places]


def config_of(kind, model_type, vocabulary, start, **changes):
    return dict(
        architectures=[kind], model_type=model_type, activation_function="swish", d_model=32, decoder_attention_heads=4,
        decoder_ffn_dim=48, decoder_layers=2, decoder_start_token_id=start, dropout=0.0, encoder_attention_heads=2,
        encoder_ffn_dim=64, encoder_layers=2, forced_eos_token_id=None, is_encoder_decoder=True, max_position_embeddings=128,
        scale_embedding=True, torch_dtype="bfloat16", vocab_size=vocabulary, num_beams=4) | changes


def load(folder, **changes):
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **changes)
    return AutoModelForSeq2SeqLM.from_pretrained(
        folder, config=config, dtype=torch.float32, attn_implementation="eager").eval()


def save(folder, config, seed, computed="embed_positions", scale=2.5, **more):
    """`computed` are tensors that published files have not."""
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    model = AutoModelForSeq2SeqLM.from_config(transformers.AutoConfig.from_pretrained(folder))
    goldens.random_weights(model, seed, lambda name: 3.0 if "shared" in name else scale)
    tensors = {key: value.detach() for key, value in model.named_parameters() if computed not in key} | more
    tensors = {key: value.bfloat16().contiguous() for key, value in tensors.items()}
    goldens.safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@torch.no_grad()
def logits(model, ids, start):
    return model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([start])).logits[0, -1].double()


def greedy(model, ids, start, banned, count=24):
    picked, gap = [], float("inf")
    for _ in range(count):
        values = logits(model, ids, start + picked)
        values[banned] = -float("inf")
        best = values.topk(2)
        gap = min(gap, float(best.values[0] - best.values[1]))
        picked.append(int(best.indices[0]))
    if gap <= 0.002:
        raise NearTie(f"the greedy path comes within {gap} of a tie")
    return picked


def golden(name, folder, cases, banned, without):
    model = load(folder)
    written = []
    for case, start in cases:
        picked = greedy(model, case["ids"], start, banned)
        written.append(case | {"start": start, "greedy": picked})
    ids, start = written[0]["ids"], written[0]["start"] + written[0]["greedy"][:16]
    given = logits(model, ids, start)
    moves = {what: float((given - logits(other, ids, start)).abs().max()) for what, other in without.items()}
    for what, move in moves.items():
        assert move > 0.01, f"{name}: without {what} the logits move by {move} only"
    goldens.write(FIXTURES / f"goldens/micro-{name}.json", {
        "name": f"micro-{name}", "fixture": f"micro/{folder.name}", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32",
        "notes": "greedy = argmax without the tokens of bad_words_ids, never stopped at eos; logits of the first case's first token",
        "without": {what: round(move, 4) for what, move in moves.items()}, "cases": written,
        "logits": goldens.numbers(logits(model, ids, written[0]["start"])),
    })
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for what, move in moves.items()))


def changed(folder, *parts, value=0.0):
    model = load(folder)
    with torch.no_grad():
        for key, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if any(part in key for part in parts):
                tensor.fill_(value)
    return model


def marian():
    folder = MICRO / "marian"
    folder.mkdir(parents=True, exist_ok=True)
    source = pieces(folder, "source.spm", 90)
    target = pieces(folder, "target.spm", 70, model_type="unigram")
    own = [token for token in dict.fromkeys(source + target) if token not in ("<s>", "</s>", "<unk>")]
    # A piece that vocab.json does not have is unknown.
    missing = next(token for token in own if token in source and len(token) > 3)
    own.remove(missing)
    tokens = ["</s>", "<unk>"] + random_order(own + [">>deu<<", ">>fra<<"], 41) + ["<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}, indent=0) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "mul"}) + "\n")
    pad = len(tokens) - 1
    bias = torch.randn((1, len(tokens)), generator=torch.Generator().manual_seed(42))
    bias[0, pad] = 9
    save(folder, config_of(
        "MarianMTModel", "marian", len(tokens), pad, bad_words_ids=[[pad]], bos_token_id=0, eos_token_id=0, pad_token_id=pad,
        normalize_before=False, normalize_embedding=False, static_position_embeddings=True,
        share_encoder_decoder_embeddings=True), 43, final_logits_bias=bias)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    cases = []
    for text in TEXTS:
        for to in (None, "fra"):
            ids = tokenizer(text if to is None else f">>{to}<< {text}").input_ids
            cases.append(({"text": text, "to": to, "ids": ids}, [pad]))
    golden("marian", folder, cases, [pad], {
        "positions": changed(folder, "embed_positions"), "scale of the embedding": load(folder, scale_embedding=False),
        "bias of the logits": changed(folder, "final_logits_bias"), "cross attention": changed(folder, "encoder_attn.out_proj"),
        "the activation": load(folder, activation_function="relu"),
    })


def m2m100():
    folder = MICRO / "m2m-100"
    folder.mkdir(parents=True, exist_ok=True)
    own = [token for token in pieces(folder, "sentencepiece.bpe.model", 90, model_type="bpe") if not token.startswith("<")]
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + random_order(own, 51)
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}, indent=0) + "\n")
    codes = transformers.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer", "src_lang": None, "tgt_lang": None}) + "\n")
    (folder / "special_tokens_map.json").write_text(json.dumps({
        "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>",
        "additional_special_tokens": [f"__{code}__" for code in codes]}) + "\n")
    size = len(tokens) + len(codes) + 8
    save(folder, config_of(
        "M2M100ForConditionalGeneration", "m2m_100", size, 2, activation_function="relu", bos_token_id=0, eos_token_id=2,
        pad_token_id=1), 53)
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(folder)
    cases = []
    for text in TEXTS:
        for source, to in ((None, "fr"), ("de", "en")):
            tokenizer.src_lang = source or "en"
            cases.append(({"text": text, "from": source, "to": to, "ids": tokenizer(text).input_ids}, [2, tokenizer.get_lang_id(to)]))
    golden("m2m-100", folder, cases, [], {
        "positions": changed(folder, "embed_positions"), "scale of the embedding": load(folder, scale_embedding=False),
        "cross attention": changed(folder, "encoder_attn.out_proj"),
        "norms' weights": changed(folder, "layer_norm.weight", value=1.0),
    })


def mbart(name, kind, start, seed):
    """The model of 25 languages, whose texts end with theirs and whose answers begin with theirs alone, or that of 50."""
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    own = len(pieces(folder, "sentencepiece.bpe.model", 90, model_type="unigram"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, "src_lang": None, "tgt_lang": None}) + "\n")
    tokenizer = getattr(transformers, kind).from_pretrained(folder)
    size = len(tokenizer)
    assert size == own + 1 + len(tokenizer.lang_code_to_id) + 1
    start = tokenizer.convert_tokens_to_ids(start)
    bias = torch.randn((1, size), generator=torch.Generator().manual_seed(seed + 1))
    save(folder, config_of(
        "MBartForConditionalGeneration", "mbart", size, start, activation_function="gelu", add_bias_logits=False,
        add_final_layer_norm=True, bos_token_id=0, eos_token_id=2, normalize_before=True, normalize_embedding=True, pad_token_id=1,
        static_position_embeddings=False), seed, computed="none", scale=7.0, final_logits_bias=bias)
    cases = []
    for text in TEXTS:
        for source, to in ((None, "fr_XX"), ("de_DE", "en_XX")):
            tokenizer.src_lang = source or "en_XX"
            ids, target = tokenizer(text).input_ids, tokenizer.convert_tokens_to_ids(to)
            cases.append(({"text": text, "from": source, "to": to, "ids": ids}, [target] if start > 3 else [start, target]))
    golden(name, folder, cases, [], {
        "positions": changed(folder, "embed_positions"), "scale of the embedding": load(folder, scale_embedding=False),
        "cross attention": changed(folder, "encoder_attn.out_proj"), "bias of the logits": changed(folder, "final_logits_bias"),
        "norm of the embedding": changed(folder, "layernorm_embedding.weight", value=1.0),
        "the encoder's last norm": changed(folder, "encoder.layer_norm.bias"),
        "the decoder's last norm": changed(folder, "decoder.layer_norm.bias"),
        "the activation": load(folder, activation_function="relu"),
    })


if __name__ == "__main__":
    for name, family in {
        "marian": marian, "m2m-100": m2m100, "mbart": lambda: mbart("mbart", "MBartTokenizer", "ro_RO", 55),
        "mbart50": lambda: mbart("mbart50", "MBart50Tokenizer", "</s>", 57),
    }.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            family()
