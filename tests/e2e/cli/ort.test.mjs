// ONNX Runtime beside our own engines: if it is missing or rejects a model, the others go on.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const without = { env: { DRIFTSCOPE_ONNXRUNTIME: "/nonexistent/libonnxruntime.so.1" } };

test("Compare_StrictWithOrt_IsRoundingAlone", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stderr } = run([
    "compare",
    lenet5,
    "--left",
    "pc/strict",
    "--right",
    "pc/ort,pc/ort:opt=none,threads=1",
    "--json",
    json,
  ]);
  assert.equal(status, 0, stderr);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(right.length, 2);
  for (const one of right) {
    assert.equal(one.verify.verdict, "rounding", one.target);
    assert.ok(
      one.layers.some((layer) => layer.different_elements > 0),
      "another runtime, other bits",
    );
  }
});

// Its library keeps an identifier of the device, a database and a log, and uploads them, unless it is set not
// to.
test("Ort_ReportsNothingToItsMaker_AndLeavesNoFile", (t) => {
  const folder = temporaryFolder(t);
  const places = { HOME: "home", XDG_CACHE_HOME: "cache", TMPDIR: "tmp" };
  const env = {};
  for (const [name, place] of Object.entries(places)) mkdirSync((env[name] = join(folder, place)));
  const { status, stderr } = run(["run", lenet5, "--target", "pc/ort"], { env });
  assert.equal(status, 0, stderr);
  for (const place of Object.values(places)) assert.deepEqual(readdirSync(join(folder, place)), [], place);
});

test("Missing_OrtIsNamedWithTheCommandAndTheOthersGoOn", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stderr } = run(
    ["compare", lenet5, "--left", "pc/strict", "--right", "pc/ort,pc/reference", "--json", json],
    without,
  );
  assert.equal(status, 3, stderr);
  assert.match(stderr, /pc\/ort: engine ort: .*tools\/setup installs ONNX Runtime/);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(right[1].verify.verdict, "identical");
});

test("Missing_DoctorSaysSo", () => {
  const { status, stdout } = run(["doctor", "--json", "-"], without);
  assert.equal(status, 3);
  const finding = JSON.parse(stdout).findings.find(({ what }) => what === "pc/ort");
  assert.equal(finding.ok, false);
  assert.match(finding.detail, /tools\/setup/);
});

test("OtherLibrary_IsNoOnnxRuntime", () => {
  const { status, stderr } = run(["run", lenet5, "--target", "pc/ort"], {
    env: { DRIFTSCOPE_ONNXRUNTIME: "libm.so.6" },
  });
  assert.equal(status, 3);
  assert.match(stderr, /is not an ONNX Runtime/);
});

test("Rejected_TheMessageIsOrtsOwnAndTheOthersGoOn", (t) => {
  // The model claims an IR version of the far future, which only ONNX Runtime checks.
  const folder = temporaryFolder(t);
  const bytes = readFileSync(lenet5);
  assert.equal(bytes[0], 0x08, "the file begins with its IR version");
  bytes[1] = 99;
  const model = join(folder, "future.onnx");
  writeFileSync(model, bytes);
  copyFileSync(lenet5.replace(".onnx", ".preprocess.json"), model.replace(".onnx", ".preprocess.json"));
  const json = join(folder, "compare.json");
  const { status, stderr } = run([
    "compare",
    model,
    "--left",
    "pc/ort",
    "--right",
    "pc/strict,pc/reference",
    "--json",
    json,
  ]);
  assert.equal(status, 2, stderr);
  assert.match(stderr, /pc\/ort: ONNX Runtime 1\.30\.0 says: .*99/);
  const { right } = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(right.length, 2);
  for (const one of right) assert.equal(one.error, undefined, one.target);
});

test("Options_AreCheckedAndListed", () => {
  for (const [options, message] of [
    ["opt=most", /none, basic, extended, all/],
    ["simd=128", /Its options: threads=N .*opt=none\|basic\|extended\|all/],
  ]) {
    const { status, stderr } = run(["run", lenet5, "--target", `pc/ort:${options}`]);
    assert.equal(status, 2);
    assert.match(stderr, message);
  }
});

test("Conformance_Ort_PromisesNoBitsAcrossOptions", () => {
  const { status, stdout, stderr } = run([
    "conformance",
    "--targets",
    "pc/ort,pc/ort:opt=none,threads=1",
    "--filter",
    "*gru*",
    "--json",
    "-",
  ]);
  assert.equal(status, 0, stderr);
  for (const target of JSON.parse(stdout).targets) {
    assert.ok(target.passed > 1);
    assert.equal(target.same_bits, undefined);
  }
});
