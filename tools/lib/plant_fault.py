#!/usr/bin/env python3
"""Plants a fault, for pictures and trials: a copy of a model that forgets one bias of a layer.

  plant_fault.py MODEL.onnx BIAS_NAME CHANNEL OUT.onnx
  plant_fault.py --anonymous TRACE.safetensors OUT.safetensors

The second form takes the model's hash out of a trace and names it file/planted-fault, so that what the faulty copy computed is judged
against the right model, as if a runtime had the fault."""
import json
import struct
import sys
from pathlib import Path


def forget_bias(model, name, channel):
    """Zeroes one float32 in the raw data of an initializer, found by its name and its tag."""
    data = bytearray(model)
    tag = name.encode() + b"\x4a"  # TensorProto.raw_data, after the name
    at = data.find(tag)
    if at < 0 or data.find(tag, at + 1) >= 0:
        sys.exit(f"plant_fault.py: no initializer {name} with raw data after its name")
    size, place, shift = 0, at + len(tag), 0
    while True:
        byte = data[place]
        size |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            break
    if not 0 <= 4 * channel < size:
        sys.exit(f"plant_fault.py: {name} has {size // 4} elements, not one number {channel}")
    data[place + 4 * channel : place + 4 * channel + 4] = struct.pack("<f", 0.0)
    return bytes(data)


def anonymous(trace):
    (length,) = struct.unpack_from("<Q", trace)
    header = json.loads(trace[8 : 8 + length])
    header["__metadata__"].pop("model_sha256", None)
    header["__metadata__"]["target"] = "file/planted-fault"
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + trace[8 + length :]


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "--anonymous":
        Path(arguments[2]).write_bytes(anonymous(Path(arguments[1]).read_bytes()))
    elif len(arguments) == 4:
        Path(arguments[3]).write_bytes(forget_bias(Path(arguments[0]).read_bytes(), arguments[1], int(arguments[2])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
