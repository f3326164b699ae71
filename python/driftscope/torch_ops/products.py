"""Gemm and MatMul."""
import torch


def gemm(inputs, attributes, opset):
    a, b, c = (inputs + [None])[:3]
    a = a.T if attributes.get("transA", 0) else a
    b = b.T if attributes.get("transB", 0) else b
    y = attributes.get("alpha", 1.0) * torch.mm(a, b)
    return [y if c is None else y + attributes.get("beta", 1.0) * c]


OPERATORS = {
    "Gemm": gemm,
    "MatMul": lambda inputs, attributes, opset: [torch.matmul(inputs[0], inputs[1])],
}
