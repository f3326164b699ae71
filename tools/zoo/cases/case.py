"""One operator case: a small model and the inputs to run it on."""
import zlib
from dataclasses import dataclass, field

import numpy as np
from onnx import helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

IR_VERSION = {7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8}


def normal(*shape):
    """A random float32 array that is drawn when the case's own generator is known."""
    return lambda rng: rng.normal(size=shape).astype(np.float32)


def uniform(low, high, *shape):
    return lambda rng: rng.uniform(low, high, shape).astype(np.float32)


def exactly(*values, dtype=np.float32):
    return np.array(values, dtype)


@dataclass
class Case:
    """NAME is `Operator_WhatIsSpecial`; arrays or callables that take the case's generator."""
    name: str
    inputs: dict = field(default_factory=dict)        # graph inputs, by value name
    initializers: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    opset: int = 13
    operands: list = None   # the node's inputs; "" leaves one out; default: inputs, initializers
    outputs: list = field(default_factory=lambda: ["y"])
    before: list = field(default_factory=list)        # nodes that come before

    def __post_init__(self):
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        for tensors in (self.inputs, self.initializers):
            for key, value in tensors.items():
                tensors[key] = value(rng) if callable(value) else value

    @property
    def op(self):
        return self.name.split("_")[0]

    def build(self, outputs):
        """The ONNX model, unchecked; OUTPUTS are the arrays that it declares as its outputs."""
        operands = self.operands
        if operands is None:
            operands = [*self.inputs, *self.initializers]
        node = helper.make_node(self.op, operands, self.outputs, name=self.name, **self.attributes)
        inputs = dict(self.inputs)
        if IR_VERSION[self.opset] < 4:  # then an initializer had to be listed as an input too
            inputs.update(self.initializers)
        graph = helper.make_graph(
            [*self.before, node], self.name,
            [_value_info(*item) for item in inputs.items()],
            [_value_info(*item) for item in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.initializers.items()])
        model = helper.make_model(graph, producer_name="driftscope-zoo",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = IR_VERSION[self.opset]
        return model


def _value_info(name, array):
    return helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape)
