// The answers to a data set, kept in a store from which a comparison goes on.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const digits = ["images.idx3-ubyte", "labels.idx1-ubyte"].map((name) => asset("data", `digits-test-${name}`));

function compare(store, { model = "lenet5", input = "seed:1" } = {}) {
  const args = ["compare", asset("models", `${model}.onnx`), "--right", "pc/fast", "--input", input];
  const set = ["--dataset", `idx:${digits.join(",")}`, "--store", store];
  const done = run([...args, ...set, "--times", "0", "--repeat", "1", "--quiet", "--json", "-"]);
  return { ...done, sides: () => [JSON.parse(done.stdout)].flatMap(({ left, right }) => [left, ...right]) };
}

test("Compare_DatasetWithAStore_GoesOnFromALineThatWasCut", (t) => {
  const store = join(temporaryFolder(t), "answers");
  const first = compare(store);
  assert.equal(first.status, 0, first.stderr);
  const whole = readFileSync(store, "utf8");
  const lines = (text) => text.trimEnd().split("\n").sort();
  assert.equal(lines(whole).length, 1 + 2 * 450);
  // As a process that was killed leaves it: the first target whole, the second one in the middle of a line.
  writeFileSync(store, whole.slice(0, Math.floor(whole.length * 0.8)));
  const second = compare(store);
  assert.equal(second.status, 0, second.stderr);
  assert.deepEqual(lines(readFileSync(store, "utf8")), lines(whole));
  const datasets = (result) => result.sides().map(({ dataset }) => dataset);
  assert.deepEqual(datasets(second), datasets(first));
  assert.equal(datasets(second)[0].correct, 445);
});

test("Compare_StoreWhoseAnswersAreThere_TakesThem", (t) => {
  const store = join(temporaryFolder(t), "answers");
  assert.equal(compare(store).status, 0);
  const text = readFileSync(store, "utf8");
  const wrong = text.replace(/("pc\/fast [^\n]*"item":"0","result":)\{"class":\d+\}/, '$1{"class":77}');
  assert.notEqual(wrong, text);
  writeFileSync(store, wrong);
  const [left, right] = compare(store, { input: "seed:2" }).sides();
  assert.equal(left.dataset.predictions[0], 3);
  assert.equal(right.dataset.predictions[0], 77);
});

test("Compare_StoreOfAnotherModel_IsRefusedAndStays", (t) => {
  const store = join(temporaryFolder(t), "answers");
  assert.equal(compare(store).status, 0);
  const before = readFileSync(store, "utf8");
  const other = compare(store, { model: "lenet1" });
  assert.equal(other.status, 2);
  assert.match(other.stderr, /is the store of another campaign \('model': '"lenet5.onnx"' in it/);
  assert.equal(readFileSync(store, "utf8"), before);
});
