// PyTorch as a third-party runtime: its traces of the shipped models have no faults,
// and one with a wrong kernel has. Skipped if PyTorch is missing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, root, run, sanitized, temporaryFolder } from "../support.mjs";

const python = "/usr/bin/python3";
const tracer = join(root, "tools", "trace_torch.py");
const present = spawnSync(python, [tracer, "--help"]).status === 0;
const skip = present ? false : "no PyTorch here: apt-get install python3-torch python3-onnx";
const models = readdirSync(asset("models"))
  .filter((name) => name.endsWith(".onnx"))
  .map((name) => name.slice(0, -5));

const trace = (args, options = {}) => {
  const done = spawnSync(python, args, { encoding: "utf8", timeout: 300_000, ...options });
  assert.equal(done.status, 0, done.stderr);
};

// With sanitizers only a small one of each kind.
const verifiedModels = sanitized ? ["lenet5", "lenet5-int8", "gru"] : models;
for (const model of verifiedModels) {
  test(`PyTorch_${model}_VerifiesClean`, { skip }, (t) => {
    const path = join(temporaryFolder(t), "torch.safetensors");
    const file = asset("models", `${model}.onnx`);
    trace([tracer, file, "--seed", "5", "--out", path]);
    const { status, stdout, stderr } = run(["verify", file, path, "--json", "-"], { timeout: 300_000 });
    assert.equal(status, 0, stderr || stdout.slice(0, 2000));
    const report = JSON.parse(stdout);
    assert.ok(["identical", "rounding"].includes(report.verdict), report.verdict);
  });
}

test("PyTorch_InputsOfAnotherTrace_CompareClean", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const file = asset("models", "lenet5.onnx");
  const strict = join(folder, "strict.safetensors");
  const torch = join(folder, "torch.safetensors");
  assert.equal(run(["run", file, "--input", "seed:9", "--trace", strict]).status, 0);
  trace([tracer, file, "--like", strict, "--out", torch]);
  const { status, stdout, stderr } = run([
    "compare",
    file,
    "--left",
    `file/${strict}`,
    "--right",
    `file/${torch}`,
  ]);
  assert.equal(status, 0, stderr + stdout);
});

test("PyTorch_ModuleThatIsNotTheExportedOne_IsRejected", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const script = `
import sys
sys.path[:0] = [${JSON.stringify(join(root, "tools"))}, ${JSON.stringify(join(root, "tools", "zoo"))}]
import torch, trace_torch
torch.manual_seed(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(6, 4)
    def forward(self, x):
        return torch.softmax(self.fc(x), 1)
net, x = Net(), torch.randn(2, 6)
torch.onnx.export(net, x, "net.onnx")
trace_torch.record_module(net, [x], "net.onnx", "net.safetensors")
with torch.no_grad():
    net.fc.weight[0, 0] += 1
try:
    trace_torch.record_module(net, [x], "net.onnx", "wrong.safetensors")
except ValueError as error:
    print(error)
`;
  const done = spawnSync(python, ["-B", "-c", script], { encoding: "utf8", cwd: folder });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /the module and the exported graph are .* apart/);
  assert.deepEqual(readdirSync(folder).sort(), ["net.onnx", "net.safetensors"]);
  const verified = run(["verify", join(folder, "net.onnx"), join(folder, "net.safetensors")]);
  assert.equal(verified.status, 0, verified.stderr);
});

test("PyTorch_WrongKernel_IsAFault", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const script = `
import sys; sys.path[:0] = [${JSON.stringify(join(root, "tools"))}]
import trace_torch, torch, onnx
right = trace_torch.torch_ops.OPERATORS["Conv"]
trace_torch.torch_ops.OPERATORS["Conv"] = lambda i, a, o: [right(i, a, o)[0] * (1 + 2e-5)]
path = ${JSON.stringify(asset("models", "lenet5.onnx"))}
trace_torch.record(path, trace_torch.seeded_inputs(onnx.load(path), 1), "wrong.safetensors")
`;
  const done = spawnSync(python, ["-B", "-c", script], { encoding: "utf8", cwd: folder });
  assert.equal(done.status, 0, done.stderr);
  const { status, stdout } = run([
    "verify",
    asset("models", "lenet5.onnx"),
    join(folder, "wrong.safetensors"),
    "--json",
    "-",
  ]);
  assert.equal(status, 1);
  assert.equal(JSON.parse(stdout).first_fault, "conv1");
});
