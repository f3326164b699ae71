"""Carries out one job on a worker, whatever hands it over: the files' places, the program, its result.

Client: job. What comes back is a dictionary of plain values with one of: needs, the hashes of files that must be
sent; again, why it was given up and has to begin anew; failed, the kind and why; exit, of the program.
"""
import errno
import json
import os
import select
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from ..errors import DriftscopeError
from .. import program
from .file_cache import NotThatFile
from .identity import why_another
from .names import why_bad_names

LARGEST_RESULT = 512 << 20
KEEPER = Path(__file__).with_name("keeper.py")
LOOK_EVERY = 0.1  # seconds between looks whether the job is still wanted
KEEPER_ENDS_IN = 20


class Failed(Exception):
    def __init__(self, kind, why):
        super().__init__(why)
        self.kind = kind


class Unwanted(Exception):
    """Nobody waits for the job any more."""


def _place(files, cache, folder):
    for name, (sha256, size) in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not cache.link(sha256, size, target):
            return False  # thrown away in the meantime
    return True


def _read_result(folder, name):
    """The bytes, or None where the program wrote none."""
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise Failed("io", f"the result {name} is not a file")
        if about.st_size > LARGEST_RESULT:
            raise Failed("limit", f"the result {name} has {about.st_size} bytes, at most {LARGEST_RESULT} are fetched;"
                                  " let the command write less, as with --trace outputs")
        return file.read(LARGEST_RESULT)


class Keeper:
    """The process keeper.py with an order. Leaving it ends the program, if that has not ended by itself."""

    def __init__(self, order):
        self.process = subprocess.Popen([sys.executable, "-I", "-S", str(KEEPER)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True)
        self.folder = order["folder"]
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # seen when its answer is read

    def __enter__(self):
        return self

    def outcome(self, unwanted):
        """What it says of the program; raises Unwanted as soon as UNWANTED() holds."""
        text = b""
        while not text.endswith(b"\n"):
            if unwanted():
                raise Unwanted
            if select.select([self.process.stdout], [], [], LOOK_EVERY)[0]:
                piece = os.read(self.process.stdout.fileno(), 65536)
                if not piece:
                    raise Failed("internal", "the process that guards the job was killed")
                text += piece
        return json.loads(text)

    def __exit__(self, *_):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        # Its output closes with its end, which is seen at once: wait() with a limit looks now and then.
        ends = select.select([self.process.stdout], [], [], KEEPER_ENDS_IN)[0]
        while ends and os.read(self.process.stdout.fileno(), 65536):
            pass
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # there only if the keeper was killed


def _run(work, cache, unwanted):
    folder = cache.new_job()
    order = {"command": [*program.program(), *work["arguments"]], "folder": str(folder), "seconds": work["seconds"]}
    try:
        if not _place(work["files"], cache, folder):
            return {"again": "a file was thrown out of the worker's cache"}
        (folder / work["result"]).parent.mkdir(parents=True, exist_ok=True)
        keeper = Keeper(order)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with keeper:
        outcome = keeper.outcome(unwanted)
        if "failed" in outcome:
            raise Failed(*outcome["failed"])
        if outcome["exit"] is None:
            raise Failed("limit", f"driftscope {work['arguments'][0]} did not end within {work['seconds']:g} s"
                         + (f": {outcome['errors'].strip()}" if outcome["errors"].strip() else ""))
        return {**outcome, "result": _read_result(folder, work["result"])}


def _fetch(work, contents, cache):
    """The hashes of files that are not here, after CONTENTS, of bytes by hash, were put into the cache."""
    sizes = dict(work["files"].values())
    if sum(sizes.values()) > cache.most:
        raise Failed("limit", f"the job's files have {sum(sizes.values())} bytes, the worker keeps at most"
                              f" {cache.most}: start it with a larger DRIFTSCOPE_CLUSTER_CACHE_MIB")
    for sha256, content in contents.items():
        if sha256 in sizes and not cache.has(sha256, sizes[sha256]):
            cache.put(sha256, content)
    return sorted(sha256 for sha256, size in sizes.items() if not cache.has(sha256, size))


def execute(work, build, contents, make_cache, unwanted):
    """WORK as Job.work() has it. MAKE_CACHE: gives the FileCache. UNWANTED: whether nobody waits any more."""
    try:
        why = why_bad_names(work["files"], work["result"])
        if why:
            raise Failed("bad_input", why)
        why = why_another(build) if build else None
        if why:
            raise Failed("missing", why)
        cache = make_cache()
        needs = _fetch(work, contents, cache)
        return {"needs": needs} if needs else _run(work, cache, unwanted)
    except Unwanted:
        return {"again": "nobody waited for it any more"}
    except Failed as failed:
        return {"failed": [failed.kind, str(failed)]}
    except NotThatFile as error:
        return {"failed": ["internal", str(error)]}
    except DriftscopeError as error:
        return {"failed": ["missing", str(error)]}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"failed": ["io", f"{error}" + ("; make room there, or name another folder in"
                                               " DRIFTSCOPE_CLUSTER_CACHE" if full else "")]}
