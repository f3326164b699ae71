"""Faults that can be planted into one framework's training, so that one can see how they are found.

    FRAMEWORK:rate:F            the learning rate times F
    FRAMEWORK:momentum:M        momentum M, which shows from the second step on
    FRAMEWORK:sum               the loss is summed over the batch instead of averaged
    FRAMEWORK:smoothing:E       labels smoothed by E
    FRAMEWORK:frozen:WEIGHT     a weight without gradient, such as conv2.bias

Clients: the backends, the command.
"""
from dataclasses import dataclass

from ..errors import BadInput

NUMBERS = {"rate": 1.0, "momentum": 0.0, "smoothing": 0.0}


@dataclass(frozen=True)
class Plant:
    rate: float = 1.0       # factor
    momentum: float = 0.0
    smoothing: float = 0.0
    sum: bool = False
    frozen: str = ""


def parse(text, frameworks):
    """"keras:momentum:0.9" → ("keras", Plant). Raises BadInput."""
    framework, _, rest = text.partition(":")
    kind, _, value = rest.partition(":")
    if framework not in frameworks:
        raise BadInput(f"--plant {text}: no framework {framework!r} is trained; there are {', '.join(frameworks)}")
    if kind == "sum" and not value:
        return framework, Plant(sum=True)
    if kind == "frozen" and value:
        return framework, Plant(frozen=value)
    if kind in NUMBERS:
        try:
            return framework, Plant(**{kind: float(value)})
        except ValueError:
            pass
    raise BadInput(f"--plant {text}: expected FRAMEWORK:sum, FRAMEWORK:frozen:WEIGHT, or rate, momentum or smoothing"
                   " with a number, such as keras:momentum:0.9")
