"""Core ML: every value of an ML program (.mlpackage), which coremltools makes on any system and a Mac alone can run.

Every operation's result is made an output of a copy of the program. Convert with compute_precision=FLOAT32: the default is
float16, which verify then shows as what it is.
"""
import os
import sys

from . import in_order, is_file, of_packages
from ..errors import BadInput, FrameworkMissing
from ..recording import Recording

TITLE = "Core ML"
INSTALL = "pip install coremltools"
# MIL's element types (MIL.proto, DataType) as Core ML's of an output (FeatureTypes.proto, ArrayDataType) has them.
ARRAY_TYPES = {10: 65552, 11: 65568, 12: 65600, 23: 131104}  # float16, float32, float64, int32


def accepts(model):
    return of_packages(model, "coremltools") or is_file(model, ".mlpackage")


def record(model, inputs, compute_units="CPU_ONLY"):
    """compute_units: of coremltools, by name: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL."""
    import coremltools

    watched, names, operators = watch(coremltools, model, compute_units)
    if sys.platform != "darwin":
        raise FrameworkMissing(f"Core ML predicts on a Mac only; here ({sys.platform}) coremltools converts. The program with"
                               f" all {len(operators)} values as outputs can be made: recorders.coreml.watch")
    feed = in_order(inputs, names)
    results = watched.predict(dict(zip(names, feed)))
    recording = Recording("coreml", coremltools.__version__, inputs=dict(zip(names, feed)),
                          facts={"compute_units": compute_units})
    for name, operator in operators.items():
        if name in results:
            recording.add(name, results[name], operator)
        else:
            recording.left_out.append((name, "Core ML did not return it"))
    return recording


def watch(coremltools, model, compute_units="CPU_ONLY"):
    """(MODEL with every value as an output, names of its inputs, operator of each value by name)."""
    if isinstance(model, (str, os.PathLike)):
        model = coremltools.models.MLModel(os.fspath(model), skip_model_load=True)
    spec = model.get_spec()
    if spec.WhichOneof("Type") != "mlProgram":
        raise BadInput(f"this Core ML model is a {spec.WhichOneof('Type')}, expected an mlProgram: convert with"
                       " convert_to='mlprogram'")
    operators = _add_outputs(spec)
    watched = coremltools.models.MLModel(spec, weights_dir=model.weights_dir, skip_model_load=sys.platform != "darwin",
                                         compute_units=getattr(coremltools.ComputeUnit, compute_units))
    return watched, [feature.name for feature in spec.description.input], operators


def _add_outputs(spec):
    """Makes what each operation of the main function returns an output; operator by name, in their order."""
    function = spec.mlProgram.functions["main"]
    block = function.block_specializations[function.opset]
    present, operators = set(block.outputs), {}
    for operation in block.operations:
        if operation.type == "const":
            continue
        for output in operation.outputs:
            tensor = output.type.tensorType
            shape = [dimension.constant.size for dimension in tensor.dimensions
                     if dimension.WhichOneof("dimension") == "constant"]
            if len(shape) != len(tensor.dimensions) or tensor.dataType not in ARRAY_TYPES:
                continue
            operators[output.name] = operation.type
            if output.name not in present:
                block.outputs.append(output.name)
                feature = spec.description.output.add()
                feature.name = output.name
                feature.type.multiArrayType.shape.extend(shape or [1])
                feature.type.multiArrayType.dataType = ARRAY_TYPES[tensor.dataType]
    return operators
