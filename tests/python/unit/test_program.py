"""Where the program is looked for, and what its failures become."""
import os
import subprocess
import sys
import unittest
from unittest import mock

from support import ROOT, FolderTest

import driftscope
from driftscope import BadInput, FrameworkMissing, ProgramFailed, ProgramMissing, program, recorders

GOOD = 'test "$1" = --version && echo "driftscope 99.1.0" && exit\n'


class ProgramTest(FolderTest):
    def use(self, text):
        os.environ["DRIFTSCOPE"] = str(self.script(text))

    def test_environment_comes_first(self):
        self.use(GOOD)
        self.assertEqual(program.program(), [os.environ["DRIFTSCOPE"]])

    def test_environment_that_names_nothing(self):
        os.environ["DRIFTSCOPE"] = "/nowhere/driftscope"
        with self.assertRaisesRegex(ProgramMissing, "DRIFTSCOPE names /nowhere/driftscope"):
            program.program()

    def test_beside_the_package_then_the_path(self):
        os.environ.pop("DRIFTSCOPE", None)
        on_path = self.script(GOOD)
        os.environ["PATH"] = f"{self.folder}:{os.environ['PATH']}"
        with mock.patch.object(program, "_beside", lambda: [self.folder / "absent"]):
            self.assertEqual(program.program(), [str(on_path)])
        beside = self.script(GOOD, "beside")
        with mock.patch.object(program, "_beside", lambda: [beside]):
            self.assertEqual(program.program(), [str(beside)])

    def test_nowhere(self):
        os.environ.pop("DRIFTSCOPE", None)
        os.environ["PATH"] = str(self.folder)
        with mock.patch.object(program, "_beside", lambda: []), self.assertRaisesRegex(ProgramMissing, "on the PATH; install the wheel"):
            program.program()

    def test_the_console_script_does_not_find_itself(self):
        os.environ.pop("DRIFTSCOPE", None)
        os.environ["PATH"] = f"{self.folder}:/usr/bin:/bin"
        self.script("# from driftscope.__main__ import main\nexit 7")
        with mock.patch.object(program, "_beside", lambda: []), self.assertRaisesRegex(ProgramMissing, "on the PATH"):
            program.program()

    def test_as_webassembly_where_there_is_no_other(self):
        os.environ.pop("DRIFTSCOPE", None)
        os.environ["PATH"] = "/nowhere"
        package = self.folder / "driftscope"
        script = package / "program_for_node" / "program" / "bin.mjs"
        script.parent.mkdir(parents=True)
        script.write_text("")
        node = self.script(GOOD.replace("$1", "$2"), "node")
        os.environ["DRIFTSCOPE_NODE"] = str(node)
        with mock.patch.object(program, "_beside", lambda: []), \
                mock.patch.object(program, "__file__", str(package / "program.py")):
            self.assertEqual(program.program(), [str(node), str(script.resolve())])
            self.assertEqual(program.reference_target(), "node/strict")
            os.environ["DRIFTSCOPE_NODE"] = "/nowhere/node"
            with self.assertRaisesRegex(ProgramMissing, "DRIFTSCOPE_NODE names /nowhere/node"):
                program.program()

    def test_too_old_or_another_program(self):
        self.use('echo "driftscope 0.0.9"')
        with self.assertRaisesRegex(ProgramMissing, "version 0.0.9, too old .* needs 0.1.0"):
            program.program()
        self.use('echo "hello"')
        os.utime(os.environ["DRIFTSCOPE"], ns=(1, 1))
        with self.assertRaisesRegex(ProgramMissing, "is not Driftscope"):
            program.program()

    def test_its_own_message_is_the_error(self):
        self.use(GOOD + 'echo "driftscope: model.onnx: it is bad" >&2; exit 2')
        with self.assertRaisesRegex(ProgramFailed, "^driftscope: model.onnx: it is bad$") as caught:
            program.call(["run"])
        self.assertEqual(caught.exception.status, 2)

    def test_one_is_a_fault_not_a_failure(self):
        self.use(GOOD + 'echo "{\\"format\\": \\"f-1\\"}"; exit 1')
        self.assertEqual(program.call_json(["verify"], "f-1"), {"format": "f-1"})

    def test_other_formats_are_rejected(self):
        self.use(GOOD + 'echo "{\\"format\\": \\"f-2\\"}"')
        with self.assertRaisesRegex(ProgramMissing, "wrote the format 'f-2', expected 'f-1'"):
            program.call_json(["verify"], "f-1")
        self.use(GOOD + "echo no JSON")
        self.assertRaises(ProgramMissing, program.call_json, ["verify"], "f-1")

    def test_killed_and_slow(self):
        self.use(GOOD + "kill -SEGV $$")
        with self.assertRaisesRegex(ProgramFailed, "ended by SIGSEGV"):
            program.call(["run"])
        self.use(GOOD + "exec sleep 20")
        with self.assertRaisesRegex(ProgramFailed, "did not end within 0.3 s"):
            program.call(["run"], timeout=0.3)

    def test_files_that_are_not_there(self):
        with self.assertRaisesRegex(BadInput, "the ONNX model no.onnx: no such file"):
            driftscope.verify("no.onnx", "no.safetensors")


class RecordersTest(FolderTest):
    def test_every_recorder_keeps_the_contract_and_imports_no_framework(self):
        code = ("import sys; from driftscope import recorders\n"
                "for n in recorders.names():\n"
                "    m = recorders.load(n); assert m.TITLE and m.INSTALL and m.__doc__, n\n"
                "    assert callable(m.record) and not m.accepts(3) and not m.accepts('x.txt'), n\n"
                "bad = {'torch', 'tensorflow', 'keras', 'jax', 'onnx', 'onnxruntime', 'openvino', 'mxnet'} & set(sys.modules)\n"
                "assert not bad, bad; print(len(recorders.names()))")
        done = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(int(done.stdout), 7)

    def test_files_are_told_apart(self):
        for name, recorder in {"a.tflite": "tflite", "a.onnx": "onnxruntime", "a.xml": "openvino"}.items():
            self.assertTrue(recorders.recorder_for(name).__name__.endswith(recorder), name)

    def test_what_no_recorder_takes(self):
        with self.assertRaisesRegex(BadInput, "no recorder takes a builtins.int; name one: framework= one of"):
            recorders.recorder_for(3)
        with self.assertRaisesRegex(BadInput, "no recorder 'lasagne'; there are"):
            recorders.recorder_for(3, "lasagne")

    def test_missing_framework_names_the_command(self):
        model = ROOT / "assets" / "models" / "lenet5.onnx"
        with mock.patch.dict(sys.modules, {"onnx": None, "onnxruntime": None}):
            with self.assertRaisesRegex(FrameworkMissing, "ONNX Runtime cannot be imported.*pip install onnxruntime onnx"):
                driftscope.record(model, [0.0], onnx=model)


if __name__ == "__main__":
    unittest.main()
