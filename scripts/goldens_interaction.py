#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/late-interaction.json: scores that sentence-transformers' MultiVectorEncoder gives to texts
for queries, with each kind of files that such a model has, and the folder micro/colbert. Needs what scripts/goldens.py
needs.

The folders are micro/colbert, micro/bert or micro/modernbert with other small files. The golden holds those, so that the
test puts them together.
"""

import base64
import json
import pathlib
import shutil
import tempfile

import safetensors.torch
import torch
from sentence_transformers import __version__
from sentence_transformers.multi_vector_encoder import MultiVectorEncoder

from goldens import FIXTURES, MICRO

QUERIES = ["What news from Rome?", "the king", "My lord, the queen hath left the castle! " * 6]
TEXTS = ["The king is dead.", "  My Lord, the QUEEN hath left the castle! ", "What news, good sir? " * 8, "Rome!", "..."]
UNUSED = {"[unused0]": 1020, "[unused1]": 1021}
MARKS = [(content, 1022 + place) for place, content in enumerate(["[Q] ", "[D] "])]
PREFIX = "sentence_transformers."
NATIVE = {
    "Transformer": f"{PREFIX}base.modules.transformer.Transformer", "Dense": f"{PREFIX}base.modules.dense.Dense",
    "MultiVectorMask": f"{PREFIX}multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
    "Normalize": f"{PREFIX}base.modules.normalize.Normalize",
}
PYLATE = {"Transformer": f"{PREFIX}models.Transformer", "Dense": "pylate.models.Dense.Dense"}


def matrix(rows, columns, seed):
    return torch.randn((rows, columns), generator=torch.Generator().manual_seed(seed)) * 0.3


def dense(inputs, outputs, seed, activation="linear.Identity", **settings):
    config = {"in_features": inputs, "out_features": outputs, "bias": False,
              "activation_function": f"torch.nn.modules.{activation}", **settings}
    return config, {"linear.weight": matrix(outputs, inputs, seed)}


def make_colbert():
    """As ColBERT itself writes: the matrix beside the weights, marks in the vocabulary, no modules."""
    folder = MICRO / "colbert"
    folder.mkdir(exist_ok=True)
    weights = safetensors.torch.load_file(MICRO / "bert/model.safetensors")
    weights = {f"bert.{name}": tensor for name, tensor in weights.items()} | {"linear.weight": matrix(12, 32, 1)}
    safetensors.torch.save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((MICRO / "bert/config.json").read_text()) | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tokenizer = json.loads((MICRO / "bert/tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    kept = {name: id for name, id in vocabulary.items() if id not in UNUSED.values()}
    tokenizer["model"]["vocab"] = kept | UNUSED
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    shutil.copy(MICRO / "bert/tokenizer_config.json", folder)
    (folder / "artifact.metadata").write_bytes(stanford(query_maxlen=32, doc_maxlen=40)["artifact.metadata"])


def stanford(**metadata):
    settings = {"dim": 12, "similarity": "cosine", "query_token_id": "[unused0]", "doc_token_id": "[unused1]", **metadata}
    return {"artifact.metadata": json.dumps(settings).encode()}


def modules(kinds, listed, top, transformer=None):
    files, rows = {}, [{"idx": 0, "name": "0", "path": "", "type": kinds["Transformer"]}]
    for index, (kind, content) in enumerate(listed, 1):
        place = f"{index}_{kind}"
        rows.append({"idx": index, "name": str(index), "path": place, "type": kinds[kind]})
        if isinstance(content, tuple):
            files[f"{place}/config.json"] = json.dumps(content[0]).encode()
            files[f"{place}/model.safetensors"] = safetensors.torch.save(content[1], {"format": "pt"})
        else:
            files[f"{place}/config.json"] = json.dumps(content).encode()
    files["modules.json"] = json.dumps(rows).encode()
    files["config_sentence_transformers.json"] = json.dumps(top).encode()
    files["sentence_bert_config.json"] = json.dumps(transformer or {"max_seq_length": 100, "do_lower_case": False}).encode()
    return files


def cases():
    """name, folder, files, tokens that are added."""
    yield "stanford", "colbert", stanford(query_maxlen=32, doc_maxlen=40), []
    yield "stanford-without-settings", "colbert", {}, []
    yield "stanford-other", "colbert", stanford(
        query_maxlen=16, doc_maxlen=20, attend_to_mask_tokens=True, mask_punctuation=False), []
    yield "stanford-unknown-mark", "colbert", stanford(query_maxlen=24, query_token_id="[nothing]"), []

    def pylate(**settings):
        return {"model_type": "ColBERT", "prompts": {}, "similarity_fn_name": "MaxSim", "query_prefix": "[Q] ",
                "document_prefix": "[D] ", "query_length": 32, "document_length": 48, "attend_to_expansion_tokens": False,
                "do_query_expansion": True, "skiplist_words": [".", ",", "the"], **settings}

    one = [("Dense", dense(32, 16, 2))]
    yield "pylate", "bert", modules(PYLATE, one, pylate()), MARKS
    yield "pylate-seen", "bert", modules(PYLATE, one, pylate(attend_to_expansion_tokens=True)), MARKS
    yield "pylate-not-filled", "bert", modules(PYLATE, one, pylate(do_query_expansion=False, query_length=12)), MARKS
    yield "pylate-without-marks", "bert", modules(PYLATE, one, pylate(query_prefix="", document_prefix="")), []
    two = [("Dense", dense(32, 48, 3, use_residual=False)), ("Dense", dense(48, 16, 4, use_residual=False))]
    yield "pylate-two", "bert", modules(PYLATE, two, pylate(skiplist_words=None)), MARKS
    # A window of 8 sees the text from each of the tokens that fill up, where they are few.
    yield "pylate-windows", "modernbert", modules(PYLATE, one, pylate(query_length=8, document_length=30)), []

    def native(**settings):
        return {"model_type": "MultiVectorEncoder", "prompts": {"query": "My lord: ", "document": ""},
                "default_prompt_name": None, "similarity_fn_name": "maxsim", **settings}

    def token(config, tensors):
        return {**config, "module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}, tensors

    def tail(**mask):
        return [("Dense", token(*dense(32, 16, 5, activation="activation.Tanh"))), ("MultiVectorMask", mask),
                ("Normalize", {"module_input_name": "token_embeddings"})]

    plain = {"max_seq_length": 100, "do_lower_case": False}
    yield "native", "bert", modules(NATIVE, tail(skiplist_words=["!", "the"]), native(), plain), []
    yield "native-fixed", "bert", modules(NATIVE, tail(skiplist_words=["the"], skiplist_tasks=["query", "document"]), native(), {
        **plain, "document_length": 20, "query_expansion": {"strategy": "fixed", "attend": False, "length": 24}}), []
    yield "native-least", "bert", modules(NATIVE, tail(), native(similarity_fn_name="meanmaxsim"), {
        **plain, "query_length": 40, "query_expansion": {
            "strategy": "min", "attend": True, "token": "[PAD]", "length": 16}}), []


def scores(folder, files, added):
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        for file in ["config.json", "model.safetensors", "tokenizer.json"]:
            shutil.copy(MICRO / folder / file, path)
        tokenizer = json.loads((path / "tokenizer.json").read_text())
        # The vocabulary is full: they take the ids of others.
        for content, id in added:
            vocabulary = tokenizer["model"]["vocab"]
            tokenizer["model"]["vocab"] = {name: other for name, other in vocabulary.items() if other != id}
            tokenizer["added_tokens"].append({
                "id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": True, "special": False})
        (path / "tokenizer.json").write_text(json.dumps(tokenizer))
        # Its class would make a tokenizer of its own of the vocabulary.
        (path / "tokenizer_config.json").write_text(json.dumps({
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 100, "cls_token": "[CLS]",
            "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}))
        for file, data in files.items():
            (path / file).parent.mkdir(exist_ok=True)
            (path / file).write_bytes(data)
        model = MultiVectorEncoder(str(path), device="cpu", model_kwargs={
            "attn_implementation": "eager", "dtype": torch.float32})
        queries = [model.encode_query(text) for text in QUERIES]
        texts = [model.encode_document(text) for text in TEXTS]
        table = [[float(model.similarity([query], [text])[0, 0]) for text in texts] for query in queries]
        return table, [len(query) for query in queries], [len(text) for text in texts]


def main():
    rows = []
    make_colbert()
    for name, folder, files, added in cases():
        table, queries, texts = scores(folder, files, added)
        rows.append({
            "name": name, "folder": folder,
            "added": [{"content": content, "id": id} for content, id in added],
            "files": {file: base64.b64encode(data).decode() for file, data in files.items()},
            "query_vectors": queries, "text_vectors": texts, "scores": [[round(value, 6) for value in row] for row in table]})
        print(name, queries, texts, rows[-1]["scores"][0])
    table = {row["name"]: torch.tensor(row["scores"]) for row in rows}
    # Each of these must matter.
    for one, other in [("stanford", "stanford-without-settings"), ("stanford", "stanford-other"), ("pylate", "pylate-seen"),
                       ("pylate", "pylate-not-filled"), ("pylate", "pylate-without-marks"), ("native", "native-fixed")]:
        assert (table[one] - table[other]).abs().max() > 0.01, (one, other)
    path = FIXTURES / "goldens/late-interaction.json"
    path.write_text(json.dumps({
        "reference": f"sentence-transformers {__version__}", "queries": QUERIES, "texts": TEXTS, "models": rows},
        separators=(",", ":")) + "\n")
    print(path, path.stat().st_size)


main()
