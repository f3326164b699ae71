// The page of attacks: of one at once, and of several that were kept.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, run, temporaryFolder } from "../support.mjs";

const model = asset("models/lenet5.onnx");
const images = asset("data/digits-test-images.idx3-ubyte");
const digits = `idx:${images},${asset("data/digits-test-labels.idx1-ubyte")}`;

test("attack --html and report show success, transfer, robustness and adversarial examples", (t) => {
  const folder = temporaryFolder(t);
  const kept = [];
  for (const epsilon of ["0.05", "0.1", "0.2"]) {
    kept.push(join(folder, `fgsm-${epsilon}`));
    const made = run([
      "attack",
      model,
      "--method",
      "fgsm",
      "--epsilon",
      epsilon,
      "--dataset",
      digits,
      "--samples",
      "40",
      "--targets",
      "pc/strict,pc/fast",
      "--quiet",
      "-o",
      kept.at(-1),
      "--html",
      join(folder, "one.html"),
    ]);
    assert.equal(made.status, 0, made.stderr);
  }
  const one = readFileSync(join(folder, "one.html"), "utf8");
  assert.match(one, /Success by target/);
  assert.match(one, /Transfer between targets/);
  assert.match(one, /attacked on pc\/strict and pc\/fast/);
  assert.ok(one.split("data:image/bmp;base64,").length > 3);
  assert.doesNotMatch(one, /<script/);

  const all = join(folder, "all.html");
  const made = run(["report", ...kept, "--out", all]);
  assert.equal(made.status, 0, made.stderr);
  const page = readFileSync(all, "utf8");
  assert.match(page, /Robustness: targets against attacks/);
  assert.match(page, /fgsm, ε 0\.05/);

  writeFileSync(join(kept[0], "originals.npy"), "nonsense");
  const damaged = run(["report", ...kept, "--out", all]);
  assert.equal(damaged.status, 2, damaged.stderr);
  assert.match(damaged.stderr, /originals\.npy/);
});
