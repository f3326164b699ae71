"""Reads and writes the IDX format of MNIST: big-endian header, then unsigned bytes.

Source: http://yann.lecun.com/exdb/mnist/, "FILE FORMATS FOR THE MNIST DATABASE".
"""
import gzip
import struct
from pathlib import Path

import numpy as np

UNSIGNED_BYTE = 0x08


def read(path):
    """Returns the array in PATH (or PATH.gz); shape as the header says, dtype uint8."""
    path = Path(path)
    if not path.exists() and path.with_name(path.name + ".gz").exists():
        path = path.with_name(path.name + ".gz")
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if len(data) < 4 or data[:3] != bytes([0, 0, UNSIGNED_BYTE]) or data[3] == 0:
        raise ValueError(f"{path}: no IDX file of unsigned bytes (starts {data[:4].hex()})")
    rank = data[3]
    start = 4 + 4 * rank
    if len(data) < start:
        raise ValueError(f"{path}: the header needs {start} bytes, the file has {len(data)}")
    shape = struct.unpack(f">{rank}I", data[4:start])
    count = int(np.prod(shape, dtype=object))
    if len(data) != start + count:
        raise ValueError(f"{path}: shape {shape} needs {start + count} bytes, got {len(data)}")
    return np.frombuffer(data, np.uint8, count, start).reshape(shape)


def write(path, array):
    """Writes a uint8 array of any rank from 1 to 255."""
    if array.dtype != np.uint8:
        raise TypeError(f"IDX here holds uint8, got {array.dtype}")
    header = bytes([0, 0, UNSIGNED_BYTE, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    Path(path).write_bytes(header + array.tobytes())


def read_mnist(folder):
    """Returns (train images, train labels, test images, test labels) of an MNIST folder."""
    def one(stem, kind):
        for name in (f"{stem}-{kind}", f"{stem}.{kind}"):
            for suffix in ("", ".gz"):
                if (Path(folder) / (name + suffix)).exists():
                    return read(Path(folder) / (name + suffix))
        raise FileNotFoundError(f"{folder}: no {stem}-{kind} and no {stem}-{kind}.gz")

    images = [one(f"{part}-images", "idx3-ubyte") for part in ("train", "t10k")]
    labels = [one(f"{part}-labels", "idx1-ubyte") for part in ("train", "t10k")]
    for image, label in zip(images, labels):
        if image.ndim != 3 or image.shape[1:] != (28, 28) or len(image) != len(label):
            raise ValueError(f"{folder}: images {image.shape} and labels {label.shape} do not match"
                             " MNIST's N×28×28 and N")
    return images[0], labels[0], images[1], labels[1]
