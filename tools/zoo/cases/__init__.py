"""Operator cases by family. Each module has `cases()`, which yields Case objects."""
from . import convolution, layout, pointwise, pooling, products


def all_cases():
    for module in (convolution, pooling, products, pointwise, layout):
        yield from module.cases()
