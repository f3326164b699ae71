"""Driftscope in Python: what frameworks compute, layer by layer, judged against an ONNX model.

    import driftscope
    trace = driftscope.record(module, x, onnx="model.onnx")   # PyTorch, Keras, TensorFlow, JAX, TFLite, …
    trace.mapping                                             # which layer is which ONNX value, and what is left
    trace.verify()                                            # bug or rounding, for each layer
    driftscope.compare("model.onnx", left=trace, right=["pc/fast"], inputs=x)

The work is done by the program `driftscope` (see program.py for where it is looked for). docs/python.md has more.
"""
from .api import CompareTable, VerifyTable, compare, record, run, verify
from .errors import BadInput, DriftscopeError, FrameworkMissing, ProgramFailed, ProgramMissing
from .mapping import Mapping
from .recording import Recording
from .tables import Table
from .trace import Trace

__version__ = "0.2.0"
__all__ = ["BadInput", "CompareTable", "DriftscopeError", "FrameworkMissing", "Mapping", "ProgramFailed",
           "ProgramMissing", "Recording", "Table", "Trace", "VerifyTable", "compare", "record", "run", "verify"]
