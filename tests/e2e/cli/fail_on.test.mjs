// compare --fail-on and --junit, annotations, and baselines, as pipelines use them. Times are planted
// in recorded traces: no test depends on how long anything takes.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, readSafetensors, run, temporaryFolder, writeSafetensors } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const outside = { GITHUB_ACTIONS: "", GITHUB_STEP_SUMMARY: "" };
const quiet = (args, env = {}) => run([...args, "--quiet"], { env: { ...outside, ...env } });

function recorded(t) {
  const folder = temporaryFolder(t);
  const path = join(folder, "good.safetensors");
  assert.equal(run(["run", lenet5, "--trace", path, "--repeat", "4"]).status, 0);
  const { metadata, tensors } = readSafetensors(path);
  const write = (name, change) => {
    const copy = new Map(
      [...tensors].map(([key, value]) => [key, { ...value, bytes: Buffer.from(value.bytes) }]),
    );
    const about = { ...metadata };
    change(copy, about);
    const file = join(folder, `${name}.safetensors`);
    writeSafetensors(file, copy, about);
    return `file/${file}`;
  };
  return { folder, write };
}

// The output of a layer in the middle, with one element that no rounding explains.
function plantFault(tensors, metadata) {
  const node = JSON.parse(metadata.nodes).find(({ op }) => op === "Gemm");
  const { bytes } = tensors.get(node.outputs[0]);
  bytes.writeFloatLE(bytes.readFloatLE(8) + 1, 8);
  return node.name;
}

const timed = (scale) => (tensors, metadata) => {
  const nodes = JSON.parse(metadata.nodes);
  const times = [9_000_000, 1000, 1001, 999, 1000].map((ns) => Math.round(ns * scale));
  for (const node of nodes) node.time_ns = times;
  metadata.nodes = JSON.stringify(nodes);
  const ran = JSON.parse(metadata.run);
  ran.times = { watched_ns: times.map((ns) => ns * nodes.length) };
  metadata.run = JSON.stringify(ran);
};

test("FailOn_Fault_DecidesTheExitCode", (t) => {
  const { write } = recorded(t);
  let name;
  const bad = write("bad", (tensors, metadata) => {
    name = plantFault(tensors, metadata);
  });
  const compare = (...more) => quiet(["compare", lenet5, "--right", bad, ...more]);
  const usual = compare();
  assert.equal(usual.status, 1);
  assert.match(usual.stdout, new RegExp(`✗ ${bad.replaceAll(".", "\\.")}  ${name} \\(Gemm\\): output`));
  assert.equal(compare("--fail-on", "fault").status, 1);
  assert.equal(compare("--fail-on", "suspect").status, 1);
  const uncounted = compare("--fail-on", "top1");
  assert.equal(uncounted.status, 0, uncounted.stdout);
  assert.match(uncounted.stdout, /not counted/);
  assert.equal(compare("--fail-on", "top1", "--fail-on", "bits").status, 1);
});

test("FailOn_AnUnknownCondition_IsWrongUseBeforeAnythingRuns", () => {
  const { status, stderr, stdout } = quiet([
    "compare",
    lenet5,
    "--right",
    "pc/strict",
    "--fail-on",
    "slow:20%",
  ]);
  assert.equal(status, 2);
  assert.match(stderr, /slower:20%/);
  assert.equal(stdout, "");
});

test("FailOn_Slower_IsJudgedByTheRecordedRuns", (t) => {
  const { write } = recorded(t);
  const left = write("left", timed(1));
  const status = (scale, limit) =>
    quiet([
      "compare",
      lenet5,
      "--left",
      left,
      "--right",
      write(`right${scale}`, timed(scale)),
      "--fail-on",
      `slower:${limit}`,
    ]).status;
  assert.equal(status(1.5, "20%"), 1);
  assert.equal(status(1.1, "20%"), 0);
  assert.equal(status(1.5, "60%"), 0);
  assert.equal(status(0.5, "0%"), 0);
});

test("Junit_HasASuitePerTargetAndTheFailure", (t) => {
  const { folder, write } = recorded(t);
  const bad = write("bad", plantFault);
  const xml = join(folder, "out.xml");
  assert.equal(
    quiet(["compare", lenet5, "--right", `pc/strict,${bad}`, "--fail-on", "fault", "--junit", xml]).status,
    1,
  );
  const text = readFileSync(xml, "utf8");
  assert.equal(text.match(/<testsuite /g).length, 2); // pc/strict is there once, although left and right
  // The layer itself alone: the next one is right for what its input should have been.
  assert.equal(text.match(/<failure type="fault"/g).length, 1);
  assert.match(text, /<testsuites [^>]* failures="1" errors="0"/);
});

test("Junit_TargetThatCannotRun_IsAnErrorInItAndTheExitCodeStays", (t) => {
  const xml = join(temporaryFolder(t), "out.xml");
  const { status } = quiet(["compare", lenet5, "--right", "file//nowhere.safetensors", "--junit", xml]);
  assert.equal(status, 2);
  assert.match(readFileSync(xml, "utf8"), /<error type="run" message="[^"]*nowhere/);
});

test("Junit_ThatCannotBeWritten_IsAnError", () => {
  const { status, stderr } = quiet([
    "compare",
    lenet5,
    "--right",
    "pc/strict",
    "--junit",
    "/nowhere/out.xml",
  ]);
  assert.equal(status, 2);
  assert.match(stderr, /nowhere/);
});

test("GitHub_GetsAnnotationsAndASummary_OnlyThere", (t) => {
  const { folder, write } = recorded(t);
  const bad = write("bad", plantFault);
  const summary = join(folder, "summary.md");
  writeFileSync(summary, "before\n");
  const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
  const there = quiet(["compare", lenet5, "--right", bad], env);
  assert.match(there.stdout, /^::error file=.*lenet5\.onnx,title=.*::output /m);
  assert.match(readFileSync(summary, "utf8"), /^before\n### ❌ Driftscope: lenet5.onnx/);
  assert.doesNotMatch(quiet(["compare", lenet5, "--right", bad]).stdout, /^::/m);
  // JSON on the standard output stays JSON.
  const json = quiet(["compare", lenet5, "--right", bad, "--json", "-"], env);
  assert.equal(JSON.parse(json.stdout).gate.passed, false);
  assert.match(json.stderr, /^::error /m);
});

test("Baseline_SavedAndChecked_PassesAndIsSmall", (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "base.json");
  const saved = quiet([
    "baseline",
    "save",
    lenet5,
    "--targets",
    "pc/strict,pc/reference",
    "--input",
    "seed:7",
    "--no-times",
    "--out",
    file,
  ]);
  assert.equal(saved.status, 0, saved.stderr);
  const baseline = JSON.parse(readFileSync(file, "utf8"));
  assert.equal(baseline.format, "driftscope-baseline-1");
  assert.deepEqual(
    baseline.targets.map(({ target }) => target),
    ["pc/strict", "pc/reference"],
  );
  assert.ok(readFileSync(file).length < 4000);
  const checked = quiet([
    "baseline",
    "check",
    lenet5,
    "--baseline",
    file,
    "--fail-on",
    "fault,top1,bits,slower:20%",
    "--junit",
    join(folder, "out.xml"),
  ]);
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  assert.match(checked.stdout, /the baseline has no times/);
  assert.ok(existsSync(join(folder, "out.xml")));
});

test("Baseline_ThatSaysOtherwise_FailsAndSaysWhat", (t) => {
  const file = join(temporaryFolder(t), "base.json");
  assert.equal(
    quiet(["baseline", "save", lenet5, "--targets", "pc/strict", "--no-times", "--out", file]).status,
    0,
  );
  const baseline = JSON.parse(readFileSync(file, "utf8"));
  const changed = (change) => {
    const copy = structuredClone(baseline);
    change(copy);
    writeFileSync(file, JSON.stringify(copy));
    return quiet(["baseline", "check", lenet5, "--baseline", file]);
  };
  const other = changed((b) => {
    b.targets[0].top1[0] = (b.targets[0].top1[0] + 1) % 10;
  });
  assert.equal(other.status, 1);
  assert.match(other.stdout, /top-1: best class \d, in the baseline \d/);
  const model = changed((b) => {
    b.model_sha256 = "f".repeat(64);
  });
  assert.equal(model.status, 2);
  assert.match(model.stderr, /another model/);
  const elsewhere = changed((b) => {
    b.machine.cpu = "another processor";
    b.targets[0].medians_ns = [1, 1, 1];
  });
  assert.equal(elsewhere.status, 0, elsewhere.stdout);
  assert.match(elsewhere.stdout, /not judged: the baseline was measured on another processor/);
  // Nothing runs in a nanosecond: a measurement here is much slower, on any machine.
  const slower = changed((b) => {
    b.measured = { starts: 3, seconds: 0.01 };
    b.targets[0].medians_ns = [1, 1, 1];
  });
  assert.equal(slower.status, 1, slower.stdout);
  assert.match(slower.stdout, /speed: .* times as long/);
});

test("Baseline_Absent_SaysHowToMakeIt", (t) => {
  const { status, stderr } = quiet([
    "baseline",
    "check",
    lenet5,
    "--baseline",
    join(temporaryFolder(t), "none.json"),
  ]);
  assert.equal(status, 2);
  assert.match(stderr, /driftscope baseline save/);
});

test("Baseline_TargetThatCannotRun_SavesNothing", (t) => {
  const file = join(temporaryFolder(t), "base.json");
  const { status } = quiet([
    "baseline",
    "save",
    lenet5,
    "--targets",
    "pc/strict,pc/nonsense",
    "--no-times",
    "--out",
    file,
  ]);
  assert.equal(status, 2);
  assert.ok(!existsSync(file));
});

test("Compare_WithABaseline_KnowsTheFaultsItHolds", (t) => {
  const { folder, write } = recorded(t);
  const bad = write("bad", plantFault);
  const file = join(folder, "base.json");
  assert.equal(
    quiet(["baseline", "save", lenet5, "--targets", "pc/strict", "--no-times", "--out", file]).status,
    0,
  );
  const report = JSON.parse(quiet(["compare", lenet5, "--right", bad, "--json", "-"]).stdout);
  const known = report.right[0].verify.layers.filter(({ verdict }) => verdict === "fault");
  const baseline = JSON.parse(readFileSync(file, "utf8"));
  baseline.targets.push({ ...baseline.targets[0], target: bad });
  const check = (listed) => {
    baseline.targets[1].known = listed;
    writeFileSync(file, JSON.stringify(baseline));
    return quiet(["compare", lenet5, "--right", bad, "--baseline", file]);
  };
  assert.equal(check([]).status, 1);
  assert.equal(
    check(known.slice(1).map(({ node, output, verdict }) => ({ node, output, verdict }))).status,
    1,
  );
  assert.equal(check(known.map(({ node, output, verdict }) => ({ node, output, verdict }))).status, 0);
});
