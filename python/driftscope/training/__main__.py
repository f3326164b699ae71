"""The command: python -m driftscope.training (docs/training.md)."""
import argparse
import importlib.util
import json
import os
import sys
from pathlib import Path

from ..errors import BadInput, DriftscopeError, FrameworkMissing, ProgramMissing
from . import architectures, backends, data, plants, study, tables


def parser():
    p = argparse.ArgumentParser(
        prog="python -m driftscope.training", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Trains the same networks in several frameworks from the same weights, on the same batches, by plain"
                    " gradient descent;\nrecords curves and the drift between frameworks by epoch, and judges whether the"
                    " first steps differ by rounding.",
        epilog="""examples:
  python -m driftscope.training --out study                        all three networks, five repetitions each
  python -m driftscope.training --out study --model lenet1 --epochs 20 --repetitions 2
  python -m driftscope.training --out study --model mine.json      your own stack of layers
  python -m driftscope.training --out planted --model lenet1 --plant keras:frozen:conv2.bias
  driftscope curves study/training.json -o curves.html             the curves as a page

A study that was broken off goes on when the same command is given again. Exit codes: 0 all steps are rounding; 1 a step has
a fault; 2 wrong use or bad input; 3 a framework or the program is missing. What lies in FOLDER: docs/training.md.""")
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results go, and are continued")
    p.add_argument("--model", action="append", default=[], metavar="NAME|FILE.json",
                   help=f"of {', '.join(architectures.SHIPPED)}, or a file with layers; several are allowed; default: all")
    p.add_argument("--framework", action="append", default=[], metavar="NAME",
                   help=f"of {', '.join(backends.NAMES)}; default: all")
    p.add_argument("--repetitions", type=int, default=5, metavar="N",
                   help="each with weights and order of its own (default 5)")
    p.add_argument("--epochs", type=int, metavar="N", help="instead of the networks' own: LeNets 50, LSTM 20")
    p.add_argument("--rate", type=float, metavar="R", help="learning rate instead of the networks' own: LeNets 0.05, LSTM 1")
    p.add_argument("--batch", type=int, metavar="N", help="instead of 128, LSTM 64; a power of two")
    p.add_argument("--seed", type=int, default=42, help="of weights and order (default 42)")
    p.add_argument("--judged-steps", type=int, default=2, metavar="N",
                   help="first steps that are judged (default 2: momentum shows in the second); 0: none")
    p.add_argument("--keep-every", type=int, default=1, metavar="N", help="epochs between points of the drift (default 1)")
    p.add_argument("--digits", default="", metavar="FOLDER", help="MNIST's four files instead of the digits that come along")
    p.add_argument("--plant", action="append", default=[], metavar="FAULT", help="plant a fault, to see it found: "
                   + "; ".join(line.strip().split("  ")[0] for line in plants.__doc__.splitlines() if "FRAMEWORK:" in line))
    p.add_argument("--python", default="", metavar="PATH", help="a Python that has the frameworks; default: this one, or that"
                   " of tools/setup --frameworks")
    p.add_argument("--keep", action="store_true", help="keep arrays, graphs and traces (hundreds of megabytes)")
    p.add_argument("--quiet", action="store_true", help="no progress")
    return p


def _architecture(name, options):
    if name in architectures.SHIPPED:
        make = architectures.SHIPPED[name]
        if name != "lstm":
            a = make()
        elif not data.vocabulary_size():
            raise BadInput("lstm needs the generated reviews of Driftscope's source tree, which this package does not lie in:"
                           " choose others with --model")
        else:
            a = make(data.vocabulary_size())
    elif name.endswith(".json"):
        a = architectures.read(name)
    else:
        raise BadInput(f"--model {name}: expected one of {', '.join(architectures.SHIPPED)}, or a .json file")
    for key in ("epochs", "rate", "batch"):
        if getattr(options, key) is not None:
            if not getattr(options, key) > 0:
                raise BadInput(f"--{key} {getattr(options, key)}: expected a number above 0")
            setattr(a, key, getattr(options, key))
    return a


def _study(options):
    for key, least in (("repetitions", 1), ("judged_steps", 0), ("keep_every", 1), ("seed", 0)):
        if getattr(options, key) < least:
            raise BadInput(f"--{key.replace('_', '-')} {getattr(options, key)}: expected at least {least}")
    frameworks = list(dict.fromkeys(options.framework)) or backends.NAMES
    for name in frameworks:
        if name not in backends.NAMES:
            raise BadInput(f"--framework {name}: there are {', '.join(backends.NAMES)}")
    models = [_architecture(name, options) for name in dict.fromkeys(options.model or architectures.SHIPPED)]
    if len({a.name for a in models}) != len(models):
        raise BadInput(f"two models are called alike: {', '.join(a.name for a in models)}")
    planted = dict(plants.parse(text, frameworks) for text in options.plant)
    if len(planted) != len(options.plant):
        raise BadInput("--plant: one fault a framework")
    settings = study.Settings(options.out, frameworks, options.repetitions, options.seed, options.judged_steps,
                              options.keep_every, planted, options.python, options.keep, options.digits)
    live = sys.stderr.isatty()

    def say(text, final):
        if not options.quiet and (live or final):
            print(f"\r\x1b[K{text}" if live else text, end="\n" if final or not live else "", file=sys.stderr, flush=True)

    return study.Study(settings, models, say)


def run(arguments):
    options = parser().parse_args(arguments)
    made = _study(options)
    python = study.find_python(made.settings.frameworks, options.python)
    if python != sys.executable and not importlib.util.find_spec("onnx"):  # the graphs are written in this process
        os.execve(python, [python, "-m", "driftscope.training", *arguments], study.environment())
    document = json.loads(made.run().read_text())
    for model in document["models"]:
        print("\n\n".join(map(str, (tables.curves(model), tables.parting(model), tables.steps(model)))) + "\n")
    print(f"{made.settings.out / 'training.json'}  (driftscope curves shows it)")
    for entry in document["failed"]:
        print(f"{entry['what']}: {entry['error']}", file=sys.stderr)
    if document["failed"]:
        return 2
    return 1 if any(step["verdict"] == "fault" for model in document["models"] for step in model["steps"]) else 0


def main(arguments=None):
    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    except (FrameworkMissing, ProgramMissing) as error:
        print(error, file=sys.stderr)
        return 3
    except DriftscopeError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
