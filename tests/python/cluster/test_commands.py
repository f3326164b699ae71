"""Commands with --cluster, the real program from end to end on two workers, one of which is killed: matrix, verify,
study, hunt."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from cluster_support import LIMIT, PACKAGE, ROOT, ClusterTest, until

PROGRAM = os.environ.get("DRIFTSCOPE", "")
ASSETS = ROOT / "assets"
LONGEST = 300


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "no program: DRIFTSCOPE names none")
class CommandTest(ClusterTest):
    def command(self, *arguments):
        """The program with an option --cluster, which runs."""
        log = open(self.folder / "command.log", "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
            cwd=self.folder, env={**os.environ, "PYTHONPATH": PACKAGE, "DRIFTSCOPE_PYTHON": sys.executable})
        self.addCleanup(self.end_command, process)
        return process

    @staticmethod
    def end_command(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()

    def finish(self, process, status=0):
        text, _ = process.communicate(timeout=LONGEST)
        self.assertEqual(process.returncode, status, text + (self.folder / "command.log").read_text()[-3000:])
        return text

    def start_cluster(self, *lasts):
        scheduler = self.scheduler()
        for last in lasts:
            self.worker(last, program=PROGRAM)
        return scheduler

    def stored(self, out, name="cells.jsonl"):
        path = self.folder / out / name
        # The last line may not be complete yet.
        lines = path.read_text().split("\n")[1:-1] if path.exists() else []
        return [json.loads(line) for line in lines]

    def jobs_of(self, last):
        """Folders of jobs that this worker runs."""
        folder = self.folder / f"cache{last}" / "jobs"
        return list(folder.iterdir()) if folder.exists() else []

    def kill_one_that_works(self, out, least):
        """Kills the worker 2 while it has a job, once there are so many results."""
        until(lambda: len(self.stored(out)) >= least and self.jobs_of(2), f"{least} cells and a job")
        self.workers[2].kill()


class MatrixTest(CommandTest):
    def matrix(self, inputs):
        shutil.copy(ASSETS / "models" / "lenet5.onnx", self.folder)
        shutil.copy(ASSETS / "models" / "lenet5.preprocess.json", self.folder)
        seeds = ", ".join(f"seed:{number}" for number in range(inputs))
        file = self.folder / "nightly.yml"
        file.write_text("format: driftscope-matrix-1\nmodels: [lenet5.onnx]\ntargets: [pc/fast, pc/strict]\n"
                        f"run: {{times: 0}}\ndata: [{seeds}]\n")
        return file

    def results(self, out):
        """What a cell says, without who ran it and how fast."""
        of_the_run = ("worker", "seconds", "time_ns", "peak_bytes")
        cells = {}
        for line in self.stored(out):
            self.assertNotIn((line["target"], line["item"]), cells, "stored twice")
            result = {key: value for key, value in line["result"].items() if key not in of_the_run}
            cells[line["target"], line["item"]] = result
        return cells

    def test_worker_killed_in_the_middle(self):
        file = self.matrix(6)
        self.start_cluster(2, 3)
        process = self.command("matrix", file, "--out", "there", "--cluster", self.address)
        self.kill_one_that_works("there", 3)
        text = self.finish(process)
        self.assertIn("12 of 12 cells", text)
        workers = {line["result"]["worker"].split(":")[1] for line in self.stored("there")}
        self.assertEqual(workers, {"//127.0.0.2", "//127.0.0.3"})
        self.finish(self.command("matrix", file, "--out", "here", "--jobs", "2"))
        self.assertEqual(self.results("there"), self.results("here"))
        names = sorted(path.name for path in (self.folder / "here" / "results").iterdir())
        self.assertEqual(sorted(path.name for path in (self.folder / "there" / "results").iterdir()), names)

    def test_scheduler_started_again(self):
        file = self.matrix(4)
        scheduler = self.start_cluster(2)
        process = self.command("matrix", file, "--out", "there", "--cluster", self.address)
        until(lambda: self.stored("there"), "a cell")
        scheduler.kill()
        scheduler.wait()
        self.workers[2].wait(LIMIT)
        self.scheduler()
        self.worker(2, program=PROGRAM)
        self.assertIn("8 of 8 cells", self.finish(process))
        self.assertEqual(len(self.results("there")), 8)

    def test_interrupted_goes_on(self):
        file = self.matrix(6)
        self.start_cluster(2)
        process = self.command("matrix", file, "--out", "there", "--cluster", self.address)
        until(lambda: self.stored("there"), "a cell")
        process.send_signal(2)
        self.assertIn("not all of it has run", self.finish(process, 130))
        before = self.stored("there")
        self.assertLess(len(before), 12)
        self.finish(self.command("matrix", file, "--out", "there", "--cluster", self.address))
        self.assertEqual(self.stored("there")[:len(before)], before)
        self.assertEqual(len(self.results("there")), 12)

    def test_nobody_there(self):
        file = self.matrix(1)
        process = self.command("matrix", file, "--out", "there", "--cluster", self.address)
        self.finish(process, 3)
        self.assertIn("dask scheduler", (self.folder / "command.log").read_text())


class VerifyTest(CommandTest):
    def test_worker_killed_in_the_middle(self):
        model = shutil.copy(ASSETS / "models" / "lenet5.onnx", self.folder)
        traces = []
        for seed in range(8):
            traces.append(self.folder / f"trace{seed}.safetensors")
            run = [PROGRAM, "run", model, "--input", f"seed:{seed}", "--trace", str(traces[-1]), "--quiet"]
            subprocess.run(run, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        self.start_cluster(2, 3)
        process = self.command("verify", model, *traces, "--out", "there", "--cluster", self.address)
        self.kill_one_that_works("there", 2)
        text = self.finish(process)
        here = self.finish(self.command("verify", model, *traces, "--out", "here"))
        self.assertEqual(text.replace("there", "here"), here)
        stored = self.stored("there")
        self.assertEqual(len({line["item"] for line in stored}), 8)
        self.assertEqual(len(stored), 8)


class StudyTest(CommandTest):
    """Answers of a model and its variant, attacks of both kinds, layers, times and a generated set."""

    def study(self):
        digits = ",".join(str(ASSETS / "data" / f"digits-test-{name}-ubyte")
                          for name in ("images.idx3", "labels.idx1"))
        study = {
            "format": "driftscope-study-1", "name": "small", "title": "Small", "about": "Of a test.",
            "models": [{"name": "lenet5", "path": str(ASSETS / "models" / "lenet5.onnx"),
                        "variants": [{"name": "int8", "path": str(ASSETS / "models" / "lenet5-int8.onnx")}],
                        "data": [{"name": "original", "source": f"idx:{digits}"},
                                 {"name": "generated", "generated": {"method": "deephunter", "count": 20}}]}],
            "targets": ["pc/strict", "pc/fast"], "samples": 40, "repetitions": 1,
            "attacks": [
                {"name": "fgsm", "method": "fgsm", "epsilon": 0.1, "samples": 30, "models": ["lenet5"],
                 "transfer": True, "store": "8bit"},
                {"name": "walk", "method": "boundary", "steps": 20, "samples": 5, "models": ["lenet5"],
                 "transfer": True},
                {"name": "pixel", "method": "single-pixel", "steps": 10, "samples": 6, "models": ["lenet5"]}],
            "layers": [{"name": "VI", "title": "A layer", "model": "lenet5", "sample": 3,
                        "layers": [{"layer": "conv", "value": "first:Conv", "columns": ["0", "-1"], "rows": []}]}]}
        file = self.folder / "study.json"
        file.write_text(json.dumps(study))
        return file

    def series(self, out):
        """What was found, however it was cut into cells; all but times."""
        found, names = {}, set()
        for line in self.stored(out):
            result, (name, _, _) = line["result"], line["item"].rpartition(" ")
            self.assertNotIn("error", result, line)
            self.assertNotIn((line["target"], line["item"]), names, "stored twice")
            names.add((line["target"], line["item"]))
            one = found.setdefault((line["target"], name), {"sums": {}, "samples": {}, "values": None})
            if name.startswith("times"):
                self.assertGreater(result["median_s"], 0)
                continue
            for key in ("attacked", "successes", "queries"):
                one["sums"][key] = one["sums"].get(key, 0) + result.get(key, 0)
            if name.startswith("layers"):
                one["values"] = result
            begin, count = result.get("begin", 0), len(result.get("predictions", []))
            for index in range(count):
                size = len(result.get("outputs", [])) // count
                one["samples"][begin + index] = (result["labels"][index], result["predictions"][index],
                                                 result["outputs"][index * size:(index + 1) * size])
            for place, label in zip(result.get("originals", []), result.get("labels", [])):
                one["samples"][place] = label
        return found

    def pictures(self, out):
        """All adversarials, by attack."""
        import numpy
        folder = self.folder / out / "adversarials"
        return {one.name: numpy.concatenate([numpy.load(path) for path in sorted(one.iterdir())]).tobytes()
                for one in folder.iterdir()}

    def test_worker_killed_in_the_middle(self):
        file = self.study()
        self.start_cluster(2, 3)
        arguments = ("study", "run", file, "--full", "--quiet")
        process = self.command(*arguments, "--out", "there", "--cluster", self.address)
        self.kill_one_that_works("there", 5)
        self.finish(process)
        self.finish(self.command(*arguments, "--out", "here"))
        there, here = self.series("there"), self.series("here")
        self.assertEqual(sorted(there), sorted(here))
        for name, found in here.items():
            self.assertEqual(there[name], found, name)
        self.assertEqual(self.pictures("there"), self.pictures("here"))

    def test_interrupted_goes_on(self):
        file = self.study()
        self.start_cluster(2)
        arguments = ("study", "run", file, "--full", "--out", "there", "--cluster", self.address)
        process = self.command(*arguments)
        until(lambda: len(self.stored("there")) >= 2, "some cells")
        process.send_signal(2)
        self.assertIn("not all samples have run", self.finish(process, 130))
        before = self.stored("there")
        # Nothing is left, here or there.
        until(lambda: not self.jobs_of(2), "the end of jobs")
        process = self.command("study", "run", file, "--budget", "1s", "--out", "there", "--cluster", self.address)
        self.finish(process)
        after = self.stored("there")
        self.assertEqual(after[:len(before)], before)
        self.assertGreater(len(after), len(before))
        self.series("there")  # none has failed


class HuntTest(CommandTest):
    def lines(self, out):
        """What was judged, by target, in the order of the store; where it was kept is compared, times are not said."""
        found = {}
        for line in self.stored(out, "cases.jsonl"):
            found.setdefault(line["target"], []).append((line["item"], line["result"]))
        return found

    def test_worker_killed_in_the_middle(self):
        # The faults of ONNX Runtime's Resize are kept, once each, whoever finds them.
        arguments = ("hunt", "--targets", "pc/strict,pc/ort", "--operators", "resize", "--seed", "3", "--cases", "60",
                     "--budget", "1h", "--reduce-seconds", "30", "--quiet")
        self.start_cluster(2, 3)
        process = self.command(*arguments, "--out", "there", "--cluster", self.address)
        until(lambda: self.jobs_of(2), "a job")
        self.workers[2].kill()
        self.finish(process, 1)
        self.finish(self.command(*arguments, "--out", "here"), 1)
        there, here = self.lines("there"), self.lines("here")
        self.assertEqual({name: len(lines) for name, lines in here.items()}, {name: 60 for name in here})
        self.assertEqual(there, here)
        folders = [sorted(one.name for one in (self.folder / out / "findings").iterdir()) for out in ("there", "here")]
        self.assertEqual(*folders)
        self.assertTrue(folders[0])

    def test_model_is_refused(self):
        process = self.command("hunt", ASSETS / "models" / "lenet5.onnx", "--out", "there", "--cluster", self.address)
        self.finish(process, 2)
        self.assertIn("--cluster: inputs for a MODEL", (self.folder / "command.log").read_text())
