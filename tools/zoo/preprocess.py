"""How a stored sample becomes the model's input tensor: MODEL.preprocess.json and its arithmetic.

Pictures:

    value = (float32(pixel) * float32(scale) - float32(mean[c])) / float32(std[c])

with each of the three operations rounded to float32, in this order and none fused. A reader that
does the same gets the same bits.

Texts: words are looked up in the vocabulary, a list is cut or padded to the length.
"""
import json
import re
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


def describe_text(length, vocabulary, pad_side, keep, labels):
    """Returns the description of texts; VOCABULARY is a path from the description's own folder."""
    return {"format": FORMAT, "kind": "text", "input": "tokens", "dtype": "int64",
            "length": length, "vocabulary": vocabulary, "pad": 0, "unknown": 1,
            "pad_side": pad_side, "keep": keep, "remove": ["<br />"], "labels": labels}


def words_of(text, remove=()):
    """Words of a text: letters, digits and apostrophes, A to Z in lower case.

    Other letters than a to z are kept as they are; quotation marks around a word are not part of it.
    """
    for piece in remove:
        text = text.replace(piece, " ")
    text = text.translate({0x2018: "'", 0x2019: "'"})
    text = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)
    runs = re.findall("[a-z0-9'\u00c0-\u1fff\u2070-\u2fff\u3040-\U0010ffff]+", text)
    return [word for word in (run.strip("'") for run in runs) if word]


def encode(description, words, texts):
    """Texts → int64 N×LENGTH; WORDS is the vocabulary, the place of a word is its index."""
    index = {word: at for at, word in enumerate(words)}
    length, pad = description["length"], description["pad"]
    rows = np.full((len(texts), length), pad, np.int64)
    for row, text in zip(rows, texts):
        tokens = [index.get(word, description["unknown"])
                  for word in words_of(text, description["remove"])]
        if None in tokens:
            raise ValueError("a word is not in the vocabulary, and there is no index for unknown")
        tokens = tokens[:length] if description["keep"] == "start" else tokens[-length:]
        if tokens and description["pad_side"] == "right":
            row[:len(tokens)] = tokens
        elif tokens:
            row[-len(tokens):] = tokens
    return rows


def write(path, description):
    Path(path).write_text(json.dumps(description, indent=1, ensure_ascii=False) + "\n")
