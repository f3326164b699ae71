"""The command line of tools/mutate."""
import argparse
import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import sys

from lib.build_environment import NotSetUp, build_environment

from . import baseline, choice, equivalents, sandbox, snapshot, storage, summary
from .build import PROGRAMS, Build, DoesNotBuild
from .campaign import Campaign
from .priority import yield_to_others

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutate"
EQUIVALENT_LIST = "tests/mutate/equivalent.txt"
TREES = ("core", "native")
# Kernels that are compiled once per instruction set, and the screens, whose tests are pictures.
LEFT_OUT = ("*/simd/*", "core/gui/imgui", "native/gui")
HELP = """Measures the tests: changes one token of a source at a time, and sees whether the unit and native tests notice.

A mutant is a slip of the pen: < for <=, + for -, min for max, 3 for 4, && for ||, a ! that is missing. One that no test
notices (a survivor) shows a behaviour that nothing tests, or a change that makes no difference. Sources are those of
core/ and native/ that the test programs link, without simd/ and the screens.

  tools/mutate --count 20               twenty mutants of seed 1
  tools/mutate --count 200 --seed 33    a measurement: some hours, best over night
  tools/mutate --seed 33 --again        after new tests: its survivors once more
  tools/mutate --files 'core/graph/*'   only of these sources
  tools/mutate --seed 33 --list         what is known of a seed; nothing is built or run

The same seed gives the same mutants of the same sources. Every result is kept in build/mutate/SEED/results.jsonl as soon
as it is there: a run that was interrupted (Ctrl-C) goes on where it was. Nothing in the tree is changed: a copy of it, as
it is now, is built in build/mutate, which takes the longest the first time; mutants are compiled beside it and run in a
sandbox (bubblewrap) at the lowest priority.

What to do with a survivor: write a test that fails with it, or, where no test could, add it with the reason to
tests/mutate/equivalent.txt. See docs/tests.md."""
CODES = "Exit code 0: at least 95 % were killed; 1: fewer; 2: wrong use, or it does not build; 130: interrupted."


class WrongUse(Exception):
    pass


def say(text):
    print(text, flush=True)


def read_options(arguments):
    parser = argparse.ArgumentParser("tools/mutate", description=HELP, epilog=CODES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, metavar="N",
                        help="mutants that compile and are not equivalent (default: 200)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which mutants (default: 1)")
    parser.add_argument("--files", action="append", metavar="GLOB", help="only of these sources; may be given repeatedly")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at a time (default: 1)")
    parser.add_argument("--again", action="store_true", help="try only what survived of this seed, once more")
    parser.add_argument("--list", action="store_true", help="print the known results of this seed, and end")
    options = parser.parse_args(arguments)
    for name in ("count", "jobs"):
        if getattr(options, name) < 1:
            raise WrongUse(f"--{name} {getattr(options, name)}: expected at least 1")
    return options


@contextlib.contextmanager
def alone():
    """One run at a time in a tree."""
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WrongUse(f"another tools/mutate is running here ({os.path.relpath(WORK / 'lock')} is locked)") from None
        yield


def read_equivalents(root):
    path = root / EQUIVALENT_LIST
    listed = equivalents.Equivalents(equivalents.read(path.read_text(encoding="utf-8"), EQUIVALENT_LIST))
    for entry in listed.stale(root):
        say(f"{EQUIVALENT_LIST}:{entry.number}: {entry.file} has no line '{entry.line_before}' any more; remove the entry")
    return listed


def sources(build, patterns):
    files = choice.matching(build.changeable(), TREES)
    left_out = set(choice.matching(files, LEFT_OUT))
    files = [file for file in files if file not in left_out]
    if patterns:
        files = choice.matching(files, patterns)
        if not files:
            raise WrongUse(f"--files {' '.join(patterns)}: no source that the test programs link matches")
    return files


def prepare(options):
    """The copy of the tree, built."""
    sandbox.check()
    environment = {**build_environment(), "CCACHE_BASEDIR": str(WORK), "CCACHE_NOHASHDIR": "1"}
    build = Build(WORK / "source", WORK / "build", environment)
    say("Building a copy of the tree")
    snapshot.take(ROOT, build.source)
    build.make(WORK / "build.log", options.jobs)
    return build


def campaign_of(options, build, listed, again=None):
    """All mutants of the options, or those of `again`."""
    results = storage.Results(WORK / str(options.seed) / "results.jsonl")
    if again is not None:
        return Campaign(again, len(again), build.source, results, listed, again=True)
    files = sources(build, options.files)
    mutants = choice.chosen(build.source, files, options.seed)
    say(f"{len(mutants)} tokens of {len(files)} sources can be changed")
    return Campaign(mutants, options.count, build.source, results, listed)


def run(options):
    build = prepare(options)
    listed = read_equivalents(build.source)
    campaign = campaign_of(options, build, listed)
    if options.again:
        campaign = campaign_of(options, build, listed, campaign.survivors())
    work = build.source / "build/running"  # in the tree: a program outside of it does not look into its node_modules
    try:
        work.mkdir(parents=True, exist_ok=True)
        baselines = baseline.of(build, PROGRAMS, work, say)
        for program in baselines.values():
            for name in program.left_out:
                say(f"left out, since it fails in the sandbox without any change: {name}")

        def tell(mutant, verdict):
            say(summary.progress(campaign.effective(), campaign.count, mutant, verdict))

        campaign.run(build, baselines, work, options.jobs, tell)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return known(options, build, listed)


def known(options, build, listed):
    """What is known of a seed, as long as it is about these sources."""
    campaign = campaign_of(options, build, listed)
    untried = campaign.collect()
    say("")
    say(summary.table(campaign.settled))
    if untried:
        say(f"yet to be tried: {untried}")
    share = summary.share(summary.count(campaign.settled))
    return 0 if share is not None and share >= summary.GOAL else 1


def show(options):
    build = Build(WORK / "source", WORK / "build", None)
    if not (build.folder / "compile_commands.json").exists():
        raise WrongUse("--list: nothing was built in build/mutate yet")
    build.read()
    return known(options, build, read_equivalents(ROOT))


def main(arguments):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        options = read_options(arguments)
        if options.list:
            return show(options)
        with alone():
            yield_to_others()
            return run(options)
    except (WrongUse, NotSetUp, DoesNotBuild, sandbox.Unavailable, equivalents.BadList, baseline.Failed) as error:
        print(f"tools/mutate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ntools/mutate: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
