"""record, verify, compare, run: what a notebook calls. Each but record is one call of the program.

docs/python.md shows them at work.
"""
import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import recorders
from .axes import COMMON, arrange
from .errors import BadInput
from .mapping import Mapping
from .matching import find_mapping
from .notebook import in_notebook, report_view
from .onnx_inputs import read_inputs
from .program import call, call_json, existing_file, reference_target
from .tables import Table
from .trace import Trace, file_sha256, write_recording

if TYPE_CHECKING:  # made by tools/documents: an older clone may not have them
    from .documents import CompareDocument, VerifyDocument


def record(framework_model, inputs, onnx, out=None, mapping=None, framework=None, onnx_inputs=None, **options):
    """Runs FRAMEWORK_MODEL in its framework and writes what each layer computed as a trace of the model ONNX.

    framework_model: a module, model, function or file that a recorder takes (driftscope.recorders.names()).
    inputs: one array, several in order, or a dictionary by name: in the framework's own layout and dtype.
    onnx: the .onnx file that was converted from it.
    out: the trace's file; default: ONNX's name with the framework's, in the current folder.
    mapping: a Mapping or its file; default: found by names and values, against a run of ONNX on the same inputs.
    framework: the recorder's name, where the object does not imply it.
    onnx_inputs: the same inputs as ONNX takes them, by name, where layout or order cannot be found out.
    options: the recorder's own.

    Returns a Trace; its .mapping says what was mapped, what was not and why.
    """
    onnx = existing_file(onnx, "the ONNX model")
    recorder = recorders.recorder_for(framework_model, framework)
    with recorders.needs(recorder):
        recording = recorder.record(framework_model, _as_inputs(inputs), **options)
    if not recording.layers:
        raise BadInput(f"{recording.framework} computed nothing that could be recorded"
                       + "".join(f"; {name}: {why}" for name, why in recording.left_out[:5]))
    given = _onnx_inputs(onnx, recording.inputs, onnx_inputs)
    sha256 = file_sha256(onnx)
    if isinstance(mapping, (str, os.PathLike)):
        mapping = Mapping.load(mapping)
    with tempfile.TemporaryDirectory(prefix="driftscope-") as folder:
        reference = run(onnx, given, trace=Path(folder, "reference.safetensors"))
        order = [name for node in reference.nodes for name in node["outputs"] if name in reference.values]
        if mapping is None:
            mapping = find_mapping(recording, reference.values, order, sha256)
        elif mapping.model_sha256 and mapping.model_sha256 != sha256:
            raise BadInput(f"the mapping was made for another ONNX model (SHA-256 {mapping.model_sha256[:12]}…, that of"
                           f" {onnx} is {sha256[:12]}…); record once without it, or clear its model_sha256")
        kinds = {name: (reference[name].shape, reference[name].dtype) for name in order}
        del reference
        if not mapping.links:
            raise BadInput(f"none of the {len(recording.layers)} values that {recording.framework} computed could be"
                           f" mapped to a value of {onnx}: is it converted from this model?\n{mapping}")
        out = Path(out or f"{Path(onnx).stem}.{recording.framework}.safetensors")
        write_recording(out, recording, mapping, given, kinds, sha256)
    return Trace(out, onnx, mapping, recording.left_out)


def run(model, inputs=None, target=None, trace=None, seed=None, timeout=None):
    """Runs MODEL (an .onnx file) on TARGET (`host/engine`; default: `pc/strict`, without the native program
    `node/strict`); returns its Trace.

    inputs: arrays by ONNX name, or in order; default: random ones of the SEED (an integer). trace: the file that
    is written; default: in the current folder, named after model and target. timeout: seconds.
    """
    model = existing_file(model, "the ONNX model")
    target = target or reference_target()
    trace = Path(trace or f"{Path(model).stem}.{target.replace('/', '-').replace(':', '-')}.safetensors")
    with tempfile.TemporaryDirectory(prefix="driftscope-") as folder:
        call(["run", model, *_input_options(model, inputs, seed, folder), "--target", target, "--trace", trace,
              "--quiet"], timeout)
    return Trace(trace, model)


def verify(model, traces, fail_on="fault", timeout=None):
    """Judges a trace (a Trace or a file) of MODEL layer by layer; returns a VerifyTable. Of a list: a list of them."""
    model, several = existing_file(model, "the ONNX model"), isinstance(traces, (list, tuple))
    paths = [_trace_path(trace) for trace in (traces if several else [traces])]
    results = call_json(["verify", model, *paths, "--fail-on", fail_on, "--quiet"], "driftscope-verify-1", timeout)
    tables = [VerifyTable(result, path) for result, path in
              zip(results if isinstance(results, list) else [results], paths)]
    return tables if several else tables[0]


def compare(model, left=None, right=(), inputs=None, seed=None, report=None, timeout=None):
    """Compares targets and traces on one input, layer by layer; returns a CompareTable.

    left, right: targets (`chrome/fast`), Traces or their files; left is `pc/strict` by default, without the native
    program `node/strict`; right may be several. Where some are traces, the
    targets beside them must get the same input: pass it as inputs. report: also an HTML file; default: in a notebook,
    which shows its chart and a link to it, `MODEL.compare.html` in the current folder; False: none.
    """
    model = existing_file(model, "the ONNX model")
    if report is None and in_notebook():
        report = f"{Path(model).stem}.compare.html"
    right = list(right) if isinstance(right, (list, tuple)) else [right]
    if not right:
        raise BadInput("compare needs something on the right: a target such as 'chrome/fast', or a trace")
    with tempfile.TemporaryDirectory(prefix="driftscope-") as folder:
        result = call_json(["compare", model, *_input_options(model, inputs, seed, folder), "--left", _target(left or reference_target()),
                            "--right", ",".join(map(_target, right)), "--quiet",
                            *(["--report", report] if report else [])], "driftscope-compare-1", timeout)
    return CompareTable(result, report or None)


class VerifyTable(Table):
    """A verdict on each layer. verdict, first_fault, layers: as `driftscope verify --json` has them (all of it: json)."""

    def __init__(self, result: "VerifyDocument", path=""):
        self.json, self.verdict, self.first_fault = result, result["verdict"], result["first_fault"]
        self.layers = result["layers"]
        where = f"; first fault: {self.first_fault}" if self.first_fault else ""
        rows = [{"layer": layer["node"], **layer} for layer in self.layers]
        super().__init__(f"{path}  {result.get('target') or ''}".strip(), rows,
                         ("layer", "op", "shape", "max_abs", "max_ulp", "budget_used", "verdict"),
                         f"verdict: {self.verdict}{where}", "verdict")

    def layer(self, name):
        """The layer with this node name or output name. Raises KeyError."""
        for layer in self.layers:
            if name in (layer["node"], layer["output"]):
                return layer
        raise KeyError(f"no layer {name!r}; there are {', '.join(layer['node'] for layer in self.layers[:8])}, …")


class CompareTable(Table):
    """A row for each layer and target on the right. left, right: the objects of `driftscope compare --json` (json).

    report: the file of the HTML report, None without one.
    """

    def __init__(self, result: "CompareDocument", report=None):
        self.json, self.left, self.right, self.report = result, result["left"], result["right"], report
        rows = []
        for side in self.right:
            verdicts = {layer["output"]: layer["verdict"] for layer in (side.get("verify") or {}).get("layers", ())}
            rows += [{"target": side["target"], "layer": layer["node"], **layer,
                      "verdict": verdicts.get(layer["output"], "")} for layer in side.get("layers") or ()]
        super().__init__(f"{self.left['target']} against {', '.join(side['target'] for side in self.right)}", rows,
                         ("target", "layer", "max_abs", "max_ulp", "cosine", "left_ns", "right_ns", "verdict"),
                         result.get("headline", ""), "verdict")

    def _repr_html_(self):
        if not self.report:
            return super()._repr_html_()
        # A table of many layers would hide what comes behind it.
        return f"<p><b>{html.escape(self.note)}</b></p>{report_view(self.report)}{self._as_html('')}"

    @property
    def first_divergence(self):
        """The first layer that differs, by target."""
        return {side["target"]: side.get("first_divergence") for side in self.right}

    @property
    def verdicts(self):
        return {side["target"]: (side.get("verify") or {}).get("verdict") for side in self.right}


def _as_inputs(inputs):
    """A dictionary of arrays or a list of them; of what has an array interface, as the framework's own tensors."""
    if isinstance(inputs, dict):
        return {str(name): _array(value, name) for name, value in inputs.items()}
    if isinstance(inputs, (list, tuple)):
        return [_array(value, place) for place, value in enumerate(inputs)]
    return [_array(inputs, 0)]


def _array(value, which):
    if hasattr(value, "detach"):  # a PyTorch tensor that may require gradients
        value = value.detach().cpu()
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise BadInput(f"input {which}: its dtype is {array.dtype}; expected numbers")
    return array


def _onnx_inputs(onnx, got, chosen):
    """The graph's inputs by ONNX name: CHOSEN, or those that the framework GOT, in ONNX's layout and dtype."""
    wanted = read_inputs(onnx)
    names = [value.name for value in wanted]
    if chosen is not None:
        if set(chosen) != set(names):
            raise BadInput(f"onnx_inputs has {list(chosen)}, the inputs of {onnx} are {names}")
        return {name: np.asarray(chosen[name]) for name in names}
    if len(wanted) != len(got):
        raise BadInput(f"{onnx} takes the inputs {names}, the framework's model took {list(got)}: pass onnx_inputs=")
    arrays = list(got.values())
    if set(names) == set(got):
        arrays = [got[name] for name in names]
    return {value.name: _as_onnx_takes_it(array, value, onnx) for array, value in zip(arrays, wanted)}


def _as_onnx_takes_it(array, wanted, onnx):
    shape = wanted.shape
    if wanted.dtype is not None and array.dtype != wanted.dtype:
        cast = array.astype(wanted.dtype)
        if not np.array_equal(cast.astype(array.dtype), array, equal_nan=array.dtype.kind == "f"):
            raise BadInput(f"input {wanted.name!r} of {onnx} is {np.dtype(wanted.dtype)}; the framework got"
                           f" {array.dtype} with values that it cannot hold")
        array = cast
    if shape is None or _fits(array.shape, shape):
        return np.array(array, order="C")
    for axes in COMMON.get(array.ndim, ()):
        arranged = [array.shape[axis] for axis in axes]
        if _fits(arranged, shape):
            return arrange(array, axes, arranged)
    raise BadInput(f"input {wanted.name!r} of {onnx} has shape {['any' if n is None else n for n in shape]}, the"
                   f" framework got {list(array.shape)}: pass onnx_inputs=")


def _fits(shape, wanted):
    return len(shape) == len(wanted) and all(w in (None, have) for have, w in zip(shape, wanted))


def _input_options(model, inputs, seed, folder):
    """--input options; arrays become .npy files in FOLDER."""
    if inputs is None:
        return [] if seed is None else ["--input", f"seed:{int(seed)}"]
    if seed is not None:
        raise BadInput("either inputs or a seed, not both")
    inputs = _as_inputs(inputs)
    if not isinstance(inputs, dict):
        inputs = dict(zip((value.name for value in read_inputs(model)), recorders.in_order(
            inputs, [value.name for value in read_inputs(model)], model)))
    options = []
    for place, (name, array) in enumerate(inputs.items()):
        path = Path(folder, f"{place}.npy")
        np.save(path, np.asarray(array, order="C"))
        options += ["--input", f"{name}={path}"]
    return options


def _trace_path(trace):
    return str(trace.path) if isinstance(trace, Trace) else existing_file(trace, "the trace")


def _target(side):
    if isinstance(side, Trace):
        return f"file/{side.path}"
    side = os.fspath(side)
    return f"file/{side}" if side.endswith(".safetensors") and not side.startswith("file/") else side
