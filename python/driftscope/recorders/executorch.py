"""ExecuTorch: what the kernels of its runtime return, from a .pte file, through the runtime's own ETDump.

A delegate (XNNPACK and so on) is one call, of which the results are seen; lower without a partitioner to see every
operator. A value's name is the operator's, in the order of execution: convolution, relu, convolution#2.
"""
import os
import tempfile
from pathlib import Path

from . import is_file
from ..errors import BadInput
from ..recording import Recording

TITLE = "ExecuTorch"
INSTALL = "pip install executorch torch"


def accepts(model):
    return is_file(model, ".pte")


def record(model, inputs, method="forward", buffer_mb=256):
    """method: of the program; buffer_mb: what the runtime keeps of all values together."""
    from importlib.metadata import version

    import torch
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(Path(os.fspath(model)), enable_etdump=True, debug_buffer_size=buffer_mb << 20)
    if method not in program.method_names:
        raise BadInput(f"{model}: has the methods {sorted(program.method_names)}, not {method!r}")
    names = list(inputs) if isinstance(inputs, dict) else [f"input_{i}" for i in range(len(inputs))]
    arrays = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
    loaded = program.load_method(method)
    expected = loaded.metadata.num_inputs()
    if expected != len(arrays):
        raise BadInput(f"{model}: {method} takes {expected} inputs, got {len(arrays)}")
    loaded.execute([torch.from_numpy(array.copy()) for array in arrays])
    recording = Recording("executorch", version("executorch"), inputs=dict(zip(names, arrays)),
                          facts={"method": method, "how": "ETDump"})
    with tempfile.TemporaryDirectory(prefix="driftscope-") as folder:
        dump, values = Path(folder, "etdump"), Path(folder, "values")
        program.write_etdump_result_to_file(str(dump), str(values))
        if not dump.exists() or not values.exists():
            raise BadInput("this build of ExecuTorch records nothing: it needs EXECUTORCH_ENABLE_EVENT_TRACER=ON")
        _add_events(recording, dump, values, buffer_mb)
    return recording


def _add_events(recording, dump, values, buffer_mb):
    from executorch.devtools import Inspector
    try:
        inspector = Inspector(etdump_path=str(dump), debug_buffer_path=str(values))
    except Exception as error:  # of its flatbuffers, where the values did not fit
        raise BadInput(f"ExecuTorch's dump cannot be read: {error}; give it more than buffer_mb={buffer_mb}") from error
    seen = set()
    for block in inspector.event_blocks:
        for event in block.events:
            place = block.name, event._instruction_id
            # A kernel's own event comes before the OPERATOR_CALL around it, with the same values.
            if not event.debug_data or (event.name == "OPERATOR_CALL" and place in seen):
                continue
            seen.add(place)
            operator = event.name.removeprefix("native_call_").removesuffix(".out")
            for number, value in enumerate(event.debug_data):
                if hasattr(value, "shape"):
                    recording.add(f"{operator}.{number}" if number else operator, value, operator)
