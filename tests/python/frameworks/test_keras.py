"""Keras 3 on TensorFlow, converted by tf2onnx (Model.export): every operator, and the layers alone."""
import contextlib
import io

import cases
import keras_models

from driftscope import BadInput


def export(model, path):
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(path), format="onnx", verbose=False)
    return path


RSQRT = "TensorFlow's Rsqrt is Eigen's, off by one ULP now and then; in ONNX it is a square root and a reciprocal"


class KerasTest(cases.FrameworkTest):
    known = {"Reciprocal": (2.5, RSQRT)}

    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = keras_models.make(name)
                onnx = export(model, self.folder / f"{name}.onnx")
                trace = self.record(model, inputs, onnx)
                self.check_clean(name, trace)
                layers = self.record(model, inputs, onnx, detail="layers", out=self.folder / "layers.safetensors")
                self.check_clean(name, layers, 3)
                planted = keras_models.plant(model, name).split("/")[-1]
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(model, inputs, onnx, mapping=mapping), planted)
                self.check_fault(self.record(model, inputs, onnx, mapping=layers.mapping, detail="layers"),
                                 [planted, "block0", "lenet5/conv2"])

    def test_unknown_detail(self):
        model, inputs = keras_models.make("lstm")
        with self.assertRaisesRegex(BadInput, "detail 'atoms'"):
            self.record(model, inputs, export(model, self.folder / "m.onnx"), detail="atoms")


if __name__ == "__main__":
    cases.main()
