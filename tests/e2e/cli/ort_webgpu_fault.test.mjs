// A fault of ONNX Runtime Web 1.30 that verify found: on WebGPU, LeNet-5's Conv from 6 to 16 channels is
// wrong by up to 6, alike in Chromium on SwiftShader and in Firefox on lavapipe. The trace is Chromium's.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, root } from "../support.mjs";

test("Verify_OrtWebgpusConvOfSixChannels_IsAFault", () => {
  const trace = join(root, "tests", "data", "ort-webgpu-lenet5.safetensors");
  const { status, stdout, stderr } = run(["verify", asset("models", "lenet5.onnx"), trace, "--json", "-"]);
  assert.equal(status, 1, stderr);
  const { verdict, first_fault, layers } = JSON.parse(stdout);
  assert.equal(verdict, "fault");
  assert.equal(first_fault, "conv2");
  // Of six input channels it reads the first three twice.
  const { explain } = layers.find(({ node }) => node === "conv2");
  assert.equal(explain.cause?.id, "input.lanes");
  assert.match(explain.cause.text, /along axis 1, index modulo 3/);
  assert.equal(explain.cause.explained, 1600);
});
