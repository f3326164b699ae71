"""Core ML programs by coremltools. On Linux as far as it goes: the program with every value as an output. On a Mac all."""
import contextlib
import os
import sys
import unittest

import cases
import coremltools
import numpy as np
import torch
import torch_models
from torch_onnx import export

from driftscope import BadInput, FrameworkMissing
from driftscope.recorders import coreml


def to_coreml(model, inputs, kind="mlprogram"):
    """LSTM and transformer read integers, which Core ML has as int32."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing), contextlib.redirect_stdout(nothing):
        example = tuple(value.int() if value.dtype is torch.int64 else value for value in inputs.values())
        traced = torch.jit.trace(model, example)
        types = [coremltools.TensorType(name=name, shape=value.shape, dtype=np.int32 if value.dtype is torch.int32 else np.float32)
                 for name, value in zip(inputs, example)]
        options = {} if kind != "mlprogram" else {"compute_precision": coremltools.precision.FLOAT32}
        return coremltools.convert(traced, inputs=types, convert_to=kind, skip_model_load=sys.platform != "darwin", **options)


class CoreMlTest(cases.FrameworkTest):
    def test_every_value_becomes_an_output(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                converted = to_coreml(model, inputs)
                watched, names, operators = coreml.watch(coremltools, converted)
                self.assertEqual(names, list(inputs))
                outputs = {feature.name for feature in watched.get_spec().description.output}
                self.assertLessEqual(set(operators), outputs)
                self.assertGreaterEqual(len(operators), 8)
                path = self.folder / f"{name}.mlpackage"
                watched.save(str(path))
                again = coremltools.models.MLModel(str(path), skip_model_load=True).get_spec()
                self.assertEqual({feature.name for feature in again.description.output}, outputs)
                print(f"{name}: {len(operators)} values of the program are outputs", flush=True)

    def test_other_kinds_of_models(self):
        model, inputs = torch_models.make("lenet5")
        with self.assertRaisesRegex(BadInput, "expected an mlProgram"):
            coreml.watch(coremltools, to_coreml(model, inputs, "neuralnetwork"))

    @unittest.skipIf(sys.platform == "darwin", "this is a Mac")
    def test_linux_says_that_it_cannot_predict(self):
        model, inputs = torch_models.make("lenet5")
        onnx = export(model, inputs, self.folder / "m.onnx")
        with self.assertRaisesRegex(FrameworkMissing, "Core ML predicts on a Mac only"):
            self.record(to_coreml(model, inputs), inputs, onnx)

    @unittest.skipUnless(sys.platform == "darwin", "Core ML predicts on a Mac only: what it computes was not judged here")
    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                onnx = export(model, inputs, self.folder / f"{name}.onnx")
                trace = self.record(to_coreml(model, inputs), inputs, onnx)
                self.check_clean(name, trace)
                torch_models.plant(model, name)
                planted = cases.changed_node(onnx, export(model, inputs, self.folder / "wrong.onnx"))
                self.check_fault(self.record(to_coreml(model, inputs), inputs, onnx, mapping=trace.mapping), planted)


if __name__ == "__main__":
    cases.main()
