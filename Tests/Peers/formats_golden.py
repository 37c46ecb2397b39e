"""Writes Tests/Fixtures/formats: what the reference packages say of formats, for the tests of ModelFormats.

    pip install gguf==0.19.0
    python Tests/Peers/formats_golden.py

Nothing is downloaded; the output is checked in.
"""
import importlib.metadata
import json
import os
import pickle
import pickletools
import struct
import zipfile
from collections import OrderedDict

import gguf
import numpy

here = os.path.dirname(os.path.abspath(__file__))
fixtures = os.path.join(os.path.dirname(here), "Fixtures")
target = os.path.join(fixtures, "formats")


def described(path):
    """A GGUF file as the reference reads it: arrays by their length and ends."""
    reader = gguf.GGUFReader(path)
    fields = {}
    for field in reader.fields.values():
        if field.name.startswith("GGUF."):
            continue
        value = field.contents()
        if isinstance(value, list):
            value = {"count": len(value), "first": value[0] if value else None, "last": value[-1] if value else None}
        fields[field.name] = value
    return {
        "metadata": fields,
        "tensors": [
            [t.name, t.tensor_type.name, [int(n) for n in t.shape], int(t.n_bytes), int(t.data_offset)]
            for t in reader.tensors
        ],
    }


def all_kinds(path):
    """A GGUF file with a value of every kind and a tensor of several types."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("t.u8", 200)
    writer.add_int8("t.i8", -100)
    writer.add_uint16("t.u16", 60000)
    writer.add_int16("t.i16", -30000)
    writer.add_uint32("t.u32", 4000000000)
    writer.add_int32("t.i32", -2000000000)
    writer.add_uint64("t.u64", 2**53)
    writer.add_int64("t.i64", -(2**53))
    writer.add_float32("t.f32", 0.5)
    writer.add_float64("t.f64", 1e300)
    writer.add_bool("t.yes", True)
    writer.add_bool("t.no", False)
    writer.add_string("t.text", "naïve 你好")
    writer.add_array("t.texts", ["a", "", "ü"])
    writer.add_array("t.ints", [1, -2, 3])
    writer.add_array("t.floats", [0.5, 0.25])
    writer.add_array("t.bools", [True, False, True])
    writer.add_custom_alignment(64)
    writer.add_tensor("f32", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    writer.add_tensor("f16", numpy.arange(5, dtype=numpy.float16))
    writer.add_tensor("i8", numpy.arange(7, dtype=numpy.int8))
    q8 = gguf.quants.quantize(numpy.ones((3, 64), dtype=numpy.float32), gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("q8", q8, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def torch_archive(path):
    """What torch.save writes of a state dict: torch itself is not needed to write its imports' names."""
    out = bytearray()

    def text(value):
        raw = value.encode()
        out.extend(b"X" + struct.pack("<I", len(raw)) + raw)

    def tensor(key, kind, shape):
        count = 1
        for size in shape:
            count *= size
        out.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((")
        text("storage")
        out.extend(b"ctorch\n" + kind.encode() + b"\n")
        text(key)
        text("cpu")
        out.extend(b"J" + struct.pack("<i", count) + b"tQK\x00")
        for group in (shape, [1] * len(shape)):
            out.extend(b"(" + b"".join(b"J" + struct.pack("<i", n) for n in group) + b"t")
        out.extend(b"\x89ccollections\nOrderedDict\n)RtR")
        return count

    out.extend(b"\x80\x02ccollections\nOrderedDict\n)R(")
    counts = []
    for key, (name, kind, shape, size) in enumerate(
        [("a.weight", "FloatStorage", [2, 3], 4), ("a.bias", "BFloat16Storage", [3], 2), ("step", "LongStorage", [], 8)]
    ):
        text(name)
        counts.append(tensor(str(key), kind, shape) * size)
    out.extend(b"u.")
    pickletools.dis(bytes(out), out=open(os.devnull, "w"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        def add(name, data):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
        add("model/data.pkl", bytes(out))
        for key, size in enumerate(counts):
            add(f"model/data/{key}", bytes(size))
        add("model/version", "3\n")


class Evil:
    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def pickles():
    import builtins
    import subprocess

    values = {
        "system": Evil(os.system, "true"),
        "eval": Evil(builtins.eval, "1"),
        "popen": {"weights": [1, 2, Evil(subprocess.Popen, ["true"])]},
        "plain": OrderedDict(a=1, b=[True, None, 2**70, -5, 1.5, "x" * 300], c={1, 2}, d=(1, 2, 3, 4), e=b"x"),
    }
    found = []
    for name, value in values.items():
        for protocol in range(6):
            raw = pickle.dumps(value, protocol=protocol)
            # What the reference names, opcode by opcode.
            imports, texts = [], []
            for opcode, argument, _ in pickletools.genops(raw):
                if "UNICODE" in opcode.name or opcode.name.endswith("STRING"):
                    texts.append(argument)
                if opcode.name == "GLOBAL":
                    imports.append(argument.replace(" ", "."))
                if opcode.name == "STACK_GLOBAL":
                    imports.append(".".join(texts[-2:]))
            found.append({"name": name, "protocol": protocol, "hex": raw.hex(), "imports": sorted(set(imports))})
    return found


os.makedirs(target, exist_ok=True)
all_kinds(os.path.join(target, "all-kinds.gguf"))
torch_archive(os.path.join(target, "state.bin"))
goldens = {
    "gguf_version": importlib.metadata.version("gguf"),
    "types": {
        str(int(t)): [t.name, *gguf.GGML_QUANT_SIZES[t]] for t in gguf.GGML_QUANT_SIZES
    },
    "files": {
        name: described(os.path.join(fixtures, name))
        for name in ["tiny-shakespeare-gguf/model-q4_0.gguf", "formats/all-kinds.gguf"]
    },
    "pickles": pickles(),
}
with open(os.path.join(target, "goldens.json"), "w") as out:
    json.dump(goldens, out, ensure_ascii=False, separators=(",", ":"))
    out.write("\n")
