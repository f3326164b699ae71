"""torch.onnx as people call it."""
import contextlib
import io

import torch


def export(model, inputs, path, fold=False):
    """Writes MODEL to PATH with today's exporter; returns PATH.

    FOLD: with its optimizer, which folds batch normalizations into convolutions: then PyTorch, which does not, rounds
    elsewhere than the ONNX model says, by more than a budget where few terms are summed.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(model, tuple(inputs.values()), str(path), input_names=list(inputs), dynamo=True,
                          external_data=False, verbose=False, optimize=fold)
    return path
