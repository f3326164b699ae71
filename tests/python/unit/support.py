"""What the unit tests share: the package's folder on the path, temporary folders, a stand-in for the program.

The stand-in is a script that records how it was called: only for discovery and errors of the call. What the program
computes is tested with the program itself (test_program_run.py).
"""
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "python"))


class FolderTest(unittest.TestCase):
    """A test with a temporary folder as self.folder, and the environment put back after it."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))

    def script(self, text, name="driftscope"):
        """An executable shell script in the folder; returns its path."""
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path
