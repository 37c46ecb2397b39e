#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/tokenizer-parts.json: what the reference says of tokenizers of every kind.

Needs `pip install tokenizers==0.23.3 sentencepiece==0.2.3`; start it in the top folder of the sources. The tokenizers are
small: trained on Tests/Fixtures/heldout.txt and a few lines of other scripts, or written by hand where a setting
matters. Offsets are in characters, as Python counts them.
"""

import base64
import io
import json
import random

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import AddedToken, Regex

OUT = "Tests/Fixtures/goldens/tokenizer-parts.json"

TEXTS = [
    "", " ", "  ", "\n", "a", " a", "a ", "Hello, world!", "  Hello   World \n\n now ", "don't you've I'm we'll they'd DON'T",
    "naïve café", "naïve café", "ẛ̣ ﬁ ① ㍿ ½", "Ångström Å Å", "q̣̇ d̦̣", "İstanbul ẞ ΣΑΣ", "日本語のテキスト。漢字カタカナー", "中文，测试 12三",
    "한국어 각 ᄒᆞᆫ", "😀👩‍👩‍👧🇩🇪e\u0301", "ไทย ก็", "हिन्दी क्षि", "שלום עליכם", "مرحبا بالعالم", "Ру́сский язык", "x\u00a0y\u3000z\u2028w\u200bv\ufeffu",
    "a\tb\r\nc\x00d\x01e\x7ff\x8fg", "1234567 89 ٣٤ ² Ⅷ", "foo_bar-baz/qux:quux;$5+3=8^`~|<>", "…—‘’“”«»¿¡", "▁already▁meta ▁ x", "<s>hi</s> <mask> [MASK] x",
    "a<mask>b", "pre<tag>post <tag> a<tag>", "AbC <SPEC> abc", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "ab" * 60,
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𓀀", "￿ \ufffd", "e" + "\u0301" * 5 + "x", "the quick brown fox", "Speak, speak. First Citizen: You are all resolved",
    "O God! O God! -- how weary, stale, flat", "a.b.c, d ! e ? f 's n't do not", "¼ ﷺ \u1e9b\u0323", "\u0301start", "A\u030a\u0323 \u1100\u1161\u11a8",
]


def corpus():
    with open("Tests/Fixtures/heldout.txt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [line for line in lines if line] + [text for text in TEXTS if len(text) > 3] * 3


CORPUS = corpus()


def cases(tokenizer, texts=TEXTS):
    result = []
    for text in texts:
        plain = tokenizer.encode(text, add_special_tokens=False)
        full = tokenizer.encode(text)
        result.append({
            "text": text, "ids": plain.ids, "special": full.ids, "offsets": [list(o) for o in plain.offsets],
            "words": plain.word_ids, "decoded": tokenizer.decode(plain.ids, skip_special_tokens=False),
            "skipped": tokenizer.decode(full.ids, skip_special_tokens=True),
        })
    return result


def entry(name, tokenizer, texts=TEXTS):
    # Written and read again: what counts is what the file says.
    spec = json.loads(tokenizer.to_str())
    return {"name": name, "json": spec, "cases": cases(Tokenizer.from_str(json.dumps(spec)), texts)}


def train(model, trainer, **parts):
    tokenizer = Tokenizer(model)
    for key, part in parts.items():
        setattr(tokenizer, key, part)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def mutated(tokenizer, **changes):
    spec = json.loads(tokenizer.to_str())
    for key, value in changes.items():
        if key == "model":
            spec["model"].update(value)
        else:
            spec[key] = value
    return Tokenizer.from_str(json.dumps(spec))


def byte_fallback_vocab(spec):
    vocab = spec["model"]["vocab"]
    for byte in range(256):
        vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    return spec


def whole_tokenizers():
    result = []
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    bert = train(
        models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40),
        trainers.WordPieceTrainer(vocab_size=500, special_tokens=special, show_progress=False),
        normalizer=normalizers.BertNormalizer(lowercase=True), pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece())
    bert.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    result.append(entry("bert", bert))
    cased = mutated(bert, normalizer=json.loads(
        '{"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,"strip_accents":true,"lowercase":false}'))
    cased.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    cased.decoder = decoders.WordPiece(cleanup=False)
    result.append(entry("bert-cased-template", cased, TEXTS[6:30]))

    word_level = train(
        models.WordLevel(unk_token="[UNK]"),
        trainers.WordLevelTrainer(vocab_size=200, special_tokens=special, show_progress=False),
        normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()]),
        pre_tokenizer=pre_tokenizers.Whitespace())
    result.append(entry("word-level", word_level))

    unigram = train(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=400, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>", "<mask>"],
                                show_progress=False),
        normalizer=normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizer=pre_tokenizers.Metaspace(), decoder=decoders.Metaspace())
    unigram.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    result.append(entry("unigram", unigram))
    result.append(entry("unigram-first", mutated(
        unigram, pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
        decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}), TEXTS[4:36]))
    spec = json.loads(unigram.to_str())
    known = {piece for piece, _ in spec["model"]["vocab"]}
    spec["model"]["vocab"] += [[f"<0x{byte:02X}>", 0.0] for byte in range(256) if f"<0x{byte:02X}>" not in known]
    spec["model"]["byte_fallback"] = True
    spec["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "ByteFallback"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]}
    result.append(entry("unigram-bytes", Tokenizer.from_str(json.dumps(spec))))

    llama = train(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        trainers.BpeTrainer(vocab_size=420, special_tokens=["<unk>", "<s>", "</s>"], limit_alphabet=60,
                            show_progress=False),
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)]))
    spec = byte_fallback_vocab(json.loads(llama.to_str()))
    llama_bytes = Tokenizer.from_str(json.dumps(spec))
    result.append(entry("llama-bytes", llama_bytes))
    result.append(entry("bpe-fused-unknown", mutated(llama, model={"byte_fallback": False})))
    result.append(entry("bpe-unknown", mutated(llama, model={"byte_fallback": False, "fuse_unk": False}), TEXTS[4:36]))
    # Some bytes have no token: what is unknown waits while bytes go by.
    spec = json.loads(llama.to_str())
    for byte in range(0x80, 0x100, 1):
        if byte != 0xE6:
            spec["model"]["vocab"].setdefault(f"<0x{byte:02X}>", len(spec["model"]["vocab"]))
    result.append(entry("bpe-half-bytes", Tokenizer.from_str(json.dumps(spec))))

    suffix = train(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=70,
                            show_progress=False),
        normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
        pre_tokenizer=pre_tokenizers.Split(Regex(r"'s|'t|'re|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True),
        decoder=decoders.BPEDecoder("</w>"))
    result.append(entry("bpe-suffix", suffix))
    prefix = train(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
        trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], continuing_subword_prefix="##", limit_alphabet=70,
                            show_progress=False),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(), decoder=decoders.WordPiece(prefix="##"))
    result.append(entry("bpe-prefix", prefix, TEXTS[4:36]))

    def byte_level(**kwargs):
        return train(
            models.BPE(),
            trainers.BpeTrainer(vocab_size=420, special_tokens=["<s>", "<pad>", "</s>", "<mask>"],
                                initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False),
            decoder=decoders.ByteLevel(), **kwargs)
    roberta = byte_level(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True))
    roberta.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=False, normalized=False)])
    result.append(entry("roberta", roberta))
    trimmed = byte_level(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    trimmed.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
    result.append(entry("gpt2-trimmed", trimmed))
    untrimmed = byte_level(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False), normalizer=normalizers.NFD())
    untrimmed.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 0)])])
    result.append(entry("gpt2-nfd", untrimmed))
    normalizing = byte_level(normalizer=normalizers.ByteLevel())
    result.append(entry("byte-level-normalizer", normalizing))

    added = byte_level(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
                       normalizer=normalizers.Lowercase())
    added.add_tokens([
        AddedToken("<tag>", single_word=True), AddedToken("<SPEC>", normalized=True), AddedToken("quick", single_word=True),
        AddedToken("[MASK]", rstrip=True, lstrip=True), AddedToken("speak", single_word=False),
        AddedToken("a.b", normalized=False), AddedToken("a.b.c", normalized=False)])
    added.add_special_tokens([AddedToken("</S>", normalized=True), AddedToken("<|x|>", rstrip=True)])
    result.append(entry("added", added, TEXTS + ["quickly quick Quick!", "<|x|>  y</s>z", "a.b.cd a.bd", "x[MASK]  [MASK] y",
                                                 "<tag>a <tag>, _<tag>"]))
    metaspace_added = mutated(unigram, pre_tokenizer={
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
        normalizer={"type": "Strip", "strip_left": True, "strip_right": False})
    result.append(entry("metaspace-first", metaspace_added))
    return result


def pairs(whole):
    # Training is not the same twice.
    tokenizers_of = {t["name"]: t for t in whole}
    result = []
    for name in ["bert", "bert-cased-template", "roberta", "gpt2-nfd", "unigram", "word-level"]:
        base = json.dumps(tokenizers_of[name]["json"])
        for truncation, padding in [
            (None, None), ({"max_length": 9, "strategy": "longest_first"}, None),
            ({"max_length": 8, "strategy": "longest_first", "direction": "left"}, {"length": 12}),
            ({"max_length": 12, "strategy": "only_second"}, {"length": 16, "direction": "left", "pad_id": 3}),
            ({"max_length": 14, "strategy": "only_first"}, {"pad_to_multiple_of": 8}),
        ]:
            tokenizer = Tokenizer.from_str(base)
            if truncation:
                tokenizer.enable_truncation(**truncation)
            if padding:
                tokenizer.enable_padding(**padding)
            spec = json.loads(tokenizer.to_str())
            item = {"tokenizer": name, "truncation": spec["truncation"], "padding": spec["padding"], "cases": []}
            for first, second in [("Speak, speak.", None), ("You are all resolved", "to die than to famish"),
                                  ("naïve café 日本", "a"), ("a", "O God! how weary, stale, flat and unprofitable")]:
                for special in [True, False]:
                    case = {"first": first, "second": second, "special": special}
                    try:
                        got = tokenizer.encode(first, second, add_special_tokens=special)
                        case.update(ids=got.ids, types=got.type_ids, offsets=[list(o) for o in got.offsets],
                                    mask=got.attention_mask, added=got.special_tokens_mask)
                    except BaseException:
                        case["fails"] = True
                    item["cases"].append(case)
            result.append(item)
    return result


def charsmap():
    """The rules of SentencePiece's own nmt_nfkc, made small."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=300, hard_vocab_limit=False, minloglevel=2,
        user_defined_symbols=[], normalization_rule_tsv=RULES)
    from sentencepiece import sentencepiece_model_pb2 as pb
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


RULES = "/tmp/tokenizer-goldens-rules.tsv"


def write_rules():
    rules = [("ﬁ", "fi"), ("①", "1"), ("㍿", "株式会社"), ("½", "1/2"), ("\u212b", "\u00c5"), ("　", " "), ("\t", " "), ("\u00a0", " "), ("\u200b", ""),
             ("\u0001", ""), ("e\u0301", "é"), ("é", "E"), ("カ", "か"), ("\ufeff", ""), ("👩\u200d👩", "W"), ("ab", "X"), ("a\u030a", "å")]
    with open(RULES, "w") as file:
        for source, target in rules:
            print(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target), file=file)


def normalizer_rows(blob):
    n = normalizers
    rows = [n.NFC(), n.NFD(), n.NFKC(), n.NFKD(), n.Lowercase(), n.Strip(), n.Strip(left=True, right=False),
            n.Strip(left=False, right=True), n.StripAccents(), n.Replace("o", "00"), n.Replace(Regex(r"\s+"), "_"),
            n.Replace("", "-"), n.Prepend("▁"), n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase()]), n.BertNormalizer(),
            n.BertNormalizer(clean_text=False), n.BertNormalizer(handle_chinese_chars=False),
            n.BertNormalizer(strip_accents=False), n.BertNormalizer(lowercase=False), n.Nmt(), n.ByteLevel(),
            n.Precompiled(base64.b64decode(blob)), n.Sequence([n.Nmt(), n.Precompiled(base64.b64decode(blob)), n.Strip()])]
    result = []
    for normalizer in rows:
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, "[UNK]"))
        tokenizer.normalizer = normalizer
        # One token for each character, so that the offsets of all of them show.
        tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
        cases = []
        for text in TEXTS:
            got = tokenizer.encode(text)
            cases.append([text, normalizer.normalize_str(text), [list(o) for o in got.offsets]])
        result.append({"json": json.loads(tokenizer.to_str())["normalizer"], "cases": cases})
    return result


def pre_tokenizer_rows():
    p = pre_tokenizers
    rows = [p.BertPreTokenizer(), p.ByteLevel(), p.ByteLevel(add_prefix_space=False), p.ByteLevel(use_regex=False),
            p.CharDelimiterSplit("e"), p.Digits(), p.Digits(individual_digits=True), p.Metaspace(),
            p.Metaspace(prepend_scheme="first"), p.Metaspace(prepend_scheme="never"), p.Metaspace(split=False),
            p.Metaspace(replacement="_"), p.Punctuation(), p.UnicodeScripts(), p.Whitespace(), p.WhitespaceSplit(),
            p.FixedLength(), p.FixedLength(length=2), p.Split(" ", "isolated"), p.Split("a", "removed", invert=True),
            p.Sequence([p.Whitespace(), p.Digits(individual_digits=True)]), p.Sequence([p.UnicodeScripts(), p.Whitespace()]),
            p.Sequence([p.WhitespaceSplit(), p.Metaspace(prepend_scheme="first")]),
            p.Sequence([p.ByteLevel(add_prefix_space=False), p.Digits()]), p.Sequence([p.WhitespaceSplit(), p.ByteLevel()]),
            p.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), p.Split(Regex(r"[\p{Han}]+|[^a-m&&[^x]]"), "isolated"),
            p.Split(Regex(r"[a-z&&[^aeiou]]+"), "isolated")]
    rows += [p.Punctuation(behavior=b) for b in ["removed", "merged_with_previous", "merged_with_next", "contiguous"]]
    result = []
    for part in rows:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = part
        result.append({"json": json.loads(tokenizer.to_str())["pre_tokenizer"], "cases": [
            [text, [[piece, *offsets] for piece, offsets in part.pre_tokenize_str(text)]] for text in TEXTS]})
    return result


def decoder_rows():
    d = decoders
    tokens = [
        [], ["a"], ["▁Hello", "▁wor", "ld", "!"], ["Hel", "##lo", "##,", "wor", "##ld", ".", "do", "n't"],
        ["hel", "lo</w>", "wor", "ld</w>"], ["<0xE6>", "<0x97>", "<0xA5>", "x", "<0xFF>", "<0xE6>", "▁y", "<0x41>"],
        ["Ġa", "Ġb", "Ã", "©", "日", "Ċ"], ["<pad>", "h", "h", "<pad>", "e", "l", "l", "<pad>", "l", "o", "|", "|", "<pad>", "w"],
        ["▁", "▁▁x", "▁"], ["  a ", " b  ", "  "], ["é", "a", " do not", " n't", " 's", " ' ", "x"], ["<0x20>", "<0xF0>", "<0x9F>"],
    ]
    rows = [d.ByteLevel(), d.WordPiece(), d.WordPiece(cleanup=False), d.Metaspace(), d.Metaspace(prepend_scheme="never"),
            d.BPEDecoder(), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0), d.Strip(" ", 2, 1), d.Replace("▁", " "), d.CTC(),
            d.CTC(cleanup=False), d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)]),
            d.Sequence([d.Fuse(), d.Strip(" ", 1, 1)]), d.Sequence([d.Fuse(), d.Replace("l", "L")]),
            d.Sequence([d.ByteFallback(), d.Metaspace()]), d.Sequence([d.CTC(), d.WordPiece()]),
            d.Sequence([d.ByteLevel(), d.Fuse()]), d.Sequence([d.Fuse(), d.ByteLevel()])]
    return decoded(rows, tokens)


def decoded(parts, tokens):
    """What each decoder makes of each list of tokens."""
    result = []
    for part in parts:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.decoder = part
        cases = []
        for list_of in tokens:
            try:
                cases.append([list_of, part.decode(list_of)])
            except BaseException:
                pass  # the reference stops on some empty lists
        result.append({"json": json.loads(tokenizer.to_str())["decoder"], "cases": cases})
    return result


def sentencepiece_rows():
    rows = []
    common = dict(vocab_size=320, hard_vocab_limit=False, minloglevel=2, character_coverage=0.98)
    for name, options in [
        ("unigram", dict(model_type="unigram")), ("bpe", dict(model_type="bpe")),
        ("bpe-bytes", dict(model_type="bpe", byte_fallback=True, vocab_size=600, normalization_rule_name="identity",
                           remove_extra_whitespaces=False, split_digits=True)),
        ("unigram-bytes", dict(model_type="unigram", byte_fallback=True, vocab_size=600, user_defined_symbols=["<tag>", "speak"])),
        ("bpe-user", dict(model_type="bpe", user_defined_symbols=["<tag>", "quick"], add_dummy_prefix=False)),
        ("unigram-suffix", dict(model_type="unigram", treat_whitespace_as_suffix=True, normalization_rule_tsv=RULES)),
    ]:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS), model_writer=model, **{**common, **options})
        data = model.getvalue()
        if "normalization_rule_tsv" not in options and options.get("normalization_rule_name") != "identity":
            # The full rules are a quarter of a megabyte; a few will do.
            from sentencepiece import sentencepiece_model_pb2 as pb
            proto = pb.ModelProto()
            proto.ParseFromString(data)
            proto.normalizer_spec.precompiled_charsmap = base64.b64decode(BLOB)
            data = proto.SerializeToString()
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        texts = [t for t in TEXTS if "<s>" not in t and "</s>" not in t]
        rows.append({"name": name, "model": base64.b64encode(data).decode(), "cases": [
            [text, processor.encode(text), processor.decode(processor.encode(text))] for text in texts]})
    return rows


def character_classes():
    """Of which characters the reference says what, as ranges."""
    scalars = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]

    def ranges(test):
        found = []
        for c in scalars:
            if test(chr(c)):
                if found and found[-1][1] == c - 1:
                    found[-1][1] = c
                else:
                    found.append([c, c])
        return found

    p = pre_tokenizers
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    accents = normalizers.StripAccents()
    bert = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    lower = normalizers.Lowercase()
    whitespace, digits, punctuation = p.Whitespace(), p.Digits(), p.Punctuation(behavior="removed")
    pattern, pattern_set = p.Split(Regex(r"\w"), "removed"), p.Split(Regex(r"[\w]"), "removed")
    word = lambda c: len(whitespace.pre_tokenize_str("a" + c)) == 1 and whitespace.pre_tokenize_str("a" + c)[0][1] == (0, 2)
    return {
        "white_space": ranges(lambda c: p.WhitespaceSplit().pre_tokenize_str(c) == []), "word": ranges(word),
        "numeric": ranges(lambda c: len(digits.pre_tokenize_str("a" + c)) == 2),
        "punctuation": ranges(lambda c: punctuation.pre_tokenize_str(c) == []),
        "other": ranges(lambda c: c not in "\0\ufffd" and clean.normalize_str(c) == ""),
        "mark": ranges(lambda c: accents.normalize_str(c) == ""),
        "nonspacing": ranges(lambda c: bert.normalize_str(c) == ""),
        "pattern_word": ranges(lambda c: pattern.pre_tokenize_str(c) == []),
        "pattern_word_set": ranges(lambda c: pattern_set.pre_tokenize_str(c) == []),
        "lowered": [[ord(c), [ord(d) for d in lower.normalize_str(c)]] for c in map(chr, scalars) if lower.normalize_str(c) != c],
        "forms": {form.__name__: [[ord(c), [ord(d) for d in form().normalize_str(c)]] for c in map(chr, scalars)
                                  if not 0xAC00 <= ord(c) < 0xD7A4 and form().normalize_str(c) != c]
                  for form in [normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD]},
    }


def dump(path, value):
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    with open(path, "w") as file:
        file.write(text + "\n")
    print(path, len(text))


if __name__ == "__main__":
    random.seed(7)
    write_rules()
    BLOB = charsmap()
    whole = whole_tokenizers()
    dump(OUT, {
        "reference": f"tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}",
        "tokenizers": whole, "pairs": pairs(whole), "normalizers": normalizer_rows(BLOB),
        "pre_tokenizers": pre_tokenizer_rows(), "decoders": decoder_rows(), "sentencepiece": sentencepiece_rows(),
    })
    dump("Tests/Fixtures/goldens/tokenizer-characters.json", character_classes())
