#!/usr/bin/env python3
"""Makes a float16 model of a float32 one: to_half.py MODEL.onnx OUT.onnx [--half-io] [--clamp]

Weights, inner values and attributes become float16; inputs and outputs stay float32, with a Cast at each, so that
the same samples fit (--half-io: they become float16 as well). What operators take as float32 alone (the scales of
Resize) stays. Needs nothing but Python: the file is read as protocol buffers, and what is not named here is copied
as it is (onnx.proto, IR version 8; https://protobuf.dev/programming-guides/encoding).

Errors: a number that float16 cannot hold (--clamp: it becomes the largest, as masks of -1e9 may), external data, quantized models, operators without float16.
"""
import argparse
import math
import pathlib
import struct
import sys

FLOAT, FLOAT16 = 1, 10
LARGEST = 65504.0
CLAMP = False  # as the command line says
# The inputs of these operators that are float32 whatever the others are.
FLOAT_INPUTS = {"Resize": {2}, "Upsample": {1}}
# Operators that have no float16 form (ONNX, opset 21).
NO_HALF = {"DynamicQuantizeLinear", "NonMaxSuppression", "MelWeightMatrix", "QuantizeLinear", "DequantizeLinear",
           "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "DeformConv", "Det"}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def read_varint(data, at):
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("damaged: a number does not end")
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def fields(data):
    """[(field number, wire type, value)]: a number, or bytes."""
    at, found = 0, []
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(data, at)
        else:
            if kind == 2:
                size, at = read_varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError(f"damaged: wire type {kind}")
            value = bytes(data[at:at + size])
            if len(value) != size:
                raise ValueError("damaged: a field is longer than the file")
            at += size
        found.append((key >> 3, kind, value))
    return found


def packed(found):
    out = bytearray()
    for number, kind, value in found:
        out += varint(number << 3 | kind)
        if kind == 0:
            out += varint(value)
        else:
            out += (varint(len(value)) if kind == 2 else b"") + value
    return bytes(out)


def texts(found, number):
    return [value.decode() for at, kind, value in found if at == number and kind == 2]


def number_of(found, wanted, default=0):
    return next((value for at, kind, value in found if at == wanted and kind == 0), default)


def half_bytes(floats, name):
    if CLAMP:
        floats = [max(-LARGEST, min(LARGEST, x)) if math.isfinite(x) else x for x in floats]
    for value in floats:
        if math.isfinite(value) and abs(value) >= 65520:
            raise ValueError(f"{name}: {value} is beyond float16, whose largest number is 65504 (see --clamp)")
    return struct.pack(f"<{len(floats)}e", *floats)


def half_tensor(data, what):
    """TensorProto: dims 1, data_type 2, float_data 4, name 8, raw_data 9, data_location 14."""
    found = fields(data)
    if number_of(found, 2) != FLOAT:
        return data
    name = (texts(found, 8) or [what])[0]
    if number_of(found, 14) == 1:
        raise ValueError(f"{name}: its data is in another file; join them first")
    raw = b"".join(value for at, kind, value in found if at in (4, 9) and kind in (2, 5))
    kept = [field for field in found if field[0] not in (2, 4, 9)]
    floats = struct.unpack(f"<{len(raw) // 4}f", raw)
    return packed(kept + [(2, 0, FLOAT16), (9, 2, half_bytes(floats, name))])


def half_type(data):
    """ValueInfoProto: name 1, type 2; TypeProto: tensor_type 1; its elem_type 1."""
    def tensor(found):
        return [(1, 0, FLOAT16) if at == 1 and value == FLOAT else (at, kind, value) for at, kind, value in found]

    def inside(found, number, change):
        return [(at, kind, packed(change(fields(value))) if at == number and kind == 2 else value)
                for at, kind, value in found]

    return packed(inside(fields(data), 2, lambda kind: inside(kind, 1, tensor)))


def is_float(data):
    for at, kind, value in fields(data):
        if at == 2 and kind == 2:
            for inner, _, tensor in fields(value):
                if inner == 1:
                    return number_of(fields(tensor), 1) == FLOAT
    return False


def half_attribute(data, op):
    """AttributeProto: name 1, i 3, t 5, g 6, tensors 10, graphs 11."""
    found = fields(data)
    name = texts(found, 1)[0]
    changed = []
    for at, kind, value in found:
        if at in (5, 10):
            value = half_tensor(value, f"{op}.{name}")
        elif at in (6, 11):
            value = half_graph(value, True)
        elif at == 3 and name in ("to", "dtype") and value == FLOAT:
            value = FLOAT16
        changed.append((at, kind, value))
    return packed(changed)


def half_node(data):
    """NodeProto: input 1, output 2, op_type 4, attribute 5."""
    found = fields(data)
    op = texts(found, 4)[0]
    if op in NO_HALF:
        raise ValueError(f"{(texts(found, 3) or [op])[0]}: {op} has no float16 form")
    return packed([(at, kind, half_attribute(value, op) if at == 5 else value) for at, kind, value in found])


def float_inputs(node):
    found = fields(node)
    inputs = texts(found, 1)
    places = FLOAT_INPUTS.get(texts(found, 4)[0], ())
    return {inputs[place] for place in places if place < len(inputs) and inputs[place]}


def with_casts(node, kept):
    """Before it, Casts to float32 of what it reads as such, where this is not a constant that stays float32."""
    wanted = sorted(float_inputs(node) - kept)
    # Two nodes may read the same value.
    output = texts(fields(node), 2)[0]
    names = {name: f"{name}_float_{output}" for name in wanted}
    return [cast(name, names[name], FLOAT) for name in wanted] + [renamed(node, names)]


def cast(source, target, to):
    attribute = packed([(1, 2, b"to"), (3, 0, to), (20, 0, 2)])
    return packed([(1, 2, source.encode()), (2, 2, target.encode()), (3, 2, f"Cast_{target}".encode()),
                   (4, 2, b"Cast"), (5, 2, attribute)])


def renamed(node, names):
    """Also what graphs inside the node read from outside."""
    def inner(data, number, change):
        return packed([(at, kind, change(value) if at in number else value) for at, kind, value in fields(data)])

    def graph(data):
        return inner(data, (1,), lambda value: renamed(value, names))

    def one(at, value):
        if at in (1, 2):
            return names.get(value.decode(), value.decode()).encode()
        return inner(value, (6, 11), graph) if at == 5 else value

    return packed([(at, kind, one(at, value)) for at, kind, value in fields(node)])


def half_graph(data, half_io):
    """GraphProto: node 1, initializer 5, input 11, output 12, value_info 13."""
    found = fields(data)
    by_number = lambda number: [value for at, _, value in found if at == number]
    constants = {texts(fields(value), 8)[0] for value in by_number(5)}
    kept = constants & {name for node in by_number(1) for name in float_inputs(node)}
    nodes = [one for node in by_number(1) for one in with_casts(half_node(node), kept)]
    before, after, names = [], [], {}
    if not half_io:
        for value in by_number(11):
            name = texts(fields(value), 1)[0]
            if is_float(value) and name not in constants:
                names[name] = name + "_half"
                before.append(cast(name, names[name], FLOAT16))
        for value in by_number(12):
            name = texts(fields(value), 1)[0]
            if is_float(value):
                names[name] = name + "_half"
                after.append(cast(names[name], name, FLOAT))
    nodes = before + [renamed(node, names) for node in nodes] + after
    out = []
    for at, kind, value in found:
        if at == 1:
            out += [(1, 2, node) for node in nodes]
            nodes = []
        elif at == 5:
            name = texts(fields(value), 8)[0]
            out.append((at, kind, value if name in kept else half_tensor(value, name)))
        elif at in (11, 12, 13):
            name = texts(fields(value), 1)[0]
            same = name in kept or (at != 13 and not half_io and name not in constants)
            out.append((at, kind, value if same else half_type(value)))
        else:
            out.append((at, kind, value))
    return packed(out)


def half_model(data, half_io=False):
    """ModelProto: graph 7."""
    found = fields(data)
    if not any(at == 7 for at, _, _ in found):
        raise ValueError("no ONNX model: it holds no graph")
    return packed([(at, kind, half_graph(value, half_io) if at == 7 else value) for at, kind, value in found])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--half-io", action="store_true", help="inputs and outputs are float16 as well")
    parser.add_argument("--clamp", action="store_true", help="numbers beyond float16 become its largest")
    options = parser.parse_args()
    global CLAMP
    CLAMP = options.clamp
    try:
        options.out.write_bytes(half_model(options.model.read_bytes(), options.half_io))
    except (ValueError, IndexError, UnicodeDecodeError, OSError) as error:
        sys.exit(f"to_half.py: {options.model}: {error}")


if __name__ == "__main__":
    main()
