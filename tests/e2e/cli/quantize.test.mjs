// driftscope quantize: files that every engine runs, the document of it, and what it refuses.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const lenet = asset("models", "lenet5.onnx");
const ofDigits = (name) => asset("data", `digits-test-${name}-ubyte`);
const digits = `idx:${ofDigits("images.idx3")},${ofDigits("labels.idx1")}`;

/** Quantizes; the document. */
function quantized(t, model, mode, ...options) {
  const folder = temporaryFolder(t);
  const [out, json] = [join(folder, "out.onnx"), join(folder, "out.json")];
  const made = run(["quantize", model, "--mode", mode, "-o", out, "--json", json, "--quiet", ...options]);
  assert.equal(made.status, 0, made.stderr);
  return { ...JSON.parse(readFileSync(json, "utf8")), out, printed: made.stdout };
}

test("Quantize_EveryMode_KeepsLenetsAccuracy_AndNoEngineIsAccused", (t) => {
  const sizes = {
    "int8-dynamic": 0.28,
    "int8-static": 0.29,
    float16: 0.52,
    int4: 0.19,
    "int4-matmulnbits": 0.19,
    linear8: 0.28,
    linear4: 0.16,
    lut8: 0.29,
    lut4: 0.16,
  };
  for (const [mode, share] of Object.entries(sizes)) {
    const samples = mode === "float16" ? ["--samples", "100"] : [];
    const made = quantized(t, lenet, mode, "--calibrate", digits, "--calibration-samples", "100", ...samples);
    assert.equal(made.format, "driftscope-quantize-1");
    assert.equal(made.bytes_after, readFileSync(made.out).length);
    assert.ok(made.bytes_after < share * made.bytes_before, `${mode}: ${made.bytes_after} bytes`);
    assert.ok(made.accuracy_before > 0.98 && made.accuracy_after > 0.97, `${mode}: ${made.accuracy_after}`);
    assert.deepEqual(
      made.layers.map((layer) => layer.node),
      ["conv1", "conv2", "fc1", "fc2", "fc3"],
    );
    const sum = made.layers.reduce((all, layer) => all + layer.drift_share, 0);
    assert.ok(Math.abs(sum - 1) < 1e-9, `${mode}: shares sum to ${sum}`);
    for (const layer of made.layers) assert.ok(layer.sqnr_db > 15, `${mode} ${layer.node}: ${layer.sqnr_db}`);
    assert.match(made.printed, /95 % interval/);
    const compared = run([
      "compare",
      made.out,
      "--left",
      "pc/reference",
      "--right",
      "pc/strict,pc/fast,pc/ort",
      "--repeat",
      "1",
      "--times",
      "0",
      "--quiet",
    ]);
    assert.equal(compared.status, 0, `${mode}: ${compared.stdout}${compared.stderr}`);
  }
});

test("Quantize_TheSameCommand_MakesTheSameBytes", (t) => {
  const options = [
    "--calibrate",
    digits,
    "--calibration-samples",
    "20",
    "--samples",
    "20",
    "--method",
    "entropy",
  ];
  const [a, b] = [1, 2].map(() => readFileSync(quantized(t, lenet, "int8-static", ...options).out));
  assert.deepEqual(a, b);
});

test("Quantize_WithoutLabels_AccuracyIsNull", (t) => {
  const made = quantized(t, lenet, "int8-static", "--calibrate", "seed:42", "--calibration-samples", "4");
  assert.equal(made.accuracy_before, null);
  assert.equal(made.accuracy_after, null);
  assert.match(made.printed, /no labels/);
  const plain = quantized(t, lenet, "linear8");
  assert.equal(plain.samples, 0);
  assert.equal(plain.layers[0].sqnr_db, null);
});

test("Quantize_Restore_NamesTheLayersThatStay", (t) => {
  const made = quantized(t, lenet, "linear4", "--dataset", digits, "--restore", "100%");
  assert.equal(made.restored.reached, false);
  assert.equal(made.restored.steps.length, 5);
  const loose = quantized(t, lenet, "linear4", "--dataset", digits, "--restore", "5pt");
  assert.equal(loose.restored.reached, true);
  assert.deepEqual(loose.restored.keep, []);
});

test("Quantize_BadInput_SaysWhatIsNeeded_AndWritesNothing", (t) => {
  const out = join(temporaryFolder(t), "out.onnx");
  const refused = (expected, model, ...options) => {
    const { status, stderr } = run(["quantize", model, "-o", out, "--quiet", ...options]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, expected);
    assert.ok(!existsSync(out));
  };
  refused(/expected one of int8-dynamic/, lenet, "--mode", "int3");
  refused(/ranges of activations come from data/, lenet, "--mode", "int8-static");
  refused(/nearest that linear8 quantizes: 'conv1'/, lenet, "--mode", "linear8", "--keep", "conv11");
  refused(/needs labelled data/, lenet, "--mode", "linear8", "--restore", "0.9");
  refused(/expected an accuracy/, lenet, "--mode", "linear8", "--dataset", digits, "--restore", "much");
  refused(/quantized already/, asset("models", "lenet5-int8.onnx"), "--mode", "linear8");
  refused(/--per-channel/, lenet, "--mode", "int4", "--per-channel");
  const same = run(["quantize", lenet, "-o", lenet, "--mode", "linear8", "--quiet"]);
  assert.equal(same.status, 2);
  assert.match(same.stderr, /the float model itself/);
  const wrong = `cifar10:${asset("data", "generated-cifar10-test.bin")}`;
  refused(/--calibrate/, lenet, "--mode", "int8-static", "--calibrate", wrong);
});
