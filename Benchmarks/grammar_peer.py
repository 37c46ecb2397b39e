#!/usr/bin/env python3
"""llama.cpp's grammar over a vocabulary of 128,000 tokens: what a token costs, and how long the start takes.

    grammar_peer.py make FOLDER       writes vocabulary.gguf and cases.json beside the tokenizer.json in FOLDER
    grammar_peer.py measure FOLDER    prints a line of JSON: seconds of each token, and of the start, over all cases

A case is a JSON Schema and an answer to it in tokens; the grammar is what llama-cpp-python makes of the schema. For each
token the sampler marks what may come (llama_sampler_apply), then takes it (llama_sampler_accept).
"""

import ctypes
import json
import os
import sys
import time


def node(depth):
    """A tree of so many levels: llama-cpp-python does not resolve a $ref that leads back."""
    children = {"type": "array", "items": node(depth - 1) if depth > 1 else {"type": "string"}}
    return {"type": "object", "additionalProperties": False, "required": ["label", "children"],
            "properties": {"label": {"type": "string"}, "children": children}}


CASES = [
    ({"type": "object", "additionalProperties": False, "required": ["name", "age", "email", "tags"], "properties": {
        "name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "email": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 8}}},
     '{"name": "Ada Lovelace of London", "age": 36, "email": "ada@example.org", '
     '"tags": ["mathematics", "poetry", "machines"]}'),
    ({"type": "object", "additionalProperties": False, "required": ["title", "summary", "score", "kind"], "properties": {
        "title": {"type": "string", "minLength": 3, "maxLength": 60}, "summary": {"type": "string", "maxLength": 400},
        "score": {"type": "number"}, "kind": {"enum": ["town", "city", "village"]}}},
     '{"title": "A visit to the river", "summary": "' + "The town lies by a quiet river and has a market. " * 4
     + '", "score": 7.25, "kind": "town"}'),
    (node(3),
     '{"label": "root", "children": [{"label": "left", "children": []}, {"label": "right side", "children": '
     '[{"label": "leaf", "children": []}]}]}'),
    ({"type": "array", "minItems": 1, "items": {"anyOf": [
        {"type": "object", "additionalProperties": False, "required": ["kind", "radius"], "properties": {
            "kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"type": "object", "additionalProperties": False, "required": ["kind", "sides"], "properties": {
            "kind": {"const": "polygon"}, "sides": {"type": "integer"}, "note": {"type": "string"}}}]}},
     '[{"kind": "circle", "radius": 2.5}, {"kind": "polygon", "sides": 5, "note": "drawn with a ruler"}, '
     '{"kind": "circle", "radius": 10}]'),
]


def vocabulary(folder):
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        spec = json.load(file)
    by_id = sorted(spec["model"]["vocab"].items(), key=lambda entry: entry[1])
    merges = [" ".join(merge) if isinstance(merge, list) else merge for merge in spec["model"]["merges"]]
    return [token for token, _ in by_id], merges


def make(folder):
    import gguf
    from tokenizers import Tokenizer

    tokens, merges = vocabulary(folder)
    writer = gguf.GGUFWriter(os.path.join(folder, "vocabulary.gguf"), "llama")
    writer.add_vocab_size(len(tokens) + 1)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens + ["<|end|>"])
    writer.add_token_types([gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(len(tokens))
    writer.add_bos_token_id(len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    cases = [{"schema": schema, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for schema, text in CASES]
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(cases, file)


def measure(folder):
    from llama_cpp import llama_cpp as low
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    quiet = low.llama_log_callback(lambda level, text, data: None)
    low.llama_log_set(quiet, ctypes.c_void_p(0))
    settings = low.llama_model_default_params()
    settings.vocab_only = True
    model = low.llama_model_load_from_file(os.path.join(folder, "vocabulary.gguf").encode(), settings)
    words = low.llama_model_get_vocab(model)
    count = low.llama_vocab_n_tokens(words)
    with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
        cases = json.load(file)
    data = (low.llama_token_data * count)()
    costs, starts = [], []
    for case in cases:
        began = time.perf_counter()
        grammar = json_schema_to_gbnf(json.dumps(case["schema"]))
        sampler = low.llama_sampler_init_grammar(words, grammar.encode(), b"root")
        starts.append(time.perf_counter() - began)
        for token in case["ids"]:
            for number in range(count):
                data[number].id, data[number].logit = number, 0.0
            candidates = low.llama_token_data_array(data, count, -1, False)
            began = time.perf_counter()
            low.llama_sampler_apply(sampler, ctypes.byref(candidates))
            marked = time.perf_counter()
            if data[token].logit != 0.0:
                sys.exit(f"llama.cpp does not allow token {token} of its own form of the schema")
            taken = time.perf_counter()
            low.llama_sampler_accept(sampler, token)
            costs.append(marked - began + time.perf_counter() - taken)
        low.llama_sampler_free(sampler)
    print(json.dumps({"mean_seconds": sum(costs) / len(costs), "worst_seconds": max(costs),
                      "start_seconds": max(starts), "tokens": len(costs), "vocabulary": count}))


if __name__ == "__main__":
    {"make": make, "measure": measure}[sys.argv[1]](sys.argv[2])
