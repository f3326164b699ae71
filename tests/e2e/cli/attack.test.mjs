// Attacks on targets of the PC: what is counted, kept and refused.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
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

test("Attack_In8Bits_KeepsADataSetThatAnswersTheSame", (t) => {
  const kept = temporaryFolder(t);
  const bim = (...more) =>
    attack(
      "--method",
      "bim",
      "--epsilon",
      "0.1",
      "--targets",
      "pc/strict,pc/fast",
      "--samples",
      "40",
      ...more,
    );
  const first = join(kept, "bim.json");
  const result = bim("--store", "8bit", "-o", kept, "--json", first);
  assert.equal(result.status, 0, result.stderr);
  const document = JSON.parse(readFileSync(first, "utf8"));
  const [strict] = document.results;
  assert.ok(strict.successes > 0 && strict.successes < 40);
  // The pictures are a data set: those that were fooled are answered wrongly.
  const again = run([
    "run",
    model,
    "--target",
    "pc/strict",
    "--dataset",
    `images:${join(kept, "pc-strict")}`,
  ]);
  assert.match(again.stdout, new RegExp(` ${40 - strict.successes}/40 `), again.stderr);
  for (const { only_from: one, only_to: other } of document.transfer)
    assert.ok(Array.isArray(one) && Array.isArray(other));
  assert.deepEqual(document.robustness_attacks, ["bim 0.1"]);

  const all = JSON.parse(bim("--all-steps", "--json", "-").stdout);
  assert.equal(all.all_steps, true);
  assert.equal(all.results[0].queries, 40 * 11);
  assert.ok(strict.queries !== all.results[0].queries);

  const fgsm = ["--method", "fgsm", "--epsilon", "0.3", "--targets", "pc/strict,pc/fast", "--samples", "40"];
  const both = JSON.parse(attack(...fgsm, "--as-published", "--with", first, "--json", "-").stdout);
  assert.match(both.as_published, /not clipped/);
  assert.deepEqual(both.robustness_attacks, ["bim 0.1", "fgsm 0.3"]);
  assert.deepEqual(
    both.robustness.map(({ target, r_conversion: r }) => [target, r === undefined]),
    [
      ["pc/strict", true],
      ["pc/fast", false],
    ],
  );
  assert.match(attack(...fgsm, "--with", model).stderr, /expected a document of attack --json/);
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
  assert.match(
    fails("--method", "bim", "--epsilon", "0.1", "--as-published"),
    /no study made a mistake with bim/,
  );
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
