#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/sentencepiece-folders.json: what transformers says of folders that hold a tokenizer.model
and settings beside it, but no tokenizer.json.

Needs `pip install transformers==5.23.0 sentencepiece==0.2.3 protobuf`; start it in the top folder of the sources. No text
has a space where a part of it begins: there transformers rewrites the model, and SentencePiece itself says otherwise.
"""

import base64
import io
import json
import os
import tempfile

import sentencepiece
import transformers

OUT = "Tests/Fixtures/goldens/sentencepiece-folders.json"

TEXTS = ["", "Speak, speak.", "<|in|>user\nWe are<|out|>", "a<|out|>b <|in|>", "<s>We</s>", "<|in|><|in|>We",
         "naïve 日本<|out|>\n"]
SENTINEL_TEXTS = ["", "Speak, speak.", "<extra_id_0>We <extra_id_99>are<extra_id_7>"]


def model(**options):
    with open("Tests/Fixtures/heldout.txt", encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=2, hard_vocab_limit=False,
        normalization_rule_name="identity", remove_extra_whitespaces=False, **options)
    return out.getvalue()


def token(content, **flags):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": True, **flags}


def folder(name, data, files):
    with tempfile.TemporaryDirectory() as path:
        with open(os.path.join(path, name), "wb") as file:
            file.write(data)
        for key, value in files.items():
            with open(os.path.join(path, key), "w") as file:
                json.dump(value, file)
        return transformers.AutoTokenizer.from_pretrained(path)


def main():
    pairs = model(vocab_size=420, model_type="bpe", byte_fallback=True)
    unigram = model(vocab_size=200, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    count = sentencepiece.SentencePieceProcessor(model_proto=pairs).get_piece_size()
    plain = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
             "add_bos_token": True, "legacy": True}
    added = {str(count): token("<|in|>"), str(count + 1): token("<|out|>")}
    rows = [
        ("decoder", "tokenizer.model", pairs, {"tokenizer_config.json": {**plain, "added_tokens_decoder": added}}),
        ("flags", "tokenizer.model", pairs, {"tokenizer_config.json": {**plain, "added_tokens_decoder": {
            str(count): token("<|in|>", rstrip=True, special=False),
            str(count + 1): token("<|out|>", single_word=True, lstrip=True)}}}),
        ("older", "tokenizer.model", pairs, {
            "tokenizer_config.json": plain, "added_tokens.json": {"<|in|>": count, "<|out|>": count + 1}}),
        ("new-end", "tokenizer.model", pairs, {"tokenizer_config.json": {
            **plain, "eos_token": "<|out|>", "add_eos_token": True, "added_tokens_decoder": added}}),
        ("first", "tokenizer.model", pairs, {"tokenizer_config.json": {
            **plain, "legacy": False, "add_bos_token": False, "added_tokens_decoder": added}}),
        ("no-prefix", "tokenizer.model", pairs, {"tokenizer_config.json": {
            **plain, "add_prefix_space": False, "added_tokens_decoder": added}}),
        ("sentinels", "spiece.model", unigram, {"tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}}),
    ]
    result = []
    for name, file, data, files in rows:
        tokenizer = folder(file, data, files)
        cases = []
        for text in SENTINEL_TEXTS if name == "sentinels" else TEXTS:
            ids = tokenizer.encode(text)
            cases.append([text, ids, tokenizer.decode(ids), tokenizer.decode(ids, skip_special_tokens=True)])
        result.append({"name": name, "file": file, "files": files, "cases": cases})
    value = {"reference": f"transformers {transformers.__version__}", "tokenizer.model": base64.b64encode(pairs).decode(),
             "spiece.model": base64.b64encode(unigram).decode(), "folders": result}
    with open(OUT, "w") as file:
        file.write(json.dumps(value, separators=(",", ":")) + "\n")
    print(OUT, os.path.getsize(OUT))


main()
