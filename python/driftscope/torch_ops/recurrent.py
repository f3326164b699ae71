"""LSTM, GRU and RNN by PyTorch's own kernels.

ONNX stacks a cell's gates as i o f c (LSTM) and z r h (GRU), PyTorch as i f g o and r z n. What
PyTorch has no kernel for (peepholes, clipping, other activations, lengths per sample, GRU's reset
before the product) raises NotImplementedError.
"""
import torch
from torch import _VF

GATES = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}
ACTIVATIONS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}


def _check(op, attributes, inputs, directions):
    if attributes.get("clip") or attributes.get("input_forget"):
        raise NotImplementedError(f"{op} with clip or input_forget")
    usual = ACTIVATIONS[op] * directions
    given = [(name if isinstance(name, str) else name.decode()).lower()
             for name in attributes.get("activations", usual)]
    if op == "RNN" and given == ["relu"] * directions:
        usual = given
    if given != usual:
        raise NotImplementedError(f"{op} with activations {given}")
    if op == "GRU" and not attributes.get("linear_before_reset", 0):
        raise NotImplementedError("GRU with linear_before_reset 0: PyTorch has no kernel for it")
    if inputs[4] is not None or (op == "LSTM" and inputs[7] is not None):
        raise NotImplementedError(f"{op} with sequence_lens or peepholes")
    return given


def _parameters(op, weight, recurrent, bias, direction):
    """PyTorch's four tensors of one direction."""
    hidden, order = recurrent.shape[2], GATES[op]

    def stacked(rows):
        return torch.cat([rows[gate * hidden:(gate + 1) * hidden] for gate in order])

    gates = len(order) * hidden
    if bias is None:
        bias = torch.zeros(weight.shape[0], 2 * gates, dtype=weight.dtype)
    return [stacked(weight[direction]), stacked(recurrent[direction]),
            stacked(bias[direction][:gates]), stacked(bias[direction][gates:])]


def _run(op, inputs, attributes):
    inputs = inputs + [None] * (8 - len(inputs))
    x, weight, recurrent, bias = inputs[:4]
    direction = attributes.get("direction", "forward")
    directions, batch_first = weight.shape[0], bool(attributes.get("layout", 0))
    activations = _check(op, attributes, inputs, directions)
    x = x.transpose(0, 1) if batch_first else x
    if direction == "reverse":
        x = x.flip(0)
    states = [inputs[5], inputs[6]] if op == "LSTM" else [inputs[5]]
    shape = (directions, x.shape[1], recurrent.shape[2])
    states = [torch.zeros(shape, dtype=x.dtype) if s is None
              else (s.transpose(0, 1) if batch_first else s).contiguous() for s in states]
    parameters = [p for d in range(directions) for p in _parameters(op, weight, recurrent, bias, d)]
    name = {"LSTM": "lstm", "GRU": "gru", "RNN": f"rnn_{activations[0]}"}[op]
    given = tuple(states) if op == "LSTM" else states[0]
    steps, *states = getattr(_VF, name)(x.contiguous(), given, parameters, True, 1, 0.0, False,
                                        directions == 2, False)
    steps = steps.reshape(*steps.shape[:2], directions, -1).transpose(1, 2)
    steps = steps.flip(0) if direction == "reverse" else steps
    if batch_first:  # N×L×D×H and N×D×H
        return [steps.permute(2, 0, 1, 3).contiguous(),
                *(s.transpose(0, 1).contiguous() for s in states)]
    return [steps.contiguous(), *states]


OPERATORS = {op: (lambda inputs, attributes, opset, op=op: _run(op, inputs, attributes))
             for op in GATES}
