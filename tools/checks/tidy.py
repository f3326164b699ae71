#!/usr/bin/env python3
"""clang-tidy on a build's compile commands: tidy.py BUILD (--all | FILE...).

--all checks the groups of files that are compiled together, as they are compiled: a header that many need
is read once per group. A FILE is checked by itself, with the flags of its group and without the analysis
of paths, which takes as long again. C is left out: micro kernels with XNNPACK's signatures. Precompiled headers are left out, so that a build need only be
configured. Client: tools/lint.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS = tuple(os.path.join(ROOT, folder, "") for folder in ("core", "native"))
INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def without_precompiled(arguments):
    """The command without -Xclang -include-pch -Xclang FILE; the header's text stays included."""
    kept = []
    skip = 0
    for place, argument in enumerate(arguments):
        if skip:
            skip -= 1
        elif argument == "-Xclang" and arguments[place + 1:place + 2] == ["-include-pch"]:
            skip = 3
        elif argument not in ("-Winvalid-pch", "-fno-pch-timestamp"):
            kept.append(argument)
        elif kept and kept[-1] == "-Xclang":
            kept.pop()
    return kept


def members(source):
    """The files that a group's generated source includes, or the source itself."""
    if "/Unity/unity_" not in source:
        return [source]
    with open(source, encoding="utf-8") as file:
        return INCLUDED.findall(file.read())


def commands_of(build):
    """(source, its own files, the command's entry) of every group of core and native."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        source = os.path.join(entry["directory"], entry["file"])
        if not os.path.exists(source):
            continue
        own = [path for path in members(source) if path.startswith(OURS)]
        if own and not source.endswith(".c"):
            arguments = without_precompiled(entry.get("arguments") or shlex.split(entry["command"]))
            yield source, own, {"directory": entry["directory"], "file": source, "arguments": arguments}


def entries_for(build, files):
    """The entries to check: all groups, or one for each of the files."""
    groups = list(commands_of(build))
    if files is None:
        return [entry for _, _, entry in groups], []
    found, unknown = [], []
    for file in files:
        path = os.path.realpath(file)
        group = next(((source, entry) for source, own, entry in groups if path in own), None)
        if not group:
            unknown.append(file)
            continue
        source, entry = group
        arguments = [path if argument == source else argument for argument in entry["arguments"]]
        found.append({**entry, "file": path, "arguments": arguments})
    return found, unknown


def check(folder, options, entry):
    start = time.monotonic()
    done = subprocess.run(["clang-tidy-19", "-p", folder, "--quiet", *options, entry["file"]], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stdout.strip()
    if done.returncode and not said:
        said = done.stderr.strip() or f"clang-tidy ended with {done.returncode}"
    return done.returncode, said, time.monotonic() - start


def main(arguments):
    if len(arguments) < 2 or (arguments[1] == "--all") != (len(arguments) == 2 and arguments[1] == "--all"):
        sys.exit(__doc__)
    build = os.path.realpath(arguments[0])
    entries, unknown = entries_for(build, None if arguments[1] == "--all" else arguments[1:])
    for file in unknown:
        print(f"{file}: not compiled in {build}, not checked")
    failed = 0
    options = [] if arguments[1] == "--all" else ["--checks=-clang-analyzer-*"]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(entries, file)
        workers = len(os.sched_getaffinity(0))
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            done = pool.map(lambda entry: check(folder, options, entry), entries)
            for entry, (status, said, seconds) in zip(entries, done):
                failed += bool(status)
                print(f"{'FAILED' if status else 'ok':7}{seconds:6.1f} s  {os.path.relpath(entry['file'], ROOT)}")
                if status:
                    print(said.replace(ROOT + os.sep, ""))
    if not entries and not unknown:
        sys.exit("no file to check")
    print(f"{len(entries)} checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
