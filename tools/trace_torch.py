#!/usr/bin/python3
"""Records what PyTorch computes, value by value, as a trace that Driftscope judges:

    tools/trace_torch.py model.onnx --seed 3 --out torch.safetensors
    driftscope verify model.onnx torch.safetensors

The ONNX graph is run node by node with PyTorch's float32 kernels (python/driftscope/torch_ops), so every
value of the graph is in the trace under its own name, whatever the exporter merged or renamed. An
input can also be taken from a trace, so that PyTorch gets exactly what another runtime got:

    driftscope run model.onnx --input photo.jpg --target pc/strict --trace strict.safetensors
    tools/trace_torch.py model.onnx --like strict.safetensors --out torch.safetensors
    driftscope compare model.onnx --left file/strict.safetensors --right file/torch.safetensors

A module itself, operator by operator, is recorded by the Python package: docs/python.md. This checks an export:

    sys.path.insert(0, "…/driftscope/tools"); import trace_torch
    trace_torch.record_module(module, [x], "model.onnx", "torch.safetensors")

runs the module as well and rejects to write when its outputs are not those of the exported graph
within float32 rounding: then the export is at fault, not a kernel.
"""
import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

INSTALL = "apt-get install python3-torch python3-onnx"
try:
    import numpy as np
    import onnx
    import torch

    from driftscope import BadInput, safetensors_file, torch_ops
except ImportError as error:
    print(f"trace_torch: {error}; install it: {INSTALL}", file=sys.stderr)
    sys.exit(3)


def numpy_dtype(kind):
    """The NumPy dtype of ONNX's element type KIND, in an onnx of any age."""
    if hasattr(onnx.helper, "tensor_dtype_to_np_dtype"):
        return onnx.helper.tensor_dtype_to_np_dtype(kind)
    return onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[kind]


def graph_inputs(model):
    """Inputs that have to be given: (name, element type, dimensions; a symbol is None)."""
    constants = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in constants:
            kind = value.type.tensor_type
            yield value.name, kind.elem_type, [
                d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim]


def seeded_inputs(model, seed):
    """Standard normal floats, small integers; a symbolic dimension becomes 1."""
    random = np.random.default_rng(seed)
    inputs = {}
    for name, kind, shape in graph_inputs(model):
        dtype = numpy_dtype(kind)
        shape = [1 if size is None else size for size in shape]
        inputs[name] = (random.standard_normal(shape) if dtype.kind == "f"
                        else random.integers(0, 2 if dtype.kind == "b" else 4, shape)).astype(dtype)
    return inputs


def trace_graph(model, inputs):
    """Runs every node of MODEL; returns (values by name, nodes as a trace describes them)."""
    nodes = []

    def observe(node, nanoseconds):
        index = len(nodes)
        nodes.append({"name": node.name or f"{node.op_type}_{index}", "op": node.op_type,
                      "outputs": [name for name in node.output if name],
                      "time_ns": [nanoseconds]})

    with torch.no_grad():
        values = torch_ops.evaluate(model, inputs, observe=observe)
    return values, nodes


def write(path, model_path, inputs, values, nodes, note=""):
    """Writes the trace: graph inputs, then every output of a node."""
    tensors = dict(inputs)
    for node in nodes:
        tensors.update({name: values[name].contiguous().numpy() for name in node["outputs"]})
    run = {"engine": "pytorch", "version": torch.__version__, "host": "pc",
           "threads": torch.get_num_threads(), "how": "ONNX graph, node by node", "note": note}
    safetensors_file.write(path, tensors, {
        "format": "driftscope-trace-1", "target": "pc/pytorch", "run": json.dumps(run),
        "model_sha256": hashlib.sha256(Path(model_path).read_bytes()).hexdigest(),
        "nodes": json.dumps(nodes)})


def record(model_path, inputs, path, note=""):
    """Traces the model of MODEL_PATH on INPUTS (arrays by name) into PATH; returns all values."""
    model = onnx.load(model_path)
    values, nodes = trace_graph(model, inputs)
    write(path, model_path, inputs, values, nodes, note)
    return values


def record_module(module, arguments, model_path, path):
    """As record, for a torch.nn.Module and what it is called with, in the order of the graph's inputs.

    ARGUMENTS are tensors. The module's own outputs must be those of the graph: no further apart
    than 1e-4 of the largest, which no chain of float32 roundings in one of these models reaches and
    any wrong weight does.
    """
    model = onnx.load(model_path)
    names = [name for name, _, _ in graph_inputs(model)]
    if len(names) != len(arguments):
        raise ValueError(f"the graph has {len(names)} inputs ({names}), got {len(arguments)}")
    inputs = {name: argument.numpy() for name, argument in zip(names, arguments)}
    module.eval()
    with torch.no_grad():
        answers = module(*arguments)
    answers = answers if isinstance(answers, (tuple, list)) else [answers]
    values, nodes = trace_graph(model, inputs)
    for output, answer in zip(model.graph.output, answers):
        got = values[output.name]
        if got.shape != answer.shape:
            raise ValueError(f"output {output.name}: the module gives {list(answer.shape)}, the"
                             f" exported graph {list(got.shape)}")
        apart = (got.double() - answer.double()).abs().max().item() if got.numel() else 0.0
        if not apart <= 1e-4 * max(1.0, answer.double().abs().max().item()):
            raise ValueError(f"output {output.name}: the module and the exported graph are {apart:g}"
                             " apart; export the module again, in eval mode")
    write(path, model_path, inputs, values, nodes, f"checked against {type(module).__name__}")
    return values


def read_inputs(options, model):
    """What the command line names; what is left over is seeded."""
    wanted = {name: (kind, shape) for name, kind, shape in graph_inputs(model)}
    inputs = seeded_inputs(model, options.seed)
    given = {}
    if options.like:
        tensors, _ = safetensors_file.read(options.like)
        given = {name: array for name, array in tensors.items() if name in wanted}
        if not given:
            raise ValueError(f"{options.like}: holds none of the model's inputs"
                             f" ({', '.join(wanted)})")
    for text in options.input:
        name, _, file = text.rpartition("=")
        name = name or next(iter(wanted), "")
        if name not in wanted:
            raise ValueError(f"--input {text}: the model has no input {name!r}; its inputs are"
                             f" {', '.join(wanted)}")
        given[name] = np.load(file, allow_pickle=False)
    for name, array in given.items():
        kind, shape = wanted[name]
        dtype = numpy_dtype(kind)
        fits = len(shape) == array.ndim and all(
            size in (None, have) for size, have in zip(shape, array.shape))
        if array.dtype != dtype or not fits:
            raise ValueError(f"input {name}: {array.dtype} {list(array.shape)}, expected"
                             f" {dtype} {['any' if s is None else s for s in shape]}")
    return {**inputs, **given}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the .onnx file, opset 7 to 17")
    parser.add_argument("--out", type=Path, required=True, help="the trace that is written")
    parser.add_argument("--like", type=Path, help="take the inputs from this trace (.safetensors)")
    parser.add_argument("--input", action="append", default=[], metavar="[NAME=]FILE.npy",
                        help="one input; may be given several times")
    parser.add_argument("--seed", type=int, default=42,
                        help="random inputs where none are given (NumPy's, not driftscope's)")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch's threads (default 1)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    try:
        model = onnx.load(str(options.model))
        inputs = read_inputs(options, model)
        values = record(options.model, inputs, options.out)
    except (OSError, ValueError, KeyError, NotImplementedError, BadInput) as error:
        print(f"trace_torch: {options.model}: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {len(values)} values, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
