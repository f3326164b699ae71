"""The study: networks × repetitions × frameworks, resumable, and the document that it ends in. Client: the command.

OUT/MODEL/repetition-R/ has the job, what each worker left, and at the end result.json; with that it is done and the arrays
are removed. A study that was broken off goes on where it was: finished trainings are not run again.
"""
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from .. import safetensors_file
from ..errors import BadInput, FrameworkMissing
from ..whole_file import whole_file
from . import backends, data, drift, judge
from .architectures import initial_weights
from .plants import Plant

FORMAT = "driftscope-training-1"
PROBE = 16  # test samples whose layer outputs are compared
SETUP = "setup.json"


@dataclass
class Settings:
    out: Path
    frameworks: list
    repetitions: int = 5
    seed: int = 42
    judged_steps: int = 2
    keep_every: int = 1
    plants: dict = field(default_factory=dict)
    python: str = ""
    keep: bool = False
    digits: str = ""


def find_python(frameworks, named=""):
    """A Python that has all FRAMEWORKS: the one named, this one, or that of tools/setup --frameworks."""
    if named:
        return named
    wanted = [package for name in frameworks for package in backends.packages(name)] + ["onnx"]
    if all(importlib.util.find_spec(package) for package in wanted):
        return sys.executable
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "driftscope"
    for made in sorted(cache.glob("frameworks-packages-*.made/bin/python")):
        return str(made)
    raise FrameworkMissing(f"{', '.join(frameworks)} need the packages {', '.join(wanted)}: tools/setup --frameworks"
                           " installs them in an environment that is found here; or name a Python that has them, --python")


def _write_json(path, value):
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1) + "\n").encode())


def environment():
    here = str(Path(__file__).resolve().parents[2])
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": here + (os.pathsep + before if before else ""), "CUDA_VISIBLE_DEVICES": "",
            "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_minloglevel": "3", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "KERAS_BACKEND": "tensorflow",
            # One thread: sums in the same order each time.
            "XLA_FLAGS": os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"}


class Study:
    def __init__(self, settings, architectures, say):
        self.settings, self.architectures, self.say = settings, architectures, say
        self.data, self.failed, self.partial = {}, [], {}
        for a in architectures:
            if a.batch & (a.batch - 1):
                raise BadInput(f"{a.name}: a batch of {a.batch}; expected a power of two, so that the mean of a batch is its"
                               " sum times an exact factor and a step can be judged")
            for framework, plant in settings.plants.items():
                if plant.frozen and plant.frozen not in a.weights:
                    raise BadInput(f"--plant {framework}:frozen:{plant.frozen}: {a.name} has no such weight; it has"
                                   f" {', '.join(a.weights)}")

    def run(self):
        """Trains what is missing and writes training.json; returns its path."""
        self._check_setup()
        for a in self.architectures:
            for repetition in range(self.settings.repetitions):
                self._prepare(a, repetition)
        for framework in self.settings.frameworks:
            self._train(framework)
        for a, repetition in self._cells():
            self._finish(a, repetition)
        return self._write_document()

    def _cells(self):
        return list(itertools.product(self.architectures, range(self.settings.repetitions)))

    def _folder(self, a, repetition):
        return self.settings.out / a.name / f"repetition-{repetition}"

    def _setup(self):
        return {"models": [{"name": a.name, "layers": a.layers, "input": list(a.input), "rate": a.rate, "batch": a.batch,
                            "epochs": a.epochs, "data": a.data} for a in self.architectures],
                "frameworks": sorted(self.settings.frameworks), "seed": self.settings.seed,
                "judged_steps": self.settings.judged_steps, "keep_every": self.settings.keep_every,
                "digits": self.settings.digits, "plants": {k: asdict(v) for k, v in self.settings.plants.items()}}

    def _check_setup(self):
        """A folder has one study: results of other settings must not be mixed with these."""
        path, setup = self.settings.out / SETUP, json.loads(json.dumps(self._setup()))
        self.settings.out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return _write_json(path, setup)
        try:
            before = json.loads(path.read_text())
        except ValueError as error:
            raise BadInput(f"{path}: {error}; remove the folder, or give another --out") from None
        different = [key for key in setup if before.get(key) != setup[key]]
        if different:
            raise BadInput(f"{self.settings.out} has a study with other {', '.join(different)}: it goes on only with the same"
                           " ones; give another --out, or remove the folder")

    def _data_of(self, a):
        key = (a.data, a.input)
        if key not in self.data:
            self.data[key] = data.reviews(a.input[0]) if a.texts else data.digits(a.input, self.settings.digits or None)
        return self.data[key]

    def _prepare(self, a, repetition):
        folder = self._folder(a, repetition)
        if (folder / "job.json").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        loaded = self._data_of(a)
        x, labels = loaded.train
        seed = [self.settings.seed, repetition]
        arrays = {f"weight/{name}": value for name, value in initial_weights(a, seed).items()}
        arrays["order"] = data.batches(len(x), a.batch, a.epochs, [*seed, 1])
        arrays |= {"train/x": x, "train/labels": labels, "test/x": loaded.test[0], "test/labels": loaded.test[1],
                   "probe": loaded.test[0][:PROBE]}
        if int(labels.max()) >= a.classes:
            raise BadInput(f"{a.name} has {a.classes} classes, {loaded.name} has the label {int(labels.max())}")
        if a.texts and int(x.max()) >= a.weights[next(iter(a.weights))][0]:
            raise BadInput(f"{a.name}: its embedding has {a.weights[next(iter(a.weights))][0]} words, {loaded.name} has the"
                           f" word {int(x.max())}")
        safetensors_file.write(folder / "job.safetensors", {k: np.ascontiguousarray(v) for k, v in arrays.items()}, {})
        _write_json(folder / "job.json", {
            "architecture": {"name": a.name, "data": a.data, "input": list(a.input), "layers": a.layers},
            "rate": a.rate, "batch": a.batch, "judged_steps": self.settings.judged_steps,
            "keep_every": self.settings.keep_every, "data": loaded.name, "train": len(x), "test": len(loaded.test[0]),
            "plants": {name: asdict(plant) for name, plant in self.settings.plants.items()}})

    def _train(self, framework):
        """All trainings of FRAMEWORK that are missing, in one process, since its start takes seconds. If that dies, the next
        training gets a new one."""
        missing = [(a, r) for a, r in self._cells() if not (self._folder(a, r) / f"{framework}.json").exists()
                   and not (self._folder(a, r) / "result.json").exists()]
        python = find_python(self.settings.frameworks, self.settings.python) if missing else ""
        log, done = self.settings.out / f"{framework}.log", 0
        while done < len(missing):
            with open(log, "ab") as errors, subprocess.Popen(
                    [python, "-W", "ignore", "-m", "driftscope.training.worker", framework], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=errors, env=environment(), text=True) as worker:
                alive = True
                while alive and done < len(missing):
                    a, repetition = missing[done]
                    done += 1
                    what = f"{framework} {a.name} {repetition + 1}/{self.settings.repetitions}"
                    alive = self._one(worker, self._folder(a, repetition), what, f"{done} of {len(missing)}", log)
                try:
                    worker.stdin.close()
                except BrokenPipeError:
                    pass

    def _one(self, worker, folder, what, place, log):
        """Sends a job and waits for it; False: the process is gone."""
        started = time.monotonic()
        try:
            worker.stdin.write(json.dumps({"folder": str(folder.resolve())}) + "\n")
            worker.stdin.flush()
        except BrokenPipeError:
            pass
        for line in worker.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue  # a framework that prints
            if not isinstance(said, dict):
                continue
            if "epoch" in said:
                spent = time.monotonic() - started
                left = spent / said["epoch"] * (said["of"] - said["epoch"])
                self.say(f"{what} ({place}): epoch {said['epoch']}/{said['of']}, accuracy {said['accuracy']:.1%}, "
                         f"about {left:.0f} s left", said["epoch"] == said["of"])
            elif "done" in said:
                return True
            elif "error" in said:
                self._fail(what, said["error"])
                return not said.get("fatal")
        self._fail(what, f"its process ended with {worker.wait()}; its messages are in {log}")
        return False

    def _fail(self, what, error):
        """A training that does not end does not stop the study; the same command tries it again."""
        self.failed.append({"what": what, "error": error})
        self.say(f"{what}: {error}", True)

    def _finish(self, a, repetition):
        """Compares and judges a repetition. When all frameworks have it, writes result.json and removes the arrays."""
        folder = self._folder(a, repetition)
        if (folder / "result.json").exists():
            return
        here = [name for name in self.settings.frameworks if (folder / f"{name}.json").exists()]
        if not here:
            return
        job = safetensors_file.read(folder / "job.safetensors")[0]
        about = {name: json.loads((folder / f"{name}.json").read_text()) for name in here}
        kept = {name: safetensors_file.read(folder / f"{name}.safetensors")[0] for name in here}
        epochs = [point for point in range(a.epochs + 1) if point % self.settings.keep_every == 0 or point == a.epochs]
        result = {"runs": [], "drift": [], "steps": []}
        for name in here:
            result["runs"].append({"framework": name, "repetition": repetition, "seconds": about[name]["seconds"],
                                   "epochs": about[name]["curve"]})
        for left, right in itertools.combinations(here, 2):
            points = drift.drift_of(a, kept[left], kept[right], epochs)
            entry = {"left": left, "right": right, "repetition": repetition, "points": points}
            parted = drift.first_parted(a, points)
            if parted:
                entry |= {"parted_layer": parted[0], "parted_epoch": parted[1]}
            if self.settings.judged_steps:
                first = drift.first_different_weight(a, kept[left], kept[right])
                if first:
                    entry |= {"first_different_weight": first[0], "first_difference": first[1]}
            result["drift"].append(entry)
        for name in here:
            for step in range(1, self.settings.judged_steps + 1):
                self.say(f"{a.name} {repetition + 1}/{self.settings.repetitions}: judging step {step} of {name}", False)
                place = job["order"].reshape(-1, a.batch)[step - 1]
                judged = judge.judge_step(a, name, about[name]["facts"], a.rate, kept[name], step,
                                          np.array(job["train/x"][place]), np.array(job["train/labels"][place]), folder)
                result["steps"].append({"framework": name, "repetition": repetition, **judged})
        result["environments"] = {name: _about(about[name]) for name in here}
        if len(here) < len(self.settings.frameworks):
            self.partial[a.name, repetition] = result
            return
        _write_json(folder / "result.json", result)
        del job, kept
        if not self.settings.keep:
            for path in [*folder.glob("*.safetensors"), *folder.glob("*.onnx")]:
                path.unlink()

    def _write_document(self):
        models, environments = [], {}
        for a in self.architectures:
            parts = {"runs": [], "drift": [], "steps": []}
            job = json.loads((self._folder(a, 0) / "job.json").read_text())
            for repetition in range(self.settings.repetitions):
                path = self._folder(a, repetition) / "result.json"
                if not path.exists() and (a.name, repetition) not in self.partial:
                    continue
                result = json.loads(path.read_text()) if path.exists() else self.partial[a.name, repetition]
                environments |= result.pop("environments")
                for key, values in result.items():
                    parts[key] += values
            models.append({"name": a.name, "data": job["data"], "train_samples": job["train"], "test_samples": job["test"],
                           "rate": a.rate, "batch": a.batch, "epochs": a.epochs, "why": a.why, "layers": a.names,
                           "weights": list(a.weights), **parts})
        plants = [f"{name}:{_plant_text(plant)}" for name, plant in self.settings.plants.items()]
        path = self.settings.out / "training.json"
        _write_json(path, {
            "format": FORMAT, "optimizer": "sgd", "seed": self.settings.seed, "repetitions": self.settings.repetitions,
            "parted_above": drift.PARTED, "planted": plants,
            "environments": [{"framework": name, **facts} for name, facts in environments.items()],
            "models": models, "failed": self.failed})
        return path


def _about(run):
    facts = run["facts"]
    return {"version": facts["version"], "device": facts.get("device", "cpu"), "python": run["python"],
            "backend": facts.get("backend", "")}


def _plant_text(plant):
    default = Plant()
    return ", ".join(f"{key} {value}" for key, value in asdict(plant).items() if value != getattr(default, key))
