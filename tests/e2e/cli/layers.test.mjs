// What compare, run and verify print of a model with many layers and constants.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { asset, run, temporaryFolder } from "../support.mjs";

// Exported for opset 11: normalization in pieces, shapes computed from constants.
const model = asset("models", "transformer-opset11.onnx");
const rows = (text, title) => {
  const after = text.slice(text.indexOf(title)).split("\n").slice(3);
  return after.slice(
    0,
    after.findIndex((line) => line.trim() === ""),
  );
};

test("Layers_OfALargeModel_AreTheWorstAndTheSlowest", (t) => {
  const trace = join(temporaryFolder(t), "run.safetensors");
  const ran = run(["run", model, "--repeat", "2", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(rows(ran.stdout, "The slowest 10 of").length, 10);
  assert.match(ran.stdout, /^All \d+ layers.*: --layers all$/m);

  const verified = run(["verify", model, trace]);
  assert.equal(rows(verified.stdout, "The worst 10 of").length, 10);
  assert.equal(rows(verified.stdout, "The slowest 10").length, 10);
  assert.match(verified.stdout, /^verdict: ~ rounding$/m);

  const compared = run(["compare", model, "--right", "pc/fast", "--repeat", "2"]);
  assert.equal(compared.status, 0, compared.stderr);
  assert.equal(rows(compared.stdout, "The worst 10 of").length, 10);
  assert.equal(rows(compared.stdout, "The slowest 10").length, 10);
  assert.match(compared.stdout, /, first differs at /);
  assert.match(compared.stdout, /^pc\/fast agrees with pc\/strict within rounding/m);

  const count = Number(compared.stdout.match(/All (\d+) layers/)[1]);
  const constants = Number(compared.stdout.match(/All \d+ layers and (\d+) constants?/)?.[1] ?? 0);
  const all = run(["compare", model, "--right", "pc/fast", "--repeat", "2", "--layers", "all"]).stdout;
  assert.equal(rows(`\n${all.slice(all.indexOf("layer "))}`, "layer ").length + 1, count + constants);
  assert.equal((all.match(/, constant/g) ?? []).length, constants);
  assert.doesNotMatch(all, /The worst/);
});

test("Layers_HowMany_IsChecked", () => {
  for (const wrong of ["0", "-1", "some", "1e3"]) {
    const { status, stderr } = run(["run", model, "--layers", wrong]);
    assert.notEqual(status, 0);
    assert.match(stderr, /expected 'all' or how many/);
  }
});
