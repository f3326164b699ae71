"""Makes int8 models of trained float32 ones, in the two forms that runtimes read.

    real = (step − zero_point) · scale

(ONNX QuantizeLinear-13; Jacob et al. 2018, section 2). Weights are int8, symmetric (zero point 0,
steps −127 to 127), with a scale for each output channel. An activation has one scale, from the
smallest and the largest value that the float32 model gives it on calibration samples. A bias has 32
bits and the scale x_scale · w_scale, that of the sums it is added to.

- `to_qdq`: float32 operators stay, between QuantizeLinear and DequantizeLinear; int8 activations.
- `to_operators`: QLinearConv, QLinearMatMul and, where the range is only known while it runs,
  DynamicQuantizeLinear and MatMulInteger; uint8 activations.

The model's result is never quantized: among 256 steps classes would tie. Ranges and steps are
computed in double, so that the bytes do not depend on how a processor orders float32 sums.
`make` runs it.
"""
import collections

import numpy as np
import onnx
import torch
from onnx import helper

import passes
import to_onnx
import torch_ops

KEEPS_STEPS = ("MaxPool", "Flatten")  # the result's elements are elements of the input
ACTIVATIONS = ("Relu", "Clip")
PLAIN = (*ACTIVATIONS, "Add", "Concat", "AveragePool", "GlobalAveragePool", "Softmax", *KEEPS_STEPS)
PART = 32  # calibration samples that are run at a time


def calibrate(model, samples):
    """Returns the smallest and the largest element of every value of MODEL over SAMPLES (N×…)."""
    ranges = {}
    for part in np.array_split(samples, -(-len(samples) // PART)):
        values = torch_ops.evaluate(model, {model.graph.input[0].name: part}, torch.float64)
        for name, value in values.items():
            low, high = ranges.get(name, (np.inf, -np.inf))
            ranges[name] = min(low, value.min().item()), max(high, value.max().item())
    return ranges


def activation_steps(low, high, dtype):
    """Returns (scale float32, zero point DTYPE): LOW to HIGH and 0 fall on the steps of DTYPE."""
    low, high, limits = min(low, 0.0), max(high, 0.0), np.iinfo(dtype)
    scale = np.float32((high - low) / (limits.max - limits.min) or 1.0)
    zero_point = np.rint(limits.min - low / np.float64(scale)).clip(limits.min, limits.max)
    return scale, dtype(zero_point)


def weight_steps(weight, axis):
    """Returns (steps int8, scale float32 per slice of AXIS)."""
    others = tuple(a for a in range(weight.ndim) if a != axis)
    largest = abs(weight.astype(np.float64)).max(others, keepdims=True)
    scale = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
    steps = np.rint(weight.astype(np.float64) / scale).clip(-127, 127)
    return steps.astype(np.int8), scale.reshape(-1)


def bias_steps(bias, scale):
    """Returns int32 steps of SCALE, one per output channel."""
    steps = np.rint(bias.astype(np.float64) / scale)
    if abs(steps).max() >= 2**31:
        raise ValueError(f"a bias of {abs(bias).max():g} needs more than 32 bits")
    return steps.astype(np.int32)


class Writer:
    """The new graph as it grows, and what both forms share."""

    def __init__(self, model, samples, dtype):
        self.model, self.dtype = model, dtype
        self.ranges = calibrate(model, samples)
        self.weights = passes.constants(model.graph)
        self.result = model.graph.output[0].name
        self.readers = collections.defaultdict(list)
        for node in model.graph.node:
            for name in node.input:
                self.readers[name].append(node)
        self.nodes, self.constants, self.used = [], {}, collections.Counter()
        self.steps = {}  # names of scale and zero point, by value

    def constant(self, name, array):
        self.constants[name] = np.asarray(array)
        return name

    def node(self, name, op, inputs, attributes=None, output=None, outputs=1):
        """Adds a node and returns its first output; the name becomes unique."""
        self.used[name] += 1
        name += f"_{self.used[name]}" if self.used[name] > 1 else ""
        results = [output or f"{name}.out", *(f"{name}.out{i}" for i in range(1, outputs))]
        self.nodes.append(helper.make_node(op, inputs, results, name, **(attributes or {})))
        return results[0]

    def copy(self, node, inputs):
        return self.node(node.name, node.op_type, inputs, passes.attributes(node), node.output[0])

    def steps_of(self, value):
        """Names of the scale and the zero point of a value."""
        if value not in self.steps:
            owner = value.removesuffix(".out")
            scale, zero_point = activation_steps(*self.ranges[value], self.dtype)
            self.steps[value] = (self.constant(f"{owner}.scale", scale),
                                 self.constant(f"{owner}.zero_point", zero_point))
        return self.steps[value]

    def weight(self, name, axis):
        """Names of the steps, the scales and the zero points of a weight."""
        steps, scale = weight_steps(self.weights[name], axis)
        return (self.constant(name, steps), self.constant(f"{name}.scale", scale),
                self.constant(f"{name}.zero_point", np.zeros(len(scale), np.int8)))

    def bias(self, name, x_scale, w_scale):
        """Names of the steps and the scales of a bias, from the names of its factors' scales."""
        scale = self.constants[x_scale] * self.constants[w_scale]
        return (self.constant(name, bias_steps(self.weights[name], scale)),
                self.constant(f"{name}.scale", scale))

    def only_reader(self, value):
        """The one node that reads VALUE, or None."""
        readers = self.readers[value]
        return readers[0] if len(readers) == 1 else None

    def reject(self, node):
        raise ValueError(f"{node.name}: {node.op_type} has no quantized form here")

    def finish(self, sample):
        """Converts every node; returns the model, checked with SAMPLE, one input."""
        for node in self.model.graph.node:
            self.convert(node)
        source = self.model.graph
        model = helper.make_model(
            helper.make_graph(self.nodes, f"{source.name}-int8", source.input, source.output),
            producer_name="driftscope zoo", ir_version=self.model.ir_version,
            opset_imports=self.model.opset_import)
        passes.replace_constants(model.graph, self.constants)
        to_onnx.check(model, sample)
        return model


class QdqWriter(Writer):
    """Nodes keep their names; NAME/QuantizeLinear and NAME/DequantizeLinear follow them."""

    def __init__(self, model, samples):
        super().__init__(model, samples, np.int8)
        entry = model.graph.input[0].name
        self.found = {entry: self.there_and_back(entry, entry)}  # as later nodes read a value

    def there_and_back(self, owner, value):
        steps = self.steps_of(value)
        there = self.node(f"{owner}/QuantizeLinear", "QuantizeLinear", [value, *steps])
        return self.node(f"{owner}/DequantizeLinear", "DequantizeLinear", [there, *steps])

    def weighted(self, node):
        """What a Conv or Gemm reads; without a zero point that of a bias is 0."""
        x, weight, bias = node.input
        w = self.weight(weight, 0)
        b = self.bias(bias, self.steps_of(x)[0], w[1])
        return [self.found[x], *(
            self.node(f"{steps[0]}/DequantizeLinear", "DequantizeLinear", steps, {"axis": 0})
            for steps in (w, b))]

    def stays_real(self, value):
        """An activation belongs to the layer before it: only its result is quantized."""
        reader = self.only_reader(value)
        return value == self.result or (reader and reader.op_type in (*ACTIVATIONS, "Softmax"))

    def convert(self, node):
        value = node.output[0]
        if node.op_type in ("Conv", "Gemm"):
            self.copy(node, self.weighted(node))
        elif node.op_type in PLAIN:
            self.copy(node, [self.constant(name, self.weights[name]) if name in self.weights
                             else self.found[name] for name in node.input])
        else:
            self.reject(node)
        if node.op_type in KEEPS_STEPS:
            self.steps[value] = self.steps_of(node.input[0])
        self.found[value] = (value if self.stays_real(value)
                             else self.there_and_back(node.name, value))


class OperatorWriter(Writer):
    """A value is quantized or made real again where a node asks for it; DYNAMIC names the layers
    whose input is quantized by the range that it has in each run."""

    def __init__(self, model, samples, dynamic):
        super().__init__(model, samples, np.uint8)
        self.dynamic = dynamic
        self.real, self.quantized = {model.graph.input[0].name: model.graph.input[0].name}, {}

    @staticmethod
    def owner(value):
        """`fc1/MatMul.out` → `fc1`."""
        return value.removesuffix(".out").partition("/")[0]

    def as_real(self, value):
        if value not in self.real:
            self.real[value] = self.node(f"{self.owner(value)}/DequantizeLinear", "DequantizeLinear",
                                         [self.quantized[value], *self.steps_of(value)])
        return self.real[value]

    def as_quantized(self, value):
        if value not in self.quantized:
            self.quantized[value] = self.node(f"{self.owner(value)}/QuantizeLinear", "QuantizeLinear",
                                              [self.real[value], *self.steps_of(value)])
        return self.quantized[value]

    def convert(self, node):
        convert = {"Conv": self.convolution, "MatMul": self.product, "Add": self.plain,
                   "Relu": self.plain, "Softmax": self.plain, "MaxPool": self.moved,
                   "Flatten": self.moved}.get(node.op_type, self.reject)
        if node.output[0] not in self.quantized:  # else a Relu that is in the convolution already
            convert(node)

    def plain(self, node):
        inputs = [self.constant(name, self.weights[name]) if name in self.weights
                  else self.as_real(name) for name in node.input]
        self.real[node.output[0]] = self.copy(node, inputs)

    def moved(self, node):
        source, value = node.input[0], node.output[0]
        self.steps[value] = self.steps_of(source)
        self.quantized[value] = self.copy(node, [self.as_quantized(source)])

    def convolution(self, node):
        """With a Relu behind it: its smallest value, 0, is the lowest step, which saturates."""
        x, weight, bias = node.input
        reader = self.only_reader(node.output[0])
        value = reader.output[0] if reader and reader.op_type == "Relu" else node.output[0]
        source, x_steps, w = self.as_quantized(x), self.steps_of(x), self.weight(weight, 0)
        self.quantized[value] = self.node(
            node.name, "QLinearConv",
            [source, *x_steps, *w, *self.steps_of(value), self.bias(bias, x_steps[0], w[1])[0]],
            passes.attributes(node))

    def product(self, node):
        owner, (x, weight), value = self.owner(node.name), node.input, node.output[0]
        if owner in self.dynamic:
            self.real[value] = self.dynamic_product(owner, self.as_real(x), self.weight(weight, 1))
        else:
            self.quantized[value] = self.node(
                f"{owner}/QLinearMatMul", "QLinearMatMul",
                [self.as_quantized(x), *self.steps_of(x), *self.weight(weight, 1),
                 *self.steps_of(value)])

    def dynamic_product(self, owner, x, weight):
        """x real, N×K; returns the real product with WEIGHT, K×M."""
        steps, scales, zero_points = weight
        x_steps = self.node(f"{owner}/DynamicQuantizeLinear", "DynamicQuantizeLinear", [x],
                            outputs=3)
        sums = self.node(f"{owner}/MatMulInteger", "MatMulInteger",
                         [x_steps, steps, f"{x_steps}2", zero_points])
        sums = self.node(f"{owner}/Cast", "Cast", [sums], {"to": onnx.TensorProto.FLOAT})
        scale = self.node(f"{owner}/Mul", "Mul", [f"{x_steps}1", scales])
        return self.node(f"{owner}/Mul", "Mul", [sums, scale])


def to_qdq(model, samples):
    """Returns the int8 model of MODEL, calibrated on SAMPLES (N×…), in the first form."""
    return QdqWriter(passes.fold_batch_normalization(model), samples).finish(samples[:1])


def to_operators(model, samples, dynamic=()):
    """Likewise in the second form; DYNAMIC names the Gemm nodes that become MatMulInteger."""
    model = passes.split_gemm(passes.fold_batch_normalization(model))
    return OperatorWriter(model, samples, dynamic).finish(samples[:1])
