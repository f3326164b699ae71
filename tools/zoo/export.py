#!/usr/bin/python3
"""Writes full-size models with seeded random weights, as PyTorch's exporter gives them to users.

They are for measuring and for verifying: their answers mean nothing. Nothing is downloaded, and
nothing is written into the repository."""
import argparse
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.dont_write_bytecode = True

NEWEST = 17  # the last opset that PyTorch 1.13 writes


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "driftscope/zoo"


def write(name, folder, opset, seed, again):
    """Exports one model unless it is there already; returns its path."""
    import torch

    import full
    import preprocess

    stem = name if opset == NEWEST else f"{name}-opset{opset}"
    path = folder / f"{stem}.onnx"
    if path.exists() and not again:
        return path
    model, sample = full.build(name, seed)
    entry = full.CATALOGUE[name]
    given = "tokens" if entry.text else "input"
    beside = path.with_suffix(".tmp")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, sample, str(beside), opset_version=opset, input_names=[given],
                          output_names=[entry.output],
                          dynamic_axes={given: {0: "N"}, entry.output: {0: "N"}})
    if entry.describe:
        preprocess.write(path.with_suffix(".preprocess.json"), entry.describe())
    beside.rename(path)  # so that an interrupted run leaves no incomplete model
    return path


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""examples:
  tools/zoo/export.py --list                       what there is
  tools/zoo/export.py --full all                   every model, in the newest opset
  tools/zoo/export.py --full vgg16 resnet50 --opset 11
  driftscope run ~/.cache/driftscope/zoo/resnet50.onnx

NAME.onnx is in opset 17, NAME-opset11.onnx in opset 11 (users have both). ImageNet models come with
their NAME.preprocess.json, so that they take pictures (--input photo.jpg). Needs the Debian packages
python3-torch python3-torchvision python3-onnx. All take 0.5 GB of disk per opset and half a minute.""")
    parser.add_argument("--full", nargs="+", metavar="MODEL", default=[],
                        help="names of --list, or all")
    parser.add_argument("--list", action="store_true", help="name the models and stop")
    parser.add_argument("--opset", type=int, default=NEWEST, choices=range(9, NEWEST + 1),
                        metavar="N", help=f"ONNX opset, 9 to {NEWEST} (the default)")
    parser.add_argument("--seed", type=int, default=7, help="of the weights (default 7)")
    parser.add_argument("--out", type=Path, default=cache(),
                        help="folder (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="also write what is there already")
    options = parser.parse_args(arguments)
    if not options.full and not options.list:
        parser.error("name the models after --full, or see --list")
    return parser, options


def main():
    parser, options = parse(sys.argv[1:])
    try:
        import torch

        import full
    except ImportError as error:
        print(f"{error}; install it: apt-get install python3-torch python3-torchvision python3-onnx",
              file=sys.stderr)
        return 3
    if options.list:
        for name, entry in full.CATALOGUE.items():
            print(f"{name:12}  {'×'.join(map(str, entry.shape)):12}  {entry.what}")
        return 0
    names = list(full.CATALOGUE) if options.full == ["all"] else options.full
    for name in names:
        if name not in full.CATALOGUE:
            parser.error(f"no model {name!r}; there are {', '.join(full.CATALOGUE)}")
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = write(name, options.out, options.opset, options.seed, options.again)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
