"""A node of one of ONNX Runtime's own operators, the table of functions that make them, and random values. Clients:
contrib_float_cases.py, contrib_quantized_cases.py, contrib_cases.py.
"""
from dataclasses import dataclass, field

import numpy as np

MICROSOFT = "com.microsoft"


@dataclass
class Case:
    op: str
    inputs: list                 # arrays; None: omitted
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    domain: str = MICROSOFT
    constant: tuple = ()         # numbers of the inputs that are initializers
    optional: tuple = ()         # numbers of the outputs that are left out


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def floats(rng, *shape, dtype=np.float32, scale=None):
    scale = 10.0 ** rng.uniform(-1, 1) if scale is None else scale
    return (rng.standard_normal(shape) * scale).astype(dtype)


def chance(rng, share=0.5):
    return bool(rng.random() < share)


def float_type(rng):
    return np.float16 if chance(rng, 0.25) else np.float32


def integers(rng, low, high, *shape, dtype=np.int32):
    return rng.integers(low, high, size=shape).astype(dtype)


def byte_type(rng):
    return np.int8 if chance(rng) else np.uint8


def bytes_of(rng, dtype, *shape):
    low, high = (-128, 128) if dtype == np.int8 else (0, 256)
    return rng.integers(low, high, size=shape).astype(dtype)


def scale_of(rng, *shape):
    return (10.0 ** rng.uniform(-3, -1, size=shape)).astype(np.float32)


def filled(inputs):
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def hidden_shape(rng):
    return int(rng.integers(1, 3)), int(rng.integers(1, 5)), int(rng.integers(2, 70))
