"""The lowest priority, so that a campaign over night is not felt. Clients: command.py, sandbox.py, trial.py."""
import os
import pathlib


def yield_to_others():
    """Of this process and its children. Where the kernel groups processes by session (sched_autogroup_enabled), niceness
    counts within a group alone, and every new session needs its own (sched(7))."""
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    try:
        pathlib.Path("/proc/self/autogroup").write_text("19", encoding="ascii")
    except OSError:
        pass  # groups are not compiled in, or changed too often of late
