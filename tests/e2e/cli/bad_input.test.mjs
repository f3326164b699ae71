// Mistakes of users and failures of the system: a clear message, the right exit code, no incomplete
// files.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const images = asset("data", "digits-test-images.idx3-ubyte");

function rejected(args, code, ...patterns) {
  const { status, stderr, stdout } = run(args);
  assert.equal(status, code, stdout + stderr);
  for (const pattern of patterns) assert.match(stderr, pattern);
  return stderr;
}

test("NoCommand_IsWrongUse", () => assert.equal(run([]).status, 2));
test("UnknownOption_IsWrongUse", () => assert.equal(run(["run", lenet5, "--nonsense"]).status, 2));

test("AbsentModel_NamesTheFile", () =>
  rejected(["run", "/nowhere/model.onnx"], 2, /\/nowhere\/model\.onnx/, /No such file/));
test("FolderAsModel_SaysSo", (t) => rejected(["run", temporaryFolder(t)], 2, /folder/));

test("TruncatedModel_SaysWhere", (t) => {
  const model = join(temporaryFolder(t), "short.onnx");
  copyFileSync(lenet5, model);
  truncateSync(model, 5000);
  rejected(["run", model], 2, /short\.onnx/);
});

test("TextAsModel_IsRejected", (t) => {
  const model = join(temporaryFolder(t), "text.onnx");
  writeFileSync(model, "this is not a model\n");
  rejected(["run", model], 2, /text\.onnx/);
});

test("UnknownHostAndEngine_ListWhatExists", () => {
  rejected(["run", lenet5, "--target", "mars/strict"], 2, /mars/, /chrome/);
  rejected(["run", lenet5, "--target", "pc/warp"], 2, /warp/, /strict/);
  rejected(["run", lenet5, "--target", "pc/strict:colour=red"], 2, /colour/);
  rejected(["run", lenet5, "--target", "pc/strict:threads=none"], 2, /threads/);
});

test("UnknownEngineInALaterTarget_IsToldBeforeAnythingRuns", (t) => {
  const json = join(temporaryFolder(t), "made.json");
  const targets = "pc/strict,chrome/warp:threads=2";
  for (const args of [
    ["compare", lenet5, "--left", "pc/strict", "--right", targets, "--json", json],
    ["bench", lenet5, "--targets", targets, "--no-save", "--json", json],
    ["conformance", "--targets", targets, "--json", json],
  ]) {
    const said = rejected(
      args,
      2,
      /target 'chrome\/warp:threads=2': there is no engine "warp" in this build; it has: .*strict/,
    );
    assert.doesNotMatch(said, /running|starting/);
    assert.equal(existsSync(json), false);
  }
  rejected(
    ["compare", lenet5, "--left", "pc/strict", "--right", "firefox/strict:threads=0"],
    2,
    /firefox\/strict:threads=0.*from 1 to/,
  );
});

test("WrongInputShapeAndType_SayExpectedAndGot", (t) => {
  const folder = temporaryFolder(t);
  const small = join(folder, "small.safetensors");
  writeSafetensors(
    small,
    new Map([["input", { dtype: "F32", shape: [1, 1, 5, 5], bytes: Buffer.alloc(100) }]]),
  );
  rejected(["run", lenet5, "--input", small], 2, /input/, /28/, /5/);
  const integers = join(folder, "integers.safetensors");
  writeSafetensors(
    integers,
    new Map([["input", { dtype: "I64", shape: [1, 1, 28, 28], bytes: Buffer.alloc(28 * 28 * 8) }]]),
  );
  rejected(["run", lenet5, "--input", integers], 2, /float32/, /int64/);
  const other = join(folder, "other.safetensors");
  writeSafetensors(
    other,
    new Map([["nonsense", { dtype: "F32", shape: [1, 1, 28, 28], bytes: Buffer.alloc(28 * 28 * 4) }]]),
  );
  rejected(["run", lenet5, "--input", other], 2, /input/);
});

test("IdxFileCutShort_AndSampleBeyondTheEnd", (t) => {
  const short = join(temporaryFolder(t), "short.idx3-ubyte");
  copyFileSync(images, short);
  truncateSync(short, 1000);
  rejected(["run", lenet5, "--input", `idx:${short}#0`], 2, /short\.idx3-ubyte/);
  rejected(["run", lenet5, "--input", `idx:${images}#999999`], 2, /999999/);
  rejected(["run", lenet5, "--input", `idx:${images}#-1`], 2);
});

test("TraceThatIsCutShort_IsAnError", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "trace.safetensors");
  assert.equal(run(["run", lenet5, "--trace", trace]).status, 0);
  const bytes = readFileSync(trace);
  for (const length of [0, 7, 100, bytes.length - 1]) {
    const cut = join(folder, `cut-${length}.safetensors`);
    writeFileSync(cut, bytes.subarray(0, length));
    rejected(["verify", lenet5, cut], 2, /cut-/);
  }
});

test("TraceOfNothing_IsNeverAPass", (t) => {
  const trace = join(temporaryFolder(t), "strange.safetensors");
  writeSafetensors(trace, new Map([["unrelated", { dtype: "F32", shape: [2], bytes: Buffer.alloc(8) }]]));
  const { status } = run(["verify", lenet5, trace]);
  assert.notEqual(status, 0);
});

test("TraceOfAnotherModel_IsAnError", (t) => {
  const trace = join(temporaryFolder(t), "other.safetensors");
  assert.equal(run(["run", asset("models", "lenet1.onnx"), "--trace", trace]).status, 0);
  rejected(["verify", lenet5, trace], 2, /model/);
});

test("ChangedElement_IsChargedToItsLayerFirst", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "trace.safetensors");
  assert.equal(run(["run", lenet5, "--input", `idx:${images}#3`, "--trace", trace]).status, 0);
  const { metadata, tensors } = readSafetensors(trace);
  const nodes = JSON.parse(metadata.nodes);
  for (const node of nodes
    .filter((one) => ["Conv", "Relu", "MaxPool", "Gemm"].includes(one.op))
    .slice(0, 4)) {
    const changed = new Map(
      [...tensors].map(([name, tensor]) => [name, { ...tensor, bytes: Buffer.from(tensor.bytes) }]),
    );
    const bytes = changed.get(node.outputs[0]).bytes;
    // One element in the middle, changed by 1e-3 of itself plus 1e-3. Later layers are judged from the
    // changed tensor, so they differ as well, but only where they were computed from the old one.
    const at = ((bytes.length / 8) | 0) * 4;
    bytes.writeFloatLE(bytes.readFloatLE(at) * 1.001 + 1e-3, at);
    const path = join(folder, "changed.safetensors");
    writeSafetensors(path, changed, metadata);
    const { status, stdout } = run(["verify", lenet5, path, "--json", "-"]);
    assert.equal(status, 1);
    const report = JSON.parse(stdout);
    assert.equal(report.first_fault, node.name);
    assert.equal(report.layers.find((layer) => layer.node === node.name).verdict, "fault");
  }
});

test("FullDisk_KeepsTheOldTraceAndLeavesNothing", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "trace.safetensors");
  writeFileSync(trace, "older result");
  // A limit of 8 kB on file sizes: writing fails as on a full disk.
  const { status, stderr } = run(
    ["-c", `ulimit -f 8; exec "$0" run "$1" --trace "$2"`, driftscope, lenet5, trace],
    { program: "bash" },
  );
  assert.equal(status, 2, stderr);
  assert.match(stderr, /cannot write .*trace\.safetensors/);
  assert.equal(readFileSync(trace, "utf8"), "older result");
  assert.deepEqual(readdirSync(folder), ["trace.safetensors"]);
});

test("FullDevice_IsAnError", () => {
  if (existsSync("/dev/full")) rejected(["run", lenet5, "--trace", "/dev/full"], 2, /No space left/);
});

test("TraceIntoAFolderThatIsNotThere_IsAnError", () =>
  rejected(["run", lenet5, "--trace", "/nowhere/x.safetensors"], 2, /nowhere/));

test("NoBrowserInstalled_ExitsWith3AndKeepsTheRest", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stdout, stderr } = run(
    ["compare", lenet5, "--left", "pc/strict", "--right", "firefox/strict,pc/reference", "--json", json],
    { env: { PATH: "/nowhere" } },
  );
  assert.equal(status, 3, stderr);
  assert.match(stderr, /firefox/i);
  assert.match(stderr, /tools\/setup|install/);
  assert.match(stdout, /pc\/reference/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(report.right.find((right) => right.target === "pc/reference").output.agree, true);
});
