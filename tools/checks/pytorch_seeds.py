#!/usr/bin/python3
"""Judges PyTorch on many random inputs: no layer of a shipped model may be called suspect or fault.

    tools/checks/pytorch_seeds.py                            # 100 seeds of every model in assets/
    tools/checks/pytorch_seeds.py lenet5 resnet20-int8 --seeds 5
    tools/checks/pytorch_seeds.py --models FOLDER --driftscope build/native-asan/driftscope

PyTorch's kernels are right, so whatever `verify` says against them is a false alarm: a budget that is
too small for what float32 may do. One seed finds the gross ones; the statistical budget, which is
meant to hold by chance, and roundings that fall on a middle between two integers need many.

For each model and seed the values of the graph are recorded as tools/trace_torch.py records them, all
in this process, and `driftscope verify` judges the trace. A layer that is not identical or rounding is
printed with its model, seed and node; `tools/trace_torch.py MODEL --seed SEED` makes its trace again.

The table at the end says how many layers were judged, how, and the largest shares of the worst-case
and the statistical budget that a layer used (1: all of it; one correctly rounded operation may).
Models with operators that trace_torch.py does not have are named and left out.

Exit codes: 0 all clean; 1 a suspect, a fault, a layer that was not judged, or nothing was compared;
2 wrong use or `driftscope` failed; 3 no PyTorch here; 130 interrupted (the table shows what was done).
"""
import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))

CLEAN = ("identical", "rounding")
VERDICTS = (*CLEAN, "unjudged", "suspect", "fault", "missing")


@dataclass
class Tally:
    """What was found of one model."""
    model: str
    seeds: int = 0
    verdicts: collections.Counter = field(default_factory=collections.Counter)
    budget: float = 0.0       # share of the worst-case budget that some layer used
    statistical: float = 0.0  # likewise of the statistical one

    def add(self, layers):
        self.seeds += 1
        self.verdicts.update(layer["verdict"] for layer in layers)
        for layer in layers:
            self.budget = max(self.budget, layer["budget_used"])
            self.statistical = max(self.statistical, layer["budget_used_statistical"])

    @property
    def judged(self):
        return sum(self.verdicts.values())

    def row(self):
        return [self.model, self.seeds, self.judged, *(self.verdicts[v] for v in VERDICTS),
                f"{self.budget:.3g}", f"{self.statistical:.3g}"]


class Progress:
    """One line on a terminal that is written again; nothing where the output goes to a file."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def say(self, text):
        if self.shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self):
        self.say("")


def verify(driftscope, threads, model, trace):
    """Returns the layers that `driftscope verify` judged, as its JSON describes them."""
    command = [driftscope, "verify", model, trace, "--json", "-", "--quiet", "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"driftscope verify ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)["layers"]


def judge(path, seeds, options, progress, tally):
    """Runs a model on SEEDS and adds to TALLY; yields a line for each layer that is not clean."""
    import onnx
    import trace_torch

    model, trace = onnx.load(str(path)), options.folder / "trace.safetensors"
    for seed in seeds:
        progress.say(f"{path.stem}: seed {seed} of {seeds[0]} to {seeds[-1]}")
        inputs = trace_torch.seeded_inputs(model, seed)
        values, nodes = trace_torch.trace_graph(model, inputs)
        trace_torch.write(trace, path, inputs, values, nodes, f"seed {seed}")
        layers = verify(options.driftscope, options.threads, path, trace)
        tally.add(layers)
        for layer in layers:
            if layer["verdict"] not in CLEAN:
                yield (f"{layer['verdict']}: {path.stem}, seed {seed}, {layer['node']}"
                       f" ({layer['op']}): {layer['budget_used']:.3g} of the budget,"
                       f" {layer['budget_used_statistical']:.3g} of the statistical one")


def judge_all(paths, options, tallies):
    """Fills TALLIES, one for each model that can be recorded; prints what is not clean at once."""
    progress, seeds = Progress(), range(options.first, options.first + options.seeds)
    for path in paths:
        tallies.append(Tally(path.stem))
        started = time.monotonic()
        try:
            for line in judge(path, seeds, options, progress, tallies[-1]):
                progress.clear()
                print(line, flush=True)
        except NotImplementedError as error:
            tallies.pop()
            progress.clear()
            print(f"not judged: {path.stem}: {error}", flush=True)
        else:
            progress.clear()
            print(f"{path.stem}: {options.seeds} seeds in {time.monotonic() - started:.1f} s",
                  file=sys.stderr, flush=True)


def print_table(tallies):
    rows = [["model", "seeds", "layers judged", *VERDICTS, "largest budget used", "statistical"],
            *(tally.row() for tally in tallies)]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def parse():
    def count(text):
        if int(text) < 1:
            raise ValueError
        return int(text)

    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL", help="models by name (default: all)")
    parser.add_argument("--seeds", type=count, default=100, help="inputs per model (default 100)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--models", type=Path, default=ROOT / "assets/models", metavar="FOLDER",
                        help="where the .onnx files lie (default: assets/models)")
    parser.add_argument("--driftscope", type=Path, default=ROOT / "build/native/driftscope",
                        metavar="PROGRAM", help="the command line (default: build/native/driftscope)")
    parser.add_argument("--threads", type=count, default=os.cpu_count(),
                        help="threads of the judge (default: all processors); PyTorch has one")
    options = parser.parse_args()
    options.driftscope = options.driftscope.resolve()
    if not os.access(options.driftscope, os.X_OK):
        parser.error(f"{options.driftscope} is not a program; build it, or name it with --driftscope")
    known = {path.stem: path for path in sorted(options.models.glob("*.onnx"))}
    for name in options.names:
        if name not in known:
            parser.error(f"no model {name!r} in {options.models}; there are {', '.join(known)}")
    return options, [known[name] for name in options.names or known]


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    options, paths = parse()
    tallies, broken = [], 0
    signal.signal(signal.SIGTERM, interrupt)  # so that the temporary folder is removed, too
    try:
        import trace_torch  # says what to install if PyTorch is missing
        trace_torch.torch.set_num_threads(1)
        with tempfile.TemporaryDirectory(prefix="driftscope-seeds-") as folder:
            options.folder = Path(folder)
            judge_all(paths, options, tallies)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        broken = 130
    except (RuntimeError, OSError, ValueError) as error:
        print(f"\npytorch_seeds: {error}", file=sys.stderr)
        broken = 2
    print_table(tallies)
    clean = sum(tally.verdicts[verdict] for tally in tallies for verdict in CLEAN)
    judged = sum(tally.judged for tally in tallies)
    return broken or int(judged == 0 or clean != judged)


if __name__ == "__main__":
    sys.exit(main())
