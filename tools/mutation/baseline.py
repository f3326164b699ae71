"""How the unchanged programs run in the sandbox: which cases pass there, in which files, and how long they take.

A case that fails there without any change (one that needs what the sandbox lacks) is left out of all trials.
Clients: command.py, trial.py.
"""
import collections
import json
import os
import shutil
from dataclasses import asdict, dataclass, field

from . import doctest_program, sandbox
from .doctest_program import Case
from .storage import write_whole

SLOW = 2.0  # seconds


@dataclass
class Program:
    name: str
    cases: list = field(default_factory=list)
    computed: float = 0.0  # seconds, of all cases together
    waited: float = 0.0

    @property
    def left_out(self):
        return [case.name for case in self.cases if not case.passed]

    def files(self):
        return sorted({case.file for case in self.cases if case.passed})

    def slow_files(self):
        seconds = collections.Counter()
        for case in self.cases:
            seconds[case.file] += case.seconds
        return {file for file, total in seconds.items() if total > SLOW}

    def budget(self, files):
        """For the cases of these files: several times what they took, for they take longer beside others."""
        total = sum(case.seconds for case in self.cases) or 1.0
        share = sum(case.seconds for case in self.cases if case.file in files) / total
        return sandbox.Budget(20.0 + 5.0 * share * self.computed, 60.0 + 3.0 * share * self.waited)


class Failed(Exception):
    pass


def measure(build, name, work):
    """Runs all cases of a program once, and each that fails once more by itself."""
    program = Program(name)
    output = build.folder / f"{name}.xml"
    path = work / name  # where mutants run, too
    shutil.copy(build.folder / "tests" / name, path)
    command = [path, "--reporters=xml", "--duration=true", "--no-intro"]
    ended = sandbox.run(command, build.source, work / "tmp", [build.source], output)
    try:
        program.cases = doctest_program.cases_of_report(output.read_text(errors="replace"), build.source, build.folder)
    except SyntaxError as error:
        raise Failed(f"{name} ended with status {ended.status} before its report was complete ({error}); see "
                     f"{os.path.relpath(output)}") from None
    program.computed, program.waited = ended.computed, ended.waited
    for number, case in enumerate(program.cases):
        if not case.passed and _passes(build, path, case, work):
            program.cases[number] = Case(case.name, case.file, case.seconds, True)
    if not program.files():
        raise Failed(f"no case of {name} passes unchanged; see {os.path.relpath(output)}")
    return program


def _passes(build, program, case, work):
    command = [program, *doctest_program.arguments(files=[case.file], names=[case.name])]
    return sandbox.run(command, build.source, work / "tmp", [build.source], work / "again.log").status == 0


def of(build, programs, work, say):
    """The baselines of the programs: those stored, if the programs are still the same."""
    path = build.folder / "baseline.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    result = {}
    for name in programs:
        status = (build.folder / "tests" / name).stat()
        stamp = [status.st_size, status.st_mtime_ns]
        kept = stored.get(name)
        if kept and kept["stamp"] == stamp:
            result[name] = Program(name, [Case(**case) for case in kept["cases"]], kept["computed"], kept["waited"])
            continue
        say(f"Running {name} unchanged")
        result[name] = measure(build, name, work)
        stored[name] = {"stamp": stamp, "cases": [asdict(case) for case in result[name].cases],
                        "computed": result[name].computed, "waited": result[name].waited}
        write_whole(path, json.dumps(stored))
    return result
