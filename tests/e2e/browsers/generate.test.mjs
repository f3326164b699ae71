// driftscope generate in browsers: caches travel to the page and back with every step.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset, run } from "../support.mjs";

const decoder = asset("models", "decoder", "model.onnx");

test("Generate_InBrowsers_StrictIsThePcs_AndOthersAreRounding", () => {
  const targets = "chrome/strict,firefox/fast,chrome/ort";
  const args = ["--prompt", "12,40,7", "--steps", "3", "--targets", targets, "--measure", "0", "--json", "-"];
  const { status, stdout, stderr } = run(["generate", decoder, ...args, "--quiet"]);
  assert.equal(status, 0, stderr);
  const [pc, ...others] = JSON.parse(stdout).targets;
  assert.deepEqual(
    pc.sequences[0].steps.map(({ token }) => token),
    [226, 48, 227],
  );
  for (const { target, error, sequences } of others) {
    assert.equal(error, undefined, target);
    sequences[0].steps.forEach((step, at) => {
      const expected = pc.sequences[0].steps[at];
      assert.equal(step.token, expected.token, target);
      assert.match(step.layers, /^[=~]+$/, target);
      if (target === "chrome/strict") assert.equal(step.moved, 0, "the same bits");
    });
  }
});
