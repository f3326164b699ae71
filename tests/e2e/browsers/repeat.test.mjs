// Repeated runs and memory over runs in browsers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");

test("RepeatCheck_InABrowser_ComparesEveryValueOfEveryRun", (t) => {
  const trace = join(temporaryFolder(t), "trace.safetensors");
  const ran = run([
    "run",
    lenet5,
    "--target",
    "chrome/strict",
    "--repeat-check",
    "4",
    "--trace",
    trace,
    "--quiet",
  ]);
  assert.equal(ran.status, 0, ran.stderr);
  const { metadata } = readSafetensors(trace);
  const { repeat_check: check } = JSON.parse(metadata.run);
  assert.equal(check.runs, 4);
  assert.equal(check.agree, true);
  assert.equal(check.values, 14);
});

test("MemoryRuns_InBrowsers_SeeHeapProcessesAndGpuProcess_AndCryNoWolf", (t) => {
  const json = join(temporaryFolder(t), "compare.json");
  const targets = ["--left", "chrome/strict", "--right", "firefox/webgl"];
  const options = ["--repeat", "1", "--memory-runs", "120", "--json", json, "--quiet"];
  const { status, stderr } = run(["compare", lenet5, ...targets, ...options]);
  assert.equal(status, 0, stderr);
  const { left, right } = JSON.parse(readFileSync(json, "utf8"));
  for (const { target, memory_runs: memory } of [left, ...right]) {
    assert.notEqual(memory.verdict, "grows", `${target}: ${memory.text}`);
    const kinds = memory.kinds.map(({ kind }) => kind);
    assert.ok(kinds.includes("heap_in_use") && kinds.includes("process_tree_pss"), kinds.join());
  }
  assert.ok(left.memory_runs.kinds.some(({ kind }) => kind === "gpu_process_pss"));
});
