"""The trace file format, which is part of the Python package: python/driftscope/safetensors_file.py."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from driftscope.safetensors_file import read, write  # noqa: E402, F401
