// driftscope curves: training curves of other programs.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root, run, temporaryFolder } from "../support.mjs";

const stored = (name) => join(root, "tests", "data", "curves", name);

test("Curves_FourFormats_AreFoundByTheirContents", (t) => {
  const cwd = temporaryFolder(t);
  mkdirSync(join(cwd, "logs", "train"), { recursive: true });
  mkdirSync(join(cwd, "logs", "validation"), { recursive: true });
  copyFileSync(stored("tensor.tfevents"), join(cwd, "logs", "train", "events.out.tfevents.1.host"));
  copyFileSync(
    stored("simple_value.tfevents"),
    join(cwd, "logs", "validation", "events.out.tfevents.2.host"),
  );
  writeFileSync(join(cwd, "history.json"), '{"epoch_loss": [2, 1, NaN], "val_accuracy": [0.5, 0.75, 0.7]}');
  writeFileSync(join(cwd, "table.csv"), "epoch,epoch_loss\n0,2\n1,1\n2,0.25\n");
  const args = [
    "curves",
    "logs",
    "history.json",
    "table.csv",
    "--json",
    "out.json",
    "--csv",
    "out.csv",
    "-o",
    "p.html",
  ];
  const { status, stdout, stderr } = run(args, { cwd });
  assert.equal(status, 0, stderr);
  const document = JSON.parse(readFileSync(join(cwd, "out.json"), "utf8"));
  assert.deepEqual(
    document.curves
      .filter((one) => one.metric === "epoch_loss")
      .map((one) => [one.run, one.points, one.best]),
    [
      ["train", 6, Math.fround(1 / 3)],
      ["validation", 6, Math.fround(1 / 3)],
      ["history", 3, 1],
      ["table", 3, 0.25],
    ],
  );
  const accuracy = document.curves.find((one) => one.metric === "val_accuracy");
  assert.deepEqual([accuracy.best, accuracy.best_step, accuracy.last], [0.75, 2, 0.7]);
  assert.match(stdout, /not finite/); // where the history ends
  const equal = document.comparisons.find((one) => one.left === "train" && one.right === "validation");
  assert.deepEqual([equal.largest, equal.parted_step], [0, undefined]);
  const page = readFileSync(join(cwd, "p.html"), "utf8");
  assert.equal(page.match(/<svg/g).length, 3); // a chart for each metric
  assert.doesNotMatch(page, /<script|https?:/);
  // What is written as CSV says the same again.
  const again = run(["curves", "out.csv", "--json", "-"], { cwd });
  assert.deepEqual(JSON.parse(again.stdout).curves, document.curves);
});

test("Curves_Repetitions_AreTestedWithEffectAndCorrection", (t) => {
  const cwd = temporaryFolder(t);
  let csv = "run,seed,epoch,accuracy\n";
  for (let seed = 0; seed < 5; ++seed)
    for (const [name, level] of [
      ["keras", 0.8],
      ["jax", 0.9],
    ])
      csv += `${name},${seed},1,0.5\n${name},${seed},2,${level + seed / 100}\n`;
  writeFileSync(join(cwd, "runs.csv"), csv);
  const [one] = JSON.parse(run(["curves", "runs.csv", "--json", "-"], { cwd }).stdout).comparisons;
  assert.ok(Math.abs(one.p - 2 / 252) < 1e-12, `${one.p}`);
  assert.deepEqual([one.a, one.size, one.parted_step, one.largest_step], [1, "large", 2, 2]);
});

test("Curves_BadFiles_AreNamedWithLineAndWhatWasExpected", (t) => {
  const cwd = temporaryFolder(t);
  const bytes = readFileSync(stored("tensor.tfevents"));
  bytes[200] ^= 1;
  writeFileSync(join(cwd, "damaged.tfevents"), bytes);
  writeFileSync(join(cwd, "bad.csv"), "epoch,loss\n1,2\n2,oops\n");
  writeFileSync(join(cwd, "empty"), "");
  writeFileSync(join(cwd, "good.csv"), "epoch,loss\n1,2\n");
  mkdirSync(join(cwd, "none"));
  for (const [args, message] of [
    [
      ["damaged.tfevents"],
      /damaged\.tfevents: record \d+ at offset \d+: .*checksum [0-9a-f]{8}, expected [0-9a-f]{8}/,
    ],
    [["bad.csv"], /bad\.csv: line 3, column 'loss': expected a number, found 'oops'/],
    [["empty"], /empty: not a file of training curves \(0 bytes.*expected a TensorBoard event file/],
    [["none"], /none: no curves in this folder; expected training\.json, or event files/],
    [["missing.csv"], /missing\.csv/],
    [["good.csv", "--metric", "acc"], /--metric 'acc': the files have loss/],
    [["good.csv", "--apart", "200"], /--apart 200: expected a percentage/],
  ]) {
    const { status, stderr } = run(["curves", ...args], { cwd });
    assert.equal(status, 2, `${args}: ${stderr}`);
    assert.match(stderr, message);
  }
});
