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

    def test_operators(self):
        """The gradients with respect to all inputs of single nodes."""
        generator = np.random.default_rng(5)

        def drawn(*shape, low=-1.0, high=1.0):
            return generator.uniform(low, high, shape).astype(np.float32)

        zeros = drawn(4, 5)
        zeros[0, 1] = zeros[1, 2] = zeros[1, 4] = 0
        cases_of = [("ReduceProd", [zeros], {"axes": [1]}), ("ReduceProd", [drawn(2, 3, 4)], {"axes": [0, 2]}),
                    ("Det", [drawn(3, 4, 4)], {})]  # PyTorch gives 0 for singular matrices of any rank
        for p in (1, 2, 3):
            cases_of.append(("LpPool", [drawn(1, 2, 6, 7, low=0.1)], {"kernel_shape": [2, 3], "strides": [2, 1], "p": p}))
        grid = drawn(2, 4, 5, 2, low=-1.8, high=1.8)
        grid[0, 0, :3] = [[-1, -1], [1, 1], [-1, 0.3]]  # on the corners and on an edge
        for mode in ("bilinear", "nearest"):
            for padding in ("zeros", "border", "reflection"):
                for align in (0, 1):
                    cases_of.append(("GridSample", [drawn(2, 3, 4, 5), grid],
                                     {"mode": mode, "padding_mode": padding, "align_corners": align}))
        for op, given, attributes in cases_of:
            with self.subTest(op, **attributes):
                self.assertLess(self.operator_error(op, given, attributes, generator), 2e-6)

    def test_if(self):
        """The weight is read inside a branch and outside; ONNX Runtime takes the branch that ran."""
        helper, kind = onnx.helper, onnx.TensorProto.FLOAT
        x = np.random.default_rng(6).standard_normal((2, 3), np.float32)
        w = np.array([0.7, -1.2, 0.4], np.float32)

        def branch(name, *nodes):
            made = [helper.make_node(op, inputs, [output]) for op, inputs, output in nodes]
            return helper.make_graph(made, name, [], [helper.make_tensor_value_info(nodes[-1][2], kind, [2, 3])])

        then = branch("then", ("Mul", ["x", "w"], "xw"), ("Exp", ["xw"], "e"))
        other = branch("else", ("Tanh", ["x"], "t"))
        graph = helper.make_graph(
            [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
             helper.make_node("Mul", ["y", "w"], ["z"])], "if",
            [helper.make_tensor_value_info("x", kind, [2, 3]),
             helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])],
            [helper.make_tensor_value_info("z", kind, [2, 3])], [onnx.numpy_helper.from_array(w, "w")])
        path, made = self.folder / "if.onnx", self.folder / "if.gradient.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        subprocess.run([find_program(), "gradient", path, "--of", "z", "--wrt", "x", "--wrt", "w", "-o", made],
                       check=True, stdout=subprocess.DEVNULL)
        onnx.checker.check_model(made, full_check=True)
        session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
        for condition in (True, False):
            got = session.run(["grad/x", "grad/w"], {"x": x, "c": np.array(condition)})
            leaves = [torch.tensor(value.astype(np.float64), requires_grad=True) for value in (x, w)]
            y = (leaves[0] * leaves[1]).exp() if condition else leaves[0].tanh()
            (y * leaves[1]).sum().backward()
            for gradient, leaf in zip(got, leaves):
                want = leaf.grad.numpy()
                self.assertLess(np.abs(gradient - want).max(), 1e-6 * np.abs(want).max())

    def operator_error(self, op, given, attributes, generator):
        names = [f"x{i}" for i in range(len(given))]
        inputs = dict(zip(names, given))
        helper = onnx.helper
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], **attributes)], op,
            [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, x.shape) for name, x in inputs.items()],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)])
        plain = self.folder / "plain.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), plain)
        shape = torch_graph.run(plain, inputs)["y"].shape
        weights = generator.uniform(0.5, 1.5, shape).astype(np.float32)
        graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
        graph.node.append(helper.make_node("Mul", ["y", "w"], ["weighted"]))
        graph.output[0].name = "weighted"
        path, made = self.folder / "weighted.onnx", self.folder / "gradient.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        wrt = [word for name in names for word in ("--wrt", name)]
        subprocess.run([find_program(), "gradient", path, "--of", "weighted", *wrt, "-o", made], check=True,
                       stdout=subprocess.DEVNULL)
        onnx.checker.check_model(made, full_check=True)
        session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
        got = session.run([f"grad/{name}" for name in names], inputs)
        errors = []
        for name, gradient in zip(names, got):
            values = torch_graph.run(path, inputs, name)
            values["weighted"].sum().backward()
            want = values[name].grad.numpy()
            self.assertEqual(gradient.shape, want.shape)
            errors.append(np.abs(gradient - want).max() / max(1.0, np.abs(want).max()))
        return max(errors)

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
