// What compare, run and verify print of a model with many layers and constants.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { asset, root, run, temporaryFolder } from "../support.mjs";

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

test("Run_WithATrace_ShowsTheSameShapesAndSizes", (t) => {
  const lenet5 = asset("models", "lenet5.onnx");
  // All but the times.
  const columns = (args) => {
    const { status, stdout, stderr } = run(["run", lenet5, ...args]);
    assert.equal(status, 0, stderr);
    return rows(`title\n${stdout.slice(stdout.indexOf("layer "))}`, "title").map((line) =>
      line.split(/ {2,}/).slice(0, 4),
    );
  };
  const without = columns([]);
  assert.deepEqual(without.slice(0, 2), [
    ["conv1", "Conv", "1x6x28x28", "18.8 kB"],
    ["relu1", "Relu", "1x6x28x28", "18.8 kB"],
  ]);
  assert.deepEqual(columns(["--trace", join(temporaryFolder(t), "run.safetensors")]), without);
});

test("Verify_AFault_SaysWhereAndWhatWasExpected", (t) => {
  const folder = temporaryFolder(t);
  const [faulty, raw, trace] = ["faulty.onnx", "raw.safetensors", "trace.safetensors"].map((name) =>
    join(folder, name),
  );
  const plant = (...args) => {
    const { status, stderr } = spawnSync("python3", [join(root, "tools", "lib", "plant_fault.py"), ...args], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
  };
  const lenet5 = asset("models", "lenet5.onnx");
  plant(lenet5, "conv2.bias", "3", faulty);
  assert.equal(run(["run", faulty, "--trace", raw]).status, 0);
  plant("--anonymous", raw, trace);
  const { status, stdout } = run(["verify", lenet5, trace]);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^✗ fault {2}conv2 \(Conv\)\n {4}error is \d+ × the rounding budget; wrong: slice 3 of axis 1; worst/m,
  );
  assert.match(stdout, /worst at \[0, 3, \d, \d\]: got -?[\d.]+, expected -?[\d.]+$/m);
  const compared = run(["compare", lenet5, "--right", `file/${trace}`]).stdout;
  const worst = /worst at .*/.exec(stdout)[0];
  assert.ok(compared.includes(worst), compared);
});

test("Layers_HowMany_IsChecked", () => {
  for (const wrong of ["0", "-1", "some", "1e3"]) {
    const { status, stderr } = run(["run", model, "--layers", wrong]);
    assert.notEqual(status, 0);
    assert.match(stderr, /expected 'all' or how many/);
  }
});
