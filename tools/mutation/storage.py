"""Files that are whole or absent, and results as lines of JSON that survive an interrupt. Clients: baseline.py, command.py."""
import contextlib
import json
import os


def write_whole(path, text):
    """Replaces a file at once."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, path)


class Results:
    """Of one seed: for each mutant that was tried, its last result."""

    def __init__(self, path):
        self.path = path
        self.by_key = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text.splitlines():
            with contextlib.suppress(ValueError):  # the run was killed amid this line
                result = json.loads(line)
                self.by_key[result["key"]] = result
        self.begin = "\n" if text and not text.endswith("\n") else ""

    def add(self, result):
        self.by_key[result["key"]] = result
        with open(self.path, "a", encoding="utf-8") as out:
            out.write(self.begin + json.dumps(result, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
        self.begin = ""
