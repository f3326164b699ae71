"""What a recorder hands over: the values of one run, under the framework's own names and in its own layout.

Clients: the recorders make one, matching and api use it. It knows neither ONNX nor files.
"""
from dataclasses import dataclass, field

import numpy as np

STORED = (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16,
          np.uint8, np.bool_)


@dataclass
class Layer:
    """One value that the framework computed."""

    name: str
    array: np.ndarray
    op: str = ""
    aliases: tuple = ()  # other names under which an exporter may know it
    time_ns: int = None


@dataclass
class Recording:
    framework: str          # "pytorch": what the trace's target says, pc/pytorch
    version: str
    layers: list = field(default_factory=list)   # in the order in which they were computed
    inputs: dict = field(default_factory=dict)   # by the framework's names, in the order of its arguments
    facts: dict = field(default_factory=dict)    # more of "run": threads, device, delegate, …
    left_out: list = field(default_factory=list)  # (name, why): values that could not be recorded
    onnx_names: bool = False  # the names are those of the ONNX model, the layout too: nothing is to be guessed

    def add(self, name, value, op="", aliases=(), time_ns=None):
        """Adds a copy of VALUE, which may be anything that NumPy takes; a second value of a name gets a number."""
        try:
            array = to_numpy(value)
        except (TypeError, ValueError) as error:
            self.left_out.append((name, str(error)))
            return
        names = {layer.name for layer in self.layers} if not hasattr(self, "_names") else self._names
        self._names = names
        unique, count = name, 1
        while unique in names:
            count += 1
            unique = f"{name}#{count}"
        names.add(unique)
        self.layers.append(Layer(unique, array, op, tuple(aliases), time_ns))


def to_numpy(value):
    """A contiguous copy of a dtype that a trace can hold. bfloat16 becomes float32, which has all its values."""
    array = np.array(value, copy=True, order="C")
    if array.dtype.type in STORED:
        return array
    if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return array.astype(np.float32)
    raise TypeError(f"its dtype is {array.dtype}, which a trace cannot hold")
