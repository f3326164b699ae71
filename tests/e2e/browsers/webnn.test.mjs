// WebNN in the Chromium that has it, and the message where there is none.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, root, run, temporaryFolder, writeSafetensors } from "../support.mjs";
import { functions } from "../tiny_onnx.mjs";

const model = join(root, "tests", "data", "batchnorm-gelu.onnx");
const input = join(root, "tests", "data", "batchnorm-gelu.npy");

// The graph of webmachinelearning/webnn#950. Its budget is 24 ULP, and what is beyond it there is so because
// the expected values of that test are (docs/budgets.md).
test("Run_BatchNormGeluOnWebNN_IsRightWhateverTheBudgetsSay", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const ran = run(["run", model, "--input", `x=${input}`, "--target", "chrome/webnn", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  const { metadata, tensors } = readSafetensors(trace);
  assert.deepEqual([...tensors.keys()].sort(), ["normalized", "x", "y"]);
  const made = JSON.parse(metadata.run);
  assert.equal(made.engine, "webnn");
  assert.match(JSON.stringify(made), /Chromium \d+\./);
  const verified = run(["verify", model, trace, "--budgets", "wpt", "--json", "-"]);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
  const { verdict, layers } = JSON.parse(verified.stdout);
  assert.equal(verdict, "rounding");
  assert.deepEqual(
    layers.map(({ wpt }) => [wpt.operators, wpt.budget]),
    [
      ["batchNormalization", 6],
      ["gelu", 18],
    ],
  );
  // Which kernel of XNNPACK computes gelu depends on the processor: 7 or 26 ULP.
  for (const { wpt } of layers) assert.equal(wpt.within, wpt.seen <= wpt.budget, JSON.stringify(wpt));
});

// Chromium's WebNN computes with a .tflite file that it writes of the graph: independent of our writer and
// our reader.
for (const name of ["lenet5", "resnet20", "unet", "textcnn", "transformer", "resnet20-int8"])
  test(`ConvertCheck_${name}_AsTheFileThatWebNNWrites_ComputesTheSame`, (t) => {
    const folder = temporaryFolder(t);
    const original = asset("models", `${name}.onnx`);
    const env = { DRIFTSCOPE_CHROME_FLAGS: `--webnn-tflite-dump-model=${folder}` };
    // With a trace every value is an output of the file.
    const trace = ["--trace", join(folder, "trace.safetensors")];
    const ran = run(["run", original, "--target", "chrome/webnn", "--quiet", ...trace], { env });
    assert.equal(ran.status, 0, ran.stderr);
    const written = readdirSync(folder).filter((file) => file.endsWith(".tflite"));
    assert.equal(written.length, 1, written.join());
    const found = join(folder, written[0]);
    const checked = run(["convert-check", original, found, "--json", "-"], { timeout: 120_000 });
    assert.equal(checked.status, 0, checked.stdout.slice(0, 2000) + checked.stderr);
    const { verdict, layers } = JSON.parse(checked.stdout);
    assert.ok(["identical", "rounding"].includes(verdict), verdict);
    assert.ok(layers.some(({ output }) => output) && layers.length > 10, `${layers.length} layers`);
  });

test("Run_NamedBrowserForWebNNIsNone_ExitsWith3AndNamesTheVariable", () => {
  const env = { DRIFTSCOPE_CHROME_WEBNN: "/no/such/browser" };
  const { status, stderr } = run(["run", asset("models", "lenet1.onnx"), "--target", "chrome/webnn"], {
    env,
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /'\/no\/such\/browser' \(from DRIFTSCOPE_CHROME_WEBNN\) is not a program/);
});

test("Run_OperatorThatWebNNLacks_NamesNodeAndReason", (t) => {
  const folder = temporaryFolder(t);
  const data = "/usr/share/libonnx-testdata/data/node/test_atan/model.onnx";
  const trace = join(folder, "trace.safetensors");
  const { status, stderr } = run(["run", data, "--target", "chrome/webnn", "--trace", trace]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /\(Atan\): WebNN cannot express it/);
});

// Near: the rows of core/engines/webnn/engine.cpp hold. Far: what Chromium 153 computes wrongly, as
// docs/peers.md says; when one of these becomes right, both are to be changed.
test("Verify_FunctionsOfWebNN_WithinTheirRowsNearAndFaultsFar", (t) => {
  const folder = temporaryFolder(t);
  const size = 4096;
  const vector = (numbers) => ({
    dtype: "F32",
    shape: [numbers.length],
    bytes: Buffer.from(Float32Array.from(numbers).buffer),
  });
  const inputs = {
    any: Array.from({ length: size }, (_, i) => -80 + (160 * i) / size),
    positive: Array.from({ length: size }, (_, i) => Math.exp(-80 + (160 * i) / size)),
    unit: Array.from({ length: size }, (_, i) => -4 + (8 * i) / size),
    high: [88.4, 88.7],
    infinite: [Infinity, Infinity],
    huge: [1e12, 3e15],
  };
  const near = [
    ...["Exp", "Sigmoid", "Tanh", "Sin", "Cos", "Elu"].map((op) => [op, "any", `near_${op}`]),
    ...["Log", "Sqrt", "Reciprocal"].map((op) => [op, "positive", `near_${op}`]),
    ...["Erf", "Gelu", "Softsign"].map((op) => [op, "unit", `near_${op}`]),
  ];
  const far = [
    ["Exp", "high", "far_Exp"],
    ["Sqrt", "infinite", "far_Sqrt"],
    ["Log", "infinite", "far_Log"],
    ["Sin", "huge", "far_Sin"],
  ];
  const sizes = Object.fromEntries(Object.entries(inputs).map(([name, list]) => [name, list.length]));
  const file = join(folder, "functions.onnx");
  const given = join(folder, "inputs.safetensors");
  const trace = join(folder, "trace.safetensors");
  writeFileSync(file, functions([...near, ...far], sizes));
  writeSafetensors(given, new Map(Object.entries(inputs).map(([name, list]) => [name, vector(list)])));
  const ran = run(["run", file, "--input", given, "--target", "chrome/webnn", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  const { stdout } = run(["verify", file, trace, "--json", "-"]);
  const verdicts = new Map(JSON.parse(stdout).layers.map((layer) => [layer.output, layer.verdict]));
  for (const [, , name] of near) assert.match(verdicts.get(name), /^(rounding|identical)$/, name);
  for (const [, , name] of far) assert.equal(verdicts.get(name), "fault", name);
});
