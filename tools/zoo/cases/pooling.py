"""MaxPool, AveragePool, GlobalAveragePool.

No case lets a window start in the padding at the end under ceil_mode: the specification says what
happens then only since opset 22.
"""
from .case import Case, normal, uniform


def pool(name, x, opset=12, values=None, **attributes):
    return Case(name, {"x": values or normal(*x)}, {}, attributes, opset)


def both(op, opset):
    """What the two pools share."""
    yield pool(f"{op}_1D", (1, 3, 9), opset, kernel_shape=[2])
    yield pool(f"{op}_1DStridePads", (2, 2, 10), opset, kernel_shape=[3], strides=[2], pads=[1, 0])
    yield pool(f"{op}_2D", (1, 2, 6, 7), opset, kernel_shape=[2, 2], strides=[2, 2])
    yield pool(f"{op}_2DOpset7", (1, 2, 6, 7), 7, kernel_shape=[3, 2])
    yield pool(f"{op}_2DOpset10", (1, 2, 7, 7), 10, kernel_shape=[2, 2], strides=[2, 2],
               ceil_mode=1)
    yield pool(f"{op}_2DOverlapping", (1, 2, 7, 7), opset, kernel_shape=[3, 3], strides=[2, 2])
    yield pool(f"{op}_2DPads", (1, 2, 6, 6), opset, kernel_shape=[3, 3], strides=[2, 2],
               pads=[1, 1, 1, 1])
    yield pool(f"{op}_2DPadsAllDifferent", (1, 2, 6, 7), opset, kernel_shape=[4, 5],
               pads=[0, 1, 2, 3])
    yield pool(f"{op}_2DStrideBeyondKernel", (1, 2, 9, 9), opset, kernel_shape=[2, 2],
               strides=[3, 4])
    yield pool(f"{op}_2DCeil", (1, 2, 8, 9), opset, kernel_shape=[3, 3], strides=[2, 2],
               ceil_mode=1)
    yield pool(f"{op}_2DCeilPads", (1, 1, 7, 8), opset, kernel_shape=[3, 3], strides=[3, 3],
               pads=[1, 1, 0, 0], ceil_mode=1)
    for auto, label in (("SAME_UPPER", "SameUpper"), ("SAME_LOWER", "SameLower")):
        yield pool(f"{op}_2D{label}", (1, 2, 6, 7), opset, kernel_shape=[2, 3], auto_pad=auto)
        yield pool(f"{op}_2D{label}Stride2", (1, 2, 7, 8), opset, kernel_shape=[3, 3],
                   strides=[2, 2], auto_pad=auto)
    yield pool(f"{op}_2DValid", (1, 2, 7, 8), opset, kernel_shape=[3, 2], strides=[2, 2],
               auto_pad="VALID")
    yield pool(f"{op}_2DWidthTails", (1, 1, 3, 37), opset, kernel_shape=[2, 2])
    yield pool(f"{op}_2DChannels", (2, 9, 4, 4), opset, kernel_shape=[2, 2], strides=[2, 2])
    yield pool(f"{op}_3D", (1, 2, 4, 5, 4), opset, kernel_shape=[2, 3, 2], strides=[2, 1, 2])
    yield pool(f"{op}_3DPads", (1, 1, 4, 4, 4), opset, kernel_shape=[3, 2, 3], strides=[2, 2, 1],
               pads=[1, 1, 0, 1, 0, 1])


def maximum():
    yield pool("MaxPool_2DDilated", (1, 2, 8, 9), 12, kernel_shape=[3, 2], dilations=[2, 3])
    yield pool("MaxPool_2DDilatedStridedPadded", (1, 2, 9, 9), 12, kernel_shape=[3, 3],
               dilations=[2, 2], strides=[2, 2], pads=[2, 1, 1, 2])
    yield pool("MaxPool_2DDilatedCeil", (1, 1, 8, 8), 12, kernel_shape=[2, 2], dilations=[2, 2],
               strides=[3, 3], ceil_mode=1)
    negative = uniform(-9, -1, 1, 2, 6, 6)
    yield pool("MaxPool_AllNegativePadded", None, 12, negative, kernel_shape=[3, 3],
               strides=[2, 2], pads=[1, 1, 1, 1])
    yield pool("MaxPool_AllNegativeSameUpper", None, 12, uniform(-9, -1, 1, 2, 5, 5),
               kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER")


def average():
    yield pool("AveragePool_2DCountPads", (1, 2, 6, 6), 11, kernel_shape=[3, 3], strides=[2, 2],
               pads=[1, 1, 1, 1], count_include_pad=1)
    yield pool("AveragePool_2DCountPadsAllDifferent", (1, 2, 6, 7), 11, kernel_shape=[4, 5],
               pads=[0, 1, 2, 3], count_include_pad=1)
    yield pool("AveragePool_2DCountPadsOpset7", (1, 2, 5, 5), 7, kernel_shape=[2, 2],
               pads=[1, 0, 0, 1], count_include_pad=1)
    yield pool("AveragePool_2DCountPadsNoPads", (1, 2, 5, 5), 11, kernel_shape=[2, 2],
               count_include_pad=1)
    yield pool("AveragePool_AlternatingSigns", (1, 1, 6, 6), 11,
               lambda rng: normal(1, 1, 6, 6)(rng) * 1e4, kernel_shape=[6, 6])
    yield Case("GlobalAveragePool_2D", {"x": normal(2, 3, 5, 7)})
    yield Case("GlobalAveragePool_2DOpset7", {"x": normal(1, 5, 8, 8)}, opset=7)
    yield Case("GlobalAveragePool_1D", {"x": normal(2, 3, 11)})
    yield Case("GlobalAveragePool_3D", {"x": normal(1, 2, 3, 4, 5)})
    yield Case("GlobalAveragePool_OnePixel", {"x": normal(2, 5, 1, 1)})
    yield Case("GlobalAveragePool_LargeMean", {"x": uniform(9999, 10001, 1, 2, 7, 7)})


def cases():
    yield from both("MaxPool", 12)
    yield from maximum()
    yield from both("AveragePool", 11)
    yield from average()
