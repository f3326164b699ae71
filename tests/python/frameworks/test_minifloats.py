"""float8 and integers of two bits: casts of `strict` beside those of ONNX Runtime, on random bit patterns.

    DRIFTSCOPE=build/native/driftscope PYTHON tests/python/frameworks/test_minifloats.py

float4e2m1 has no Cast in ONNX Runtime 1.32; ONNX's own cases (tools/onnx_cases) cover it.
"""
import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_contrib_operators import program, safetensors_file  # noqa: E402

SEED = 7
E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, E8M0, UINT2, INT2 = 17, 18, 19, 20, 24, 25, 26


def inputs():
    random = np.random.default_rng(SEED)
    patterns = random.integers(0, 2**32, 4000, dtype=np.uint32).view(np.float32)
    # The largest numbers, the middles beyond them, and the smallest.
    ends = [0, -0.0, np.inf, -np.inf, np.nan, 240, 248, 448, 464, 465, 57344, 61439, 2.0**-9, 2.0**-10, 2.0**-16, 2.0**-17]
    return np.concatenate([patterns, random.normal(0, 100, 4000).astype(np.float32), np.array(ends, np.float32)])


def cast_model(to, saturate, mode):
    from onnx import TensorProto, helper

    attributes = {"to": to, "saturate": saturate, **({"round_mode": mode} if mode else {})}
    nodes = [helper.make_node("Cast", ["x"], ["y"], **attributes), helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT)]
    graph = helper.make_graph(nodes, "cast", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n"])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11).SerializeToString()


class MinifloatsTest(unittest.TestCase):
    def compare(self, x, to, saturate=1, mode=None):
        import onnxruntime

        model = cast_model(to, saturate, mode)
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        want = session.run(None, {"x": x})[0]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "model.onnx").write_bytes(model)
            safetensors_file.write(folder / "x.safetensors", {"x": x}, {})
            subprocess.run([program(), "run", folder / "model.onnx", "--input", folder / "x.safetensors", "--target", "pc/strict",
                            "--trace", f"outputs:{folder / 'trace.safetensors'}", "--quiet"], check=True, capture_output=True)
            got = safetensors_file.read(folder / "trace.safetensors")[0]["z"]
        wrong = ~((got == want) | (np.isnan(got) & np.isnan(want)))
        places = np.nonzero(wrong)[0][:3]
        self.assertFalse(wrong.any(), f"seed {SEED}, type {to}, saturate {saturate}, {mode}: " + ", ".join(
            f"{x[i]} becomes {got[i]}, of ONNX Runtime {want[i]}" for i in places))

    def test_float8(self):
        for to, saturate in itertools.product((E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ), (0, 1)):
            with self.subTest(to=to, saturate=saturate):
                self.compare(inputs(), to, saturate)

    def test_powers_of_two(self):
        x = np.abs(inputs())  # ONNX leaves open what negative numbers become
        for saturate, mode in itertools.product((0, 1), ("up", "down", "nearest")):
            with self.subTest(saturate=saturate, mode=mode):
                # Without saturation ONNX Runtime makes a number of what is below the smallest, ONNX's table NaN.
                self.compare(x if saturate else x[(x >= 2.0**-127) | np.isnan(x)], E8M0, saturate, mode)

    def test_two_bits(self):
        for to in (UINT2, INT2):
            with self.subTest(to=to):
                # Whole numbers: ONNX Runtime rounds others, where all other casts to integers truncate.
                self.compare(np.array([0, 1] + ([-1, -2] if to == INT2 else [2, 3]), np.float32), to)


if __name__ == "__main__":
    unittest.main()
