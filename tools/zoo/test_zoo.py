#!/usr/bin/python3
"""Tests of the zoo's tools and of what they delivered: /usr/bin/python3 tools/zoo/test_zoo.py"""
import gzip
import hashlib
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional

import cifar10
import digits
import generated
import idx
import passes
import preprocess
import quantize
import reviews
import safetensors_file
import torch_ops
from torch_ops import windows

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets"
CONFORMANCE = Path("/usr/share/libonnx-testdata/data")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_idx_round_trip_and_gzip(self):
        array = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
        idx.write(self.folder / "a", array)
        np.testing.assert_array_equal(idx.read(self.folder / "a"), array)
        (self.folder / "b.gz").write_bytes(gzip.compress((self.folder / "a").read_bytes()))
        np.testing.assert_array_equal(idx.read(self.folder / "b"), array)

    def test_idx_cut_short_is_rejected(self):
        idx.write(self.folder / "a", np.zeros((3, 4), np.uint8))
        (self.folder / "a").write_bytes((self.folder / "a").read_bytes()[:-1])
        with self.assertRaisesRegex(ValueError, "needs 24 bytes, got 23"):
            idx.read(self.folder / "a")

    def test_mnist_folder_gzipped(self):
        for stem, count in (("train", 5), ("t10k", 3)):
            idx.write(self.folder / "x", np.full((count, 28, 28), count, np.uint8))
            idx.write(self.folder / "y", np.arange(count, dtype=np.uint8))
            for source, kind in (("x", "images-idx3"), ("y", "labels-idx1")):
                (self.folder / f"{stem}-{kind}-ubyte.gz").write_bytes(
                    gzip.compress((self.folder / source).read_bytes()))
        parts = idx.read_mnist(self.folder)
        self.assertEqual([len(part) for part in parts], [5, 5, 3, 3])

    def test_cifar_folder(self):
        images = np.random.default_rng(3).integers(0, 256, (4, 3, 32, 32)).astype(np.uint8)
        labels = np.array([9, 0, 3, 1], np.uint8)
        for name in ("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"):
            cifar10.write(self.folder / name, images, labels)
        train_images, train_labels, test_images, test_labels = cifar10.read_folder(self.folder)
        np.testing.assert_array_equal(train_images, np.concatenate([images, images]))
        np.testing.assert_array_equal(train_labels, np.concatenate([labels, labels]))
        np.testing.assert_array_equal(test_images, images)
        np.testing.assert_array_equal(test_labels, labels)
        record = (self.folder / "test_batch.bin").read_bytes()[3073:6146]
        self.assertEqual((record[0], record[1 + 1024 + 33]), (0, images[1, 1, 1, 1]))

    def test_safetensors_round_trip(self):
        tensors = {"a/b": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array(-7),
                   "empty": np.zeros((0, 4), np.float32)}
        safetensors_file.write(self.folder / "t", tensors, {"k": "ü"})
        read, metadata = safetensors_file.read(self.folder / "t")
        self.assertEqual((list(read), metadata), (list(tensors), {"k": "ü"}))
        for name, array in tensors.items():
            np.testing.assert_array_equal(read[name], array, strict=True)


class Data(unittest.TestCase):
    def test_digits_lie_in_the_middle(self):
        images = digits.load()[2].astype(float)
        rows = np.arange(28)
        centre = (images.sum(2) * rows).sum(1) / images.sum((1, 2))
        self.assertLess(abs(centre - 13.5).max(), 1.0)

    def test_no_test_digit_is_a_training_digit(self):
        train, _, test, _ = digits.load()
        seen = {image.tobytes() for image in train}
        self.assertFalse([i for i, image in enumerate(test) if image.tobytes() in seen])

    def test_generated_set_is_seeded(self):
        first, labels = generated.make(5, 20)
        again, _ = generated.make(5, 20)
        other, _ = generated.make(6, 20)
        np.testing.assert_array_equal(first, again)
        self.assertTrue((first != other).any())
        np.testing.assert_array_equal(np.bincount(labels), [2] * 10)


class Texts(unittest.TestCase):
    def test_words(self):
        self.assertEqual(preprocess.words_of("It\u2019s 'GOOD'<br />caf\u00e9\u2014ok", ["<br />"]),
                         ["it's", "good", "caf\u00e9", "ok"])

    def test_padding_and_cutting(self):
        words = ["<pad>", "<unk>", "a", "b"]
        right = preprocess.describe_text(3, "v", "right", "start", [])
        left = preprocess.describe_text(3, "v", "left", "end", [])
        texts = ["a b", "a b c a", ""]
        self.assertEqual(preprocess.encode(right, words, texts).tolist(),
                         [[2, 3, 0], [2, 3, 1], [0, 0, 0]])
        self.assertEqual(preprocess.encode(left, words, texts).tolist(),
                         [[0, 2, 3], [3, 1, 2], [0, 0, 0]])

    def test_reviews_are_seeded_and_none_is_in_both_sets(self):
        texts, labels = reviews.make(5, 100)
        self.assertEqual(reviews.make(5, 100), (texts, labels))
        self.assertEqual(sum(labels), 50)
        train, test = (set(reviews.make(*arguments)[0]) for arguments in ((11, 16000), (12, 200)))
        self.assertFalse(train & test)


class Operators(unittest.TestCase):
    def test_pools_agree_with_pytorch_pools(self):
        x = torch.randn(2, 3, 11, 12, generator=torch.Generator().manual_seed(1),
                        dtype=torch.float64)
        for kernel, stride, pad, ceil in ((3, 2, 1, 1), (2, 2, 0, 0), (3, 3, 1, 0), (4, 3, 2, 1)):
            attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2,
                          "pads": [pad] * 4, "ceil_mode": ceil}
            torch.testing.assert_close(
                windows.max_pool([x], attributes, 12)[0],
                functional.max_pool2d(x, kernel, stride, pad, ceil_mode=bool(ceil)))
            for count in (0, 1):
                torch.testing.assert_close(
                    windows.average_pool([x], {**attributes, "count_include_pad": count}, 11)[0],
                    functional.avg_pool2d(x, kernel, stride, pad, bool(ceil), bool(count)))

    # Training the zoo needs no conformance cases, so a machine may be without them.
    @unittest.skipUnless(CONFORMANCE.exists(), "needs the package libonnx-testdata")
    def test_onnx_conformance_cases(self):
        """The oracle itself is judged by ONNX's own cases; what it does not claim raises."""
        passed = 0
        for path in sorted(CONFORMANCE.glob("*/*/model.onnx")):
            model = onnx.load(path)
            if not {n.op_type for n in model.graph.node} <= set(torch_ops.OPERATORS):
                continue
            try:
                inputs, outputs = (self.tensors(path.parent / "test_data_set_0", kind)
                                   for kind in ("input", "output"))
                constants = {t.name for t in model.graph.initializer}
                names = [i.name for i in model.graph.input if i.name not in constants]
                values = torch_ops.evaluate(model, dict(zip(names, inputs)), torch.float64)
                got = [values[o.name].numpy() for o in model.graph.output]
            except NotImplementedError:
                continue
            except (TypeError, ValueError) as error:  # types that PyTorch does not have
                self.assertRegex(path.parent.name,
                                 "identity_(opt|sequence)|BFLOAT16|STRING|uint(16|32|64)", error)
                continue
            for have, want in zip(got, outputs):
                # The windows were computed with π to six digits.
                loose = 1e-3 if "window" in path.parent.name else 1e-6
                np.testing.assert_allclose(have, want, 1e-5, loose, err_msg=str(path))
                self.assertEqual(have.shape, want.shape, path)
            passed += 1
        self.assertGreaterEqual(passed, 500)

    @staticmethod
    def tensors(folder, kind):
        paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
        return [numpy_helper.to_array(onnx.TensorProto.FromString(p.read_bytes())) for p in paths]


class Quantization(unittest.TestCase):
    def test_an_activation_has_steps_for_zero_and_for_both_ends(self):
        for dtype in (np.uint8, np.int8):
            limits = np.iinfo(dtype)
            for low, high in ((-1.5, 3.0), (0.0, 6.0), (2.0, 5.0), (-4.0, -1.0), (0.0, 0.0)):
                scale, zero_point = quantize.activation_steps(low, high, dtype)
                self.assertEqual((scale.dtype, zero_point.dtype), (np.float32, dtype))
                reach = [(limit - int(zero_point)) * float(scale)
                         for limit in (limits.min, limits.max)]
                self.assertLessEqual(reach[0], min(low, 0) + 0.51 * scale)
                self.assertGreaterEqual(reach[1], max(high, 0) - 0.51 * scale)
                if low >= 0:  # then the lowest step is 0, and saturating is a Relu
                    self.assertEqual(zero_point, limits.min)

    def test_a_weight_is_half_a_step_off_at_most(self):
        weight = np.random.default_rng(1).standard_normal((4, 3, 2, 2)).astype(np.float32)
        weight[2] = 0
        for axis in (0, 1):
            steps, scale = quantize.weight_steps(weight, axis)
            self.assertEqual((steps.dtype, scale.shape), (np.int8, (weight.shape[axis],)))
            wide = scale.reshape([-1 if a == axis else 1 for a in range(4)])
            self.assertTrue((abs(steps * wide - weight) <= 0.5001 * wide).all())

    def test_a_bias_beyond_32_bits_is_rejected(self):
        with self.assertRaisesRegex(ValueError, "32 bits"):
            quantize.bias_steps(np.array([1.0], np.float32), np.array([1e-10], np.float32))

    def test_folding_and_splitting_keep_the_function(self):
        model = onnx.load(ASSETS / "models/resnet20.onnx")
        inputs = {"input": np.random.default_rng(2).standard_normal((1, 3, 32, 32), np.float32)}
        want = torch_ops.evaluate(model, inputs, torch.float64)["logits"]
        other = passes.split_gemm(passes.fold_batch_normalization(model))
        self.assertFalse({node.op_type for node in other.graph.node}
                         & {"BatchNormalization", "Gemm"})
        got = torch_ops.evaluate(other, inputs, torch.float64)["logits"]
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)

    def test_what_has_no_quantized_form_is_named(self):
        model = onnx.load(ASSETS / "models/lenet1.onnx")
        samples = np.zeros((1, 1, 28, 28), np.float32)
        for form in (quantize.to_qdq, quantize.to_operators):
            with self.assertRaisesRegex(ValueError, "tanh1: Tanh has no quantized form"):
                form(model, samples)

    def test_batch_normalization_without_a_conv_of_its_own_is_rejected(self):
        values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 3, 4, 4])
                  for name in ("input", "output")]
        constants = [numpy_helper.from_array(np.ones(3, np.float32), name) for name in "gbmv"]
        node = helper.make_node("BatchNormalization", ["input", *"gbmv"], ["output"], "bn")
        with self.assertRaisesRegex(ValueError, "bn: expected a Conv"):
            passes.fold_batch_normalization(helper.make_model(
                helper.make_graph([node], "g", values[:1], values[1:], constants)))


class Delivered(unittest.TestCase):
    """assets/ holds what ACCURACY.json says, and the ONNX files compute what PyTorch computed."""

    def setUp(self):
        torch.set_num_threads(1)
        self.report = json.loads((ASSETS / "ACCURACY.json").read_text())

    def samples(self, entry):
        """(inputs, labels) of an entry's test set, read from assets/."""
        kind, files = entry["dataset"].split(":")
        paths = [ASSETS / file for file in files.split(",")]
        description = json.loads((ASSETS / entry["model"]).with_suffix(".preprocess.json").read_text())
        if kind == "imdb":
            texts, labels = reviews.read_folder(paths[0])
            beside = (ASSETS / entry["model"]).parent
            words = (beside / description["vocabulary"]).read_text().splitlines()
            return preprocess.encode(description, words, texts), np.array(labels)
        images, labels = cifar10.read(paths[0]) if kind == "cifar10" else map(idx.read, paths)
        if entry.get("counted") == "pixels":
            labels = idx.read(ASSETS / "data/generated-shapes-test-masks.idx3-ubyte")
        return preprocess.apply(description, images), labels

    def test_every_model_is_reported(self):
        models = {path.stem for path in (ASSETS / "models").glob("*.onnx")}
        self.assertLessEqual({"lenet1", "lenet5", "resnet20", "vgg16", "textcnn", "lstm", "gru",
                              "transformer", "unet", "lstm-opset11", "unet-opset11", "lenet5-int8",
                              "resnet20-int8", "mobilenetv2-small",
                              "resnet-small", "inception-small"}, models)
        self.assertEqual(set(self.report["models"]), models)

    def test_hashes(self):
        files = {**self.report["data_sha256"],
                 **{e["model"]: e["sha256"] for e in self.report["models"].values()}}
        for name, digest in files.items():
            self.assertEqual(hashlib.sha256((ASSETS / name).read_bytes()).hexdigest(), digest, name)

    def test_predictions_come_out_of_the_onnx_files(self):
        for name, entry in self.report["models"].items():
            inputs, labels = self.samples(entry)
            model = onnx.load(ASSETS / entry["model"])
            dtype, batches = None, [inputs]
            if "quantized_from" in entry:  # why: make_int8
                dtype, batches = torch.float64, np.split(inputs, len(inputs))
            got = np.concatenate([
                torch_ops.evaluate(model, {model.graph.input[0].name: batch}, dtype)
                [model.graph.output[0].name].argmax(1).numpy() for batch in batches])
            if "predictions" in entry:
                predictions = np.loadtxt(ASSETS / entry["predictions"], int)
                np.testing.assert_array_equal(got, predictions, name)
            self.assertEqual((entry["correct"], entry["total"]), ((got == labels).sum(), got.size))
            self.assertIn(f"{entry['correct']:,} of {entry['total']:,}",
                          (ASSETS / "README.md").read_text(), name)

    def test_quantized_models_hold_what_they_are_for(self):
        for name, wanted, kinds in (
                ("lenet5-int8", {"QLinearConv", "QLinearMatMul", "MatMulInteger", "MaxPool",
                                 "DynamicQuantizeLinear"}, {"UINT8", "INT8", "INT32", "FLOAT"}),
                ("resnet20-int8", {"QuantizeLinear", "DequantizeLinear", "Conv", "Add", "Gemm"},
                 {"INT8", "INT32", "FLOAT"})):
            graph = onnx.load(ASSETS / f"models/{name}.onnx").graph
            operators = {node.op_type for node in graph.node}
            self.assertLessEqual(wanted, operators)
            self.assertNotIn("BatchNormalization", operators)
            self.assertEqual({onnx.TensorProto.DataType.Name(tensor.data_type)
                              for tensor in graph.initializer}, kinds)
            entry = self.report["models"][name]
            whole = self.report["models"][name.removesuffix("-int8")]
            self.assertEqual(entry["quantized_from"], whole["model"])
            self.assertGreater(entry["accuracy"], whole["accuracy"] - 0.01)

    def test_traces_hold_every_value(self):
        for name in ("lenet1", "lenet5", "resnet20"):
            entry = self.report["models"][name]
            model = onnx.load(ASSETS / entry["model"])
            tensors, metadata = safetensors_file.read(
                ROOT / f"tests/data/pytorch-{name}.safetensors")
            self.assertEqual(metadata["model_sha256"], entry["sha256"])
            values = torch_ops.evaluate(model, {"input": tensors["input"]}, torch.float64)
            for node in model.graph.node:
                want = values[node.output[0]].numpy()
                np.testing.assert_allclose(tensors[node.output[0]], want,
                                           atol=2e-5 * max(1, abs(want).max()), rtol=0,
                                           err_msg=f"{name} {node.name}")

    def test_size_limit(self):
        size = sum(p.stat().st_size for p in ASSETS.rglob("*") if p.is_file())
        self.assertLessEqual(size, 20e6)


if __name__ == "__main__":
    unittest.main()
