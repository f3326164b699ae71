"""Keras 3: functional and subclassed models, on whichever backend Keras runs.

On TensorFlow every tensor of the model's graph is recorded (detail="operators", see tensorflow.py), whose names
tf2onnx and Model.export keep. On JAX and PyTorch, or with detail="layers", the outputs of the layers are: a layer
that holds others is called like them, block/conv2d.
"""
from contextlib import contextmanager

from . import in_order, of_packages
from ..errors import BadInput
from ..recording import Recording

TITLE = "Keras"
INSTALL = "pip install keras tensorflow-cpu"


def accepts(model):
    return of_packages(model, "keras", "tf_keras")


def record(model, inputs, detail=None):
    """detail: operators or layers; default: operators on TensorFlow, else layers."""
    import keras

    backend = keras.backend.backend()
    detail = detail or ("operators" if backend == "tensorflow" else "layers")
    if detail not in ("operators", "layers") or (detail == "operators" and backend != "tensorflow"):
        raise BadInput(f"detail {detail!r}: expected layers, or on the TensorFlow backend (here: {backend}) operators")
    if detail == "operators":
        return _operators(model, inputs, keras)
    names = _names(model, inputs)
    feed = in_order(inputs, names)
    recording = Recording("keras", keras.__version__, inputs=dict(zip(names, feed)),
                          facts={"backend": backend, "how": "outputs of layers"})
    with _watched_layers(keras, recording):
        model(_structure(model, inputs, feed), training=False)
    return recording


def _operators(model, inputs, keras):
    import tensorflow as tf

    from .tensorflow import record_function
    names = _names(model, inputs)
    feed = in_order(inputs, names)
    specs = [tf.TensorSpec(value.shape, value.dtype, name) for name, value in zip(names, feed)]
    function = tf.function(lambda *arrays: model(_structure(model, inputs, arrays), training=False))
    concrete = function.get_concrete_function(*specs)
    recording = record_function(tf, concrete, feed, "keras", keras.__version__)
    recording.inputs = dict(zip(names, feed))
    recording.facts["backend"] = "tensorflow"
    return recording


def _names(model, inputs):
    """The names of the model's inputs; a subclassed model may not know them."""
    known = getattr(model, "input_names", None) or [getattr(tensor, "name", "") for tensor in
                                                    getattr(model, "inputs", None) or ()]
    if known and len(known) == len(inputs):
        return list(known)
    return list(inputs) if isinstance(inputs, dict) else [f"input_{i}" for i in range(len(inputs))]


def _structure(model, inputs, arrays):
    """What the model is called with: one tensor, a list, or a dictionary where INPUTS is one."""
    arrays = list(arrays)
    if isinstance(inputs, dict) and not getattr(model, "input_names", None) and len(arrays) > 1:
        return dict(zip(inputs, arrays))
    return arrays[0] if len(arrays) == 1 else arrays


@contextmanager
def _watched_layers(keras, recording):
    """Adds what each layer returns while it lasts. Layers are called through Layer.__call__, whatever their class."""
    original = keras.layers.Layer.__call__
    path = []

    def call(layer, *args, **kwargs):
        path.append(layer.name)
        try:
            result = original(layer, *args, **kwargs)
            name = "/".join(path[1:])
            if name:
                _add(keras, recording, name, type(layer).__name__, result)
            return result
        finally:
            path.pop()

    keras.layers.Layer.__call__ = call
    try:
        yield
    finally:
        keras.layers.Layer.__call__ = original


def _add(keras, recording, name, kind, result):
    leaves = [leaf for leaf in keras.tree.flatten(result) if hasattr(leaf, "shape")]
    for place, leaf in enumerate(leaves):
        recording.add(f"{name}.{place}" if len(leaves) > 1 else name, keras.ops.convert_to_numpy(leaf), kind)
