"""Exports a trained model to ONNX with names a person can read, and records PyTorch's own trace.

A module that becomes one node gives it its path as name (`stage1.0.conv1`); where it becomes several,
or the forward function computes itself, the operator follows (`layers.0.attention/MatMul`, a second
one `layers.0.attention/MatMul_2`). A node's result is called by its name and `.out`, the graph's
input `input` or `tokens`, the last value `probabilities` or `logits`. BatchNormalization stays a
node of its own.
"""
import collections
import hashlib
import io
import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch

import safetensors_file

def _module_path(exported):
    """`/stage1/stage1.0/conv1/Conv` → `stage1.0.conv1`."""
    modules = exported.strip("/").split("/")[:-1]
    path = ""
    for part in modules:
        path = part if part.startswith(path + ".") or not path else f"{path}.{part}"
    return path


def _unshare(graph):
    """Equal weights (two biases that always learn the same) come out as one initializer and an
    Identity; gives each its own initializer again, so that a node has one reason to be there."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in [n for n in graph.node if n.op_type == "Identity" and n.input[0] in tensors]:
        copy = graph.initializer.add()
        copy.CopyFrom(tensors[node.input[0]])
        copy.name = node.output[0]
        graph.node.remove(node)


def _limits_as_constants(graph):
    """The limits of a Clip (Relu6) come as Constant nodes, which nobody wants to see as layers."""
    made = {node.output[0]: node for node in graph.node if node.op_type == "Constant"}
    for node in [n for n in graph.node if n.op_type == "Clip"]:
        path = _module_path(node.name)
        for place, name in enumerate(("min", "max"), start=1):
            constant = made.get(node.input[place]) if place < len(node.input) else None
            if constant is not None:
                tensor = graph.initializer.add()
                tensor.CopyFrom(constant.attribute[0].t)
                tensor.name = node.input[place] = f"{path}.{name}"
    read = {name for node in graph.node for name in node.input}
    for node in made.values():
        if node.output[0] not in read:
            graph.node.remove(node)


def _node_names(graph):
    """One name for each node, in order."""
    paths = [_module_path(node.name) for node in graph.node]
    names, used = [], collections.Counter()
    for node, path in zip(graph.node, paths):
        name = path
        if not path or paths.count(path) > 1:
            name = f"{path}/{node.op_type}".lstrip("/")
        used[name] += 1
        names.append(name if used[name] == 1 else f"{name}_{used[name]}")
    return names


def _rename(graph):
    """Gives nodes and values their names; initializers and the graph's ends keep theirs."""
    names = {value.name: value.name for value in (*graph.input, *graph.output)}
    for node, name in zip(graph.node, _node_names(graph)):
        node.name, node.doc_string = name, ""
        for number, value in enumerate(node.output):
            if value:
                names.setdefault(value, f"{name}.out{number or ''}")
    for node in graph.node:
        node.input[:] = [names.get(value, value) for value in node.input]
        node.output[:] = [names.get(value, value) for value in node.output]


def check(model, sample):
    """The model is valid, its shapes can be inferred, names are unique and the batch is a symbol."""
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    known = {value.name for value in (*inferred.graph.value_info, *inferred.graph.output)}
    seen = set()
    for node in model.graph.node:
        if not node.name or node.name in seen:
            raise ValueError(f"node name {node.name!r} is not unique")
        seen.add(node.name)
        if not known.issuperset(value for value in node.output if value):
            raise ValueError(f"{node.name}: no shape was inferred for {list(node.output)}")
    batch = model.graph.input[0].type.tensor_type.shape.dim[0].dim_param
    if batch != "N" or sample.shape[0] != 1:
        raise ValueError(f"the batch axis is {batch!r}, expected the symbol N")


def export(module, sample, name, output, path, opset, fold=False):
    """Writes MODULE (in eval mode) to PATH; SAMPLE is one input with batch 1.

    With FOLD the exporter folds what it can, as it does by default.
    """
    entry = "tokens" if sample.dtype == np.int64 else "input"
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on recurrent layers of a batch size that may vary
        torch.onnx.export(module, torch.from_numpy(sample), buffer, opset_version=opset,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=fold,
                          input_names=[entry], output_names=[output],
                          dynamic_axes={entry: {0: "N"}, output: {0: "N"}})
    model = onnx.load_from_string(buffer.getvalue())
    model.graph.name = name
    _unshare(model.graph)
    _limits_as_constants(model.graph)
    _rename(model.graph)
    check(model, sample)
    Path(path).write_bytes(model.SerializeToString(deterministic=True))
    return model


@torch.no_grad()
def record(model, module, inputs, model_path, path, sample):
    """Writes what PyTorch itself computes at every node for INPUTS, as a Driftscope trace.

    SAMPLE says in words what the input is.
    """
    modules, results, hooks = dict(module.named_modules()), {}, []
    tensors = {"input": inputs}
    for node in model.graph.node:
        hooks.append(modules[node.name].register_forward_hook(
            lambda _, __, result, value=node.output[0]: results.update({value: result.clone()})))
    module(torch.from_numpy(inputs))
    for hook in hooks:
        hook.remove()
    nodes = []
    for node in model.graph.node:
        tensors[node.output[0]] = results[node.output[0]].numpy()
        nodes.append({"name": node.name, "op": node.op_type, "outputs": list(node.output)})
    run = {"engine": "pytorch", "version": torch.__version__, "host": "pc",
           "threads": torch.get_num_threads(), "sample": sample}
    safetensors_file.write(path, tensors, {
        "format": "driftscope-trace-1", "target": "pc/pytorch",
        "model_sha256": hashlib.sha256(Path(model_path).read_bytes()).hexdigest(),
        "run": json.dumps(run), "nodes": json.dumps(nodes)})
