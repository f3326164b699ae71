"""The data sets that a model can be trained on, and how the test part of each is stored."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cifar10
import digits
import generated
import idx
import preprocess


@dataclass
class Dataset:
    name: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    labels: list
    augment: str
    real: bool
    reference: str = ""  # what `--dataset` is given, from the assets folder

    def describe(self, normalize):
        """The description of the samples; NORMALIZE uses the training set's mean and deviation."""
        images = self.train_images.reshape(len(self.train_images), -1,
                                           *self.train_images.shape[-2:])
        channels = images.shape[1]
        mean, std = np.zeros(channels), np.ones(channels)
        if normalize:
            mean = images.mean((0, 2, 3)) / 255
            std = images.std((0, 2, 3)) / 255
        return preprocess.describe(channels, *images.shape[-2:], "RGB" if channels == 3 else "gray",
                                   mean, std, self.labels)

    def write_test(self, folder):
        """Stores the test set under FOLDER/data and returns the paths."""
        folder = Path(folder) / "data"
        if self.train_images.ndim == 3:
            paths = [folder / f"{self.name}-test-images.idx3-ubyte",
                     folder / f"{self.name}-test-labels.idx1-ubyte"]
            idx.write(paths[0], self.test_images)
            idx.write(paths[1], self.test_labels)
            self.reference = "idx:" + ",".join(f"data/{path.name}" for path in paths)
        else:
            paths = [folder / f"{self.name}-test.bin"]
            cifar10.write(paths[0], self.test_images, self.test_labels)
            self.reference = f"cifar10:data/{paths[0].name}"
        return paths


def small_pictures(mnist=None):
    """28×28: the real MNIST from its folder, else scikit-learn's digits, enlarged."""
    if mnist:
        return Dataset("mnist", *idx.read_mnist(mnist), digits.LABELS, "digits", True)
    return Dataset("digits", *digits.load(), digits.LABELS, "digits", False)


def colour_pictures(folder=None):
    """32×32 RGB: the real CIFAR-10 from its folder, else the generated set."""
    if folder:
        return Dataset("cifar10", *cifar10.read_folder(folder), cifar10.LABELS, "pictures", True)
    return Dataset("generated-cifar10", *generated.make(seed=1, count=6000),
                   *generated.make(seed=2, count=500), generated.LABELS, "pictures", False)
