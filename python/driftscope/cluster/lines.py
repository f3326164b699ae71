"""The lines of JSON between the program and this process, read and checked. Clients: __main__, controller.

A line that breaks the rules is a mistake of the program: WrongLine, which ends this process. Names that a model
chose are none: see names.py.
"""
import json
import re
from dataclasses import dataclass, field

LONGEST_LINE = 16 << 20
MOST_ARGUMENTS = 10_000
LONGEST_ARGUMENTS = 1 << 20
LONGEST_SECONDS = 7 * 86400
_HASH = re.compile(r"[0-9a-f]{64}")


class WrongLine(Exception):
    """The text says what was expected."""


@dataclass(frozen=True)
class File:
    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Job:
    id: int
    key: str
    arguments: tuple
    files: dict = field(hash=False)
    result: str = "result.json"
    seconds: float = 600

    def work(self):
        """What decides about the result; two jobs of one key must have the same."""
        sent = {name: [file.sha256, file.bytes] for name, file in self.files.items()}
        return {"arguments": list(self.arguments), "files": sent, "result": self.result, "seconds": self.seconds}


def _expect(right, what):
    if not right:
        raise WrongLine(f"expected {what}")


def _number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _file(name, file):
    _expect(isinstance(file, dict) and file.keys() == {"path", "sha256", "bytes"},
            f"'path', 'sha256' and 'bytes', and nothing else, for the file {name[:200]!r}")
    path = file["path"]
    _expect(isinstance(path, str) and path.startswith("/") and "\0" not in path, f"an absolute path for {name[:200]!r}")
    _expect(isinstance(file["sha256"], str) and _HASH.fullmatch(file["sha256"]),
            f"64 hexadecimal digits as 'sha256' of {name[:200]!r}")
    _expect(_number(file["bytes"]), f"a size as 'bytes' of {name[:200]!r}")
    return File(path, file["sha256"], file["bytes"])


def _arguments(arguments):
    _expect(isinstance(arguments, list) and 0 < len(arguments) <= MOST_ARGUMENTS
            and all(isinstance(one, str) and "\0" not in one for one in arguments),
            f"1 to {MOST_ARGUMENTS} texts as 'arguments'")
    _expect(sum(map(len, arguments)) <= LONGEST_ARGUMENTS, f"'arguments' of at most {LONGEST_ARGUMENTS} characters")
    return tuple(arguments)


def _job(line):
    known = {"do", "id", "key", "arguments", "files", "result", "seconds"}
    _expect(line.keys() == known, f"exactly {', '.join(sorted(known))} in a 'submit'")
    _expect(isinstance(line["key"], str) and _HASH.fullmatch(line["key"]), "64 hexadecimal digits as 'key'")
    _expect(isinstance(line["files"], dict), "an object as 'files'")
    _expect(isinstance(line["result"], str), "a text as 'result'")
    seconds = line["seconds"]
    _expect(isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
            and 0 < seconds <= LONGEST_SECONDS, f"'seconds' above 0 and up to {LONGEST_SECONDS}")
    return Job(line["id"], line["key"], _arguments(line["arguments"]),
               {name: _file(name, file) for name, file in line["files"].items()}, line["result"], seconds)


def read(text):
    """('submit', Job), ('cancel', id) or ('end', None) of a line of bytes."""
    _expect(len(text) <= LONGEST_LINE, f"lines of at most {LONGEST_LINE} bytes")
    try:
        line = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WrongLine(f"expected an object as JSON in UTF-8: {error}") from None
    _expect(isinstance(line, dict), "an object")
    what = line.get("do")
    _expect(what in ("submit", "cancel", "end"), "'do' to be submit, cancel or end")
    if what == "end":
        return what, None
    _expect(_number(line.get("id")), "a whole number as 'id'")
    return what, _job(line) if what == "submit" else line["id"]
