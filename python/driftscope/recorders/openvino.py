"""OpenVINO: every value of an .onnx file, an .xml file (OpenVINO's own) or an openvino.Model, on its CPU plugin.

Every value is made an output of the model, at the precision asked for (f32 unless said otherwise: the plugin may
choose bf16 on its own on some processors). Names are those of the tensors, which are ONNX's where the model came from
ONNX; the plugin's own fusion happens behind them, so constants and values that only it makes are not seen.
"""
from pathlib import Path

from . import in_order, is_file, of_packages
from ..recording import Recording

TITLE = "OpenVINO"
INSTALL = "pip install openvino"


def accepts(model):
    return of_packages(model, "openvino") or is_file(model, ".xml")


def record(model, inputs, precision="f32", device="CPU", threads=None):
    """precision: f32, f16, bf16 (as INFERENCE_PRECISION_HINT); device: OpenVINO's name; threads: default its own."""
    import openvino

    core = openvino.Core()
    if isinstance(model, (str, Path)):
        model = core.read_model(str(model))
    elif hasattr(model, "clone"):
        model = model.clone()  # outputs are added to it
    watched = _watch_all(model)
    options = {"INFERENCE_PRECISION_HINT": precision}
    if threads:
        options["INFERENCE_NUM_THREADS"] = threads
    compiled = core.compile_model(model, device, options)
    names = [_name(port) for port in model.inputs]
    feed = in_order(inputs, names)
    results = compiled(dict(enumerate(feed)))
    recording = Recording("openvino", openvino.__version__, inputs=dict(zip(names, feed)),
                          facts={"device": device, "precision": precision,
                                 "threads": str(compiled.get_property("INFERENCE_NUM_THREADS"))})
    for place, name, aliases, operator in watched:
        recording.add(name, results[compiled.output(place)], operator, aliases)
    return recording


def _watch_all(model):
    """Makes every value of MODEL an output; returns (place among the outputs, name, other names, operator)
    of each, in the order of the graph."""
    first = {_identity(result.input_value(0)): None for result in model.get_results()}
    ports = []
    for node in model.get_ordered_ops():
        if node.get_type_name() in ("Parameter", "Result", "Constant"):
            continue
        for port in node.outputs():
            if _identity(port) not in first and port.get_element_type().get_type_name() != "string":
                ports.append(port)
    outputs = [result.input_value(0) for result in model.get_results()]
    order = {node.get_name(): place for place, node in enumerate(model.get_ordered_ops())}
    described = [(place, *_describe(port)) for place, port in enumerate(outputs + ports)]  # before names are made up
    described.sort(key=lambda row: order[(outputs + ports)[row[0]].get_node().get_name()])
    if ports:
        model.add_outputs(ports)
    return described


def _describe(port):
    """A value without a name of its own is called like its operator: numbers that OpenVINO makes up differ each time."""
    node = port.get_node()
    kind = node.get_type_name()
    name = min(port.get_names(), default=kind, key=lambda text: (len(text), text))
    return name, (node.get_friendly_name(), *sorted(port.get_names())), kind


def _identity(port):
    return port.get_node().get_name(), port.get_index()


def _name(port):
    return min(port.get_names(), default=port.get_node().get_friendly_name(), key=lambda name: (len(name), name))
