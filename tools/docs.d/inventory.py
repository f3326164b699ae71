"""All descriptions and all stamps of a tree, and what of them does not fit together."""
import pathlib

import descriptions
import stamps


class Inventory:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.errors: list[str] = []
        self.descriptions = descriptions.read_all(root)
        self.blocks: dict[str, stamps.Block] = {}
        for file in sorted((*root.glob("*.md"), *root.glob("docs/**/*.md"))):
            self._read(file)
        for description in self.descriptions:
            self.errors += self._not_stamped(description)
        described = {name for description in self.descriptions for name in description.blocks}
        for name, block in self.blocks.items():
            if name not in described:
                file, _, short = name.partition("/")
                self.errors.append(f"{block.place}: {name} is unknown; expected {short} under [blocks] of "
                                   f"tools/docs.d/{file}.toml")

    def _read(self, file: pathlib.Path):
        try:
            found = stamps.blocks_of(file.read_text(), file.relative_to(self.root).as_posix())
        except stamps.StampError as error:
            self.errors.append(str(error))
            return
        for block in found:
            first = self.blocks.setdefault(block.stamp.name, block)
            if first is not block:
                self.errors.append(f"{block.place}: {block.stamp.name} is also at {first.place}")

    def _not_stamped(self, description):
        for name, document in description.blocks.items():
            block = self.blocks.get(name)
            if block is None or block.document != document:
                found = f"; it is at {block.place}" if block else ""
                yield f"{document}: {name} has no stamp here, as tools/docs.d/{description.name}.toml says{found}"
            elif block.stamp.kind != description.kind:
                yield f"{block.place}: {name} is {block.stamp.kind}, expected {description.kind}"

    def blocks_of(self, description) -> list[stamps.Block]:
        return [self.blocks[name] for name in description.blocks if name in self.blocks]

    def changed_by_hand(self, block: stamps.Block) -> bool:
        return block.stamp.kind == "generated" and \
            block.stamp.digest != stamps.digest_of(block.body, self.root / block.document)

    def named(self, names) -> list:
        """Descriptions by name; all, where none is named."""
        known = {description.name: description for description in self.descriptions}
        for name in names:
            if name not in known:
                raise descriptions.DescriptionError(f"{name} is unknown; expected one of {', '.join(known)}")
        return [known[name] for name in names] if names else self.descriptions
