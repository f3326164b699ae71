"""A network in a framework: its own layers, loss and optimiser, the weights of us. A file each; found by name.

A file defines Backend with

    NAME, PACKAGES                   of the framework, and what must be importable
    __init__(architecture, weights, rate, plant, batch)
    step(x, labels)                  one step on a batch; returns the mean loss before it
    judged_step(x, labels)           the same step, and what it computed: (loss, values, gradients) by name; what it never
                                     has as one tensor is left out
    weights()                        the present ones by name, as Architecture has them
    values(x)                        outputs of the layers by layer
    evaluate(x, labels)              (mean loss, right answers)
    facts()                          version, threads and device

Arrays are NumPy's, in the layout of ONNX: N×C×H×W, weights of a layer as outputs × inputs, gates i, o, f, c. Losses and
gradients are those of the mean over the batch. `plant` is a fault that shall be found, see plants.py.
"""
import importlib
import importlib.util
from pathlib import Path

import numpy as np

from ...errors import BadInput, FrameworkMissing

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
HOW = "tools/setup --frameworks installs all three; or pip install"


def load(name):
    """The class Backend of NAME. Raises BadInput, FrameworkMissing."""
    if name not in NAMES:
        raise BadInput(f"no framework {name!r}; there are {', '.join(NAMES)}")
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [package for package in module.PACKAGES if not importlib.util.find_spec(package)]
    if missing:
        raise FrameworkMissing(f"{name} needs {', '.join(missing)}, not installed: {HOW} {' '.join(module.PACKAGES)}")
    return module.Backend


def packages(name):
    """What NAME must be able to import, without importing it."""
    return importlib.import_module(f"{__name__}.{name}").PACKAGES


def reorder_gates(array, order, axis=0):
    """The four blocks along AXIS in another order: ORDER[i] is the place of the block that becomes i-th."""
    blocks = np.split(np.asarray(array), 4, axis)
    return np.concatenate([blocks[place] for place in order], axis)


FROM_ONNX = (0, 2, 3, 1)  # i, o, f, c → i, f, c, o, which PyTorch and Keras have
TO_ONNX = (0, 3, 1, 2)
