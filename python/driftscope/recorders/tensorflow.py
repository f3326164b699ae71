"""TensorFlow: every tensor of a tf.function, a concrete function, a tf.Module or a SavedModel folder.

The graph is frozen (variables become constants, functions are inlined), as tf2onnx does, so that both have the same
names: model/conv2d/BiasAdd:0. Inside a loop (tf.while_loop) tensors change with each step and are not recorded; its
results are.
"""
import os

from . import in_order, of_packages
from ..errors import BadInput
from ..recording import Recording

TITLE = "TensorFlow"
INSTALL = "pip install tensorflow-cpu"
SILENT = {"Const", "Placeholder", "NoOp", "Identity", "IdentityN"}


def accepts(model):
    if isinstance(model, (str, os.PathLike)):
        return os.path.isfile(os.path.join(model, "saved_model.pb"))
    return of_packages(model, "tensorflow") and not of_packages(model, "keras", "tf_keras")


def record(model, inputs, signature="serving_default"):
    """signature: of a SavedModel. Functions are traced with the shapes and dtypes of INPUTS."""
    import tensorflow as tf

    function, keep = concrete_function(tf, model, inputs, signature)
    recording = record_function(tf, function, inputs)
    del keep  # a loaded model owns the variables
    return recording


def concrete_function(tf, model, inputs, signature="serving_default"):
    """(the ConcreteFunction of MODEL for INPUTS, what must live as long)."""
    if isinstance(model, (str, os.PathLike)):
        model = tf.saved_model.load(os.fspath(model))
    if hasattr(model, "signatures") and model.signatures:
        if signature not in model.signatures:
            raise BadInput(f"the SavedModel has the signatures {list(model.signatures)}, not {signature!r}")
        return model.signatures[signature], model
    if hasattr(model, "structured_outputs"):
        return model, model
    if not hasattr(model, "get_concrete_function"):
        model = tf.function(model)
    if isinstance(inputs, dict):
        specs = {name: tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()}
        try:
            return model.get_concrete_function(**specs), model
        except TypeError:
            return model.get_concrete_function(specs), model
    return model.get_concrete_function(*[tf.TensorSpec(value.shape, value.dtype) for value in inputs]), model


def record_function(tf, function, inputs, framework="tensorflow", version=None):
    """The Recording of a ConcreteFunction."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    names = [tensor.name.rpartition(":")[0] for tensor in frozen.inputs]
    feed = in_order(inputs, names)
    tensors = [tensor for operation in frozen.graph.get_operations() if operation.type not in SILENT
               for tensor in operation.outputs if tensor.dtype.is_numpy_compatible and _holds_numbers(tf, tensor.dtype)]
    pruned = frozen.prune(frozen.inputs, tensors)
    fed = [tf.constant(value, tensor.dtype) for value, tensor in zip(feed, frozen.inputs)]
    results = pruned(*fed)
    recording = Recording(framework, version or tf.__version__, inputs=dict(zip(names, feed)),
                          facts={"tensorflow": tf.__version__, "how": "frozen graph, every tensor fetched",
                                 "device": results[0].device if results else ""})
    for tensor, value in zip(tensors, results):
        operation = tensor.op
        recording.add(tensor.name, value.numpy(), operation.type,
                      (operation.name, operation.name.split("/", 1)[-1]))
    return recording


def _holds_numbers(tf, dtype):
    return dtype not in (tf.string, tf.resource, tf.variant) and not dtype.is_complex
