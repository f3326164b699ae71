// reduce and repro on a real fault: ONNX Runtime Web 1.30's convolution of six channels on WebGPU.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";
import { nothingLeft, processes } from "./processes.mjs";

const model = asset("models", "lenet5.onnx");
const target = ["--target", "chrome/ort-webgpu"];

test("Repro_WebGpuConvolution_IsAFolderWhosePageTurnsRed", async (t) => {
  const before = processes();
  const folder = temporaryFolder(t);
  const trace = join(folder, "lenet5.safetensors");
  assert.equal(run(["run", model, ...target, "--trace", trace]).status, 0);
  const report = join(folder, "report");
  const made = run(["repro", model, trace, "-o", report, "--quiet"], { timeout: 180_000 });
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /index\.html was run: wrong/);
  assert.match(made.stdout, /weights: w0: float32 16x6x5x5/);
  for (const name of [
    "model.onnx",
    "x0.npy",
    "expected.npy",
    "bound.npy",
    "index.html",
    "repro.py",
    "package.json",
  ])
    assert.ok(existsSync(join(report, name)), name);
  const issue = readFileSync(join(report, "issue.md"), "utf8");
  assert.match(issue, /Conv gives a wrong result/);
  assert.match(issue, /onnxruntime-web \d+\.\d+/);
  assert.match(issue, /Chrom/);
  const again = run(["repro", model, trace, "-o", report, "--quiet"]);
  assert.equal(again.status, 2);
  assert.match(again.stderr, /exists already/);
  // A node that is right alone gives no folder.
  const right = run(["repro", model, trace, "conv1", "-o", join(folder, "right"), "--quiet"], {
    timeout: 180_000,
  });
  assert.notEqual(right.status, 0);
  assert.match(right.stderr, /alone is (rounding|identical)/);
  assert.ok(!existsSync(join(folder, "right")));
  await nothingLeft(before);
});

test("Reduce_WebGpuConvolution_BecomesSmall", (t) => {
  const report = join(temporaryFolder(t), "small");
  const made = run(["reduce", model, ...target, "-o", report, "--tries", "12", "--quiet"], {
    timeout: 300_000,
  });
  assert.equal(made.status, 0, made.stderr);
  const [, from, to] = /one node: Conv.* of 'conv2'.*: ([\d,]+) elements became ([\d,]+)/.exec(made.stdout);
  const number = (text) => Number(text.replaceAll(",", ""));
  assert.ok(number(to) * 2 < number(from), made.stdout);
  assert.ok(existsSync(join(report, "index.html")));
});
