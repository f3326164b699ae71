"""The environment for builds that tools/setup wrote. Clients: tools/fuzz, tools/mutate."""
import os
import pathlib
import subprocess


class NotSetUp(Exception):
    pass


def build_environment():
    """All variables after env.sh, as bash reads it."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "driftscope/env.sh"
    if not cache.exists():
        raise NotSetUp("nothing is set up yet: run tools/setup")
    read = subprocess.run(["bash", "-c", '. "$1" && env -0', "bash", cache], capture_output=True, check=True)
    variables = (line.partition(b"=") for line in read.stdout.split(b"\0") if line)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in variables}
