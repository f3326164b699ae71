// driftscope mutants: data sets of mutants.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, run, temporaryFolder } from "../support.mjs";
import { faultsOf } from "../document_schema.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const labelFile = asset("data", "digits-test-labels.idx1-ubyte");
const digits = `idx:${asset("data", "digits-test-images.idx3-ubyte")},${labelFile}`;
const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));

test("Generate_Digits_AreADataSetThatRuns", (t) => {
  const folder = temporaryFolder(t);
  const make = (name, ...more) => {
    const out = join(folder, name);
    const args = ["mutants", lenet1, "--dataset", digits, "--count", "120", "-o", out, ...more];
    const { status, stderr, stdout } = run(args);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /120 mutants of 450 originals/);
    return { out, images: readFileSync(join(out, "images.idx3-ubyte")), manifest: manifestOf(out) };
  };
  const first = make("first");
  assert.equal(first.images.length, 16 + 120 * 28 * 28);
  assert.deepEqual(faultsOf(first.manifest), []);
  const labels = readFileSync(join(first.out, "labels.idx1-ubyte")).subarray(8);
  const originals = readFileSync(labelFile).subarray(8);
  first.manifest.samples.forEach(({ original, label, mutations }, i) => {
    assert.equal(label, originals[original]);
    assert.equal(label, labels[i]);
    assert.ok(mutations.length > 0);
  });
  // Nothing is left to chance but by the seed.
  assert.deepEqual(make("again").images, first.images);
  assert.notDeepEqual(make("other", "--seed", "7").images, first.images);
  const fuzzed = make("fuzzed", "--method", "tensorfuzz").manifest;
  assert.ok(fuzzed.samples.every(({ mutations }) => mutations.every(({ name }) => name === "white_noise")));
  const set = `idx:${join(first.out, "images.idx3-ubyte")},${join(first.out, "labels.idx1-ubyte")}`;
  const ran = run(["run", lenet1, "--dataset", set]).stdout;
  assert.match(ran, new RegExp(`pc/strict +${first.manifest.correct}/120 `));
});

test("Generate_Cifar_KeepsItsFormat", (t) => {
  const out = join(temporaryFolder(t), "set");
  const model = asset("models", "resnet20.onnx");
  const dataset = `cifar10:${asset("data", "generated-cifar10-test.bin")}`;
  const { status, stderr } = run([
    "mutants",
    model,
    "--dataset",
    dataset,
    "--count",
    "30",
    "--criterion",
    "nbc",
    "-o",
    out,
  ]);
  assert.equal(status, 0, stderr);
  const bytes = readFileSync(join(out, "generated.bin"));
  assert.equal(bytes.length, 30 * 3073);
  manifestOf(out).samples.forEach(({ label }, i) => assert.equal(bytes[i * 3073], label));
});

test("Generate_BadInput_SaysWhatIsExpected", (t) => {
  const folder = temporaryFolder(t);
  const fault = (args, pattern) => {
    const { status, stderr } = run(["mutants", ...args]);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, pattern);
  };
  const out = join(folder, "set");
  fault([lenet1, "--dataset", `${digits}#3`, "-o", out], /single sample/);
  fault([lenet1, "--dataset", `images:${folder}`, "-o", out], /expected idx:IMAGES,LABELS or cifar10:FILE/);
  fault([lenet1, "--dataset", `cifar10:${asset("data", "generated-cifar10-test.bin")}`, "-o", out], /28x28/);
  fault(
    [lenet1, "--dataset", digits, "--method", "tensorfuzz", "--criterion", "nbc", "-o", out],
    /expected neighbour/,
  );
  fault([asset("models", "gru.onnx"), "--dataset", digits, "-o", out], /text/);
  fault([lenet1, "--dataset", digits, "--count", "0", "-o", out], /count/);
  fault([lenet1, "--dataset", digits, "--count", "1000000", "-o", out], /use --count 913045 or less/);
  writeFileSync(join(folder, "file"), "");
  fault([lenet1, "--dataset", digits, "-o", join(folder, "file")], /a file is there/);
  assert.deepEqual(readdirSync(folder), ["file"]);
});

test("Generate_Interrupted_LeavesNothing", async (t) => {
  const out = join(temporaryFolder(t), "set");
  mkdirSync(out);
  const child = spawn(driftscope, ["mutants", lenet1, "--dataset", digits, "--count", "500000", "-o", out], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(child.stderr, "data");
  child.kill("SIGINT");
  await once(child, "close");
  assert.deepEqual(readdirSync(out), []);
});
