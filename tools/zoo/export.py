"""Exports a trained model to ONNX with names a person can read, and records PyTorch's own trace.

One module becomes one node, named by the module's path (`stage1.0.conv1`); its result is called
`stage1.0.conv1.out`, the graph's input `input`, the last value `probabilities` or `logits`.
BatchNormalization stays a node of its own.
"""
import hashlib
import io
import json
from pathlib import Path

import onnx
import torch

import safetensors_file

OPSET = 13
OPERATORS = {"Conv", "Gemm", "Add", "Relu", "Tanh", "Softmax", "MaxPool", "AveragePool",
             "GlobalAveragePool", "BatchNormalization", "Flatten"}


def _node_name(exported):
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


def _rename(graph, output):
    """Gives nodes and values their names; initializers keep those of PyTorch."""
    names = {graph.input[0].name: "input", graph.output[0].name: output}
    for node in graph.node:
        node.name = _node_name(node.name)
        node.doc_string = ""
        for value in node.output:
            names.setdefault(value, node.name + ".out")
    for node in graph.node:
        node.input[:] = [names.get(value, value) for value in node.input]
        node.output[:] = [names[value] for value in node.output]
    graph.input[0].name, graph.output[0].name = "input", output


def _check(model, module, sample):
    """The model is valid, its shapes can be inferred, and it holds nothing but what we mean."""
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    known = {value.name for value in (*inferred.graph.value_info, *inferred.graph.output)}
    modules = dict(module.named_modules())
    seen = set()
    for node in model.graph.node:
        if node.op_type not in OPERATORS:
            raise ValueError(f"{node.name}: operator {node.op_type} is not one of {OPERATORS}")
        if node.name not in modules or node.name in seen:
            raise ValueError(f"node {node.name!r} does not name one module")
        seen.add(node.name)
        if not known.issuperset(node.output):
            raise ValueError(f"{node.name}: no shape was inferred for {list(node.output)}")
    batch = model.graph.input[0].type.tensor_type.shape.dim[0].dim_param
    if batch != "N" or sample.shape[0] != 1:
        raise ValueError(f"the batch axis is {batch!r}, expected the symbol N")


def export(module, sample, name, output, path):
    """Writes MODULE (in eval mode) to PATH; SAMPLE is one float32 input with batch 1."""
    buffer = io.BytesIO()
    torch.onnx.export(module, torch.from_numpy(sample), buffer, opset_version=OPSET,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      input_names=["input"], output_names=[output],
                      dynamic_axes={"input": {0: "N"}, output: {0: "N"}})
    model = onnx.load_from_string(buffer.getvalue())
    model.graph.name = name
    _unshare(model.graph)
    _rename(model.graph, output)
    _check(model, module, sample)
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
