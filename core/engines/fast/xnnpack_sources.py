#!/usr/bin/env python3
"""Which microkernels of XNNPACK a build needs: those that its other sources name.

XNNPACK has thousands of microkernels; its operators and configurations choose some hundreds of them,
by preprocessor conditions on the architecture. So all of these sources are preprocessed as one file,
and the microkernels that they name outside of headers are looked up by the function they define.

usage: xnnpack_sources.py XNNPACK OUTPUT SOURCES COMPILER [FLAG…]
SOURCES: files of ours that name microkernels as well, separated by ";".

Writes OUTPUT.cmake (XNNPACK_<ISA> = files, by the lists of cmake/gen) and OUTPUT.h, which makes
references to functions that are left out weak: they stay null, and nothing of ours creates an
operator that has them.
"""
import re
import subprocess
import sys
from pathlib import Path

# Half precision, bfloat16, and 4-bit weights: not used by our engines.
LEFT_OUT = re.compile(r"xnn_(x16_packw|(\w+_)?(f16|bf16|qc4w|qc4uw|qb4w|qp8|pf32)(?!_vcvt))_")
CONVERSIONS = re.compile(r"xnn_f16_f32_vcvt|xnn_f32_f16_vcvt")


def named(xnnpack: Path, more: list[str], compiler: list[str]) -> set[str]:
    """The microkernels that sources other than microkernels name, outside of headers."""
    folders = ["", "configs/", "operators/"]
    sources = [p for f in folders for p in sorted((xnnpack / "src" / f).glob("*.c"))]
    includes = "".join(f'#include "{path}"\n' for path in [*sources, *more])
    command = [*compiler, "-w", "-E", "-xc", "-"]
    text = subprocess.run(command, input=includes, text=True, check=True, stdout=subprocess.PIPE).stdout
    names, in_source = set(), False
    for line in text.splitlines():
        if line.startswith("# "):
            in_source = '.c"' in line
        elif in_source:
            names.update(re.findall(r"\bxnn_\w*ukernel\w*", line))
    return names


def lists(xnnpack: Path):
    """(instruction set, microkernel source) of XNNPACK's own lists; some name files that are not there."""
    for path in sorted((xnnpack / "cmake/gen").glob("*_microkernels.cmake")):
        isa = path.name.removesuffix("_microkernels.cmake")
        for source in re.findall(r"^  (src/\S+?\.c)\)?$", path.read_text(), re.M):
            if (xnnpack / source).exists():
                yield isa, xnnpack / source


def main() -> None:
    xnnpack, output, more, compiler = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    wanted = named(xnnpack, [path for path in more.split(";") if path], compiler)
    left_out = {n for n in wanted if LEFT_OUT.match(n) and not CONVERSIONS.match(n)}
    chosen: dict[str, list[str]] = {}
    for isa, source in lists(xnnpack):
        defined = re.findall(r"^(?:void|size_t) (xnn_\w+)\(", source.read_text(), re.M)
        if not (wanted - left_out).isdisjoint(defined):
            chosen.setdefault(isa, []).append(str(source))
    lines = [f'set(XNNPACK_{isa} "{";".join(sources)}")' for isa, sources in chosen.items()]
    Path(f"{output}.cmake").write_text("\n".join([f'set(XNNPACK_ISAS "{";".join(chosen)}")', *lines, ""]))
    Path(f"{output}.h").write_text("".join(f"#pragma weak {name}\n" for name in sorted(left_out)))


main()
