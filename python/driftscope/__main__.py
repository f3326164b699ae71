"""The console script `driftscope`, and `python -m driftscope`: the program with the same arguments."""
import os
import subprocess
import sys

from .errors import DriftscopeError
from .program import find_program


def main():
    try:
        command = [*find_program(), *sys.argv[1:]]
    except DriftscopeError as error:
        print(f"driftscope: {error}", file=sys.stderr)
        return 3
    if sys.platform == "win32":
        return subprocess.run(command).returncode
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
