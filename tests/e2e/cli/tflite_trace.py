"""Runs an exported .tflite file with TensorFlow Lite's interpreter and writes what it computed as a trace.

usage: tflite_trace.py MODEL.tflite EXPORT.json INPUTS.safetensors OUT.safetensors
EXPORT.json: what `driftscope export --tflite MODEL.tflite --json` printed. INPUTS: a trace that has the inputs.
Kernels without XNNPACK, with every tensor kept, so that inner values can be read."""
import json
import struct
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64, "U8": np.uint8, "I8": np.int8, "BOOL": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]],
                                TYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in head.items() if name != "__metadata__" and entry["dtype"] in TYPES}


def write(path, tensors):
    head, data = {"__metadata__": {"format": "driftscope-trace-1"}}, b""
    for name, tensor in tensors.items():
        held = np.ascontiguousarray(tensor).tobytes()
        head[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                      "data_offsets": [len(data), len(data) + len(held)]}
        data += held
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main(model, export, inputs, out):
    with open(export, encoding="utf-8") as file:
        described = json.load(file)
    values = described["models"][0]["values"]
    given = read(inputs)
    interpreter = Interpreter(model, experimental_preserve_all_tensors=True,
                              experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    tensors = {detail["name"]: detail for detail in interpreter.get_tensor_details()}
    traced = {}
    for name in described["inputs"]:
        place = values[name]
        tensor = given[name]
        traced[name] = tensor
        moved = np.transpose(tensor, place["order"]) if place["order"] else tensor
        detail = tensors[place["tensor"]]
        interpreter.set_tensor(detail["index"], np.ascontiguousarray(moved, detail["dtype"]))
    interpreter.invoke()
    for name, place in values.items():
        if name in traced or place["tensor"] not in tensors:
            continue
        tensor = interpreter.get_tensor(tensors[place["tensor"]]["index"])
        if tensor.dtype not in NAMES:
            continue
        traced[name] = np.transpose(tensor, np.argsort(place["order"])) if place["order"] else tensor
    write(out, traced)
    print(len(traced))


if __name__ == "__main__":
    main(*sys.argv[1:])
