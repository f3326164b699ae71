"""The lines that python -m driftscope.cluster takes, the names of files, and its exit codes where Dask is missing."""
import json
import os
import subprocess
import sys

from support import ROOT, FolderTest

from driftscope.cluster.identity import why_no_build
from driftscope.cluster.lines import LONGEST_LINE, Job, WrongLine, read
from driftscope.cluster.names import MOST_NAMES, why_bad_name, why_bad_names

HASH = "0123456789abcdef" * 4
SUBMIT = {"do": "submit", "id": 7, "key": HASH, "arguments": ["compare", "m.onnx"], "result": "r.json", "seconds": 600,
          "files": {"m.onnx": {"path": "/a/m.onnx", "sha256": HASH, "bytes": 3}}}


class LinesTest(FolderTest):
    def refuse(self, what, line):
        with self.assertRaisesRegex(WrongLine, what, msg=line):
            read(line if isinstance(line, bytes) else json.dumps(line).encode())

    def test_lines_that_are_right(self):
        what, job = read(json.dumps(SUBMIT).encode() + b"\n")
        self.assertEqual((what, job.id, job.key, job.arguments), ("submit", 7, HASH, ("compare", "m.onnx")))
        self.assertIsInstance(job, Job)
        self.assertEqual(job.work(), {"arguments": ["compare", "m.onnx"], "files": {"m.onnx": [HASH, 3]},
                                      "result": "r.json", "seconds": 600})
        self.assertEqual(read(b'{"do":"cancel","id":0}'), ("cancel", 0))
        self.assertEqual(read(b'{"do":"end"}\r\n'), ("end", None))

    def test_lines_that_are_wrong(self):
        self.refuse("as JSON", b"submit")
        self.refuse("as JSON", b'{"do": "\xff"}')
        self.refuse("as JSON", b"[" * 100_000)
        self.refuse("at most", b" " * (LONGEST_LINE + 1))
        self.refuse("an object", b"[1]")
        self.refuse("'do'", {"do": "dance"})
        self.refuse("'id'", {"do": "cancel"})
        self.refuse("'id'", {**SUBMIT, "id": True})
        self.refuse("'id'", {**SUBMIT, "id": -1})
        self.refuse("exactly", {**SUBMIT, "more": 1})
        self.refuse("exactly", {key: value for key, value in SUBMIT.items() if key != "seconds"})

    def test_submits_that_are_wrong(self):
        for what, change in [
                ("'key'", {"key": HASH[1:]}), ("'key'", {"key": "../" + HASH[3:]}), ("'key'", {"key": HASH + "\n"}),
                ("texts as 'arguments'", {"arguments": []}), ("texts as 'arguments'", {"arguments": ["a\0"]}),
                ("texts as 'arguments'", {"arguments": "compare"}),
                ("characters", {"arguments": ["a" * (1 << 20), "b"]}),
                ("'result'", {"result": 1}), ("'seconds'", {"seconds": 0}), ("'seconds'", {"seconds": True}),
                ("'seconds'", {"seconds": 1e9}), ("'seconds'", {"seconds": float("nan")}), ("'files'", {"files": []})]:
            self.refuse(what, {**SUBMIT, **change})
        good = SUBMIT["files"]["m.onnx"]
        for what, file in [("'sha256'", {**good, "sha256": HASH.upper()}), ("size", {**good, "bytes": -1}),
                           ("absolute", {**good, "path": "m.onnx"}), ("absolute", {**good, "path": "/\0"}),
                           ("nothing else", {**good, "mode": 1}), ("nothing else", [])]:
            self.refuse(what, {**SUBMIT, "files": {"m.onnx": file}})

    def test_names(self):
        for name in ("a", "a/b.bin", "..a", "a..", "ä/ö", "-x", "a b", "a\\b"):
            self.assertIsNone(why_bad_name(name), name)
        for name in ("", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "./a", "a\0", "\ud800",
                     "a" * 256, "a/" * 1500 + "a", None, 3):
            self.assertIsNotNone(why_bad_name(name), name)

    def test_names_that_do_not_fit_together(self):
        self.assertIsNone(why_bad_names({"a/b": 1, "a/c": 1, "ab": 1}, "out/r.json"))
        self.assertIn("below another", why_bad_names({"a": 1, "a/b": 1}, "r.json"))
        self.assertIn("below another", why_bad_names({"a": 1}, "a/r.json"))
        self.assertIn("also a file", why_bad_names({"r.json": 1}, "r.json"))
        self.assertIn("inside the job's folder", why_bad_names({}, "../r.json"))
        self.assertIn("at most", why_bad_names({f"f{i}": 1 for i in range(MOST_NAMES + 1)}, "r.json"))

    def test_builds(self):
        for text in ("0.2.0", "1dee943-dirty.54ce6dd5", "v0.1-5-g1dee943.54ce6dd5", "0.2.0 1dee943.54ce6dd5"):
            self.assertIsNone(why_no_build(text), text)
        for text in ("", "driftscope", "1dee943", "0.2.0 0.2.0 0.2.0", "x" * 1000):
            self.assertIsNotNone(why_no_build(text), text)

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, "-m", "driftscope.cluster", *arguments], stdin=subprocess.DEVNULL,
                              timeout=60, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def test_wrong_use(self):
        for arguments, text in [([], "ADDRESS"), (["tcp://127.0.0.1:1"], "--results"),
                                (["tcp://127.0.0.1:1", "--results", "/nowhere"], "no such folder"),
                                (["tcp://127.0.0.1:1", "--results", "/", "--patience", "nan"], "--patience"),
                                (["tcp://127.0.0.1:1", "--results", "/", "--build", "mine"], "expected a version")]:
            status, errors = self.run_it(*arguments)
            self.assertEqual(status, 2, errors)
            self.assertIn(text.lower(), errors.lower())

    def test_without_dask(self):
        (self.folder / "distributed.py").write_text("raise ImportError('none here')\n")
        os.environ["PYTHONPATH"] = str(self.folder)
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.path[:0] = sys.argv[1:3]; sys.argv[1:3] = []; import runpy;"
             " runpy.run_module('driftscope.cluster', run_name='__main__', alter_sys=True)", str(self.folder),
             str(ROOT / "python"), "tcp://127.0.0.1:1", "--results", str(self.folder)],
            stdin=subprocess.DEVNULL, timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("pip install 'driftscope[cluster]'", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
