"""The trace file: both ways, against the C++ reader where the program is there, and bytes that are wrong."""
import json
import os
import random
import struct
import unittest

import numpy as np
from support import FolderTest

from driftscope import BadInput, safetensors_file


class SafetensorsTest(FolderTest):
    def write(self, tensors, metadata=None):
        path = self.folder / "t.safetensors"
        safetensors_file.write(path, tensors, metadata or {})
        return path

    def test_every_dtype_comes_back(self):
        tensors = {str(np.dtype(d)): np.array([[0, 1, 2]]).astype(d) for d in safetensors_file.DTYPES.values()}
        tensors |= {"scalar": np.float32(3), "empty": np.zeros((0, 4), np.int8), "ü/:0": np.ones((1, 2, 3))[:, ::-1]}
        read, metadata = safetensors_file.read(self.write(tensors, {"k": "ü"}))
        self.assertEqual(metadata, {"k": "ü"})
        self.assertEqual(set(read), set(tensors))
        for name, array in tensors.items():
            self.assertEqual(read[name].dtype, np.asarray(array).dtype, name)
            np.testing.assert_array_equal(read[name], array)
            self.assertEqual(read[name].shape, np.shape(array))

    def test_big_endian_values_are_written_little_endian(self):
        read, _ = safetensors_file.read(self.write({"x": np.array([1, 2], ">f4")}))
        self.assertEqual(read["x"].tolist(), [1, 2])

    def test_dtype_that_a_trace_lacks_is_named(self):
        with self.assertRaisesRegex(BadInput, "tensor 'z' is of dtype complex64"):
            self.write({"z": np.zeros(2, np.complex64)})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_bad_headers_are_rejected(self):
        good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        cases = {
            "offsets that pass the end": {"x": {**good, "shape": [4], "data_offsets": [0, 16]}},
            "a size that overflows 64 bits": {"x": {**good, "shape": [2**32, 2**32, 2]}},
            "a negative size": {"x": {**good, "shape": [-2]}},
            "a size that is a bool": {"x": {**good, "shape": [True, 2]}},
            "an unknown dtype": {"x": {**good, "dtype": "F31"}},
            "an entry that is not an object": {"x": 3},
            "metadata that is not a string": {"__metadata__": {"a": 1}, "x": good},
            "no object": [1],
        }
        for what, header in cases.items():
            with self.subTest(what):
                text = json.dumps(header).encode()
                path = self.folder / "bad"
                path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
                self.assertRaises(BadInput, safetensors_file.read, path)

    def test_name_that_stands_twice(self):
        entry = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
        text = f'{{"x":{entry},"x":{entry}}}'.encode()
        path = self.folder / "bad"
        path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
        with self.assertRaisesRegex(BadInput, "'x' occurs twice"):
            safetensors_file.read(path)

    def test_mutated_bytes_never_hurt(self):
        """Every outcome but an array or BadInput is a failure. DRIFTSCOPE_SEED=N replays."""
        seed = int(os.environ.get("DRIFTSCOPE_SEED", "1"))
        chance = random.Random(seed)
        whole = bytearray(self.write({"a": np.arange(6.0), "b": np.ones((2, 2), np.int8)}).read_bytes())
        for round_ in range(400):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            data = data[:chance.randrange(len(data) + 1)] if chance.random() < 0.3 else data
            path = self.folder / "mutated"
            path.write_bytes(data)
            try:
                safetensors_file.read(path)
            except BadInput:
                pass
            except Exception as error:  # noqa: BLE001
                self.fail(f"DRIFTSCOPE_SEED={seed}, round {round_}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    unittest.main()
