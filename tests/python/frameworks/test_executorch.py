"""ExecuTorch programs by executorch.exir, on its portable kernels and on XNNPACK."""
import contextlib
import io
import os

import cases
import torch
import torch_models
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from torch_onnx import export

from driftscope import BadInput


def to_pte(model, inputs, path, partitioners=()):
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing), contextlib.redirect_stdout(io.StringIO()):
        program = torch.export.export(model, tuple(inputs.values()))
        options = EdgeCompileConfig(_check_ir_validity=False)
        edge = (to_edge_transform_and_lower(program, partitioner=list(partitioners), compile_config=options) if partitioners
                else to_edge(program, compile_config=options))
        path.write_bytes(edge.to_executorch().buffer)
    return str(path)


class ExecuTorchTest(cases.FrameworkTest):
    known = {"Div": (2.5, "divides by a constant by multiplying with its reciprocal: two roundings in place of one")}

    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                onnx = export(model, inputs, self.folder / f"{name}.onnx")
                trace = self.record(to_pte(model, inputs, self.folder / "right.pte"), inputs, onnx)
                self.check_clean(name, trace)
                torch_models.plant(model, name)
                planted = cases.changed_node(onnx, export(model, inputs, self.folder / "wrong.onnx"))
                wrong = to_pte(model, inputs, self.folder / "wrong.pte")
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(wrong, inputs, onnx, mapping=mapping), planted)

    def test_delegate_is_seen_through_its_results(self):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        model, inputs = torch_models.make("lenet5")
        onnx = export(model, inputs, self.folder / "m.onnx")
        trace = self.record(to_pte(model, inputs, self.folder / "m.pte", [XnnpackPartitioner()]), inputs, onnx)
        self.check_clean("lenet5, XNNPACK", trace, 1)

    def test_bad_calls(self):
        model, inputs = torch_models.make("lenet5")
        onnx, pte = export(model, inputs, self.folder / "m.onnx"), to_pte(model, inputs, self.folder / "m.pte")
        with self.assertRaisesRegex(BadInput, r"has the methods \['forward'\], not 'encode'"):
            self.record(pte, inputs, onnx, method="encode")
        with self.assertRaisesRegex(BadInput, "forward takes 1 inputs, got 2"):
            self.record(pte, [inputs["image"]] * 2, onnx)


if __name__ == "__main__":
    cases.main()
