#!/usr/bin/env python3
"""How fast transformers makes vectors of sentences: sentences_peer.py FOLDER THREADS LENGTH

    pip install torch transformers

Thirty-two sentences of LENGTH tokens in one batch, float32, mean pooling and normalisation, without the tokenizer. Prints
a line of JSON: tokens a second, the median of five runs after two that do not count.
"""

import json
import statistics
import sys
import time

import torch
from transformers import AutoModel


def main():
    folder, threads, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    ids = torch.randint(1000, 20000, (32, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    rates = []
    with torch.inference_mode():
        for _ in range(7):
            start = time.perf_counter()
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state
            torch.nn.functional.normalize(states.mean(dim=1), dim=1)
            rates.append(ids.numel() / (time.perf_counter() - start))
    print(json.dumps({"threads": threads, "length": length, "per_second": round(statistics.median(rates[2:]), 1)}))


if __name__ == "__main__":
    main()
