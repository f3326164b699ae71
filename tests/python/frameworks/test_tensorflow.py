"""TensorFlow: SavedModels of the five models, and a tf.Module without Keras; converted by tf2onnx."""
import contextlib
import io

import cases
import keras_models
import tensorflow as tf
import tf2onnx

from driftscope import BadInput

RSQRT = "TensorFlow's Rsqrt is Eigen's, off by one ULP now and then; in ONNX it is a square root and a reciprocal"


def to_onnx(function, inputs, path):
    specs = [tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()]
    with contextlib.redirect_stdout(io.StringIO()):
        tf2onnx.convert.from_function(tf.function(function), specs, opset=17, output_path=str(path))
    return path


def save(model, folder):
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(folder), format="tf_saved_model", verbose=False)
    return str(folder)


class Dense(tf.Module):
    """Two layers without Keras."""

    def __init__(self):
        super().__init__()
        random = tf.random.Generator.from_seed(3)
        self.first, self.second = (tf.Variable(random.normal(shape)) for shape in ((6, 9), (9, 5)))
        self.bias = tf.Variable(random.normal((9,)))

    def __call__(self, x):
        return tf.nn.softmax(tf.nn.relu(x @ self.first + self.bias, name="hidden") @ self.second)


class TensorFlowTest(cases.FrameworkTest):
    known = {"Reciprocal": (2.5, RSQRT)}

    def test_saved_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = keras_models.make(name)
                onnx = to_onnx(lambda *arrays: model(*arrays, training=False), inputs, self.folder / f"{name}.onnx")
                trace = self.record(save(model, self.folder / "right"), inputs, onnx)
                self.check_clean(name, trace)
                planted = keras_models.plant(model, name).split("/")[-1]
                self.check_fault(self.record(save(model, self.folder / "wrong"), inputs, onnx, mapping=trace.mapping), planted)

    def test_module_and_function(self):
        module, inputs = Dense(), {"x": tf.random.Generator.from_seed(5).normal((4, 6)).numpy()}
        onnx = to_onnx(module, inputs, self.folder / "m.onnx")
        for model in (tf.function(module), tf.function(module).get_concrete_function(tf.TensorSpec((4, 6), tf.float32))):
            self.check_clean("module", self.record(model, list(inputs.values()), onnx), 3)
        module.bias.assign_add([0, 0.3] + [0] * 7)
        trace = self.record(tf.function(module), inputs, onnx)
        self.check_fault(trace, ["add", "hidden"])

    def test_unknown_signature(self):
        model, inputs = keras_models.make("lenet5")
        onnx = to_onnx(lambda *arrays: model(*arrays, training=False), inputs, self.folder / "m.onnx")
        with self.assertRaisesRegex(BadInput, "has the signatures .*'serving_default'.*, not 'train'"):
            self.record(save(model, self.folder / "m"), inputs, onnx, signature="train")


if __name__ == "__main__":
    cases.main()
