"""Trains one network in one framework, in a process of its own: two frameworks in one process disturb each other.

    python -m driftscope.training.worker FRAMEWORK     one job a line on standard input, as JSON (study.py)

A job names a folder with job.safetensors (weights, samples, order of the batches) and job.json (the network, the rate, …).
It leaves FRAMEWORK.safetensors and FRAMEWORK.json there, whole or not at all, and says on standard output one line of JSON:
{"done": …}, {"epoch": …} for progress, or {"error": …}.
"""
import json
import os
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from .. import safetensors_file
from ..errors import DriftscopeError
from ..whole_file import whole_file
from . import backends
from .architectures import Architecture
from .plants import Plant

PARTS = 256  # samples that are evaluated at a time


def say(**what):
    print(json.dumps(what), flush=True)


def evaluate(backend, x, labels):
    """(mean loss, right answers) of all samples; only whole parts, so that compiled functions see one shape."""
    part = min(PARTS, len(x))
    losses, right, counted = [], 0, 0
    for begin in range(0, len(x) - part + 1, part):
        loss, correct = backend.evaluate(x[begin:begin + part], labels[begin:begin + part])
        losses.append(loss)
        right += correct
        counted += part
    return float(np.mean(losses)), right, counted


class Run:
    """A training with all that is kept of it."""

    def __init__(self, folder, framework):
        self.folder, self.framework = Path(folder), framework
        self.job = json.loads((self.folder / "job.json").read_text())
        self.arrays = {name: np.array(value) for name, value in
                       safetensors_file.read(self.folder / "job.safetensors")[0].items()}
        given = self.job["architecture"]
        self.architecture = Architecture(given["name"], given["data"], tuple(given["input"]),
                                         [tuple(layer) for layer in given["layers"]])
        self.kept = {}
        self.curve = []

    def train(self):
        job, arrays = self.job, self.arrays
        started = time.monotonic()
        weights = {name: arrays[f"weight/{name}"] for name in self.architecture.weights}
        backend = backends.load(self.framework)(self.architecture, weights, job["rate"],
                                                Plant(**job["plants"].get(self.framework, {})), job["batch"])
        order, x, labels = arrays["order"], arrays["train/x"], arrays["train/labels"]
        self.look(backend, 0, [])
        step = 0
        for epoch in range(len(order)):
            losses = []
            for batch in order[epoch]:
                step += 1
                if step <= job["judged_steps"]:
                    losses.append(self.judged(backend, step, x[batch], labels[batch]))
                else:
                    losses.append(backend.step(x[batch], labels[batch]))
            self.look(backend, epoch + 1, losses)
            say(epoch=epoch + 1, of=len(order), accuracy=self.curve[-1]["accuracy"])
        self.write(backend, time.monotonic() - started)

    def look(self, backend, epoch, losses):
        """What is kept of an epoch; 0 is before the first step."""
        job, arrays = self.job, self.arrays
        test_loss, right, counted = evaluate(backend, arrays["test/x"], arrays["test/labels"])
        point = {"epoch": epoch, "loss": float(np.mean(losses)) if losses else None, "test_loss": test_loss,
                 "accuracy": right / counted, "tested": counted}
        if not all(value is None or np.isfinite(value) for value in point.values()):
            point = {key: value if value is None or np.isfinite(value) else None for key, value in point.items()}
        self.curve.append(point)
        if epoch % job["keep_every"] and epoch != len(arrays["order"]):
            return
        for name, value in backend.weights().items():
            self.kept[f"epoch{epoch}/weight/{name}"] = value
        for name, value in backend.values(arrays["probe"]).items():
            self.kept[f"epoch{epoch}/value/{name}"] = value

    def judged(self, backend, step, x, labels):
        before = backend.weights()
        loss, values, gradients = backend.judged_step(x, labels)
        after = backend.weights()
        self.kept[f"step{step}/loss"] = np.array(loss, np.float32)
        for part, arrays in (("before", before), ("after", after), ("value", values), ("gradient", gradients)):
            for name, array in arrays.items():
                self.kept[f"step{step}/{part}/{name}"] = array
        return loss

    def write(self, backend, seconds):
        safetensors_file.write(self.folder / f"{self.framework}.safetensors", self.kept, {})
        facts = {"framework": self.framework, "seconds": seconds, "curve": self.curve, "facts": backend.facts(),
                 "python": ".".join(map(str, sys.version_info[:3])), "numpy": np.__version__}
        with whole_file(self.folder / f"{self.framework}.json") as file:  # last: with it the job is done
            file.write(json.dumps(facts).encode())


def main():
    framework = sys.argv[1]
    for line in sys.stdin:
        folder = json.loads(line)["folder"]
        try:
            Run(folder, framework).train()
        except DriftscopeError as error:
            say(error=str(error), fatal=True)
            return 3
        except Exception as error:  # a framework's own: the study goes on without it, and says why
            traceback.print_exc(file=sys.stderr)
            say(error=f"{type(error).__name__}: {error}"[:2000])
            continue
        say(done=os.fspath(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
