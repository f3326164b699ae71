// hunt: finds real faults of a runtime, none of our own engine, keeps them reduced and goes on where it was.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const read = (folder) => JSON.parse(readFileSync(join(folder, "hunt.json"), "utf8"));
const lines = (folder) => readFileSync(join(folder, "cases.jsonl"), "utf8").trimEnd().split("\n").length;

function hunt(folder, ...args) {
  return run(["hunt", "--out", folder, "--quiet", ...args]);
}

test("Hunt_ResizeOnOnnxRuntime_FindsItsLengthsAndNothingOnStrict", (t) => {
  const folder = temporaryFolder(t);
  const targets = ["--targets", "pc/strict,pc/ort", "--operators", "resize", "--seed", "3"];
  const found = hunt(folder, ...targets, "--cases", "60", "--reduce-seconds", "20");
  assert.equal(found.status, 1, found.stderr);
  const document = read(folder);
  assert.equal(document.format, "driftscope-hunt-1");
  const [strict, ort] = document.targets;
  assert.deepEqual([strict.right, strict.wrong, strict.refused, strict.failed], [60, 0, 0, 0]);
  assert.equal(ort.right + ort.wrong + ort.refused + ort.failed + ort.lost, 60);
  const known = document.findings.find(({ found: { cause } }) => cause === "attribute.resized_length");
  assert.equal(known.target, "pc/ort");
  assert.match(known.found.text, /explained by align_corners with the resized length rounded down/);
  const kept = join(folder, "findings", known.found.folder);
  for (const file of ["model.onnx", "x0.npy", "expected.npy"]) assert.ok(existsSync(join(kept, file)), file);
  // Of so small an input the numbers are said.
  const issue = readFileSync(join(kept, "issue.md"), "utf8");
  assert.match(issue, /- input `x0`: float32 [\dx]+, values -?[\d.]+(, -?[\d.]+)*\n/);
  assert.match(found.stdout, /fault {2}pc\/ort {2}Resize {2}explained by/);

  // The kept case alone is wrong as well.
  const trace = join(folder, "t.safetensors");
  const input = ["--input", `x0=${join(kept, "x0.npy")}`];
  assert.equal(
    run(["run", join(kept, "model.onnx"), "--target", "pc/ort", "--trace", trace, ...input]).status,
    0,
  );
  const explained = run(["explain", join(kept, "model.onnx"), trace, "--quiet"]);
  assert.match(explained.stdout, /the resized length rounded down/);

  // What is there is not run again, a line that was cut is.
  const before = lines(folder);
  appendFileSync(join(folder, "cases.jsonl"), '{"target":"pc');
  const more = hunt(folder, ...targets, "--cases", "70", "--reduce-seconds", "20");
  assert.equal(more.status, 1, more.stderr);
  assert.equal(lines(folder), before + 20);
  assert.ok(read(folder).targets[0].right === 70);
  assert.doesNotMatch(more.stdout.split("\n\n")[0], /the resized length rounded down/);
});

test("Hunt_SameSeed_SameCases", (t) => {
  const [one, other] = [temporaryFolder(t), temporaryFolder(t)];
  for (const folder of [one, other]) {
    rmSync(folder, { recursive: true });
    const done = run(["hunt", "--seed", "8", "--case", "17", "--out", folder]);
    assert.equal(done.status, 0, done.stderr);
  }
  assert.deepEqual(readFileSync(join(one, "model.onnx")), readFileSync(join(other, "model.onnx")));
  const run17 = run(["run", join(one, "model.onnx"), "--target", "pc/strict"]);
  assert.equal(run17.status, 0, run17.stderr);
});

test("Hunt_InputsForAModel_ReachBoundariesAndAreRight", (t) => {
  const folder = temporaryFolder(t);
  const model = asset("models", "lenet5.onnx");
  const done = hunt(folder, model, "--targets", "pc/strict,pc/fast", "--cases", "40", "--budget", "60s");
  assert.ok(done.status === 0, done.stdout + done.stderr);
  const document = read(folder);
  assert.equal(document.model, "lenet5.onnx");
  assert.deepEqual(
    document.targets.map(({ right, wrong }) => right + wrong),
    [40, 40],
  );
  assert.match(readFileSync(join(folder, "cases.jsonl"), "utf8"), /moved to the boundary of class \d/);
  // Only answers that rounding decides may differ.
  for (const { found } of document.findings) assert.match(found.kind, /^(answer|overflow)$/);
});

test("Hunt_WrongUse_IsExplained", (t) => {
  const folder = temporaryFolder(t);
  const fails = (pattern, ...args) => {
    const done = hunt(folder, ...args);
    assert.equal(done.status, 2, done.stdout);
    assert.match(done.stderr, pattern);
  };
  fails(/--budget 5 parsecs: expected a time such as 15m/, "--targets", "pc/strict", "--budget", "5 parsecs");
  fails(/give targets, not traces/, "--targets", "file/t.safetensors");
  fails(/its own operators are hunted/, asset("models", "lenet5.onnx"), "--operators", "resize");
  fails(/no_family/, "--operators", "no_family");
  const first = hunt(folder, "--targets", "pc/strict", "--cases", "3", "--seed", "1");
  assert.equal(first.status, 0, first.stderr);
  fails(/is the store of another campaign/, "--targets", "pc/strict", "--cases", "3", "--seed", "2");
});
