"""Pad, Reshape, Flatten, Transpose, Concat, Identity, Constant: data moves, no bit changes."""
import numpy as np
from onnx import helper, numpy_helper

from .case import Case, exactly, normal


def pad(name, x, pads, value=None, opset=13, **attributes):
    """From opset 11 pads and value are inputs, before that attributes."""
    initializers = {}
    if opset < 11:
        attributes["pads"] = pads
        if value is not None:
            attributes["value"] = value
    else:
        initializers["pads"] = np.array(pads)
        if value is not None:
            initializers["value"] = np.array(value, np.float32)
    return Case(f"Pad_{name}", {"x": normal(*x)}, initializers, attributes, opset)


def pads():
    yield pad("Opset7", (2, 3), [0, 1, 2, 3], opset=7)
    yield pad("Opset7Value", (1, 2, 3, 3), [0, 0, 1, 2, 0, 0, 0, 1], -1.5, 7)
    yield pad("Opset7Reflect", (1, 2, 4, 4), [0, 0, 1, 2, 0, 0, 3, 1], opset=7, mode="reflect")
    yield pad("Opset10Edge", (1, 2, 3, 3), [0, 0, 1, 2, 0, 0, 4, 1], opset=10, mode="edge")
    yield pad("Opset7Negative", (4, 5), [-1, 0, 1, -2], opset=7)
    yield pad("Opset11", (2, 3), [1, 0, 0, 2], opset=11)
    yield pad("Value", (1, 2, 3, 3), [0, 1, 1, 2, 0, 0, 0, 1], 2.25)
    yield pad("NegativeInfinity", (3, 3), [1, 1, 1, 1], float("-inf"))
    yield pad("Reflect", (3, 5), [2, 1, 1, 4], mode="reflect")
    yield pad("ReflectThreeAxes", (2, 3, 4), [1, 0, 2, 1, 2, 3], mode="reflect")
    yield pad("Edge", (3, 4), [2, 0, 1, 5], mode="edge")
    yield pad("EdgeOneElement", (1, 1), [2, 1, 1, 3], mode="edge")
    yield pad("Negative", (5, 6), [-2, 1, -1, -3])
    yield pad("NothingToDo", (2, 3), [0, 0, 0, 0])
    yield pad("1D", (5,), [3, 2], 1.0, opset=11)
    yield pad("ZeroSized", (0, 3), [1, 0, 1, 0], 7.0)


def reshape(name, x, shape, opset=13, **attributes):
    return Case(f"Reshape_{name}", {"x": normal(*x)}, {"shape": np.array(shape, np.int64)},
                attributes, opset)


def reshapes():
    yield reshape("Opset7", (2, 3, 4), [4, 6], 7)
    yield reshape("MinusOne", (2, 3, 4), [2, -1])
    yield reshape("ZeroCopies", (2, 3, 4), [0, 2, -1])
    yield reshape("ZerosCopyAll", (2, 3, 4), [0, 0, 0], 14)
    yield reshape("OneDimension", (2, 3, 4), [-1])
    yield reshape("MoreDimensions", (6,), [1, 2, 1, 3, 1])
    yield reshape("ToScalar", (1, 1), [])
    yield reshape("FromScalar", (), [1, 1])
    yield reshape("AllowZero", (0, 3, 4), [3, 4, 0], 14, allowzero=1)
    yield reshape("ZeroSized", (0, 3), [0, 1, 3])
    shape = numpy_helper.from_array(np.array([3, -1]), "shape")
    yield Case("Reshape_ShapeFromConstant", {"x": normal(2, 6)}, operands=["x", "shape"],
               before=[helper.make_node("Constant", [], ["shape"], name="shape", value=shape)])


def flattens():
    for axis in range(5):
        yield Case(f"Flatten_Axis{axis}", {"x": normal(2, 3, 2, 2)}, {}, {"axis": axis},
                   7 if axis % 2 else 9)
    yield Case("Flatten_Default", {"x": normal(2, 3, 2)}, opset=13)
    yield Case("Flatten_AxisMinus1", {"x": normal(2, 3, 4)}, {}, {"axis": -1}, 11)
    yield Case("Flatten_AxisMinus3", {"x": normal(2, 3, 4)}, {}, {"axis": -3}, 13)
    yield Case("Flatten_Vector", {"x": normal(5)}, {}, {"axis": 0}, 13)
    yield Case("Flatten_ZeroSized", {"x": normal(2, 0, 3)}, opset=13)


def transposes():
    yield Case("Transpose_Default", {"x": normal(2, 3, 4)})
    yield Case("Transpose_Opset7", {"x": normal(3, 5)}, opset=7)
    yield Case("Transpose_ToNHWC", {"x": normal(2, 3, 4, 5)}, {}, {"perm": [0, 2, 3, 1]})
    yield Case("Transpose_ToNCHW", {"x": normal(2, 4, 5, 3)}, {}, {"perm": [0, 3, 1, 2]})
    yield Case("Transpose_FiveAxes", {"x": normal(2, 1, 3, 2, 4)}, {}, {"perm": [4, 2, 0, 3, 1]})
    yield Case("Transpose_Same", {"x": normal(2, 3)}, {}, {"perm": [0, 1]})
    yield Case("Transpose_Vector", {"x": normal(5)})
    yield Case("Transpose_ZeroSized", {"x": normal(2, 0, 3)}, {}, {"perm": [2, 0, 1]})


def concats():
    def concat(name, shapes, axis, opset=13):
        inputs = {f"x{i}": normal(*shape) for i, shape in enumerate(shapes)}
        return Case(f"Concat_{name}", inputs, {}, {"axis": axis}, opset)

    yield concat("Opset7", [(2, 3), (2, 4)], 1, 7)
    yield concat("Axis0", [(2, 3), (1, 3)], 0)
    yield concat("Channels", [(2, 1, 2, 2), (2, 3, 2, 2), (2, 2, 2, 2)], 1)
    yield concat("LastAxis", [(2, 3, 1), (2, 3, 2)], -1)
    yield concat("AxisMinus3", [(1, 2, 3), (2, 2, 3)], -3, 11)
    yield concat("OneInput", [(2, 3)], 0)
    yield concat("ZeroSizedPart", [(2, 3), (2, 0), (2, 1)], 1)
    yield concat("Vectors", [(3,), (2,), (4,), (1,)], 0)


def constants():
    yield Case("Identity_Opset7", {"x": normal(2, 3)}, opset=7)
    yield Case("Identity_KeepsBits", {"x": exactly(-0.0, 1e-45, float("inf"), float("nan"))})
    tensor = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3) / 7)
    yield Case("Constant_Tensor", {}, {}, {"value": tensor}, 7)
    yield Case("Constant_Float", {}, {}, {"value_float": 0.1}, 12)
    yield Case("Constant_Floats", {}, {}, {"value_floats": [0.1, 0.2, 0.3]}, 12)
    yield Case("Constant_Int", {}, {}, {"value_int": -7}, 13)
    yield Case("Constant_Ints", {}, {}, {"value_ints": [1, 2**40]}, 13)


def cases():
    for family in (pads, reshapes, flattens, transposes, concats, constants):
        yield from family()
