#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/tokenizer-ranks.json: a small tiktoken.model in Kimi K2's manner, and what tiktoken makes of texts.

    venv/bin/pip install tiktoken==0.14.0
    venv/bin/python Tests/Peers/make_rank_goldens.py
"""

import base64
import json
import pathlib
import re

import tiktoken

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "Fixtures"
# As in tokenization_kimi.py of https://huggingface.co/moonshotai/Kimi-K2-Instruct.
PATTERN = "|".join([
    r"[\p{Han}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])
TEXTS = [
    "The quick brown fox jumps over 13 lazy dogs; it's 12345 o'clock.", "  two  spaces\n\n and\tlines \r\n", "世界 hello 世界hello, 你好",
    "<|im_user|>user<|im_middle|>aaaaaaa aaaa aaa aa<|im_end|>[EOS]<|reserved_token_400|>", "ÉTÉ été HeLLo \U0001f600 naïve", "ababab the there then",
    "",
]
SPECIAL = ["[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", None, "<|im_middle|>"]


def ranks():
    """Every byte, then pairs that are frequent in the texts, and repeated letters."""
    text = (FIXTURES / "heldout.txt").read_text(encoding="utf-8")[:20000] + " aa aaa aaaa aaaaa" * 200 + "世界你好" * 100
    words = [[bytes([byte]) for byte in word.encode()] for word in re.findall(r" ?\S+", text)]
    found = [bytes([byte]) for byte in range(256)]
    while len(found) < 380:
        counts = {}
        for word in words:
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        left, right = max(counts, key=lambda pair: (counts[pair], pair))
        found.append(left + right)
        for word in words:
            at = 0
            while at + 1 < len(word):
                if word[at] == left and word[at + 1] == right:
                    word[at:at + 2] = [left + right]
                at += 1
    return {token: rank for rank, token in enumerate(found)}


def main():
    known = ranks()
    special = {content or f"<|reserved_token_{len(known) + i}|>": len(known) + i for i, content in enumerate(SPECIAL)}
    special |= {f"<|reserved_token_{i}|>": i for i in range(len(known) + len(SPECIAL), len(known) + 256)}
    encoding = tiktoken.Encoding("kimi", pat_str=PATTERN, mergeable_ranks=known, special_tokens=special)
    cases = [{"text": text, "ids": encoding.encode(text, allowed_special="all")} for text in TEXTS]
    assert len({len(case["ids"]) for case in cases}) > 4
    golden = {
        "reference": f"tiktoken {tiktoken.__version__}",
        "tiktoken.model": "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in known.items()),
        "tokenizer_config.json": {
            "tokenizer_class": "TikTokenTokenizer", "bos_token": "[BOS]", "eos_token": "[EOS]",
            "added_tokens_decoder": {
                str(len(known) + i): {"content": content, "special": True} for i, content in enumerate(SPECIAL) if content}},
        "cases": cases,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in golden.items()]
    (FIXTURES / "goldens/tokenizer-ranks.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


main()
