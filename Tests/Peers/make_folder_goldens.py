#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/tokenizer-folders.json: what transformers says of folders of encoders that hold a
vocabulary and settings beside it, but no tokenizer.json.

Needs `pip install transformers==5.23.0 tokenizers==0.23.3 sentencepiece==0.2.3 protobuf`; start it in the top folder of
the sources.
"""

import base64
import io
import json
import os
import tempfile

import sentencepiece
import transformers

import make_tokenizer_goldens as parts

OUT = "Tests/Fixtures/goldens/tokenizer-folders.json"

TEXTS = ["", " ", "Hello, world!", "  Speak   speak \n\n now ", "naïve café", "Ångström Å Å", "İstanbul ẞ ΣΑΣ", "日本語のテキスト。漢字",
         "😀👩‍👩‍👧🇩🇪e\u0301", "x\u00a0y\u3000z\u2028w\u200bv\ufeffu", "a\tb\r\nc\x01d", "1234567 ² Ⅷ ½ ﬁ", "foo_bar-baz/qux:5$",
         "``quoted'' …—‘’“”", "▁already▁ x", "<s>hi</s>  <mask> [MASK] x", "a [MASK]b[SEP] <tag> <Tag>x", "zqzqzqzq" * 15,
         "The quick brown fox", "Speak, speak. First Citizen: You are all resolved", "Ру́сский язык 한국어"]
PROTEINS = ["MKTAYIAKQR", "mkt MKT\nLLX", "<cls>MK<mask>A<eos>", "M K<pad>  <null_1>Z", "A<mask> K"]
PAIRS = [("You are all resolved", "to die than to famish, naïve"), ("O God! how weary, stale and flat", "a"), ("", "b")]


def token(content, **flags):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": True, **flags}


def model(name):
    with open(parts.OUT) as file:
        return next(t["json"]["model"] for t in json.load(file)["tokenizers"] if t["name"] == name)


def word_pieces(renamed=None):
    vocab = sorted(model("bert")["vocab"].items(), key=lambda item: item[1])
    return "".join((renamed or {}).get(text, text) + "\n" for text, _ in vocab)


def byte_pairs():
    spec = model("roberta")
    merges = "#version: 0.2\n" + "".join(" ".join(pair) + "\n" for pair in spec["merges"])
    return {"vocab.json": json.dumps(spec["vocab"]), "merges.txt": merges}


def pieces(**options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(parts.CORPUS), model_writer=out, vocab_size=250, hard_vocab_limit=False, minloglevel=2,
        character_coverage=0.98, normalization_rule_tsv=parts.RULES, **options)
    return out.getvalue()


def rows():
    bert, esm = word_pieces(), "<cls>\n<pad>\n<eos>\n<unk>\nM\nK \nT\nA\nL\nX\nQ\n<null_1>\n<mask>"
    mpnet = word_pieces({"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"})
    bpe = byte_pairs()
    fair = pieces()
    albert = pieces(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"])
    deberta = pieces(pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
                     unk_piece="[UNK]", user_defined_symbols=["speak"])
    def of(name, **settings):
        return json.dumps({"tokenizer_class": name, **settings})
    def config(kind, **settings):
        return json.dumps({"model_type": kind, **settings})
    yield "bert", {"vocab.txt": bert, "config.json": config("bert")}
    yield "bert-cased", {"vocab.txt": bert, "tokenizer_config.json": of("BertTokenizer", do_lower_case=False)}
    yield "bert-accents", {"vocab.txt": bert, "tokenizer_config.json": of(
        "BertTokenizerFast", strip_accents=False, tokenize_chinese_chars=False, model_input_names=["input_ids"])}
    yield "bert-both", {"vocab.txt": bert.replace("\n", " \n", 3), "config.json": config("bert"), "tokenizer_config.json": json.dumps(
        {"do_lower_case": False, "strip_accents": True, "truncation_side": "left"})}
    yield "bert-added", {"vocab.txt": bert, "tokenizer_config.json": of("BertTokenizer"), "added_tokens.json": json.dumps(
        {"<Tag>": 501, "<tag>": 500}), "special_tokens_map.json": json.dumps({"mask_token": "<mask>", "additional_special_tokens": ["[SEP]x"]})}
    yield "bert-decoder", {"vocab.txt": bert, "tokenizer_config.json": of("BertTokenizer", added_tokens_decoder={
        "4": token("[MASK]", lstrip=True), "500": token("<tag>", special=False, rstrip=True), "501": token("fox", single_word=True)})}
    yield "bert-twice", {"vocab.txt": bert + "the\n[CLS]\n", "config.json": config("bert")}
    with open(parts.OUT) as file:
        whole = next(t["json"] for t in json.load(file)["tokenizers"] if t["name"] == "bert")
    whole["model"]["max_input_chars_per_word"] = 100
    for name, settings in [("BertTokenizer", {"do_lower_case": False, "tokenize_chinese_chars": False}),
                           ("BertTokenizer", {"do_lower_case": True, "strip_accents": False, "truncation_side": "left"}),
                           ("PreTrainedTokenizerFast", {"do_lower_case": False})]:
        yield f"file-{name}-{len(settings)}", {"tokenizer.json": json.dumps(whole), "tokenizer_config.json": of(name, **settings)}
    yield "electra", {"vocab.txt": bert, "config.json": config("electra")}
    yield "electra-class", {"vocab.txt": bert, "tokenizer_config.json": of("ElectraTokenizer"), "config.json": config("electra")}
    yield "mobilebert", {"vocab.txt": bert, "config.json": config("mobilebert")}
    yield "distilbert", {"vocab.txt": bert, "tokenizer_config.json": of("DistilBertTokenizer", do_lower_case=False)}
    yield "distilbert-plain", {"vocab.txt": bert, "config.json": config("distilbert")}
    yield "mpnet", {"vocab.txt": mpnet, "config.json": config("mpnet")}
    yield "mpnet-map", {"vocab.txt": mpnet, "tokenizer_config.json": of("MPNetTokenizer", do_lower_case=True),
                        "special_tokens_map.json": json.dumps({"mask_token": {k: v for k, v in token("<mask>").items() if k != "special"}})}
    yield "esm", {"vocab.txt": esm, "tokenizer_config.json": of("EsmTokenizer")}
    yield "esm-plain", {"vocab.txt": esm, "config.json": config("esm")}
    yield "roberta", {**bpe, "config.json": config("roberta")}
    yield "roberta-prefix", {**bpe, "tokenizer_config.json": of("RobertaTokenizer", add_prefix_space=True, mask_token={
        **token("<mask>", lstrip=True), "__type": "AddedToken"})}
    yield "roberta-untrimmed", {**bpe, "tokenizer_config.json": of("RobertaTokenizer", trim_offsets=False)}
    yield "deberta", {**bpe, "tokenizer_config.json": of("DebertaTokenizer", cls_token="<s>", sep_token="</s>", bos_token="<s>",
                                                         eos_token="</s>", pad_token="<pad>", mask_token="<mask>")}
    yield "gpt2", {**bpe, "tokenizer_config.json": of("GPT2Tokenizer", bos_token="</s>", eos_token="</s>", unk_token="</s>", add_bos_token=True)}
    yield "opt", {**bpe, "config.json": config("opt")}
    yield "xlm-roberta", {"sentencepiece.bpe.model": fair, "config.json": config("xlm-roberta")}
    yield "xlm-roberta-settings", {"sentencepiece.bpe.model": fair, "tokenizer_config.json": of(
        "XLMRobertaTokenizer", mask_token={**token("<mask>", lstrip=True), "__type": "AddedToken"}, additional_special_tokens=["<tag>"])}
    yield "camembert", {"sentencepiece.bpe.model": fair, "config.json": config("camembert")}
    yield "albert", {"spiece.model": albert, "config.json": config("albert")}
    yield "albert-cased", {"spiece.model": albert, "tokenizer_config.json": of("AlbertTokenizer", do_lower_case=False, keep_accents=True)}
    yield "deberta-v2", {"spm.model": deberta, "config.json": config("deberta-v2")}
    yield "deberta-v2-settings", {"spm.model": deberta, "tokenizer_config.json": of(
        "DebertaV2Tokenizer", do_lower_case=True, split_by_punct=True), "added_tokens.json": json.dumps({"[MASK]": 250})}


def encoded(tokenizer, first, second, **options):
    if tokenizer.is_fast:
        options["return_offsets_mapping"] = True
    got = tokenizer(first, second, **options)
    case = {"first": first, "second": second, "ids": got["input_ids"],
            "types": got.get("token_type_ids") or [0] * len(got["input_ids"])}
    if tokenizer.is_fast:
        case["offsets"] = [list(pair) for pair in got["offset_mapping"]]
    return case


def main():
    parts.write_rules()
    blobs, result = {}, []
    for name, files in rows():
        with tempfile.TemporaryDirectory() as path:
            for key, value in files.items():
                with open(os.path.join(path, key), "wb") as file:
                    file.write(value if isinstance(value, bytes) else value.encode())
            tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        cases = []
        for text in PROTEINS if "esm" in name else TEXTS:
            case = encoded(tokenizer, text, None)
            case["decoded"] = tokenizer.decode(case["ids"])
            case["skipped"] = tokenizer.decode(case["ids"], skip_special_tokens=True)
            cases.append(case)
        for first, second in PAIRS:
            cases.append(encoded(tokenizer, first, second))
            for strategy, limit in [("longest_first", 9), ("only_first", 22)]:
                try:
                    case = encoded(tokenizer, first, second, truncation=strategy, max_length=limit)
                except Exception:
                    case = {"first": first, "second": second, "fails": True}
                cases.append({**case, "strategy": strategy, "limit": limit})
        names = {}
        for key, value in files.items():
            text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
            blobs.setdefault(text, f"{len(blobs)}")
            names[key] = blobs[text]
        result.append({"name": name, "class": type(tokenizer).__name__, "files": names, "cases": cases})
        if os.environ.get("SHOW"):
            print(name, type(tokenizer).__name__, tokenizer.added_tokens_decoder if not "esm" in name else "")
    value = {"reference": f"transformers {transformers.__version__}", "files": {name: text for text, name in blobs.items()},
             "folders": result}
    parts.dump(OUT, value)


main()
