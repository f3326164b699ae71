"""Whether a block is older than what it describes. Client: tools/docs --check."""
import dataclasses
import fnmatch
import functools
import json
import pathlib
import subprocess

# git looks for it in a line with its end: with $ in place of the end it would find the nothing behind it in every line.
BLANK_OR_COMMENT = "^[[:blank:]]*(//.*)?\n"


class Repository:
    """The history as git has it: none, a part of it (a shallow clone), or all."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.shallow = self.git("rev-parse", "--is-shallow-repository")
        self.exists = self.shallow is not None

    @functools.cache
    def git(self, *arguments: str) -> str | None:
        """The output, or None where git is missing or fails."""
        try:
            done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True)
        except FileNotFoundError:
            return None
        return done.stdout.rstrip("\n") if done.returncode == 0 else None

    def has(self, commit: str) -> bool:
        return self.git("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def changes(self, commit: str, paths) -> dict[str, int] | None:
        """Lines that were added to or removed from each file since, other than blank ones, spaces, and comments of C++
        and JavaScript."""
        stat = self.git("diff", "--numstat", "--no-renames", "-w", "-I", BLANK_OR_COMMENT, commit, "HEAD", "--", *paths)
        if stat is None:
            return None
        rows = [line.split("\t") for line in stat.splitlines()]
        # A binary file has "-" in place of numbers.
        return {name: int(added) + int(removed) if added != "-" else 1 for added, removed, name in rows}

    def versions(self, commit: str, packages) -> dict[str, str]:
        """Of packages in package.json."""
        found = json.loads(self.git("show", f"{commit}:package.json") or "{}")
        pinned = {name: version for key in ("dependencies", "devDependencies", "optionalDependencies")
                  for name, version in found.get(key, {}).items()}
        return {name: pinned.get(name, "absent") for name in packages}

    def commit_to_stamp(self, description) -> str:
        """The last commit that changed what a description describes (a merge, where branches did beside each other):
        the same one for as long as that is unchanged."""
        paths = description.code or (["package.json"] if description.packages else [])
        last = self.git("log", "-1", "--format=%h", "--", *paths) if paths else None
        if last and self.versions(last, description.packages) == self.versions("HEAD", description.packages):
            return last
        return self.git("rev-parse", "--short", "HEAD") or "unknown"

    def uncommitted(self, paths) -> list[str]:
        return [line[3:] for line in (self.git("status", "--porcelain", "--", *paths) or "").splitlines()]


@dataclasses.dataclass(frozen=True)
class State:
    stale: bool
    why: str = ""  # also where it is not stale, but that could not be told


def of_code(repository: Repository, code, stamp) -> State:
    lines = repository.changes(stamp.commit, code)
    if lines is None:
        return State(False, f"this git cannot compare {stamp.commit} with HEAD")
    if not lines:
        return State(False)
    commits = repository.git("rev-list", "--count", "--no-merges", f"{stamp.commit}..HEAD", "--", *code)
    where = [path for path in code if any(fnmatch.fnmatch(name, f"{path}*") for name in lines)]
    return State(True, f"{commits} commit{'' if commits == '1' else 's'} changed {sum(lines.values())} lines of "
                       f"{', '.join(where)} since {stamp.commit} ({stamp.date})")


def of_packages(repository: Repository, packages, stamp) -> State:
    before, now = repository.versions(stamp.commit, packages), repository.versions("HEAD", packages)
    changes = [f"{name} was {before[name]} and is {now[name]}" for name in packages if before[name] != now[name]]
    return State(bool(changes), ", ".join(changes))


def of_check(root: pathlib.Path, command: str) -> State:
    done = subprocess.run(command, shell=True, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return State(False)
    return State(True, done.stdout.strip().rpartition("\n")[2] or f"{command} ends with exit code {done.returncode}")


def state_of(repository: Repository, description, stamp) -> State:
    """Of one block. Its digest is another question: it knows no code."""
    if description.check:
        return of_check(repository.root, description.check)
    if not repository.exists:
        return State(False, "there is no git history to compare with")
    if not repository.has(stamp.commit):
        if repository.shallow == "true":
            return State(False, f"this shallow clone does not have its commit {stamp.commit}")
        return State(True, f"its commit {stamp.commit} is not in the history")
    states = [of_packages(repository, description.packages, stamp)]
    if description.code:
        states.append(of_code(repository, description.code, stamp))
    return State(any(state.stale for state in states), "; ".join(state.why for state in states if state.why))
