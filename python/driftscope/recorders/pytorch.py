"""PyTorch: every tensor that the operators of a torch.nn.Module return, in the order in which they run.

The operators are observed below autograd (torch.utils._python_dispatch), so that functions, in-place operators and
the inside of torch.nn.LSTM or of attention are seen like modules are. A value's name is that of the module that
computed it and of the operator: layer1.0.conv1/convolution. No module is changed.

With an .onnx file and framework="pytorch" the graph itself is run, node by node, on PyTorch's kernels
(onnx_in_torch): then every value has its ONNX name, whatever the exporter merged or renamed.
"""
import time

from . import in_order, is_file, of_packages
from ..recording import Recording

TITLE = "PyTorch"
INSTALL = "pip install torch (with Debian's packages: apt-get install python3-torch)"
# Operators that return another view of what is recorded already, or no value.
SILENT = {"detach", "alias", "clone", "_to_copy", "t", "lift_fresh", "empty", "empty_like"}


def accepts(model):
    return of_packages(model, "torch") and callable(model)


def record(model, inputs, threads=None):
    """threads: of PyTorch (default: as it is). The module is called in eval mode, and put back after."""
    import torch

    if is_file(model, ".onnx"):
        from ._onnx_in_torch import record_graph
        return record_graph(model, inputs, threads)
    names, arguments, by_name = _arguments(model, inputs)
    recording = Recording("pytorch", torch.__version__,
                          inputs={name: value.numpy() for name, value in zip(names, arguments)})
    before = torch.get_num_threads()
    if threads:
        torch.set_num_threads(threads)
    training = isinstance(model, torch.nn.Module) and model.training
    hooks = []
    try:
        recording.facts = {"threads": torch.get_num_threads(), "how": "operators of the module"}
        if training:
            model.eval()
        path = _follow_modules(model, hooks)
        with torch.no_grad(), _observer(recording, path):
            model(**dict(zip(names, arguments))) if by_name else model(*arguments)
    finally:
        for hook in hooks:
            hook.remove()
        if training:
            model.train()
        torch.set_num_threads(before)
    return recording


def _arguments(model, inputs):
    """(names, tensors, whether they are passed by name)."""
    import inspect

    import torch
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    try:
        known = [name for name, parameter in inspect.signature(forward).parameters.items()
                 if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        known = []
    if isinstance(inputs, dict):
        by_name = set(inputs) <= set(known)
        values = list(inputs.values()) if by_name or not known else in_order(inputs, known[:len(inputs)])
        names = list(inputs)
    else:
        by_name, values = False, in_order(inputs, known[:len(inputs)]) if known else inputs
        names = (known + [f"input_{i}" for i in range(len(values))])[:len(values)]
    return names, [torch.from_numpy(value.copy()) for value in values], by_name


def _follow_modules(model, hooks):
    """The names of the modules that are being called, as a list that hooks keep up to date."""
    import torch
    path = [""]
    if isinstance(model, torch.nn.Module):
        for name, module in model.named_modules():
            hooks.append(module.register_forward_pre_hook(lambda *_, name=name: path.append(name)))
            hooks.append(module.register_forward_hook(lambda *_: path.pop() and None))
    return path


def _observer(recording, path):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Observer(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            started = time.perf_counter_ns()
            result = function(*args, **(kwargs or {}))
            elapsed = time.perf_counter_ns() - started
            operator = function.overloadpacket.__name__
            if operator in SILENT:
                return result
            tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.numel()]
            for place, tensor in enumerate(tensors):
                name = f"{path[-1]}/{operator}" if path[-1] else operator
                value = tensor.dequantize() if tensor.is_quantized else tensor
                recording.add(f"{name}.{place}" if place else name,
                              value.float().numpy() if value.dtype is torch.bfloat16 else value.numpy(),
                              operator, aliases=(path[-1],) if path[-1] else (), time_ns=elapsed)
            return result

    return Observer()
