// The three browsers, started by the command line itself.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asset, run, start, temporaryFolder, until } from "../support.mjs";
import { browsersSince, nothingLeft, processes } from "./processes.mjs";

const lenet5 = asset("models", "lenet5.onnx");
const resnet20 = asset("models", "resnet20.onnx");
const images = asset("data", "digits-test-images.idx3-ubyte");
const labels = asset("data", "digits-test-labels.idx1-ubyte");
const right = "chrome/strict,firefox/strict,safari/strict";

test("Compare_ThreeBrowsers_NoDifferingBitAndTheSamePredictions", async (t) => {
  const before = processes();
  const json = join(temporaryFolder(t), "compare.json");
  const { status, stdout, stderr } = run(
    [
      "compare",
      lenet5,
      "--input",
      `idx:${images}#7`,
      "--dataset",
      `idx:${images},${labels}`,
      "--left",
      "pc/strict",
      "--right",
      right,
      "--json",
      json,
    ],
    { timeout: 300_000 },
  );
  assert.equal(status, 0, stdout + stderr);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(
    report.right.map((one) => one.target),
    right.split(","),
  );
  for (const one of report.right) {
    assert.equal(one.first_divergence, null);
    assert.ok(one.layers.length > 5);
    for (const layer of one.layers) assert.equal(layer.different_elements, 0, `${one.target} ${layer.node}`);
    assert.ok(["identical", "rounding"].includes(one.verify.verdict));
    assert.equal(one.output.agree, true);
    assert.ok(one.memory.peak_bytes > 1e7, "the memory of a browser");
    assert.equal(one.memory.kind, "process_tree_pss");
  }
  assert.match(stdout, /3 targets agree with pc\/strict bit for bit, same answer/);
  // 450/450 or the like: every sample, on every target.
  const samples = report.left.dataset?.samples ?? Number(stdout.match(/(\d+)\/\1/)[1]);
  assert.equal(
    [...stdout.matchAll(new RegExp(`\\b${samples}/${samples}\\b`, "g"))].length >= 3,
    true,
    stdout,
  );
  await nothingLeft(before);
});

test("Compare_TwoAtOnce_DoNotDisturbEachOther", async (t) => {
  const before = processes();
  const folder = temporaryFolder(t);
  const one = (name, model) =>
    start(["compare", model, "--right", "chrome/strict,firefox/strict", "--json", join(folder, name)]).done;
  const [first, second] = await Promise.all([
    one("a.json", lenet5),
    one("b.json", asset("models", "lenet1.onnx")),
  ]);
  assert.equal(first.status, 0, first.stderr);
  assert.equal(second.status, 0, second.stderr);
  const shaOf = (name) => JSON.parse(readFileSync(join(folder, name), "utf8")).left.verify.model_sha256;
  assert.notEqual(shaOf("a.json"), shaOf("b.json"));
  await nothingLeft(before);
});

for (const [host, pattern] of [
  ["chrome", /chromium/],
  ["firefox", /firefox/],
  ["safari", /MiniBrowser|WebKitWebProcess/],
])
  test(`Killed_${host}InMidRun_ExitsWith3AndKeepsTheRest`, async (t) => {
    const before = processes();
    const json = join(temporaryFolder(t), "compare.json");
    const { done, output } = start([
      "compare",
      resnet20,
      "--left",
      "pc/strict",
      "--right",
      `${host}/strict,pc/strict:threads=1`,
      "--repeat",
      "600",
      "--json",
      json,
    ]);
    // The left run takes time too: wait until the browser reports that it runs.
    await until(() => output.stderr.includes(`${host}/strict: running`), "the browser to run", 240_000);
    for (const [pid, line] of browsersSince(before))
      if (pattern.test(line))
        try {
          process.kill(pid, "SIGKILL");
        } catch {}
    const ended = await until(() => Promise.race([done, null]), "the command to end", 300_000);
    assert.equal(ended.status, 3, ended.stderr);
    assert.match(ended.stderr, new RegExp(`${host}/strict`));
    const report = JSON.parse(readFileSync(json, "utf8"));
    assert.ok(
      report.right.some((other) => other.target === "pc/strict:threads=1" && other.layers?.length > 5),
    );
    await nothingLeft(before);
  });

test("Interrupt_EndsTheBrowserAndLeavesNothing", async (t) => {
  const before = processes();
  const folder = temporaryFolder(t);
  const json = join(folder, "compare.json");
  const { child, done, output } = start([
    "compare",
    resnet20,
    "--right",
    "firefox/strict",
    "--repeat",
    "600",
    "--json",
    json,
  ]);
  await until(() => output.stderr.includes("firefox/strict: running"), "the browser to run", 120_000);
  child.kill("SIGINT");
  const ended = await done;
  assert.ok(ended.status === 130 || ended.signal === "SIGINT", `${ended.status} ${ended.signal}`);
  assert.deepEqual(readdirSync(folder), []);
  await nothingLeft(before);
});

test("Hang_IsGivenUpAfterTheTimeoutAndExitsWith3", (t) => {
  // A browser that opens nothing: the shell script only sleeps.
  const folder = temporaryFolder(t);
  const sleeper = join(folder, "chromium");
  spawnSync("bash", [
    "-c",
    `printf '#!/bin/sh\\ncase "$*" in *--version*|*--product-version*) echo "Chromium 1.0";;' >"$0"
     printf ' *) sleep 600;; esac\\n' >>"$0"; chmod +x "$0"`,
    sleeper,
  ]);
  const { status, stderr } = run(["compare", lenet5, "--right", "chrome/strict", "--timeout", "3"], {
    env: { DRIFTSCOPE_CHROME: sleeper },
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /3 s|timeout|sign of life/);
});

test("Doctor_FindsWhatIsInstalled", () => {
  const { status, stdout } = run(["doctor", "--json", "-"]);
  assert.equal(status, 0, stdout);
  const { findings } = JSON.parse(stdout);
  for (const what of ["pc/strict", "pc/reference", "page", "chrome", "firefox", "safari"])
    assert.equal(findings.find((finding) => finding.what === what)?.ok, true, what);
});
