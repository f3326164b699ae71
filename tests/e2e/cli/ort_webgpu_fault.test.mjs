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
  const { verdict, first_fault } = JSON.parse(stdout);
  assert.equal(verdict, "fault");
  assert.equal(first_fault, "conv2");
});
