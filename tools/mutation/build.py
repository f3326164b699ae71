"""The build of the copy, and programs in which one object is another. Client: trial.py, command.py.

A mutant is never written into the copy: its objects are compiled from it with an overlay that shows the compiler another
text of one file, and are linked in place of the originals. It is optimised: what compiling then takes longer is less
than what the tests are faster.
"""
import json
import os
import pathlib
import shlex
import subprocess

from . import reach

PROGRAMS = ("driftscope_unit_tests", "driftscope_native_tests")
# A header that more objects include takes minutes to compile into all of them.
MOST_INCLUDERS = 4
# Warnings are errors in this build too: a mutant that the compiler warns of would not get into the tree. Those about
# parentheses concern the text alone.
QUIET = ("-Wno-parentheses", "-Wno-logical-op-parentheses", "-Wno-bitwise-op-parentheses", "-Wno-shift-op-parentheses")


class DoesNotBuild(Exception):
    pass


class Build:
    def __init__(self, source, folder, environment):
        self.source, self.folder = source, folder
        self.environment = environment
        self.compile_commands = {}  # of each object
        self.includers = {}  # objects that are made of a file, by its name from the root
        self.link_commands = {}  # of each program
        self.parts = {}  # objects of each program
        self.direct = {}  # by object of any program those that it needs
        self.sources = {}  # by object the sources that are compiled into it, from the root

    def make(self, log, jobs):
        """Configures and builds both programs: tests together, what mutants change file by file."""
        commands = (
            ["cmake", "--preset", "native-clang", "-B", self.folder, "-DDRIFTSCOPE_UNITY_TARGETS=_tests$",
             "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-19"],
            ["ninja", "-C", self.folder, f"-j{jobs}", *PROGRAMS])
        with open(log, "wb") as out:
            for command in commands:
                if subprocess.run(command, cwd=self.source, stdout=out, stderr=out, env=self.environment, check=False).returncode:
                    raise DoesNotBuild(f"the tree does not build; see {os.path.relpath(log)}")
        self.read()

    def read(self):
        """What the build says of itself: who includes what, and how objects and programs are made."""
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            if pathlib.Path(words[0]).name == "ccache":  # it does not see overlays
                words = words[1:]
            name = words[words.index("-o") + 1]
            self.compile_commands[name] = words
        for program in PROGRAMS:
            commands = self._ninja("commands", program).splitlines()
            self.link_commands[program] = shlex.split(commands[-1].removeprefix(": && ").removesuffix(" && :"))
            self.parts[program] = {name for name in self._ninja("inputs", program).splitlines() if name.endswith(".o")}
        linked = set.union(*self.parts.values())
        for name, files in dependencies(self._ninja("deps")).items():
            if name in linked:
                for file in files:
                    path = pathlib.Path(os.path.normpath(self.folder / file))
                    if path.is_relative_to(self.source):
                        file = str(path.relative_to(self.source))
                        self.includers.setdefault(file, []).append(name)
                        if file.endswith(".cpp"):
                            self.sources.setdefault(name, set()).add(file)

    def tests_reaching(self, program, file):
        """The sources of a program whose objects can reach a changed source; None: any may, as of a header."""
        if not file.endswith(".cpp"):
            return None
        if not self.direct:
            self.direct = reach.read(self.folder, set.union(*self.parts.values()))
        parts = self.parts[program]
        direct = {name: used & parts for name, used in self.direct.items() if name in parts}
        names = set().union(*(reach.reaching(name, direct) for name in self.includers[file] if name in parts))
        return set().union(*(self.sources.get(name, ()) for name in names))

    def _ninja(self, tool, *arguments):
        done = subprocess.run(["ninja", "-C", self.folder, "-t", tool, *arguments], capture_output=True, text=True, check=True)
        return done.stdout

    def changeable(self):
        """Sources that a program links, and headers that few of them include."""
        return sorted(file for file, objects in self.includers.items()
                      if file.endswith(".cpp") or len(objects) <= MOST_INCLUDERS)

    def programs_with(self, file):
        return [program for program in PROGRAMS if self.parts[program].intersection(self.includers[file])]

    def compilation(self, name, output, overlay):
        """The command that compiles an object with an overlay."""
        words = list(self.compile_commands[name])
        words[words.index("-o") + 1] = str(output)
        return [*words, *QUIET, "-ivfsoverlay", str(overlay)]

    def linking(self, program, replaced, output):
        return relinked(self.link_commands[program], {name: str(path) for name, path in replaced.items()
                                                      if name in self.parts[program]}, str(output))


def overlay(path, shown):
    """Shows the compiler a file's text at another's path."""
    return json.dumps({"version": 0, "case-sensitive": "true", "use-external-names": "false",
                       "roots": [{"type": "file", "name": str(path), "external-contents": str(shown)}]})


def relinked(words, replaced, output):
    """A link command with other objects. Those of archives go before all others: of the originals, which an archive that
    is linked whole brings as well, the linker then takes nothing."""
    words = list(words)
    words[words.index("-o") + 1] = output
    of_archives = [path for name, path in replaced.items() if name not in words]
    words = [replaced.get(word, word) for word in words]
    first = next(number for number, word in enumerate(words) if word.endswith((".o", ".a")))
    return [*words[:first], *(["-Wl,-z,muldefs"] if of_archives else []), *of_archives, *words[first:]]


def dependencies(text):
    """What `ninja -t deps` prints: the files that each object was made of."""
    made_of, files = {}, None
    for line in text.splitlines():
        if line.startswith(" "):
            files.append(line.strip())
        elif ": #deps" in line:
            files = made_of[line.partition(": #deps")[0]] = []
    return made_of
