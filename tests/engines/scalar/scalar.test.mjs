// An engine needs only a folder: this one's is in no list, and the program has it everywhere.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, extended, readSafetensors, run, temporaryFolder } from "../../e2e/support.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const driftscope = (...args) => run(args, { program: extended });

test("Scalar_IsInDoctorAndInHelp", () => {
  const { findings } = JSON.parse(driftscope("doctor", "--json", "-").stdout);
  const found = findings.find(({ what }) => what === "pc/scalar");
  assert.equal(found.ok, true);
  assert.match(found.detail, /plain C\+\+/);
  const { stdout } = driftscope("--help");
  assert.match(stdout, /scalar +float32 in plain C\+\+/);
  assert.match(stdout, /repeat=N \(default: 1; how often each node is computed\)/);
});

test("Scalar_IsAmongTheTargetsOfConformance_SinceItsBitsAreTheSameEverywhere", () => {
  const args = ["conformance", "--filter", "*test_relu*", "--json", "-"];
  const { status, stdout, stderr } = driftscope(...args);
  assert.equal(status, 0, stderr);
  const { targets } = JSON.parse(stdout);
  assert.deepEqual(
    targets.map(({ target }) => target),
    ["pc/reference", "pc/strict", "pc/scalar"],
  );
  assert.equal(targets[2].failed, 0);
  const several = "pc/scalar,pc/scalar:threads=1";
  const same = JSON.parse(driftscope(...args, "--targets", several).stdout).targets[1];
  assert.ok(same.cases.every((one) => one.same_bits === true));
});

test("Scalar_OptionsAreChecked_BeforeAnythingRuns", () => {
  for (const [options, message] of [
    ["colour=red", /engine scalar has no option "colour"\. Its options: threads=N .*, repeat=N/],
    ["repeat=0", /option repeat=0: expected a whole number from 1 to 100/],
  ]) {
    const targets = `pc/strict,pc/scalar:${options}`;
    const { status, stderr } = driftscope("compare", lenet1, "--left", "pc/strict", "--right", targets);
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /running/);
  }
  const { stderr } = driftscope("run", lenet1, "--target", "pc/nonsense");
  assert.match(stderr, /it has: .*scalar/);
});

test("Scalar_Runs_WithTheBitsOfStrict", (t) => {
  const folder = temporaryFolder(t);
  const values = (target) => {
    const file = join(folder, `${target.replaceAll(/\W/g, "-")}.safetensors`);
    const { status, stderr } = driftscope("run", lenet1, "--target", target, "--trace", file);
    assert.equal(status, 0, stderr);
    return readSafetensors(file);
  };
  const strict = values("pc/strict").tensors;
  const scalar = values("pc/scalar:repeat=2,threads=2");
  assert.ok(strict.size > 5);
  for (const [name, { bytes }] of strict) assert.ok(bytes.equals(scalar.tensors.get(name).bytes), name);
  assert.equal(JSON.parse(scalar.metadata.run).engine, "scalar");
});

test("Scalar_IsCompared_AsAnyEngine", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const args = ["--left", "pc/scalar", "--right", "pc/strict,pc/reference", "--json", json];
  const { status, stderr } = driftscope("compare", lenet1, ...args);
  assert.equal(status, 0, stderr);
  const { left, right } = JSON.parse(readFileSync(json, "utf8"));
  assert.match(left.verify.verdict, /identical|rounding/);
  assert.equal(right.length, 2);
});
