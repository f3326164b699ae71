#!/usr/bin/env python3
"""Links the native program once more so that it starts with glibc 2.28: link.py BUILD TOOLS OUTPUT

BUILD: a build of the preset native; its own objects are taken. TOOLS: what tools/setup --wheel has put into the cache.
Zig links, since it has the names that every glibc exports: new ones cannot come in by accident. What the objects need
beyond them is in glibc_2_28.c. Libraries are linked statically, but for those of which there is only a shared one that an
old system loads as well; {fmt} and httplib, of which Debian has no static library, are compiled here.
"""
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = "x86_64-linux-gnu.2.28"
OLDEST = (2, 28)
# Of the shared library that a build links: the sources that take its place.
COMPILED = {
    "libfmt.so": (ROOT / "web/platform/fmt_library.cpp", ["-std=c++20"]),
    "libcpp-httplib.so": ("httplib/httplib.cc", ["-std=c++20", "-DCPPHTTPLIB_OPENSSL_SUPPORT", "-DCPPHTTPLIB_ZLIB_SUPPORT",
                                                "-DCPPHTTPLIB_BROTLI_SUPPORT"]),
}
# Static libraries that others need, behind them.
NEEDED = {"libcrypto.so": ["libssl.a", "libcrypto.a"], "libbrotlienc.so": ["libbrotlienc.a", "libbrotlicommon.a"]}
SHARED = ("libhwy.so", "libcpuinfo.so.0", "libqrencode.so")  # they need no newer glibc (checked below)


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))[:400]}:\n{done.stderr[-4000:]}")
    return done.stdout


def linked(build):
    """What the program is made of, in the order of its own link command."""
    command = run(["ninja", "-C", build, "-t", "commands", "driftscope"]).splitlines()[-1]
    words = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
    return [word for word in words[1:] if word.endswith((".o", ".a")) or re.search(r"\.so(\.\d+)*$", word)]


def compile_here(source, flags, output):
    compiler = "gcc" if Path(source).suffix == ".c" else "g++"
    run([compiler, "-O2", "-fPIC", "-fstack-protector-strong", *flags, "-c", source, "-o", output])
    return output


def parts_of(build, tools, work):
    for word in linked(build):
        name = Path(word).name
        if name in COMPILED:
            source, flags = COMPILED[name]
            yield compile_here(tools / source, flags, work / (name + ".o"))
        elif name in SHARED:
            yield build / word
        elif name in NEEDED:
            yield from (Path(word).parent / library for library in NEEDED[name])
        elif ".so" in name:
            static = Path(word).parent / (name.split(".so")[0] + ".a")
            if not static.exists():
                sys.exit(f"{static} is missing: the package with the headers of {name} should have it")
            yield static
        else:
            yield build / word
    yield compile_here(HERE / "glibc_2_28.c", [], work / "glibc.o")
    for library in ("libstdc++.a", "libgcc_eh.a", "libgcc.a"):
        yield run(["g++", f"-print-file-name={library}"]).strip()


def newest_needed(file):
    """The glibc that a program or library needs, and for what."""
    found = re.findall(r"\(?GLIBC_(\d+)\.(\d+)[.\d]*\)?\s+(\S+)", run(["objdump", "-T", file]))
    return max(((int(major), int(minor)), name) for major, minor, name in found)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    build, tools, output = (Path(word).resolve() for word in sys.argv[1:])
    work = output.parent / "linked"
    work.mkdir(parents=True, exist_ok=True)
    parts = list(parts_of(build, tools, work))
    # Copies of a library's variables would all come to lie in one place: Zig's names have no addresses.
    run([tools / "bin/python", "-m", "ziglang", "cc", "-target", TARGET, "-pie", "-s", "-Wl,-z,nocopyreloc",
         "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,-rpath,$ORIGIN/../lib/driftscope", "-o", output,
         *parts, "-lm", "-lpthread", "-ldl"], cwd=build)
    version, name = newest_needed(output)
    if version > OLDEST:
        sys.exit(f"{output} needs glibc {version[0]}.{version[1]} for {name}; add it to {HERE / 'glibc_2_28.c'}")


if __name__ == "__main__":
    main()
