"""MXNet's Gluon, converted by its own exporter."""
from unittest import mock

import cases
import mxnet
import mxnet_models
import numpy as np
import onnx

from driftscope import BadInput


def export(block, inputs, folder, name):
    block.export(str(folder / name), epoch=0)
    path = folder / f"{name}.onnx"
    # The exporter writes operators as of opset 13 and stamps them with the newest that onnx knows.
    onnx.checker.DEFAULT_CONTEXT.opset_imports = {"": 13}
    with mock.patch("onnx.defs.onnx_opset_version", lambda: 13):
        mxnet.onnx.export_model(str(folder / f"{name}-symbol.json"), str(folder / f"{name}-0000.params"),
                                [value.shape for value in inputs.values()], np.float32, str(path))
    return path


class MxnetTest(cases.FrameworkTest):
    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                block, inputs = mxnet_models.make(name)
                path = export(block, inputs, self.folder, name)
                trace = self.record(block, inputs, path)
                self.check_clean(name, trace)
                files = self.record(str(self.folder / f"{name}-symbol.json"), inputs, path)
                self.assertEqual(len(files.mapping.links), len(trace.mapping.links))
                planted = mxnet_models.plant(block, name)
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(block, inputs, path, mapping=mapping), planted)

    def test_block_that_was_never_called(self):
        block, inputs = mxnet_models.make("lenet5")
        path = export(block, inputs, self.folder, "m")
        with self.assertRaisesRegex(BadInput, "hybridized and called once"):
            self.record(mxnet_models.lenet5(), inputs, path)
        with self.assertRaisesRegex(BadInput, "its parameters are not in"):
            self.record(str(self.folder / "other-symbol.json"), inputs, path)


if __name__ == "__main__":
    cases.main()
