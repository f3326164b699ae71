"""OpenVINO on models of torch.onnx."""
import cases
import torch_models
from torch_onnx import export


class OpenVinoTest(cases.FrameworkTest):
    known = {"Div": (2.5, "divides by a constant by multiplying with its reciprocal: two roundings in place of one")}

    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                path = export(model, inputs, self.folder / f"{name}.onnx")
                trace = self.record(str(path), inputs, path, framework="openvino")
                self.check_clean(name, trace)
                torch_models.plant(model, name)
                wrong = export(model, inputs, self.folder / "wrong.onnx")
                planted = cases.changed_node(path, wrong)
                for mapping in (trace.mapping, None):
                    self.check_fault(self.record(str(wrong), inputs, path, framework="openvino", mapping=mapping), planted)


if __name__ == "__main__":
    cases.main()
