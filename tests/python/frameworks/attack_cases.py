"""What the tests of attacks beside other implementations share: the program's own attack, and a classifier in PyTorch."""
import json
import subprocess

import cases
import numpy as np

from driftscope.program import find_program

ASSETS = cases.ROOT / "assets"
DIGITS = f"idx:{ASSETS}/data/digits-test-images.idx3-ubyte,{ASSETS}/data/digits-test-labels.idx1-ubyte"
PICTURES = f"cifar10:{ASSETS}/data/generated-cifar10-test.bin"


def preprocess_of(name):
    return json.loads((ASSETS / f"models/{name}.preprocess.json").read_text())


def attacked(folder, name, dataset, method, *options):
    """The program's results: the document, the originals and what became of them, a sample a row without its batch axis of 1."""
    subprocess.run([find_program(), "attack", ASSETS / f"models/{name}.onnx", "--method", method, "--dataset", dataset,
                    "--targets", "pc/strict", "--quiet", "-o", folder, "--json", folder / "attack.json", *options],
                   check=True, stdout=subprocess.DEVNULL)
    kept = [np.load(folder / f"{file}.npy") for file in ("originals", "pc-strict")]
    document = json.loads((folder / "attack.json").read_text())
    return document, *(results.reshape(len(results), *results.shape[2:]) for results in kept)
