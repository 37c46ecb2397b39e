"""Writes PyTorch checkpoints of safetensors, byte by byte what torch.save would write, without torch."""

import io
import json
import math
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

KINDS = {"F32": ("FloatStorage", 4), "F16": ("HalfStorage", 2), "BF16": ("BFloat16Storage", 2), "I64": ("LongStorage", 8)}


def module(name, members):
    """A module that only lends its name to pickle."""
    made = types.ModuleType(name)
    for member in members:
        setattr(made, member, type(member, (), {"__module__": name}))
    return made


class Storage:
    def __init__(self, kind, key, count):
        self.kind, self.key, self.count = kind, key, count


class Tensor:
    def __init__(self, rebuild, storage, shape):
        self.arguments = (rebuild, (storage, 0, shape, steps(shape), False, OrderedDict()))

    def __reduce__(self):
        return self.arguments


def steps(shape):
    return tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))


def read(path):
    """Each tensor's name, type, shape and bytes."""
    raw = Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            yield name, entry["dtype"], tuple(entry["shape"]), raw[start:end]


def write(source, target, legacy=False):
    """A checkpoint of a safetensors file; `legacy` for the format before PyTorch 1.6."""
    torch = module("torch", [kind for kind, _ in KINDS.values()])
    utils = module("torch._utils", ["_rebuild_tensor_v2"])

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                name = ("storage", getattr(torch, value.kind), value.key, "cpu", value.count)
                return name + (None,) if legacy else name

    state, contents = OrderedDict(), {}
    for number, (name, dtype, shape, content) in enumerate(read(source)):
        kind, size = KINDS[dtype]
        contents[str(number)] = (len(content) // size, content)
        state[name] = Tensor(utils._rebuild_tensor_v2, Storage(kind, str(number), len(content) // size), shape)
    out = io.BytesIO()
    held = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": torch, "torch._utils": utils})
    try:
        if legacy:
            for value in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}):
                pickle.dump(value, out, protocol=2)
        Pickler(out, protocol=2).dump(state)
    finally:
        for name, value in held.items():
            sys.modules.pop(name) if value is None else sys.modules.update({name: value})
    if legacy:
        pickle.dump(list(contents), out, protocol=2)
        for count, content in contents.values():
            out.write(count.to_bytes(8, "little") + content)
        Path(target).write_bytes(out.getvalue())
        return
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", out.getvalue())
        for key, (_, content) in contents.items():
            archive.writestr(f"archive/data/{key}", content)
        archive.writestr("archive/version", "3\n")
