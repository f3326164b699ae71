"""An ONNX graph, node by node, on PyTorch's kernels (torch_ops): every value under its own name. Client: pytorch."""
from pathlib import Path

from . import in_order
from ..recording import Recording


def record_graph(path, inputs, threads=None):
    """The Recording of the .onnx file PATH, opset 7 to 17. Raises NotImplementedError for an operator that is not there."""
    import onnx
    import torch

    from .. import torch_ops
    model = onnx.load(str(path))
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    feed = dict(zip(names, in_order(inputs, names, Path(path).name)))
    before = torch.get_num_threads()
    times = []
    try:
        if threads:
            torch.set_num_threads(threads)
        recording = Recording("pytorch", torch.__version__, inputs=feed, onnx_names=True,
                              facts={"threads": torch.get_num_threads(), "how": "ONNX graph, node by node"})
        with torch.no_grad():
            values = torch_ops.evaluate(model, feed, observe=lambda node, elapsed: times.append((node, elapsed)))
    finally:
        torch.set_num_threads(before)
    for node, elapsed in times:
        for name in filter(None, node.output):
            recording.add(name, values[name].contiguous().numpy(), node.op_type, time_ns=elapsed)
    return recording
