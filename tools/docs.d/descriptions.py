"""What tools/docs.d/NAME.toml says of the blocks that one command, or one person's measurement, makes.

    command = "tools/conformance_table"    writes $OUT/BLOCK.md for each block, or the pictures that the block shows;
                                           $OUT lasts until all is done: what an interrupted run left can be used
    by_hand = "…"                          in place of a command: how a person measures it
    takes = "40 min"
    build = ["native driftscope", "web site"]    presets and their targets, built before
    browsers = true                        whether it starts browsers, whose versions the stamp then names
    code = ["core/convert", ":!core/convert/tfjs"]    what it describes, as git's paths: older than these is stale
    packages = ["onnxruntime-web"]         and of package.json, whose versions it describes
    check = "tools/draw_house --check"     in place of both: exit code 0 when it is up to date

    [blocks]
    counts = "README.md"                   the block NAME/counts, and the document that has it"""
import dataclasses
import pathlib
import tomllib

FOLDER = pathlib.Path("tools") / "docs.d"


class DescriptionError(Exception):
    """A description that cannot be used: file, what is wrong and how to fix it."""


@dataclasses.dataclass(frozen=True)
class Description:
    name: str
    blocks: dict[str, str]  # name of the stamp → document
    takes: str
    command: str = ""
    by_hand: str = ""
    build: tuple[str, ...] = ()
    browsers: bool = False
    code: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    check: str = ""

    @property
    def kind(self) -> str:
        return "generated" if self.command else "measured"

    @property
    def documents(self) -> list[str]:
        return list(dict.fromkeys(self.blocks.values()))

    @property
    def remedy(self) -> str:
        """What makes it up to date."""
        if self.command:
            return f"tools/docs --make {self.name}"
        return f"{self.by_hand}; then tools/docs --stamp {self.name}"


TYPES = {"command": str, "by_hand": str, "takes": str, "build": list, "browsers": bool, "code": list, "packages": list,
         "check": str, "blocks": dict}


def missing_paths(root: pathlib.Path, code) -> list[str]:
    """Those of the paths that match nothing: a folder that was moved would never be stale."""
    return [path for path in code if not path.startswith(":") and not any(root.glob(path))]


def read(root: pathlib.Path, file: pathlib.Path) -> Description:
    place = file.relative_to(root).as_posix()
    try:
        fields = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(f"{place}: {error}") from None
    for key, value in fields.items():
        if key not in TYPES:
            raise DescriptionError(f"{place}: {key} is unknown; expected one of {', '.join(TYPES)}")
        if not isinstance(value, TYPES[key]):
            raise DescriptionError(f"{place}: {key} is {value!r}, expected a {TYPES[key].__name__}")
    if ("command" in fields) == ("by_hand" in fields):
        raise DescriptionError(f"{place}: either command or by_hand says how it is made")
    if not ("code" in fields or "packages" in fields or "check" in fields):
        raise DescriptionError(f"{place}: code, packages or check must say when it is stale")
    if not fields.get("blocks") or not fields.get("takes"):
        raise DescriptionError(f"{place}: takes or [blocks] is missing")
    for path in missing_paths(root, fields.get("code", [])):
        raise DescriptionError(f"{place}: code names {path}, which does not exist: has it been moved?")
    fields["blocks"] = {f"{file.stem}/{block}": document for block, document in fields["blocks"].items()}
    fields.update((key, tuple(value)) for key, value in fields.items() if TYPES[key] is list)
    return Description(name=file.stem, **fields)


def read_all(root: pathlib.Path) -> list[Description]:
    return [read(root, file) for file in sorted((root / FOLDER).glob("*.toml"))]
