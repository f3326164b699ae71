"""In which order of axes two arrays hold the same values, and how close they are.

Clients: matching, api (the layout of inputs). "Axes" here are the places of a framework's value, in the order in
which the ONNX value has them; extents of 1 do not count, since exporters add and drop them.
"""
from dataclasses import dataclass
from itertools import permutations

import numpy as np

SAMPLE = 2048  # elements that are looked at first; the best order is then judged on all
COMMON = {3: [(0, 1, 2), (0, 2, 1), (1, 0, 2)],
          4: [(0, 1, 2, 3), (0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 1, 3)],
          5: [(0, 1, 2, 3, 4), (0, 4, 1, 2, 3), (0, 2, 3, 4, 1)]}  # NHWC and NCHW first; then heads, time first


@dataclass
class Fit:
    """How the value of a framework fits one of the ONNX model."""

    axes: tuple         # all axes of the framework's value, in ONNX's order; None: the elements in plain order
    distance: float     # root mean square of the difference, in units of that of the ONNX value; inf: other NaNs
    correlation: float  # of the elements, -1 to 1


def orders(shape, wanted):
    """Orders of the axes of SHAPE that give WANTED, apart from extents of 1; the usual ones first.

    Then None where only the number of elements is the same: the elements as they lie, in another shape.
    """
    wide = [axis for axis, extent in enumerate(shape) if extent != 1]
    narrow = [axis for axis, extent in enumerate(shape) if extent == 1]
    target = [extent for extent in wanted if extent != 1]
    if len(wide) == len(target) <= 5 and sorted(shape[axis] for axis in wide) == sorted(target):
        usual = [tuple(axis for axis in order if axis in wide) for order in COMMON.get(len(shape), ())]
        for order in dict.fromkeys(usual + list(permutations(wide))):
            if [shape[axis] for axis in order] == target:
                yield _with_ones(order, narrow, shape, wanted)
    elif int(np.prod(shape, dtype=object)) == int(np.prod(wanted, dtype=object)):
        yield None
        for order in COMMON.get(len(shape), ())[1:]:  # a flattening that kept the other layout
            yield order


def _with_ones(order, narrow, shape, wanted):
    """ORDER with the axes of extent 1 put where WANTED has its own, as far as they are equally many."""
    if len(shape) != len(wanted):
        return tuple(narrow) + tuple(order)
    wide, narrow = iter(order), iter(narrow)
    return tuple(next(narrow) if extent == 1 else next(wide) for extent in wanted)


def arrange(array, axes, shape):
    """ARRAY in ONNX's order and SHAPE; axes as in Fit."""
    array = np.asarray(array)
    return np.array((array if axes is None else array.transpose(axes)).reshape(shape), order="C")


def _numbers(array):
    return np.asarray(array).astype(np.float64)


def _closeness(got, want):
    """(distance, correlation) of two flat arrays of doubles."""
    finite = np.isfinite(got) & np.isfinite(want)
    rest = ~finite
    if rest.any() and not np.array_equal(got[rest], want[rest], equal_nan=True):
        return np.inf, 0.0
    got, want = got[finite], want[finite]
    if not got.size:
        return 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        scale = max(np.abs(want).max(), np.abs(got).max()) or 1.0
        got, want = got / scale, want / scale
        error, size = np.sqrt(np.mean((got - want) ** 2)), np.sqrt(np.mean(want ** 2))
        distance = 0.0 if error == 0 else (error / size if size else np.inf)
        a, b = got - got.mean(), want - want.mean()
        norm = np.sqrt((a * a).sum() * (b * b).sum())
        return float(distance), float((a * b).sum() / norm) if norm else 0.0


def _sample_places(size):
    if size <= SAMPLE:
        return np.arange(size)
    return np.sort(np.random.default_rng(size).choice(size, SAMPLE, replace=False))


def fingerprint(array):
    """(root mean square, mean) of the finite elements: the same in every order of the axes."""
    numbers = _numbers(array).reshape(-1)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return 0.0, 0.0
    scale = np.abs(numbers).max() or 1.0
    return float(scale * np.sqrt(np.mean((numbers / scale) ** 2))), float(scale * np.mean(numbers / scale))


def best_fit(got, want, enough=0.05):
    """The Fit of GOT with the smallest distance from WANT, or None where the elements cannot be its own."""
    got, want = np.asarray(got), np.asarray(want)
    if got.size != want.size:
        return None
    places = _sample_places(want.size)
    expected = _numbers(want.reshape(-1)[places])
    best = None
    for axes in orders(got.shape, want.shape):
        view = got if axes is None else got.transpose(axes)
        index = np.unravel_index(places, view.shape) if view.ndim else ()
        fit = Fit(axes, *_closeness(_numbers(view[index]).reshape(-1), expected))
        if best is None or fit.distance < best.distance * (1 - 1e-9):
            best = fit
        if best.distance == 0:
            break
    if best and want.size > SAMPLE and best.distance < enough:
        whole = arrange(got, best.axes, want.shape).reshape(-1)
        best = Fit(best.axes, *_closeness(_numbers(whole), _numbers(want.reshape(-1))))
    return best
