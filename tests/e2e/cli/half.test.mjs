// float16 models: made by tools/zoo/to_half.py, run by every engine of the PC, judged with float16's budgets.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, root, run, temporaryFolder, writeSafetensors } from "../support.mjs";

function half(t, name, ...options) {
  const file = join(temporaryFolder(t), `${name}.onnx`);
  const tool = join(root, "tools", "zoo", "to_half.py");
  const made = spawnSync("python3", [tool, asset("models", `${name}.onnx`), file, ...options], {
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stderr);
  return file;
}

test("Half_EveryEngineRunsIt_AndNoneIsAccused", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  for (const model of [half(t, "lenet5"), half(t, "lenet5", "--half-io"), half(t, "textcnn")]) {
    const targets = ["--left", "pc/reference", "--right", "pc/strict,pc/fast,pc/ort"];
    const { status, stderr } = run([
      "compare",
      model,
      ...targets,
      "--repeat",
      "1",
      "--json",
      json,
      "--quiet",
    ]);
    assert.equal(status, 0, stderr);
    const { left, right } = JSON.parse(readFileSync(json, "utf8"));
    assert.equal(left.verify.verdict, "identical");
    for (const one of right) assert.match(one.verify.verdict, /identical|rounding/, one.target);
  }
});

test("Half_AFaultIsSeen_WithFloat16sOwnBudget", (t) => {
  const model = half(t, "lenet5");
  const file = join(temporaryFolder(t), "half.safetensors");
  assert.equal(run(["run", model, "--target", "pc/ort", "--trace", file, "--quiet"]).status, 0);
  const { metadata, tensors } = readSafetensors(file);
  const node = JSON.parse(metadata.nodes).find(({ op }) => op === "Conv");
  const { dtype, bytes } = tensors.get(node.outputs[0]);
  assert.equal(dtype, "F16");
  bytes.writeUInt16LE(0x4500, 200); // one element is 5
  writeSafetensors(file, tensors, metadata);
  const { status, stdout } = run(["verify", model, file, "--quiet"]);
  assert.equal(status, 1, stdout);
  assert.match(stdout, new RegExp(`first fault at ${node.name}`));
});

test("Half_OptimisationLevels_AreBisected", (t) => {
  const { status, stdout, stderr } = run(["bisect", half(t, "lenet5"), "--over", "opt", "--quiet"]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /none +compared with/);
});
