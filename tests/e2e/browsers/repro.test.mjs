// reduce and repro on a real fault: ONNX Runtime Web 1.30's convolution of six channels on WebGPU.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, environment, run, temporaryFolder } from "../support.mjs";
import { onnxModel } from "../onnx_model.mjs";
import { chain } from "../tiny_onnx.mjs";
import { nothingLeft, processes } from "./processes.mjs";

const model = asset("models", "lenet5.onnx");
const target = ["--target", "chrome/ort-webgpu"];

test("Repro_WebGpuConvolution_IsAFolderWhosePageTurnsRed", async (t) => {
  const before = processes();
  const folder = temporaryFolder(t);
  const trace = join(folder, "lenet5.safetensors");
  assert.equal(run(["run", model, ...target, "--trace", trace]).status, 0);
  const report = join(folder, "report");
  const made = run(["repro", model, trace, "-o", report, "--quiet", "--runs", "6"], { timeout: 180_000 });
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
  assert.match(issue, /The same node is wrong for [\d, ]+ input channels, right for /);
  assert.match(issue, /\| 6 \(attached\) \| \*\*wrong\*\* \|/);
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

/** A .npy file of a float32 vector. */
function npy(values) {
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values.length},), }`;
  const size = Math.ceil((10 + head.length + 1) / 64) * 64 - 10;
  const prefix = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, size & 255, size >> 8]);
  const numbers = Buffer.from(Float32Array.from(values).buffer);
  return Buffer.concat([prefix, Buffer.from(head.padEnd(size - 1) + "\n"), numbers]);
}

/** A model of one operator on four numbers. */
const oneOperator = (op, values) => ({
  model: (folder) => {
    const path = join(folder, `${op}.onnx`);
    writeFileSync(path, chain(op, 1, [values.length]));
    return path;
  },
  input: (folder) => {
    const path = join(folder, "x.npy");
    writeFileSync(path, npy(values));
    return ["--input", `x=${path}`];
  },
});

/** A product with weights, each of whose two matrices serves three products; each number is another. */
function broadcastProduct(folder) {
  const values = (count) => Array.from({ length: count }, (_, i) => (i % 7) + 0.25 * i);
  const path = join(folder, "product.onnx");
  const w = { dtype: "float32", shape: [2, 1, 2, 3], values: values(12) };
  const graph = {
    nodes: [["MatMul", ["x", "w"], ["y"]]],
    constants: { w },
    inputs: { x: { dtype: "float32", shape: [2, 3, 2, 2] } },
    outputs: { y: { dtype: "float32", shape: [2, 3, 2, 3] } },
  };
  writeFileSync(path, onnxModel(graph));
  return path;
}

/** What is wrong on other runtimes: a model, its input, and how the page gets the model. */
const others = [
  // asinh(x) as ln(x + √(x² + 1)), whose square overflows.
  ...["tfjs-webgpu", "tfjs-webgl"].map((engine) => ({
    engine,
    ...oneOperator("Asinh", [1e22, 1, 0.5, 3]),
    files: ["model.json", "package.json"],
    issue: [/\*\*System information\*\*/, /TensorFlow\.js version: 4\./, /two references agree/],
  })),
  {
    engine: "tfjs-wasm",
    model: broadcastProduct,
    files: ["model.json", "group1-shard1of1.bin"],
    issue: [/TensorFlow\.js version: 4\./],
  },
  {
    engine: "litert-webgpu",
    model: () => asset("models", "lenet5-int8.onnx"),
    files: ["model.tflite", "package.json"],
    issue: [/@litertjs\/core 2\./, /\*\*Steps to reproduce\*\*/, /two references agree/],
  },
  // eˣ is infinite from 88.38 on, below the largest number of float32.
  ...["webnn", "litert-wasm", "litert-webnn"].map((engine) => ({
    engine,
    ...oneOperator("Exp", [88.5, 1, 0, -3]),
    files: engine === "webnn" ? [] : ["model.tflite"],
    issue: [engine === "webnn" ? /\*\*Chrome version\*\*\n\nChrom/ : /LiteRT\.js \/ w/],
  })),
];

for (const { engine, model: modelIn, input, files, issue } of others)
  test(`Repro_${engine}_IsAFolderWhosePageTurnsRed`, async (t) => {
    const before = processes();
    const folder = temporaryFolder(t);
    const path = modelIn(folder);
    const trace = join(folder, "trace.safetensors");
    const given = input?.(folder) ?? [];
    const ran = run(["run", path, ...given, "--target", `chrome/${engine}`, "--trace", trace, "--quiet"]);
    assert.equal(ran.status, 0, ran.stderr);
    const report = join(folder, "report");
    const made = run(["repro", path, trace, "-o", report, "--quiet", "--runs", "6", "--json", "-"], {
      timeout: 240_000,
    });
    assert.equal(made.status, 0, made.stderr);
    const document = JSON.parse(made.stdout);
    assert.equal(document.format, "driftscope-repro-1");
    assert.equal(document.page, "wrong");
    assert.equal(document.target.split(":")[0], `chrome/${engine}`);
    for (const name of ["model.onnx", "x0.npy", "expected.npy", "bound.npy", "index.html", ...files])
      assert.ok(existsSync(join(report, name)) && document.files.includes(name), name);
    const text = readFileSync(join(report, "issue.md"), "utf8");
    for (const part of issue) assert.match(text, part);
    await nothingLeft(before);
  });

/** A copy of the site whose devices change a bit of every value that comes back. */
function siteWithWrongDevices(folder) {
  const site = join(folder, "site");
  cpSync(environment.DRIFTSCOPE_SITE, site, { recursive: true });
  for (const name of ["webgpu", "webgl"]) {
    const path = join(site, "web", "device", `${name}.mjs`);
    const before = readFileSync(path, "utf8");
    const after = before.replace(
      /(\n +data\.set\(.*subarray\(offset, offset \+ data\.length\)\);)/,
      "$1 for (let i = 2; i < data.length; i += 4) data[i] ^= 64;",
    );
    assert.notEqual(after, before);
    writeFileSync(path, after);
  }
  return site;
}

// The page computes with the same shaders and without the engine's devices, so that it is right.
test("Repro_OwnShaders_PageRunsThemAlone", async (t) => {
  const before = processes();
  const folder = temporaryFolder(t);
  const site = siteWithWrongDevices(folder);
  for (const engine of ["webgpu", "webgl"])
    for (const node of ["conv1", "pool1", "fc2"]) {
      const trace = join(folder, `${engine}.safetensors`);
      const on = ["--target", `chrome/${engine}`, "--site", site, "--quiet"];
      assert.equal(run(["run", model, ...on, "--trace", trace]).status, 0);
      const report = join(folder, "report");
      const made = run(["repro", model, trace, node, "-o", report, "--runs", "0", "--site", site], {
        timeout: 240_000,
      });
      assert.match(made.stderr, /the plain page says 'right' in chrome/, `${engine} ${node}: ${made.stderr}`);
      assert.ok(!existsSync(report));
    }
  await nothingLeft(before);
});

test("Reduce_WebGpuConvolution_BecomesSmall", (t) => {
  const report = join(temporaryFolder(t), "small");
  const made = run(["reduce", model, ...target, "-o", report, "--tries", "8", "--runs", "0", "--quiet"], {
    timeout: 300_000,
  });
  assert.equal(made.status, 0, made.stderr);
  const [, from, to] = /one node: Conv.* of 'conv2'.*: ([\d,]+) elements became ([\d,]+)/.exec(made.stdout);
  const number = (text) => Number(text.replaceAll(",", ""));
  assert.ok(number(to) * 2 < number(from), made.stdout);
  assert.ok(existsSync(join(report, "index.html")));
});
