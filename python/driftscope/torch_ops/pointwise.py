"""Elementwise operators, Softmax, BatchNormalization and Dropout at inference."""
import torch
from onnx import TensorProto
from torch.nn import functional


def clip(inputs, attributes, opset):
    x, low, high = (inputs + [None, None])[:3]
    if opset < 11:
        low, high = attributes.get("min"), attributes.get("max")
    if low is None and high is None:
        return [x.clone()]
    return [torch.clamp(x, None if low is None else float(low),
                        None if high is None else float(high)).to(x.dtype)]


def softmax(inputs, attributes, opset):
    """Until opset 12 over all axes from `axis` on together; from 13 over that axis alone."""
    x = inputs[0]
    axis = attributes.get("axis", -1 if opset >= 13 else 1)
    if opset >= 13:
        return [torch.softmax(x, axis)]
    axis += x.dim() if axis < 0 else 0
    flat = x.reshape(int(torch.tensor(x.shape[:axis]).prod()), -1) if x.numel() else x
    return [torch.softmax(flat, -1).reshape(x.shape)]


def batch_normalization(inputs, attributes, opset):
    if attributes.get("training_mode", 0):
        raise NotImplementedError("BatchNormalization in training mode")
    x, scale, bias, mean, variance = inputs
    return [torch.nn.functional.batch_norm(x, mean, variance, scale, bias, training=False,
                                           eps=attributes.get("epsilon", 1e-5))]


def dropout(inputs, attributes, opset):
    x = inputs[0]
    if len(inputs) > 2 and inputs[2] is not None and bool(inputs[2]):
        raise NotImplementedError("Dropout in training mode")
    return [x.clone(), torch.ones_like(x, dtype=torch.bool if opset >= 10 else x.dtype)]


def divide(inputs, attributes, opset):
    """Integers are cut towards zero."""
    a, b = inputs
    return [a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")]


def cast(inputs, attributes, opset):
    kind = TensorProto.DataType.Name(attributes["to"])
    if kind not in CAST:
        raise NotImplementedError(f"Cast to {kind}")
    return [inputs[0].to(CAST[kind])]


def extreme(function):
    def run(inputs, attributes, opset):
        result = inputs[0]
        for other in inputs[1:]:
            result = function(result, other)
        return [result.clone()]
    return run


def sloped(function, name, usual):
    """An activation with one parameter."""
    return lambda inputs, attributes, opset: [function(inputs[0], attributes.get(name, usual))]


CAST = {"FLOAT": torch.float32, "DOUBLE": torch.float64, "FLOAT16": torch.float16,
        "INT64": torch.int64, "INT32": torch.int32, "INT8": torch.int8, "UINT8": torch.uint8,
        "BOOL": torch.bool}
UNARY = {"Relu": torch.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Erf": torch.erf,
         "Sqrt": torch.sqrt, "Exp": torch.exp, "Log": torch.log, "Neg": torch.neg, "Abs": torch.abs,
         "Reciprocal": torch.reciprocal, "Sin": torch.sin, "Cos": torch.cos, "Not": torch.logical_not,
         "Softplus": functional.softplus, "Floor": torch.floor, "Ceil": torch.ceil,
         "HardSwish": functional.hardswish}
BINARY = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Equal": torch.eq,
          "Greater": torch.gt, "Less": torch.lt, "GreaterOrEqual": torch.ge,
          "LessOrEqual": torch.le, "And": torch.logical_and, "Or": torch.logical_or}
OPERATORS = {
    **{name: (lambda inputs, attributes, opset, f=f: [f(inputs[0])]) for name, f in UNARY.items()},
    **{name: (lambda inputs, attributes, opset, f=f: [f(inputs[0], inputs[1])])
       for name, f in BINARY.items()},
    "Div": divide, "Cast": cast, "Max": extreme(torch.maximum), "Min": extreme(torch.minimum),
    "Sum": extreme(torch.add),
    "Pow": lambda inputs, attributes, opset: [torch.pow(inputs[0], inputs[1]).to(inputs[0].dtype)],
    "Where": lambda inputs, attributes, opset: [torch.where(*inputs)],
    "LeakyRelu": sloped(functional.leaky_relu, "alpha", 0.01),
    "Elu": sloped(functional.elu, "alpha", 1.0),
    "HardSigmoid": lambda inputs, attributes, opset: [torch.clamp(
        inputs[0] * attributes.get("alpha", 0.2) + attributes.get("beta", 0.5), 0, 1)],
    "Clip": clip, "Softmax": softmax, "BatchNormalization": batch_normalization,
    "Dropout": dropout,
}
