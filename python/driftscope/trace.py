"""A trace: the values of one run by ONNX name, in a safetensors file (docs/traces.md). Clients: api, users."""
import hashlib
import json
import os
from functools import cached_property
from pathlib import Path

import numpy as np

from . import safetensors_file
from .axes import arrange, orders
from .errors import BadInput
from .tables import Table

FORMAT = "driftscope-trace-1"


class Trace:
    """A trace in a file. `trace["name"]` is a value; arrays are read when they are used.

    model: the ONNX file that it was made for, if known; mapping: how its names were found, if it was recorded here.
    """

    def __init__(self, path, model=None, mapping=None, left_out=()):
        self.path, self.model, self.mapping = Path(path), model, mapping
        self.left_out = list(left_out)
        self._header, self.metadata, _ = safetensors_file.read_header(self.path)

    @cached_property
    def values(self):
        """Arrays by name, read-only."""
        return safetensors_file.read(self.path)[0]

    def __getitem__(self, name):
        return self.values[name]

    def __len__(self):
        return len(self._header)

    def __iter__(self):
        return iter(self._header)

    @property
    def target(self):
        return self.metadata.get("target", "")

    @property
    def nodes(self):
        """As the trace describes them: name, op, outputs and times of each; empty where it does not."""
        try:
            nodes = json.loads(self.metadata.get("nodes", "[]"))
        except ValueError as error:
            raise BadInput(f"{self.path}: its nodes are not JSON: {error}") from None
        return nodes if isinstance(nodes, list) else []

    def verify(self, model=None, **options):
        """driftscope.verify of this trace."""
        from .api import verify
        model = model or self.model
        if model is None:
            raise BadInput(f"{self.path}: which ONNX model? trace.verify('model.onnx')")
        return verify(model, self, **options)

    def table(self):
        rows = [{"value": name, "dtype": entry["dtype"], "shape": list(entry["shape"])}
                for name, entry in self._header.items()]
        note = self.mapping.summary() if self.mapping else ""
        if self.left_out:
            note += "; could not be recorded: " + ", ".join(f"{name} ({why})" for name, why in self.left_out[:8])
        return Table(f"{self.path}  {self.target}", rows, ("value", "dtype", "shape"), note)

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()


def file_sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_recording(path, recording, mapping, onnx_inputs, kinds, model_sha256):
    """Writes RECORDING as a trace in PATH.

    onnx_inputs: the graph's inputs by ONNX name, as the model takes them; kinds: (shape, dtype) of the model's values by
    name (from the reference run). Raises BadInput where the mapping names what is not there or a value does not fit.
    """
    layers = {layer.name: layer for layer in recording.layers}
    tensors, nodes = dict(onnx_inputs), []
    for link in mapping.links:
        layer = layers.get(link.layer)
        if layer is None:
            raise BadInput(f"the mapping names the layer {link.layer!r}, which {recording.framework} did not compute;"
                           f" it has {_names(layers)}")
        if link.value not in kinds:
            raise BadInput(f"the mapping names the value {link.value!r}, which the ONNX model does not have; it has"
                           f" {_names(kinds)}")
        tensors[link.value] = _as_onnx_has_it(layer, link, *kinds[link.value])
        if layer.time_ns is not None:
            nodes.append({"name": layer.name, "op": layer.op, "outputs": [link.value], "time_ns": [layer.time_ns]})
    run = {"engine": recording.framework, "version": recording.version, "host": "pc", **recording.facts}
    metadata = {"format": FORMAT, "target": f"pc/{recording.framework}", "model_sha256": model_sha256,
                "run": json.dumps(run, default=str)}
    if nodes:
        metadata["nodes"] = json.dumps(nodes)
    safetensors_file.write(os.fspath(path), tensors, metadata)


def _as_onnx_has_it(layer, link, shape, dtype):
    """The layer's value in the shape and order that ONNX has; integers in its dtype, too, if they fit."""
    axes = link.axes
    if axes == () and layer.array.ndim:
        axes = next(orders(layer.array.shape, shape), ())
    fits = layer.array.size == _size(shape) and (axes is None or len(axes) == layer.array.ndim)
    if not fits:
        raise BadInput(f"the mapping takes layer {link.layer!r} of shape {list(layer.array.shape)}, axes"
                       f" {None if axes is None else list(axes)}, for value {link.value!r} of shape {list(shape)};"
                       " correct its axes, or drop it")
    array = arrange(layer.array, axes, shape)
    if array.dtype != dtype and array.dtype.kind in "iu" and np.dtype(dtype).kind in "iu":
        cast = array.astype(dtype)  # exporters widen indices to int64
        array = cast if np.array_equal(cast, array) else array
    return array


def _size(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


def _names(names, limit=6):
    names = list(names)
    return ", ".join(map(repr, names[:limit])) + (f", … ({len(names)} in all)" if len(names) > limit else "")
