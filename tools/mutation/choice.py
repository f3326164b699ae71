"""The mutants of a seed: which token of which file, and what it becomes. Clients: command.py, progress.py.

Every token that can be changed has a rank: the hash of the seed, its file and its line as text. The mutants of a seed are
those of the lowest ranks. They are the same on every machine, and an edit elsewhere neither moves nor replaces them.
"""
import collections
import fnmatch
import hashlib
from dataclasses import dataclass

from .changes import sites


@dataclass(frozen=True)
class Mutant:
    file: str  # from the root of the tree
    line: int  # from 1
    begin: int  # of the token, in characters
    before: str  # the token
    after: str
    line_before: str  # the whole line, without white space around it
    line_after: str
    rank: str

    @property
    def key(self):
        """What results call it."""
        return f"{self.rank[:20]} {self.before} {self.after}"

    def apply(self, source):
        if not source.startswith(self.before, self.begin):
            raise ValueError(f"{self.file}:{self.line}: expected '{self.before}'; the file has changed")
        return source[: self.begin] + self.after + source[self.begin + len(self.before) :]

    def diff(self):
        return f"{self.file}:{self.line}\n- {self.line_before}\n+ {self.line_after}\n"


def mutants_of(file, source, seed):
    """All mutants of a source, in the order of the text: for each token one of its changes, which the seed chooses."""
    seen = collections.Counter()
    for site in sites(source):
        line_begin = source.rfind("\n", 0, site.begin) + 1
        line_end = source.find("\n", site.begin)
        line = source[line_begin : len(source) if line_end < 0 else line_end]
        column = site.begin - line_begin
        place = (line.strip(), len(line[:column].lstrip()))
        seen[place] += 1  # the same line again has another rank
        name = "\0".join((str(seed), file, *map(str, place), str(seen[place])))
        rank = hashlib.sha256(name.encode()).hexdigest()
        after = site.choices[int(rank[-8:], 16) % len(site.choices)]
        changed = line[:column] + after + line[column + len(site.text) :]
        yield Mutant(file, source.count("\n", 0, site.begin) + 1, site.begin, site.text, after, line.strip(),
                     changed.strip(), rank)


def chosen(root, files, seed):
    """The mutants of all files, in the order in which they are tried."""
    found = []
    for file in files:
        found += mutants_of(file, (root / file).read_text(encoding="utf-8"), seed)
    return sorted(found, key=lambda mutant: mutant.rank)


def matching(files, patterns):
    """Those files that one of the patterns names: a glob, or a folder."""
    return [file for file in files
            if any(fnmatch.fnmatch(file, pattern) or file.startswith(pattern.rstrip("/") + "/") for pattern in patterns)]
