"""record, run, verify and compare with the program itself. The framework is this file's own: LeNet-5 in NumPy, NHWC.

Skipped where the program is not built.
"""
import sys
import types
import unittest
from unittest import mock

import numpy as np
from support import ROOT, FolderTest

import driftscope
from driftscope import BadInput, Mapping, ProgramFailed, ProgramMissing, Recording, program, recorders

MODEL = ROOT / "assets" / "models" / "lenet5.onnx"
try:
    program.program()
    absent = ""
except ProgramMissing as error:
    absent = str(error)


def lenet5(image, constants, bias=0.0):
    """Layers of LeNet-5 by our own names, channels last; float32 throughout."""
    def conv(x, name, padding):
        weight = constants[f"{name}.weight"]
        x = np.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], (1, 2))  # n h w c kh kw
        return np.einsum("nhwcij,ocij->nhwo", windows, weight, dtype=np.float32) + constants[f"{name}.bias"]

    def pool(x):
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))

    x = {}
    x["c1"] = conv(image, "conv1", 2)
    x["p1"] = pool(np.maximum(x["c1"], 0))
    x["c2"] = conv(x["p1"], "conv2", 0)
    x["c2"][..., 3] += np.float32(bias)
    x["p2"] = pool(np.maximum(x["c2"], 0))
    flat = x["p2"].transpose(0, 3, 1, 2).reshape(len(image), -1)
    x["f1"] = np.maximum(flat @ constants["fc1.weight"].T + constants["fc1.bias"], 0)
    x["f2"] = np.maximum(x["f1"] @ constants["fc2.weight"].T + constants["fc2.bias"], 0)
    x["f3"] = x["f2"] @ constants["fc3.weight"].T + constants["fc3.bias"]
    return x


@unittest.skipIf(absent, absent)
class RecordTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.image = np.random.default_rng(3).standard_normal((1, 28, 28, 1)).astype(np.float32)
        self.out = self.folder / "t.safetensors"
        self.bias = 0.0
        recorder = types.ModuleType("test_numpy")
        recorder.TITLE, recorder.INSTALL = "NumPy", "pip install numpy"
        recorder.record = self.record_numpy
        patch = mock.patch.object(recorders, "recorder_for", lambda *_: recorder)
        patch.start()
        self.addCleanup(patch.stop)

    def record_numpy(self, _model, inputs):
        recording = Recording("numpy", np.__version__, inputs={"image": inputs[0]})
        for name, value in lenet5(inputs[0], weights(), self.bias).items():
            recording.add(name, value)
        return recording

    def record(self, **options):
        return driftscope.record(lenet5, self.image, onnx=MODEL, out=self.out, **options)

    def test_right_run_has_no_fault(self):
        trace = self.record()
        self.assertEqual({link.layer: link.value for link in trace.mapping.links},
                         {"c1": "conv1.out", "p1": "pool1.out", "c2": "conv2.out", "p2": "pool2.out", "f1": "relu3.out",
                          "f2": "relu4.out", "f3": "fc3.out"})
        self.assertEqual(trace["conv2.out"].shape, (1, 16, 10, 10))
        table = trace.verify()
        self.assertIn(table.verdict, ("identical", "rounding"), str(table))
        self.assertEqual(trace.target, "pc/numpy")

    def test_wrong_bias_is_named_with_and_without_a_mapping(self):
        kept = self.record().mapping.save(self.folder / "m.json")
        self.bias = 0.3
        for mapping in (None, self.folder / "m.json", kept):
            table = self.record(mapping=mapping).verify()
            self.assertEqual((table.verdict, table.first_fault), ("fault", "conv2"), str(table))

    def test_compare_with_a_target(self):
        table = driftscope.compare(MODEL, left=self.record(), right=["pc/fast"],
                                   inputs={"input": self.image.transpose(0, 3, 1, 2)}, report=self.folder / "r.html")
        self.assertEqual(table.verdicts, {"pc/fast": "rounding"})
        self.assertIn("pc/fast", str(table))
        shown = table._repr_html_()
        for part in ("iframe", "Relative error by depth", "r.html"):
            self.assertIn(part, shown)

    def test_mapping_that_does_not_fit(self):
        def mapping(layer, value, axes=()):
            return Mapping().set(layer, value, axes)
        cases = [(mapping("c9", "conv1.out"), "layer 'c9', which numpy did not compute; it has 'c1'"),
                 (mapping("c1", "conv9"), "value 'conv9', which the ONNX model does not have"),
                 (mapping("c1", "conv2.out"), "correct its axes, or drop it"),
                 (mapping("c1", "conv1.out", (0, 1)), "correct its axes, or drop it"),
                 (Mapping(model_sha256="00" * 32), "made for another ONNX model")]
        for wrong, message in cases:
            with self.subTest(message), self.assertRaisesRegex(BadInput, message):
                self.record(mapping=wrong)
            self.assertFalse(self.out.exists())

    def test_inputs_that_do_not_fit(self):
        self.image = np.repeat(self.image, 2, 3)
        with (mock.patch.object(sys.modules[__name__], "lenet5", lambda *_: {"x": self.image}),
              self.assertRaisesRegex(BadInput, r"shape \['any', 1, 28, 28\], the framework got \[1, 28, 28, 2\]")):
            self.record()
        with self.assertRaisesRegex(BadInput, r"onnx_inputs has \['x'\]"):
            self.record(onnx_inputs={"x": self.image})

    def test_model_of_another_kind_is_not_mapped(self):
        with mock.patch.object(sys.modules[__name__], "lenet5", lambda *_: {"x": np.ones((3, 5), np.float32)}):
            with self.assertRaisesRegex(BadInput, "none of the 1 values .* is it converted from this model"):
                self.record()

    def test_run_and_errors_of_the_program(self):
        trace = driftscope.run(MODEL, seed=4, trace=self.out)
        self.assertEqual(trace.nodes[0]["op"], "Conv")
        with self.assertRaisesRegex(ProgramFailed, "no-engine"):
            driftscope.run(MODEL, seed=4, target="pc/no-engine", trace=self.out)
        with self.assertRaisesRegex(ProgramFailed, "safetensors"):
            driftscope.verify(MODEL, MODEL)
        tables = driftscope.verify(MODEL, [trace, str(self.out)])
        self.assertEqual([table.verdict for table in tables], ["rounding", "rounding"])


def weights():
    """The constants of the shipped LeNet-5, from its ONNX file."""
    from driftscope import onnx_inputs as wire
    data = MODEL.read_bytes()
    (graph,) = wire._sub(data, (0, len(data)), 7)
    result = {}
    for tensor in wire._sub(data, graph, 5):
        dims, raw, name = [], b"", ""
        for number, kind, value in wire._fields(data, *tensor):
            if number == 1:
                dims += [value] if kind == 0 else _packed(wire, data, value)
            elif number == 9:
                raw = data[value[0]:value[1]]
            elif number == 8:
                name = data[value[0]:value[1]].decode()
        result[name] = np.frombuffer(raw, np.float32).reshape(dims) if len(raw) == 4 * np.prod(dims) else raw
    return result


def _packed(wire, data, span):
    at, numbers = span[0], []
    while at < span[1]:
        number, at = wire._varint(data, at, span[1])
        numbers.append(number)
    return numbers


if __name__ == "__main__":

    unittest.main()
