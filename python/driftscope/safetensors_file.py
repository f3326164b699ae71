"""Writes and reads safetensors: 8 bytes little-endian header length, JSON header, data.

Source: https://github.com/huggingface/safetensors, "Format". Also the trace format of Driftscope. This is our
own, so that the package needs NumPy alone: Debian has no package of the Python library, and a reader that
checks names the file and the tensor that is wrong.
"""
import json
import struct
from pathlib import Path

import numpy as np

from .errors import BadInput
from .whole_file import whole_file

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
          "I32": np.int32, "I16": np.int16, "I8": np.int8, "U64": np.uint64, "U32": np.uint32,
          "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MAX_HEADER = 100_000_000  # as the format's own readers have it


def write(path, tensors, metadata):
    """Writes arrays by name, in the given order; METADATA maps strings to strings.

    The file appears under its name only when it is complete. Raises BadInput for a dtype that the format or
    the traces lack.
    """
    header, at = {"__metadata__": dict(metadata)}, 0
    arrays = []
    for name, array in tensors.items():
        array = np.asarray(array)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.dtype not in NAMES:
            raise BadInput(f"{path}: tensor {name!r} is of dtype {array.dtype}, which a trace cannot hold;"
                           f" expected one of {', '.join(sorted(str(d) for d in NAMES))}")
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        arrays.append(array)
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # so that the data begin on a multiple of 8 bytes
    with whole_file(path) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays:
            file.write(array.astype(array.dtype.newbyteorder("<"), order="C", copy=False).tobytes())


def _unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"the name {next(n for n in names if names.count(n) > 1)!r} occurs twice")
    return dict(pairs)


def read_header(path):
    """Returns (the entries of the JSON header by name, metadata, where the data begin); all are checked."""
    size = Path(path).stat().st_size
    with open(path, "rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > min(MAX_HEADER, size - 8):
            raise BadInput(f"{path}: not a safetensors file: {size} bytes, and a header of {length}")
        text = file.read(length)
    try:
        header = json.loads(text, object_pairs_hook=_unique)
        metadata = header.pop("__metadata__", {})
        if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
            raise ValueError("__metadata__ must map strings to strings")
        for name, entry in header.items():
            _check_entry(name, entry, size - 8 - length)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadInput(f"{path}: bad safetensors header: {error}") from None
    return header, metadata, 8 + length


def _check_entry(name, entry, available):
    shape, (first, last) = entry["shape"], entry["data_offsets"]
    if entry["dtype"] not in DTYPES:
        raise ValueError(f"tensor {name!r} has dtype {entry['dtype']!r}, expected one of {', '.join(DTYPES)}")
    numbers = [*shape, first, last]
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**62 for n in numbers):
        raise ValueError(f"tensor {name!r}: shape {shape} or offsets {[first, last]} are not sizes")
    size = np.dtype(DTYPES[entry["dtype"]]).itemsize
    for extent in shape:  # Python's integers do not overflow
        size *= extent
    if not first <= last <= available or last - first != size:
        raise ValueError(f"tensor {name!r}: offsets {[first, last]} do not fit {size} bytes of"
                         f" {entry['dtype']}{shape} in {available} bytes of data")


def read(path):
    """Returns (arrays by name, metadata). The arrays are mapped from the file, read-only, as they are used."""
    header, metadata, start = read_header(path)
    if Path(path).stat().st_size == start:
        return {name: np.empty(entry["shape"], DTYPES[entry["dtype"]]) for name, entry in header.items()}, metadata
    data = np.memmap(path, np.uint8, "r", start)
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0]):
        first, last = entry["data_offsets"]
        dtype = np.dtype(DTYPES[entry["dtype"]]).newbyteorder("<")
        part = data[first:last]
        if (start + first) % dtype.itemsize:  # the format does not promise alignment
            part = part.copy()
        tensors[name] = part.view(dtype).reshape(entry["shape"]) if last > first else np.empty(entry["shape"], dtype)
    return tensors, metadata
