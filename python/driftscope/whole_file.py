"""Files that are there whole or not at all, as the program writes them (native/os/atomic_file.hpp)."""
import fcntl
import os
import re
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = re.compile(r"\..+\.driftscope-.{6}", re.DOTALL)


def _remove_abandoned(folder):
    """Removes what killed programs left: ours, and locked by nobody."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not _UNFINISHED.fullmatch(entry.name):
                continue
            with suppress(OSError):
                if not entry.is_file(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                    continue
                with open(entry.path, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(file.fileno()), os.lstat(entry.path)):
                        os.unlink(entry.path)


def _begin(path):
    """Returns (its temporary file, open and locked; the name). Before it is locked another program may take it
    for an abandoned one: then it has lost its name."""
    name = os.fsdecode(os.fsencode(path.name)[:230])
    while True:
        beside = path.parent / f".{name}.driftscope-{secrets.token_hex(3)}"
        file = open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb")
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), os.lstat(beside)):
                return file, beside
        file.close()


def _flush_folder(folder):
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def whole_file(path):
    """A binary file to write to. When the block ends well it is flushed to the disk, appears under its name, and
    stays there if power is lost; otherwise an older file of that name is untouched and nothing is left behind.
    The errors are OSErrors that name it."""
    path = Path(path)
    try:
        _remove_abandoned(path.parent)
        file, beside = _begin(path)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _flush_folder(path.parent)
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None
        raise
