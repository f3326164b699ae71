"""The same training in three frameworks: a step is rounding in each, and a planted fault is named where it is.

A small network of the user's own, from a file, in a few seconds of computing; each framework in a process of its own.
"""
import json
import os
import subprocess
import sys

import cases

NETWORK = {"input": [1, 28, 28], "batch": 64, "epochs": 2, "layers": [
    {"conv": {"channels": 3, "kernel": 5}, "name": "conv"}, {"tanh": {}, "name": "tanh"},
    {"average_pool": {"size": 4}, "name": "pool"}, {"flatten": {}, "name": "flatten"},
    {"relu": {}, "name": "relu"}, {"dense": {"units": 10}, "name": "fc"}]}
TEXTS = {"name": "texts", "input": [6], "batch": 32, "epochs": 1, "layers": [
    {"embedding": {"words": 1000, "width": 5}, "name": "embedding"}, {"lstm": {"units": 4}, "name": "lstm"},
    {"last": {}, "name": "last"}, {"dense": {"units": 2}, "name": "fc"}]}


class TrainingTest(cases.FrameworkTest):
    def train(self, name, *options, network=None):
        path = self.folder / "network.json"
        path.write_text(json.dumps({"name": "network", **(network or NETWORK)}))
        out = self.folder / name
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "driftscope.training", "--out", str(out), "--model", str(path),
             "--repetitions", "1", "--quiet", *options], capture_output=True, text=True, timeout=1200,
            env={**os.environ, "PYTHONPATH": str(cases.ROOT / "python")})
        self.assertIn(done.returncode, (0, 1), done.stderr[-3000:])
        return done.returncode, json.loads((out / "training.json").read_text())["models"][0], out

    def test_steps_are_rounding_and_a_finished_study_is_not_run_again(self):
        status, model, out = self.train("clean")
        self.assertEqual(status, 0)
        self.assertEqual({(step["framework"], step["step"]) for step in model["steps"]},
                         {(name, step) for name in ("jax", "keras", "pytorch") for step in (1, 2)})
        for step in model["steps"]:
            # Outputs and their gradients of six layers, four weights with gradient and new value, the loss.
            self.assertEqual(len(step["tensors"]), 21)
            self.assertNotIn("fault", [tensor["verdict"] for tensor in step["tensors"]])
            self.assertNotIn("first_fault", step)
        for pair in model["drift"]:
            self.assertEqual(pair["points"][0]["weights"], [0, 0, 0, 0])  # the same weights
            self.assertNotIn("parted_layer", pair)
            self.assertLess(pair["first_difference"], 1e-6)
        accuracies = {run["epochs"][-1]["accuracy"] for run in model["runs"]}
        self.assertEqual(len(accuracies), 1, accuracies)
        before = (out / "network/repetition-0/result.json").stat().st_mtime_ns
        (out / "training.json").unlink()
        self.train("clean")
        self.assertEqual((out / "network/repetition-0/result.json").stat().st_mtime_ns, before)

    def test_planted_faults_are_named(self):
        status, model, _ = self.train("planted", "--plant", "pytorch:frozen:conv.bias", "--plant", "keras:momentum:0.9",
                                      "--plant", "jax:smoothing:0.1")
        self.assertEqual(status, 1)
        found = {(step["framework"], step["step"]): step.get("first_fault") for step in model["steps"]}
        self.assertEqual(found[("pytorch", 1)], "grad/conv.bias")
        self.assertIsNone(found[("keras", 1)])  # there was no momentum yet
        self.assertEqual(found[("keras", 2)], "step/conv.weight")
        self.assertEqual(found[("jax", 1)], "loss")
        pytorch = next(s for s in model["steps"] if (s["framework"], s["step"]) == ("pytorch", 1))
        faults = {tensor["tensor"] for tensor in pytorch["tensors"] if tensor["verdict"] == "fault"}
        self.assertEqual(faults, {"grad/conv.bias"})  # it stays where it is

    def test_texts(self):
        _, model, _ = self.train("texts", "--judged-steps", "1", network=TEXTS)
        found = {step["framework"]: step.get("first_fault") for step in model["steps"]}
        self.assertIsNone(found["jax"])
        self.assertIsNone(found["pytorch"])
        # Keras subtracts an embedding's rows one after another: a word that comes n times is rounded n times.
        self.assertIn(found["keras"], (None, "step/embedding.weight"))


if __name__ == "__main__":
    cases.main()
