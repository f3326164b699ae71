// driftscope matrix: all cells of a YAML file, one killed and gone on with, what is excluded, what fails.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, until } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const digits = asset("data", "digits-test-images.idx3-ubyte");

const stored = (folder) =>
  readFileSync(join(folder, "cells.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

// A folder with two copies of models, and a matrix of them.
function smallMatrix(t, lines) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "models"));
  for (const name of ["lenet5", "lenet5-int8"]) {
    copyFileSync(asset("models", `${name}.onnx`), join(folder, "models", `${name}.onnx`));
    copyFileSync(
      lenet5.replace(".onnx", ".preprocess.json"),
      join(folder, "models", `${name}.preprocess.json`),
    );
  }
  const file = join(folder, "nightly.yml");
  writeFileSync(file, ["format: driftscope-matrix-1", ...lines, ""].join("\n"));
  return { folder, file, out: join(folder, "out") };
}

const usual = ["models: [models/*.onnx]", "targets: [pc/fast, pc/strict]", "run: {times: 0}"];

test("Matrix_EveryCell_IsComparedAndKept", (t) => {
  const { file, folder, out } = smallMatrix(t, [
    ...usual,
    `data: [seed:42, {name: seven, input: "idx:${digits}#7", models: [lenet5]}]`,
  ]);
  const json = join(folder, "results.json");
  const { status, stdout, stderr } = run(["matrix", file, "--out", out, "--jobs", "2", "--json", json]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /6 of 6 cells: 3 identical, 3 rounding; compared with pc\/strict/);
  const { cells, total } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(total, 6);
  assert.deepEqual(
    cells.map(({ model, data, target }) => `${model} ${data} ${target}`),
    // Files in the order of their names.
    [
      "lenet5-int8 seed:42 pc/fast",
      "lenet5-int8 seed:42 pc/strict",
      "lenet5 seed:42 pc/fast",
      "lenet5 seed:42 pc/strict",
      "lenet5 seven pc/fast",
      "lenet5 seven pc/strict",
    ],
  );
  assert.ok(cells.filter(({ target }) => target === "pc/strict").every(({ state }) => state === "identical"));
  assert.deepEqual(readdirSync(join(out, "results")).sort(), cells.map(({ key }) => `${key}.json`).sort());
  const wall = run(["wall", join(out, "results"), "-o", join(folder, "wall")]);
  assert.equal(wall.status, 0, wall.stderr);
  assert.match(wall.stdout, /2 models, \d+ runs of 6 comparisons/);
  // Nothing runs again; another input is another cell.
  const again = run(["matrix", file, "--out", out]);
  assert.equal(again.status, 0, again.stderr);
  assert.equal(stored(out).length, 6);
  writeFileSync(file, readFileSync(file, "utf8").replace("#7", "#8"));
  assert.match(
    run(["matrix", file, "--out", out, "--list"]).stdout,
    /lenet5 on seven, pc\/fast\nlenet5 on seven, pc\/strict\n/,
  );
  assert.equal(run(["matrix", file, "--out", out]).status, 0);
  assert.equal(stored(out).length, 8);
});

test("Matrix_KilledAndStartedAgain_LosesNothing", async (t) => {
  const inputs = Array.from({ length: 6 }, (_, i) => `seed:${i}`).join(", ");
  const { file, out } = smallMatrix(t, [...usual, `data: [${inputs}]`]);
  const store = join(out, "cells.jsonl");
  const first = start(["matrix", file, "--out", out, "--quiet"]);
  await until(() => existsSync(store) && readFileSync(store, "utf8").split("\n").length > 4, "some cells");
  first.child.kill("SIGKILL");
  await first.done;
  const before = readFileSync(store, "utf8").split("\n").slice(1, -1);
  assert.ok(before.length > 0 && before.length < 24);
  const again = run(["matrix", file, "--out", out, "--jobs", "2"], { timeout: 300_000 });
  assert.equal(again.status, 0, again.stderr);
  const names = stored(out).map(({ target, item }) => `${target} ${item}`);
  assert.equal(names.length, 24);
  assert.equal(new Set(names).size, 24);
  assert.deepEqual(
    readFileSync(store, "utf8")
      .split("\n")
      .slice(1, before.length + 1),
    before,
  );
});

test("Matrix_Interrupted_KeepsWhatIsDoneAndGoesOn", async (t) => {
  const inputs = Array.from({ length: 20 }, (_, i) => `seed:${i}`).join(", ");
  const { file, out } = smallMatrix(t, [...usual, `data: [${inputs}]`]);
  const store = join(out, "cells.jsonl");
  const first = start(["matrix", file, "--out", out, "--quiet"]);
  await until(() => existsSync(store) && readFileSync(store, "utf8").split("\n").length > 2, "some cells");
  first.child.kill("SIGINT");
  const { status, stdout } = await first.done;
  assert.equal(status, 130);
  assert.match(stdout, /\d+ of 80 cells: .*\n.*\nnot all of it has run; the same command goes on/);
});

test("Matrix_BudgetUsedUp_BeginsNoFurtherCell", (t) => {
  const { file, out } = smallMatrix(t, [...usual, "data: [seed:1, seed:2, seed:3]"]);
  const { status, stdout } = run(["matrix", file, "--out", out, "--budget", "0.01s"]);
  assert.equal(status, 0);
  assert.match(stdout, /^1 of 12 cells/m);
});

test("Matrix_FailedCells_AreSaidAndTriedAgainWhenAsked", (t) => {
  const { file, out } = smallMatrix(t, [
    "models: [{path: models/lenet5.onnx, name: small}]",
    "targets: [pc/strict, remote:nobody/strict]",
    "run: {times: 0}",
  ]);
  const first = run(["matrix", file, "--out", out]);
  assert.equal(first.status, 3, first.stdout + first.stderr);
  assert.match(first.stdout, /small on seed:42, remote:nobody\/strict: ✗ did not run: /);
  assert.match(first.stdout, /2 of 2 cells: 1 identical, 1 did not run/);
  const time = (all) => all.find(({ target }) => target.startsWith("remote:")).result.seconds;
  const before = time(stored(out));
  assert.equal(run(["matrix", file, "--out", out]).status, 3);
  assert.equal(time(stored(out)), before);
  assert.equal(run(["matrix", file, "--out", out, "--retry-failed"]).status, 3);
  assert.notEqual(time(stored(out)), before);
});

test("Matrix_ConditionsOfTheFile_MakeTheExitCode", (t) => {
  const { file, out } = smallMatrix(t, [
    "models: [models/lenet5.onnx]",
    "targets: [pc/fast]",
    "run: {times: 0, fail_on: bits}",
  ]);
  const { status, stdout } = run(["matrix", file, "--out", out]);
  assert.equal(status, 1);
  assert.match(stdout, /lenet5 on seed:42, pc\/fast: ~ rounding/);
});

test("Matrix_WhatIsWrongInTheFile_IsSaidWithItsLine", (t) => {
  const failure = (...lines) => {
    const { file } = smallMatrix(t, lines);
    const { status, stderr } = run(["matrix", file]);
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(failure("modles: [a]"), /nightly\.yml: line 2: modles: there is no such field/);
  assert.match(
    failure("models:", "  - models/*.onx", "targets: [pc/fast]"),
    /line 3: models\[0\]\.path: .*no file fits/,
  );
  assert.match(failure("models: [models/lenet5.onnx]", "targets:", "  - pc/fats"), /no engine 'fats'|fats/);
  assert.match(failure("models: [a: b: c]"), /nightly\.yml: line 2: no YAML/);
  assert.match(
    failure("models: [models/lenet5.onnx]", "targets: [pc/fast]", "data: [nothing.npy]"),
    /model lenet5 on nothing\.npy/,
  );
  const missing = run(["matrix", "no-such.yml"]);
  assert.equal(missing.status, 2);
  assert.match(missing.stderr, /no-such\.yml/);
});

test("Verify_ManyTraces_AreKeptOneByOne", (t) => {
  const folder = temporaryFolder(t);
  const traces = [1, 2, 3].map((seed) => {
    const trace = join(folder, `${seed}.safetensors`);
    const made = run(["run", lenet5, "--input", `seed:${seed}`, "--trace", trace, "--quiet"]);
    assert.equal(made.status, 0, made.stderr);
    return trace;
  });
  const out = join(folder, "verified");
  const args = ["verify", lenet5, ...traces, "--out", out];
  const first = run([...args, "--jobs", "2"]);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /^3 of 3 traces: 3 rounding$/m);
  assert.equal(stored(out).length, 3);
  const { key } = stored(out)[0].result;
  assert.equal(JSON.parse(readFileSync(join(out, "results", `${key}.json`), "utf8")).verdict, "rounding");
  // A trace with a wrong value is another trace; the others do not run again.
  const bytes = readFileSync(traces[1]);
  bytes.writeFloatLE(1e6, bytes.length - 4);
  writeFileSync(traces[1], bytes);
  const again = run(args);
  assert.equal(again.status, 1, again.stderr);
  assert.match(again.stdout, /2\.safetensors.*✗ fault in /);
  assert.match(again.stdout, /3 of 3 traces: 2 rounding, 1 fault/);
  assert.equal(stored(out).length, 4);
  const twice = run(["verify", lenet5, traces[0], traces[0], "--out", out]);
  assert.equal(twice.status, 2);
  assert.match(twice.stderr, /it is given twice/);
  const without = run(["verify", lenet5, ...traces, "--jobs", "2"]);
  assert.equal(without.status, 2);
  assert.match(without.stderr, /--jobs: it is for many traces, whose results need a folder/);
});
