#!/usr/bin/env python3
"""Makes PyTorch's Linux wheel usable without the 2.5 GB of CUDA libraries that it links:

    torch_without_cuda.py SITE_PACKAGES

The registry's wheel is a CUDA build whose libraries name libcublas, libcudnn and so on as needed, so `import
torch` fails where they are not installed, even if only the processor is used. This puts a small shared library
in the place of each one that is missing: with its name, its version names and the functions that PyTorch's
libraries import, each of which returns an error ("no device"). PyTorch then says that CUDA is not available,
and computes on the processor as ever.

Client: tools/setup.d/frameworks.sh. Needs cc and binutils. Not for use with a GPU.
"""
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE; an error for every other of these libraries
OF_CUDA = re.compile(r"lib(cu|nv|nccl)[A-Za-z_]*\.so(\.\d+)*$")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed_by(libraries):
    """Names of CUDA's libraries that these name as needed and that are not among them."""
    present = {library.name for library in libraries}
    needed = set()
    for library in libraries:
        needed.update(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(library))))
    return sorted(name for name in needed - present if OF_CUDA.fullmatch(name))


def imports_of(libraries):
    """Functions that are imported and that none of these has: version name (or "") → names."""
    imported, defined = defaultdict(set), set()
    for library in libraries:
        for line in output("nm", "-D", str(library)).splitlines():
            *_, kind, symbol = line.split()
            name, _, version = symbol.partition("@")
            if kind == "U":
                imported[version.lstrip("@")].add(name)
            else:
                defined.add(name)
    return {version: names - defined for version, names in imported.items()}


def functions_for(library, imported):
    """Which of the imported functions belong to LIBRARY: by version name, else by the prefix of its name."""
    prefix = re.match(r"lib([A-Za-z]+)", library).group(1)
    pattern = re.compile(r"cu[A-Z]" if prefix == "cuda" else re.escape(prefix), re.IGNORECASE)
    versions = {library: imported.get(library, set())}
    if prefix == "nvshmem":
        versions["NVSHMEM"] = imported.get("NVSHMEM", set())
    loose = {name for name in imported.get("", ()) if pattern.match(name) and not name.startswith("_Z")}
    return versions, loose


def build(library, versions, loose, folder):
    functions = sorted(set().union(loose, *versions.values()))
    source = "".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in functions)
    script = "".join(f"{version} {{ global: {' '.join(f'{name};' for name in sorted(names))} }};\n"
                     for version, names in versions.items() if names)
    with tempfile.TemporaryDirectory() as scratch:
        c, map_file = Path(scratch, "stub.c"), Path(scratch, "stub.map")
        c.write_text(source or "int driftscope_empty;\n")
        map_file.write_text(script)
        command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", "-O1", f"-Wl,-soname,{library}",
                   "-o", str(folder / library), str(c)]
        subprocess.run(command + ([f"-Wl,--version-script={map_file}"] if script else []), check=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1], "torch", "lib")
    libraries = [path for path in folder.glob("*.so*") if path.is_file()]
    if not libraries:
        sys.exit(f"torch_without_cuda: no libraries in {folder}; expected the folder site-packages with torch")
    imported = imports_of(libraries)
    missing = needed_by(libraries)
    for library in missing:
        build(library, *functions_for(library, imported), folder)
    print(f"{len(missing)} libraries of CUDA replaced")


if __name__ == "__main__":
    main()
