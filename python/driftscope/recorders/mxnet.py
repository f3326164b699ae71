"""MXNet: every output of a Gluon block, or of a model in MXNet's own files, on the processor.

MXNet is retired; its last wheel, 1.9.1, runs on Python 3.11 with a NumPy before 1.24.
"""
import os
import tempfile

from . import in_order, is_file, of_packages
from ..errors import BadInput
from ..recording import Recording

TITLE = "MXNet"
INSTALL = "pip install mxnet==1.9.1 'numpy<1.24' (Python 3.11 or older)"


def accepts(model):
    return of_packages(model, "mxnet") or is_file(model, "-symbol.json")


def record(model, inputs, params=None):
    """MODEL: a hybridized block that was called once, or NAME-symbol.json with PARAMS (default: NAME-0000.params)."""
    import mxnet

    symbol, constants = _read(mxnet, model, params)
    internals = symbol.get_internals()
    names = [name for name in symbol.list_inputs() if name not in constants]
    feed = in_order(inputs, names)
    values = {**constants, **{name: mxnet.nd.array(value, dtype=value.dtype) for name, value in zip(names, feed)}}
    # Its oneDNN backend fuses an activation into the convolution before it although both are outputs here,
    # and then returns for both what was before the activation (1.9.1). Lists, since a name may occur in them
    # more than once.
    os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
    executor = internals.bind(mxnet.cpu(), [values[name] for name in internals.list_arguments()],
                              aux_states=[values[name] for name in internals.list_auxiliary_states()], grad_req="null")
    results = dict(zip(internals.list_outputs(), executor.forward(is_train=False)))
    recording = Recording("mxnet", mxnet.__version__, inputs=dict(zip(names, feed)))
    variables = set(symbol.list_inputs())
    for name, value in results.items():
        if name not in variables:
            recording.add(name, value.asnumpy(), aliases=(name.removesuffix("_output"),))
    return recording


def _read(mxnet, model, params):
    """(the symbol, its parameters by name)."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        params = params or path.removesuffix("-symbol.json") + "-0000.params"
        if not os.path.isfile(params):
            raise BadInput(f"{path}: its parameters are not in {params}: pass params=")
        return mxnet.sym.load(path), _plain(mxnet.nd.load(os.fspath(params)))
    with tempfile.TemporaryDirectory(prefix="driftscope-") as folder:
        path = os.path.join(folder, "model")
        try:
            model.export(path, epoch=0)
        except (AttributeError, RuntimeError) as error:
            raise BadInput(f"a block of MXNet must be hybridized and called once before it is recorded: {error}") from None
        return mxnet.sym.load(path + "-symbol.json"), _plain(mxnet.nd.load(path + "-0000.params"))


def _plain(constants):
    """Names without arg: and aux:."""
    return {name.partition(":")[2] or name: value for name, value in constants.items()}
