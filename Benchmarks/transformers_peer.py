#!/usr/bin/env python3
"""How fast transformers runs a model on torch: transformers_peer.py FOLDER THREADS WORK

    pip install torch transformers

FOLDER is t5-base or gated-delta of family_models.py, computed in float32. WORK is `decode` (48 tokens one after the other,
behind 8), `prefill 512`, or `answers` (128 tokens read, 64 written, greedily). Prints a line of JSON: tokens, or answers, a
second, the median of three runs after one that does not count.
"""

import json
import statistics
import sys
import time

import torch
import transformers


def main():
    folder, threads, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(threads)
    loader = transformers.AutoModelForSeq2SeqLM if work == "answers" else transformers.AutoModelForCausalLM
    model = loader.from_pretrained(folder, dtype=torch.float32).eval()
    length, new = {"decode": (8, 49), "answers": (128, 64)}.get(work) or (int(work.split()[1]), 1)
    ids = torch.randint(3, 250, (1, length), generator=torch.Generator().manual_seed(1))
    settings = dict(do_sample=False, num_beams=1, use_cache=True, pad_token_id=0)

    def seconds(count):
        start = time.perf_counter()
        model.generate(ids, attention_mask=torch.ones_like(ids), min_new_tokens=count, max_new_tokens=count, **settings)
        return time.perf_counter() - start

    def rate():
        if work == "answers":
            return 1 / seconds(new)
        # What the first token takes is the prompt's.
        return length / seconds(1) if new == 1 else (new - 1) / (seconds(new) - seconds(1))

    with torch.inference_mode():
        rates = [rate() for _ in range(4)]
    print(json.dumps({"work": work, "threads": threads, "per_second": round(statistics.median(rates[1:]), 3)}))


if __name__ == "__main__":
    main()
