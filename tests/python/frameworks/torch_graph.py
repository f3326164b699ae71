"""An ONNX model run by PyTorch's own operators in double, so that autograd differentiates it: what the gradients of
`driftscope gradient` are compared with. It has the operators of the shipped models."""
import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional


def _attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def _spatial(padding, rank):
    """ONNX's pads as torch.nn.functional.pad takes them: last axis first."""
    begins, ends = padding[:rank], padding[rank:]
    return [size for axis in reversed(range(rank)) for size in (begins[axis], ends[axis])]


def _convolution(x, weight, bias=None, *, strides=None, pads=None, dilations=None, group=1, **_):
    rank = weight.dim() - 2
    x = functional.pad(x, _spatial(pads or [0] * 2 * rank, rank))
    convolve = [functional.conv1d, functional.conv2d, functional.conv3d][rank - 1]
    return convolve(x, weight, bias, strides or 1, 0, dilations or 1, group)


def _transposed(x, weight, bias=None, *, strides=None, pads=None, output_padding=None, group=1, **_):
    rank = weight.dim() - 2
    assert rank == 2 and (not pads or pads[:rank] == pads[rank:])
    return functional.conv_transpose2d(x, weight, bias, strides or 1, (pads or [0] * 4)[:rank], output_padding or 0,
                                       group)


def _pool(kind):
    def pool(x, *, kernel_shape, strides=None, pads=None, ceil_mode=0, count_include_pad=0, **_):
        rank = len(kernel_shape)
        operator = getattr(functional, f"{kind}_pool{rank}d")
        if not pads or not any(pads):
            return operator(x, kernel_shape, strides or 1, 0, ceil_mode=bool(ceil_mode))
        assert not ceil_mode
        around = _spatial(pads, rank)
        if kind == "max":
            return operator(functional.pad(x, around, value=-torch.inf), kernel_shape, strides or 1)
        average = operator(functional.pad(x, around), kernel_shape, strides or 1)
        if count_include_pad:
            return average
        return average / operator(functional.pad(torch.ones_like(x), around), kernel_shape, strides or 1)

    return pool


def _recurrent(module):
    def run(x, w, r, b, _lengths=None, *states, hidden_size, linear_before_reset=0, direction=b"forward", **_):
        assert direction == b"forward" and w.shape[0] == 1
        gates = w.shape[1] // hidden_size
        assert gates == 4 or linear_before_reset == 1
        order = [0, 2, 3, 1] if gates == 4 else [1, 0, 2]  # iofc → ifco, zrh → rzh

        def ordered(matrix):
            return torch.cat([matrix[g * hidden_size:(g + 1) * hidden_size] for g in order])

        cell = module(x.shape[2], hidden_size).double()
        with torch.no_grad():
            for name, matrix in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"),
                                    (w[0], r[0], b[0][:gates * hidden_size], b[0][gates * hidden_size:])):
                getattr(cell, name).copy_(ordered(matrix))
        given = states if len(states) > 1 else states[0] if states else None
        y, last = cell(x, given)
        last = last if isinstance(last, tuple) else (last,)
        return (y.unsqueeze(1), *last)

    return run


def _normalized(x, scale, bias, mean, variance, *, epsilon=1e-5, **_):
    return functional.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)


def _layer_normalized(x, scale, bias, *, axis=-1, epsilon=1e-5, **_):
    assert axis in (-1, x.dim() - 1)
    return functional.layer_norm(x, x.shape[-1:], scale, bias, epsilon)


def _product(a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    product = alpha * ((a.t() if transA else a) @ (b.t() if transB else b))
    return product if c is None else product + beta * c


def _reduced(operator):
    def reduce(x, *given, keepdims=1, **attributes):
        axes = _axes(given, attributes)
        return operator(x, axes or list(range(x.dim())), keepdim=bool(keepdims))

    return reduce


def _reshaped(x, shape, **_):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape.tolist())])


def _axes(given, attributes):
    """Of an input (opset 13) or an attribute."""
    return given[0].tolist() if given else attributes.get("axes")


def _squeezed(x, *given, **attributes):
    for axis in sorted((a % x.dim() for a in _axes(given, attributes)), reverse=True):
        x = x.squeeze(axis)
    return x


def _unsqueezed(x, *given, **attributes):
    axes = _axes(given, attributes)
    for axis in sorted(a % (x.dim() + len(axes)) for a in axes):
        x = x.unsqueeze(axis)
    return x


def _gathered(x, index, *, axis=0):
    shape = list(x.shape[:axis]) + list(index.shape) + list(x.shape[axis + 1:])
    return x.index_select(axis, (index % x.shape[axis]).reshape(-1)).reshape(shape)


def _resized(x, _roi=None, scales=None, sizes=None, *, mode=b"nearest",
             coordinate_transformation_mode=b"half_pixel", **_):
    size = sizes.tolist()[2:] if sizes is not None else None
    factor = None if scales is None else scales.tolist()[2:]
    if mode == b"nearest":
        assert coordinate_transformation_mode == b"asymmetric"
        return functional.interpolate(x, size, factor)
    align = coordinate_transformation_mode == b"align_corners"
    return functional.interpolate(x, size, factor, mode="bilinear", align_corners=align)


def _typed(x, *, to, **_):
    kind = onnx.helper.tensor_dtype_to_np_dtype(to)
    return x.double() if kind == np.float32 else x.to(torch.from_numpy(np.zeros(1, kind)).dtype)


def _sampled(x, grid, *, mode=b"linear", padding_mode=b"zeros", align_corners=0):
    mode = {b"linear": "bilinear"}.get(mode, mode.decode())
    return functional.grid_sample(x, grid, mode, padding_mode.decode(), bool(align_corners))


def _multiplied(x, *given, keepdims=1, **attributes):
    for axis in sorted((a % x.dim() for a in _axes(given, attributes)), reverse=True):
        x = x.prod(axis, keepdim=bool(keepdims))
    return x


def _norms(x, *, kernel_shape, strides=None, p=2, **_):
    return functional.lp_pool2d(x, p, kernel_shape, strides or 1)


def _clipped(x, low=None, high=None):
    return torch.clamp(x, low, high)


def _softmax(x, *, axis=-1):
    assert axis in (-1, x.dim() - 1)
    return torch.softmax(x, -1)


OPERATORS = {
    "Add": torch.add, "AveragePool": _pool("avg"), "BatchNormalization": _normalized, "Cast": _typed, "Clip": _clipped,
    "Concat": lambda *parts, axis: torch.cat(parts, axis), "Conv": _convolution, "ConvTranspose": _transposed,
    "ConstantOfShape": lambda shape, value=None: torch.zeros(shape.tolist(), dtype=torch.float64),
    "Det": torch.linalg.det, "Div": torch.div, "Equal": torch.eq, "Erf": torch.erf, "Flatten": lambda x, axis=1: torch.flatten(x, axis),
    "Gather": _gathered, "Gemm": _product, "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "GridSample": _sampled, "GRU": _recurrent(torch.nn.GRU), "LpPool": _norms, "LSTM": _recurrent(torch.nn.LSTM), "LayerNormalization": _layer_normalized,
    "MatMul": torch.matmul, "MaxPool": _pool("max"), "Mul": torch.mul, "Not": torch.logical_not, "Pow": torch.pow,
    "ReduceMean": _reduced(torch.mean), "ReduceProd": _multiplied, "ReduceSum": _reduced(torch.sum), "Relu": torch.relu, "Reshape": _reshaped,
    "Resize": _resized, "Shape": lambda x: torch.tensor(x.shape), "Softmax": _softmax, "Sqrt": torch.sqrt,
    "Squeeze": _squeezed, "Sub": torch.sub, "Tanh": torch.tanh, "Unsqueeze": _unsqueezed, "Where": torch.where,
    "Transpose": lambda x, perm: x.permute(perm),
}


def _tensor(proto):
    value = torch.from_numpy(np.array(numpy_helper.to_array(proto)))
    return value.double() if value.is_floating_point() else value


def run(path, inputs, stop=None):
    """Values by name. At the value `stop`, what was computed becomes a leaf that requires a gradient."""
    graph = onnx.load(path).graph
    values = {name: torch.from_numpy(value) for name, value in inputs.items()}
    values = {name: value.double() if value.is_floating_point() else value for name, value in values.items()}
    values.update({proto.name: _tensor(proto) for proto in graph.initializer})
    if stop in values:
        values[stop].requires_grad_()
    for node in graph.node:
        attributes = _attributes(node)
        if node.op_type == "Constant":
            made = _tensor(attributes["value"])
        else:
            made = OPERATORS[node.op_type](*[values[name] if name else None for name in node.input], **attributes)
        for name, value in zip(node.output, made if isinstance(made, tuple) else (made,)):
            values[name] = value.detach().requires_grad_() if name == stop else value
    return values
