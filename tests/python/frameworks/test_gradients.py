"""Gradients of the shipped models beside PyTorch's autograd in double, run by ONNX Runtime and by the program."""
import subprocess

import cases
import numpy as np
import onnx
import onnxruntime
import torch
import torch_graph

from driftscope.program import find_program

MODELS = cases.ROOT / "assets/models"
NAMES = ["lenet1", "lenet5", "resnet20", "mobilenetv2-small", "resnet-small", "inception-small", "vgg16", "textcnn",
         "lstm", "gru", "transformer", "transformer-opset11", "unet"]


def inputs_of(model, batch, seed):
    generator = np.random.default_rng(seed)
    inputs = {}
    for value in model.graph.input:
        shape = [size.dim_value or batch for size in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            inputs[value.name] = generator.integers(1, 400, shape)
        else:
            inputs[value.name] = generator.standard_normal(shape, np.float32)
    return inputs


class GradientsTest(cases.FrameworkTest):
    def test_shipped_models(self):
        for name in NAMES:
            with self.subTest(name):
                error = self.error(name)
                print(f"{name}: relative error {error:.2g}")
                self.assertLess(error, 2e-5)

    def error(self, name):
        path = MODELS / f"{name}.onnx"
        of = ["--of", "logits"] if name == "unet" else []
        made = self.folder / f"{name}.gradient.onnx"
        subprocess.run([find_program(), "gradient", path, *of, "-o", made], check=True, stdout=subprocess.DEVNULL)
        onnx.checker.check_model(made, full_check=True)
        model = onnx.load(path)
        inputs = inputs_of(model, 2, 42)
        session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
        loss_name, gradient_name = [output.name for output in session.get_outputs()]
        wrt = gradient_name.removeprefix("grad/")
        labels = np.array([0, 1])
        given = inputs if of else {**inputs, "label": labels}
        loss, gradient = session.run(None, given)
        values = torch_graph.run(path, inputs, wrt)
        answer = values[model.graph.output[0].name]
        if of:
            wanted = answer.sum()
        else:
            # The shipped classifiers end in logits or in Softmax; its logarithm is exact enough in double.
            ends_in_softmax = model.graph.node[-1].op_type == "Softmax"
            rows = answer.log() if ends_in_softmax else torch.log_softmax(answer, 1)
            wanted = torch.nn.functional.nll_loss(rows, torch.from_numpy(labels), reduction="sum")
        wanted.backward()
        want = values[wrt].grad.numpy()
        self.assertLess(abs(loss - wanted.item()), 1e-4 * max(1.0, abs(wanted.item())))
        self.assertEqual(gradient.shape, want.shape)
        return np.linalg.norm(gradient - want) / np.linalg.norm(want)


if __name__ == "__main__":
    cases.main()
