// driftscope study: a run that is killed goes on and loses nothing; reports; what is wrong is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

test("Study_Shipped_FindsAllOfItsFiles", (t) => {
  const folder = temporaryFolder(t);
  for (const name of ["deployment", "conversion", "mobile-robustness"]) {
    const out = join(folder, name);
    const result = run(["study", "run", name, "--targets", "pc/strict", "--budget", "0.1s", "--out", out]);
    assert.equal(result.status, 0, result.stderr);
    assert.equal(cells(out).length, 1);
  }
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
