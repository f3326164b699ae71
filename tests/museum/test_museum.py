"""tools/museum: every exhibit can be written as a model, and a result is held against what the exhibit says."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "museum.d"))
import onnx_model  # noqa: E402
import page  # noqa: E402


def load():
    loader = importlib.machinery.SourceFileLoader("museum", str(ROOT / "tools" / "museum"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("museum", loader))
    loader.exec_module(module)
    return module


museum = load()
EXHIBIT = {"title": "T", "wrong": "pc/a", "right": "pc/b", "layer": "n", "cause": r"attribute\..*"}
GOOD = {"verdict": "identical"}


def bad(**more):
    return {"verdict": "fault", "layer": "n", "op": "Conv", "layer_verdict": "fault",
            "cause": {"id": "attribute.x", "text": "x"}, "pattern": None, **more}


class Exhibits(unittest.TestCase):
    def test_each_is_complete_and_its_model_is_always_the_same(self):
        chosen = museum.exhibits([])
        self.assertGreaterEqual(sum(page.shown(one) for one in chosen.values()), 12)
        for name, exhibit in chosen.items():
            with self.subTest(name):
                self.assertNotEqual(exhibit["wrong"], exhibit["right"])
                if "model" in exhibit:
                    model = onnx_model.model_bytes(exhibit["model"])
                    self.assertEqual(model, onnx_model.model_bytes(exhibit["model"]))
                    self.assertLess(len(model), 100_000)
                else:
                    self.assertTrue((ROOT / exhibit["file"]).is_file())
                if not page.shown(exhibit):
                    self.assertTrue(exhibit["note"])

    def test_values_are_those_of_the_generator(self):
        # splitmix64 from seed 0 begins with e220a8397b1dcdaf.
        self.assertEqual(next(onnx_model.random_words(0)), 0xE220A839)
        self.assertEqual(onnx_model.values_of("counting", "int64", 3), [0, 1, 2])
        self.assertTrue(all(-128 <= x < 128 for x in onnx_model.values_of("seed:1", "int8", 500)))
        self.assertTrue(all(0 <= x < 256 for x in onnx_model.values_of("seed:1", "uint8", 500)))
        with self.assertRaises(ValueError):
            onnx_model.values_of([1.0], "float32", 2)


class Results(unittest.TestCase):
    def test_a_fault_on_one_side_with_its_cause_is_what_it_says(self):
        self.assertEqual(museum.problem(EXHIBIT, bad(), GOOD), "")

    def test_everything_else_is_a_problem(self):
        for exhibit, wrong, right in (
                (EXHIBIT, GOOD, GOOD), (EXHIBIT, bad(layer="m"), GOOD), (EXHIBIT, bad(verdict="suspect"), GOOD),
                (EXHIBIT, bad(), bad()), (EXHIBIT, bad(cause=None), GOOD), (EXHIBIT, {"error": "no"}, GOOD),
                (EXHIBIT, bad(cause={"id": "input.x", "text": ""}), GOOD), ({**EXHIBIT, "cause": None}, bad(), GOOD),
                ({**EXHIBIT, "reproduced": False}, bad(), GOOD)):
            self.assertTrue(museum.problem(exhibit, wrong, right))
        self.assertEqual(museum.problem({**EXHIBIT, "reproduced": False, "note": ""}, GOOD, GOOD), "")
        self.assertEqual(museum.problem({**EXHIBIT, "cause": None}, bad(cause=None), GOOD), "")

    def test_the_page_counts_and_names_what_is_not_shown(self):
        exhibits = {"a": EXHIBIT, "b": EXHIBIT, "c": {**EXHIBIT, "reproduced": False, "note": "Tried."}}
        results = {"a": {"wrong": bad(), "right": GOOD, "problem": ""}, "b": {"failed": "not finished after 1 s"},
                   "c": {"wrong": GOOD, "right": GOOD, "problem": ""}}
        text = "\n".join(page.lines(exhibits, results))
        self.assertIn("1 of 2 exhibits show what they say.", text)
        self.assertIn("`attribute.x`: x", text)
        self.assertIn("**not shown** | not finished after 1 s", text)
        self.assertIn("- T: Tried. `pc/a` is right here.", text)


if __name__ == "__main__":
    unittest.main()
