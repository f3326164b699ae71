// driftscope export, and ONNX's own cases through TensorFlow.js in plain JavaScript.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, run, sanitized, temporaryFolder } from "../support.mjs";
import { caseNames, runCase } from "./cases.mjs";
import { peerOf } from "./peers.mjs";

test("Export_LeNet5_WritesAGraphModelAndWhatBecameOfItsValues", (t) => {
  const folder = join(temporaryFolder(t), "model");
  const json = join(folder, "..", "export.json");
  const result = run(["export", asset("models", "lenet5.onnx"), "--tfjs", folder, "--json", json]);
  assert.equal(result.status, 0, result.stderr);
  const [weights, ...others] = readdirSync(folder).sort();
  assert.match(weights, /^group1-shard1of1-[0-9a-f]{16}\.bin$/);
  assert.deepEqual(others, ["model.json"]);
  const { values } = JSON.parse(readFileSync(json, "utf8")).models[0];
  assert.deepEqual(values.input, { tensor: "input", order: [0, 2, 3, 1], dtype: "float32" });
  assert.match(result.stdout, /input input: float32 1x28x28x1, axes in the order 0,2,3,1/);
});

test("Export_InputShape_BindsTheBatch", (t) => {
  const folder = temporaryFolder(t);
  const model = asset("models", "lenet5.onnx");
  const result = run(["export", model, "--tfjs", folder, "--input-shape", "3x1x28x28"]);
  assert.equal(result.status, 0, result.stderr);
  const { signature } = JSON.parse(readFileSync(join(folder, "model.json"), "utf8"));
  assert.deepEqual(
    signature.inputs.input.tensorShape.dim.map(({ size }) => size),
    ["3", "28", "28", "1"],
  );
  for (const shape of ["3x-1", "other=1x1", "1xx2", ""]) {
    const bad = run(["export", model, "--tfjs", folder, "--input-shape", shape]);
    assert.equal(bad.status, 2, shape);
    assert.match(bad.stderr, /--input-shape/);
  }
});

test("Export_OpenSizes_AreFoundAndSaidAndGiven", (t) => {
  const folder = temporaryFolder(t);
  const model = asset("models", "unet.onnx");
  const json = join(folder, "export.json");
  const found = run(["export", model, "--tfjs", join(folder, "found"), "--json", json]);
  assert.equal(found.status, 0, found.stderr);
  const { sizes } = JSON.parse(readFileSync(json, "utf8"));
  assert.ok(sizes.length > 0);
  const [{ symbol, size }] = sizes;
  assert.ok(found.stdout.includes(`${symbol}=${size}`), found.stdout);
  assert.ok(found.stdout.includes(`--dim ${symbol}=`), found.stdout);
  const given = run([
    "export",
    model,
    "--tfjs",
    join(folder, "given"),
    "--dim",
    `${symbol}=2`,
    "--json",
    json,
  ]);
  assert.equal(given.status, 0, given.stderr);
  assert.ok(!JSON.parse(readFileSync(json, "utf8")).sizes.some((one) => one.symbol === symbol));
});

test("Export_WhatCannotBeExpressed_NamesNodeAndReasonAndWritesNothing", (t) => {
  const folder = join(temporaryFolder(t), "model");
  const result = run(["export", asset("models", "lenet5-int8.onnx"), "--tfjs", folder]);
  assert.equal(result.status, 2);
  assert.match(
    result.stderr,
    /node conv1 \(QLinearConv, opset 13\): TensorFlow.js has no kernels for quantized values/,
  );
  assert.throws(() => readdirSync(folder));
});

test("Export_WithoutFormat_SaysWhichThereAre", () => {
  const result = run(["export", asset("models", "lenet5.onnx")]);
  assert.equal(result.status, 2);
  assert.match(result.stderr, /--tfjs/);
});

// Of every operator a case or two: all of them are run by conformance (pc/tfjs-cpu), in minutes less.
test("TfjsCpu_OnnxCases_AreRightOrDeclined", { skip: sanitized && "numbers, not code" }, async (t) => {
  const names = caseNames("node");
  if (names.length === 0) return t.skip("libonnx-testdata is not installed");
  const peer = await peerOf("cpu");
  const seen = new Map();
  const counts = { right: 0, unsupported: 0, skipped: 0 };
  for (const name of names) {
    const operator = name.split("_")[1];
    seen.set(operator, (seen.get(operator) ?? 0) + 1);
    if (seen.get(operator) > 1) continue;
    const { outcome, text } = await runCase(peer, "node", name);
    assert.ok(outcome in counts, `${name}: ${outcome}: ${text}`);
    ++counts[outcome];
  }
  assert.ok(counts.right > 90, JSON.stringify(counts));
});
