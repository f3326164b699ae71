"""torch.onnx as people call it."""
import contextlib
import io

import torch


def export(model, inputs, path):
    """Writes MODEL to PATH with today's exporter; returns PATH."""
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(model, tuple(inputs.values()), str(path), input_names=list(inputs), dynamo=True,
                          external_data=False, verbose=False)
    return path
