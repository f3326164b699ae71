// bisect: at which optimisation level does a result change, and what was rewritten?
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, temporaryFolder } from "../support.mjs";

const lenet5 = asset("models", "lenet5.onnx");

test("Bisect_OverOnnxRuntimesLevels_NamesTheFusedNodes", (t) => {
  const json = join(temporaryFolder(t), "bisect.json");
  const { status, stdout, stderr } = run(["bisect", lenet5, "--over", "opt", "--json", json, "--quiet"]);
  assert.equal(status, 0, stderr);
  const found = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(found.format, "driftscope-bisect-1");
  assert.deepEqual(
    found.levels.map(({ level }) => level),
    ["none", "basic", "extended", "all"],
  );
  for (const level of found.levels) {
    assert.match(level.verdict, /identical|rounding/, level.level);
    assert.ok(level.nodes > 0);
  }
  // Each level has at most as many nodes and values as the one before, until layouts are changed.
  assert.ok(found.levels[2].values <= found.levels[0].values);
  assert.equal(found.no_nodes_because, undefined);
  if (found.differs_at === null) {
    assert.match(stdout, /no opt changes a bit/);
    return;
  }
  const [step] = found.steps;
  assert.equal(step.to, found.differs_at);
  assert.ok(step.replaced.length > 0);
  assert.match(stdout, new RegExp(`first differ from those of opt=none at opt=${found.differs_at}`));
});

test("Bisect_OverPasses_FindsTheOptimiserThatChangesBits_WithFewRuns", (t) => {
  const json = join(temporaryFolder(t), "bisect.json");
  const args = [
    "--over",
    "pass",
    "--target",
    "pc/ort:threads=1",
    "--trace",
    "outputs",
    "--json",
    json,
    "--quiet",
  ];
  const { status, stdout, stderr } = run(["bisect", lenet5, ...args]);
  assert.equal(status, 0, stderr);
  const found = JSON.parse(readFileSync(json, "utf8"));
  assert.equal(found.searched_by, "bits");
  const ran = found.levels.filter(({ runs }) => runs > 0);
  assert.ok(ran.length < found.levels.length / 3, `${ran.length} of ${found.levels.length}`);
  if (found.transitions.length === 0) {
    assert.match(stdout, /the first and the last level are the same/);
    return;
  }
  // The pass by itself: without it alone, the bits are those without any.
  const [{ from_outcome, to_outcome, to }] = found.transitions;
  assert.equal(from_outcome, "the first level's bits");
  assert.equal(to_outcome, "other bits");
  assert.match(found.without[0].target, new RegExp(`disable_specified_optimizers=${to}`));
  assert.match(stdout, new RegExp(`between pass .* and ${to} it changes`));
  const alone = join(temporaryFolder(t), "alone.json");
  const two = run(["bisect", lenet5, "--over", "pass", "--levels", to, ...args.slice(2, 6), "--json", alone]);
  assert.equal(two.status, 0, two.stderr);
  assert.equal(JSON.parse(readFileSync(alone, "utf8")).transitions.length, 1);
});

test("Bisect_OverReleases_WithoutNetwork_SaysSo", (t) => {
  const environment = { npm_config_registry: "http://127.0.0.1:9/", XDG_CACHE_HOME: temporaryFolder(t) };
  const listed = run(["bisect", lenet5, "--over", "release", "--target", "pc/ort"], { env: environment });
  assert.equal(listed.status, 3);
  assert.match(
    listed.stderr,
    /the releases of onnxruntime-node are not known: npm says ECONNREFUSED.*behind a proxy set HTTPS_PROXY/,
  );
  const one = run(["run", lenet5, "--target", "pc/ort:release=1.25.1"], { env: environment });
  assert.equal(one.status, 3);
  assert.match(one.stderr, /onnxruntime-node 1\.25\.1 cannot be fetched: npm says ECONNREFUSED/);
  const wrong = run(["run", lenet5, "--target", "pc/ort:release=newest"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /option release=newest: expected a version, as 1\.25\.1/);
});

test("Bisect_OtherOptions_AreGivenWithTheirLevels_AndErrorsSayWhich", () => {
  const threads = ["--target", "pc/strict", "--over", "threads", "--levels", "1,2", "--quiet"];
  const { status, stdout, stderr } = run(["bisect", lenet5, ...threads]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /no threads changes a bit of the outputs, from 1 on/);
  const without = run(["bisect", lenet5, "--target", "pc/strict", "--over", "opt"]);
  assert.equal(without.status, 2);
  assert.match(without.stderr, /engine strict has no option of this name with a list of values.*--levels/s);
  const wrong = run(["bisect", lenet5, "--levels", "none,best"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /option opt=best/);
  const both = run(["bisect", lenet5, "--target", "pc/ort:opt=all"]);
  assert.equal(both.status, 2);
});
