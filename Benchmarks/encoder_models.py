#!/usr/bin/env python3
"""Random encoders for timing, in the shapes that people download: encoder_models.py FOLDER [SHAPE...]

    pip install torch transformers==5.23.0 tokenizers onnx onnxscript

SHAPE is bert-base, minilm, xlm-r or reranker; without one, all of them. Each is a folder with safetensors, a tokenizer and
the same model as ONNX. They need 1.4 GB. A shape that is there already is left alone.

What such a model says means nothing. Every word `w0` to `w999` is one token. The vocabulary is that of BERT in all of them:
looking rows up costs nothing, and XLM-R's 250,000 would only take room.
"""

import pathlib
import sys

import tokenizers
import torch
import transformers

SIZES = {
    "bert-base": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072),
    "minilm": dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
    "xlm-r": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072),
    "reranker": dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, num_labels=1),
}
VOCABULARY = 30522
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def model(shape):
    torch.manual_seed(1)
    size = dict(SIZES[shape], vocab_size=VOCABULARY)
    if shape == "xlm-r":
        config = transformers.XLMRobertaConfig(**size, max_position_embeddings=514, type_vocab_size=1, pad_token_id=0)
        return transformers.XLMRobertaModel(config, add_pooling_layer=False)
    config = transformers.BertConfig(**size)
    if shape == "reranker":
        return transformers.BertForSequenceClassification(config)
    return transformers.BertModel(config, add_pooling_layer=False)


def tokenizer():
    words = SPECIAL + [f"w{number}" for number in range(1000)]
    words += [f"[unused{number}]" for number in range(VOCABULARY - len(words))]
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece({word: id for id, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    made.add_special_tokens(SPECIAL)
    return made


def make(folder, shape):
    if (folder / "model.onnx").exists():
        return
    made = model(shape).eval()
    made.save_pretrained(folder)
    tokenizer().save(str(folder / "tokenizer.json"))
    ids = torch.randint(5, 1000, (2, 8))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if shape == "reranker":
        inputs["token_type_ids"] = torch.zeros_like(ids)
    batch, length = torch.export.Dim("batch", max=4096), torch.export.Dim("length", max=512)
    torch.onnx.export(
        made, kwargs=inputs, f=str(folder / "model.onnx"), input_names=list(inputs), dynamo=True, verbose=False,
        dynamic_shapes={name: {0: batch, 1: length} for name in inputs}, external_data=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= SIZES.keys():
        sys.exit(__doc__)
    for name in sys.argv[2:] or SIZES:
        make(pathlib.Path(sys.argv[1]) / name, name)
        print(pathlib.Path(sys.argv[1]) / name, flush=True)
