#!/usr/bin/env python3
"""How fast ONNX Runtime or torch runs an encoder: encoders_peer.py onnx|torch FOLDER THREADS WORK

    pip install torch transformers onnxruntime

FOLDER is one of encoder_models.py. WORK is `one` (a sentence of 12 tokens), `mixed` (32 of 5 to 40), `128` (32 of 128) or
`pairs` (64 pairs of 200 tokens). float32, in one padded batch, without the tokenizer. Prints a line of JSON: texts a
second, the median of five runs after two that do not count.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
import transformers

LENGTHS = {"one": [12], "mixed": [5 + number * 35 // 31 for number in range(32)], "128": [128] * 32, "pairs": [200] * 64}


def inputs(work):
    lengths = LENGTHS[work]
    ids = np.zeros((len(lengths), max(lengths)), np.int64)
    mask = np.zeros_like(ids)
    draw = np.random.default_rng(1)
    for row, length in enumerate(lengths):
        ids[row, :length] = draw.integers(5, 1000, length)
        mask[row, :length] = 1
    return {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": np.zeros_like(ids)} if work == "pairs" else {})


def runner(engine, folder, threads, values):
    if engine == "onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, values)
    torch.set_num_threads(threads)
    loader = transformers.AutoModelForSequenceClassification if "token_type_ids" in values else transformers.AutoModel
    model = loader.from_pretrained(folder, dtype=torch.float32).eval()
    values = {name: torch.from_numpy(value) for name, value in values.items()}

    def run():
        with torch.inference_mode():
            model(**values)

    return run


def main():
    engine, folder, threads, work = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    run = runner(engine, folder, threads, inputs(work))
    # One sentence takes a few milliseconds.
    rounds = 50 if work == "one" else 1
    rates = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(rounds):
            run()
        rates.append(rounds * len(LENGTHS[work]) / (time.perf_counter() - start))
    print(json.dumps({"engine": engine, "work": work, "threads": threads, "per_second": round(statistics.median(rates[2:]), 2)}))


if __name__ == "__main__":
    main()
