"""Tries one mutant: compiles it, links it into the test programs and runs them until a case fails. Client: command.py."""
import shutil
import subprocess
import time
from dataclasses import dataclass

from . import doctest_program, sandbox
from .build import PROGRAMS, overlay
from .order import stages
from .priority import yield_to_others

KILLED, TIMEOUT, SURVIVED = "killed", "timeout", "survived"
NOT_COMPILED, EQUIVALENT = "not compiled", "equivalent"
COMPILING = 900  # seconds at most
MOST_FLAKY = 3  # cases that fail once and then pass, in one run


@dataclass(frozen=True)
class Verdict:
    result: str
    by: str = ""  # what told it: a test case, or why it is equivalent
    seconds: float = 0.0


class Interrupted(Exception):
    pass


class Trial:
    def __init__(self, build, baselines, folder, stop):
        self.build, self.baselines, self.folder, self.stop = build, baselines, folder, stop

    def run(self, mutant):
        begin = time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            result, by = self._judge(mutant)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return Verdict(result, by, round(time.monotonic() - begin, 1))

    def _judge(self, mutant):
        objects = self._compile(mutant)
        if objects is None:
            return NOT_COMPILED, ""
        if all(path.read_bytes() == (self.build.folder / name).read_bytes() for name, path in objects.items()):
            return EQUIVALENT, "the compiler makes the same code of both"
        programs = self.build.programs_with(mutant.file)
        if mutant.file.startswith("native/"):
            programs.sort(key=PROGRAMS.index, reverse=True)
        for name in programs:
            program = self.folder / name
            if not self._do(self.build.linking(name, objects, program)):
                return NOT_COMPILED, "it does not link"
            verdict = self._test(name, program, mutant)
            program.unlink()
            if verdict is not None:
                return verdict
        return SURVIVED, ""

    def _do(self, command):
        """Whether a command of the build succeeds."""
        with open(self.folder / "build.log", "ab") as log:
            process = subprocess.Popen(command, cwd=self.build.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       preexec_fn=yield_to_others, start_new_session=True)
            try:
                deadline = time.monotonic() + COMPILING
                while process.poll() is None:
                    if self.stop.is_set():
                        raise Interrupted
                    if time.monotonic() > deadline:
                        return False
                    time.sleep(0.05)
                return process.returncode == 0
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()

    def _overlay(self, mutant):
        path = self.build.source / mutant.file
        changed, description = self.folder / "changed.txt", self.folder / "overlay.json"
        changed.write_text(mutant.apply(path.read_text(encoding="utf-8")), encoding="utf-8")
        description.write_text(overlay(path, changed))
        return description

    def _compile(self, mutant):
        """The objects that are made of the changed file; None if one does not compile."""
        description = self._overlay(mutant)
        objects = {}
        for number, name in enumerate(self.build.includers[mutant.file]):
            objects[name] = self.folder / f"{number}.o"
            if not self._do(self.build.compilation(name, objects[name], description)):
                return None
        return objects

    def _test(self, name, program, mutant):
        """What the cases of a program say: killed or timeout and by which; None if all pass."""
        baseline = self.baselines[name]

        def read(file):
            return (self.build.source / file).read_text(encoding="utf-8")

        reaching = self.build.tests_reaching(name, mutant.file)
        tests = [file for file in baseline.files() if reaching is None or file in reaching]
        for files in stages(mutant.file, tests, read, baseline.slow_files()):
            verdict = self._stage(program, baseline, files)
            if verdict is not None:
                return verdict
        return None

    def _stage(self, program, baseline, files):
        """A case that fails once and passes by itself afterwards depends on chance, and proves nothing; so does a program
        that ended without naming a case (killed from outside, perhaps) and then runs to its end."""
        flaky = []
        budget = baseline.budget(files)
        while True:
            ended, output = self._run(program, budget, files=files, without=[*baseline.left_out, *flaky])
            if ended.overrun:
                return TIMEOUT, f"{ended.overrun} for more than {getattr(budget, ended.overrun):.0f} s"
            if ended.status == 0:
                return None
            case = doctest_program.failed_case(output)
            what = case or f"the program ended with status {ended.status}"
            if len(flaky) == MOST_FLAKY:
                return KILLED, what
            chosen = {"names": [case]} if case else {"without": [*baseline.left_out, *flaky]}
            again, _ = self._run(program, budget, files=files, **chosen)
            if again.overrun:
                return TIMEOUT, what
            if again.status:
                return KILLED, what
            if case is None:
                return None
            flaky.append(case)

    def _run(self, program, budget, **cases):
        log = self.folder / "output.log"
        ended = sandbox.run([program, *doctest_program.arguments(**cases)], self.build.source, self.folder / "tmp",
                            [self.build.source], log, budget, self.stop)
        if ended.overrun == "interrupted":
            raise Interrupted
        return ended, log.read_text(errors="replace")
