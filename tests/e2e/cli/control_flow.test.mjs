// Layers inside an If: recorded by our engines and by ONNX Runtime, judged, compared, chosen, found at fault.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { faultsOf } from "../document_schema.mjs";
import { readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";
import { choice, loop } from "../tiny_onnx.mjs";

function written(t) {
  const folder = temporaryFolder(t);
  const model = join(folder, "choice.onnx");
  writeFileSync(model, choice());
  const input = (name, values) => {
    const path = join(folder, name);
    const bytes = Buffer.from(Float32Array.from(values).buffer);
    writeSafetensors(path, new Map([["x", { dtype: "F32", shape: [4], bytes }]]));
    return path;
  };
  return { folder, model, input };
}

const branches = {
  then: { values: [0.5, -0.25, 1.5, 2], inside: ["choice[then]/scale", "choice[then]/squash"] },
  else: { values: [-0.5, -0.25, 0.5, -2], inside: ["choice[else]/scale", "choice[else]/negate"] },
};

for (const [branch, { values, inside }] of Object.entries(branches))
  test(`If_${branch}Branch_IsComparedLayerByLayerOnEveryEngine`, (t) => {
    const { model, input } = written(t);
    const rights = ["pc/reference", "pc/fast", "pc/ort"];
    const { status, stdout, stderr } = run([
      ...["compare", model, "--input", input("x.safetensors", values), "--left", "pc/strict"],
      ...rights.flatMap((right) => ["--right", right]),
      ...["--json", "-", "--quiet"],
    ]);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout);
    assert.deepEqual(faultsOf(document), []);
    for (const { target, verify, layers } of document.right) {
      const judged = verify.layers.map(({ node }) => node);
      assert.deepEqual(judged, ["sum", "greater", ...inside, "choice"], target);
      assert.ok(
        verify.layers.every(({ verdict }) => ["identical", "rounding"].includes(verdict)),
        target,
      );
      assert.deepEqual(
        layers.map(({ node }) => node),
        ["sum", "greater", ...inside, "choice"],
        target,
      );
    }
  });

test("If_FaultInsideABranchOfARecording_IsFoundThere", (t) => {
  const { folder, model, input } = written(t);
  const path = join(folder, "trace.safetensors");
  const given = input("x.safetensors", branches.then.values);
  const ran = run(["run", model, "--input", given, "--target", "pc/ort", "--trace", path]);
  assert.equal(ran.status, 0, ran.stderr);
  const { metadata, tensors } = readSafetensors(path);
  assert.deepEqual(JSON.parse(metadata.control_flow), [{ node: "choice", branch: "then" }]);
  assert.equal(run(["verify", model, path]).status, 0);
  tensors.get("choice[then]/product").bytes[2] ^= 8;
  writeSafetensors(path, tensors, metadata);
  const verified = run(["verify", model, path, "--json", "-"]);
  assert.equal(verified.status, 1, verified.stderr);
  assert.equal(JSON.parse(verified.stdout).first_fault, "choice[then]/scale");
});

test("Capture_ChoosesNodesInsideByNameAndOperator", (t) => {
  const { folder, model, input } = written(t);
  const path = join(folder, "trace.safetensors");
  const given = input("x.safetensors", branches.then.values);
  for (const chosen of [
    ["--capture-nodes", "choice*/squash"],
    ["--capture-ops", "Tanh"],
  ]) {
    const ran = run(["run", model, "--input", given, "--target", "pc/strict", ...chosen, "--trace", path]);
    assert.equal(ran.status, 0, ran.stderr);
    const { tensors } = readSafetensors(path);
    const names = ["choice[then]/product", "choice[then]/t", "x", "y"];
    assert.deepEqual([...tensors.keys()].sort(), names);
  }
  const ran = run(["run", model, "--target", "pc/strict", "--capture-nodes", "choice*/absent"]);
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /no node is selected/);
});

test("RunTable_ShowsLayersInsideWithTheirOwnTimes", (t) => {
  const { model, input } = written(t);
  const given = input("x.safetensors", branches.then.values);
  const ran = run(["run", model, "--input", given, "--target", "pc/strict", "--layers", "all"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /choice\[then\]\/squash +Tanh/);
});

test("Loop_OnOnnxRuntime_HasTheIterationsThatOurEnginesRecord", (t) => {
  const folder = temporaryFolder(t);
  const model = join(folder, "loop.onnx");
  writeFileSync(model, loop(20));
  const { status, stdout, stderr } = run([
    ...["compare", model, "--left", "pc/strict", "--right", "pc/ort,pc/reference", "--json", "-", "--quiet"],
  ]);
  assert.equal(status, 0, stderr);
  const recorded = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 19];
  const inside = recorded.flatMap((i) => [`loop[${i}]/scale`, `loop[${i}]/shift`]);
  for (const { target, verify, layers } of JSON.parse(stdout).right) {
    for (const list of [verify.layers, layers])
      assert.deepEqual(
        list.map(({ node }) => node),
        [...inside, "loop"],
        target,
      );
    assert.ok(
      verify.layers.every(({ verdict }) => ["identical", "rounding"].includes(verdict)),
      target,
    );
  }
});
