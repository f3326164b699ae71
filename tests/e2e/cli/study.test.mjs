// driftscope study: a run that is killed goes on and loses nothing; reports; what is wrong is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, driftscope, run, temporaryFolder } from "../support.mjs";

const digits = ["images.idx3", "labels.idx1"].map((name) => asset("data", `digits-test-${name}-ubyte`));
const study = {
  format: "driftscope-study-1",
  name: "small",
  title: "A small study",
  about: "LeNet-5 on two engines.",
  models: [
    {
      name: "lenet5",
      path: asset("models", "lenet5.onnx"),
      variants: [{ name: "int8", path: asset("models", "lenet5-int8.onnx") }],
      data: [
        {
          name: "original",
          source: `idx:${digits.join(",")}`,
        },
      ],
    },
  ],
  targets: ["pc/strict", "pc/fast"],
  samples: 120,
  repetitions: 1,
  claims: [{ text: "equal", kind: "same_answers", models: ["lenet5"], left: "pc/strict", hosts: ["pc"] }],
};

const cells = (folder) =>
  readFileSync(join(folder, "cells.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

test("Study_KilledAndStartedAgain_LosesNothing", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "study.json");
  const out = join(folder, "out");
  writeFileSync(file, JSON.stringify(study));
  const store = join(out, "cells.jsonl");
  const first = spawn(driftscope, ["study", "run", file, "--out", out, "--full", "--quiet"], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => first.on("exit", resolve));
  for (let i = 0; i < 600 && !(existsSync(store) && readFileSync(store, "utf8").split("\n").length > 3); ++i)
    await new Promise((resolve) => setTimeout(resolve, 20));
  first.kill("SIGKILL");
  await ended;
  const before = cells(out);
  assert.ok(before.length > 0);
  const again = run(["study", "run", file, "--out", out, "--full"]);
  assert.equal(again.status, 0, again.stderr);
  const after = cells(out);
  assert.deepEqual(after.slice(0, before.length), before);
  const names = after.map(({ target, item }) => `${target} ${item}`);
  assert.equal(new Set(names).size, names.length);
  const samples = after.map(({ result }) => result.predictions?.length ?? 0);
  assert.equal(
    samples.reduce((a, b) => a + b),
    4 * 120,
  );
  assert.match(again.stdout, /equal +lenet5 +pc\/fast +holds here/);
  assert.match(readFileSync(join(out, "report.html"), "utf8"), /A small study/);
  assert.match(readFileSync(join(out, "measured.csv"), "utf8"), /^lenet5,int8,pc\/fast,original,/m);
  const report = run(["study", "report", out]);
  assert.equal(report.status, 0, report.stderr);
  assert.ok(again.stdout.startsWith(report.stdout));
});

// Answers, attacks and generated data, all of which a kill may interrupt.
const [lenet5] = study.models;
const manifold = {
  ...study,
  name: "manifold",
  models: [
    {
      ...lenet5,
      data: [...lenet5.data, { name: "generated", generated: { method: "deephunter", count: 60 } }],
    },
  ],
  samples: 60,
  attacks: [
    {
      name: "fgsm",
      method: "fgsm",
      epsilon: 0.1,
      samples: 60,
      models: ["lenet5"],
      transfer: true,
      store: "8bit",
    },
    { name: "walk", method: "boundary", steps: 60, samples: 20, models: ["lenet5"], transfer: true },
    { name: "pixel", method: "single-pixel", steps: 20, samples: 20, models: ["lenet5"] },
  ],
  layers: [
    {
      name: "VI",
      title: "two layers",
      model: "lenet5",
      layers: [{ layer: "conv", value: "first:Conv", columns: ["0", "…", "-1"], rows: [] }],
    },
  ],
};

/// Of all cells, what does not depend on the machine: rates, not times.
const rates = (folder) => {
  const found = {};
  for (const { target, item, result } of cells(folder)) {
    assert.equal(result.error, undefined, `${item} on ${target}: ${result.error}`);
    const name = `${target} ${item.replace(/ @.*/, "")}`;
    const sums = (found[name] ??= { begin: [], predictions: {}, attacked: 0, successes: 0, queries: 0 });
    result.predictions?.forEach((one, i) => (sums.predictions[result.begin + i] = one));
    for (const key of ["attacked", "successes", "queries"]) sums[key] += result[key] ?? 0;
  }
  for (const name of Object.keys(found)) if (name.includes(" times ")) delete found[name];
  return found;
};

test("Study_KilledAgainAndAgain_HasTheRatesOfOneThatWasNot", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "study.json");
  writeFileSync(file, JSON.stringify({ ...manifold, targets: ["pc/strict"], claims: [] }));
  const args = (out) => ["study", "run", file, "--out", join(folder, out), "--full", "--quiet"];
  const straight = run(args("straight"));
  assert.equal(straight.status, 0, straight.stderr);
  const store = join(folder, "killed", "cells.jsonl");
  const bytes = () => (existsSync(store) ? statSync(store).size : 0);
  let kills = 0;
  let before = [];
  for (let code = null; code !== 0;) {
    assert.ok(kills < 100, "it does not get on");
    const child = spawn(driftscope, args("killed"), { stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const size = bytes();
    const begun = Date.now();
    // First before there is anything, then with each new result; and later and later, so that it ends.
    const timer = setInterval(() => {
      const [written, waited] = [bytes() > size, Date.now() - begun];
      if (kills < 1 ? waited > 30 : kills < 4 ? written : waited > 700 * 1.4 ** kills) child.kill("SIGKILL");
    }, 2);
    code = await ended;
    clearInterval(timer);
    assert.ok(code === null || code === 0, `exit code ${code}`);
    if (code === null) ++kills;
    if (!existsSync(store)) continue;
    // Whole lines are never lost, nor changed; a last one that was cut is not a result.
    const whole = readFileSync(store, "utf8")
      .split("\n")
      .slice(1, -1)
      .map((line) => JSON.parse(line));
    assert.deepEqual(whole.slice(0, before.length), before);
    before = whole;
  }
  assert.ok(kills >= 3, `only ${kills} kills`);
  const names = cells(join(folder, "killed")).map(({ target, item }) => `${target} ${item}`);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(rates(join(folder, "killed")), rates(join(folder, "straight")));
  const table = (out) =>
    readFileSync(join(folder, out, "measured.csv"), "utf8")
      .split("\n")
      .map((line) => line.match(/[\d.]+ % \[[\d., ]+\]/g));
  assert.deepEqual(table("killed"), table("straight"));
});

test("Study_Transfer_GivesVariantsTheAdversarialsThatAreKept", (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "study.json");
  const out = join(folder, "out");
  const small = { ...manifold, attacks: manifold.attacks.slice(0, 1), layers: [] };
  writeFileSync(file, JSON.stringify(small));
  const result = run(["study", "run", file, "--out", out, "--full", "--jobs", "2"]);
  assert.equal(result.status, 0, result.stderr);
  const made = cells(out).filter(({ item }) => item.startsWith("adversarials lenet5/fgsm"));
  assert.ok(made.length > 0 && made.every(({ target }) => target.startsWith("pc/strict")));
  const bytes = readFileSync(join(out, made[0].result.file));
  assert.match(bytes.toString("latin1", 0, 128), /'\|u1'/); // pictures of 8 bits
  assert.match(readFileSync(join(out, "measured.csv"), "utf8"), /^lenet5,int8,pc\/fast,fgsm,/m);
  assert.ok(existsSync(join(out, "generated", "lenet5-generated", "manifest.json")));

  // What is kept is looked at before it is used.
  const lines = readFileSync(join(out, "cells.jsonl"), "utf8").split("\n");
  const without = lines.filter((line) => !line.includes("answers lenet5/int8/fgsm"));
  assert.ok(without.length < lines.length);
  writeFileSync(join(out, "cells.jsonl"), without.join("\n"));
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(join(out, made[0].result.file), bytes);
  const damaged = run(["study", "run", file, "--out", out, "--full"]);
  assert.match(damaged.stdout, /000000\.npy is not what was written/);
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(join(out, made[0].result.file), bytes);
  const again = run(["study", "run", file, "--out", out, "--full"]);
  assert.match(again.stdout, /is not what was written/); // a failure stays
  const retried = run(["study", "run", file, "--out", out, "--full", "--retry-failed"]);
  assert.doesNotMatch(retried.stdout, /is not what was written/);
  assert.ok(cells(out).every(({ result: { error } }) => error === undefined));

  // Another epsilon is another study, and so is a generated set that was made otherwise.
  const [attack] = small.attacks;
  writeFileSync(file, JSON.stringify({ ...small, attacks: [{ ...attack, epsilon: 0.2 }] }));
  assert.match(run(["study", "run", file, "--out", out, "--full"]).stderr, /attacks/);
  const [original, generated] = small.models[0].data;
  const other = { ...generated, generated: { ...generated.generated, seed: 7 } };
  writeFileSync(file, JSON.stringify({ ...small, models: [{ ...lenet5, data: [original, other] }] }));
  assert.match(run(["study", "run", file, "--out", out, "--full"]).stderr, /made otherwise: .*seed 7/);
});

test("Study_All_FindsAllOfItsFilesAndRunsEachInItsFolder", (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, "all");
  const result = run(["study", "run", "all", "--targets", "pc/strict", "--budget", "0.1s", "--out", out]);
  assert.equal(result.status, 0, result.stderr);
  for (const name of ["deployment", "conversion", "mobile-robustness"])
    assert.equal(cells(join(out, name)).length, 1); // however short the budget is
  const index = readFileSync(join(out, "index.html"), "utf8");
  assert.match(index, /href="deployment\/report\.html"/);
  assert.equal(run(["study", "report", out]).status, 0);
  const inOne = run(["study", "run", "all", "--budget", "0.1s", "--out", join(out, "conversion")]);
  assert.match(inOne.stderr, /it is the folder of one study/);
  const seven = join(out, "conversion", "table-VII.csv");
  assert.match(readFileSync(seven, "utf8"), /^ResNet-18 Keras,ONNX,0\.0114,published$/m);
  assert.equal(run(["study", "report", join(out, "conversion"), "--as-published"]).status, 0);
  assert.match(readFileSync(seven, "utf8"), /^ResNet-18 Keras,ONNX,0\.12,published$/m);
});

test("Study_WhatIsWrong_IsRefusedBeforeAnythingRuns", (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, "out");
  const failure = (changed, ...more) => {
    const file = join(folder, "study.json");
    writeFileSync(file, JSON.stringify({ ...study, ...changed }, null, 1));
    const result = run(["study", "run", file, "--out", out, ...more]);
    assert.notEqual(result.status, 0);
    assert.ok(!existsSync(join(out, "cells.jsonl")));
    return result.stderr;
  };
  assert.match(failure({ extra: 1 }), /study\.json: line \d+: extra: there is no such field/);
  assert.match(failure({ targets: ["pc/nothing"] }), /nothing/);
  assert.match(
    failure({ models: [{ ...study.models[0], path: "absent.onnx" }] }),
    /model lenet5: .*absent\.onnx/,
  );
  const [model] = study.models;
  const unlabelled = [{ name: "original", source: `idx:${asset("data", "digits-test-images.idx3-ubyte")}` }];
  assert.match(failure({ models: [{ ...model, data: unlabelled }] }), /label/);
  const file = join(folder, "file");
  writeFileSync(file, "");
  const args = ["study", "run", "conversion", "--targets", "pc/strict", "--budget", "0.1s", "--out"];
  assert.match(run([...args, file]).stderr, /--out .*file: expected a folder/);
  assert.equal(run([...args, join(folder, "other")]).status, 0);
  const other = ["study", "run", "mobile-robustness", ...args.slice(3)];
  assert.match(run([...other, join(folder, "other")]).stderr, /--out: .*is the store of another campaign/);
  assert.match(failure({}, "--budget", "soon"), /--budget soon: expected a time/);
  assert.match(run(["study", "run", "nothing", "--out", out]).stderr, /those that are shipped: .*deployment/);
  assert.notEqual(run(["study", "report", folder]).status, 0);
});
