"""Convolution and pooling, any number of spatial axes.

Shapes: ONNX Conv-11, MaxPool-12, AveragePool-11. With ceil_mode a window that would start in the
padding at the end is dropped, as the specification says since opset 22 and PyTorch always did.
"""
import torch
from torch.nn import functional


def _geometry(size, kernel, attributes):
    """Returns strides, dilations, (head, tail) pads and output sizes, one entry per axis."""
    axes = len(kernel)
    strides = attributes.get("strides", [1] * axes)
    dilations = attributes.get("dilations", [1] * axes)
    auto = attributes.get("auto_pad", "NOTSET")
    pads = attributes.get("pads", [0] * (2 * axes))
    pads = [(pads[i], pads[i + axes]) for i in range(axes)]
    out = []
    for i in range(axes):
        extent = (kernel[i] - 1) * dilations[i] + 1
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            out.append(-(-size[i] // strides[i]))
            total = max(0, (out[i] - 1) * strides[i] + extent - size[i])
            small, large = total // 2, total - total // 2
            pads[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
            continue
        if auto == "VALID":
            pads[i] = (0, 0)
        room = size[i] + sum(pads[i]) - extent
        count = (-(-room // strides[i]) if attributes.get("ceil_mode", 0)
                 else room // strides[i]) + 1
        if (count - 1) * strides[i] >= size[i] + pads[i][0]:
            count -= 1
        out.append(count)
    return strides, dilations, pads, out


def _pad(x, pads, value):
    return functional.pad(x, [side for pair in reversed(pads) for side in pair], value=value)


def conv(inputs, attributes, opset):
    x, weight, bias = (inputs + [None])[:3]
    strides, dilations, pads, _ = _geometry(x.shape[2:], weight.shape[2:], attributes)
    function = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}[x.dim() - 2]
    return [function(_pad(x, pads, 0.0), weight, bias, strides, 0, dilations,
                     attributes.get("group", 1))]


def _windows(x, kernel, geometry, value, tail_value):
    """x padded and cut into windows: N, C, out…, product of the kernel."""
    strides, dilations, pads, out = geometry
    x = _pad(x, pads, value)
    tails = [max(0, (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - x.shape[2 + i])
             for i in range(len(kernel))]
    x = _pad(x, [(0, tail) for tail in tails], tail_value)
    for i in range(len(kernel)):
        x = x.unfold(2 + i, (kernel[i] - 1) * dilations[i] + 1, strides[i])
        x = x[..., ::dilations[i]].narrow(2 + i, 0, out[i])
    return x.flatten(2 + len(kernel))


def max_pool(inputs, attributes, opset):
    x, kernel = inputs[0], attributes["kernel_shape"]
    if attributes.get("storage_order", 0):
        raise NotImplementedError("MaxPool with indices by column")
    if not x.is_floating_point():  # bytes; float32 holds them all
        return [max_pool([x.float()], attributes, opset)[0].to(x.dtype)]
    geometry = _geometry(x.shape[2:], kernel, attributes)
    strides, dilations, pads, _ = geometry
    if _plain(x, pads, attributes):
        return [functional.max_pool2d(x, kernel, strides, [head for head, _ in pads], dilations)]
    return [_windows(x, kernel, geometry, -torch.inf, -torch.inf).amax(-1)]


def average_pool(inputs, attributes, opset):
    """Divides by the elements of the window inside the picture, or inside picture and pads."""
    x, kernel = inputs[0], attributes["kernel_shape"]
    geometry = _geometry(x.shape[2:], kernel, attributes)
    strides, dilations, pads, _ = geometry
    if _plain(x, pads, attributes) and set(dilations) == {1}:
        return [functional.avg_pool2d(x, kernel, strides, [head for head, _ in pads],
                                      count_include_pad=bool(attributes.get("count_include_pad", 0)))]
    ones = torch.ones(1, 1, *x.shape[2:], dtype=x.dtype)
    counted = float(attributes.get("count_include_pad", 0))
    counts = _windows(ones, kernel, geometry, counted, 0.0).sum(-1)
    return [_windows(x, kernel, geometry, 0.0, 0.0).sum(-1) / counts]


def _plain(x, pads, attributes):
    """Whether PyTorch's own pooling gives the same: two axes, equal pads, no window cut or added."""
    return (x.dim() == 4 and not attributes.get("ceil_mode", 0) and x.numel()
            and all(head == tail and 2 * head <= kernel for (head, tail), kernel
                    in zip(pads, attributes["kernel_shape"])))


def conv_transpose(inputs, attributes, opset):
    x, weight, bias = (inputs + [None])[:3]
    axes = x.dim() - 2
    pads = attributes.get("pads", [0] * (2 * axes))
    if "output_shape" in attributes or attributes.get("auto_pad", "NOTSET") != "NOTSET":
        raise NotImplementedError("ConvTranspose with output_shape or auto_pad")
    function = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d,
                3: functional.conv_transpose3d}[axes]
    ones = [1] * axes
    y = function(x, weight, bias, attributes.get("strides", ones), 0,
                 attributes.get("output_padding", [0] * axes), attributes.get("group", 1),
                 attributes.get("dilations", ones))
    for axis in range(axes):  # pads cut off what the full result has at its ends
        y = y.narrow(2 + axis, pads[axis], y.shape[2 + axis] - pads[axis] - pads[axis + axes])
    return [y.contiguous()]


def global_average_pool(inputs, attributes, opset):
    return [inputs[0].mean(list(range(2, inputs[0].dim())), keepdim=True)]


OPERATORS = {"Conv": conv, "ConvTranspose": conv_transpose,
             "GlobalMaxPool": lambda inputs, attributes, opset: [
                 inputs[0].amax(list(range(2, inputs[0].dim())), keepdim=True)],
             "MaxPool": max_pool, "AveragePool": average_pool,
             "GlobalAveragePool": global_average_pool}
