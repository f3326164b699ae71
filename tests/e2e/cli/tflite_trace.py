"""Runs an exported .tflite file with another program's interpreter and writes what it computed as a trace.

usage: tflite_trace.py litert|armnn MODEL.tflite EXPORT.json INPUTS.safetensors OUT.safetensors
EXPORT.json: what `driftscope export --tflite MODEL.tflite --json` printed. INPUTS: a trace that has the inputs."""
import json
import struct
import sys

import numpy as np

TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64, "U8": np.uint8, "I8": np.int8, "BOOL": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]],
                                TYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in head.items() if name != "__metadata__" and entry["dtype"] in TYPES}


def write(path, tensors):
    head, data = {"__metadata__": {"format": "driftscope-trace-1"}}, b""
    for name, tensor in tensors.items():
        held = np.ascontiguousarray(tensor).tobytes()
        head[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                      "data_offsets": [len(data), len(data) + len(held)]}
        data += held
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def litert(model, feeds):
    """Every tensor by name. Kernels without XNNPACK, with every tensor kept, so that inner values can be read."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    interpreter = Interpreter(model, experimental_preserve_all_tensors=True,
                              experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    tensors = {detail["name"]: detail for detail in interpreter.get_tensor_details()}
    for name, value in feeds.items():
        interpreter.set_tensor(tensors[name]["index"], np.ascontiguousarray(value, tensors[name]["dtype"]))
    interpreter.invoke()
    return {name: interpreter.get_tensor(detail["index"]) for name, detail in tensors.items()}


def armnn(model, feeds):
    """The outputs of the file by name: Arm NN's own parser, on its reference backend."""
    import pyarmnn
    parser = pyarmnn.ITfLiteParser()
    network = parser.CreateNetworkFromBinaryFile(model)
    runtime = pyarmnn.IRuntime(pyarmnn.CreationOptions())
    optimized, said = pyarmnn.Optimize(network, [pyarmnn.BackendId("CpuRef")], runtime.GetDeviceSpec(),
                                       pyarmnn.OptimizerOptions())
    if optimized is None:
        raise ValueError("; ".join(said))
    loaded, said = runtime.LoadNetwork(optimized)
    if said:
        raise ValueError(said)
    graph = parser.GetSubgraphCount() - 1
    inputs = [parser.GetNetworkInputBindingInfo(graph, name) for name in feeds]
    names = parser.GetSubgraphOutputTensorNames(graph)
    outputs = [parser.GetNetworkOutputBindingInfo(graph, name) for name in names]
    given = pyarmnn.make_input_tensors(inputs, [np.ascontiguousarray(value) for value in feeds.values()])
    taken = pyarmnn.make_output_tensors(outputs)
    runtime.EnqueueWorkload(loaded, given, taken)
    return dict(zip(names, pyarmnn.workload_tensors_to_ndarray(taken)))


def main(interpreter, model, export, inputs, out):
    with open(export, encoding="utf-8") as file:
        described = json.load(file)
    values = described["models"][0]["values"]
    given = read(inputs)
    feeds, traced = {}, {}
    for name in described["inputs"]:
        place = values[name]
        traced[name] = given[name]
        feeds[place["tensor"]] = np.transpose(given[name], place["order"]) if place["order"] else given[name]
    tensors = {"litert": litert, "armnn": armnn}[interpreter](model, feeds)
    for name, place in values.items():
        tensor = tensors.get(place["tensor"])
        if name in traced or tensor is None or tensor.dtype not in NAMES:
            continue
        traced[name] = np.transpose(tensor, np.argsort(place["order"])) if place["order"] else tensor
    write(out, traced)
    print(len(traced))


if __name__ == "__main__":
    main(*sys.argv[1:])
