#!/usr/bin/env python3
"""Checks of core/, native/, web/ and node/: includes and imports go one way, core/ has no platform branches, every file
is reached.

usage: layers.py [ROOT]   exit code 1 when something is wrong; every finding names its file.

The order of a tree stands in its layers.txt. native/ and web/ may use core/, and nothing of one another; node/, whose
sources take the place of some of native/, may use native/ too. A source is reached when a CMake file names it or a folder that it globs; a header when a source reaches it; a module when the
page, the npm package or CMake does; any other file when one of those names it. What only tests use is not reached."""
import fnmatch
import pathlib
import re
import subprocess
import sys

TREES = ("core", "native", "web", "node")
BELOW = {"core": (), "native": ("core",), "web": ("core",), "node": ("core", "native")}
SOURCES = {".cpp", ".c"}
HEADERS = {".hpp", ".h", ".inc"}
SCRIPTS = {".mjs", ".js"}
PLATFORM = re.compile(r"\b(__EMSCRIPTEN__|_WIN32|__APPLE__|__linux__|__wasm__|__ANDROID__)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
IMPORT = re.compile(r"""(?:\bfrom\s+|\bimport\s*\(?\s*|new URL\(\s*)["'`](\.[^"'`$]+\.m?js)["'`]""")
# Library headers that are included in quotes, as the libraries do themselves, and generated files.
EXTERNAL = re.compile(r"^(xnnpack/|xnnpack\.h$|threadpool-|generated/)")
# Modules that CMake makes of a folder, which their names say: web/peers/NAME/operators.mjs of operators/*.mjs.
GENERATED_MODULE = re.compile(r"^(web/peers/[\w-]+/operators)\.mjs$")
# Files that nothing in the repository reaches, and why they exist all the same.
UNREACHED = {}


class Tree:
    """The files of a checkout and their text. `files`: what git tracks below ROOT, or, outside of git, all."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True)
        in_git = listed.returncode == 0 and (root / ".git").exists()
        names = listed.stdout.split("\n") if in_git else [
            file.relative_to(root).as_posix() for file in root.rglob("*")]
        self.files = sorted(name for name in names if name and (root / name).is_file())
        self.texts = {}

    def text(self, name: str) -> str:
        if name not in self.texts:
            self.texts[name] = (self.root / name).read_text(errors="replace")
        return self.texts[name]

    def having(self, suffixes, *folders):
        return [name for name in self.files
                if pathlib.PurePosixPath(name).suffix in suffixes and name.split("/")[0] in folders]

    def order(self, tree: str):
        name = f"{tree}/layers.txt"
        lines = self.text(name).splitlines() if name in self.files else []
        return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def resolved(name: str, target: str) -> str:
    """The path of a module that `name` imports as `target`."""
    parts = name.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def uses(tree: Tree, name: str):
    """(line, path from the root) of what a file includes or imports, but for libraries."""
    is_script = pathlib.PurePosixPath(name).suffix in SCRIPTS
    for number, line in enumerate(tree.text(name).splitlines(), 1):
        if is_script:
            yield from ((number, resolved(name, target)) for target in IMPORT.findall(line))
        elif (match := INCLUDE.match(line)) and not EXTERNAL.match(match.group(1)):
            yield number, match.group(1)


def layer_findings(tree: Tree):
    orders = {top: tree.order(top) for top in TREES}
    files = set(tree.files)
    for name in tree.having(SOURCES | HEADERS | SCRIPTS, *TREES):
        top, folder, *rest = name.split("/")
        order = orders[top]
        if not rest or folder not in order:
            yield f"{name}: {top}/layers.txt has no layer '{folder}'" if rest else f"{name}: lies in no layer"
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if top == "core" and PLATFORM.search(line):
                yield f"{name}:{number}: a platform branch; choose a file in CMake instead"
        for number, target in uses(tree, name):
            target_top, target_folder = (target.split("/") + [""])[:2]
            if target not in files and not GENERATED_MODULE.match(target):
                yield f"{name}:{number}: {target} is not a path from the root of the repository"
            elif target_top != top and target_top not in BELOW[top]:
                yield f"{name}:{number}: {top}/ uses {target}, which is neither its own nor of {' or '.join(BELOW[top]) or top}/"
            elif target_top == top and target_folder not in order:
                yield f"{name}:{number}: {target} lies in no layer of {top}/layers.txt"
            elif target_top == top and order.index(target_folder) > order.index(folder):
                yield f"{name}:{number}: {folder}/ uses {target}, a later layer"


def cmake_patterns(tree: Tree):
    """Patterns of what CMake files name; what a variable stands for is anything."""
    for name in tree.files:
        if not (name.endswith(".cmake") or name.endswith("CMakeLists.txt")):
            continue
        folder = name.rpartition("/")[0]
        text = re.sub(r"^\s*#.*", "", tree.text(name), flags=re.M)
        for token in re.findall(r"[^\s\"()]*[\w*}]\.\w+", text):
            token = token.replace("${CMAKE_SOURCE_DIR}/", "/").replace("${CMAKE_CURRENT_SOURCE_DIR}", f"/{folder}")
            token = re.sub(r"\$\{[^}]*\}|\\+\d", "*", token)
            yield token[1:] if token.startswith("/") else f"{folder}/{token}".lstrip("/")
            if not token.startswith("/"):
                yield token  # in the form in which generated sources include it


def closure(roots, edges):
    reached, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edges.get(name, ()))
    return reached


def unreached(tree: Tree):
    patterns = set(cmake_patterns(tree))
    exact = {pattern for pattern in patterns if "*" not in pattern}
    # A glob compiles a folder's sources, but not headers and modules. After a variable, the
    # folder or the name must be given.
    globs = [re.compile(fnmatch.translate(pattern)) for pattern in patterns
             if "*" in pattern and re.search(r"(^|/)[\w.]+/|/\w[\w*]*\.(c|cpp|h)$", pattern)
             and (pattern.endswith((".c", ".cpp")) or "*" not in pattern.rpartition("/")[2])]
    named = {name for name in tree.files if name in exact or any(glob.match(name) for glob in globs)}

    code = tree.having(SOURCES | HEADERS | SCRIPTS, *TREES)
    edges = {name: {target for _, target in uses(tree, name)} for name in code}
    for targets in edges.values():
        for target in [target for target in targets if GENERATED_MODULE.match(target)]:
            folder = GENERATED_MODULE.match(target).group(1)
            targets |= {name for name in code if name.startswith(f"{folder}/")}
    for name in code:  # #include <name>, from a folder that CMake passes to the compiler
        for header in re.findall(r"^#include <([\w.]+)>", tree.text(name), flags=re.M):
            edges[name] |= {file for file in code if file.endswith(f"/include/{header}")}
    starts = {name for name in tree.files if name == "index.html" or name.endswith("/package.json")}
    begun = set()
    for start in starts:
        folder = start.rpartition("/")[0]
        begun |= {name for name in code if name.startswith(folder) and re.search(
            r"[\"/]" + re.escape(name[len(folder):].lstrip("/")) + r"\"", tree.text(start))}
    # web/peers/peers.mjs loads the adapter of a peer by the peer's name; the native program starts node_….mjs in Node.
    begun |= {name for name in code if re.fullmatch(r"web/(peers/([\w-]+)/\2|\w+/node_\w+)\.mjs", name)}
    begun |= {name for name in code if name == "node/program/bin.mjs"}  # of the npm package (cmake/npm_package.mjs)
    reached = closure(named | begun, edges)

    texts = [tree.text(name) for name in reached | starts if name in tree.files]
    texts += [tree.text(name) for name in tree.files if pathlib.PurePosixPath(name).suffix in {
        ".cmake", ".txt", ".css", ".webmanifest", ".md", ".ts"} or name.startswith("tools/")]
    for name in tree.files:
        top, base = name.split("/")[0], name.split("/")[-1]
        if top not in TREES or name in reached or base in {"CMakeLists.txt", "layers.txt"}:
            continue
        if name in code or not any(base in text for text in texts):
            yield name


def reach_findings(tree: Tree):
    found = set(unreached(tree))
    for name in sorted(found - UNREACHED.keys()):
        yield f"{name}: nothing reaches it"
    for name in sorted(UNREACHED.keys() - found):
        yield f"{name}: is listed as unreached in tools/checks/layers.py, and is reached or gone"


def findings(root: pathlib.Path):
    tree = Tree(root)
    yield from layer_findings(tree)
    yield from reach_findings(tree)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    found = list(findings(root))
    print("\n".join(found) or "core/, native/, web/ and node/: includes go one way, no platform branches in core/, "
          "every file is reached")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
