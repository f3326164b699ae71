#!/usr/bin/python3
"""Writes the operator cases into tests/data/ops/: NAME.onnx and NAME.safetensors each.

The tensors file is a Driftscope trace: the graph's inputs and what PyTorch computes in double,
rounded once to the type of the model.
"""
import argparse
import hashlib
import json
from pathlib import Path

import onnx
import torch

import safetensors_file
import torch_ops
from cases import all_cases

ROOT = Path(__file__).resolve().parents[2]


def expected(case):
    """Every output of CASE: computed in double, floats then rounded to float32."""
    values = torch_ops.evaluate(case.build({}), case.inputs, torch.float64)
    return {name: (values[name].float() if values[name].is_floating_point()
                   else values[name]).numpy() for name in case.outputs}


def write(case, folder):
    """Returns the bytes written."""
    outputs = expected(case)
    model = case.build(outputs)
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    data = model.SerializeToString(deterministic=True)
    (folder / f"{case.name}.onnx").write_bytes(data)
    node = {"name": case.name, "op": case.op, "outputs": case.outputs}
    path = folder / f"{case.name}.safetensors"
    safetensors_file.write(path, {**case.inputs, **outputs}, {
        "format": "driftscope-trace-1", "target": "pc/pytorch",
        "model_sha256": hashlib.sha256(data).hexdigest(),
        "run": json.dumps({"engine": "pytorch", "precision": "double, rounded once"}),
        "nodes": json.dumps([node])})
    return len(data) + path.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "tests/data/ops")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    written, names = 0, set()
    for case in all_cases():
        if case.name in names:
            raise ValueError(f"two cases are called {case.name}")
        names.add(case.name)
        written += write(case, folder)
    for path in folder.iterdir():
        if path.suffix in (".onnx", ".safetensors") and path.stem not in names:
            path.unlink()
    print(f"{len(names)} cases, {written / 1e3:.0f} kB in {folder}")


if __name__ == "__main__":
    main()
