"""Single-pixel beside Foolbox 2.4.0. LeNet-5's 784 pixels are fewer than the 1,000 that it tries, so that the order, which is
random, does not decide who is fooled: the pictures are the same."""
import collections
import collections.abc

import attack_cases
import cases
import numpy as np
import onnx
from onnx import numpy_helper

# Where Python had it when Foolbox 2 was written.
collections.Iterable, collections.Mapping = collections.abc.Iterable, collections.abc.Mapping
import foolbox  # noqa: E402


class LeNet5(foolbox.models.base.Model):
    """By NumPy, in float32: Foolbox asks picture by picture."""

    def __init__(self):
        super().__init__(bounds=(0, 1), channel_axis=1)
        graph = onnx.load(attack_cases.ASSETS / "models/lenet5.onnx").graph
        self.weights = {value.name: numpy_helper.to_array(value) for value in graph.initializer}
        self.preprocess = attack_cases.preprocess_of("lenet5")

    def num_classes(self):
        return 10

    def convolved(self, x, name, pad):
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(2, 3))
        y = np.maximum(np.einsum("nchwij,ocij->nohw", windows, self.weights[f"{name}.weight"], optimize=True)
                       + self.weights[f"{name}.bias"].reshape(1, -1, 1, 1), 0)
        n, c, h, w = y.shape
        return y.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))

    def forward(self, inputs):
        x = (np.float32(inputs) - np.float32(self.preprocess["mean"][0])) / np.float32(self.preprocess["std"][0])
        x = self.convolved(self.convolved(x, "conv1", 2), "conv2", 0).reshape(len(inputs), -1)
        for name in ("fc1", "fc2", "fc3"):
            x = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
            if name != "fc3":
                x = np.maximum(x, 0)
        return x


class SinglePixelTest(cases.FrameworkTest):
    def test_who_is_fooled(self):
        document, originals, ours = attack_cases.attacked(self.folder, "lenet5", attack_cases.DIGITS, "single-pixel",
                                                          "--samples", "100")
        # The least sure ones are fooled or nearly so; the others cost Foolbox a second each.
        model = LeNet5()
        scores = np.sort(model.forward(originals), axis=1)
        chosen = np.argsort(scores[:, -1] - scores[:, -2])[:40]
        labels = model.forward(originals).argmax(1)
        fooled_here = model.forward(ours).argmax(1) != labels
        self.assertEqual(int(fooled_here.sum()), document["results"][0]["successes"])
        attack = foolbox.attacks.SinglePixelAttack(model)
        np.random.seed(1)
        found = attack(originals[chosen], labels[chosen], max_pixels=1000)
        fooled_there = np.array([not np.isnan(one).any() for one in found])
        print(f"lenet5 single-pixel: of the {len(chosen)} least sure of {len(ours)} pictures {int(fooled_here[chosen].sum())} "
              f"fooled here, {int(fooled_there.sum())} in Foolbox; {int(fooled_here.sum())} of all here", flush=True)
        self.assertEqual(list(np.nonzero(fooled_here[chosen])[0]), list(np.nonzero(fooled_there)[0]))
        self.assertGreater(int(fooled_there.sum()), 0)


if __name__ == "__main__":
    cases.main()
