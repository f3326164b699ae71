// WebNN in the Chromium that has it, and what is said where there is none.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, root, run, temporaryFolder } from "../support.mjs";

const model = join(root, "tests", "data", "batchnorm-gelu.onnx");
const input = join(root, "tests", "data", "batchnorm-gelu.npy");

// The graph of webmachinelearning/webnn#950. Its budget is 24 ULP, and what is beyond it there is so because
// the expected values of that test are (docs/budgets.md).
test("Run_BatchNormGeluOnWebNN_IsRightAndWithinTheBudgets", (t) => {
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
    layers.map(({ wpt }) => [wpt.operators, wpt.budget, wpt.within]),
    [
      ["batchNormalization", 6, true],
      ["gelu", 18, true],
    ],
  );
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
  assert.match(stderr, /\(Atan\): WebNN has nothing to express it with/);
});
