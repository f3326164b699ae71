"""ONNX Runtime: every value of an .onnx file, under its own name.

A copy of the model in which every value is an output is run. That keeps nodes from being fused; with
optimization="all" the values are those that exist after the optimizer has run, without="" then says the rest.
"""
import os
from pathlib import Path

from . import in_order, is_file
from ..errors import BadInput
from ..recording import Recording

TITLE = "ONNX Runtime"
INSTALL = "pip install onnxruntime onnx"
LEVELS = {"none": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED",
          "all": "ORT_ENABLE_ALL"}


def accepts(model):
    return is_file(model, ".onnx")


def record(model, inputs, optimization="none", threads=1, providers=("CPUExecutionProvider",)):
    """optimization: none, basic, extended or all; threads: within an operator; providers: ONNX Runtime's names."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it uploads from the moment it is imported
    import onnx
    import onnxruntime

    if optimization not in LEVELS:
        raise BadInput(f"optimization {optimization!r}: expected one of {', '.join(LEVELS)}")
    graph_model = onnx.load(str(model))
    names = _watch_all(graph_model.graph, onnx)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[optimization])
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph_model.SerializeToString(), options, providers=list(providers))
    wanted = [value.name for value in session.get_inputs()]
    feed = dict(zip(wanted, in_order(inputs, wanted, Path(model).name)))
    recording = Recording("onnxruntime", onnxruntime.__version__, inputs=feed, onnx_names=True,
                          facts={"threads": threads, "optimization": optimization,
                                 "providers": session.get_providers()})
    operators = {name: node.op_type for node in graph_model.graph.node for name in node.output}
    for name, value in zip(names, session.run(names, feed)):
        if value is None or isinstance(value, (list, dict)):
            recording.left_out.append((name, f"is a {type(value).__name__}, not a tensor"))
        else:
            recording.add(name, value, operators.get(name, ""))
    return recording


def _watch_all(graph, onnx):
    """Makes every output of a node an output of GRAPH; returns their names in order."""
    names = [name for node in graph.node for name in node.output if name]
    present = {value.name for value in graph.output}
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in present)
    return names
