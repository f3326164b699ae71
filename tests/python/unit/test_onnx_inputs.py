"""The inputs of the shipped ONNX models, and files that are none."""
import os
import random
import unittest

import numpy as np
from support import ROOT, FolderTest

from driftscope import BadInput
from driftscope.onnx_inputs import read_inputs

MODELS = ROOT / "assets" / "models"


class OnnxInputsTest(FolderTest):
    def test_lenet5(self):
        (image,) = read_inputs(MODELS / "lenet5.onnx")
        self.assertEqual((image.name, image.dtype, image.shape), ("input", np.float32, (None, 1, 28, 28)))

    def test_every_shipped_model_has_inputs_and_no_weights_among_them(self):
        for path in sorted(MODELS.glob("*.onnx")):
            with self.subTest(path.name):
                self.assertLessEqual(1, len(read_inputs(path)) <= 3)

    def test_other_files_are_rejected(self):
        for content in (b"", b"\x00", b"hello, world", b"\x3a\xff\xff\xff\xff\x7f", b"\x08" + b"\xff" * 20):
            path = self.folder / "bad.onnx"
            path.write_bytes(content)
            with self.subTest(content), self.assertRaisesRegex(BadInput, "not an ONNX model"):
                read_inputs(path)
        self.assertRaises(BadInput, read_inputs, self.folder / "absent.onnx")

    def test_mutated_models_never_hurt(self):
        seed = int(os.environ.get("DRIFTSCOPE_SEED", "1"))
        chance = random.Random(seed)
        whole = (MODELS / "lenet5.onnx").read_bytes()
        for round_ in range(150):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 30)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            path = self.folder / "mutated.onnx"
            path.write_bytes(data[:chance.randrange(1, len(data))] if chance.random() < 0.3 else data)
            try:
                read_inputs(path)
            except BadInput:
                pass
            except Exception as error:  # noqa: BLE001
                self.fail(f"DRIFTSCOPE_SEED={seed}, round {round_}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    unittest.main()
