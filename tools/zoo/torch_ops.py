"""The evaluator of ONNX graphs on PyTorch, which is part of the Python package: python/driftscope/torch_ops."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from driftscope.torch_ops import *  # noqa: E402, F403
from driftscope.torch_ops import OPERATORS, evaluate, windows  # noqa: E402, F401
