"""The inputs of an ONNX model: names, element types and shapes, read from the file without the package onnx.

Only the few fields that are needed are decoded (onnx.proto: ModelProto.graph 7; GraphProto.initializer 5, input 11;
ValueInfoProto.name 1, type 2; TypeProto.tensor_type 1; Tensor.elem_type 1, shape 2; Dimension.dim_value 1), and
the weights are skipped, not read.
"""
import mmap
from dataclasses import dataclass

import numpy as np

from .errors import BadInput

DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
          10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64}


@dataclass
class OnnxInput:
    name: str
    dtype: type   # None: one that a trace cannot hold
    shape: tuple  # None for a dimension that is not fixed; the whole is None where the model does not say


def _varint(data, at, end):
    result = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        result |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return result, at
    raise ValueError(f"a number does not end at byte {at}")


def _fields(data, at, end):
    """Yields (number, wire type, value); of length-delimited fields the value is (first, last)."""
    while at < end:
        key, at = _varint(data, at, end)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at, end)
        elif kind in (1, 2, 5):
            size = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                size, at = _varint(data, at, end)
            if size > end - at:
                raise ValueError(f"a field of {size} bytes at byte {at}, but only {end - at} are left")
            value, at = (at, at + size), at + size
        else:
            raise ValueError(f"unknown kind of field {kind} at byte {at}")
        yield key >> 3, kind, value


def _sub(data, span, number):
    return [value for n, kind, value in _fields(data, *span) if n == number and kind == 2]


def _text(data, span):
    return bytes(data[span[0]:span[1]]).decode("utf-8", "replace")


def _value_info(data, span):
    name = "".join(_text(data, s) for s in _sub(data, span, 1))
    dtype, shape = None, None
    for type_span in _sub(data, span, 2):
        for tensor in _sub(data, type_span, 1):
            for number, kind, value in _fields(data, *tensor):
                if number == 1 and kind == 0:
                    dtype = DTYPES.get(value)
                elif number == 2 and kind == 2:
                    shape = tuple(_dimension(data, d) for d in _sub(data, value, 1))
    return OnnxInput(name, dtype, shape)


def _dimension(data, span):
    sizes = [value for number, kind, value in _fields(data, *span) if number == 1 and kind == 0]
    return sizes[-1] if sizes and 0 < sizes[-1] < 2**62 else None


def read_inputs(path):
    """The inputs that have to be given, in the graph's order. Raises BadInput for what is not an ONNX model."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            graphs = _sub(data, (0, len(data)), 7)
            if len(graphs) != 1:
                raise ValueError("it has no graph" if not graphs else "it has several graphs")
            constants = {_text(data, name) for tensor in _sub(data, graphs[0], 5) for name in _sub(data, tensor, 8)}
            inputs = [_value_info(data, span) for span in _sub(data, graphs[0], 11)]
    except (ValueError, OSError) as error:
        raise BadInput(f"{path}: not an ONNX model: {error}") from None
    return [value for value in inputs if value.name not in constants]
