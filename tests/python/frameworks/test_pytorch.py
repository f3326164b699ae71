"""PyTorch modules, converted by torch.onnx."""
import cases
import torch
import torch_models
from torch_onnx import export

from driftscope import BadInput


class PyTorchTest(cases.FrameworkTest):
    def test_models(self):
        for name in cases.MODELS:
            with self.subTest(name):
                model, inputs = torch_models.make(name)
                onnx = export(model, inputs, self.folder / f"{name}.onnx")
                trace = self.record(model, inputs, onnx)
                self.check_clean(name, trace)
                kept = trace.mapping.save(self.folder / f"{name}.json")
                # A batch norm's or a linear layer's own operator comes next to the module's name.
                planted = torch_models.plant(model, name)
                self.check_fault(self.record(model, inputs, onnx, mapping=kept), planted)
                self.check_fault(self.record(model, inputs, onnx), planted)

    def test_module_is_left_as_it_was(self):
        model, inputs = torch_models.make("lenet5")
        onnx = export(model, inputs, self.folder / "m.onnx")
        model.train()
        self.record(model, list(inputs.values()), onnx)
        self.assertTrue(model.training)
        self.assertFalse([part for part in model.modules() if part._forward_hooks or part._forward_pre_hooks])
        with self.assertRaises(BadInput):
            self.record(model, {"a": inputs["image"], "b": inputs["image"], "c": inputs["image"]}, onnx)

    def test_inplace_operators_do_not_change_what_was_recorded(self):
        model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(inplace=True), torch.nn.Linear(5, 4)).eval()
        inputs = {"input": torch.randn(3, 6)}
        trace = self.record(model, inputs, export(model, inputs, self.folder / "m.onnx"))
        self.check_clean("in place", trace, 3)


if __name__ == "__main__":
    cases.main()
