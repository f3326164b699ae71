#!/usr/bin/env python3
"""Checks of the tree: includes go one way, core/ has no platform branches, no file is unreachable.

usage: layers.py [ROOT]   exit code 1 when something is wrong; every finding names file and line."""
import pathlib
import re
import sys

# A folder may include itself and what stands before it; platform/ is one header that all may use.
ORDER = ["base", "platform", "model", "graph", "dataset", "numerics", "eval", "ops", "runtime", "lowering",
         "device", "engines", "trace", "verify", "bench", "results", "compare", "protocol", "report", "checks",
         "gui"]
PLATFORM = re.compile(r"\b(__EMSCRIPTEN__|_WIN32|__APPLE__|__linux__|__wasm__|__ANDROID__)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def layer(path: str) -> int:
    return ORDER.index(path.split("/")[1])


def findings(root: pathlib.Path):
    for file in sorted((root / "core").rglob("*.?pp")):
        name = file.relative_to(root).as_posix()
        folder = name.split("/")[1]
        if folder not in ORDER:
            yield f"{name}: folder '{folder}' has no place in the order of layers"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if PLATFORM.search(line):
                yield f"{name}:{number}: a platform branch; choose a file in CMake instead"
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            if not (root / target).exists() and not target.startswith("generated/"):
                yield f"{name}:{number}: {target} is not a path from the root of the repository"
            elif not target.startswith("core/"):
                yield f"{name}:{number}: core/ includes {target}, which is outside of core/"
            elif layer(target) > layer(name):
                yield f"{name}:{number}: {folder}/ includes {target}, a later layer"


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    found = list(findings(root))
    print("\n".join(found) or "includes go one way, core/ has no platform branches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
