"""JAX: every intermediate value of a function, by running its jaxpr equation by equation.

A value's name is what jax.ad_checkpoint.checkpoint_name gave it; else the scopes that it is computed in
(jax.named_scope, and the functions that jit was used on) with the primitive: encoder/dense/dot_general. Each primitive
runs separately, as it does without jit: XLA fuses nothing, so every value exists. What runs inside a scan or while is
seen through its results, stacked for each step.
"""
import time

from . import of_packages
from ..recording import Recording

TITLE = "JAX"
INSTALL = "pip install jax"
INLINED = {"pjit": "jaxpr", "jit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
           "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "custom_vjp_call_jaxpr": "fun_jaxpr",
           "remat2": "jaxpr", "checkpoint": "jaxpr"}


def accepts(model):
    """Jitted functions; others (a plain Python function) need framework="jax"."""
    return of_packages(model, "jax", "jaxlib", "flax") and callable(model)


def record(model, inputs):
    """MODEL: a function of arrays. For parameters that are not inputs of the ONNX model, pass a closure or a partial."""
    import jax

    names = list(inputs) if isinstance(inputs, dict) else [f"input_{i}" for i in range(len(inputs))]
    values = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
    by_name = isinstance(inputs, dict) and _takes(model, names)
    function = (lambda *arrays: model(**dict(zip(names, arrays)))) if by_name else model
    closed = jax.make_jaxpr(function)(*values)
    recording = Recording("jax", jax.__version__, inputs=dict(zip(names, values)),
                          facts={"device": str(jax.devices()[0]), "how": "jaxpr, primitive by primitive"})
    _run(recording, closed.jaxpr, closed.consts, [jax.numpy.asarray(value) for value in values], "")
    return recording


def _takes(model, names):
    import inspect
    try:
        parameters = inspect.signature(model).parameters
    except (TypeError, ValueError):
        return False
    return set(names) <= set(parameters) or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _run(recording, jaxpr, constants, arguments, scope):
    """Evaluates JAXPR and adds each result; returns its outputs."""
    values = dict(zip(jaxpr.constvars, constants)) | dict(zip(jaxpr.invars, arguments))

    def read(atom):
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        operands = [read(atom) for atom in equation.invars]
        inner = equation.params.get(INLINED.get(equation.primitive.name, ""))
        path = _path(scope, equation)
        started = time.perf_counter_ns()
        if inner is not None:
            closed = hasattr(inner, "jaxpr")
            name = equation.params.get("name", "")
            results = _run(recording, inner.jaxpr if closed else inner, inner.consts if closed else (), operands,
                           _join(path, name if isinstance(name, str) else ""))
        else:
            parameters = equation.primitive.get_bind_params(equation.params)
            functions, parameters = parameters if isinstance(parameters, tuple) else ((), parameters)  # before JAX 0.10
            results = equation.primitive.bind(*functions, *operands, **parameters)
            results = list(results) if equation.primitive.multiple_results else [results]
            elapsed = time.perf_counter_ns() - started
            _add(recording, equation, path, results, elapsed)
        values.update(zip(equation.outvars, results))
    return [read(atom) for atom in jaxpr.outvars]


def _add(recording, equation, path, results, elapsed):
    primitive = equation.primitive.name
    named = equation.params.get("name") if primitive == "name" else None
    for place, result in enumerate(results):
        name = named or _join(path, primitive)
        recording.add(f"{name}.{place}" if place else name, result, primitive, (path,) if path else (),
                      None if named else elapsed)


def _path(scope, equation):
    stack = str(getattr(equation.source_info, "name_stack", "") or "")
    return _join(scope, stack)


def _join(*parts):
    return "/".join(filter(None, parts))
