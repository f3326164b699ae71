#!/usr/bin/python3
"""Runs the unit tests of the Python package with the program of this build: tests/python/run_unit.py [NAME…]
With --folder FOLDER the tests of that folder beside it, as run_cluster does.

Closes with the counts in the form of node's test runner, which tools/test sums up. 77: skipped, NumPy is missing.
"""
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
folder = os.environ.get("DRIFTSCOPE_BUILD"), os.environ.get("DRIFTSCOPE_PRESET")
if all(folder) and "DRIFTSCOPE" not in os.environ:
    os.environ["DRIFTSCOPE"] = str(Path(*folder, "driftscope"))
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: no NumPy for /usr/bin/python3: apt-get install python3-numpy")
    sys.exit(77)
names, folder = sys.argv[1:], HERE / "unit"
if names[:1] == ["--folder"]:
    names, folder = names[2:], HERE / names[1]
sys.path.insert(0, str(folder))
loader = unittest.TestLoader()
tests = loader.loadTestsFromNames(names) if names else loader.discover(str(folder))
result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(tests)
skipped = len(result.skipped)
print(f"# pass {result.testsRun - len(result.failures) - len(result.errors) - skipped}\n# skipped {skipped}")
sys.exit(not result.wasSuccessful() or not result.testsRun)
