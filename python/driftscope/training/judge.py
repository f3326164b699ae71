"""Is what a framework computed in one step of training rounding? Judged as every other run: by `driftscope verify`.

`driftscope gradient --sgd` writes the step as an ONNX model: values, the loss, the gradients of every layer's output and
weight, the weights after the step. What the framework computed becomes a trace of it, and verify judges each part from the
framework's own values before it, so that a fault stays at its layer. Clients: study.
"""
import json
from pathlib import Path

import numpy as np

from .. import safetensors_file
from ..api import verify
from ..trace import FORMAT, file_sha256
from . import onnx_graph


def judge_step(architecture, framework, facts, rate, kept, step, x, labels, folder):
    """What KEPT (a worker's arrays) has of STEP → {"step", "verdict", "first_fault" (if any), "tensors": [...]}.

    The loss of a batch of 2^k samples: the sum that the graph has is the mean times a power of two, which is exact.
    """
    folder, batch = Path(folder), len(x)
    before = {name: kept[f"step{step}/before/{name}"] for name in architecture.weights}
    model, graph = folder / f"model-{step}.onnx", folder / f"step-{step}.onnx"
    onnx_graph.write(architecture, before, batch, model)
    onnx_graph.write_step(architecture, model, rate, batch, graph)
    scale = np.float32(batch)
    tensors = {onnx_graph.input_name(architecture): x, "label": labels}
    for name in architecture.names:
        tensors[f"{name}.out"] = kept[f"step{step}/value/{name}"]
    tensors["loss"] = kept[f"step{step}/loss"] * scale
    for name in architecture.names:
        if f"step{step}/gradient/{name}" in kept:
            tensors[f"grad/{name}.out"] = kept[f"step{step}/gradient/{name}"] * scale
    for name in architecture.weights:
        if f"step{step}/gradient/{name}" in kept:
            tensors[f"grad/{name}"] = kept[f"step{step}/gradient/{name}"] * scale
    for name in architecture.weights:
        tensors[f"step/{name}"] = kept[f"step{step}/after/{name}"]
    trace = folder / f"{framework}-{step}.trace.safetensors"
    safetensors_file.write(trace, {name: np.array(value, order="C") for name, value in tensors.items()}, {
        "format": FORMAT, "target": f"pc/{framework}", "model_sha256": file_sha256(graph),
        "run": json.dumps({"engine": framework, "version": facts.get("version", ""), "host": "pc"})})
    table = verify(graph, trace, timeout=1800)
    found = {layer["output"]: layer for layer in table.layers}
    rows = [_row(name, found[name]) for name in tensors if name in found]
    first = _first_fault(rows)
    return {"step": step, "verdict": table.verdict, **({"first_fault": first} if first else {}), "tensors": rows}


def _row(name, layer):
    row = {"tensor": name, "verdict": layer["verdict"]}
    for key in ("max_abs", "max_ulp", "budget_used"):
        if isinstance(layer.get(key), (int, float)) and np.isfinite(layer[key]):
            row[key] = float(layer[key])
    return row


def _first_fault(rows):
    """The first faulty tensor, in the order of the computation: forward, loss, backward from the last layer, step."""
    backward = [row for row in rows if row["tensor"].startswith("grad/")]
    forward = [row for row in rows if not row["tensor"].startswith(("grad/", "step/"))]
    steps = [row for row in rows if row["tensor"].startswith("step/")]
    for row in [*forward, *reversed(backward), *steps]:
        if row["verdict"] == "fault":
            return row["tensor"]
    return None
