"""Which value of a framework is which value of the ONNX model: by name, else by shape and values.

The values of both are those of one input; the model's own come from `driftscope run --target pc/strict --trace`.
Client: api. The result is a Mapping, which a person may change.

Steps, each for what the ones before left over:
  name         the same name, and values no further apart than rounding
  values       no further apart than rounding, in some order of the axes
  name only    the same name and as many elements, whatever the values: a fault must not lose its layer
  correlation  much alike, between the same neighbours, and each the other's best: behind a fault
  place        the only one of its shape between the same neighbours, and not unlike it
"""
import re
from bisect import bisect_left

from .axes import best_fit, fingerprint
from .mapping import Link, Mapping

CLOSE = 1e-3        # of the root mean square: chains of float32 rounding stay far below, other layers far above
ALIKE = 0.8         # minimum correlation that counts
RELATED = 0.3       # minimum correlation, of either sign, where only the position identifies a value
ENOUGH = 12         # elements for a correlation: that of two is always 1
FEW = 4             # with fewer elements values alone prove nothing


def plain_name(name):
    """A name without what exporters add: /model/conv/BiasAdd:0 → model/conv/biasadd."""
    return re.sub(r":\d+$", "", name).strip("/").replace(".", "/").lower()


def _kind(array):
    return {"u": "i"}.get(array.dtype.kind, array.dtype.kind)


def _proves_little(array):
    """Whether other values may well have these elements by chance: few of them, or all the same."""
    return array.size < FEW or bool((array == array.reshape(-1)[0]).all())


class _Value:
    def __init__(self, name, array, place):
        self.name, self.array, self.place = name, array, place
        self.plain_name, self.fingerprint = plain_name(name), fingerprint(array)


class _Matching:
    def __init__(self, recording, reference, order):
        self.layers = recording.layers
        self.fingerprints = [fingerprint(layer.array) for layer in self.layers]
        self.values = [_Value(name, reference[name], place) for place, name in enumerate(order)]
        self.by_size = {}
        for value in self.values:
            self.by_size.setdefault(value.array.size, []).append(value)
        self.links = {}    # place of the layer → Link
        self.used = {}     # place of the value → place of the layer
        self.fits = {}

    def fit(self, layer, value):
        key = (layer, value.place)
        if key not in self.fits:
            self.fits[key] = best_fit(self.layers[layer].array, value.array)
        return self.fits[key]

    def link(self, layer, value, fit, by):
        self.links[layer] = Link(self.layers[layer].name, value.name, fit.axes, by, fit.distance)
        self.used[value.place] = layer

    def open_layers(self):
        return [i for i in range(len(self.layers)) if i not in self.links]

    def same_size(self, layer):
        array = self.layers[layer].array
        return [value for value in self.by_size.get(array.size, ())
                if _kind(array) == _kind(value.array)]

    def close(self, layer):
        """(value, fit) of all values, free or not, that are the layer's own but for rounding."""
        size, mean = self.fingerprints[layer]
        for value in self.same_size(layer):
            apart = max(abs(value.fingerprint[0] - size), abs(value.fingerprint[1] - mean))
            if apart <= 2 * CLOSE * value.fingerprint[0]:  # if not, no order of the axes brings them together
                fit = self.fit(layer, value)
                if fit and fit.distance <= CLOSE:
                    yield value, fit

    def strays(self):
        """Open layers that are not the values of a linked one again, in another shape or order."""
        return [layer for layer in self.open_layers() if not any(self.close(layer))]

    def named(self, by_values):
        """Layers and values of one name; BY_VALUES: only if the values are the same as well."""
        for layer in self.open_layers():
            own = {plain_name(name) for name in (self.layers[layer].name, *self.layers[layer].aliases)}
            namesakes = [value for value in self.same_size(layer)
                         if value.place not in self.used and value.plain_name in own]
            for value in namesakes:
                fit = self.fit(layer, value)
                if fit and (not by_values or fit.distance <= CLOSE):
                    self.link(layer, value, fit, "name")
                    break

    def by_values(self):
        """The closest; of equally close ones the first behind the layers before, as both are in order."""
        for layer in self.open_layers():
            close = [(value, fit) for value, fit in self.close(layer) if value.place not in self.used]
            if not close or (len(close) > 1 and _proves_little(self.layers[layer].array)):
                continue
            smallest = min(fit.distance for _, fit in close)
            low, high = self.neighbours(layer)
            value, fit = min((pair for pair in close if pair[1].distance <= max(10 * smallest, 1e-6)),
                             key=lambda pair: (not low < pair[0].place < high, pair[0].place))
            self.link(layer, value, fit, "values")

    def neighbours(self, layer):
        """Places of the values that the next linked layers before and behind have."""
        linked = sorted(self.links)
        at = bisect_left(linked, layer)
        place = {value: key for key, value in self.used.items()}
        low = place[linked[at - 1]] if at else -1
        high = place[linked[at]] if at < len(linked) else len(self.values)
        return (low, high) if low < high else (low, len(self.values))

    def between(self, layer):
        """(value, fit) of the free values between the layer's neighbours that have as many elements."""
        low, high = self.neighbours(layer)
        return [(value, fit) for value in self.same_size(layer)
                if low < value.place < high and value.place not in self.used and (fit := self.fit(layer, value))]

    def by_correlation(self):
        pairs = [(fit.correlation, layer, value, fit) for layer in self.strays()
                 if self.layers[layer].array.size >= ENOUGH
                 for value, fit in self.between(layer) if fit.correlation >= ALIKE]
        for _, layer, value, fit in sorted(pairs, key=lambda pair: -pair[0]):
            if layer in self.links or value.place in self.used:
                continue
            low, high = self.neighbours(layer)
            if low < value.place < high:
                self.link(layer, value, fit, "correlation")

    def by_place(self):
        for layer in self.strays():
            found = [pair for pair in self.between(layer) if pair[1].axes is not None]
            if len(found) != 1 or abs(found[0][1].correlation) < RELATED:
                continue
            value, fit = found[0]
            rivals = [other for other in self.strays() if other != layer
                      and any(v is value for v, _ in self.between(other))]
            if not rivals and (not _proves_little(self.layers[layer].array) or self.is_alone(layer)):
                self.link(layer, value, fit, "place")

    def is_alone(self, layer):
        """Whether no other layer and one value at most has as many elements: the result of a small classifier."""
        size = self.layers[layer].array.size
        return len(self.by_size.get(size, ())) == 1 and sum(other.array.size == size for other in self.layers) == 1

    def why_not(self, layer):
        close = [value for value, _ in self.close(layer)]
        for value in close:
            if value.place in self.used:
                return f"the same values as {self.layers[self.used[value.place]].name!r}, which has {value.name!r}"
        if close:
            return "its elements are too few, or all the same: they do not identify the value"
        if not self.same_size(layer):
            return "no value of the model has as many elements"
        return "no value of the model is like it"


def find_mapping(recording, reference, order, model_sha256=""):
    """The mapping of RECORDING to the values of REFERENCE (arrays by ONNX name), whose ORDER is the graph's."""
    if recording.onnx_names:
        return _same_names(recording, reference, order, model_sha256)
    matching = _Matching(recording, reference, order)
    matching.named(by_values=True)
    matching.by_values()
    matching.named(by_values=False)
    matching.by_correlation()
    matching.by_place()
    links = [matching.links[layer] for layer in sorted(matching.links)]
    unmapped = {recording.layers[layer].name: matching.why_not(layer) for layer in matching.open_layers()}
    missing = [value.name for value in matching.values if value.place not in matching.used]
    return Mapping(recording.framework, model_sha256, links, unmapped, missing)


def _same_names(recording, reference, order, model_sha256):
    wanted, links, unmapped = set(order), [], {}
    for layer in recording.layers:
        want = reference.get(layer.name)
        if layer.name in wanted and want.shape == layer.array.shape:
            links.append(Link(layer.name, layer.name, tuple(range(layer.array.ndim)), "name"))
        else:
            unmapped[layer.name] = ("the model has no value of this name" if layer.name not in wanted else
                                    f"its shape is {list(layer.array.shape)}, the model's {list(want.shape)}")
    found = {link.value for link in links}
    return Mapping(recording.framework, model_sha256, links, unmapped, [name for name in order if name not in found])
