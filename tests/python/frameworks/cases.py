"""What the tests of all recorders do: record the five models, judge the traces, plant a fault and find it.

A model's recorder and converter are the file's own; see FrameworkTest. Standard output: one line for each model; the end
is in the form of node's test runner, which tools/test reads.
"""
import logging
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import driftscope  # noqa: E402

MODELS = ("lenet5", "resnet20", "mobilenetv2", "lstm", "transformer")


class FrameworkTest(unittest.TestCase):
    """known: operators that this framework computes with less accuracy than their budget allows, by ONNX operator: (how many
    budgets at most, why). They are faults to verify, which is right about them, and not what these tests look for."""

    known = {}
    min_mapped_of = {}  # model → how many values must have been mapped, so that nothing passes empty

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def record(self, model, inputs, onnx, **options):
        options.setdefault("out", self.folder / "trace.safetensors")
        return driftscope.record(model, inputs, onnx=onnx, **options)

    def faults(self, table):
        """The faulty layers of TABLE without the known ones."""
        found = []
        for layer in table.layers:
            max_budget, _ = self.known.get(layer["op"], (0, ""))
            if layer["verdict"] == "fault" and not layer["budget_used"] <= max_budget:
                found.append(layer)
        return found

    def check_clean(self, name, trace, expected=None):
        """No fault, and enough of the model was mapped for that to mean something."""
        table = trace.verify()
        judged = [layer for layer in table.layers if layer["verdict"] in ("identical", "rounding", "suspect", "fault")]
        print(f"{name}: {trace.target}: {trace.mapping.summary()}; {len(judged)} layers judged, {table.verdict}", flush=True)
        self.assertEqual(self.faults(table), [], f"{table}\n{trace.mapping}")
        min_mapped = self.min_mapped_of.get(name, 5) if expected is None else expected
        self.assertGreaterEqual(len(trace.mapping.links), min_mapped, str(trace.mapping))
        self.assertGreaterEqual(len(judged), min_mapped, str(table))
        return table

    def check_fault(self, trace, planted):
        """The first fault is what was changed. PLANTED: part of the name of the layer recorded there, or several such
        parts, or a set of exact names of ONNX nodes and values (see changed_node)."""
        faults = self.faults(trace.verify())
        self.assertTrue(faults, f"no fault found in {planted}")
        first = faults[0]
        layer = next((link.layer for link in trace.mapping.links if link.value == first["output"]), "")
        names = [layer, first["output"], first["node"], *first.get("group", ())]
        if isinstance(planted, set):
            self.assertTrue(planted & set(names), f"planted in {sorted(planted)}, found in {names}")
        else:
            text = " ".join(names).replace("/", ".")
            parts = [planted] if isinstance(planted, str) else planted
            self.assertTrue(any(part.replace("/", ".") in text for part in parts), f"planted in {parts}, found in {names}")


def changed_node(right, wrong):
    """Names and outputs of the nodes that read the constant in which two ONNX files differ."""
    import onnx
    a, b = (onnx.load(str(path)).graph for path in (right, wrong))
    constants = {tensor.name: tensor.raw_data for tensor in a.initializer}
    changed = {tensor.name for tensor in b.initializer if constants.get(tensor.name) != tensor.raw_data}
    return {name for node in a.node if changed & set(node.input) for name in (node.name, *node.output)}


def main():
    started = time.monotonic()
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    bad = len(result.failures) + len(result.errors)
    for _, why in result.skipped:
        print(f"skipped: {why}")
    print(f"# pass {result.testsRun - bad - len(result.skipped)}\n# took {time.monotonic() - started:.0f} s")
    sys.exit(bad > 0 or not result.testsRun)
