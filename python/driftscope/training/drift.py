"""How far two frameworks' trainings are apart, and which layer parts first. Clients: study.

    distance(a, b) = ‖a − b‖ / max(‖a‖, ‖b‖), in double; 0 where both are zero
"""
import numpy as np

PARTED = 1e-3  # of a layer's norm: far above float32's rounding, far below what a different answer takes


def distance(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    size = max(np.linalg.norm(a), np.linalg.norm(b))
    return float(np.linalg.norm(a - b) / size) if size > 0 else 0.0


def drift_of(architecture, left, right, epochs):
    """[{"epoch", "weights": [...], "layers": [...]}]: distances in the order of the network's names."""
    return [{"epoch": epoch,
             "weights": [distance(left[f"epoch{epoch}/weight/{name}"], right[f"epoch{epoch}/weight/{name}"])
                         for name in architecture.weights],
             "layers": [distance(left[f"epoch{epoch}/value/{name}"], right[f"epoch{epoch}/value/{name}"])
                        for name in architecture.names]} for epoch in epochs]


def first_parted(architecture, drift):
    """(layer, epoch) that is first further apart than PARTED; of one epoch the first layer; None: none is."""
    for point in drift:
        for name, value in zip(architecture.names, point["layers"]):
            if not value <= PARTED:
                return name, point["epoch"]
    return None


def first_different_weight(architecture, left, right):
    """The first weight, in the layers' order, whose bits differ after the first step, and by how much; None: all equal."""
    for name in architecture.weights:
        a, b = left[f"step1/after/{name}"], right[f"step1/after/{name}"]
        if not np.array_equal(a, b):
            return name, distance(a, b)
    return None
