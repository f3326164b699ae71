"""A copy of the tree to build and to mutate, so that the tree itself stays as it is and can be worked on meanwhile.

Client: command.py.
"""
import os
import pathlib
import shutil
import subprocess

OWN = ("build", "node_modules")  # of the copy itself


def take(root, copy):
    """Makes `copy` equal to the tree: what git tracks or would track. A file that is equal keeps its time, so that nothing
    is built again for it. Returns how many files were written or removed."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, check=True).stdout
    names = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    names = {name for name in names if os.path.lexists(root / name)}  # what was deleted is still listed
    changed = 0
    for name in names:
        changed += _copy(root / name, copy / name)
    for path in _files(copy):
        if str(path.relative_to(copy)) not in names:
            path.unlink()
            changed += 1
    _link(root / "node_modules", copy / "node_modules")
    return changed


def _files(folder):
    for parent, folders, names in os.walk(folder):
        if parent == str(folder):
            folders[:], names = ([name for name in found if name not in OWN] for found in (folders, names))
        for name in (*names, *(name for name in folders if os.path.islink(os.path.join(parent, name)))):
            yield pathlib.Path(parent, name)


def _copy(source, target):
    if os.path.islink(source):
        return _link(pathlib.Path(os.readlink(source)), target)
    if target.is_file() and not target.is_symlink() and source.stat().st_mode == target.stat().st_mode \
            and source.read_bytes() == target.read_bytes():
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target)
    return 1


def _link(destination, link):
    if os.path.islink(link) and os.readlink(link) == str(destination):
        return 0
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(destination)
    return 1
