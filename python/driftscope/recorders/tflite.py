"""TFLite: every tensor that the interpreter of LiteRT (or of TensorFlow) computes from a .tflite file.

delegate="xnnpack" runs what a user gets by default, "none" the interpreter's own kernels, where every tensor is kept.
With the delegate only the tensors on its borders hold values, which is why "none" is the default.
"""
import os

from . import in_order, is_file
from ..errors import BadInput
from ..recording import Recording

TITLE = "TFLite (LiteRT)"
INSTALL = "pip install ai-edge-litert"


def accepts(model):
    return is_file(model, ".tflite")


def _interpreter():
    try:
        from ai_edge_litert import interpreter
        from importlib.metadata import version
        return interpreter, f"ai-edge-litert {version('ai-edge-litert')}"
    except ImportError:
        try:
            import tensorflow
        except ImportError:
            tensorflow = None
        if tensorflow is None:
            raise
        return tensorflow.lite, f"tensorflow {tensorflow.__version__}"


def record(model, inputs, delegate="none", threads=1):
    """delegate: none or xnnpack. Quantized tensors are recorded as the integers that they are."""
    module, version = _interpreter()
    if delegate not in ("none", "xnnpack"):
        raise BadInput(f"delegate {delegate!r}: expected none or xnnpack")
    kind = (module.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if delegate == "none" else
            module.OpResolverType.AUTO)
    interpreter = module.Interpreter(model_path=os.fspath(model), num_threads=threads,
                                     experimental_op_resolver_type=kind,
                                     experimental_preserve_all_tensors=delegate == "none")
    details = interpreter.get_input_details()
    names = [detail["name"] for detail in details]
    feed = in_order(inputs, names)
    for detail, value in zip(details, feed):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape, strict=False)
    interpreter.allocate_tensors()
    for detail, value in zip(details, feed):
        interpreter.set_tensor(detail["index"], value.astype(detail["dtype"], copy=False))
    interpreter.invoke()
    recording = Recording("tflite", version, inputs=dict(zip(names, feed)),
                          facts={"threads": threads, "delegate": delegate})
    for detail, operator in _computed(interpreter):
        try:
            value = interpreter.get_tensor(detail["index"])
        except ValueError as error:  # inside a delegate
            recording.left_out.append((detail["name"], str(error).split("\n")[0]))
            continue
        # Converters fuse operators and join their names with ";".
        recording.add(detail["name"], value, operator, detail["name"].split(";"))
    return recording


def _computed(interpreter):
    """(details, operator) of the outputs of operators, in the order of execution."""
    details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    for operator in interpreter._get_ops_details():
        for index in operator["outputs"]:
            if index in details and operator["op_name"] != "DELEGATE" or index in _outputs(interpreter):
                yield details[index], operator["op_name"]


def _outputs(interpreter):
    return {detail["index"] for detail in interpreter.get_output_details()}
