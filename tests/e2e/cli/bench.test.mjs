// driftscope bench on this PC, as a user types it. No test depends on how long anything takes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, driftscope, run, start, temporaryFolder, until } from "../support.mjs";

const lenet1 = asset("models", "lenet1.onnx");
const lenet5 = asset("models", "lenet5.onnx");
const short = ["--time", "0.2", "--warm-up", "0.2", "--no-save"];

// The output that scripts outside the repository rely on.
const contract = [
  "model",
  "target",
  "load_ms",
  "first_ms",
  "median_ms",
  "p95_ms",
  "min_ms",
  "mad_ms",
  "runs",
  "throughput_per_s",
  "wasm_heap_peak_bytes",
  "process_peak_bytes",
  "download_bytes",
  "ran",
];

const bench = (args, options) => run(["bench", ...args, ...short], options);
function benchJson(args) {
  const { status, stdout, stderr } = bench([...args, "--json", "-"]);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

// Numbers of the processes that this bench has started.
function workersOf(pid) {
  const isWorker = (entry) => {
    try {
      const parent = readFileSync(`/proc/${entry}/stat`, "utf8").split(") ").at(-1).split(" ")[1];
      return Number(parent) === pid && readFileSync(`/proc/${entry}/cmdline`, "utf8").includes("\0worker\0");
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && isWorker(entry));
}
const gone = (workers) =>
  until(() => workers.every((pid) => !existsSync(`/proc/${pid}`)), "the processes to be gone", 10_000);

test("Bench_TwoEngines_HasTheContractsFieldsAndTheirRatio", () => {
  const report = benchJson([lenet1, "--targets", "pc/strict,pc/reference"]);
  assert.equal(report.format, "driftscope-bench-1");
  assert.ok(report.machine.cores >= 1);
  assert.deepEqual(
    report.results.map(({ target }) => target),
    ["pc/strict", "pc/reference"],
  );
  for (const result of report.results) {
    for (const key of contract) assert.ok(key in result, key);
    assert.equal(result.model, "lenet1");
    assert.ok(result.min_ms > 0 && result.min_ms <= result.median_ms && result.median_ms <= result.p95_ms);
    assert.ok(result.runs >= 1 && result.throughput_per_s > 0);
    assert.ok(result.first_ms > 0 && result.load_ms > 0);
    assert.ok(result.process_peak_bytes > 1e6);
    assert.equal(result.wasm_heap_peak_bytes, null);
    assert.equal(result.ran.engine, result.target.slice(3));
    assert.equal(result.alive.tensors_slope.interval?.[0] ?? 0, 0, "a leak");
  }
  assert.equal(report.ratios.length, 1);
  assert.equal(report.ratios[0].base, "pc/strict");
  assert.ok(report.ratios[0].times_as_fast > 0);
});

test("Bench_ListsMakeRowsAndSeveralModelsAMean", () => {
  const report = benchJson([
    lenet1,
    lenet5,
    "--targets",
    "pc/strict,pc/reference",
    "--base",
    "pc/reference",
    "--threads",
    "1,2",
    "--batch",
    "1,3",
  ]);
  assert.equal(report.results.length, 2 * 2 * 2 * 2);
  assert.ok(report.results.some(({ target, batch }) => target === "pc/strict:threads=2" && batch === 3));
  assert.equal(report.geometric_means.length, 4);
  for (const mean of report.geometric_means) assert.equal(mean.models, 2);
  // Each row is compared with the base of its own threads.
  for (const { target, base } of report.ratios) assert.equal(target.split(":")[1], base.split(":")[1]);
});

test("Bench_TraceAll_IsARowOfItsOwn", () => {
  const report = benchJson([lenet1, "--targets", "pc/strict", "--trace", "none,all"]);
  assert.deepEqual(
    report.results.map(({ capture }) => capture),
    ["none", "all"],
  );
});

test("Bench_Table_NamesWhatItShows", () => {
  const { status, stdout, stderr } = bench([lenet1, "--targets", "pc/strict,pc/reference"]);
  assert.equal(status, 0, stderr);
  for (const word of [
    "lenet1",
    "pc/strict",
    "pc/reference",
    "median",
    "p95",
    "first",
    "× pc/strict",
    "confidence",
  ])
    assert.ok(stdout.includes(word), `${word}\n${stdout}`);
  assert.ok(!stdout.includes("\x1b"), "no escape sequences");
});

test("Bench_AgainstTheSameBuild_StartsBothAndGivesAVerdict", () => {
  // A program is another build, even if it is the same: whether it is faster is chance then.
  const { status, stdout, stderr } = bench(
    [lenet1, "--targets", "pc/strict", "--against", driftscope, "--launches", "3", "--json", "-"],
    {},
  );
  assert.ok(status === 0 || status === 1, stderr);
  const report = JSON.parse(stdout);
  assert.equal(report.against, driftscope);
  assert.deepEqual(
    report.results.map(({ target, reference }) => [target, reference]),
    [
      ["pc/strict", undefined],
      ["pc/strict", driftscope],
    ],
  );
  assert.deepEqual(
    report.contrasts.map(({ time, launches }) => [time, launches]),
    [
      ["run", 3],
      ["load", 3],
      ["first_run", 3],
    ],
  );
  for (const { speed, visible, interval } of report.contrasts) {
    assert.ok(["faster", "slower", "cannot_tell"].includes(speed));
    assert.ok(visible > 0 && interval[0] < interval[1]);
  }
  assert.equal(status, report.contrasts[0].speed === "slower" ? 1 : 0);
  assert.deepEqual(report.ratios, []);
});

test("Bench_AgainstASlowerTarget_IsFasterAndTheOtherWayExitsWith1", () => {
  const against = (target, reference) =>
    bench([lenet5, "--targets", target, "--against", reference, "--launches", "4"]);
  const faster = against("pc/fast", "pc/reference");
  assert.equal(faster.status, 0, faster.stdout + faster.stderr);
  assert.match(faster.stdout, /against pc\/reference[^]*pc\/fast\s+run\s+faster/);
  const slower = against("pc/reference", "pc/fast");
  assert.equal(slower.status, 1, slower.stdout + slower.stderr);
  assert.match(slower.stdout, /pc\/reference\s+run\s+slower/);
});

test("Bench_AgainstAPage_BrowsersAloneAreMeasuredThere", (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "engine"));
  writeFileSync(join(folder, "index.html"), "");
  const { status, stdout, stderr } = bench([lenet1, "--targets", "pc/strict", "--against", folder]);
  assert.equal(status, 2, stdout);
  assert.match(stderr, /cannot be measured there: it has a page without a program/);
});

test("Bench_WrongUse_ExitsWith2AndSaysWhy", () => {
  const wrong = [
    [["--targets", "pc/none"], /engine "none"/],
    [["--targets", "pc/strict,pc/strict"], /twice/],
    [["--targets", "pc/strict", "--base", "pc/reference"], /--base/],
    [["--targets", "pc/strict", "--runs", "0"], /--runs/],
    [["--targets", "pc/strict", "--batch", "0"], /--batch/],
    [["--targets", "pc/strict", "--batch", "1,,x"], /--batch/],
    [["--targets", "pc/strict", "--threads", "99999"], /--threads/],
    [["--targets", "pc/strict", "--trace", "some"], /--trace/],
    [["--targets", "pc/strict", "--batch", "2", "--input", "x.npy"], /x\.npy|--batch/],
    [["--targets", "nowhere/strict"], /nowhere/],
    [["--against", "nowhere"], /nowhere: no such file or folder, and no target/],
    [["--against", "/tmp"], /--against \/tmp: holds no other build/],
    [["--targets", "pc/strict", "--against", "pc/strict"], /name another target/],
    [["--targets", "pc/strict,pc/fast", "--against", "pc/fast", "--base", "pc/fast"], /--base and --against/],
    [["--launches", "4"], /--launches: needs --against/],
    [["--against", "pc/fast", "--launches", "2"], /--launches/],
    [["--targets", "pc/strict,pc/ort:opt=most"], /opt=most: expected none, basic, extended, all/],
  ];
  for (const [args, message] of wrong) {
    const { status, stdout, stderr } = bench([lenet1, ...args]);
    assert.equal(status, 2, `${args}: ${stdout}${stderr}`);
    assert.match(stdout + stderr, message, `${args}`);
  }
  assert.equal(bench(["/nonexistent.onnx"]).status, 2);
});

test("Bench_OneTargetFails_TheOthersAreMeasured", (t) => {
  const json = join(temporaryFolder(t), "bench.json");
  const { status, stderr } = bench([lenet1, "--targets", "pc/ort,pc/strict", "--json", json], {
    env: { DRIFTSCOPE_ONNXRUNTIME: "libm.so.6" }, // not ONNX Runtime
  });
  assert.equal(status, 3, stderr);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    report.results.map(({ target }) => target),
    ["pc/strict"],
  );
  assert.deepEqual(
    report.failed.map(({ target }) => target),
    ["pc/ort"],
  );
});

test("Bench_Interrupted_PrintsWhatItHasAndEndsItsProcesses", async (t) => {
  const json = join(temporaryFolder(t), "bench.json");
  const { child, done, output } = start([
    "bench",
    lenet1,
    "--targets",
    "pc/strict,pc/reference",
    "--time",
    "600",
    "--precision",
    "0.01",
    "--no-save",
    "--json",
    json,
  ]);
  await until(() => output.stderr.includes("measuring"), "the bench to measure");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const workers = workersOf(child.pid);
  assert.equal(workers.length, 2);
  child.kill("SIGINT");
  const ended = await done;
  assert.equal(ended.status, 130, ended.stderr);
  assert.match(ended.stdout, /Stopped/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(report.results.length, 2);
  await gone(workers);
});

test("Bench_Killed_LeavesNoProcess", async () => {
  const { child, done, output } = start([
    "bench",
    lenet1,
    "--targets",
    "pc/strict",
    "--time",
    "600",
    "--precision",
    "0.01",
    "--no-save",
  ]);
  await until(() => output.stderr.includes("measuring"), "the bench to measure");
  const workers = workersOf(child.pid);
  assert.equal(workers.length, 1);
  child.kill("SIGKILL");
  await done;
  await gone(workers);
});

test("Bench_History_KeepsWhatWasMeasured", (t) => {
  const folder = temporaryFolder(t);
  const env = { XDG_DATA_HOME: folder };
  const once = ["bench", lenet1, "--targets", "pc/strict", "--time", "0.05", "--warm-up", "0"];
  for (let i = 0; i < 3; ++i) assert.equal(run(once, { env }).status, 0);
  assert.equal(run([...once, "--no-save"], { env }).status, 0);
  assert.ok(existsSync(join(folder, "driftscope", "bench.sqlite")));
  const { status, stdout, stderr } = run(["bench", "--history"], { env });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /lenet1 {2}pc\/strict/);
  assert.match(stdout, /\s3\s/); // three benches of one build
  assert.match(run(["bench", "--history", "other.onnx"], { env }).stdout, /no matching benchmark/);
});

test("Bench_HistoryThatIsBroken_LosesNoResult", (t) => {
  const folder = temporaryFolder(t);
  const db = join(folder, "broken.sqlite");
  const json = join(folder, "bench.json");
  writeFileSync(db, "x".repeat(5000));
  const { status, stdout, stderr } = run([
    "bench",
    lenet1,
    "--targets",
    "pc/strict",
    "--time",
    "0.05",
    "--db",
    db,
    "--json",
    json,
  ]);
  assert.equal(status, 2, stderr);
  assert.ok(stderr.includes(db) && /--db/.test(stderr), stderr);
  assert.match(stdout, /pc\/strict/);
  assert.equal(JSON.parse(readFileSync(json, "utf8")).results.length, 1);
  assert.equal(readFileSync(db, "utf8"), "x".repeat(5000));
});
