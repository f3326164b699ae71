"""A network as an ONNX model with given weights, and the training step's graph that the program makes of it.

Clients: judge. Values are called LAYER.out, weights as in Architecture.weights. Needs the package onnx.
"""
import numpy as np

from ..errors import FrameworkMissing
from ..program import call

OPSET = 17


def write(architecture, weights, batch, path):
    """Writes the model for BATCH samples at a time; its output is that of the last layer, the logits."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        raise FrameworkMissing("the package onnx is not installed: pip install onnx, or tools/setup --frameworks") from None
    nodes, constants = [], {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def node(op, name, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name, **attributes))
        return output

    entry = input_name(architecture)
    at = entry
    for name, kind, settings in architecture.layers:
        out = f"{name}.out"
        if kind == "conv":
            pads = [settings["kernel"] // 2 if settings.get("same") else 0] * 4
            node("Conv", name, [at, f"{name}.weight", f"{name}.bias"], out, kernel_shape=[settings["kernel"]] * 2, pads=pads)
        elif kind in ("relu", "tanh"):
            node(kind.capitalize(), name, [at], out)
        elif kind in ("max_pool", "average_pool"):
            node("MaxPool" if kind == "max_pool" else "AveragePool", name, [at], out,
                 kernel_shape=[settings["size"]] * 2, strides=[settings["size"]] * 2)
        elif kind == "flatten":
            node("Flatten", name, [at], out)
        elif kind == "dense":
            node("Gemm", name, [at, f"{name}.weight", f"{name}.bias"], out, transB=1)
        elif kind == "embedding":
            node("Gather", name, [f"{name}.weight", at], out)
        elif kind == "lstm":
            units = settings["units"]
            constants[f"{name}.no_second_bias"] = np.zeros((1, 4 * units), np.float32)
            both = node("Concat", f"{name}/Concat", [f"{name}.bias", f"{name}.no_second_bias"], f"{name}.biases", axis=1)
            steps_first = node("Transpose", f"{name}/Transpose", [at], f"{name}.steps_first", perm=[1, 0, 2])
            y = node("LSTM", name, [steps_first, f"{name}.input", f"{name}.recurrent", both], f"{name}.y", hidden_size=units)
            constants[f"{name}.axes"] = np.array([1], np.int64)
            y = node("Squeeze", f"{name}/Squeeze", [y, f"{name}.axes"], f"{name}.y_by_step")
            node("Transpose", f"{name}/Transpose_2", [y], out, perm=[1, 0, 2])
        elif kind == "last":
            constants[f"{name}.index"] = np.array(architecture.shapes[architecture.names[
                architecture.names.index(name) - 1]][0] - 1, np.int64)
            node("Gather", name, [at, f"{name}.index"], out, axis=1)
        at = out
    number = onnx.TensorProto.INT64 if architecture.texts else onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, architecture.name, [helper.make_tensor_value_info(entry, number, [batch, *architecture.input])],
        [helper.make_tensor_value_info(at, onnx.TensorProto.FLOAT, [batch, architecture.classes])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, producer_name="driftscope training", opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def input_name(architecture):
    return "tokens" if architecture.texts else "input"


def differentiated(architecture):
    """Names of the ONNX values whose gradients are wanted: outputs of layers, then weights, in the layers' order."""
    return [f"{name}.out" for name in architecture.names] + list(architecture.weights)


def write_step(architecture, model, rate, batch, path):
    """The graph of one step of gradient descent on the mean loss of BATCH samples: gradients and the new weights."""
    options = [option for name in differentiated(architecture) for option in ("--wrt", name)]
    call(["gradient", model, *options, "--sgd", repr(float(np.float32(rate)) / batch), "-o", path], timeout=600)
