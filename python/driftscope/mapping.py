"""Which of a framework's values is which value of the ONNX model: shown, edited, kept as a JSON file.

The file (one JSON object):

    {"format": "driftscope-mapping-1", "framework": "keras", "model_sha256": "1a32…",
     "values": [{"layer": "conv2d/BiasAdd", "value": "lenet/conv2d/BiasAdd:0", "axes": [0, 3, 1, 2],
                 "by": "name", "distance": 1.2e-07}, …],
     "unmapped": {"lenet/flatten/Const": "no value of the model has its shape", …},
     "missing": ["lenet/flatten/Shape:0", …]}

`layer` is the framework's name, `value` the ONNX name. `axes`: the axes of the framework's value in the order that
the ONNX value has; null: the elements as they lie; the shape is always the ONNX value's. `by` says how it was found
(name, values, correlation, place; hand), `distance` how far apart both were then, in units of the value's root mean
square. Only format, layer and value are needed. `unmapped` and `missing` are for people: what was recorded and has
no value, and which values of the model were not recorded.
"""
import json
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadInput
from .tables import Table
from .whole_file import whole_file

FORMAT = "driftscope-mapping-1"


@dataclass
class Link:
    layer: str
    value: str
    axes: tuple = ()   # (): not given, the shapes must agree apart from extents of 1; None: as the elements lie
    by: str = "hand"
    distance: float = None


@dataclass
class Mapping:
    framework: str = ""
    model_sha256: str = ""
    links: list = field(default_factory=list)
    unmapped: dict = field(default_factory=dict)  # layer → why
    missing: list = field(default_factory=list)   # values of the model without a layer

    @classmethod
    def load(cls, path):
        """Reads the file. Raises BadInput, which names the entry that is wrong."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"mapping {path}: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else type(data).__name__
            raise BadInput(f"mapping {path}: its format is {found!r}, expected {FORMAT!r}")
        entries = data.get("values")
        if not isinstance(entries, list):
            raise BadInput(f"mapping {path}: 'values' must be a list of {{layer, value}}")
        result = cls(str(data.get("framework", "")), str(data.get("model_sha256", "")))
        for number, entry in enumerate(entries):
            try:
                result.links.append(_link(entry))
            except (TypeError, ValueError, KeyError) as error:
                raise BadInput(f"mapping {path}: values[{number}]: {error}") from None
        result._check(f"mapping {path}: ")
        unmapped, missing = data.get("unmapped", {}), data.get("missing", [])
        result.unmapped = dict(unmapped) if isinstance(unmapped, dict) else {}
        result.missing = list(missing) if isinstance(missing, list) else []
        return result

    def save(self, path):
        """Writes the file, whole or not at all."""
        values = [{"layer": link.layer, "value": link.value,
                   **({} if link.axes == () else {"axes": None if link.axes is None else list(link.axes)}),
                   "by": link.by, **({} if link.distance is None else {"distance": float(f"{link.distance:.3g}")})}
                  for link in self.links]
        lines = ",\n  ".join(json.dumps(value, ensure_ascii=False) for value in values)
        head = json.dumps({"format": FORMAT, "framework": self.framework, "model_sha256": self.model_sha256},
                          ensure_ascii=False)[:-1]
        tail = json.dumps({"unmapped": self.unmapped, "missing": self.missing}, ensure_ascii=False, indent=1)[1:]
        with whole_file(path) as file:
            file.write(f'{head},\n "values": [\n  {lines}],{tail}\n'.encode())
        return self

    def set(self, layer, value, axes=()):
        """Maps LAYER to VALUE by hand, in place of what either was mapped to; returns the mapping."""
        self.links = [link for link in self.links if link.layer != layer and link.value != value]
        self.links.append(_link({"layer": layer, "value": value, **({} if axes == () else {"axes": axes})}))
        self.unmapped.pop(layer, None)
        self.missing = [name for name in self.missing if name != value]
        return self

    def drop(self, layer):
        """Leaves LAYER out; returns the mapping."""
        kept = [link for link in self.links if link.layer != layer]
        if len(kept) == len(self.links):
            raise BadInput(f"the mapping has no layer {layer!r}; it has {_some([i.layer for i in self.links])}")
        self.missing += [link.value for link in self.links if link.layer == layer]
        self.links = kept
        self.unmapped[layer] = "left out by hand"
        return self

    def _check(self, where=""):
        for what in ("layer", "value"):
            names = [getattr(link, what) for link in self.links]
            twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
            if twice is not None:
                raise BadInput(f"{where}the {what} {twice!r} occurs twice")

    def table(self):
        """The mapping as a Table: what is mapped, then what is not, then what of the model was not recorded."""
        rows = [{"layer": link.layer, "value": link.value, "axes": _axes_text(link.axes), "found by": link.by,
                 "distance": link.distance} for link in self.links]
        rows += [{"layer": layer, "value": "", "axes": "", "found by": f"not mapped: {why}", "distance": None}
                 for layer, why in self.unmapped.items()]
        rows += [{"layer": "", "value": value, "axes": "", "found by": "not recorded", "distance": None}
                 for value in self.missing]
        return Table(f"{self.framework or 'framework'} → ONNX", rows,
                     ("layer", "value", "axes", "found by", "distance"), self.summary())

    def summary(self):
        return (f"{len(self.links)} values mapped, {len(self.unmapped)} not mapped; {len(self.missing)} values of the"
                " model not recorded")

    def __str__(self):
        return str(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def _some(names, limit=8):
    names = list(names)
    return ", ".join(map(repr, names[:limit])) + (f", … ({len(names)} in all)" if len(names) > limit else "")


def _axes_text(axes):
    return "as they lie" if axes is None else " ".join(map(str, axes))


def _link(entry):
    if not isinstance(entry, dict):
        raise TypeError(f"expected an object with layer and value, got {entry!r}")
    for key in ("layer", "value"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise ValueError(f"{key!r} must be a name, got {entry.get(key)!r}")
    axes = entry.get("axes", ())
    if axes is not None:
        if not isinstance(axes, (list, tuple)) or sorted(map(_integer, axes)) != list(range(len(axes))):
            raise ValueError(f"axes of {entry['layer']!r} must be 0 to {len(axes) - 1} in some order, or null, got"
                             f" {axes!r}" if isinstance(axes, (list, tuple)) else f"axes must be a list, got {axes!r}")
        axes = tuple(axes)
    distance = entry.get("distance")
    if distance is not None and not isinstance(distance, (int, float)):
        raise ValueError(f"distance must be a number, got {distance!r}")
    return Link(entry["layer"], entry["value"], axes, str(entry.get("by", "hand")), distance)


def _integer(value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"axes must be integers, got {value!r}")
    return value


__all__ = ["FORMAT", "Link", "Mapping"]
