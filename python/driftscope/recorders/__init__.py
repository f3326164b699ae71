"""Recorders, one file each: they run a framework's model and return a Recording (recording.py).

A recorder is a module of this folder; nothing else lists it. It must not import its framework before it is used:

    TITLE = "Keras"                 as people call it
    INSTALL = "pip install keras"   what makes it run
    def accepts(model) -> bool      whether MODEL is one of its own; by the type's module, or the file's name
    def record(model, inputs, **options) -> Recording
                                    INPUTS: arrays by name, or in order; options are the recorder's own
"""
import importlib
import os
import pkgutil
from contextlib import contextmanager

from ..errors import BadInput, FrameworkMissing


def names():
    """The names of all recorders."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def load(name):
    if name not in names():
        raise BadInput(f"there is no recorder {name!r}; there are {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")


def recorder_for(model, framework=None):
    """The module that records MODEL: the one named, or the one that accepts it. Raises BadInput where it is unclear."""
    if framework:
        return load(framework)
    found = [module for module in map(load, names()) if module.accepts(model)]
    if len(found) == 1:
        return found[0]
    what = f"{type(model).__module__}.{type(model).__qualname__}"
    if not found:
        raise BadInput(f"no recorder takes a {what}{_path_text(model)}; name one: framework= one of"
                       f" {', '.join(names())}")
    raise BadInput(f"several recorders take a {what}{_path_text(model)}: name one, framework="
                   f" {' or '.join(module.__name__.rpartition('.')[2] for module in found)}")


def _path_text(model):
    return f" ({os.fspath(model)})" if isinstance(model, (str, os.PathLike)) else ""


@contextmanager
def needs(module):
    """Inside it, a missing import is reported as the framework's, with the command that installs it."""
    try:
        yield
    except ImportError as error:
        raise FrameworkMissing(f"{module.TITLE} cannot be imported: {error}; install it: {module.INSTALL}") from error


def of_packages(model, *packages):
    """Whether MODEL's class, or one that it derives from, comes from one of these packages."""
    return any(kind.__module__.split(".")[0] in packages for kind in type(model).__mro__)


def is_file(model, *endings):
    return isinstance(model, (str, os.PathLike)) and os.fspath(model).lower().endswith(endings)


def in_order(inputs, expected, what="the model"):
    """INPUTS (arrays by name, or in order) in the order of the names EXPECTED. Raises BadInput if they differ."""
    expected = list(expected)
    if isinstance(inputs, dict):
        if set(inputs) == set(expected):
            return [inputs[name] for name in expected]
        if len(inputs) != len(expected) or set(inputs) & set(expected):
            raise BadInput(f"{what} takes the inputs {expected}, got {list(inputs)}")
        return list(inputs.values())
    if len(inputs) != len(expected):
        raise BadInput(f"{what} takes {len(expected)} inputs ({', '.join(expected)}), got {len(inputs)}")
    return list(inputs)
