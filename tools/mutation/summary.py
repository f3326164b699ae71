"""What came of the mutants of a seed, in words. Client: command.py."""
import collections

from .trial import EQUIVALENT, KILLED, NOT_COMPILED, SURVIVED, TIMEOUT

GOAL = 0.95  # of the mutants that change the behaviour


def progress(number, count, mutant, verdict):
    by = f", {verdict.by}" if verdict.by else ""
    return (f"{number:>4} of {count}  {verdict.result:12} {verdict.seconds:6.1f} s  {mutant.file}:{mutant.line}  "
            f"{mutant.before} -> {mutant.after or 'nothing'}{by}")


def share(counts):
    """Of those that change the behaviour, how many were noticed; None where there are none."""
    noticed = counts[KILLED] + counts[TIMEOUT]
    judged = noticed + counts[SURVIVED]
    return noticed / judged if judged else None


def count(results):
    return collections.Counter(result for _, result, _ in results)


def table(results):
    """The figures, and each survivor as a small diff. `results`: (mutant, result, by what)."""
    lines = []
    survivors = [mutant for mutant, result, _ in results if result == SURVIVED]
    for mutant in sorted(survivors, key=lambda mutant: (mutant.file, mutant.line)):
        lines += [mutant.diff()]
    counts = count(results)
    judged = counts[KILLED] + counts[TIMEOUT] + counts[SURVIVED]
    lines.append(f"{judged} mutants that change the behaviour: {counts[KILLED]} killed by a test case, {counts[TIMEOUT]} by "
                 f"the time that they take, {counts[SURVIVED]} survived")
    lines.append(f"apart from these: {counts[NOT_COMPILED]} do not compile, {counts[EQUIVALENT]} are equivalent")
    if judged:
        lines.append(f"killed: {100 * share(counts):.1f} % (the goal is {100 * GOAL:.0f} %)")
    return "\n".join(lines)
