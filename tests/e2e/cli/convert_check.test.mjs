// driftscope convert-check: an original beside a converted model.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const images = asset("data", "digits-test-images.idx3-ubyte");
const digits = `idx:${images},${asset("data", "digits-test-labels.idx1-ubyte")}`;

const check = (...args) => {
  const { status, stdout, stderr } = run(["convert-check", ...args, "--json", "-"]);
  return { status, stderr, json: stdout === "" ? null : JSON.parse(stdout) };
};

// One float32 weight of a model.json's first group, changed in its file.
function withChangedWeight(folder, name, change) {
  const model = JSON.parse(readFileSync(join(folder, "model.json"), "utf8"));
  let offset = 0;
  for (const { name: one, shape } of model.weightsManifest[0].weights) {
    if (one === name) break;
    offset += 4 * shape.reduce((a, b) => a * b, 1);
  }
  const path = join(folder, model.weightsManifest[0].paths[0]);
  const bytes = readFileSync(path);
  bytes.writeFloatLE(change(bytes.readFloatLE(offset)), offset);
  writeFileSync(path, bytes);
}

test("ConvertCheck_OpsetTwin_IsNoFault", () => {
  const { status, json, stderr } = check(
    asset("models", "transformer.onnx"),
    asset("models", "transformer-opset11.onnx"),
  );
  assert.equal(status, 0, stderr);
  assert.equal(json.format, "driftscope-convert-check-1");
  assert.equal(json.first_parting, null);
  assert.ok(json.layers.length > 100);
  assert.ok(json.layers.some(({ output }) => output));
});

test("ConvertCheck_ExportedFormats_ComputeTheSameOverADataSet", (t) => {
  const folder = temporaryFolder(t);
  assert.equal(
    run(["export", lenet5, "--tfjs", join(folder, "js"), "--tflite", join(folder, "l.tflite")]).status,
    0,
  );
  for (const [path, kind] of [
    [join(folder, "js", "model.json"), "TensorFlow.js"],
    [join(folder, "l.tflite"), "TensorFlow Lite"],
  ]) {
    const { status, json, stderr } = check(lenet5, path, "--dataset", digits);
    assert.equal(status, 0, stderr);
    assert.equal(json.b.kind, kind);
    assert.ok(json.b.bytes > 200_000 && json.b.load_ms > 0);
    assert.equal(json.dataset.top1_agree, json.dataset.samples);
    assert.equal(json.dataset.correct_a, json.dataset.correct_b);
    assert.ok(json.layers.some(({ order }) => order?.join() === "0,2,3,1"));
  }
});

test("ConvertCheck_ChangedWeight_IsNamedWithItsLayerAndTriedOut", (t) => {
  const folder = temporaryFolder(t);
  const js = join(folder, "js");
  assert.equal(run(["export", lenet5, "--tfjs", js]).status, 0);
  withChangedWeight(js, "fc2.bias", (value) => value + 0.5);
  const { status, json } = check(lenet5, join(js, "model.json"));
  assert.equal(status, 1);
  assert.equal(json.first_parting, "fc2.out");
  assert.equal(json.why.length, 1);
  assert.equal(json.why[0].cause, "weights");
  assert.equal(json.why[0].confirmed, true);
  assert.match(json.why[0].text, /1 of 84 elements differ, most at \[0\]/);
  assert.match(
    run(["convert-check", lenet5, join(js, "model.json")]).stdout,
    /They diverge at fc2\.out \(Gemm\)/,
  );
});

test("ConvertCheck_ChangedWeightOfADeadUnit_IsListedThoughNoLayerParts", (t) => {
  const folder = temporaryFolder(t);
  const js = join(folder, "js");
  assert.equal(run(["export", lenet5, "--tfjs", js]).status, 0);
  // Seed 42 leaves the first unit of relu3 at 0.
  withChangedWeight(js, "fc2.weight", (value) => value + 0.5);
  const { status, json } = check(lenet5, join(js, "model.json"));
  assert.equal(status, 0);
  assert.deepEqual(json.why, []);
  assert.equal(json.hidden.length, 1);
  assert.match(json.hidden[0].text, /1 of 10080 elements differ, most at \[0, 0\]/);
});

test("ConvertCheck_Map_IsWrittenEditedAndTaken", (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "map.json");
  assert.equal(run(["convert-check", lenet5, lenet5, "--write-map", path]).status, 0);
  const map = JSON.parse(readFileSync(path, "utf8"));
  map.values = map.values.filter(({ a }) => a !== "relu1.out");
  map.values.push({ a: "relu1.out", b: null });
  writeFileSync(path, JSON.stringify(map));
  const { status, json } = check(lenet5, lenet5, "--map", path);
  assert.equal(status, 0);
  assert.deepEqual([json.only_a, json.only_b], [["relu1.out"], ["relu1.out"]]);
  assert.equal(json.layers.find(({ a }) => a === "conv1.out").by, "given");
});

test("ConvertCheck_TraceAsOriginal_IsJudgedByTheConvertedModel", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "a.safetensors");
  assert.equal(run(["run", lenet5, "--trace", trace]).status, 0);
  const { status, json, stderr } = check(trace, lenet5);
  assert.equal(status, 0, stderr);
  assert.equal(json.judged_by, "B");
});

test("ConvertCheck_BadInput_IsAnErrorThatSaysWhatToDo", (t) => {
  const folder = temporaryFolder(t);
  const cut = join(folder, "cut.tflite");
  writeFileSync(cut, Buffer.from("\x1c\0\0\0TFL3 and no more"));
  const trace = join(folder, "b.safetensors");
  assert.equal(run(["run", lenet5, "--trace", trace]).status, 0);
  for (const [args, message] of [
    [[lenet5, cut], /damaged or truncated/],
    [[lenet5, trace], /driftscope verify/],
    [[lenet5, join(folder, "none.onnx")], /none\.onnx/],
    [[lenet5, lenet5, "--map", asset("models", "lenet5.preprocess.json")], /driftscope-map-1/],
  ]) {
    const { status, stderr } = run(["convert-check", ...args]);
    assert.equal(status, 2);
    assert.match(stderr, message);
  }
});

test("Run_TfliteAndTfjsModels_AreTakenAsModels", (t) => {
  const folder = temporaryFolder(t);
  assert.equal(
    run(["export", lenet5, "--tfjs", join(folder, "js"), "--tflite", join(folder, "l.tflite")]).status,
    0,
  );
  for (const path of [join(folder, "js", "model.json"), join(folder, "l.tflite")]) {
    const trace = join(folder, "trace.safetensors");
    assert.equal(run(["run", path, "--trace", trace]).status, 0);
    assert.equal(run(["verify", path, trace]).status, 0);
    const { status, stdout } = run(["compare", path, "--right", "pc/reference"]);
    assert.equal(status, 0);
    assert.match(stdout, /same answer/);
  }
});
