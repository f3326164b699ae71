"""What tools/docs --check and --list print."""
import sys

from staleness import Repository, state_of


def findings(inventory):
    """(stale, line) for each description that is not known to be up to date."""
    repository = Repository(inventory.root)
    for description in inventory.descriptions:
        blocks = inventory.blocks_of(description)
        by_commit = {block.stamp.commit: block.stamp for block in blocks}
        states = [state_of(repository, description, stamp) for stamp in by_commit.values()]
        reasons = list(dict.fromkeys(state.why for state in states if state.why))
        by_hand = [block.place for block in blocks if inventory.changed_by_hand(block)]
        if by_hand:
            reasons.append(f"changed by hand at {', '.join(by_hand)}")
        if reasons:
            stale = bool(by_hand) or any(state.stale for state in states)
            line = f"{description.name} ({', '.join(description.documents)}): {'; '.join(reasons)}"
            yield stale, f"{line}\n    {description.remedy} ({description.takes})" if stale else line


def check(inventory, strict: bool) -> int:
    found = list(findings(inventory))
    for _, line in found:
        print(line)
    for line in inventory.errors:
        print(f"error: {line}", file=sys.stderr)
    stale = sum(is_stale for is_stale, _ in found)
    print(f"{stale} of {len(inventory.descriptions)} generated or measured parts of the documents are stale")
    return 1 if inventory.errors or (strict and stale) else 0


def list_all(inventory) -> int:
    for description in inventory.descriptions:
        how = description.command or f"by hand: {description.by_hand}"
        print(f"{description.name:12} {description.takes:8} {', '.join(description.documents)}: {how}")
    return 0
