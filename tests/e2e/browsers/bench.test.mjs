// driftscope bench in the three browsers. No test depends on how long anything takes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, until } from "../support.mjs";
import { browsersSince, nothingLeft, processes } from "./processes.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const short = ["--time", "0.3", "--warm-up", "0.3", "--no-save"];
const browsers = ["chrome/strict", "firefox/strict", "safari/strict"];

test("Bench_ThreeBrowsersBesideThePc_MeasuresEach", async (t) => {
  const before = processes();
  const json = join(temporaryFolder(t), "bench.json");
  const { status, stdout, stderr } = run(
    ["bench", lenet1, "--targets", ["pc/strict", ...browsers].join(), ...short, "--json", json],
    { timeout: 300_000 },
  );
  assert.equal(status, 0, stdout + stderr);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    report.results.map(({ target }) => target),
    ["pc/strict", ...browsers],
  );
  for (const result of report.results.slice(1)) {
    assert.ok(result.median_ms > 0 && result.min_ms <= result.median_ms, result.target);
    assert.ok(result.first_ms > 0 && result.load_ms > 0 && result.start_ms > 0);
    assert.ok(
      result.clock_ns > 0 && result.inner_runs >= 1,
      `${result.target}: ${result.clock_ns} ns, ${result.inner_runs} runs`,
    );
    assert.ok(result.wasm_heap_peak_bytes >= 1 << 16);
    assert.ok(result.process_peak_bytes > 1e7, "the memory of a browser");
    // The engine is most of it, and travels compressed.
    assert.ok(
      result.download.engine_raw_bytes > result.download.engine_bytes && result.download.engine_bytes > 1e5,
    );
    assert.ok(result.download.model_bytes > 1e4);
    assert.ok(result.download_bytes >= result.download.engine_bytes + result.download.model_bytes);
    assert.equal(result.alive.tensors_slope?.interval?.[0] ?? 0, 0, "a leak");
    assert.match(result.ran.browser_version, /\d/);
    assert.match(result.ran.instruction_set, /SIMD/);
  }
  assert.equal(report.ratios.length, 3);
  await nothingLeft(before);
});

test("Bench_BrowserThatDies_KeepsItsRoundsAndTheOthers", async (t) => {
  const before = processes();
  const json = join(temporaryFolder(t), "bench.json");
  const { done, output } = start([
    "bench",
    lenet1,
    "--targets",
    "chrome/strict,pc/strict",
    "--time",
    "8",
    "--precision",
    "0.01",
    "--warm-up",
    "0.3",
    "--no-save",
    "--json",
    json,
  ]);
  await until(() => output.stderr.includes("measuring"), "the bench to measure", 120_000);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const [pid, line] of browsersSince(before))
    if (/chromium/.test(line))
      try {
        process.kill(pid, "SIGKILL");
      } catch {}
  const ended = await until(() => Promise.race([done, null]), "the command to end", 120_000);
  assert.equal(ended.status, 3, ended.stderr);
  assert.match(ended.stderr, /chrome/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.ok(
    report.results.some(({ target, ended_by }) => target === "chrome/strict" && ended_by === "failed"),
  );
  assert.ok(report.results.some(({ target, runs }) => target === "pc/strict" && runs > 10));
  assert.equal(report.failed.length, 1);
  await nothingLeft(before);
});

test("Bench_MissingBrowser_ExitsWith3AndMeasuresTheRest", (t) => {
  const json = join(temporaryFolder(t), "bench.json");
  const { status, stderr } = run(
    ["bench", lenet1, "--targets", "chrome/strict,pc/strict", ...short, "--json", json],
    { env: { DRIFTSCOPE_CHROME: "/nonexistent/chrome" } },
  );
  assert.equal(status, 3, stderr);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    report.results.map(({ target }) => target),
    ["pc/strict"],
  );
  assert.match(report.failed[0].error, /chrome/);
});

test("Bench_OptionThatTheEngineInTheBrowserLacks_SaysSo", async () => {
  const before = processes();
  const { status, stdout, stderr } = run(
    ["bench", lenet1, "--targets", "firefox/strict:colour=red", ...short],
    { timeout: 120_000 },
  );
  assert.equal(status, 2, stdout + stderr);
  assert.match(stderr, /colour/);
  await nothingLeft(before);
});

test("Bench_Interrupted_EndsTheBrowsers", async () => {
  const before = processes();
  const { child, done, output } = start([
    "bench",
    lenet1,
    "--targets",
    browsers.join(),
    "--time",
    "600",
    "--precision",
    "0.01",
    "--no-save",
  ]);
  await until(() => output.stderr.includes("measuring"), "the bench to measure", 240_000);
  child.kill("SIGINT");
  const ended = await done;
  assert.equal(ended.status, 130, ended.stderr);
  assert.match(ended.stdout, /Stopped/);
  await nothingLeft(before);
});
