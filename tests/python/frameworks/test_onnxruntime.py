"""ONNX Runtime on models of torch.onnx, with and without its optimizer."""
import cases
import onnx
import torch_models
from torch_onnx import export


class OnnxRuntimeTest(cases.FrameworkTest):
    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                path = export(model, inputs, self.folder / f"{name}.onnx")
                for level in ("none", "all"):
                    trace = self.record(str(path), inputs, path, optimization=level)
                    self.assertEqual(trace.mapping.unmapped, {})
                    self.check_clean(name, trace)

    def test_planted_fault(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                right = export(model, inputs, self.folder / "right.onnx")
                torch_models.plant(model, name)
                wrong = export(model, inputs, self.folder / "wrong.onnx")
                self.check_fault(self.record(str(wrong), inputs, right), changed_node(right, wrong))


def changed_node(right, wrong):
    """Outputs of the nodes that read the constant in which both models differ."""
    a, b = (onnx.load(str(path)).graph for path in (right, wrong))
    constants = {tensor.name: tensor.raw_data for tensor in a.initializer}
    changed = {tensor.name for tensor in b.initializer if constants.get(tensor.name) != tensor.raw_data}
    return [output for node in a.node if changed & set(node.input) for output in node.output]


if __name__ == "__main__":
    cases.main()
