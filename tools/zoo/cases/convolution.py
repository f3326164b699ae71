"""Conv: every attribute, one to three spatial axes."""
from .case import Case, exactly, normal


def conv(name, x, weight, bias=True, opset=11, **attributes):
    """Weights are initializers; attributes that are not given keep ONNX's defaults."""
    initializers = {"w": normal(*weight)}
    if bias:
        initializers["b"] = normal(weight[0])
    return Case(f"Conv_{name}", {"x": normal(*x)}, initializers, attributes, opset)


def one_axis():
    yield conv("1D", (1, 3, 12), (4, 3, 3))
    yield conv("1DNoBias", (1, 3, 12), (4, 3, 3), bias=False)
    yield conv("1DStridePads", (2, 3, 13), (4, 3, 4), strides=[3], pads=[2, 1])
    yield conv("1DDilated", (1, 2, 15), (3, 2, 3), dilations=[4], pads=[4, 4])
    yield conv("1DDepthwise", (1, 5, 9), (5, 1, 3), group=5, pads=[1, 1])
    yield conv("1DSameLower", (1, 2, 10), (3, 2, 4), auto_pad="SAME_LOWER", strides=[2])


def two_axes():
    yield conv("2D", (1, 2, 7, 8), (3, 2, 3, 3))
    yield conv("2DOpset7", (1, 2, 7, 8), (3, 2, 3, 3), opset=7, kernel_shape=[3, 3])
    yield conv("2DOpset9", (1, 2, 7, 8), (3, 2, 3, 3), opset=9, pads=[1, 1, 1, 1])
    yield conv("2DNoBias", (1, 2, 7, 8), (3, 2, 3, 3), bias=False, opset=13)
    yield conv("2DPads", (1, 3, 6, 6), (4, 3, 3, 3), pads=[1, 1, 1, 1])
    yield conv("2DPadsAllDifferent", (1, 2, 5, 6), (3, 2, 3, 3), pads=[0, 1, 2, 3])
    yield conv("2DPadsWiderThanKernel", (1, 1, 3, 3), (2, 1, 2, 2), pads=[3, 2, 2, 3])
    yield conv("2DStrides", (1, 2, 9, 10), (3, 2, 3, 3), strides=[2, 3], pads=[1, 1, 1, 1])
    yield conv("2DStrideBeyondKernel", (1, 2, 9, 9), (3, 2, 2, 2), strides=[4, 3])
    yield conv("2DDilated", (1, 2, 9, 9), (3, 2, 3, 3), dilations=[2, 2])
    yield conv("2DDilatedStridedPadded", (1, 2, 10, 11), (3, 2, 3, 2), dilations=[2, 3],
               strides=[2, 1], pads=[2, 1, 2, 2])
    yield conv("2DKernelOneByFive", (1, 2, 5, 9), (3, 2, 1, 5), pads=[0, 2, 0, 2])
    yield conv("2DKernelFiveByOne", (1, 2, 9, 5), (3, 2, 5, 1), pads=[2, 0, 2, 0])
    yield conv("2DPointwise", (1, 5, 6, 7), (7, 5, 1, 1))
    yield conv("2DPointwiseStride2", (1, 5, 7, 7), (7, 5, 1, 1), strides=[2, 2])
    yield conv("2DKernelIsPicture", (2, 3, 4, 5), (4, 3, 4, 5))
    yield conv("2DBatch3", (3, 2, 5, 5), (2, 2, 3, 3), pads=[1, 1, 1, 1])
    yield conv("2DOneByOnePicture", (1, 4, 1, 1), (3, 4, 3, 3), pads=[1, 1, 1, 1])
    yield conv("2DChannelTails", (1, 17, 5, 5), (9, 17, 2, 2))
    yield conv("2DWidthTails", (1, 1, 3, 37), (2, 1, 2, 2))
    yield conv("2DLongSums", (1, 32, 3, 3), (2, 32, 3, 3))
    yield conv("2DEmptyBatch", (0, 2, 5, 5), (3, 2, 3, 3))


def grouped():
    yield conv("Groups2", (1, 4, 6, 6), (6, 2, 3, 3), group=2)
    yield conv("Groups3Dilated", (1, 6, 8, 8), (6, 2, 3, 3), group=3, dilations=[2, 2],
               pads=[2, 2, 2, 2])
    yield conv("GroupsNoBiasStrided", (2, 4, 7, 7), (4, 2, 3, 3), bias=False, group=2,
               strides=[2, 2], pads=[1, 1, 1, 1])
    yield conv("GroupsRowOfFour", (1, 8, 5, 7), (8, 4, 3, 3), group=2)
    yield conv("Depthwise", (1, 5, 7, 7), (5, 1, 3, 3), group=5, pads=[1, 1, 1, 1])
    yield conv("DepthwiseStride2", (1, 4, 9, 8), (4, 1, 3, 3), group=4, strides=[2, 2],
               pads=[1, 1, 1, 1])
    yield conv("DepthwiseDilated", (1, 3, 9, 9), (3, 1, 3, 3), group=3, dilations=[2, 2],
               pads=[2, 2, 2, 2])
    yield conv("DepthwiseMultiplier2", (1, 3, 6, 6), (6, 1, 3, 3), group=3, opset=13)
    yield conv("DepthwiseFiveByFive", (1, 2, 8, 8), (2, 1, 5, 5), group=2, pads=[2, 2, 2, 2])


def auto_padded():
    for auto in ("SAME_UPPER", "SAME_LOWER"):
        name = "SameUpper" if auto == "SAME_UPPER" else "SameLower"
        yield conv(name, (1, 2, 6, 7), (3, 2, 3, 3), auto_pad=auto)
        yield conv(f"{name}EvenKernel", (1, 2, 6, 7), (3, 2, 2, 4), auto_pad=auto)
        yield conv(f"{name}Stride2", (1, 2, 8, 7), (3, 2, 3, 3), auto_pad=auto, strides=[2, 2])
        yield conv(f"{name}Stride3", (1, 2, 10, 11), (3, 2, 5, 4), auto_pad=auto, strides=[3, 3])
        yield conv(f"{name}Dilated", (1, 2, 9, 8), (3, 2, 3, 2), auto_pad=auto, dilations=[2, 3])
        yield conv(f"{name}StrideBeyondKernel", (1, 2, 9, 9), (3, 2, 1, 2), auto_pad=auto,
                   strides=[3, 4])
    yield conv("Valid", (1, 2, 8, 9), (3, 2, 3, 3), auto_pad="VALID", strides=[2, 2])
    yield conv("NotSetWithPads", (1, 2, 6, 6), (3, 2, 3, 3), auto_pad="NOTSET", pads=[1, 0, 0, 1])


def three_axes():
    yield conv("3D", (1, 2, 4, 5, 5), (3, 2, 2, 3, 2))
    yield conv("3DStridesPads", (1, 2, 5, 5, 4), (2, 2, 3, 3, 3), strides=[2, 1, 2],
               pads=[1, 0, 1, 1, 1, 0])
    yield conv("3DDilated", (1, 1, 5, 5, 6), (2, 1, 2, 2, 2), dilations=[2, 3, 2])
    yield conv("3DGroups", (1, 4, 3, 4, 4), (4, 2, 2, 2, 2), group=2)
    yield conv("3DSameUpper", (1, 1, 4, 5, 4), (2, 1, 3, 2, 3), auto_pad="SAME_UPPER",
               strides=[2, 2, 1])


def awkward_values():
    big = exactly([[[[1e8, 1.0, -1e8, 1.0, 3e-8]]]])
    yield Case("Conv_Cancellation", {"x": big}, {"w": exactly([[[[1.0, 1.0, 1.0]]]])}, {}, 11)
    holed = exactly([[[[1.0, float("inf"), 2.0, 3.0, float("nan"), 4.0, 5.0, 6.0]]]])
    yield Case("Conv_InfinityAndNaN", {"x": holed}, {"w": exactly([[[[0.5, 2.0]]]])}, {}, 11)


def cases():
    for family in (one_axis, two_axes, grouped, auto_padded, three_axes, awkward_values):
        yield from family()
