// The commands that need no browser, as a user types them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  asset,
  driftscope,
  hasFile,
  readSafetensors,
  run,
  sanitized,
  start,
  temporaryFolder,
  traceDigests,
  until,
} from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const images = asset("data", "digits-test-images.idx3-ubyte");
const labels = asset("data", "digits-test-labels.idx1-ubyte");

test("Help_NamesEveryCommandAndTheExitCodes", () => {
  const { status, stdout } = run(["--help"]);
  assert.equal(status, 0);
  for (const word of ["run", "verify", "compare", "serve", "doctor", "Exit codes"])
    assert.match(stdout, new RegExp(word));
});

test("Doctor_SaysWhetherTheScreensCanOpen", () => {
  const gui = (env) =>
    JSON.parse(run(["doctor", "--json", "-"], { env }).stdout).findings.find(({ what }) => what === "gui");
  assert.equal(gui({ DISPLAY: ":99" }).ok, hasFile(`${driftscope}-gui`));
  const without = gui({ DISPLAY: "" });
  assert.equal(without.ok, false);
  assert.match(without.detail, /DISPLAY is not set|driftscope-gui is missing/);
});

test("Run_InterruptedWhileItWritesATrace_LeavesNoFile", async (t) => {
  const folder = temporaryFolder(t);
  const { child, done } = start([
    "run",
    asset("models", "resnet20.onnx"),
    "--repeat",
    "100000",
    "--trace",
    join(folder, "trace.safetensors"),
  ]);
  await until(() => readdirSync(folder).length > 0, "the trace to be begun");
  child.kill("SIGINT");
  const ended = await done;
  assert.ok(ended.status === 130 || ended.signal === "SIGINT", `${ended.status} ${ended.signal}`);
  assert.deepEqual(readdirSync(folder), []);
});

test("Run_WritesATraceThatVerifiesClean", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const ran = run(["run", lenet5, "--input", `idx:${images}#3`, "--target", "pc/strict", "--trace", trace]);
  assert.equal(ran.status, 0, ran.stderr);
  const { metadata, tensors } = readSafetensors(trace);
  assert.equal(metadata.format, "driftscope-trace-1");
  assert.equal(metadata.target, "pc/strict");
  assert.match(metadata.model_sha256, /^[0-9a-f]{64}$/);
  const nodes = JSON.parse(metadata.nodes);
  assert.ok(nodes.every((node) => node.time_ns.length === 1 && node.time_ns[0] >= 0));
  assert.ok(nodes.flatMap((node) => node.outputs).every((name) => tensors.has(name)));

  const json = `${trace}.json`;
  const verified = run(["verify", lenet5, trace, "--json", json]);
  assert.equal(verified.status, 0, verified.stderr);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(report.format, "driftscope-verify-1");
  assert.equal(report.first_fault, null);
  assert.ok(["identical", "rounding"].includes(report.verdict));
  assert.equal(report.layers.length, nodes.length);
});

test("Run_ReferenceTrace_IsIdenticalInEveryLayer", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  assert.equal(
    run(["run", lenet5, "--input", `idx:${images}#3`, "--target", "pc/reference", "--trace", trace]).status,
    0,
  );
  const { status, stdout } = run(["verify", lenet5, trace, "--json", "-"]);
  assert.equal(status, 0);
  for (const layer of JSON.parse(stdout).layers) assert.equal(layer.verdict, "identical", layer.node);
});

test("Run_SameSeedSameBits_OtherSeedOtherBits", (t) => {
  const folder = temporaryFolder(t);
  const trace = (name, seed) => {
    const path = join(folder, name);
    assert.equal(run(["run", lenet5, "--input", `seed:${seed}`, "--trace", path]).status, 0);
    return traceDigests(path);
  };
  const first = trace("a", 7);
  assert.deepEqual(trace("b", 7), first);
  assert.notDeepEqual(trace("c", 8), first);
});

for (const model of ["lenet1", "lenet5", ...(sanitized ? [] : ["resnet20"])]) {
  test(`Dataset_${model}_PredictsWhatPyTorchPredicted`, (t) => {
    const dataset =
      model === "resnet20"
        ? `cifar10:${asset("data", "generated-cifar10-test.bin")}`
        : `idx:${images},${labels}`;
    const trace = join(temporaryFolder(t), "outputs.safetensors");
    const { status, stdout, stderr } = run(
      [
        "run",
        asset("models", `${model}.onnx`),
        "--dataset",
        dataset,
        "--target",
        "pc/strict",
        "--trace",
        trace,
      ],
      { timeout: 600_000 },
    );
    assert.equal(status, 0, stderr);
    const [output] = [...readSafetensors(trace).tensors.values()].slice(-1);
    const classes = output.shape.at(-1);
    const scores = new Float32Array(
      output.bytes.buffer.slice(output.bytes.byteOffset, output.bytes.byteOffset + output.bytes.length),
    );
    const predicted = [];
    for (let i = 0; i < scores.length; i += classes) {
      const row = scores.subarray(i, i + classes);
      predicted.push(row.indexOf(Math.max(...row)));
    }
    const expected = readFileSync(asset("data", `${model}.predictions.txt`), "utf8")
      .trim()
      .split("\n")
      .map(Number);
    assert.deepEqual(predicted, expected);
    assert.match(stdout, /accuracy/);
  });
}

test("PrintGraph_ShowsShapesAndStops", () => {
  const { status, stdout } = run(["run", lenet5, "--print-graph"]);
  assert.equal(status, 0);
  assert.match(stdout, /Conv/);
  assert.match(stdout, /Nx10|N×10/);
});

test("PrintShader_OfAnEngineWithoutShaders_NamesThoseThatHaveThem", () => {
  const { status, stderr } = run(["run", lenet5, "--target", "pc/strict", "--print-shader", "conv1"]);
  assert.notEqual(status, 0);
  assert.match(stderr, /pc\/strict has no shaders .*pc\/webgpu/);
});

test("Compare_TwoEnginesOfThisPc_WritesJsonAndReport", (t) => {
  const folder = temporaryFolder(t);
  const json = join(folder, "compare.json");
  const html = join(folder, "report.html");
  const { status, stdout, stderr } = run([
    "compare",
    lenet5,
    "--input",
    `idx:${images}#7`,
    "--dataset",
    `idx:${images},${labels}`,
    "--left",
    "pc/reference",
    "--right",
    "pc/strict,pc/strict:threads=1",
    "--json",
    json,
    "--report",
    html,
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Conv/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(report.format, "driftscope-compare-1");
  assert.equal(report.left.target, "pc/reference");
  assert.deepEqual(
    report.right.map((right) => right.target),
    ["pc/strict", "pc/strict:threads=1"],
  );
  for (const right of report.right) {
    assert.ok(right.output.agree);
    assert.ok(right.memory.peak_bytes > 0);
    assert.ok(right.layers.length > 5);
    for (const key of [
      "node",
      "output",
      "max_abs",
      "max_rel",
      "max_ulp",
      "cosine",
      "sqnr_db",
      "kl",
      "different_elements",
      "elements",
      "left_ns",
      "right_ns",
    ])
      assert.ok(key in right.layers[0], key);
  }
  const page = readFileSync(html, "utf8");
  assert.doesNotMatch(page, /<script|https?:\/\/(?!www\.w3\.org)/);
  assert.match(page, /<svg/);
});

test("Compare_WithARecordedTrace_FindsNoDifference", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  assert.equal(run(["run", lenet5, "--input", "seed:5", "--trace", trace]).status, 0);
  const { status, stdout, stderr } = run([
    "compare",
    lenet5,
    "--input",
    "seed:5",
    "--right",
    `file/${trace}`,
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /agrees with pc\/strict bit for bit, same answer/);
});

test("Run_NobodyReadsItsMessages_StillEndsWell", () => {
  const piped = (...args) =>
    spawnSync(
      "bash",
      ["-c", '{ "$@" 2>&1 >&3; echo $? >&4; } 3>/dev/null | true', "bash", driftscope, ...args],
      { stdio: ["ignore", "ignore", "ignore", "ignore", "pipe"], encoding: "utf8" },
    ).output[4].trim();
  assert.equal(piped("run", lenet5), "0");
  assert.equal(piped("run", "nothing.onnx"), "2");
});
