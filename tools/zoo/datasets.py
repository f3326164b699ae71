"""The data sets that a model can be trained on, and how the test part of each is stored."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cifar10
import digits
import generated
import idx
import preprocess
import reviews


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

    def inputs(self, description, part):
        """The samples of PART, "train" or "test", as the model reads them."""
        images = self.train_images if part == "train" else self.test_images
        return preprocess.apply(description, images)

    def write_test(self, folder):
        """Stores the test set under FOLDER/data and says in `reference` how to name it."""
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
        if self.name == "digits":  # small, and no seed makes them again: what python -m driftscope.training trains on
            idx.write(folder / "digits-train-images.idx3-ubyte", self.train_images)
            idx.write(folder / "digits-train-labels.idx1-ubyte", self.train_labels)


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


@dataclass
class Reviews:
    """Generated reviews; a text becomes the tokens that a model's own description asks for."""
    train_texts: list
    train_labels: np.ndarray
    test_texts: list
    test_labels: np.ndarray
    words: list
    name: str = "generated-reviews"
    labels: tuple = tuple(reviews.LABELS)
    augment: str = "none"
    real: bool = False
    reference: str = ""

    def describe(self, length, pad_side, keep):
        return preprocess.describe_text(length, f"../data/{self.name}/vocabulary.txt", pad_side,
                                        keep, list(self.labels))

    def inputs(self, description, part):
        texts = self.train_texts if part == "train" else self.test_texts
        return preprocess.encode(description, self.words, texts)

    def write_test(self, folder):
        folder = Path(folder) / "data" / self.name
        reviews.write_folder(folder, self.test_texts, self.test_labels)
        (folder / "vocabulary.txt").write_text("".join(word + "\n" for word in self.words))
        self.test_texts, labels = reviews.read_folder(folder)
        self.test_labels = np.array(labels)
        self.reference = f"imdb:data/{self.name}"


def film_reviews():
    train_texts, train_labels = reviews.make(seed=11, count=16000)
    test_texts, test_labels = reviews.make(seed=12, count=200)
    return Reviews(train_texts, np.array(train_labels), test_texts, np.array(test_labels),
                   reviews.vocabulary(train_texts, preprocess.words_of))


@dataclass
class Masks(Dataset):
    """Generated pictures labelled pixel by pixel: 1 where the shape is, 0 beside it."""
    shapes: np.ndarray = None  # which shape each test picture shows

    def write_test(self, folder):
        folder = Path(folder) / "data"
        cifar10.write(folder / f"{self.name}-test.bin", self.test_images, self.shapes)
        idx.write(folder / f"{self.name}-test-masks.idx3-ubyte", self.test_labels)
        self.reference = f"cifar10:data/{self.name}-test.bin"


def masked_pictures():
    """Only the shapes: in a texture nothing says which of its two colours is drawn on the other."""
    first = generated.LABELS.index("disc")
    images, _, masks = generated.make_masked(3, 3000, first)
    test_images, shapes, test_masks = generated.make_masked(4, 100, first)
    return Masks("generated-shapes", images, masks, test_images, test_masks, ["ground", "shape"],
                 "none", False, shapes=shapes)
