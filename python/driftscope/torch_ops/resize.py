"""Resize, where PyTorch's interpolate is the same operator: two spatial axes, and the pairs of mode
and coordinates below. Anything else raises NotImplementedError.
"""
import torch
from torch.nn import functional


def resize(inputs, attributes, opset):
    if opset < 11:
        raise NotImplementedError("Resize before opset 11")
    x, _, scales, sizes = (inputs + [None] * 3)[:4]
    mode = attributes.get("mode", "nearest")
    coordinates = attributes.get("coordinate_transformation_mode", "half_pixel")
    rounding = attributes.get("nearest_mode", "round_prefer_floor")
    if sizes is not None and sizes.numel():
        out = sizes.tolist()
        factors = [a / b for a, b in zip(out, x.shape)]
    else:
        factors = scales.tolist()
        out = [int(size * factor) for size, factor in zip(x.shape, factors)]
    known = {("nearest", "asymmetric"): {"mode": "nearest"},
             ("linear", "half_pixel"): {"mode": "bilinear", "align_corners": False},
             ("linear", "pytorch_half_pixel"): {"mode": "bilinear", "align_corners": False},
             ("linear", "align_corners"): {"mode": "bilinear", "align_corners": True}}
    options = known.get((mode, coordinates))
    exact = all(size * factor == target for size, factor, target in zip(x.shape, factors, out))
    if (options is None or x.dim() != 4 or out[:2] != list(x.shape[:2]) or not exact or 1 in out[2:]
            or attributes.get("antialias", 0) or (mode == "nearest" and rounding != "floor")):
        raise NotImplementedError(f"Resize {mode} with {coordinates}, {rounding}")
    return [functional.interpolate(x, size=out[2:], **options)]


OPERATORS = {"Resize": resize}
