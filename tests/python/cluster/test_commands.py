"""Commands with --cluster, the real program from end to end on two workers: matrix and verify, one worker killed."""
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

    def stored(self, out):
        path = self.folder / out / "cells.jsonl"
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
