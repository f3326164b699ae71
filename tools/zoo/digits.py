"""scikit-learn's 1,797 real handwritten digits (UCI optdigits), enlarged to MNIST's form.

Each 8×8 digit of grey levels 0..16 becomes 20×20 (bicubic), then lies in a 28×28 field with its
centre of mass in the middle, levels 0..255, as LeCun made MNIST. Every digit is treated alone, so
nothing passes from the test set to the training set.
"""
import numpy as np
import torch
from sklearn.datasets import load_digits

TEST_COUNT = 450
LABELS = [str(digit) for digit in range(10)]


def enlarge(small):
    """8×8 levels 0..16 → 28×28 uint8."""
    box = torch.nn.functional.interpolate(torch.from_numpy(small)[None, None], size=(20, 20),
                                          mode="bicubic", align_corners=False)[0, 0].numpy()
    # Bicubic enlargement blurs: sharpen the strokes against the paper, as in a scan at 20×20.
    box = np.clip((box / 16 - 0.2) / 0.6, 0, 1)
    rows, columns = np.indices(box.shape)
    weight = box.sum()
    top = int(np.clip(np.rint(13.5 - (rows * box).sum() / weight), 0, 8))
    left = int(np.clip(np.rint(13.5 - (columns * box).sum() / weight), 0, 8))
    field = np.zeros((28, 28))
    field[top:top + 20, left:left + 20] = box
    return np.rint(field * 255).astype(np.uint8)


def load():
    """Returns (train images N×28×28 uint8, train labels, test images, test labels).

    The test set is the last 450 in the file's own order, not a choice of ours.
    """
    data = load_digits()
    images = np.stack([enlarge(image) for image in data.images])
    labels = data.target.astype(np.uint8)
    return images[:-TEST_COUNT], labels[:-TEST_COUNT], images[-TEST_COUNT:], labels[-TEST_COUNT:]
