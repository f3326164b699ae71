"""How a stored sample becomes the model's input tensor: MODEL.preprocess.json and its arithmetic.

    value = (float32(pixel) * float32(scale) - float32(mean[c])) / float32(std[c])

with each of the three operations rounded to float32, in this order and none fused. A reader that
does the same gets the same bits.
"""
import json
from pathlib import Path

import numpy as np

FORMAT = "driftscope-preprocess-1"


def describe(channels, height, width, order, mean, std, labels):
    """Returns the description of a uint8 picture set; MEAN and STD per channel after scaling."""
    return {"format": FORMAT, "input": "input", "layout": "NCHW", "channels": channels,
            "height": height, "width": width, "channel_order": order, "scale": 1 / 255,
            "mean": [float(np.float32(m)) for m in mean],
            "std": [float(np.float32(s)) for s in std], "labels": labels}


def apply(description, images):
    """uint8 N×C×H×W (or N×H×W for one channel) → float32 N×C×H×W."""
    shape = (len(images), description["channels"], description["height"], description["width"])
    value = images.reshape(shape).astype(np.float32) * np.float32(description["scale"])
    value -= np.array(description["mean"], np.float32)[:, None, None]
    value /= np.array(description["std"], np.float32)[:, None, None]
    return value


def write(path, description):
    Path(path).write_text(json.dumps(description, indent=1, ensure_ascii=False) + "\n")
