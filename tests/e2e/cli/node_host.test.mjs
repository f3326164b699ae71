// The host "node": our engines as WebAssembly under Node, without a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asset, readSafetensors, run, start, temporaryFolder, until } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const digits = `idx:${["images.idx3", "labels.idx1"]
  .map((name) => asset("data", `digits-test-${name}-ubyte`))
  .join(",")}`;

test("Node_Strict_HasTheBitsOfThePc", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stdout, stderr } = run([
    ...["compare", lenet5, "--left", "pc/strict", "--right", "node/strict,node/fast,node/strict:wasm=simd"],
    ...["--times", "0.1", "--json", json],
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /node\/strict {2}Node\.js v\d+/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  const [strict, fast, plain] = report.right;
  for (const target of [strict, plain]) {
    assert.equal(target.first_divergence, null, target.target);
    assert.ok(target.layers.every((layer) => !layer.unrecorded && layer.different_elements === 0));
  }
  assert.equal(fast.verify.verdict, "rounding");
  for (const target of report.right) {
    assert.equal(target.time.kind, "unwatched");
    assert.equal(target.memory.kind, "process_tree_pss");
    assert.ok(target.memory.peak_bytes > 2 ** 20);
  }
});

test("Node_Run_RecordsWhatBrowsersRecord", (t) => {
  const folder = temporaryFolder(t);
  const [here, there] = ["pc", "node"].map((host) => join(folder, `${host}.safetensors`));
  assert.equal(run(["run", lenet5, "--target", "pc/strict", "--trace", here]).status, 0);
  assert.equal(run(["run", lenet5, "--target", "node/strict", "--trace", there]).status, 0);
  const [mine, theirs] = [here, there].map(readSafetensors);
  assert.deepEqual([...theirs.tensors.keys()].sort(), [...mine.tensors.keys()].sort());
  for (const [name, { bytes }] of theirs.tensors) assert.ok(mine.tensors.get(name).bytes.equals(bytes), name);
  const facts = JSON.parse(theirs.metadata.run);
  assert.equal(facts.host, "node");
  assert.equal(facts.wasm_variant, "driftscope-relaxed-threads");
});

// One process for all runs of a target.
test("Node_DatasetAndObserverCheck_Work", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stderr } = run([
    ...["compare", lenet5, "--right", "node/fast", "--dataset", digits, "--observer-check"],
    ...["--times", "0", "--json", json],
  ]);
  assert.equal(status, 0, stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(right[0].dataset.samples, 450);
  assert.equal(right[0].dataset.agree, 450);
  assert.equal(stderr.match(/node\/fast: starting Node/g).length, 1);
});

test("Node_ThatIsKilled_IsAnErrorOfItsTargetAlone", async (t) => {
  const repeated = ["--repeat", "100000", "--times", "0"]; // long enough to be killed in
  const compared = ["compare", lenet5, "--left", "node/strict", "--right", "file/nothing.safetensors"];
  const { child, output, done } = start([...compared, ...repeated]);
  t.after(() => child.kill("SIGKILL"));
  await until(() => output.stderr.includes("node/strict: running"), "the run");
  execFileSync("pkill", ["-KILL", "-P", String(child.pid), "-f", "node_service.mjs"]);
  const { status, stdout, stderr } = await done;
  assert.notEqual(status, 0, stdout);
  assert.match(stderr, /node: its Node process ended \(killed by signal 9/);
  assert.match(stderr, /nothing\.safetensors/, "the others are still tried");
});

test("Node_ModelThatItCannotRun_IsTheServicesError", () => {
  const { status, stderr } = run(["run", lenet5, "--target", "node/strict:wasm=simd512"]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /wasm=simd512: expected/);
});

test("Node_ThatIsNotInstalled_SaysWhatToDo", () => {
  const { status, stderr } = run(["run", lenet5, "--target", "node/strict"], {
    env: { PATH: "/nowhere", DRIFTSCOPE_NODE: "" },
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /the host 'node' needs Node, and 'node' was not found; install it/);
});

test("Node_Conformance_AgreesWithThePc", () => {
  const { status, stdout, stderr } = run([
    "conformance",
    "--targets",
    "pc/strict,node/strict",
    "--filter",
    "*softmax*",
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /node\/strict/);
});
