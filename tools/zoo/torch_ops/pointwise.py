"""Elementwise operators, Softmax, BatchNormalization and Dropout at inference."""
import torch


def clip(inputs, attributes, opset):
    x, low, high = (inputs + [None, None])[:3]
    if opset < 11:
        low, high = attributes.get("min"), attributes.get("max")
    if low is None and high is None:
        return [x.clone()]
    return [torch.clamp(x, None if low is None else float(low),
                        None if high is None else float(high))]


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


OPERATORS = {
    "Add": lambda inputs, attributes, opset: [inputs[0] + inputs[1]],
    "Mul": lambda inputs, attributes, opset: [inputs[0] * inputs[1]],
    "Relu": lambda inputs, attributes, opset: [torch.relu(inputs[0])],
    "Sigmoid": lambda inputs, attributes, opset: [torch.sigmoid(inputs[0])],
    "Tanh": lambda inputs, attributes, opset: [torch.tanh(inputs[0])],
    "Clip": clip, "Softmax": softmax, "BatchNormalization": batch_normalization,
    "Dropout": dropout,
}
