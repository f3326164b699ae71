"""ONNX Runtime on models of torch.onnx, with and without its optimizer."""
import cases
import torch_models
from torch_onnx import export


class OnnxRuntimeTest(cases.FrameworkTest):
    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                path = export(model, inputs, self.folder / f"{name}.onnx", fold=True)
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
                self.check_fault(self.record(str(wrong), inputs, right), cases.changed_node(right, wrong))


if __name__ == "__main__":
    cases.main()
