#!/usr/bin/env python3
"""The tokenizer that is measured, and the `tokenizers` library (Rust, as pip installs it) at the same work.

    tokenizer_peer.py make FOLDER TEXT       trains 128,000 tokens with some 266,000 merges on ten megabytes it writes
    tokenizer_peer.py measure FOLDER TEXT    reads, encodes and decodes on one thread
"""

import gzip
import json
import os
import random
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# At most so many merges; the text yields fewer.
TOKENS, MERGES, BYTES = 128_000, 280_000, 10_000_000


def mixed_text():
    """English, JSON, code-like lines and invented words of six scripts, drawn by a fixed seed."""
    draw = random.Random(7)
    with open("Tests/Fixtures/heldout.txt", encoding="utf-8") as file:
        prose = file.read().split()
    with gzip.open("Benchmarks/Data/hub-models.ndjson.gz", "rt", encoding="utf-8") as file:
        entries = [line for _, line in zip(range(3000), file)]
    alphabets = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщыьэюя", "αβγδεζηθικλμνξοπρστυφχψω",
                 "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面",
                 "あいうえおかきくけこさしすせそたちつてとなにぬねのカキクケコ", "가나다라마바사아자차카타파하거너더러머버서"]
    syllables = [["".join(draw.choices(a, k=draw.randint(1, 3))) for _ in range(60)] for a in alphabets]
    words = [["".join(draw.choices(s, k=draw.randint(2, 6))) for _ in range(60_000)] for s in syllables]
    parts, size = [], 0
    while size < BYTES:
        kind = draw.random()
        if kind < 0.35:
            part = " ".join(draw.choices(prose, k=60)) + ".\n"
        elif kind < 0.45:
            part = draw.choice(entries)[:600] + "\n"
        elif kind < 0.55:
            part = "".join(f"    {draw.choice(prose)}_{draw.randint(0, 99)} = f({draw.randint(0, 9999)}, 'x');\n" for _ in range(8))
        else:
            pool = words[0] if kind < 0.75 else draw.choice(words)
            # Few words are common and most are rare, as in every language.
            part = " ".join(pool[min(int(draw.paretovariate(0.6)), len(pool)) - 1] for _ in range(50)) + "\n"
        parts.append(part)
        size += len(part.encode())
    return "".join(parts), [" ".join(pool) for pool in words]


def make(folder, path):
    text, pools = mixed_text()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(text.splitlines(keepends=True) + pools, trainers.BpeTrainer(
        vocab_size=TOKENS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    spec = json.loads(tokenizer.to_str())
    vocab, merges = spec["model"]["vocab"], spec["model"]["merges"]
    # Llama 3 has a merge for every way to part a token in two.
    known = {tuple(merge) for merge in merges}
    for token in list(vocab):
        for middle in range(1, len(token)):
            pair = (token[:middle], token[middle:])
            if len(merges) < MERGES and pair not in known and pair[0] in vocab and pair[1] in vocab:
                known.add(pair)
                merges.append(list(pair))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(spec, file, ensure_ascii=False, indent=2)
    print(json.dumps({"tokens": len(vocab), "merges": len(merges), "bytes": len(text.encode())}))


def measure(folder, path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    size = len(text.encode())
    name = os.path.join(folder, "tokenizer.json")
    Tokenizer.from_file(name)
    began = time.monotonic()
    tokenizer = Tokenizer.from_file(name)
    load = time.monotonic() - began
    began = time.monotonic()
    # One text in the call that keeps no offsets: the fastest that there is on one thread.
    ids = tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids
    encoding = time.monotonic() - began
    began = time.monotonic()
    again = tokenizer.decode(ids)
    decoding = time.monotonic() - began
    total = 0
    for number in ids:
        total = (total * 31 + number) % 2**64
    print(json.dumps({
        "load_seconds": load, "encode_bytes_per_second": size / encoding, "decode_bytes_per_second": size / decoding,
        "tokens": len(ids), "sum": f"{total:x}", "whole": again == text, "version": tokenizers.__version__}))


if __name__ == "__main__":
    {"make": make, "measure": measure}[sys.argv[1]](*sys.argv[2:])
