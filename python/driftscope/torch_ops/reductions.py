"""Reductions, LayerNormalization and ArgMax."""
import torch

FUNCTIONS = {"ReduceMean": torch.mean, "ReduceSum": torch.sum, "ReduceMax": torch.amax,
             "ReduceMin": torch.amin, "ReduceProd": None}
AXES_ARE_INPUT_SINCE = {"ReduceSum": 13}  # the others since 18


def _reduce(op, inputs, attributes, opset):
    x, axes = inputs[0], attributes.get("axes")
    if opset >= AXES_ARE_INPUT_SINCE.get(op, 18):
        axes = inputs[1].tolist() if len(inputs) > 1 and inputs[1] is not None else None
        if not axes and attributes.get("noop_with_empty_axes", 0):
            return [x.clone()]
    axes = list(range(x.dim())) if not axes else axes
    keep = bool(attributes.get("keepdims", 1))
    if op in ("ReduceMax", "ReduceMin") and x.numel() == 0:
        raise NotImplementedError(f"{op} of nothing")
    if op == "ReduceProd":
        for axis in sorted((a % x.dim() for a in axes), reverse=True):
            x = x.prod(axis, keepdim=keep)
        return [x]
    return [FUNCTIONS[op](x, axes, keepdim=keep) if axes else x.clone()]


def layer_normalization(inputs, attributes, opset):
    x, scale, bias = (inputs + [None])[:3]
    axis = attributes.get("axis", -1) % x.dim()
    epsilon = attributes.get("epsilon", 1e-5)
    shape = list(x.shape[axis:])
    axes = list(range(axis, x.dim()))
    bias = None if bias is None else bias.expand(shape).contiguous()
    y = torch.nn.functional.layer_norm(x, shape, scale.expand(shape).contiguous(), bias, epsilon)
    mean = x.mean(axes, keepdim=True)
    spread = torch.rsqrt(((x - mean) ** 2).mean(axes, keepdim=True) + epsilon)
    return [y, mean, spread]


def arg_extreme(function):
    def run(inputs, attributes, opset):
        if attributes.get("select_last_index", 0):
            raise NotImplementedError("the last of equal elements")
        return [function(inputs[0], attributes.get("axis", 0),
                         bool(attributes.get("keepdims", 1)))]
    return run


OPERATORS = {op: (lambda inputs, attributes, opset, op=op: _reduce(op, inputs, attributes, opset))
             for op in FUNCTIONS}
OPERATORS |= {"LayerNormalization": layer_normalization, "ArgMax": arg_extreme(torch.argmax),
              "ArgMin": arg_extreme(torch.argmin)}
