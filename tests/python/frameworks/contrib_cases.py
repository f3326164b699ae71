"""Nodes of ONNX Runtime's own operators with random attributes, shapes and values, by the name of the function that makes
them. Client: test_contrib_operators.py.
"""
import contrib_float_cases  # noqa: F401
import contrib_quantized_cases  # noqa: F401
from contrib_case import CASES, MICROSOFT

__all__ = ["CASES", "MICROSOFT"]
