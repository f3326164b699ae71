#!/usr/bin/env python3
"""Judges ONNX Runtime on every conformance case and every shipped model: looks for false alarms.

usage: ort_alarms.py [--target pc/ort] [--driftscope PROGRAM] [--filter TEXT]
Every suspect or fault is named. Those that are ONNX Runtime's own (KNOWN says why) are expected; exit code 1
when there is another, or when one of them is no longer found."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = pathlib.Path("/usr/share/libonnx-testdata/data")
KNOWN = {
    "test_maxunpool_export_with_output_shape": "indices are taken for the shape without output_shape",
    "test_resize_downsample_scales_cubic_align_corners": "the size is rounded down before it scales",
    "test_resize_downsample_scales_linear_align_corners": "the size is rounded down before it scales",
}


def models(only: str):
    """(name, model, input arguments)"""
    for model in sorted((ROOT / "assets/models").glob("*.onnx")):
        if only in model.stem:
            yield model.stem, model, []
    for model in sorted(CASES.glob("*/*/model.onnx")):
        if only in model.parent.name:
            data = model.parent / "test_data_set_0"
            yield model.parent.name, model, ["--input", str(data)] if data.exists() and any(data.iterdir()) else []


def judge(program: str, target: str, model: pathlib.Path, inputs: list, folder: str):
    """Verdict and alarming layers; None where the target does not run the model."""
    trace = f"{folder}/trace.safetensors"
    ran = subprocess.run([program, "run", model, *inputs, "--target", target, "--trace", trace, "--quiet"],
                         capture_output=True, text=True)
    if ran.returncode != 0:
        return None, []
    judged = subprocess.run([program, "verify", model, trace, "--json", "-", "--quiet"],
                            capture_output=True, text=True)
    if not judged.stdout:  # nothing to judge: random numbers
        return "not judged", []
    report = json.loads(judged.stdout)
    return report["verdict"], [layer for layer in report["layers"] if layer["verdict"] in ("suspect", "fault")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="pc/ort")
    parser.add_argument("--driftscope", default=str(ROOT / "build/native/driftscope"))
    parser.add_argument("--filter", default="")
    given = parser.parse_args()
    counts = collections.Counter()
    alarmed = set()
    unexpected = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model, inputs in models(given.filter):
            verdict, layers = judge(given.driftscope, given.target, model, inputs, folder)
            counts[verdict or "not run"] += 1
            for layer in layers:
                alarmed.add(name)
                unexpected += name not in KNOWN
                print(f"{name}: {layer['node']} ({layer['op']}): {layer['verdict']}, worst {layer['worst']}",
                      f"(known: {KNOWN[name]})" if name in KNOWN else "")
    gone = [name for name in KNOWN if given.filter in name and name not in alarmed]
    for name in gone:
        print(f"{name}: no alarm any more, though listed as: {KNOWN[name]}")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    return 1 if unexpected or gone else 0


if __name__ == "__main__":
    sys.exit(main())
