// A trace that cannot be judged never passes: an int8 network of which only the output was
// recorded, and that is all zeros.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";

const model = asset("models", "resnet20-int8.onnx");

test("Verify_OutputsThatNothingCanBeSaidOf_AreUnjudged", (t) => {
  const path = join(temporaryFolder(t), "outputs.safetensors");
  assert.equal(run(["run", model, "--target", "pc/strict", "--trace", `outputs:${path}`]).status, 0);
  const verify = (...more) => run(["verify", model, path, "--quiet", ...more]);
  const right = verify("--json", "-");
  assert.equal(right.status, 0, right.stderr);
  assert.match(JSON.parse(right.stdout).verdict, /^(identical|rounding|unjudged)$/);

  const { metadata, tensors } = readSafetensors(path);
  tensors.get("logits").bytes.fill(0);
  writeSafetensors(path, tensors, metadata);
  const result = verify();
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /verdict: .*unjudged, 1 of 1 layers not judged/);
  const { layers } = JSON.parse(verify("--json", "-").stdout);
  assert.equal(layers[0].verdict, "unjudged");
  assert.match(layers[0].reason, /record/);
  assert.equal(verify("--fail-on", "unjudged").status, 1);
  assert.equal(verify("--fail-on", "fault,suspect").status, 0);
  const unknown = verify("--fail-on", "sadness");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /sadness/);
});
