"""What the tests of the cluster share: a scheduler and workers as processes, python -m driftscope.cluster, jobs.

Nothing here waits for a length of time that would decide a test: everything is waited for, within LIMIT.
"""
import hashlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STAND_IN = str(Path(__file__).with_name("program"))
PACKAGE = str(ROOT / "python")
LIMIT = 120


def until(condition, what, seconds=LIMIT):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


def is_running(number):
    try:
        with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Link:
    """python -m driftscope.cluster, as the program would start it."""

    def __init__(self, test, address, *options, wrapper=()):
        self.results = tempfile.mkdtemp(dir=test.folder)
        self.errors = open(test.folder / "link.log", "ab")
        self.process = subprocess.Popen(
            [*wrapper, sys.executable, "-m", "driftscope.cluster", address, "--results", self.results, *options],
            env={**os.environ, "PYTHONPATH": PACKAGE}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors)
        test.addCleanup(self.end)
        self.lines, self.queue, self.count = [], queue.Queue(), 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(json.loads(line))
        self.queue.put(None)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def send(self, **line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def submit(self, *arguments, files=None, seconds=LIMIT, **more):
        """The id. FILES: paths by name."""
        number = self.count
        self.count += 1
        about = {}
        for name, path in (files or {}).items():
            content = Path(path).read_bytes()
            about[name] = {"path": str(path), "sha256": sha256(content), "bytes": len(content)}
        key = sha256(json.dumps([arguments, number, about]).encode())
        self.send(**{"do": "submit", "id": number, "key": key, "arguments": list(arguments), "files": about,
                     "result": "result.json", "seconds": seconds, **more})
        return number

    def next(self, wanted, what, seconds=LIMIT):
        """The next line for which WANTED holds; all are kept in self.lines."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.queue.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"waited {seconds} s for {what}; there were {self.lines[-5:]}") from None
            if line is None:
                raise AssertionError(f"the process ended before {what}; there were {self.lines[-5:]}")
            self.lines.append(line)
            if wanted(line):
                return line

    def ready(self, workers):
        self.next(lambda line: line["say"] in ("ready", "workers") and line["workers"] == workers, f"{workers} workers")

    def answers(self, numbers, seconds=LIMIT):
        """The lines "done" and "failed" of the jobs, by id; one that comes twice is a failure."""
        missing = set(numbers)
        while missing:
            line = self.next(lambda line: line["say"] in ("done", "failed"), f"the answers of {missing}", seconds)
            missing.discard(line["id"])
        return self.answered()

    def answered(self):
        found = {}
        for line in self.lines:
            if line["say"] in ("done", "failed"):
                assert line["id"] not in found, f"answered twice: {line} and {found[line['id']]}"
                found[line["id"]] = line
        return found

    def close(self):
        """Ends the input and waits; everything that still came is in self.lines."""
        self.process.stdin.close()
        status = self.process.wait(LIMIT)
        while (line := self.queue.get(timeout=LIMIT)) is not None:
            self.lines.append(line)
        return status


class ClusterTest(unittest.TestCase):
    """A test with a folder; whatever processes it starts are ended with it."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.held = self.folder / "held"
        self.held.mkdir()
        self.addCleanup(self._show_logs)
        self.workers = {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"

    def _show_logs(self):
        outcome = getattr(self, "_outcome", None)
        if outcome and not outcome.success:
            for log in sorted(self.folder.glob("*.log")):
                print(f"-- {log.name}\n{log.read_bytes()[-3000:].decode('utf-8', 'replace')}")

    def _start(self, name, *arguments, **environment):
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, cwd=self.folder, env={**clean, **environment},
                                       start_new_session=True)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        """With its nanny's worker, which is of the same session."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def scheduler(self, **environment):
        process = self._start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", str(self.port),
                              "--no-dashboard", **environment)

        def answers():
            if process.poll() is not None:
                raise AssertionError("the scheduler ended")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        until(answers, "the scheduler")
        return process

    def worker(self, last, program=STAND_IN, package=PACKAGE, options=("--no-nanny",), **environment):
        """A worker of one thread on the address 127.0.0.LAST, with a cache of its own."""
        more = {"PYTHONPATH": package} if package else {}
        self.workers[last] = self._start(
            f"worker{last}", "worker", self.address, "--host", f"127.0.0.{last}", "--nthreads", "1", "--no-dashboard",
            *options, **more, DRIFTSCOPE=program, DRIFTSCOPE_CLUSTER_CACHE=str(self.folder / f"cache{last}"),
            **environment)
        return self.workers[last]

    def cluster(self, *lasts, options=(), **more):
        """A scheduler, workers, and a Link that knows them."""
        started = self.scheduler()
        for last in lasts:
            self.worker(last, **more)
        link = Link(self, self.address, *options)
        link.ready(len(lasts))
        return started, link

    def running(self, name="*"):
        """{process: name of its worker's cache} of the stand-ins that hold."""
        return {int(path.name.split(".")[-2]): path.read_text().strip() for path in self.held.glob(f"{name}.*.running")}

    def hold(self, link, count):
        """Jobs that hold; as soon as one runs on each worker."""
        numbers = [link.submit("hold", str(self.held), f"job{index}") for index in range(count)]
        until(lambda: len(set(self.running().values())) >= len(self.workers), "a job on each worker")
        return numbers

    def go(self):
        (self.held / "go").touch()

    def assert_gone(self, processes):
        for process in processes:
            until(lambda process=process: not is_running(process), f"the end of the process {process}")

    def assert_all_done(self, answers, numbers):
        self.assertEqual({number: answers[number]["say"] for number in numbers}, {number: "done" for number in numbers},
                         answers)
