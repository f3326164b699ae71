"""The networks as lists of layers, which every backend builds of its framework's own; a user's comes from JSON.

Clients: the backends, onnx_graph, initial. A layer is (name, kind, settings); LAYERS says what kinds there are.
The last layer gives the logits.
"""
import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import BadInput

# kind → its settings, with what they may be; "size" is a whole number from 1.
LAYERS = {
    "conv": {"channels": "size", "kernel": "size", "same": "flag"},  # 2-d, stride 1; same: padded to keep the size
    "relu": {}, "tanh": {},
    "max_pool": {"size": "size"}, "average_pool": {"size": "size"},  # stride = size
    "flatten": {},
    "dense": {"units": "size"},
    "embedding": {"words": "size", "width": "size"},
    "lstm": {"units": "size"},       # every step's output
    "last": {},                      # that of the last step
}
MAX_LAYERS, MAX_WEIGHTS = 200, 20_000_000


@dataclass
class Architecture:
    name: str
    data: str                    # "digits" or "reviews": what it is trained on unless told otherwise
    input: tuple                 # shape of a sample: (channels, height, width), or (words,)
    layers: list                 # (name, kind, settings)
    rate: float = 0.05
    batch: int = 128
    epochs: int = 50
    why: str = ""                # why rate, batch or epochs are not the study's
    shapes: dict = field(default_factory=dict)   # of each layer's output, without the batch
    weights: dict = field(default_factory=dict)  # name → shape, in ONNX's layout and in the layers' order

    def __post_init__(self):
        _infer(self)

    @property
    def texts(self):
        return len(self.input) == 1

    @property
    def names(self):
        return [name for name, _, _ in self.layers]

    @property
    def classes(self):
        return self.shapes[self.names[-1]][0]


def _need(architecture, name, condition, what):
    if not condition:
        raise BadInput(f"{architecture.name}: layer {name!r}: {what}")


def _infer(a):
    """Fills shapes and weights; what does not fit is an error."""
    _need(a, "", 1 <= len(a.layers) <= MAX_LAYERS, f"expected 1 to {MAX_LAYERS} layers, found {len(a.layers)}")
    shape, seen, whole = tuple(a.input), set(), len(a.input) == 1
    for name, kind, settings in a.layers:
        _need(a, name, name not in seen and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name or ""),
              "a name is unique, of letters, digits and _, and begins with a letter")
        seen.add(name)
        if kind == "conv":
            _need(a, name, len(shape) == 3, f"conv reads channels, height and width, but gets {list(shape)}")
            kernel, same = settings["kernel"], settings.get("same", False)
            _need(a, name, not same or kernel % 2, f"same needs an odd kernel, found {kernel}")
            a.weights[f"{name}.weight"] = (settings["channels"], shape[0], kernel, kernel)
            a.weights[f"{name}.bias"] = (settings["channels"],)
            lost = 0 if same else kernel - 1
            shape = (settings["channels"], shape[1] - lost, shape[2] - lost)
        elif kind in ("max_pool", "average_pool"):
            _need(a, name, len(shape) == 3, f"{kind} reads channels, height and width, but gets {list(shape)}")
            size = settings["size"]
            shape = (shape[0], shape[1] // size, shape[2] // size)
        elif kind == "flatten":
            shape = (math.prod(shape),)
        elif kind == "dense":
            _need(a, name, len(shape) == 1 and not whole, f"dense reads a row of numbers, but gets {list(shape)}")
            a.weights[f"{name}.weight"] = (settings["units"], shape[0])
            a.weights[f"{name}.bias"] = (settings["units"],)
            shape = (settings["units"],)
        elif kind == "embedding":
            _need(a, name, whole and len(shape) == 1, "an embedding reads the input, a row of words")
            a.weights[f"{name}.weight"] = (settings["words"], settings["width"])
            shape, whole = (shape[0], settings["width"]), False
        elif kind == "lstm":
            _need(a, name, len(shape) == 2, f"lstm reads steps of numbers, but gets {list(shape)}")
            units = settings["units"]
            a.weights[f"{name}.input"] = (1, 4 * units, shape[1])      # gates i, o, f, c, as ONNX has them
            a.weights[f"{name}.recurrent"] = (1, 4 * units, units)
            a.weights[f"{name}.bias"] = (1, 4 * units)
            shape = (shape[0], units)
        elif kind == "last":
            _need(a, name, len(shape) == 2, f"last reads steps of numbers, but gets {list(shape)}")
            shape = (shape[1],)
        _need(a, name, all(size > 0 for size in shape), f"nothing is left: its output would be {list(shape)}")
        a.shapes[name] = shape
    _need(a, a.layers[-1][0], a.layers[-1][1] == "dense", "the last layer is dense, and gives the logits")
    count = sum(math.prod(shape) for shape in a.weights.values())
    _need(a, "", count <= MAX_WEIGHTS, f"{count:,} weights; at most {MAX_WEIGHTS:,} are trained here")


def lenet1():
    return Architecture("lenet1", "digits", (1, 28, 28), [
        ("conv1", "conv", {"channels": 4, "kernel": 5}), ("tanh1", "tanh", {}), ("pool1", "average_pool", {"size": 2}),
        ("conv2", "conv", {"channels": 12, "kernel": 5}), ("tanh2", "tanh", {}), ("pool2", "average_pool", {"size": 2}),
        ("flatten", "flatten", {}), ("fc", "dense", {"units": 10})])


def lenet5():
    return Architecture("lenet5", "digits", (1, 28, 28), [
        ("conv1", "conv", {"channels": 6, "kernel": 5, "same": True}), ("relu1", "relu", {}),
        ("pool1", "max_pool", {"size": 2}), ("conv2", "conv", {"channels": 16, "kernel": 5}), ("relu2", "relu", {}),
        ("pool2", "max_pool", {"size": 2}), ("flatten", "flatten", {}), ("fc1", "dense", {"units": 120}),
        ("relu3", "relu", {}), ("fc2", "dense", {"units": 84}), ("relu4", "relu", {}), ("fc3", "dense", {"units": 10})])


def lstm(words):
    return Architecture("lstm", "reviews", (32,), [
        ("embedding", "embedding", {"words": words, "width": 16}), ("lstm", "lstm", {"units": 24}), ("last", "last", {}),
        ("fc", "dense", {"units": 2})], rate=1.0, batch=64, epochs=20,
        why="plain gradient descent by 0.05 hardly moves a recurrent network; 1.0 on batches of 64 does")


SHIPPED = {"lenet1": lenet1, "lenet5": lenet5, "lstm": lstm}


def read(path):
    """An Architecture from a JSON file (docs/training.md). Raises BadInput."""
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(given, dict):
            raise ValueError("expected an object")
        known = {"name", "data", "input", "layers", "rate", "batch", "epochs"}
        unknown = set(given) - known
        if unknown:
            raise ValueError(f"unknown key {sorted(unknown)[0]!r}; there are {', '.join(sorted(known))}")
        layers = [_layer(place, layer) for place, layer in enumerate(given["layers"])]
        sizes = given["input"]
        if not isinstance(sizes, list) or len(sizes) not in (1, 3) or not all(_is_size(size) for size in sizes):
            raise ValueError(f"input: expected [channels, height, width] or [words], found {sizes!r}")
        name = given.get("name", Path(path).stem)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", name):
            raise ValueError(f"name: expected letters, digits, '.', '_' and '-', found {name!r}")
        data = given.get("data", "reviews" if len(sizes) == 1 else "digits")
        if data not in ("digits", "reviews"):
            raise ValueError(f"data: expected digits or reviews, found {data!r}")
        return Architecture(name, data, tuple(sizes), layers, **{
            key: _number(key, given[key]) for key in ("rate", "batch", "epochs") if key in given})
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    except KeyError as error:
        raise BadInput(f"{path}: the key {error} is missing") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{path}: {error}") from None


def _is_size(value):
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1_000_000


def _number(key, value):
    if key == "rate":
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1000:
            return float(value)
        raise ValueError(f"rate: expected a number above 0, found {value!r}")
    if not _is_size(value):
        raise ValueError(f"{key}: expected a whole number from 1, found {value!r}")
    return value


def _layer(place, layer):
    """{"conv": {"channels": 4, …}, "name": "conv1"} → (name, kind, settings)."""
    if not isinstance(layer, dict):
        raise ValueError(f"layers[{place}]: expected an object such as {{\"relu\": {{}}}}, found {layer!r}")
    kinds = [key for key in layer if key != "name"]
    if len(kinds) != 1 or kinds[0] not in LAYERS:
        raise ValueError(f"layers[{place}]: expected one of {', '.join(LAYERS)}, found {', '.join(kinds) or 'nothing'}")
    kind, settings = kinds[0], layer[kinds[0]]
    wanted = LAYERS[kind]
    if not isinstance(settings, dict) or set(settings) - set(wanted):
        raise ValueError(f"layers[{place}]: {kind} has the settings {', '.join(wanted) or 'none'}, found {settings!r}")
    for key, what in wanted.items():
        value = settings.get(key, False if what == "flag" else None)
        if not (isinstance(value, bool) if what == "flag" else _is_size(value)):
            raise ValueError(f"layers[{place}]: {kind}.{key}: expected a {what}, found {value!r}")
    return layer.get("name", f"{kind}{place}"), kind, settings


def initial_weights(architecture, seed):
    """Float32 arrays by name: Glorot and Bengio's uniform ones, zero biases, as all three frameworks have them.

    A recurrent layer's gates are drawn one by one; embeddings are uniform within 0.5.
    """
    random, weights = np.random.default_rng(seed), {}
    for name, shape in architecture.weights.items():
        part = name.rsplit(".", 1)[1]
        if part == "bias":
            weights[name] = np.zeros(shape, np.float32)
            continue
        if len(shape) == 4:
            area = shape[2] * shape[3]
            fan_in, fan_out = shape[1] * area, shape[0] * area
        elif part in ("input", "recurrent"):
            fan_in, fan_out = shape[2], shape[1] // 4
        else:
            fan_in, fan_out = shape[1], shape[0]
        limit = 0.5 if name == "embedding.weight" else math.sqrt(6 / (fan_in + fan_out))
        weights[name] = random.uniform(-limit, limit, shape).astype(np.float32)
    return weights
