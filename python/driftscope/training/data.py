"""What is trained on: pictures in IDX files, and the generated reviews. Clients: study.

Pictures become float32 N×1×H×W within [0, 1]; texts int64 N×LENGTH, padded on the left by 0.
"""
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BadInput

ROOT = Path(__file__).resolve().parents[3]  # of the clone that the package lies in
MAX_ELEMENTS = 2**31
REVIEWS = {"train": (11, 2048), "test": (12, 200)}  # seed, count; the test set is the one in assets/data


@dataclass
class Data:
    name: str
    train: tuple  # (samples, labels int64)
    test: tuple
    words: int = 0  # of texts: the size of the vocabulary


def read_idx(path):
    """uint8 of an IDX file, .gz or not: two zero bytes, 8, the number of axes, their sizes (big-endian), the elements."""
    path = Path(path)
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    if len(raw) < 4 or raw[:3] != b"\0\0\x08" or not 1 <= raw[3] <= 4:
        raise BadInput(f"{path}: not an IDX file of bytes: expected 00 00 08 and 1 to 4 axes, found {raw[:4].hex(' ')}")
    axes, count = [], 1
    for axis in range(raw[3]):
        size = int.from_bytes(raw[4 + 4 * axis:8 + 4 * axis], "big")
        axes.append(size)
        count *= size
    begin = 4 + 4 * raw[3]
    if not 0 < count <= MAX_ELEMENTS or len(raw) != begin + count:
        raise BadInput(f"{path}: {axes} needs {begin + count} bytes, the file has {len(raw)}")
    return np.frombuffer(raw, np.uint8, count, begin).reshape(axes)


def _pictures(images, labels, shape):
    pixels, classes = read_idx(images), read_idx(labels)
    if pixels.ndim != 3 or classes.ndim != 1 or len(pixels) != len(classes):
        raise BadInput(f"{images} has the shape {list(pixels.shape)} and {labels} {list(classes.shape)}; expected as many"
                       " labels as pictures of height × width")
    if (1, *pixels.shape[1:]) != tuple(shape):
        raise BadInput(f"{images}: pictures of {list(pixels.shape[1:])}, but the network reads {list(shape)}")
    return (pixels.astype(np.float32) / np.float32(255))[:, None], classes.astype(np.int64)


def digits(shape, folder=None):
    """FOLDER has MNIST's four files, .gz or not; without one, the digits that come with Driftscope."""
    def found(stem):
        for name in (stem, stem + ".gz"):
            if (Path(folder) / name).is_file():
                return Path(folder) / name
        raise BadInput(f"{folder}: no file {stem} (or .gz), one of MNIST's four")

    if folder:
        parts = [(found(f"{part}-images-idx3-ubyte"), found(f"{part}-labels-idx1-ubyte")) for part in ("train", "t10k")]
        name = Path(folder).name
    else:
        beside, name = ROOT / "assets/data", "digits"
        parts = [(beside / f"digits-{part}-images.idx3-ubyte", beside / f"digits-{part}-labels.idx1-ubyte")
                 for part in ("train", "test")]
        if not parts[0][0].is_file():
            raise BadInput("the digits that come with Driftscope are in its source tree, which this package does not lie in:"
                           " give a folder with MNIST's files, --digits FOLDER")
    return Data(name, *(_pictures(*part, shape) for part in parts))


def reviews(length):
    """Reviews that the generator of the source tree writes, as in assets/data/generated-reviews."""
    zoo, listing = ROOT / "tools/zoo", ROOT / "assets/data/generated-reviews/vocabulary.txt"
    if not (zoo / "reviews.py").is_file() or not listing.is_file():
        raise BadInput("the generator of reviews is in Driftscope's source tree, which this package does not lie in:"
                       " train the pictures' models only, --model lenet5")
    sys.path.insert(0, str(zoo))
    try:
        import preprocess
        import reviews as generator
    finally:
        sys.path.remove(str(zoo))
    words = listing.read_text(encoding="utf-8").splitlines()
    description = preprocess.describe_text(length, listing.name, "left", "end", list(generator.LABELS))
    parts = []
    for seed, count in REVIEWS.values():
        texts, labels = generator.make(seed=seed, count=count)
        parts.append((preprocess.encode(description, words, texts).astype(np.int64), np.array(labels, np.int64)))
    return Data("generated-reviews", *parts, words=len(words))


def vocabulary_size():
    listing = ROOT / "assets/data/generated-reviews/vocabulary.txt"
    return len(listing.read_text(encoding="utf-8").splitlines()) if listing.is_file() else 0


def batches(count, size, epochs, seed):
    """Places of the samples, epochs × batches × size: a new order each epoch; what is left over waits for the next."""
    per_epoch = count // size
    if not per_epoch:
        raise BadInput(f"a batch of {size} needs at least as many samples, the training set has {count}")
    random = np.random.default_rng(seed)
    return np.stack([random.permutation(count)[:per_epoch * size].reshape(per_epoch, size) for _ in range(epochs)])
