"""TFLite files by litert-torch, from PyTorch, in LiteRT's interpreter."""
import contextlib
import io
import os

import cases
import torch_models
from torch_onnx import export

with contextlib.redirect_stdout(io.StringIO()):
    import litert_torch

from driftscope import BadInput

ONE_ROUNDING_MORE = "litert-torch divides by a constant by multiplying with its reciprocal: two roundings in place of one"


def to_tflite(model, inputs, path):
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        litert_torch.convert(model, tuple(inputs.values())).export(str(path))
    return str(path)


class TfliteTest(cases.FrameworkTest):
    known = {"Div": (2.5, ONE_ROUNDING_MORE)}

    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                onnx = export(model, inputs, self.folder / f"{name}.onnx")
                tflite = to_tflite(model, inputs, self.folder / f"{name}.tflite")
                trace = self.record(tflite, inputs, onnx)
                self.check_clean(name, trace, 5)
                fast = self.record(tflite, inputs, onnx, delegate="xnnpack", out=self.folder / "fast.safetensors")
                self.check_clean(name, fast, 1)
                self.assertTrue(fast.left_out, "the delegate hides values")
                torch_models.plant(model, name)
                planted = cases.changed_node(onnx, export(model, inputs, self.folder / "wrong.onnx"))
                wrong = to_tflite(model, inputs, self.folder / "wrong.tflite")
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(wrong, inputs, onnx, mapping=mapping), planted)

    def test_unknown_delegate(self):
        with self.assertRaisesRegex(BadInput, "delegate 'gpu'"):
            model, inputs = torch_models.make("lstm")
            self.record("a.tflite", inputs, export(model, inputs, self.folder / "m.onnx"), delegate="gpu")


if __name__ == "__main__":
    cases.main()
