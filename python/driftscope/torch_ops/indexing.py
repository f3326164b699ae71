"""Operators that pick, cut and ask for shapes; most move what exporters write around a Reshape."""
import torch


def gather(inputs, attributes, opset):
    x, at = inputs
    axis = attributes.get("axis", 0) % x.dim()
    flat = at.reshape(-1).long()
    flat = torch.where(flat < 0, flat + x.shape[axis], flat)
    picked = x.index_select(axis, flat)
    return [picked.reshape([*x.shape[:axis], *at.shape, *x.shape[axis + 1:]])]


def slice_(inputs, attributes, opset):
    x = inputs[0]
    if opset < 10:
        starts, ends, axes, steps = (attributes["starts"], attributes["ends"],
                                     attributes.get("axes"), None)
    else:
        starts, ends, axes, steps = ([None if v is None else v.tolist()
                                      for v in (inputs[1:] + [None] * 4)[:4]])
    axes = list(range(len(starts))) if axes is None else axes
    for start, end, axis, step in zip(starts, ends, axes, steps or [1] * len(starts)):
        at = torch.arange(x.shape[axis])[slice(start, end, step)] if step > 0 else torch.tensor(
            list(range(x.shape[axis]))[slice(start, None if end < -x.shape[axis] else end, step)],
            dtype=torch.int64)
        x = x.index_select(axis, at)
    return [x.clone()]


def axes_of(inputs, attributes, opset):
    """Squeeze's and Unsqueeze's axes, an input since opset 13."""
    if opset < 13:
        return attributes.get("axes")
    return inputs[1].tolist() if len(inputs) > 1 and inputs[1] is not None else None


def unsqueeze(inputs, attributes, opset):
    x, axes = inputs[0], axes_of(inputs, attributes, opset)
    rank = x.dim() + len(axes)
    for axis in sorted(a % rank for a in axes):
        x = x.unsqueeze(axis)
    return [x.clone()]


def squeeze(inputs, attributes, opset):
    x, axes = inputs[0], axes_of(inputs, attributes, opset)
    if axes is None:
        return [x.squeeze().clone()]
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = x.squeeze(axis)
    return [x.clone()]


def shape(inputs, attributes, opset):
    sizes = list(inputs[0].shape)[slice(attributes.get("start", 0), attributes.get("end"))]
    return [torch.tensor(sizes, dtype=torch.int64)]


def constant_of_shape(inputs, attributes, opset):
    value = attributes.get("value", torch.zeros(1))
    return [value.reshape(()).expand(inputs[0].tolist()).clone()]


def expand(inputs, attributes, opset):
    x, sizes = inputs[0], inputs[1].tolist()
    return [x.expand(torch.broadcast_shapes(x.shape, tuple(sizes))).clone()]


def split(inputs, attributes, opset):
    x, axis = inputs[0], attributes.get("axis", 0)
    sizes = attributes.get("split")
    if opset >= 13:
        sizes = inputs[1].tolist() if len(inputs) > 1 and inputs[1] is not None else None
    if sizes is None:
        raise NotImplementedError("Split into as many parts as there are outputs")
    return [part.clone() for part in x.split(sizes, axis)]


OPERATORS = {
    "Gather": gather, "Slice": slice_, "Unsqueeze": unsqueeze, "Squeeze": squeeze, "Shape": shape,
    "ConstantOfShape": constant_of_shape, "Expand": expand, "Split": split,
    "Tile": lambda inputs, attributes, opset: [inputs[0].repeat(inputs[1].tolist())],
    "Range": lambda inputs, attributes, opset: [torch.arange(*(v.item() for v in inputs),
                                                             dtype=inputs[0].dtype)],
}
