// .tflite files as other programs see them: LiteRT.js, TensorFlow Lite's interpreter where its Python
// package is installed, and Arm NN's parser where Debian has it. Every layer that they compute is verified.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, root, run, temporaryFolder } from "../support.mjs";

const python = process.env.DRIFTSCOPE_TFLITE_PYTHON ?? "python3";
const interpreter = spawnSync(python, ["-c", "import ai_edge_litert.interpreter"]).status === 0;
const armnn = spawnSync("/usr/bin/python3", ["-c", "import pyarmnn"]).status === 0;
const site = process.env.DRIFTSCOPE_SITE ?? join(root, "build", "web", "site");
const litert = existsSync(join(site, "litert", "litert.mjs"));

function verify(file, trace) {
  const { status, stdout, stderr } = run(["verify", file, trace, "--json", "-"], { timeout: 120_000 });
  assert.equal(status, 0, stderr || stdout.slice(0, 2000));
  return JSON.parse(stdout);
}

for (const model of ["lenet5", "lstm"]) {
  test(
    `LiteRtWasm_${model}_VerifiesClean`,
    { skip: litert ? false : "skipped: the site lacks LiteRT.js" },
    (t) => {
      const path = join(temporaryFolder(t), "litert.safetensors");
      const file = asset("models", `${model}.onnx`);
      const ran = run(["run", file, "--input", "seed:5", "--target", "pc/litert-wasm", "--trace", path]);
      assert.equal(ran.status, 0, ran.stderr);
      const report = verify(file, path);
      assert.ok(["identical", "rounding"].includes(report.verdict), report.verdict);
      assert.ok(report.layers.length > 5);
    },
  );
}

// What each interpreter lacks decides which models it runs.
const interpreters = [
  {
    name: "litert",
    lacks: interpreter ? "" : "no TensorFlow Lite interpreter (pip: ai-edge-litert)",
    program: python,
    models: ["lenet5", "resnet20", "textcnn"],
    exported: [],
  },
  {
    name: "armnn",
    lacks: armnn ? "" : "no Arm NN (Debian 12: python3-pyarmnn and libarmnn-cpuref-backend22)",
    program: "/usr/bin/python3",
    models: ["lenet5", "resnet20"],
    exported: ["--every-value"], // it gives the outputs alone
  },
];
for (const { name, lacks, program, models, exported: options } of interpreters)
  for (const model of models)
    test(`Tflite_${model}_On_${name}_VerifiesClean`, { skip: lacks ? `skipped: ${lacks}` : false }, (t) => {
      const folder = temporaryFolder(t);
      const file = asset("models", `${model}.onnx`);
      const [inputs, written, exported, traced] = [
        "in.safetensors",
        "m.tflite",
        "m.json",
        "out.safetensors",
      ].map((one) => join(folder, one));
      assert.equal(run(["run", file, "--input", "seed:5", "--trace", inputs]).status, 0);
      const { status, stdout, stderr } = run([
        "export",
        file,
        "--tflite",
        written,
        "--json",
        "-",
        ...options,
      ]);
      assert.equal(status, 0, stderr);
      writeFileSync(exported, stdout);
      const script = join(root, "tests", "e2e", "cli", "tflite_trace.py");
      const done = spawnSync(program, [script, name, written, exported, inputs, traced], {
        encoding: "utf8",
      });
      assert.equal(done.status, 0, done.stderr);
      const report = verify(file, traced);
      assert.ok(["identical", "rounding"].includes(report.verdict), report.verdict);
      assert.ok(report.layers.length > 5);
    });

test("ExportTflite_OperatorItLacks_NamesNodeAndReason", (t) => {
  const out = join(temporaryFolder(t), "m.tflite");
  const file = "/usr/share/libonnx-testdata/data/node/test_acos/model.onnx";
  if (!existsSync(file)) return t.skip("skipped: no libonnx-testdata");
  const { status, stderr } = run(["export", file, "--tflite", out]);
  assert.equal(status, 2);
  assert.match(stderr, /Acos_0 .*TensorFlow Lite has no Acos/);
  assert.ok(!existsSync(out));
});
