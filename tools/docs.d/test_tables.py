#!/usr/bin/env python3
"""The programs that make tables of the documents, on small results."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent


def case(name, result, operators=("Add",), reason=""):
    return {"family": "node", "name": name, "result": result, "operators": list(operators), "reason": reason}


def target(name, *cases, **more):
    def count(result):
        return sum(one["result"] == result for one in cases)
    return {"target": name, "cases": list(cases), "passed": count("passed"), "failed": count("failed"),
            "not_supported": count("not supported")} | more


PASSED, MISSING = case("test_add", "passed"), case("test_add", "not supported")
FAILED = case("test_add", "failed", reason="off\nby 1")
SUM = case("test_sum", "passed", ["Sum", "Constant"])


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def run_tool(self, tool, *files, **more):
        environment = os.environ | {"OUT": str(self.out)}
        return subprocess.run([TOOLS / tool, *files], env=environment, capture_output=True, text=True, **more)

    def file(self, name, document):
        (self.out / name).write_text(json.dumps(document))
        return self.out / name

    def conformance(self, *targets):
        done = self.run_tool("conformance_table",
                             self.file("a.json", {"format": "driftscope-conformance-1", "targets": targets}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.out / "results.md").read_text(), (self.out / "counts.md").read_text()

    def test_both_documents_count_the_same_run(self):
        results, counts = self.conformance(target("pc/strict", PASSED, SUM), target("pc/ort", FAILED, MISSING))
        self.assertIn("| `pc/ort` | 0 | 1 | 1 |", results)
        self.assertIn("Of the 2 cases of ONNX 1.12 `strict` passes 2 on the PC.", counts)
        self.assertIn("passes 0 on the PC, has no kernel for or cannot be given 1, and answers 1 differently", counts)

    def test_operators_and_what_differs(self):
        results, _ = self.conformance(target("pc/strict", PASSED, SUM), target("pc/ort", FAILED, MISSING))
        self.assertIn("| operator | `pc/strict` | `pc/ort` |", results)
        self.assertIn("| Add | 1/1 | **0/1** |", results)
        self.assertIn("| Sum | 1/1 | – |", results)
        self.assertIn("### `pc/ort`\n\n- node/test_add: off by 1", results)

    def test_a_host_with_the_same_results_has_no_column(self):
        results, counts = self.conformance(
            target("pc/strict", PASSED, SUM), target("chrome/strict", PASSED, SUM, same_bits={"compared": 2, "same": 2}),
            target("pc/ort", PASSED, SUM), target("chrome/ort", FAILED, SUM))
        self.assertIn("| operator | `pc/strict` | `pc/ort` | `chrome/ort` |", results)
        self.assertIn("| `chrome/strict` | 2 | 0 | 0 |", results)
        self.assertIn("`strict` passes 2 on the PC and in Chromium, with the same bits everywhere.", counts)

    def test_strict_with_other_bits_or_counts_elsewhere(self):
        ort = target("pc/ort", PASSED, SUM)
        other = target("chrome/strict", PASSED, SUM, same_bits={"compared": 2, "same": 1})
        _, counts = self.conformance(target("pc/strict", PASSED, SUM), other, ort)
        self.assertIn("not with the same bits everywhere", counts)
        _, counts = self.conformance(target("pc/strict", PASSED, SUM), target("safari/strict", PASSED, FAILED), ort)
        self.assertIn("`strict` passes 2 on the PC and 1 in WebKitGTK.", counts)

    def test_results_of_another_format_are_refused(self):
        done = self.run_tool("conformance_table", self.file("a.json", {"format": "driftscope-compare-1"}))
        self.assertEqual(done.returncode, 1)
        self.assertIn("format is 'driftscope-compare-1', expected 'driftscope-conformance-1'", done.stderr)

    def test_verdicts_of_models(self):
        def side(name, verdict, *layers):
            return {"target": name, "verify": {"verdict": verdict, "layers": list(layers)}}
        fault = {"verdict": "fault", "node": "conv1", "op": "Conv"}
        files = [self.file(f"{model}.json", {"format": "driftscope-compare-1", "left": side("pc/strict", "identical"),
                                             "right": [side("chrome/ort", "fault", fault), failed]})
                 for model, failed in (("lenet1", {"target": "chrome/webnn", "error": "webnn: no WebNN here"}),
                                       ("lenet5", side("chrome/webnn", "rounding")))]
        # A model's results may come in several files.
        files.append(self.file("lenet1@pc-fast.json", {"format": "driftscope-compare-1", "right": [
            side("pc/fast", "suspect", {"verdict": "suspect", "node": "fc", "op": "Gemm"})],
            "left": side("pc/strict", "identical")}))
        done = self.run_tool("verdict_table", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = (self.out / "verdicts.md").read_text()
        for line in ("|  | lenet1 | lenet5 |", "| `pc/strict` | = | = |", "| `chrome/ort` | **✗** | **✗** |",
                     "| `chrome/webnn` | – | ~ |", "| `pc/fast` | **?** | – |",
                     "- lenet1, lenet5 on `chrome/ort`: fault at conv1 (Conv)",
                     "- lenet1 on `chrome/webnn`: did not run: webnn: no WebNN here"):
            self.assertIn(f"{line}\n", table)

    def test_budgets_of_models(self):
        def layer(op, seen, budget, metric="ulp"):
            return {"op": op, "wpt": {"metric": metric, "budget": budget, "seen": seen, "within": seen <= budget}}
        def verdict(name, *layers):
            return self.file(name, {"format": "driftscope-verify-1", "verdict": "rounding", "layers": layers})
        done = self.run_tool(
            "budget_table",
            verdict("a.json", layer("Conv", 1000.0, 500.0), layer("Tanh", 40.0, 4.0), {"op": "If"}),
            verdict("b.json", layer("Relu", 0.0, 0.0), layer("Softmax", 0.5, 0.25, "absolute")),
            verdict("c.json", layer("Conv", 1000.0, 50.0), layer("Sub", 3.0, 0.0)), verdict("d.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (self.out / "models.md").read_text().splitlines()[2:]
        self.assertEqual(rows, [
            "| a | 2 | 2 | Tanh: 40 of 4 ULP | rounding |", "| b | 2 | 1 | Softmax: 0.5 of 0.25 | rounding |",
            "| c | 2 | 2 | Sub: 3 of 0 ULP | rounding |", "| d | 0 | 0 | – | rounding |"])

    def test_the_excerpt_of_the_demo(self):
        shown = self.run_tool("demo_table", input="""
digits#121

layer  op      max abs  verdict                           pc/strict  chrome/strict  safari/strict  chrome/webgl
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
conv1  Conv   9.54e-07  ~ rounding chrome/webgl             3.13 µs        20.0 µs        30.0 µs       1.52 ms
pool1  Pool          0  ~ rounding, inherited pc/a,pc/b     0.61 µs              –              –        362 µs

3 targets agree with pc/strict
Took 9 s.
""").stdout
        self.assertEqual(shown, """\
    layer  op     max abs  verdict                pc/strict  chrome/strict  chrome/webgl
    ────────────────────────────────────────────────────────────────────────────────────
    conv1  Conv  9.54e-07  ~ rounding               3.13 µs        20.0 µs       1.52 ms
    pool1  Pool         0  ~ rounding, inherited    0.61 µs              –        362 µs

In one sentence:

    3 targets agree with pc/strict
""")

    def test_another_output_than_that_of_the_demo(self):
        done = self.run_tool("demo_table", input="Building\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no table of layers", done.stderr)


if __name__ == "__main__":
    unittest.main()
