"""The files of jobs on a worker's machine, by their SHA-256, for all workers of this user. Client: execution.

A file is written under another name, checked, and renamed. The least recently used ones go once all are larger than
the limit; a job has links of its own, which that does not touch. What a program changed through such a link shows in
the time of change, which is the same for every file here, and is thrown away.
"""
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

LIMIT = 2 << 30
WRITTEN = 1_000_000_000 * 10 ** 9  # the time of change of a file that is as it was written
OLD = 3600  # seconds after which what a killed process left is removed


class NotThatFile(Exception):
    """What came is not what its name says."""


def default_folder():
    named = os.environ.get("DRIFTSCOPE_CLUSTER_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "driftscope" / "cluster"


def limit():
    """In bytes: $DRIFTSCOPE_CLUSTER_CACHE_MIB, or 2 GiB."""
    named = os.environ.get("DRIFTSCOPE_CLUSTER_CACHE_MIB", "")
    return int(named) << 20 if named.isascii() and named.isdigit() else LIMIT


class FileCache:
    def __init__(self, folder=None, most=None):
        self.folder = Path(folder or default_folder()).absolute()
        self.most = limit() if most is None else most
        self.files, self.jobs = self.folder / "files", self.folder / "jobs"
        for one in (self.folder, self.files, self.jobs):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = one.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
                raise PermissionError(f"{one} is not a folder of this user alone; remove it, or name another in"
                                      " DRIFTSCOPE_CLUSTER_CACHE")
        self._remove_what_was_left()

    @contextmanager
    def _locked(self):
        with open(self.folder / "lock", "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def has(self, sha256, size):
        """Whether the file is here, unchanged; it counts as used now."""
        path = self.files / sha256
        try:
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size == size and about.st_mtime_ns == WRITTEN:
                os.utime(path, ns=(time.time_ns(), WRITTEN))
                return True
            path.unlink()
        except FileNotFoundError:
            pass
        return False

    def put(self, sha256, content):
        """Raises NotThatFile if CONTENT has another hash."""
        found = hashlib.sha256(content).hexdigest()
        if found != sha256:
            raise NotThatFile(f"a file came with the SHA-256 {found}, expected {sha256}")
        with self._locked():
            if self.has(sha256, len(content)):
                return
            self._make_room(len(content))
            handle, new = tempfile.mkstemp(prefix="new-", dir=self.files)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.utime(new, ns=(time.time_ns(), WRITTEN))
                os.rename(new, self.files / sha256)
            except BaseException:
                os.unlink(new)
                raise

    def _make_room(self, size):
        found = []
        for one in os.scandir(self.files):
            about = one.stat(follow_symlinks=False)
            found.append((about.st_atime_ns, about.st_size, one.path))
        total = sum(size for _, size, _ in found) + size
        for _, freed, path in sorted(found):
            if total <= self.most:
                return
            os.unlink(path)
            total -= freed

    def link(self, sha256, size, target):
        """Makes the file appear as TARGET; False if it is not here (any more)."""
        if not self.has(sha256, size):
            return False
        try:
            try:
                os.link(self.files / sha256, target)
            except FileNotFoundError:
                raise
            except OSError:  # too many links, or a file system without
                shutil.copyfile(self.files / sha256, target)
        except FileNotFoundError:
            return False
        return True

    def new_job(self):
        """A folder for a job, on the same file system; whoever works there holds a lock on it (flock)."""
        return Path(tempfile.mkdtemp(prefix="job-", dir=self.jobs))

    def _remove_what_was_left(self):
        """What processes left that were killed together with their keeper, as when the machine stopped."""
        long_ago = time.time() - OLD
        for one in [*os.scandir(self.jobs), *os.scandir(self.files)]:
            try:
                if one.stat(follow_symlinks=False).st_mtime > long_ago:
                    continue
                if one.name.startswith("new-"):
                    os.unlink(one.path)
                elif one.name.startswith("job-"):
                    self._remove_job(one.path)
            except OSError:
                pass  # another process was faster, or it is in use

    @staticmethod
    def _remove_job(path):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(folder)
