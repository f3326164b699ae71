"""Operators of quantized models.

Each function takes a numpy Generator; which attributes ONNX Runtime's CPU kernels accept together is what it knows.
"""
import numpy as np
from contrib_case import Case, byte_type, bytes_of, case, chance, filled, floats, hidden_shape, integers, scale_of


# ---- quantized products ----

@case
def dynamic_quantize_matmul(rng):
    rows, depth, columns = (int(n) for n in rng.integers(1, 40, size=3))
    dtype = byte_type(rng)
    shape = [columns] if chance(rng) else []
    lead = [2] if chance(rng, 0.3) else []
    return Case("DynamicQuantizeMatMul", filled([
        floats(rng, *lead, rows, depth), bytes_of(rng, dtype, depth, columns), scale_of(rng, *shape),
        bytes_of(rng, dtype, *shape) if chance(rng) else None, floats(rng, columns) if chance(rng) else None]),
        constant=(1, 2, 3, 4))


@case
def matmul_integer_to_float(rng):
    rows, depth, columns = (int(n) for n in rng.integers(1, 40, size=3))
    of_a, of_b = byte_type(rng), byte_type(rng)
    if of_a == np.int8:
        of_b = np.int8  # the CPU has no kernel of int8 times uint8
    shape = [columns] if chance(rng) else []
    return Case("MatMulIntegerToFloat", filled([
        bytes_of(rng, of_a, rows, depth), bytes_of(rng, of_b, depth, columns), scale_of(rng), scale_of(rng, *shape),
        bytes_of(rng, of_a) if chance(rng) else None, bytes_of(rng, of_b, *shape) if chance(rng) else None,
        floats(rng, columns) if chance(rng) else None]), constant=(1, 2, 3, 4, 5, 6))


@case
def qgemm(rng):
    rows, depth, columns = (int(n) for n in rng.integers(1, 24, size=3))
    trans_a, trans_b = chance(rng), chance(rng)
    of_a, of_b = byte_type(rng), byte_type(rng)
    if of_a == np.int8:
        of_b = np.int8
    shape = [columns] if chance(rng) else []
    c = integers(rng, -2000, 2000, columns) if chance(rng) else None
    inputs = [bytes_of(rng, of_a, *((depth, rows) if trans_a else (rows, depth))), scale_of(rng), bytes_of(rng, of_a),
              bytes_of(rng, of_b, *((columns, depth) if trans_b else (depth, columns))), scale_of(rng, *shape),
              bytes_of(rng, of_b, *shape), c]
    if chance(rng):
        inputs += [np.float32(0.5) * scale_of(rng), bytes_of(rng, of_a)]
    return Case("QGemm", filled(inputs), {"alpha": float(rng.choice([1.0, 0.5])), "transA": int(trans_a),
                                          "transB": int(trans_b)}, constant=(1, 2, 3, 4, 5, 6, 7, 8))


# ---- quantized functions ----

@case
def qlinear_binary(rng):
    dtype = byte_type(rng)
    shape = hidden_shape(rng)
    other = shape if chance(rng) else shape[int(rng.integers(0, 3)):]
    pair = [bytes_of(rng, dtype, *shape), bytes_of(rng, dtype, *other)]
    if chance(rng):
        pair.reverse()
    return Case(str(rng.choice(["QLinearAdd", "QLinearMul"])), [
        pair[0], scale_of(rng), bytes_of(rng, dtype), pair[1], scale_of(rng), bytes_of(rng, dtype), scale_of(rng) * 4,
        bytes_of(rng, dtype)], constant=(1, 2, 4, 5, 6, 7))


def five(rng, x, y_scale):
    dtype = x.dtype.type
    return [x, scale_of(rng), bytes_of(rng, dtype), np.float32(y_scale), bytes_of(rng, dtype)]


@case
def qlinear_function(rng):
    x = bytes_of(rng, byte_type(rng), *hidden_shape(rng))
    if chance(rng):
        return Case("QLinearSigmoid", five(rng, x, 1 / 256), constant=(1, 2, 3, 4))
    return Case("QLinearLeakyRelu", five(rng, x, 0.02), {"alpha": float(rng.choice([0.01, 0.2, 1.5]))}, constant=(1, 2, 3, 4))


@case
def qlinear_pool(rng):
    last = chance(rng)
    batch, channels, height, width = 1, int(rng.integers(1, 6)), int(rng.integers(3, 9)), int(rng.integers(3, 9))
    shape = (batch, height, width, channels) if last else (batch, channels, height, width)
    x = bytes_of(rng, byte_type(rng), *shape)
    inputs = five(rng, x, 0.02)
    if chance(rng):
        return Case("QLinearGlobalAveragePool", inputs, {"channels_last": int(last)}, constant=(1, 2, 3, 4))
    pad = int(rng.integers(0, 2))
    return Case("QLinearAveragePool", inputs,
                {"channels_last": int(last), "kernel_shape": [2, 3], "pads": [pad] * 4, "strides": [1, 2],
                 "count_include_pad": int(chance(rng))}, constant=(1, 2, 3, 4))


@case
def qlinear_softmax(rng):
    x = bytes_of(rng, byte_type(rng), *hidden_shape(rng))
    zero = -128 if x.dtype == np.int8 else 0
    inputs = [x, scale_of(rng), x.dtype.type(bytes_of(rng, x.dtype.type)), np.float32(1 / 256), x.dtype.type(zero)]
    return Case("QLinearSoftmax", [np.asarray(one) for one in inputs], {"opset": 13, "axis": -1}, constant=(1, 2, 3, 4))


@case
def qlinear_concat(rng):
    dtype = byte_type(rng)
    count, axis = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    shape = list(hidden_shape(rng))
    inputs = [scale_of(rng), bytes_of(rng, dtype)]
    for _ in range(count):
        shape[axis] = int(rng.integers(1, 6))
        inputs += [bytes_of(rng, dtype, *shape), scale_of(rng), bytes_of(rng, dtype)]
    constants = tuple(i for i in range(len(inputs)) if i < 2 or (i - 2) % 3 != 0)
    return Case("QLinearConcat", inputs, {"axis": axis}, constant=constants)


# ---- recurrent ----

@case
def dynamic_quantize_lstm(rng):
    batch = 1 if chance(rng, 0.7) else 2
    steps, width, hidden = int(rng.integers(1, 6)), int(rng.integers(1, 9)), int(rng.integers(1, 9))
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    directions = 2 if direction == "bidirectional" else 1
    dtype = byte_type(rng)
    shape = [directions, 4 * hidden] if chance(rng) else [directions]
    small = np.float32(0.1)
    # The CPU's kernel takes zero points of unsigned weights alone; in the middle, or every sum would be of one sign.
    zero = [(np.zeros(shape) if dtype == np.int8 else integers(rng, 123, 133, *shape)).astype(dtype) for _ in range(2)]
    states = [floats(rng, directions, batch, hidden, scale=0.5) for _ in range(2)] if chance(rng) else [None, None]
    inputs = [floats(rng, steps, batch, width, scale=1), bytes_of(rng, dtype, directions, width, 4 * hidden),
              bytes_of(rng, dtype, directions, hidden, 4 * hidden),
              floats(rng, directions, 8 * hidden, scale=0.5) if chance(rng) else None, None, *states, None,
              scale_of(rng, *shape) * small, zero[0], scale_of(rng, *shape) * small, zero[1]]
    return Case("DynamicQuantizeLSTM", inputs, {"hidden_size": hidden, "direction": direction}, outputs=3,
                constant=(1, 2, 8, 9, 10, 11))
