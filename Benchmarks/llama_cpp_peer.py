#!/usr/bin/env python3
"""How fast llama.cpp is with a GGUF file: llama_cpp_peer.py FILE.gguf... [--threads 1,2] [--runs 3] [--only NAME,...]

    pip install llama-cpp-python==0.3.36       builds llama.cpp for this processor, six to fifteen minutes on two cores

One line of JSON for each figure, tokens a second, the median of the runs:

    decode          one token after the other, from position 8
    prefill 256     a prompt of so many tokens at once, from an empty cache
    prefill 512
    prefill 2048
    decode of 8     eight sequences, a token of each in one step; the figure counts all eight
    decode at 4000  one token after the other, behind 4000; the cache holds f16
    decode at 8000

llama.cpp's own defaults hold: the cache in f16, flash attention where it chooses to, 512 tokens at a time. A file of 0.36
billion parameters takes some five minutes on one and two threads, most of them to reach position 8000.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

from llama_cpp import llama_cpp as low

QUIET = low.llama_log_callback(lambda level, text, data: None)
low.llama_log_set(QUIET, ctypes.c_void_p(0))
STEPS, SEQUENCES = 48, 8


class Session:
    """A context of a model, and one batch that is filled again and again."""

    def __init__(self, model, threads, context, sequences=1):
        settings = low.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_seq_max = context, 2048, sequences
        settings.n_threads = settings.n_threads_batch = threads
        settings.kv_unified = False
        self.context = low.llama_init_from_model(model, settings)
        if not self.context:
            sys.exit("llama.cpp makes no context")
        self.batch = low.llama_batch_init(2048, 0, sequences)
        self.vocabulary = low.llama_vocab_n_tokens(low.llama_model_get_vocab(model))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        low.llama_batch_free(self.batch)
        low.llama_free(self.context)

    def clear(self):
        low.llama_memory_clear(low.llama_get_memory(self.context), True)

    def cut(self, position):
        # A recurrent model does not go back: it reads the beginning again.
        if not low.llama_memory_seq_rm(low.llama_get_memory(self.context), 0, position, -1):
            self.clear()
            self.fill(position)

    def step(self, rows):
        """Computes rows of (position, sequence); the last of each sequence gives logits."""
        last = {sequence: index for index, (_, sequence) in enumerate(rows)}
        batch = self.batch
        batch.n_tokens = len(rows)
        for index, (position, sequence) in enumerate(rows):
            batch.token[index] = 3 + position * 7 % (min(self.vocabulary, 250) - 3)
            batch.pos[index] = position
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = sequence
            batch.logits[index] = last[sequence] == index
        if low.llama_decode(self.context, batch) != 0:
            sys.exit("llama.cpp cannot compute a step")
        low.llama_get_logits_ith(self.context, -1)  # waits for the step to be done

    def fill(self, count):
        for start in range(0, count, 2048):
            self.step([(position, 0) for position in range(start, min(start + 2048, count))])


def timed(work, tokens, runs, before):
    """Tokens a second, the median of `runs`, after one run that does not count."""
    rates = []
    for _ in range(runs + 1):
        before()
        start = time.perf_counter()
        work()
        rates.append(tokens / (time.perf_counter() - start))
    return statistics.median(rates[1:])


def decode(model, threads, runs, depth=8):
    with Session(model, threads, depth + STEPS + 8) as session:
        session.fill(depth)

        def work():
            for number in range(STEPS):
                session.step([(depth + number, 0)])

        return timed(work, STEPS, runs, lambda: session.cut(depth))


def prefill(model, threads, runs, count):
    with Session(model, threads, count) as session:
        return timed(lambda: session.fill(count), count, runs, session.clear)


def decode_of_eight(model, threads, runs):
    with Session(model, threads, SEQUENCES * 256, SEQUENCES) as session:
        def before():
            session.clear()
            session.step([(position, sequence) for sequence in range(SEQUENCES) for position in range(8)])

        def work():
            for number in range(STEPS):
                session.step([(8 + number, sequence) for sequence in range(SEQUENCES)])

        return timed(work, STEPS * SEQUENCES, runs, before)


WORKS = {
    "decode": decode,
    "prefill 256": lambda model, threads, runs: prefill(model, threads, runs, 256),
    "prefill 512": lambda model, threads, runs: prefill(model, threads, runs, 512),
    "prefill 2048": lambda model, threads, runs: prefill(model, threads, runs, 2048),
    "decode of 8": decode_of_eight,
    "decode at 4000": lambda model, threads, runs: decode(model, threads, runs, 4000),
    "decode at 8000": lambda model, threads, runs: decode(model, threads, runs, 8000),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(WORKS))
    options = parser.parse_args()
    low.llama_backend_init()
    for path in options.files:
        model = low.llama_model_load_from_file(path.encode(), low.llama_model_default_params())
        if not model:
            sys.exit(f"llama.cpp cannot read {path}")
        for threads in map(int, options.threads.split(",")):
            for work in options.only.split(","):
                rate = WORKS[work](model, threads, options.runs)
                print(json.dumps({"file": path, "work": work, "threads": threads, "per_second": round(rate, 1)}), flush=True)
        low.llama_model_free(model)


if __name__ == "__main__":
    main()
