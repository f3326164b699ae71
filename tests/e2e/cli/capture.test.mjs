// Which values a run keeps: --trace MODE:OUT, filters, --observer-check.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");

test("Trace_ModeAndFile_KeepsWhatTheModeSays", (t) => {
  const folder = temporaryFolder(t);
  const kept = (argument, name = argument.split(":")[1]) => {
    const { status, stderr } = run(["run", lenet5, "--trace", argument], { cwd: folder });
    assert.equal(status, 0, stderr);
    const { metadata, tensors } = readSafetensors(join(folder, name));
    return [JSON.parse(metadata.run).capture, tensors.size];
  };
  const [, all] = kept("plain.safetensors", "plain.safetensors");
  assert.deepEqual(kept("all:a.safetensors"), ["all", all]);
  assert.deepEqual(kept("outputs:b.safetensors"), ["outputs", 2]);
  assert.equal(kept("fused:c.safetensors")[0], "fused");
  assert.equal(kept("./all", "all")[1], all);
});

test("Trace_ModeAlone_NamesTheFileAndSaysSo", (t) => {
  const folder = temporaryFolder(t);
  const { status, stdout } = run(["run", lenet5, "--target", "pc/strict:threads=1", "--trace", "fused"], {
    cwd: folder,
  });
  assert.equal(status, 0);
  assert.match(stdout, /trace: lenet5-pc-strict-threads=1\.safetensors/);
  assert.deepEqual(readdirSync(folder), ["lenet5-pc-strict-threads=1.safetensors"]);
  assert.equal(run(["run", lenet5, "--outputs-only", "--trace", "fused:x"], { cwd: folder }).status, 2);
});

test("CaptureFilters_KeepChosenLayersWithTheirInputs_AndVerifyJudgesThem", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  assert.equal(
    run(["run", lenet5, "--capture-ops", "MaxPool", "--capture-nodes", "pool1,relu*", "--trace", trace])
      .status,
    0,
  );
  const { metadata, tensors } = readSafetensors(trace);
  const outputs = Object.fromEntries(JSON.parse(metadata.nodes).map((node) => [node.name, node.outputs[0]]));
  const first = JSON.parse(metadata.nodes).at(-1).outputs[0];
  assert.deepEqual([...tensors.keys()].sort(), ["input", outputs.relu1, outputs.pool1, first].sort());
  const { status, stdout } = run(["verify", lenet5, trace, "--json", "-"]);
  assert.equal(status, 0);
  const layers = JSON.parse(stdout).layers;
  assert.equal(layers.find(({ node }) => node === "pool1").verdict, "identical");
  const rejected = run(["run", lenet5, "--capture-range", "conv9..", "--trace", trace]);
  assert.equal(rejected.status, 2);
  assert.match(rejected.stderr, /no node 'conv9'.*13 nodes/);
});

test("ObserverCheck_Strict_IsUnchanged", (t) => {
  const folder = temporaryFolder(t);
  const trace = join(folder, "trace.safetensors");
  const ran = run(["run", lenet5, "--trace", trace, "--observer-check"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /capturing changed none of the 10 elements of the outputs/);
  const { observer_check: check } = JSON.parse(readSafetensors(trace).metadata.run);
  assert.deepEqual(check, { changed: false, different_elements: 0, elements: 10, max_ulp: 0 });
  const json = join(folder, "compare.json");
  const html = join(folder, "report.html");
  assert.equal(
    run([
      "compare",
      lenet5,
      "--right",
      "pc/strict:threads=1",
      "--observer-check",
      "--json",
      json,
      "--report",
      html,
    ]).status,
    0,
  );
  assert.equal(JSON.parse(readFileSync(json, "utf8")).right[0].observer_check.changed, false);
  assert.match(readFileSync(html, "utf8"), /capturing changed none/);
});

test("Compare_TraceFused_SaysHowToRunItAgain", (t) => {
  const html = join(temporaryFolder(t), "report.html");
  const { status } = run([
    "compare",
    lenet5,
    "--right",
    "pc/strict:threads=1",
    "--trace",
    "fused",
    "--capture-ops",
    "Conv,Gemm",
    "--report",
    html,
  ]);
  assert.equal(status, 0);
  assert.match(readFileSync(html, "utf8"), /--trace fused --capture-ops Conv,Gemm/);
  assert.equal(run(["compare", lenet5, "--right", "pc/strict", "--trace", "everything"]).status, 2);
});
