"""Operators that only move data."""
import torch


def pad(inputs, attributes, opset):
    """Every mode by index: a destination row is a source row, or the constant outside."""
    x = inputs[0]
    mode = attributes.get("mode", "constant")
    pads = inputs[1].tolist() if opset >= 11 else attributes["pads"]
    fill = attributes.get("value", 0.0)
    if opset >= 11:
        fill = float(inputs[2]) if len(inputs) > 2 and inputs[2] is not None else 0.0
    for axis in range(x.dim()):
        size = x.shape[axis]
        at = torch.arange(-pads[axis], size + pads[axis + x.dim()])
        if mode == "reflect":
            at = at.abs()
            at = torch.where(at >= size, 2 * (size - 1) - at, at)
        outside = (at < 0) | (at >= size)
        if size == 0:  # nothing to read: only the constant can fill it
            shape = [*x.shape[:axis], len(at), *x.shape[axis + 1:]]
            x = torch.full(shape, fill, dtype=x.dtype)
            continue
        x = x.index_select(axis, at.clamp(0, size - 1))
        if mode == "constant":
            shape = [-1 if a == axis else 1 for a in range(x.dim())]
            x = x.masked_fill(outside.reshape(shape), fill)
    return [x]


def reshape(inputs, attributes, opset):
    x, shape = inputs[0], inputs[1].tolist()
    if not attributes.get("allowzero", 0):
        shape = [x.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return [x.reshape(shape).clone()]


def flatten(inputs, attributes, opset):
    x, axis = inputs[0], attributes.get("axis", 1)
    axis += x.dim() if axis < 0 else 0
    rows = 1
    for size in x.shape[:axis]:
        rows *= size
    return [x.reshape(rows, x.numel() // rows if rows else 0).clone()]


def constant(inputs, attributes, opset):
    if "value" in attributes:
        return [attributes["value"]]
    for name, dtype in (("value_float", torch.float32), ("value_floats", torch.float32),
                        ("value_int", torch.int64), ("value_ints", torch.int64)):
        if name in attributes:
            return [torch.tensor(attributes[name], dtype=dtype)]
    raise NotImplementedError(f"Constant with {sorted(attributes)}")


def transpose(inputs, attributes, opset):
    x = inputs[0]
    return [x.permute(attributes.get("perm", list(range(x.dim()))[::-1])).contiguous()]


OPERATORS = {
    "Concat": lambda inputs, attributes, opset: [torch.cat(inputs, attributes.get("axis", 1))],
    "Identity": lambda inputs, attributes, opset: [inputs[0].clone()],
    "Pad": pad, "Reshape": reshape, "Flatten": flatten, "Constant": constant,
    "Transpose": transpose,
}
