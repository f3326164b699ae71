// Attacks on targets of the PC: what is counted, kept and refused.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const model = asset("models", "lenet5.onnx");
const data = (name) => asset("data", `digits-test-${name}-ubyte`);
const digits = `idx:${data("images.idx3")},${data("labels.idx1")}`;
const attack = (...more) => run(["attack", model, "--dataset", digits, "--quiet", ...more]);

test("Attack_Fgsm_FoolsAndTransfers", (t) => {
  const kept = temporaryFolder(t);
  const epsilon = 0.1;
  const result = attack(
    "--method",
    "fgsm",
    "--epsilon",
    `${epsilon}`,
    "--targets",
    "pc/strict,pc/fast",
    "--samples",
    "120",
    "-o",
    kept,
    "--json",
    "-",
  );
  assert.equal(result.status, 0, result.stderr);
  const document = JSON.parse(result.stdout);
  assert.equal(document.format, "driftscope-attack-1");
  assert.equal(document.samples, 120);
  for (const { success_rate: rate, mean_linf: linf, queries, successes, fooled } of document.results) {
    assert.ok(rate > 0.05 && rate < 0.95, `${rate}`);
    assert.ok(Math.abs(linf - epsilon) < 1e-6);
    assert.equal(queries, 240);
    assert.equal(fooled.length, successes);
  }
  assert.deepEqual(
    document.transfer.map(({ from, to }) => [from, to]),
    [
      ["pc/strict", "pc/fast"],
      ["pc/fast", "pc/strict"],
    ],
  );
  for (const { success_rate: rate } of document.transfer) assert.ok(rate > 0.9);
  for (const name of ["originals", "pc-strict", "pc-fast"]) assert.ok(existsSync(join(kept, `${name}.npy`)));
  // The same seed, the same answers.
  const boundary = () =>
    attack("--method", "boundary", "--steps", "30", "--samples", "3", "--targets", "pc/strict", "--json", "-")
      .stdout;
  assert.equal(boundary(), boundary());
});

test("Attack_BadRequests_SayWhatIsNeeded", () => {
  const fails = (...more) => {
    const result = attack("--targets", "pc/strict", ...more);
    assert.equal(result.status, 2);
    return result.stderr;
  };
  assert.match(fails("--method", "fgsm"), /--epsilon: fgsm needs it/);
  assert.match(fails("--method", "fgsm", "--epsilon", "-1"), /--epsilon/);
  assert.match(fails("--method", "sorcery"), /there are: fgsm, bim, single-pixel, boundary, genetic/);
  assert.match(fails("--method", "fgsm", "--epsilon", "0.1", "--store", "16bit"), /expected 8bit/);
  const quantized = run([
    "attack",
    asset("models", "lenet5-int8.onnx"),
    "--method",
    "fgsm",
    "--epsilon",
    "0.1",
    "--dataset",
    digits,
    "--targets",
    "pc/strict",
    "--quiet",
  ]);
  assert.equal(quantized.status, 2);
  assert.match(quantized.stderr, /the attack needs the model's gradient: node .*QLinear|quantized|integers/);
});
