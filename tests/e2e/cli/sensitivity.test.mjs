// How far rounding can move the answer, in compare and verify.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, run, temporaryFolder } from "../support.mjs";
import { faultsOf } from "../document_schema.mjs";

const model = asset("models/lenet5.onnx");
const images = asset("data/digits-test-images.idx3-ubyte");
const digit = `idx:${images},${asset("data/digits-test-labels.idx1-ubyte")}#121`;
const compare = (...more) =>
  run([
    "compare",
    model,
    "--input",
    digit,
    "--right",
    "pc/fast",
    "--times",
    "0",
    "--repeat",
    "1",
    "--quiet",
    ...more,
  ]);

test("compare predicts how far rounding moves the answer, and says what happened", (t) => {
  const folder = temporaryFolder(t);
  const json = join(folder, "run.json");
  const report = join(folder, "run.html");
  const made = compare("--json", json, "--report", report);
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /Where rounding can move the lead of class 8 over class 9/);
  assert.match(made.stdout, /predicted to first order, rounding moves it by .* at most/);
  const document = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(faultsOf(document), []);
  for (const target of [document.left, ...document.right]) {
    const { sensitivity, layers } = target.verify;
    assert.ok(Math.abs(sensitivity.seen) <= sensitivity.worst);
    // The layers' own errors, by the gradient, are what the answer has moved by.
    assert.ok(Math.abs(sensitivity.seen - sensitivity.explained) <= 0.02 * Math.abs(sensitivity.seen) + 1e-9);
    const shares = layers.map((layer) => layer.sensitivity ?? 0);
    assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 1) < 1e-9);
    assert.equal(layers.find(({ op }) => op === "Softmax").sensitivity, undefined);
  }
  assert.match(readFileSync(report, "utf8"), /Where the error that matters comes from/);

  const trace = join(folder, "fast.safetensors");
  assert.equal(
    run(["run", model, "--input", digit, "--target", "pc/fast", "--trace", trace, "--quiet"]).status,
    0,
  );
  const verified = run(["verify", model, trace, "--json", "-"]);
  assert.deepEqual(JSON.parse(verified.stdout).sensitivity, document.right[0].verify.sensitivity);
});

test("sensitivity is left out where it cannot be computed, and the reason is said", () => {
  const without = compare("--no-sensitivity", "--json", "-");
  assert.equal(JSON.parse(without.stdout).left.verify.sensitivity, undefined);
  const quantized = run([
    "compare",
    asset("models/lenet5-int8.onnx"),
    "--right",
    "pc/fast",
    "--times",
    "0",
    "--repeat",
    "1",
    "--quiet",
  ]);
  assert.match(quantized.stdout, /was not computed: .*no gradient through rounding to integers\n/);
});
