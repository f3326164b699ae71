"""The quantized operators. Sums of products of integers are taken in double, where they are exact;
what is scaled is scaled in the type of the scales, in the order that the specification names.
"""
import torch

from . import windows


def _along(parameter, x, axis):
    """A scale or zero point, one or one per slice of AXIS, so that it broadcasts with x."""
    if parameter is None or parameter.numel() == 1:
        return parameter if parameter is None else parameter.reshape(())
    return parameter.reshape([-1 if a == axis % x.dim() else 1 for a in range(x.dim())])


def _per_row(parameter):
    """A scale or zero point of a matrix, one or one per row; one per column broadcasts by itself."""
    return parameter.unsqueeze(-1) if parameter is not None and parameter.dim() == 1 else parameter


def _to_steps(x, zero_point, dtype):
    """saturate(round(x) + zero_point), ties to even: where float32 sees a tie, also in double."""
    limits = torch.iinfo(dtype)
    return (torch.round(x.float()) + zero_point).clamp(limits.min, limits.max).to(dtype)


def _less(x, zero_point):
    """x − zero_point as doubles."""
    return x.double() if zero_point is None else x.double() - zero_point.double()


def _to_int32(sums):
    """32-bit sums wrap around."""
    return sums.long().to(torch.int32)


def quantize_linear(inputs, attributes, opset):
    x, scale, zero_point = (inputs + [None])[:3]
    axis = attributes.get("axis", 1)
    dtype = torch.uint8 if zero_point is None else zero_point.dtype
    zero = 0 if zero_point is None else _along(zero_point, x, axis)
    return [_to_steps(x.to(scale.dtype) / _along(scale, x, axis), zero, dtype)]


def dequantize_linear(inputs, attributes, opset):
    x, scale, zero_point = (inputs + [None])[:3]
    axis = attributes.get("axis", 1)
    return [_less(x, _along(zero_point, x, axis)).to(scale.dtype) * _along(scale, x, axis)]


def dynamic_quantize_linear(inputs, attributes, opset):
    x = inputs[0]
    low, high = x.min().clamp(max=0), x.max().clamp(min=0)
    scale = ((high - low) / 255).float().to(x.dtype)  # as it is handed out
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    zero_point = _to_steps(-low / scale, 0, torch.uint8)
    return [_to_steps(x / scale, zero_point, torch.uint8), scale, zero_point]


def _convolved(x, x_zero, w, w_zero, attributes, opset):
    """The padding stands for zero, so the zero points go first."""
    return windows.conv([_less(x, x_zero), _less(w, _along(w_zero, w, 0))], attributes, opset)[0]


def conv_integer(inputs, attributes, opset):
    x, w, x_zero, w_zero = (inputs + [None, None])[:4]
    return [_to_int32(_convolved(x, x_zero, w, w_zero, attributes, opset))]


def qlinear_conv(inputs, attributes, opset):
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = (inputs + [None])[:9]
    sums = _convolved(x, x_zero, w, w_zero, attributes, opset)
    if bias is not None:
        sums = sums + _along(bias, sums, 1)
    scale = _along(x_scale * w_scale / y_scale, sums, 1)
    return [_to_steps(sums.to(scale.dtype) * scale, y_zero, y_zero.dtype)]


def matmul_integer(inputs, attributes, opset):
    a, b, a_zero, b_zero = (inputs + [None, None])[:4]
    return [_to_int32(torch.matmul(_less(a, _per_row(a_zero)), _less(b, b_zero)))]


def qlinear_matmul(inputs, attributes, opset):
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
    sums = torch.matmul(_less(a, _per_row(a_zero)), _less(b, b_zero))
    scale = _per_row(a_scale) * b_scale / _per_row(y_scale)
    return [_to_steps(sums.to(scale.dtype) * scale, _per_row(y_zero), y_zero.dtype)]


OPERATORS = {"QuantizeLinear": quantize_linear, "DequantizeLinear": dequantize_linear,
             "DynamicQuantizeLinear": dynamic_quantize_linear, "ConvInteger": conv_integer,
             "QLinearConv": qlinear_conv, "MatMulInteger": matmul_integer,
             "QLinearMatMul": qlinear_matmul}
