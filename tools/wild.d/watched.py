"""Runs a program and watches the memory of all processes that it starts: peak of the proportional set size in bytes,
those of browsers apart."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import time

INTERVAL_S = 0.1
BROWSERS = ("chrome", "chromium", "firefox", "WebKit", "MiniBrowser", "WebDriver", "headless_shell", "crashpad")


@dataclasses.dataclass
class Watched:
    status: int | None  # None: it took too long and was killed
    seconds: float
    own_bytes: int
    browser_bytes: int
    stdout: str
    stderr: str


def children_of(root: int) -> list[int]:
    """The process and all that come from it."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    found, added = {root}, True
    while added:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        added = bool(more)
    return sorted(found)


def memory_of(pid: int) -> tuple[int, bool]:
    """Bytes, and whether it is a browser's."""
    process = pathlib.Path(f"/proc/{pid}")
    try:
        name = os.readlink(process / "exe").rpartition("/")[2]
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024, any(browser in name for browser in BROWSERS)
    except (OSError, ValueError):
        pass
    return 0, False


def run(command: list[str], limit_s: float, cwd: pathlib.Path) -> Watched:
    begin = time.monotonic()
    environment = {**os.environ, "NO_COLOR": "1"}
    with open(cwd / "stdout", "w+", encoding="utf-8", errors="replace") as out, \
            open(cwd / "stderr", "w+", encoding="utf-8", errors="replace") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, cwd=cwd, env=environment, start_new_session=True)
        own = browsers = 0
        status = None
        try:
            while (status := child.poll()) is None and time.monotonic() - begin < limit_s:
                sizes = [memory_of(pid) for pid in children_of(child.pid)]
                own = max(own, sum(size for size, browser in sizes if not browser))
                browsers = max(browsers, sum(size for size, browser in sizes if browser))
                time.sleep(INTERVAL_S)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)  # it ends its browsers itself
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        seconds = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        return Watched(status, seconds, own, browsers, out.read(), err.read())
