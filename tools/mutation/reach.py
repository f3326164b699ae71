"""Which objects of a program can reach which: by the symbols that one needs and another defines. A test whose object does
not reach the one that was changed cannot notice the change. Client: build.py.
"""
import subprocess

# Of functions and variables that one object alone defines: what headers define is weak, and is in every object.
DEFINED = "TDBRG"


def symbols(text):
    """What `nm --format=posix` prints of several objects: by object what it needs, and by symbol who defines it."""
    needs, definitions, current = {}, {}, None
    for line in text.splitlines():
        words = line.split()
        if len(words) == 1 and line.endswith(":"):
            current = needs.setdefault(line[:-1], set())
            name = line[:-1]
        elif len(words) >= 2 and words[1] == "U":
            current.add(words[0])
        elif len(words) >= 2 and words[1] in DEFINED:
            definitions[words[0]] = name
    return needs, definitions


def neighbours(needs, definitions):
    """By object those that it needs directly."""
    return {name: {definitions[symbol] for symbol in wanted if symbol in definitions} - {name}
            for name, wanted in needs.items()}


def reaching(target, direct):
    """All objects that need this one, directly or through others, and itself."""
    users = {}
    for name, used in direct.items():
        for other in used:
            users.setdefault(other, set()).add(name)
    found, todo = {target}, [target]
    while todo:
        for name in users.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return found


def read(folder, objects):
    """The direct neighbours of these objects of a build folder."""
    done = subprocess.run(["nm", "--format=posix", *sorted(objects)], cwd=folder, capture_output=True, text=True, check=True)
    return neighbours(*symbols(done.stdout))
