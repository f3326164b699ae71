"""Mutants that are known to behave like the original, from tests/mutate/equivalent.txt. Client: command.py.

An entry is what the tool prints of a survivor, and the reason:

    core/graph/passes.cpp
    - values.reserve(count + 1);
    + values.reserve(count - 1);
      A capacity hint.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    file: str
    line_before: str
    line_after: str
    reason: str
    number: int  # of its first line in the list


class BadList(Exception):
    pass


def read(text, name):
    """All entries. Lines that begin with # are comments; entries are separated by empty lines."""
    entries, block = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            block.append((number, line))
        elif block:
            entries.append(_entry(block, name))
            block = []
    return entries


def _entry(block, name):
    first, lines = block[0][0], [line for _, line in block]
    if len(lines) < 4 or not lines[1].startswith("- ") or not lines[2].startswith("+ "):
        raise BadList(f"{name}:{first}: expected the file, a line '- before', a line '+ after' and the reason, got '{lines[0]}'")
    file = lines[0].strip().split(":")[0]  # as printed, with the number of the line
    reason = " ".join(line.strip() for line in lines[3:])
    return Equivalent(file, lines[1][2:].strip(), lines[2][2:].strip(), reason, first)


class Equivalents:
    def __init__(self, entries):
        self.entries = {(entry.file, entry.line_before, entry.line_after): entry for entry in entries}

    def reason(self, mutant):
        entry = self.entries.get((mutant.file, mutant.line_before, mutant.line_after))
        return entry.reason if entry else None

    def stale(self, root):
        """Entries whose line is no longer in their file."""
        for entry in self.entries.values():
            path = root / entry.file
            lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()
            if entry.line_before not in lines:
                yield entry
