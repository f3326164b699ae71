"""Stamps in the documents: where a block that was generated or measured begins, from which commit it is, and on
which machine it was made.

    <!-- generated: NAME commit="…" date="…" machine="…" digest="…" by="tools/docs --make …" -->
    …
    <!-- end of NAME -->

    <!-- measured: NAME commit="…" date="…" machine="…" -->

NAME is DESCRIPTION/BLOCK: tools/docs.d/DESCRIPTION.toml says how it is made. A measured block, which a person wrote,
is the paragraph, list or table that follows. `digest` is of the block and its pictures: it shows what was changed by
hand. Clients: tools/docs. Nothing here knows git."""
import dataclasses
import hashlib
import pathlib
import re

FIELDS = {
    "generated": ("commit", "date", "machine", "digest", "by"),
    "measured": ("commit", "date", "machine"),
}
OPENING = re.compile(r"^<!-- *(generated|measured)\b")
STAMP = re.compile(r'^<!-- (generated|measured): ([\w-]+/[\w-]+)((?: \w+="[^"]*")+) -->$')
FIELD = re.compile(r'(\w+)="([^"]*)"')
CLOSING = re.compile(r"^<!-- end of (\S+) -->$")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


class StampError(Exception):
    """A stamp that cannot be read: document, line, what is wrong and how to fix it."""


@dataclasses.dataclass(frozen=True)
class Stamp:
    kind: str  # "generated" or "measured"
    name: str
    commit: str
    date: str
    machine: str
    digest: str = ""
    by: str = ""

    def text(self) -> str:
        fields = " ".join(f'{field}="{getattr(self, field)}"' for field in FIELDS[self.kind])
        return f"<!-- {self.kind}: {self.name} {fields} -->"


@dataclasses.dataclass(frozen=True)
class Block:
    stamp: Stamp
    document: str  # path from the root
    first: int  # line of the stamp, counted from 0
    last: int  # line of the end; of a measured block that of the stamp
    body: str  # the lines between

    @property
    def place(self) -> str:
        return f"{self.document}:{self.first + 1}"


def read_stamp(line: str, place: str) -> Stamp:
    match = STAMP.match(line)
    if not match:
        raise StampError(f'{place}: is no stamp; expected <!-- generated: NAME/BLOCK commit="…" … -->')
    kind, name, rest = match.groups()
    fields = dict(FIELD.findall(rest))
    if tuple(fields) != FIELDS[kind]:
        raise StampError(f"{place}: {name}: a {kind} block has {', '.join(FIELDS[kind])}; found {', '.join(fields)}")
    return Stamp(kind, name, **fields)


def blocks_of(text: str, document: str) -> list[Block]:
    """The blocks of a document in their order."""
    lines = text.split("\n")
    blocks, at = [], 0
    while at < len(lines):
        first = at
        at += 1
        closing = CLOSING.match(lines[first])
        if closing:
            raise StampError(f"{document}:{first + 1}: the end of {closing[1]}, which does not begin before it")
        if not OPENING.match(lines[first]):
            continue
        stamp = read_stamp(lines[first], f"{document}:{first + 1}")
        if stamp.kind == "measured":
            blocks.append(Block(stamp, document, first, first, ""))
            continue
        end = f"<!-- end of {stamp.name} -->"
        while at < len(lines) and lines[at] != end:
            if OPENING.match(lines[at]) or CLOSING.match(lines[at]):
                break
            at += 1
        if at == len(lines) or lines[at] != end:
            raise StampError(f"{document}:{first + 1}: {stamp.name} has no end; expected the line {end}")
        blocks.append(Block(stamp, document, first, at, "\n".join(lines[first + 1:at])))
        at += 1
    return blocks


def pictures_in(body: str, document: pathlib.Path) -> list[pathlib.Path]:
    """The files of the pictures that a block of this document shows."""
    return [document.parent / name for name in PICTURE.findall(body) if ":" not in name]


def digest_of(body: str, document: pathlib.Path) -> str:
    """Of the text and, where it shows pictures, of their files."""
    digest = hashlib.sha256(body.strip().encode())
    for picture in pictures_in(body, document):
        digest.update(picture.read_bytes() if picture.is_file() else b"missing")
    return digest.hexdigest()[:12]


def replaced(text: str, block: Block, stamp: Stamp, body: str) -> str:
    """The document with a new stamp, and, of a generated block, a new body."""
    lines = text.split("\n")
    if stamp.kind == "measured":
        lines[block.first] = stamp.text()
    else:
        lines[block.first:block.last] = [stamp.text(), *body.strip("\n").split("\n")]
    return "\n".join(lines)
