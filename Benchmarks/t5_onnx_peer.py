#!/usr/bin/env python3
"""How fast ONNX Runtime runs T5: t5_onnx_peer.py FOLDER THREADS

    pip install torch transformers onnx onnxscript onnxruntime

FOLDER is t5-base of family_models.py, in float32. 128 tokens are read and 64 written, greedily, by two graphs as Optimum has them:
the encoder with the decoder's keys and values of the text that is read, and a step of the decoder with its cache. They are made in
FOLDER/onnx if they are not there. The answer must be that of transformers. Prints a line of JSON: answers a second, the
median of three runs after one that does not count.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np
import onnxruntime
import torch
import transformers

READ, WRITTEN = 128, 64


class Reader(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        states = self.model.encoder(input_ids=ids).last_hidden_state
        cross = [block.layer[1].EncDecAttention for block in self.model.decoder.block]
        return torch.stack([heads(a, a.k(states)) for a in cross]), torch.stack([heads(a, a.v(states)) for a in cross])


class Writer(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, bias, keys, values, cross_keys, cross_values):
        x = self.model.shared(token)
        new_keys, new_values = [], []
        for index, block in enumerate(self.model.decoder.block):
            own, cross, feed = block.layer
            a, h = own.SelfAttention, own.layer_norm(x)
            new_keys.append(heads(a, a.k(h)))
            new_values.append(heads(a, a.v(h)))
            x = x + attend(
                a, h, torch.cat([keys[index], new_keys[-1]], 2), torch.cat([values[index], new_values[-1]], 2), bias)
            a = cross.EncDecAttention
            x = x + attend(a, cross.layer_norm(x), cross_keys[index], cross_values[index], 0)
            x = feed(x)
        x = self.model.decoder.final_layer_norm(x)
        logits = self.model.lm_head(x * self.model.config.d_model ** -0.5)
        return logits, torch.cat([keys, torch.stack(new_keys)], 3), torch.cat([values, torch.stack(new_values)], 3)


def heads(attention, x):
    """[rows, positions, heads * width] as [rows, heads, positions, width]."""
    return x.view(x.shape[0], x.shape[1], attention.n_heads, attention.key_value_proj_dim).transpose(1, 2)


def attend(attention, x, keys, values, bias):
    scores = heads(attention, attention.q(x)) @ keys.transpose(2, 3) + bias
    mixed = torch.softmax(scores, -1) @ values
    return attention.o(mixed.transpose(1, 2).flatten(2))


def make(model, folder):
    folder.mkdir(exist_ok=True)
    layers, count, width = model.config.num_decoder_layers, model.config.num_heads, model.config.d_kv
    text, past = torch.zeros(1, READ, dtype=torch.int64), torch.zeros(layers, 1, count, 2, width)
    cross = torch.zeros(layers, 1, count, READ, width)
    torch.onnx.export(
        Reader(model), (text,), str(folder / "reader.onnx"), input_names=["ids"], output_names=["cross_keys", "cross_values"],
        dynamo=True, verbose=False)
    length = torch.export.Dim("length", min=1, max=WRITTEN)
    inputs = dict(
        token=text[:, :1], bias=torch.zeros(1, count, 1, 3), keys=past, values=past, cross_keys=cross, cross_values=cross)
    torch.onnx.export(
        Writer(model), kwargs=inputs, f=str(folder / "writer.onnx"), input_names=list(inputs),
        output_names=["logits", "new_keys", "new_values"], dynamo=True, verbose=False,
        dynamic_shapes=dict(
            token=None, bias={3: length + 1}, keys={3: length}, values={3: length}, cross_keys=None, cross_values=None))


def main():
    folder, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    graphs = folder / "onnx"
    with torch.inference_mode():
        ids = torch.randint(3, 250, (1, READ), generator=torch.Generator().manual_seed(1))
        expected = model.generate(
            ids, attention_mask=torch.ones_like(ids), min_new_tokens=WRITTEN, max_new_tokens=WRITTEN, do_sample=False,
            num_beams=1)[0, 1:].tolist()
        first = model.decoder.block[0].layer[0].SelfAttention
        # Of the last position: earlier ones see its end.
        bias = first.compute_bias(WRITTEN, WRITTEN)[:, :, -1:, :].numpy()
    if not (graphs / "writer.onnx").exists():
        with torch.no_grad():
            make(model, graphs)
    end, layers = model.config.eos_token_id, model.config.num_decoder_layers
    empty = np.zeros((layers, 1, first.n_heads, 0, first.key_value_proj_dim), np.float32)
    del model, first
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    reader, writer = (
        onnxruntime.InferenceSession(graphs / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
        for name in ("reader", "writer"))

    def answer():
        cross_keys, cross_values = reader.run(None, {"ids": ids.numpy()})
        keys = values = empty
        tokens = [0]
        for position in range(WRITTEN):
            logits, keys, values = writer.run(None, {
                "token": np.array([[tokens[-1]]]), "bias": bias[:, :, :, WRITTEN - 1 - position:], "keys": keys,
                "values": values, "cross_keys": cross_keys, "cross_values": cross_values})
            logits[0, 0, end] = -np.inf
            tokens.append(int(logits[0, 0].argmax()))
        return tokens[1:]

    rates = []
    for _ in range(4):
        start = time.perf_counter()
        written = answer()
        rates.append(1 / (time.perf_counter() - start))
        if written != expected:
            sys.exit(f"ONNX Runtime writes {written}, transformers {expected}")
    print(json.dumps({"work": "answers", "threads": threads, "per_second": round(statistics.median(rates[1:]), 3)}))


if __name__ == "__main__":
    main()
