"""FGSM, BIM and Boundary beside Foolbox 3. It differentiates in double: in float32 its gradient of a sure answer, p − 1, is a
multiple of 2⁻²⁴, and its sign an accident of rounding (docs/attacks.md)."""
import attack_cases
import cases
import foolbox
import numpy as np
import onnx
import torch
import torch_graph
from onnx import numpy_helper


class Network(torch.nn.Module):
    """Pixels in [0, 1] → logits."""

    def __init__(self, name, dtype):
        super().__init__()
        self.graph = onnx.load(attack_cases.ASSETS / f"models/{name}.onnx").graph
        self.preprocess = attack_cases.preprocess_of(name)
        self.dtype = dtype
        self.constants = {}
        for value in self.graph.initializer:
            tensor = torch.from_numpy(np.array(numpy_helper.to_array(value)))
            self.constants[value.name] = tensor.to(dtype) if tensor.is_floating_point() else tensor

    def forward(self, pixels):
        def channels(key):
            return torch.tensor(np.float32(self.preprocess[key]), dtype=self.dtype).reshape(1, -1, 1, 1)

        values = dict(self.constants)
        scale = float(np.float32(255) * np.float32(self.preprocess["scale"]))
        values[self.graph.input[0].name] = (pixels.to(self.dtype) * scale - channels("mean")) / channels("std")
        for node in self.graph.node:
            if node.op_type == "Softmax":
                return values[node.input[0]]
            operands = [values[name] for name in node.input]
            values[node.output[0]] = torch_graph.OPERATORS[node.op_type](*operands, **torch_graph._attributes(node))
        return values[self.graph.node[-1].output[0]]


def answers(network, pictures):
    with torch.no_grad():
        return torch.cat([network(part) for part in torch.as_tensor(pictures).split(64)])


class FoolboxTest(cases.FrameworkTest):
    def compare(self, name, dataset, method, epsilon, attack):
        """(samples, fooled here, fooled there, elements that differ); fails where an answer differs beyond rounding."""
        document, originals, ours = attack_cases.attacked(self.folder, name, dataset, method, "--epsilon", str(epsilon),
                                                          "--samples", "500", "--all-steps")
        network = Network(name, torch.float64).eval()
        model = foolbox.PyTorchModel(network, bounds=(0, 1), device="cpu")
        labels = answers(network, originals).argmax(1)
        theirs = []
        for pictures, right in zip(torch.from_numpy(originals).split(64), labels.split(64)):
            theirs.append(attack(model, pictures, right, epsilons=epsilon)[1])
        theirs = torch.cat(theirs).float()
        there = answers(network, theirs)
        here = answers(network, ours)
        fooled = [scores.argmax(1) != labels for scores in (here, there)]
        self.assertEqual(int(fooled[0].sum()), document["results"][0]["successes"])
        elements = int((np.abs(theirs.numpy() - ours) > 1e-6).sum())
        for i in np.nonzero((fooled[0] != fooled[1]).numpy())[0]:
            margins = [float(np.diff(scores[i].topk(2).values)[0]) for scores in (here, there)]
            self.assertLess(min(abs(margin) for margin in margins), 1e-3, f"picture {i}: {margins}")
        print(f"{name} {method} {epsilon}: {len(ours)} pictures, {int(fooled[0].sum())} fooled here, "
              f"{int(fooled[1].sum())} in Foolbox, {elements} of {ours.size} elements differ", flush=True)
        self.assertLess(elements, 1e-3 * ours.size)

    def test_fgsm(self):
        for name, dataset, epsilon in (("lenet5", attack_cases.DIGITS, 0.1), ("resnet20", attack_cases.PICTURES, 0.02)):
            with self.subTest(name):
                self.compare(name, dataset, "fgsm", epsilon, foolbox.attacks.FGSM())

    def test_bim(self):
        self.compare("lenet5", attack_cases.DIGITS, "bim", 0.1, foolbox.attacks.LinfBasicIterativeAttack())

    def test_boundary(self):
        """The median distance lies within the 95 % bootstrap interval of Foolbox's over ten seeds."""
        steps, samples = 300, 12
        network = Network("lenet5", torch.float32).eval()
        model = foolbox.PyTorchModel(network, bounds=(0, 1), device="cpu")
        ours, theirs = [], []
        for seed in range(10):
            _, originals, kept = attack_cases.attacked(self.folder, "lenet5", attack_cases.DIGITS, "boundary", "--steps",
                                                       str(steps), "--samples", str(samples), "--seed", str(seed))
            pictures = torch.from_numpy(originals)
            torch.manual_seed(seed)
            np.random.seed(seed)
            labels = answers(network, originals).argmax(1)
            found = foolbox.attacks.BoundaryAttack(steps=steps)(model, pictures, labels, epsilons=None)[1].numpy()
            for all_distances, results in ((ours, kept), (theirs, found)):
                all_distances.extend(np.linalg.norm((results - originals).reshape(samples, -1), axis=1))
        generator = np.random.default_rng(1)
        drawn = generator.choice(np.array(theirs), (10000, len(theirs)))
        low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
        print(f"lenet5 boundary: median L2 {np.median(ours):.3f} here, {np.median(theirs):.3f} in Foolbox, "
              f"95 % [{low:.3f}, {high:.3f}], {len(ours)} walks of {steps} steps", flush=True)
        self.assertLessEqual(low, np.median(ours))
        self.assertLessEqual(np.median(ours), high)


if __name__ == "__main__":
    torch.set_num_threads(1)
    cases.main()
