// driftscope doctor MODEL --run: what only running shows.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";
import { onnxModel } from "../onnx_model.mjs";

const doctor = (args, options) => {
  const { status, stdout, stderr } = run(["doctor", ...args, "--quiet", "--json", "-"], options);
  assert.ok(stdout, stderr);
  return { status, ...JSON.parse(stdout).deployment };
};

test("DoctorRun_GoodModel_RunsWithoutFindings", () => {
  const { status, findings, runs } = doctor([
    ...[asset("models", "lenet5.onnx"), "--targets", "pc/strict,pc/fast", "--run"],
    ...["--memory-runs", "20"],
  ]);
  assert.equal(status, 0);
  assert.deepEqual(
    findings.map((finding) => finding.check).filter((name) => name !== "dynamic_shapes"),
    [],
  );
  assert.match(runs.input, /seed:42/);
  assert.deepEqual(
    runs.targets.map(({ target, failure }) => [target, failure]),
    [
      ["pc/strict", undefined],
      ["pc/fast", undefined],
    ],
  );
  assert.ok(runs.targets.every(({ memory }) => ["flat", "unclear"].includes(memory)));
  const layer = runs.layers.find(({ value }) => value === runs.layers.at(-1).value);
  assert.ok(layer.largest > 0 && layer.nan === 0 && layer.infinite === 0);
});

// Exp overflows float32 from 88.8 on, and Reciprocal makes 0 of it: every answer is a number.
const hiding = onnxModel({
  nodes: [
    ["Exp", ["x"], ["a"]],
    ["Reciprocal", ["a"], ["y"]],
  ],
  inputs: { x: { dtype: "float32", shape: [1, 2] } },
  outputs: { y: { dtype: "float32" } },
});

function npy(values) {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (1, ${values.length}), }`;
  const text = header.padEnd(117, " ") + "\n";
  const magic = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0]);
  return Buffer.concat([magic, Buffer.from(text), Buffer.from(Float32Array.from(values).buffer)]);
}

test("DoctorRun_OverflowThatIsHidden_NamesTheLayerAndDependsOnTheInput", (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, "net.onnx"), hiding);
  writeFileSync(join(cwd, "large.npy"), npy([1, 200]));
  writeFileSync(join(cwd, "small.npy"), npy([1, 2]));
  const of = (input) =>
    doctor(["net.onnx", "--targets", "pc/fast", "--run", "--input", input, "--memory-runs", "0"], { cwd });
  const large = of("large.npy");
  assert.equal(large.status, 0); // it works badly, and not "not at all"
  assert.deepEqual(
    large.findings.map(({ check, severity, where }) => [check, severity, where]),
    [["overflow", "warning", "Exp_a"]],
  );
  assert.match(large.findings[0].why, /a \(float32\) has 1 infinite of 2 elements/);
  assert.deepEqual(of("small.npy").findings, []);
});

test("DoctorRun_TargetThatFails_IsAFindingAndOthersGoOn", (t) => {
  const cwd = temporaryFolder(t);
  const magic = onnxModel({
    nodes: [["Magic", ["x"], ["y"]]],
    inputs: { x: { dtype: "float32", shape: [4] } },
    outputs: { y: { dtype: "float32", shape: [4] } },
  });
  writeFileSync(join(cwd, "net.onnx"), magic);
  const { status, findings, runs } = doctor(["net.onnx", "--targets", "pc/strict,pc/fast", "--run"], { cwd });
  assert.equal(status, 1);
  assert.deepEqual(
    findings.filter(({ check }) => check === "runs").map(({ where }) => where),
    ["pc/strict", "pc/fast"],
  );
  assert.ok(runs.targets.every(({ failure }) => /Magic/.test(failure)));
});

test("DoctorRun_WrongUse_IsRefusedFirst", (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, "net.onnx"), hiding);
  for (const [args, said] of [
    [["--run"], /--run/],
    [["net.onnx", "--input", "seed:1"], /--input/],
    [["net.onnx", "--run", "--input", "absent.npy"], /absent\.npy/],
    [["net.onnx", "--run", "--targets", "pc/nothing"], /nothing/],
  ]) {
    const { status, stderr } = run(["doctor", ...args], { cwd });
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, said);
  }
});
