"""In which order the files of tests are run for a change to a source: first those that probably notice. Client: trial.py."""
import pathlib

MIRRORS = {"tests/unit": "core", "tests/native": "native"}


def stages(changed, test_files, read, slow=()):
    """The files in up to five runs: those that are about the changed file, those of its layer, all others; slow ones of the
    latter two at the end. `read` gives the text of a file."""
    layer = "/".join(changed.split("/")[:2])
    header = str(pathlib.PurePosixPath(changed).with_suffix(".hpp"))
    about, beside, others = [], [], []
    for file in test_files:
        if _same_subject(changed, file) or f'"{header}"' in read(file):
            about.append(file)
        elif mirrored(file).startswith(layer + "/"):
            beside.append(file)
        else:
            others.append(file)
    quick = [[file for file in stage if file not in slow] for stage in (beside, others)]
    late = [[file for file in stage if file in slow] for stage in (beside, others)]
    return [stage for stage in (about, *quick, *late) if stage]


def mirrored(test_file):
    """The path of a test as if it lay in the tree that it tests."""
    for tests, tree in MIRRORS.items():
        if test_file.startswith(tests + "/"):
            return tree + test_file[len(tests):]
    return test_file


def _same_subject(changed, test_file):
    mine, theirs = (pathlib.PurePosixPath(path).stem.removesuffix("_test") for path in (changed, test_file))
    return mine == theirs or mine.startswith(theirs + "_") or theirs.startswith(mine + "_")
