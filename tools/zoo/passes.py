"""Rewrites of ONNX graphs that keep the function; each returns a new model."""
import collections

import numpy as np
import onnx
from onnx import helper, numpy_helper


def attributes(node):
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def constants(graph):
    """The initializers by name."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}


def replace_constants(graph, arrays):
    """Makes initializers of those ARRAYS that a node reads, in the order of the nodes."""
    del graph.initializer[:]
    used = dict.fromkeys(name for node in graph.node for name in node.input if name in arrays)
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name) for name in used)


def _copy(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def fold_batch_normalization(model):
    """Each BatchNormalization goes into the weights of the Conv before it, which may be without bias.

    γ · (conv(x, w) + b − μ) / √(σ² + ε) + β = conv(x, s · w) + s · (b − μ) + β, s = γ / √(σ² + ε).
    """
    folded = _copy(model)
    graph, arrays, names = folded.graph, constants(folded.graph), {}
    makers = {node.output[0]: node for node in graph.node}
    reads = collections.Counter(name for node in graph.node for name in node.input)
    for node in [node for node in graph.node if node.op_type == "BatchNormalization"]:
        conv = makers.get(node.input[0])
        if conv is None or conv.op_type != "Conv" or reads[node.input[0]] != 1:
            raise ValueError(f"{node.name}: expected a Conv before it that nothing else reads")
        gamma, beta, mean, variance = (arrays[name].astype(np.float64) for name in node.input[1:])
        factor = gamma / np.sqrt(variance + attributes(node).get("epsilon", 1e-5))
        weight, bias = conv.input[1], f"{conv.name}.bias"
        old_bias = arrays[conv.input[2]] if len(conv.input) > 2 else 0.0
        wide = factor.reshape(-1, *[1] * (arrays[weight].ndim - 1))
        arrays[weight] = (wide * arrays[weight]).astype(np.float32)
        arrays[bias] = (factor * (old_bias - mean) + beta).astype(np.float32)
        conv.input[:] = [*conv.input[:2], bias]
        names[node.output[0]] = conv.output[0]
        graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    replace_constants(graph, arrays)
    return folded


def split_gemm(model):
    """Each Gemm becomes NAME/MatMul and NAME/Add: ONNX has no Gemm of integers."""
    split, arrays, nodes = _copy(model), constants(model.graph), []
    for node in model.graph.node:
        if node.op_type != "Gemm":
            nodes.append(node)
            continue
        if attributes(node) != {"alpha": 1.0, "beta": 1.0, "transB": 1} or len(node.input) != 3:
            raise ValueError(f"{node.name}: expected x · Wᵀ + b, got {attributes(node)}")
        x, weight, bias = node.input
        product = f"{node.name}/MatMul"
        arrays[weight] = arrays[weight].T
        nodes.append(helper.make_node("MatMul", [x, weight], [f"{product}.out"], product))
        nodes.append(helper.make_node("Add", [f"{product}.out", bias], node.output,
                                      f"{node.name}/Add"))
    del split.graph.node[:]
    split.graph.node.extend(nodes)
    replace_constants(split.graph, arrays)
    return split
