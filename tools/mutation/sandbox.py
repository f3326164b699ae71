"""Runs a program where it can do no harm: a mutant may delete files, kill processes, fill memory or never end.

It sees the file system read only, a /tmp of its own, no process but its own and no network but its own loopback
(bubblewrap). Clients: trial.py, baseline.py.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass

from .priority import yield_to_others

POLL = 0.25  # seconds
LARGEST_FILE = 2 << 30
MOST_DATA = 4 << 30
TICKS = os.sysconf("SC_CLK_TCK")


class Unavailable(Exception):
    pass


@dataclass(frozen=True)
class Budget:
    """How long a program may take. The clock on the wall is no measure on a busy machine."""
    computing: float  # seconds of processors
    waiting: float  # seconds in which none of its threads could run, nor was stopped from outside


@dataclass(frozen=True)
class Ended:
    status: int  # its exit code; negative: of a signal
    overrun: str  # "" or what it had too much of: "computing", "waiting"
    computed: float
    waited: float


def check():
    """Whether programs can be run this way here."""
    if shutil.which("bwrap") is None:
        raise Unavailable("bubblewrap is missing, without which a mutant might delete your files: sudo apt install bubblewrap")
    done = subprocess.run([*_bwrap(pathlib.Path("/tmp"), []), "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"bubblewrap does not work here: {done.stderr.strip()}")


def _bwrap(temporary, visible):
    shown = [word for path in visible for word in ("--ro-bind", str(path), str(path))]
    return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(temporary), "/tmp", *shown,
            "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent",
            "--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"]


def run(command, folder, temporary, visible, output, budget=None, stop=None):
    """Runs a program in `folder` until it ends, its budget is spent or the event `stop` is set. `temporary` becomes its
    /tmp, `visible` are folders that it sees even if they lie in the real /tmp."""
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    words = [*_bwrap(temporary, visible), "--chdir", str(folder), *map(str, command)]
    with open(output, "wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=_prepare,
                                   start_new_session=True)
    try:
        return _watch(process, budget, stop)
    finally:
        if process.poll() is None:
            process.kill()  # and with it everything inside
            process.wait()
        shutil.rmtree(temporary, ignore_errors=True)


def _prepare():
    yield_to_others()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))


def _watch(process, budget, stop):
    computed = waited = 0.0
    last = time.monotonic()
    while True:
        try:
            status = process.wait(POLL)
            return Ended(status, "", computed, waited)
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        used, runnable = _usage(process.pid)
        computed = max(computed, used)
        if not runnable:
            waited += now - last
        last = now
        if stop is not None and stop.is_set():
            return Ended(-2, "interrupted", computed, waited)
        if budget is not None and computed > budget.computing:
            return Ended(-9, "computing", computed, waited)
        if budget is not None and waited > budget.waiting:
            return Ended(-9, "waiting", computed, waited)


def _usage(pid):
    """Processor seconds of a process and all below it, and whether any of their threads runs or could run."""
    processes = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            processes[int(path.name)] = _fields(path / "stat")
        except OSError:
            continue  # it has ended meanwhile
    ours = {pid}
    while below := {one for one, fields in processes.items() if int(fields[1]) in ours} - ours:
        ours |= below
    # Its own, and those of children that it waited for.
    ticks = sum(int(field) for one in ours for field in processes.get(one, ())[11:15])
    return ticks / TICKS, any(_can_run(one) for one in ours)


def _can_run(pid):
    try:
        return any(_fields(task / "stat")[0] in "RDT" for task in pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False


def _fields(path):
    """Of /proc/PID/stat, from the state on: a name before it may contain anything."""
    return path.read_text().rpartition(")")[2].split()
