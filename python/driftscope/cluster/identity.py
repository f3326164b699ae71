"""Whether the program of a worker is the one that asks. Client: execution, __main__.

The option --build holds the version, as 0.2.0, or what documents have as "build", as 1dee943.54ce6dd5, whose last
part is the start of the program's SHA-256; or both.
"""
import hashlib
import os
import re
import subprocess
from functools import lru_cache

from .. import program

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_BUILD = re.compile(r"[-._a-zA-Z0-9]+\.([0-9a-f]{8})")


def why_no_build(text):
    """What is wrong with TEXT as an identity, or None."""
    words = text.split()
    if 1 <= len(words) <= 2 and all(_VERSION.fullmatch(word) or _BUILD.fullmatch(word) for word in words):
        return None
    return f"{text[:200]!r} is no build; expected a version, as 0.2.0, or a build, as 1dee943.54ce6dd5, or both"


@lru_cache(maxsize=8)
def _identity(command, _changed, _size):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    version = done.stdout.split()[1]
    digest = hashlib.sha256()
    with open(command[-1], "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return version, digest.hexdigest()[:8]


def why_another(build):
    """Why the program here is not of BUILD, or None; raises ProgramMissing where there is none."""
    command = program.program()
    about = os.stat(command[-1])
    version, digits = _identity(tuple(command), about.st_mtime_ns, about.st_size)
    for word in build.split():
        found = _BUILD.fullmatch(word)
        if (digits != found.group(1)) if found else (version != word):
            return (f"the program there, {command[-1]}, is another one: version {version}, its SHA-256 begins with"
                    f" {digits}; expected {build}. Install the same there, or name it in DRIFTSCOPE where the worker"
                    " is started")
    return None
