"""The process that runs one job on a worker and ends whatever the job started: python -I -S keeper.py

Client: execution, which starts one per job, by its path, so that nothing of the package is loaded. A line of JSON on
standard input is the order; as soon as that input closes, by the worker or by its death, everything is killed. (The
signal of Linux that comes with a parent's death belongs to the thread that started the child, and a worker has many;
here there is one.) When the program has ended, a line on standard output says how; the folder is removed at the end.
"""
import ctypes
import errno
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

GRACE = 2  # seconds between asking the program to end and killing it
SIZE_OF_TAIL = 4000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ON_LINUX = sys.platform.startswith("linux")


def _prctl(option, value):
    if ON_LINUX:
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


class Program:
    """The program in a session of its own, the end of its standard error, and all its descendants."""

    def __init__(self, order):
        self.tail = b""
        self.process = subprocess.Popen(
            order["command"], cwd=order["folder"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.errors = self.process.stderr.fileno()

    def read_errors(self):
        """False at the end of it."""
        piece = os.read(self.errors, 65536)
        self.tail = (self.tail + piece)[-SIZE_OF_TAIL:]
        return bool(piece)

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while select.select([self.errors], [], [], max(0, end - time.monotonic()))[0] and self.read_errors():
            pass

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS: the latter for a group of zombies
            pass

    def end(self, ask):
        """Ends the program, its group, and what left the group, which is this process's child then (Linux)."""
        if ask:
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                pass
        self.signal(signal.SIGKILL)
        self.process.wait()
        end = time.monotonic() + 10
        while _kill_children() and time.monotonic() < end:
            time.sleep(0.01)
        self.drain(0.2)


def _kill_children():
    """Whether there were any."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            found = [int(one) for one in file.read().split()]
    except OSError:
        return False
    for one in found:
        try:
            os.kill(one, signal.SIGKILL)
            os.waitpid(one, os.WNOHANG)
        except (ProcessLookupError, ChildProcessError):
            pass
    return bool(found)


def watch(program, seconds):
    """Until the program ends (None), its time is over ("time"), or nobody waits for it any more ("alone")."""
    deadline = time.monotonic() + seconds
    sources = [0, program.errors]
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return "time"
        ready = select.select(sources, [], [], min(left, 0.5 if program.errors in sources else 0.02))[0]
        if 0 in ready:
            return "alone"  # nothing is ever sent after the order: this is the end of the input
        if program.errors in ready and not program.read_errors():
            sources.remove(program.errors)  # mostly because it has ended
        if program.process.poll() is not None:
            return None


def carry_out(order):
    """What to say of the job, or None where nobody listens any more."""
    begun = time.monotonic()
    try:
        program = Program(order)
    except OSError as error:
        kind = "limit" if error.errno == errno.E2BIG else "missing"
        return {"failed": [kind, f"{order['command'][0]} cannot be run: {error}"]}
    why = "alone"
    try:
        why = watch(program, order["seconds"])
    finally:
        program.end(ask=why is not None)
    if why == "alone":
        return None
    return {"exit": None if why else program.process.returncode, "seconds": round(time.monotonic() - begun, 3),
            "errors": program.tail.decode("utf-8", "replace")}


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which the program would inherit
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    order = json.loads(sys.stdin.buffer.readline() or "null")
    if not order:
        return
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    folder = os.open(order["folder"], os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_SH)  # says that it is in use
    try:
        outcome = carry_out(order)
        if outcome:
            try:
                os.write(1, json.dumps(outcome).encode() + b"\n")
                os.read(0, 1)  # until the result has been read
            except OSError:
                pass
    finally:
        shutil.rmtree(order["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()
