#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/tokenizer-corners.json: what the reference says where parts of tokenizers meet.

Needs `pip install tokenizers==0.23.3 sentencepiece==0.2.3`; start it in the top folder of the sources, after
make_tokenizer_goldens.py, whose form it has and whose trained models and rules it reads. All else is written by hand.
"""

import base64
import io
import json

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import Regex

from make_tokenizer_goldens import decoded

PARTS = "Tests/Fixtures/goldens/tokenizer-parts.json"
OUT = "Tests/Fixtures/goldens/tokenizer-corners.json"

BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def spec(model, **parts):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model, **parts}


def bpe(vocab, merges=(), **settings):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": vocab, "merges": list(merges), **settings}


def added(number, content, **settings):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True, **settings}


def entry(name, document, texts, has_offsets=True):
    tokenizer = Tokenizer.from_str(json.dumps(document))
    cases = []
    for text in texts:
        plain = tokenizer.encode(text, add_special_tokens=False)
        full = tokenizer.encode(text)
        case = {"text": text, "ids": plain.ids, "special": full.ids, "words": plain.word_ids,
                "decoded": tokenizer.decode(plain.ids, skip_special_tokens=False),
                "skipped": tokenizer.decode(full.ids, skip_special_tokens=True)}
        # Beyond the end of the text for what is put around characters.
        if has_offsets:
            case["offsets"] = [list(o) for o in plain.offsets]
        cases.append(case)
    return {"name": name, "json": document, "cases": cases}


def template(**forms):
    pieces = {"A": {"Sequence": {"id": "A", "type_id": 0}}, "B": {"Sequence": {"id": "B", "type_id": 1}},
              "c": {"SpecialToken": {"id": "c", "type_id": 0}}}
    return {"type": "TemplateProcessing", "special_tokens": {"c": {"id": "c", "ids": [1], "tokens": ["c"]}},
            **{form: [pieces[name] for name in names] for form, names in forms.items()}}


def whole_tokenizers():
    result = []
    for name, settings, texts in [
        ("suffix-bytes", {"end_of_word_suffix": "</w>"}, ["x", "xy", "é", "日x", ""]),
        ("prefix-bytes", {"continuing_subword_prefix": "##"}, ["x", "xya", "aéx", "日本"]),
        ("affix-bytes", {"continuing_subword_prefix": "##", "end_of_word_suffix": "_"}, ["x", "xya aé ab", "é b"]),
    ]:
        model = bpe({**BYTES, "a": 300, "##a": 301, "a_": 302}, byte_fallback=True, **settings)
        result.append(entry(name, spec(model, pre_tokenizer={"type": "Whitespace"}), texts, has_offsets=False))

    for name, normalized in [("stripping", False), ("stripping-normalized", True)]:
        tokens = [added(4, "<|end|>", rstrip=True, normalized=normalized), added(5, "\n", normalized=normalized),
                  added(6, "<|m|>", lstrip=True, rstrip=True, normalized=normalized),
                  added(7, "  ", rstrip=True, normalized=normalized)]
        document = spec(bpe({"a": 0, "b": 1, " ": 2, "\t": 3}), added_tokens=tokens)
        result.append(entry(name, document, [
            "a<|end|>\nb", "<|end|> \n  b", "<|end|>\n\n b", "<|end|> \n \n <|end|> a", "<|end|> ", "<|end|>\n <|end|>",
            "a <|m|> <|m|> b", "<|end|> \n <|m|>\n a", "<|end|>\t\t\na", "a    b", "<|m|>     b", "a <|m|>    <|m|>  ", "<|end|>      \n b", "a <|end|><|end|>\n"]))

    # Never two that are one text when they are normalised: the reference takes either, now this one and now that.
    tokens = [added(4, "É", rstrip=True, normalized=True, special=False), added(5, "Ab", normalized=True, special=False)]
    document = spec(bpe({"a": 0, "b": 1, " ": 2, "x": 3}), added_tokens=tokens, normalizer={"type": "Lowercase"})
    result.append(entry("found-when-normalized", document, ["aé b", "É a", "ab aB", "é"]))

    level = {**BYTE_LEVEL, "add_prefix_space": True}
    vocab = {"a": 0, "c": 1, "Ġ": 2, "Ġa": 3, "ĠĠ": 4}
    for name, pair in [("trimmed-after", ["A", "c", "B"]), ("trimmed-after-turned", ["c", "B", "c", "A"])]:
        document = spec(bpe(vocab, ["Ġ a", "Ġ Ġ"]), pre_tokenizer=level, decoder=level, post_processor={
            "type": "Sequence", "processors": [template(single=["c", "A", "c"], pair=pair), level]})
        result.append(entry(name, document, ["a a", " a  a", "  a", "a   ", ""]))

    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], [" c", -2.0]], "byte_fallback": False}
    for prefix in [True, False]:
        document = spec(unigram, post_processor={**BYTE_LEVEL, "add_prefix_space": prefix})
        result.append(entry(f"unigram-trimmed-{prefix}", document,
                            ["a  b", "  b a", " <unk> a", "a b ", " b", "a \u3000é\u3000 c", "   "]))

    digits = {"type": "Split", "pattern": {"Regex": r"\d{1,3}(?=(?:\d{3})*\b)"}, "behavior": "Isolated", "invert": False}
    vocab = {character: number for number, character in enumerate("0123456789 ab")}
    result.append(entry("digits-from-the-right", spec(bpe(vocab), pre_tokenizer=digits),
                        ["12345", "12345a 1234 1", "a1234567 ", "1234 123456"]))
    return result


def pairs(whole):
    documents = {item["name"]: item["json"] for item in whole}
    result = []
    for name in ["trimmed-after", "trimmed-after-turned"]:
        tokenizer = Tokenizer.from_str(json.dumps(documents[name]))
        cases = []
        for first, second in [("a a", None), (" a  a", None), ("a a", " a a"), ("  a", "a a"), ("", " a")]:
            for special in [True, False]:
                got = tokenizer.encode(first, second, add_special_tokens=special)
                cases.append({"first": first, "second": second, "special": special, "ids": got.ids, "types": got.type_ids,
                              "offsets": [list(o) for o in got.offsets], "mask": got.attention_mask,
                              "added": got.special_tokens_mask})
        result.append({"tokenizer": name, "truncation": None, "padding": None, "cases": cases})
    return result


NULS = ["\0½", "a\0½b", "\0\0カ\u3099", "ab\0ab", "\0", "é\0é", "\0\u3000x", "①\0"]


def normalizer_rows(parts):
    rows = []
    for part in [row["json"] for row in parts["normalizers"]]:
        if part["type"] != "Precompiled":
            continue
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
        normalizer = normalizers.Precompiled(base64.b64decode(part["precompiled_charsmap"]))
        tokenizer.normalizer = normalizer
        # One token for each character, so that the offsets of all of them show.
        tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
        rows.append({"json": part, "cases": [
            [text, normalizer.normalize_str(text), [list(o) for o in tokenizer.encode(text).offsets]] for text in NULS]})
    return rows


def pre_tokenizer_rows():
    texts = ["", "a", " a1_b ", "12345", "don't, x²y ½ Ⅷ ⓐ", "naïve cafe\u0301s", "日本語 テ", "a\u200db ‿c", "\n_\n", "1²3 ¼ a¾"]
    patterns = [r"\w+", r"\W", r"[\w']+", r"[^\w\s]+", r"\b", r"\B", r"\b\w", r"\w\b", r"\Ba", r"(?i:\bN\w)", r"(?<=\b)\d",
                r"\d{1,3}(?=(?:\d{3})*\b)", r"[\w&&[^a]]", r"\W+\b"]
    rows = []
    for pattern in patterns:
        part = pre_tokenizers.Split(Regex(pattern), "isolated")
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = part
        rows.append({"json": json.loads(tokenizer.to_str())["pre_tokenizer"], "cases": [
            [text, [[piece, *offsets] for piece, offsets in part.pre_tokenize_str(text)]] for text in texts]})
    return rows


def decoder_rows():
    d = decoders
    tokens = [["ab", "c"], ["a"], ["é", "日", "x"], ["▁a", "▁▁b", "  "], ["  ", " ", "a ", " "], ["<0x41>"], ["<0xE9>"], ["<0x4", "1>"],
              ["Ġa", "Ã", "©"], ["a|", "|b", "<pad>"], [" ", " ", " "], ["x", " do not", " ."], ["##a", "##b"]]
    replace = d.Replace("x", "y")
    rows = [[d.Fuse(), replace, d.CTC()], [d.Fuse(), replace, replace, d.WordPiece(cleanup=False)], [d.ByteLevel(), d.CTC()],
            [d.BPEDecoder("")], [d.Fuse(), d.BPEDecoder("")], [d.CTC("", "", True)], [d.Strip(" ", 0, 2)], [d.Strip("a", 1, 0)],
            [d.Fuse(), d.Strip(" ", 0, 2)], [d.Fuse(), d.Strip(" ", 1, 1), d.Strip("a", 1, 1), replace],
            [d.Fuse(), d.ByteFallback(), replace], [d.Fuse(), replace, d.ByteLevel()], [d.ByteLevel(), d.Metaspace()],
            [d.Fuse(), d.WordPiece(), d.Fuse(), d.Strip(" ", 1, 0)], [d.ByteLevel(), d.ByteFallback(), d.BPEDecoder("b"), d.CTC()],
            [d.Replace("a", "aaa"), d.ByteFallback(), d.Fuse(), d.Replace("aa", "b"), d.Replace("b", "aa")]]
    return decoded([d.Sequence(stages) for stages in rows], tokens)


def sentencepiece_rows(parts):
    rows = []

    def add(name, model, texts):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        rows.append({"name": name, "model": base64.b64encode(model).decode(), "cases": [
            [text, processor.encode(text), processor.decode(processor.encode(text))] for text in texts]})

    for row in parts["sentencepiece"]:
        if row["name"] in ["unigram", "unigram-suffix"]:
            add(row["name"] + "-nul", base64.b64decode(row["model"]), NULS)
    with open("Tests/Fixtures/heldout.txt", encoding="utf-8") as file:
        corpus = [line for line in file.read().splitlines() if line]
    texts = ["", " ", "the king the", "Zebra quick the 日本 日", "  a  b ", "the<tag>you <tag>", "é日", "the\u2581you", "<0x41> x", "king  "]
    for name, options in [
        ("characters", {"model_type": "char"}), ("words", {"model_type": "word"}),
        ("characters-user", {"model_type": "char", "user_defined_symbols": ["<tag>", "the"]}),
        ("words-user", {"model_type": "word", "user_defined_symbols": ["<tag>", "quick"]}),
        ("words-bytes", {"model_type": "word", "byte_fallback": True, "vocab_size": 500, "add_dummy_prefix": False}),
        ("characters-bytes", {"model_type": "char", "byte_fallback": True, "vocab_size": 400, "remove_extra_whitespaces": False}),
    ]:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus), model_writer=model, minloglevel=2, hard_vocab_limit=False,
            **{"vocab_size": 200, "normalization_rule_name": "identity", **options})
        add(name, model.getvalue(), texts)
    return rows


if __name__ == "__main__":
    with open(PARTS, encoding="utf-8") as file:
        known = json.load(file)
    whole = whole_tokenizers()
    golden = {
        "reference": f"tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}",
        "tokenizers": whole, "pairs": pairs(whole), "normalizers": normalizer_rows(known),
        "pre_tokenizers": pre_tokenizer_rows(), "decoders": decoder_rows(), "sentencepiece": sentencepiece_rows(known),
    }
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(json.dumps(golden, ensure_ascii=True, separators=(",", ":")) + "\n")
