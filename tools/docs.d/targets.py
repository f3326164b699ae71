"""What tables of the documents are made over: the shipped models, and the targets of this machine, engines by their
folders, hosts by `driftscope doctor`. Clients: tools/conformance_table, tools/verdict_table, tools/budget_table."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "native" / "driftscope"
BROWSERS = ("chrome", "firefox", "safari")


def findings() -> dict[str, str]:
    """What of this machine is there (pc/strict, chrome, …), with its version or summary."""
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM.relative_to(ROOT)} is missing: ninja -C build/native driftscope")
    text = subprocess.run([PROGRAM, "doctor", "--json", "-"], capture_output=True, text=True).stdout
    return {finding["what"]: finding["detail"] for finding in json.loads(text)["findings"] if finding["ok"]}


def engines() -> list[str]:
    """Those to judge: all but the reference, our own first."""
    sources = {file.parent.name.replace("_", "-"): file.read_text()
               for file in (ROOT / "core" / "engines").glob("*/engine.cpp")}
    del sources["reference"]
    return sorted(sources, key=lambda name: ("PeerInfo" in sources[name], name))


def is_gpu(engine: str) -> bool:
    return "webgl" in engine or "webgpu" in engine


def has_threads(engine: str) -> bool:
    """Whether its number of threads is an option."""
    return "threads_option" in (ROOT / "core" / "engines" / engine.replace("-", "_") / "engine.cpp").read_text()


def has(browser: str, engine: str) -> bool:
    """What browsers lack: WebNN all but one build of Chromium; WebKitGTK WebGPU, and WebGL in workers, where others'
    runtimes are."""
    if "webnn" in engine:
        return browser == "chrome"
    return browser != "safari" or not is_gpu(engine) or engine == "webgl"


def all_targets() -> list[str]:
    """Every engine on every host that has it, by host."""
    here = findings()
    on_pc = [f"pc/{engine}" for engine in engines() if f"pc/{engine}" in here]
    return on_pc + [f"{browser}/{engine}" for browser in BROWSERS if browser in here
                    for engine in engines() if has(browser, engine)]


def models():
    """The shipped ones, the smallest first; those in opset 11 hold the same weights as others."""
    files = (ROOT / "assets" / "models").glob("*.onnx")
    return sorted((file for file in files if not file.stem.endswith("-opset11")), key=lambda file: file.stat().st_size)


def out_and_files(usage: str, run_all) -> tuple[pathlib.Path, list[pathlib.Path]]:
    """The folder $OUT, and the files of results: those that are named, or else what run_all(out, options) makes."""
    arguments = sys.argv[1:]
    if "OUT" not in os.environ or any(argument in ("-h", "--help") for argument in arguments):
        sys.exit(usage)
    out = pathlib.Path(os.environ["OUT"])
    if arguments and not arguments[0].startswith("-"):
        return out, [pathlib.Path(argument) for argument in arguments]
    return out, list(run_all(out, arguments))
