"""Operators of ai.onnx.ml: generated nodes, ONNX Runtime's CPU kernels judged by `verify`, and `strict` beside them.

    DRIFTSCOPE=build/native/driftscope PYTHON tests/python/frameworks/test_ml_operators.py
    … --cases 200 --seed 7 --only tree_classifier,scaler

As test_contrib_operators.py, with the cases of ml_cases.py.
"""
import argparse
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import contrib_cases  # noqa: E402
import ml_cases  # noqa: E402
import test_contrib_operators as contrib  # noqa: E402

contrib_cases.CASES = ml_cases.CASES
contrib.DOMAINS = {ml_cases.ML: 5}
contrib.REFUSED_WITH_ONE_SEED = ("tree_ensemble",)  # of another opset than the others
MlOperatorsTest = contrib.ContribOperatorsTest
MlOperatorsTest.__name__ = "MlOperatorsTest"

if __name__ == "__main__":
    contrib.main(__doc__)
