#!/usr/bin/env python3
"""Runs the acceptance cases whose operators this build has.

usage: accept.py FOLDER DRIFTSCOPE   FOLDER holds run.py and cases/. Cases with an operator that the
build does not know are listed by name; everything else must be localised without a false alarm.
Exit code 77, which ctest takes for skipped, when there is no such FOLDER."""
import json
import pathlib
import subprocess
import sys
import tempfile


def missing_operator(driftscope: str, model: pathlib.Path) -> str:
    """Why the model cannot be read here, or which operator has no reference, else ''."""
    run = subprocess.run([driftscope, "doctor", str(model), "--json", "-"], capture_output=True,
                         text=True, timeout=60)
    if run.returncode != 0:
        return (run.stderr or run.stdout).strip()
    findings = json.loads(run.stdout)["model"]["findings"]
    return next((one["text"] for one in findings if one["kind"] == "opaque_operator"), "")


def main() -> int:
    folder, driftscope = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    if not (folder / "run.py").exists():
        print(f"skipped: {folder} holds no cases")
        return 77
    with tempfile.TemporaryDirectory() as chosen:
        for case in sorted((folder / "cases").iterdir()):
            why = missing_operator(driftscope, case / "model.onnx")
            if why:
                print(f"not run: {case.name}: {why[-150:]}")
            else:
                (pathlib.Path(chosen) / case.name).symlink_to(case)
        return subprocess.run([sys.executable, str(folder / "run.py"), driftscope, chosen,
                               "--list"]).returncode


if __name__ == "__main__":
    sys.exit(main())
