"""Reads and writes CIFAR-10's binary version.

A record is 1 label byte and 3072 pixel bytes: 1024 red, 1024 green, 1024 blue, each plane row by
row. Source: https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
"""
from pathlib import Path

import numpy as np

RECORD = 1 + 3 * 32 * 32
LABELS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def read(path):
    """Returns (images N×3×32×32 uint8, labels N uint8)."""
    data = np.fromfile(path, np.uint8)
    if data.size == 0 or data.size % RECORD:
        raise ValueError(f"{path}: {data.size} bytes, not a multiple of {RECORD} (one record)")
    records = data.reshape(-1, RECORD)
    labels = records[:, 0].copy()
    if labels.max() > 9:
        raise ValueError(f"{path}: record {int((labels > 9).argmax())} has label {labels.max()},"
                         " expected 0 to 9")
    return records[:, 1:].reshape(-1, 3, 32, 32).copy(), labels


def write(path, images, labels):
    """Writes images N×3×32×32 uint8 with labels N."""
    records = np.empty((len(images), RECORD), np.uint8)
    records[:, 0] = labels
    records[:, 1:] = images.reshape(len(images), -1)
    Path(path).write_bytes(records.tobytes())


def read_folder(folder):
    """Returns (train images, train labels, test images, test labels) of a cifar-10-batches-bin."""
    batches = sorted(Path(folder).glob("data_batch_*.bin"))
    if not batches:
        raise FileNotFoundError(f"{folder}: no data_batch_*.bin (the binary version is needed)")
    parts = [read(batch) for batch in batches]
    test_images, test_labels = read(Path(folder) / "test_batch.bin")
    return (np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]),
            test_images, test_labels)
