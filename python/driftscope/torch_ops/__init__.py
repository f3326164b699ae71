"""The ONNX operators of the zoo, evaluated with PyTorch: an oracle apart from the engines.

`evaluate(model, inputs)` computes every value of a graph, opset 7 to 17, without subgraphs. An operator is a function
(inputs, attributes, opset) → list of tensors; inputs left out are None. Everything is computed in
the type of the inputs: give doubles and round the result for a correctly rounded one.
"""
import time

import onnx
import torch
from onnx import numpy_helper

from . import (indexing, layout, pointwise, products, quantized, recurrent, reductions, resize,
               windows)

OPERATORS = {}
for family in (indexing, layout, pointwise, products, quantized, recurrent, reductions, resize,
               windows):
    OPERATORS |= family.OPERATORS


def _attribute(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, onnx.TensorProto):
        return torch.from_numpy(numpy_helper.to_array(value).copy())
    return value


def evaluate(model, inputs, dtype=None, observe=None):
    """Returns every value of MODEL by name; INPUTS maps graph inputs to arrays.

    With DTYPE (torch.float64) all floating-point tensors are converted to it first. OBSERVE receives
    (node, nanoseconds) after each node.
    """
    def tensor(array):
        result = torch.from_numpy(array.copy())
        return result.to(dtype) if dtype and result.is_floating_point() else result

    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    values = {t.name: tensor(numpy_helper.to_array(t)) for t in model.graph.initializer}
    values.update({name: tensor(array) for name, array in inputs.items()})
    for node in model.graph.node:
        if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
            raise NotImplementedError(f"{node.op_type} has no PyTorch counterpart here")
        attributes = {a.name: _attribute(a) for a in node.attribute}
        arguments = [values[name] if name else None for name in node.input]
        started = time.perf_counter_ns()
        results = OPERATORS[node.op_type](arguments, attributes, opset)
        if observe:
            observe(node, time.perf_counter_ns() - started)
        if len(results) < len(node.output):
            raise NotImplementedError(f"{node.op_type} with {len(node.output)} outputs")
        for name, value in zip(node.output, results):
            if dtype and value.is_floating_point():
                value = value.to(dtype)
            if name:
                values[name] = value
    return values
