"""What python -m driftscope.training does without a framework: networks, data, faults, distances, wrong use."""
import io
import json
import struct
import unittest
from contextlib import redirect_stderr

import numpy as np
import support

from driftscope.errors import BadInput
from driftscope.training import architectures, backends, data, drift, plants
from driftscope.training.__main__ import main


class TrainingTest(support.FolderTest):
    def network(self, **changes):
        made = {"input": [1, 8, 8], "layers": [{"conv": {"channels": 2, "kernel": 3}}, {"flatten": {}},
                                              {"dense": {"units": 3}}], **changes}
        path = self.folder / "mine.json"
        path.write_text(json.dumps(made))
        return path

    def test_shipped_networks_have_the_weights_of_the_zoo(self):
        counts = {name: sum(int(np.prod(shape)) for shape in architectures.SHIPPED[name]().weights.values())
                  for name in ("lenet1", "lenet5")}
        self.assertEqual(counts, {"lenet1": 3246, "lenet5": 61706})

    def test_a_network_of_a_file(self):
        a = architectures.read(self.network(epochs=3))
        self.assertEqual((a.name, a.epochs, a.rate, a.batch), ("mine", 3, 0.05, 128))
        self.assertEqual(a.shapes, {"conv0": (2, 6, 6), "flatten1": (72,), "dense2": (3,)})
        self.assertEqual(a.weights["dense2.weight"], (3, 72))

    def test_what_is_wrong_with_a_file_is_named(self):
        for changes, message in (
                ({"layers": []}, "expected 1 to 200 layers"),
                ({"layers": [{"conf": {}}]}, "layers\\[0\\]: expected one of"),
                ({"layers": [{"conv": {"channels": 0, "kernel": 3}}]}, "layers\\[0\\]: conv.channels"),
                ({"layers": [{"conv": {"channels": 1, "kernel": 9}}, {"flatten": {}}, {"dense": {"units": 2}}]},
                 "nothing is left"),
                ({"layers": [{"dense": {"units": 2}}]}, "dense reads a row of numbers"),
                ({"layers": [{"flatten": {}}]}, "the last layer is dense"),
                ({"input": [1, 8]}, "input: expected"), ({"rate": -1}, "rate: expected"), ({"extra": 1}, "unknown key 'extra'"),
                ({"layers": [{"flatten": {}, "name": "a"}, {"relu": {}, "name": "a"}]}, "a name is unique"),
                ({"layers": [{"flatten": {}}, {"dense": {"units": 1000000}}]}, "at most 20,000,000")):
            with self.subTest(message), self.assertRaisesRegex(BadInput, message):
                architectures.read(self.network(**changes))
        (self.folder / "bad.json").write_text("{")
        with self.assertRaisesRegex(BadInput, "bad.json"):
            architectures.read(self.folder / "bad.json")

    def test_weights_are_seeded_and_of_glorots_range(self):
        a = architectures.lenet5()
        first, again, other = (architectures.initial_weights(a, seed) for seed in ([1, 0], [1, 0], [1, 1]))
        for name, value in first.items():
            np.testing.assert_array_equal(value, again[name])
            self.assertEqual((value.shape, value.dtype), (a.weights[name], np.float32))
        self.assertTrue((first["fc1.weight"] != other["fc1.weight"]).any())
        limit = (6 / (400 + 120)) ** 0.5
        self.assertLessEqual(abs(first["fc1.weight"]).max(), limit)
        self.assertGreater(abs(first["fc1.weight"]).max(), 0.99 * limit)

    def test_batches_visit_every_sample_once_an_epoch(self):
        order = data.batches(10, 4, 3, [1])
        self.assertEqual(order.shape, (3, 2, 4))
        for epoch in order:
            self.assertEqual(len(set(epoch.ravel())), 8)
        with self.assertRaisesRegex(BadInput, "at least as many samples"):
            data.batches(3, 4, 1, [1])

    def test_idx_files_that_lie_are_rejected(self):
        path = self.folder / "x"
        for content, message in ((b"", "not an IDX file"),
                                 (b"\0\0\x08\x01" + struct.pack(">I", 5) + b"abc", "needs 13 bytes"),
                                 (b"\0\0\x08\x03" + struct.pack(">III", 2**31, 2**31, 2) + b"a", "the file has 17"),
                                 (b"\x1f\x8babc", "cannot be read")):
            path.write_bytes(content)
            with self.subTest(message), self.assertRaisesRegex(BadInput, message):
                data.read_idx(path)

    def test_shipped_digits(self):
        loaded = data.digits((1, 28, 28))
        self.assertEqual((loaded.train[0].shape, loaded.test[0].shape), ((1347, 1, 28, 28), (450, 1, 28, 28)))
        self.assertEqual((loaded.train[0].min(), loaded.train[0].max(), loaded.train[0].dtype), (0, 1, np.float32))
        with self.assertRaisesRegex(BadInput, "the network reads"):
            data.digits((1, 8, 8))

    def test_gates_there_and_back(self):
        array = np.arange(8.0)
        there = backends.reorder_gates(array, backends.FROM_ONNX)
        self.assertEqual(there.tolist(), [0, 1, 4, 5, 6, 7, 2, 3])  # i, o, f, c → i, f, c, o
        np.testing.assert_array_equal(backends.reorder_gates(there, backends.TO_ONNX), array)

    def test_plants(self):
        self.assertEqual(plants.parse("keras:momentum:0.9", ["keras"]), ("keras", plants.Plant(momentum=0.9)))
        self.assertEqual(plants.parse("jax:frozen:fc.bias", ["jax"])[1].frozen, "fc.bias")
        for text in ("jax:sum", "keras:momentum", "keras:momentum:x", "keras:oops:1", "keras"):
            with self.subTest(text), self.assertRaises(BadInput):
                plants.parse(text, ["keras"])

    def test_the_first_layer_that_parts(self):
        a = architectures.lenet1()
        near = {"epoch": 0, "layers": [1e-7] * len(a.names)}
        far = {"epoch": 4, "layers": [1e-7, 1e-7, 2e-3] + [1.0] * (len(a.names) - 3)}
        self.assertIsNone(drift.first_parted(a, [near]))
        self.assertEqual(drift.first_parted(a, [near, far]), ("pool1", 4))
        self.assertEqual(drift.first_parted(a, [{"epoch": 1, "layers": [float("nan")] * 8}]), ("conv1", 1))
        self.assertEqual(drift.distance([3, 4], [3, 4]), 0)
        self.assertAlmostEqual(drift.distance([3, 4], [0, 0]), 1)

    def test_wrong_use_says_what_is_expected(self):
        for arguments, message in (
                (["--model", "oops"], "expected one of lenet1, lenet5, lstm, or a .json file"),
                (["--framework", "mxnet"], "there are jax, keras, pytorch"), (["--repetitions", "0"], "expected at least 1"),
                (["--model", "lenet1", "--batch", "100"], "expected a power of two"),
                (["--model", "lenet1", "--rate", "-1"], "expected a number above 0"),
                (["--model", "lenet1", "--plant", "keras:frozen:conv9.bias"], "has no such weight; it has conv1.weight"),
                (["--model", "lenet1", "--plant", "keras:sum", "--plant", "keras:rate:2"], "one fault a framework")):
            errors = io.StringIO()
            with self.subTest(message), redirect_stderr(errors):
                self.assertEqual(main(["--out", str(self.folder / "out"), *arguments]), 2)
                self.assertIn(message, errors.getvalue())


if __name__ == "__main__":
    unittest.main()
