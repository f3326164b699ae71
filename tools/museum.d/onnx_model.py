"""Writes small ONNX models from plain documents, without the onnx package: nodes, seeded constants, inputs. Client:
tools/museum.

A model: {"opset", "inputs": {name: [sizes]}, "constants": {name: {"shape", "values"}}, "nodes": [[op, [inputs], [outputs],
{attributes}]], "outputs": {name: [sizes]}}. Inputs are float32 unless they are {"dtype", "shape"}. The values of a constant
are a list, one number for all, "counting" (0, 1, 2, …), or "seed:N", which gives numbers in [-1, 1), integers in their
whole range."""
import math
import struct

DTYPES = {"float32": (1, "f"), "uint8": (2, "B"), "int8": (3, "b"), "int32": (6, "i"), "int64": (7, "q"), "bool": (9, "B")}


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field * 8) + varint(value)


def part(field: int, *pieces: bytes) -> bytes:
    content = b"".join(pieces)
    return varint(field * 8 + 2) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    return part(field, value.encode())


def real(field: int, value: float) -> bytes:
    return varint(field * 8 + 5) + struct.pack("<f", value)


def random_words(seed: int):
    """32 bits at a time, the same everywhere: splitmix64."""
    state = seed & (1 << 64) - 1
    while True:
        state = state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        word = state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        word = (word ^ word >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        yield (word ^ word >> 31) >> 32


def values_of(spec, dtype: str, count: int) -> list:
    if isinstance(spec, list):
        if len(spec) != count:
            raise ValueError(f"{len(spec)} values for {count} elements")
        return spec
    if spec == "counting":
        return list(range(count))
    if isinstance(spec, str):
        words = random_words(int(spec.removeprefix("seed:")))
        code = DTYPES[dtype][1]
        if code == "f":
            return [next(words) / 2**31 - 1 for _ in range(count)]
        bits = struct.calcsize(code) * 8
        low = 0 if code.isupper() else -(1 << bits - 1)
        return [low + next(words) % (1 << min(bits, 32)) for _ in range(count)]
    return [spec] * count


def tensor(field: int, name: str, spec: dict) -> bytes:
    dtype = spec.get("dtype", "float32")
    type_number, code = DTYPES[dtype]
    values = values_of(spec["values"], dtype, math.prod(spec["shape"]))
    raw = struct.pack(f"<{len(values)}{code}", *values)
    return part(field, *(number(1, size) for size in spec["shape"]), number(2, type_number), text(8, name), part(9, raw))


def attribute(name: str, value) -> bytes:
    if isinstance(value, str):
        pieces = [text(4, value), number(20, 3)]
    elif isinstance(value, float):
        pieces = [real(2, value), number(20, 1)]
    elif isinstance(value, int):
        pieces = [number(3, value), number(20, 2)]
    elif any(isinstance(one, float) for one in value):
        pieces = [*(real(7, one) for one in value), number(20, 6)]
    else:
        pieces = [*(number(8, one) for one in value), number(20, 7)]
    return part(5, text(1, name), *pieces)


def value_info(field: int, name: str, spec) -> bytes:
    spec = spec if isinstance(spec, dict) else {"shape": spec}
    dimensions = [part(1, number(1, size)) for size in spec["shape"]]
    kind = part(1, number(1, DTYPES[spec.get("dtype", "float32")][0]), part(2, *dimensions))
    return part(field, text(1, name), part(2, kind))


def node(op: str, inputs: list, outputs: list, attributes: dict | None = None) -> bytes:
    domain, _, op = op.rpartition(".")
    return part(1, *(text(1, name) for name in inputs), *(text(2, name) for name in outputs),
                text(3, f"{op}_{outputs[0]}"), text(4, op),
                *(attribute(name, value) for name, value in (attributes or {}).items()),
                *([text(7, domain)] if domain else []))


def model_bytes(model: dict) -> bytes:
    graph = part(7, *(node(*one) for one in model["nodes"]), text(2, "exhibit"),
                 *(tensor(5, name, spec) for name, spec in model.get("constants", {}).items()),
                 *(value_info(11, name, spec) for name, spec in model["inputs"].items()),
                 *(value_info(12, name, spec) for name, spec in model["outputs"].items()))
    imports = [part(8, number(2, model["opset"]))]
    if any("." in one[0] for one in model["nodes"]):
        imports.append(part(8, text(1, "com.microsoft"), number(2, 1)))
    return number(1, 8) + graph + b"".join(imports)
