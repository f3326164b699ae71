"""Makes blocks again and stamps them: tools/docs --make and --stamp."""
import dataclasses
import datetime
import os
import pathlib
import shutil
import subprocess
import time

import machine
import stamps
from staleness import Repository


class MakingError(Exception):
    """What could not be made, why, and what to do."""


def checked_repository(root: pathlib.Path, description) -> Repository:
    """The stamp names a commit: what is not committed cannot be named."""
    repository = Repository(root)
    if not repository.exists:
        raise MakingError(f"{description.name}: a stamp names a commit, and there is no git repository here")
    paths = [*description.code, *(["package.json"] if description.packages else [])]
    changed = repository.uncommitted(paths) if paths else []
    if changed:
        some = ", ".join(changed[:3]) + (" …" if len(changed) > 3 else "")
        raise MakingError(f"{description.name}: {some} differs from the last commit, which the stamp would name; "
                          "commit or undo it first")
    return repository


def build(root: pathlib.Path, description):
    if not description.build:
        return
    steps = [". tools/lib/common.sh", "set_up" if description.browsers else "set_up --no-browsers",
             *(f"build_preset {line}" for line in description.build), "browsers_are_here"]
    if subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(steps)], cwd=root).returncode != 0:
        raise MakingError(f"{description.name}: the build failed")


def caption(stamp) -> str:
    return f"<sub>Made on {stamp.date} from commit {stamp.commit}: {stamp.machine}.</sub>"


def body_of(inventory, block, out: pathlib.Path, stamp) -> str:
    """What the command wrote for a block; the block as it is where it shows pictures, which the command has drawn."""
    written = out / f"{block.stamp.name.partition('/')[2]}.md"
    if written.is_file():
        return f"{written.read_text().strip()}\n\n{caption(stamp)}"
    pictures = stamps.pictures_in(block.body, inventory.root / block.document)
    if not pictures or not all(picture.is_file() for picture in pictures):
        raise MakingError(f"{block.stamp.name}: the command wrote no {written.name} into $OUT, and {block.place} "
                          "shows no picture that exists")
    return block.body


def put(inventory, description, kind: str, commit: str, where: str, out=None):
    """Writes stamps, and bodies where there is a folder with them; all documents or none."""
    today = datetime.date.today().isoformat()
    texts = {document: (inventory.root / document).read_text() for document in description.documents}
    # From the last line to the first, so that lines of blocks that are still to come stay where they are.
    for block in sorted(inventory.blocks_of(description), key=lambda block: -block.first):
        stamp = stamps.Stamp(kind, block.stamp.name, commit, today, where)
        body = block.body
        if kind == "generated":
            body = body_of(inventory, block, out, stamp)
            digest = stamps.digest_of(body, inventory.root / block.document)
            stamp = dataclasses.replace(stamp, digest=digest, by=description.remedy)
        texts[block.document] = stamps.replaced(texts[block.document], block, stamp, body)
    for document, text in texts.items():
        beside = inventory.root / f"{document}.new"
        beside.write_text(text)
        beside.replace(inventory.root / document)


def make_one(inventory, description):
    repository = checked_repository(inventory.root, description)
    commit = repository.commit_to_stamp(description)
    build(inventory.root, description)
    out = inventory.root / "build" / "docs" / f"{description.name}-{commit}"
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(description.command, shell=True, cwd=inventory.root, env=os.environ | {"OUT": str(out)})
    if done.returncode != 0:
        raise MakingError(f"{description.name}: {description.command} ended with exit code {done.returncode}; what it "
                          f"has so far is in {out.relative_to(inventory.root)}")
    put(inventory, description, "generated", commit, machine.in_words(description.browsers), out)
    shutil.rmtree(out)


def make(root: pathlib.Path, inventory_of, names) -> int:
    """Everything is tried; exit code 1 when something could not be made. The inventory is read anew for each, since
    lines move."""
    inventory = inventory_of(root)
    failed = 0
    for description in inventory.named(names):
        if not description.command:
            print(f"{description.name}: by hand: {description.remedy}")
            failed += bool(names)
            continue
        start = time.monotonic()
        print(f"{description.name}: {description.command}, {description.takes}", flush=True)
        try:
            make_one(inventory_of(root), description)
            print(f"{description.name}: {', '.join(description.documents)} made in {time.monotonic() - start:.0f} s")
        except MakingError as error:
            failed += 1
            print(error)
    return 1 if failed else 0


def stamp_by_hand(inventory, names, where: str) -> int:
    if not names:
        raise MakingError("--stamp wants the names of what was measured")
    for description in inventory.named(names):
        if description.command:
            raise MakingError(f"{description.name}: has a command, {description.remedy} makes it")
        commit = checked_repository(inventory.root, description).commit_to_stamp(description)
        put(inventory, description, "measured", commit, where or machine.in_words(description.browsers))
    return 0
