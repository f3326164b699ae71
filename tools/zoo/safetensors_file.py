"""Writes and reads safetensors: 8 bytes little-endian header length, JSON header, data.

Source: https://github.com/huggingface/safetensors, "Format". Also the trace format of Driftscope.
"""
import json
import struct
from pathlib import Path

import numpy as np

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
          "I32": np.int32, "I16": np.int16, "I8": np.int8, "U64": np.uint64, "U32": np.uint32,
          "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


def write(path, tensors, metadata):
    """Writes arrays by name, in the given order; METADATA maps strings to strings."""
    header, parts, at = {"__metadata__": metadata}, [], 0
    for name, array in tensors.items():
        array = np.asarray(array)
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # so that the data begin on a multiple of 8 bytes
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read(path):
    """Returns (arrays by name, metadata)."""
    data = Path(path).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[start + first:start + last],
                                      DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata
